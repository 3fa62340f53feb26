//! A kept run's file: a document in gzip's format, with its head as the header's comment (RFC 1952).

use crate::head::{Head, VERSION, is_id};
use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};
use serde::Deserialize;
use std::io::{self, BufRead, BufReader, Read, Write};

/// No document is longer, in bytes: a run keeps a bounded number of rounds, which fill half of this. A bound is needed,
/// because what is read must fit into memory, and a damaged or foreign file may unpack to anything.
pub const LONGEST: u64 = 128 << 20;

/// The bytes that are read at once for a head: most heads lie within.
const HEAD: usize = 2048;

/// Why a file is not a kept run, or not one any more.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// Not a file that kentry wrote.
    #[error("it is not a run that kentry kept")]
    Foreign,
    /// A newer version wrote it.
    #[error("a newer version of kentry keeps it in another way")]
    Newer,
    /// It is called otherwise than its run.
    #[error("it holds the run {0}")]
    Misnamed(String),
    /// Its end is missing, or bytes have changed.
    #[error("it is damaged: {0}")]
    Broken(String),
    /// Its head does not say what its document says.
    #[error("what a list shows of it is not what its document says")]
    Contradiction,
}

/// The bytes of a file for a document's text.
pub(crate) fn pack(head: &Head, text: &str) -> io::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new()
        .comment(ascii(&serde_json::to_string(head)?))
        .write(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

/// JSON in ASCII: the format's comments are Latin-1.
fn ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter.is_ascii() {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

/// The head of a file. Nothing is unpacked.
pub(crate) fn head(file: impl Read) -> Result<Head, Damage> {
    head_of(&GzDecoder::new(BufReader::with_capacity(HEAD, file)))
}

fn head_of(decoder: &GzDecoder<impl BufRead>) -> Result<Head, Damage> {
    #[derive(Deserialize)]
    struct Version {
        head: u32,
    }
    let comment = decoder.header().and_then(|header| header.comment()).ok_or(Damage::Foreign)?;
    match serde_json::from_slice::<Version>(comment) {
        Ok(Version { head }) if head > VERSION => return Err(Damage::Newer),
        Ok(_) => {}
        Err(_) => return Err(Damage::Foreign),
    }
    let head: Head = serde_json::from_slice(comment).map_err(|_| Damage::Foreign)?;
    if is_id(&head.id) { Ok(head) } else { Err(Damage::Foreign) }
}

/// The head of a file, and its document's text.
pub(crate) fn unpack(file: impl Read) -> Result<(Head, String), Damage> {
    let decoder = GzDecoder::new(BufReader::new(file));
    let head = head_of(&decoder)?;
    let mut text = String::new();
    let broken = |why: &str| Damage::Broken(why.to_string());
    decoder.take(LONGEST + 1).read_to_string(&mut text).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => broken("its end is missing"),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => broken("its bytes have changed"),
        _ => Damage::Unreadable(error),
    })?;
    if text.len() as u64 > LONGEST {
        return Err(broken("it unpacks to more than any document"));
    }
    Ok((head, text))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use document::{Machine, Place};
    use std::collections::BTreeMap;
    use table::Kernel;

    pub(crate) fn some_head() -> Head {
        Head {
            head: VERSION,
            id: "0123456789abcdef0123456789abcdef".into(),
            name: Some("before".into()),
            tags: BTreeMap::from([("who".to_string(), "Żółw 🐢 \"x\"".to_string())]),
            started: "2026-11-22T10:00:00Z".into(),
            arm: None,
            command: None,
            place: Place::new(Machine::Host, Kernel::Linux),
            machine_id: None,
            cpu: Some("A CPU®".into()),
            release: None,
            covers: Some("first screen".into()),
            ok: 3,
            figures: 2,
            quiet_share: Some(0.25),
            canary: BTreeMap::from([("uniform".to_string(), 4.5)]),
            partial: false,
        }
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let head = some_head();
        let bytes = pack(&head, "{\"text\": \"é\"}\n").unwrap();
        assert_eq!(super::head(&bytes[..]).unwrap(), head);
        assert_eq!(unpack(&bytes[..]).unwrap(), (head, "{\"text\": \"é\"}\n".to_string()));
        // As any other program would.
        let mut text = String::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "{\"text\": \"é\"}\n");
    }

    #[test]
    fn a_head_is_told_without_the_rest() {
        let bytes = pack(&some_head(), &"x".repeat(100_000)).unwrap();
        assert_eq!(super::head(&bytes[..HEAD.min(bytes.len())]).unwrap(), some_head());
    }

    #[test]
    fn every_cut_and_every_changed_bit_is_noticed() {
        let text = "a document of some length, of which nothing may be lost";
        let bytes = pack(&some_head(), text).unwrap();
        for end in 0..bytes.len() {
            assert!(unpack(&bytes[..end]).is_err(), "{end}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            // A flag of the header, its time, or a letter of the head: the document is as it was.
            if let Ok((_, found)) = unpack(&changed[..]) {
                assert_eq!(found, text, "bit {bit}");
            }
        }
    }

    #[test]
    fn what_kentry_did_not_write_is_told() {
        let foreign = |bytes: &[u8]| matches!(super::head(bytes), Err(Damage::Foreign));
        let with = |comment: &str| {
            let mut encoder = GzBuilder::new().comment(comment).write(Vec::new(), Compression::default());
            encoder.write_all(b"{}").unwrap();
            encoder.finish().unwrap()
        };
        assert!(foreign(b"") && foreign(b"{}") && foreign(&[0x1f, 0x8b]));
        assert!(foreign(&with("made by hand")) && foreign(&with("{\"head\": 1}")));
        assert!(matches!(super::head(&with("{\"head\": 2, \"x\": []}")[..]), Err(Damage::Newer)));
        let evil = Head { id: "../../etc/passwd".into(), ..some_head() };
        assert!(foreign(&pack(&evil, "{}").unwrap()));
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let mut encoder = GzBuilder::new()
            .comment(ascii(&serde_json::to_string(&some_head()).unwrap()))
            .write(Vec::new(), Compression::fast());
        let zeros = vec![b' '; 1 << 20];
        (0..130).for_each(|_| encoder.write_all(&zeros).unwrap());
        let said = unpack(&encoder.finish().unwrap()[..]).unwrap_err().to_string();
        assert_eq!(said, "it is damaged: it unpacks to more than any document");
    }
}

//! Which machine this is, and which of its boots.

use crate::reader::Reader;
use sha2::{Digest, Sha256};

/// The files that name this installation of Linux for ever, the better first (machine-id(5)).
const MACHINE: [&str; 2] = ["/etc/machine-id", "/var/lib/dbus/machine-id"];

/// What the kernel draws on every boot.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Hexadecimal digits of an id.
const DIGITS: usize = 32;

/// Tells this machine from others that look the same. None where no file names it, as in many containers.
pub(crate) fn machine(reader: &mut Reader) -> Option<String> {
    let id = MACHINE.iter().find_map(|path| hidden("machine", &reader.candidate_line(path)?));
    if id.is_none() {
        reader.miss_expected(MACHINE[0], "no file names this machine (normal in a container)");
    }
    id
}

/// Tells this boot from the others.
pub(crate) fn boot(reader: &mut Reader) -> Option<String> {
    hidden("boot", &reader.line(BOOT)?)
}

/// An id that kentry alone knows: documents are published, and machine-id(5) wants the file's own content kept secret. None for what is
/// no id, such as `uninitialized`.
fn hidden(what: &str, id: &str) -> Option<String> {
    let id = id.replace('-', "").to_ascii_lowercase();
    let is_id = id.len() == DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_drawn = id.bytes().any(|byte| byte != b'0');
    let digest = Sha256::digest(format!("kentry {what} {id}"));
    let digits = digest.iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}"));
    (is_id && is_drawn).then(|| digits.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    const ID: &str = "3d1219c7c4c5404aaa1f6d2a48adfda4";

    #[test]
    fn an_id_is_the_same_each_time_and_does_not_tell_the_files() {
        let scratch = Scratch::new("identity");
        scratch.write("/etc/machine-id", format!("{ID}\n").as_bytes());
        scratch.write(BOOT, b"3d1219c7-c4c5-404a-aa1f-6d2a48adfda4\n");
        let roots = scratch.roots();
        let mut reader = Reader::new(&roots);
        let (machine, boot) = (machine(&mut reader).unwrap(), boot(&mut reader).unwrap());
        assert_eq!(machine.len(), DIGITS);
        assert!(machine != ID && machine != boot, "{machine} {boot}");
        assert_eq!(hidden("machine", ID), Some(machine));
        assert!(reader.into_unseen().is_empty());
    }

    #[test]
    fn what_is_no_id_is_none() {
        for none in ["", "uninitialized", "3d12", &"0".repeat(32), &"g".repeat(32)] {
            assert_eq!(hidden("machine", none), None, "{none}");
        }
        let scratch = Scratch::new("identity-none");
        scratch.write("/etc/machine-id", b"uninitialized\n");
        scratch.write("/var/lib/dbus/machine-id", ID.as_bytes());
        let roots = scratch.roots();
        assert_eq!(machine(&mut Reader::new(&roots)), hidden("machine", ID), "the second file");
        let empty = Scratch::new("identity-empty");
        let roots = empty.roots();
        let mut reader = Reader::new(&roots);
        assert_eq!((machine(&mut reader), boot(&mut reader)), (None, None));
        let unseen = reader.into_unseen();
        assert_eq!([unseen[0].expected, unseen[1].expected], [true, false]);
    }
}

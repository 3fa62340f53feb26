//! What the guest's program tells, as frames: each has a head of eight bytes (`kf`, the version, the kind, the length of the rest as
//! four bytes, the lowest first), and then the rest. A guest may write anything: whatever is no frame ends the reading.

use serde::{Deserialize, Serialize};

/// The version of frames, and of what is in them.
pub const VERSION: u8 = 1;

const MAGIC: [u8; 2] = *b"kf";
const HEAD: usize = 8;

/// The most bytes of a frame: a document with all its rows takes less than one MiB.
const MOST: usize = 16 << 20;

/// What the guest's program says first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Parameters that the kernel did not know: it passes them on to its first program.
    pub unknown: Vec<String>,
    /// What interrupts for the kernel's tick, by its own name (`lapic`, `pit`, `hpet`); none if it does not say.
    #[serde(default)]
    pub tick: Option<String>,
}

impl Hello {
    /// Whether the APIC's timer ticks, which Linux has calibrated by the counter.
    pub fn ticks_by_apic(&self) -> bool {
        self.tick.as_ref().is_some_and(|tick| tick.starts_with("lapic"))
    }
}

/// How a program ended in the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// With this status.
    Status(i32),
    /// Ended by this signal.
    Signal(i32),
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// The first.
    Hello(Hello),
    /// The document, JSON; whether it is one is not known.
    Document(Vec<u8>),
    /// What a program wrote to its standard output.
    Output(Vec<u8>),
    /// What it wrote to its standard error.
    Errors(Vec<u8>),
    /// How it ended.
    Exit(Exit),
    /// What the guest's program could not do, in words.
    Failed(String),
    /// What was asked for and the guest's kernel does not have, in words.
    Unsupported(String),
    /// The last: all was done.
    End,
}

/// Why bytes are no frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// They do not begin as frames do.
    #[error("they do not begin as a frame does")]
    Magic,
    /// Another version of kentry wrote them.
    #[error("they are of version {0}, not {VERSION}")]
    Version(u8),
    /// There is no such kind.
    #[error("there is no frame of kind {0}")]
    Kind(u8),
    /// One is longer than any that kentry writes.
    #[error("a frame has {0} bytes, which is too many")]
    Length(usize),
    /// The rest of one is not what its kind says.
    #[error("what a frame of kind {0} has makes no sense")]
    Content(u8),
    /// One comes before the first, or the first comes twice.
    #[error("its frames are out of order")]
    Order,
    /// Something follows the last.
    #[error("something follows the last frame")]
    AfterEnd,
}

/// The numbers of the kinds.
mod kind {
    pub const HELLO: u8 = 1;
    pub const DOCUMENT: u8 = 2;
    pub const OUTPUT: u8 = 4;
    pub const ERRORS: u8 = 5;
    pub const EXIT: u8 = 6;
    pub const FAILED: u8 = 7;
    pub const END: u8 = 8;
    pub const UNSUPPORTED: u8 = 9;
}

impl Frame {
    /// The bytes, head and rest.
    pub fn bytes(&self) -> Vec<u8> {
        let (kind, rest) = match self {
            Frame::Hello(hello) => (kind::HELLO, json(hello)),
            Frame::Document(bytes) => (kind::DOCUMENT, bytes.clone()),
            Frame::Output(bytes) => (kind::OUTPUT, bytes.clone()),
            Frame::Errors(bytes) => (kind::ERRORS, bytes.clone()),
            Frame::Exit(exit) => (kind::EXIT, json(exit)),
            Frame::Failed(why) => (kind::FAILED, why.clone().into_bytes()),
            Frame::Unsupported(why) => (kind::UNSUPPORTED, why.clone().into_bytes()),
            Frame::End => (kind::END, Vec::new()),
        };
        let mut bytes = Vec::with_capacity(HEAD + rest.len());
        bytes.extend(MAGIC);
        bytes.extend([VERSION, kind]);
        // One that is longer than four bytes can say is refused by its reader.
        bytes.extend(u32::try_from(rest.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(rest);
        bytes
    }

    fn parse(kind: u8, rest: &[u8]) -> Result<Frame, Error> {
        let wrong = Error::Content(kind);
        Ok(match kind {
            kind::HELLO => Frame::Hello(serde_json::from_slice(rest).map_err(|_| wrong)?),
            kind::DOCUMENT => Frame::Document(rest.to_vec()),
            kind::OUTPUT => Frame::Output(rest.to_vec()),
            kind::ERRORS => Frame::Errors(rest.to_vec()),
            kind::EXIT => Frame::Exit(serde_json::from_slice(rest).map_err(|_| wrong)?),
            kind::FAILED => Frame::Failed(String::from_utf8(rest.to_vec()).map_err(|_| wrong)?),
            kind::UNSUPPORTED => Frame::Unsupported(String::from_utf8(rest.to_vec()).map_err(|_| wrong)?),
            kind::END if rest.is_empty() => Frame::End,
            kind::END => return Err(wrong),
            other => return Err(Error::Kind(other)),
        })
    }
}

/// Such values always become JSON; nothing would be refused by the reader.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Turns bytes, as they come, into frames.
#[derive(Debug, Clone, Default)]
pub struct Stream {
    bytes: Vec<u8>,
    error: Option<Error>,
    is_over: bool,
}

impl Stream {
    /// Adds what has arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether the last frame was taken.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The next frame; none until more bytes arrive.
    ///
    /// # Errors
    /// Why the bytes are no frame; every later call returns the same.
    pub fn take(&mut self) -> Result<Option<Frame>, Error> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let next = self.next();
        self.error = next.as_ref().err().copied();
        next
    }

    fn next(&mut self) -> Result<Option<Frame>, Error> {
        if self.is_over && !self.bytes.is_empty() {
            return Err(Error::AfterEnd);
        }
        // The first byte that is wrong tells; nothing waits for a whole head.
        if self.bytes.iter().zip(MAGIC).any(|(byte, wanted)| *byte != wanted) {
            return Err(Error::Magic);
        }
        let Some([_, _, version, kind, length @ ..]) = self.bytes.first_chunk::<HEAD>() else {
            return Ok(None);
        };
        let (kind, length) = (*kind, u32::from_le_bytes(*length) as usize);
        if *version != VERSION {
            return Err(Error::Version(*version));
        }
        if length > MOST {
            return Err(Error::Length(length));
        }
        let Some(rest) = self.bytes.get(HEAD..HEAD + length) else { return Ok(None) };
        let frame = Frame::parse(kind, rest)?;
        self.bytes.drain(..HEAD + length);
        self.is_over = frame == Frame::End;
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Frame> {
        vec![
            Frame::Hello(Hello { unknown: vec!["ptti=on".into()], tick: Some("lapic".into()) }),
            Frame::Hello(Hello::default()),
            Frame::Document(b"{}".to_vec()),
            Frame::Output(vec![0, 255]),
            Frame::Errors(Vec::new()),
            Frame::Exit(Exit::Status(-1)),
            Frame::Exit(Exit::Signal(9)),
            Frame::Failed("é".into()),
            Frame::Unsupported("no filter".into()),
            Frame::End,
        ]
    }

    /// The frames of these bytes, which arrive in pieces of this length, and what is wrong behind them.
    fn read(bytes: &[u8], piece: usize) -> (Vec<Frame>, Option<Error>) {
        let (mut stream, mut frames) = (Stream::default(), Vec::new());
        for piece in bytes.chunks(piece) {
            stream.push(piece);
            loop {
                match stream.take() {
                    Ok(Some(frame)) => frames.push(frame),
                    Ok(None) => break,
                    Err(error) => {
                        assert_eq!(stream.take(), Err(error), "for ever");
                        return (frames, Some(error));
                    }
                }
            }
        }
        (frames, None)
    }

    #[test]
    fn frames_come_back_whatever_the_pieces() {
        let bytes: Vec<u8> = all().iter().flat_map(Frame::bytes).collect();
        for piece in [1, 7, bytes.len()] {
            assert_eq!(read(&bytes, piece), (all(), None));
        }
        let mut stream = Stream::default();
        stream.push(&bytes);
        while stream.take().unwrap().is_some() {}
        assert!(stream.is_over());
    }

    #[test]
    fn whatever_is_no_frame_has_its_error() {
        let head = |kind: u8, length: u32| [b"kf\x01".as_slice(), &[kind], &length.to_le_bytes()].concat();
        let with = |kind: u8, rest: &[u8]| [head(kind, rest.len() as u32), rest.to_vec()].concat();
        for (bytes, error) in [
            (b"x".to_vec(), Error::Magic),
            (b"kx".to_vec(), Error::Magic),
            (b"kf\x02\x01\0\0\0\0".to_vec(), Error::Version(2)),
            (head(0, 0), Error::Kind(0)),
            (head(kind::DOCUMENT, u32::MAX), Error::Length(u32::MAX as usize)),
            (with(kind::HELLO, b"[]"), Error::Content(kind::HELLO)),
            (with(kind::EXIT, b"\"Left\""), Error::Content(kind::EXIT)),
            (with(kind::FAILED, &[0xff]), Error::Content(kind::FAILED)),
            (with(kind::END, b"x"), Error::Content(kind::END)),
            ([Frame::End.bytes(), b"k".to_vec()].concat(), Error::AfterEnd),
        ] {
            assert_eq!(read(&bytes, 1).1, Some(error), "{bytes:?}");
            assert_eq!(read(&bytes, bytes.len()).1, Some(error), "{bytes:?}");
        }
    }

    #[test]
    fn a_frame_that_is_cut_is_waited_for() {
        let bytes = Frame::Output(vec![1, 2, 3]).bytes();
        let mut stream = Stream::default();
        stream.push(&bytes[..bytes.len() - 1]);
        assert_eq!(stream.take(), Ok(None));
        stream.push(&bytes[bytes.len() - 1..]);
        assert_eq!(stream.take(), Ok(Some(Frame::Output(vec![1, 2, 3]))));
    }
}

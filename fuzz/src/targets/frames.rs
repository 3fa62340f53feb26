//! Any bytes as what a Linux guest writes to the port of frames; the first says in which pieces they arrive.

use places::guest::frame::{Error, Frame, Stream};

pub fn run(bytes: &[u8]) {
    let [piece, stream @ ..] = bytes else {
        return;
    };
    let (frames, error) = read(stream, usize::from(*piece).max(1));
    let whole = read(stream, stream.len().max(1));
    assert_eq!((&frames, error), (&whole.0, whole.1), "the pieces decide");
    for frame in &frames {
        let again = read(&frame.bytes(), 64);
        assert_eq!(again, (vec![frame.clone()], None), "what was read can be written");
    }
}

fn read(bytes: &[u8], piece: usize) -> (Vec<Frame>, Option<Error>) {
    let (mut stream, mut frames) = (Stream::default(), Vec::new());
    for piece in bytes.chunks(piece) {
        stream.push(piece);
        loop {
            match stream.take() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
    }
    (frames, None)
}

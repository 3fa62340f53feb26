//! Any bytes as what comes over a guest's serial line; the first says how many programs were planned, and the second
//! in which pieces the others arrive.

pub fn run(bytes: &[u8]) {
    let [programs, piece, stream @ ..] = bytes else {
        return;
    };
    let programs = usize::from(*programs);
    let (collected, trouble) = crate::follow(stream, programs, (*piece).into());
    let (whole, same) = crate::follow(stream, programs, stream.len());
    assert_eq!(trouble, same, "the pieces decide");
    assert_eq!(collected.ran, whole.ran, "the pieces decide");
}

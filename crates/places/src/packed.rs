//! Files that the build script has packed (`build/compile.rs`), an eighth of their size in the command.

use std::io::Read;

/// The file that `packed` holds in zlib's format.
///
/// # Panics
/// When it is damaged, as the command that contains it then is.
pub(crate) fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let read = flate2::read::ZlibDecoder::new(packed).read_to_end(&mut file);
    read.unwrap_or_else(|error| panic!("this command is damaged: a file in it cannot be unpacked: {error}"));
    file
}

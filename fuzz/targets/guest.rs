//! Records of a lab kernel with right checksums, in any order and with any content: what the checksum keeps `lab_stream`
//! from.
#![no_main]

use fuzz::Word;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|said: (u8, u8, Vec<Word>)| {
    let (programs, piece, words) = said;
    fuzz::follow(&fuzz::guest_stream(&words), programs.into(), piece.into());
});

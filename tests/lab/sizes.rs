//! Sizes and addresses of programs that wrap when they are added.

use crate::build::freestanding;
use crate::guest::Emulator;
use crate::trial::*;

#[test]
fn a_size_that_wraps_is_answered_as_linux_answers() {
    let program = freestanding(64, &["sizes.c"]);
    for_each_configuration(|trial| trial.exec(&program, &case("sizes", Exit(0))));
    let mut trial = Trial::new(Emulator::TcgAmd);
    trial.exec(&program, &case("sizes", Exit(0)));
    trial.check();
}

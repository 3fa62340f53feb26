//! A program that changes its memory finds what it has put there, also when the kernel has no room for all of its areas.

use crate::build::freestanding;
use crate::trial::*;

#[test]
fn memory_is_as_the_program_has_changed_it_last() {
    let program = freestanding(64, &["remaps.c"]);
    for_each_configuration(|trial| trial.exec(&program, &case("remaps", Exit(0))));
}

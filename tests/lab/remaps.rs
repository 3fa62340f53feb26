//! A program that changes its memory finds what it has put there, also when the kernel has no room for all of its areas.

use crate::build::freestanding;
use crate::guest::Script;
use crate::silicon::boot_with;
use crate::trial::*;

#[test]
fn memory_is_as_the_program_has_changed_it_last() {
    let program = freestanding(64, &["remaps.c"]);
    for_each_configuration(|trial| trial.exec(&program, &case("remaps", Exit(0))));
}

#[test]
fn a_page_was_lost_that_moved_when_there_was_no_memory_for_page_tables() {
    let mut script = Script::new();
    script.limit(0);
    script.exec::<&str>(&freestanding(64, &["no_room.c"]), &[]);
    let Some(session) = boot_with(&script, "-m 24") else { return };
    assert_eq!(session.ran[0].end, places::lab::End::Exited(0), "{:?}", session.ran[0].log);
}

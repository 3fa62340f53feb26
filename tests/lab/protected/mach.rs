//! Programs of GNU Mach, and the table's rows of it, in protected mode: through the real call gate of 32 bits, by whichever entry else, and
//! through the page of the device `entry`. What they are answered is what programs of 32 bits are in long mode.

use crate::guest::{Emulator, Script};
use crate::mach::{self, CONFIGURATIONS, program, run};
use crate::{mach_costs, mach_entry, mach_rows, mach_stub};
use places::lab::{End, Mode::Protected};

#[test]
fn every_trap_answers_through_every_entry_with_every_protection() {
    mach::check_entries(Protected);
}

#[test]
fn messages_requests_threads_and_errors_are_answered_as_in_long_mode() {
    mach::check_messages(Protected);
    mach::check_errors(Protected);
    mach::check_servers(Protected);
    mach::check_threads(Protected);
}

#[test]
fn tasks_ask_and_answer_and_wait() {
    mach::check_pairs(Protected);
    mach::check_waits(Protected);
}

#[test]
fn what_is_no_trap_and_what_there_is_no_room_for_ends_no_kernel() {
    mach::check_ends(Protected);
    mach::check_limits(Protected);
}

#[test]
fn every_row_answers_and_counts_alike_in_four_emulators() {
    mach_rows::check_counts(Protected);
}

#[test]
fn every_row_answers_with_every_protection() {
    mach_rows::check_protections(Protected);
}

#[test]
fn a_trap_costs_the_steps_of_its_path_and_its_service() {
    mach_rows::check_steps(Protected);
    mach_rows::check_stubs(Protected);
}

#[test]
fn the_document_tells_what_the_rows_count() {
    mach_costs::check_rows(Protected);
}

#[test]
fn traps_without_the_personality_are_refused() {
    mach_rows::check_refusals(Protected);
}

#[test]
fn every_trap_answers_alike_through_every_variant_of_the_page() {
    mach_entry::check_variants(Protected, Emulator::TcgIntel, &CONFIGURATIONS);
    mach_entry::check_variants(Protected, Emulator::TcgAmd, &CONFIGURATIONS);
    mach_entry::check_variants(Protected, Emulator::Bochs, &CONFIGURATIONS[3..4]);
    mach_entry::check_variants(Protected, Emulator::BochsAmd, &CONFIGURATIONS[3..4]);
}

#[test]
fn the_page_is_only_to_be_executed_and_serves_who_has_no_entry() {
    mach_entry::check_protection(Protected);
    mach_entry::check_bare(Protected);
    mach_stub::check_linked(Protected);
}

/// A range that ends beyond 4 GiB is none of the program's, and not one that ends at low addresses.
#[test]
fn what_lies_beyond_four_gib_does_not_wrap_round() {
    let mut script = Script::protected();
    script.set("personality=mach");
    run(&mut script, &program(32, "mach_faults.c"), 0, &["r"]);
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    assert_eq!(session.ran[0].end, End::Exited(0), "{:?}", session.ran[0].log);
    assert_eq!(session.ran[0].text(), "allocate 1\nmap 1\nstill there 60000000\n");
}

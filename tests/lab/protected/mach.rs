//! Programs of GNU Mach, and the table's rows of it, in protected mode: through the real call gate of 32 bits, by whichever entry else, and
//! through the page of the device `entry`. What they are answered is what programs of 32 bits are in long mode.

use crate::guest::{Answer, Emulator, Ran, Script};
use crate::mach::{self, CONFIGURATIONS, program, run, run_by};
use crate::{mach_costs, mach_entry, mach_rows, mach_stub};
use places::lab::{End, Mode::Protected};
use table::{Table, Whose};

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

/// It is AMD's, and there with `events-by=task` alone. The stub, and the page, enter by it as in long mode.
#[test]
fn amds_syscall_makes_traps() {
    let (table, mut script) = (Table::get(), Script::protected());
    let entry = table.entry("syscall-i386").unwrap();
    let (hello, way) =
        (program(32, "mach_hello.c"), mach::WAYS_32.iter().position(|way| *way == "syscall").unwrap());
    for configuration in ["pti=off stack=frame exit=natural", "pti=on stack=minimum exit=iret copy-frame=on"]
    {
        script.set(&format!("{configuration} events-by=task entry-page=syscall personality=mach"));
        for operation in entry.operations_of(Whose::MachI386) {
            script.row(entry, table.operation(operation).unwrap());
        }
        run(&mut script, &hello, way, &["a", "b c"]);
        run_by(&mut script, &hello, "entry", &["a", "b c"]);
    }
    let Some(session) = script.boot(Emulator::TcgAmd) else { return };
    let (rows, said): (Vec<&Ran>, Vec<&Ran>) =
        session.ran.iter().partition(|ran| ran.label.starts_with("syscall-i386"));
    assert_eq!((rows.len(), said.len()), (8, 4));
    for ran in rows {
        assert_eq!(ran.answer(), Answer::Ok, "{}", ran.label);
    }
    for ran in said {
        assert_eq!(ran.text(), mach::hello(32, "[a][b c]", 0), "{}", ran.label);
    }
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

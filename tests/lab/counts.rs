//! What rows count, and what an emulator has executed by its own log (executed.rs): as many instructions, and of paths those that are listed.

use crate::executed::{Logged, follow, least};
use crate::guest::{Answer, Emulator, Script};
use crate::listed::{Listed, paths_of};
use crate::matrix;
use places::lab::Mode;
use table::{Entry, Operation, Table};

pub type Row = (&'static Entry, &'static Operation);

/// Of each entry one operation; those that change no switch come first. In Bochs it is one with a service, which QEMU does not log.
fn rows(mode: Mode, emulator: Emulator) -> Vec<Row> {
    let preferred = if emulator.is_tcg() { "none" } else { "getppid" };
    let mut rows: Vec<Row> = Vec::new();
    for (entry, operation) in Table::get().rows(mode.kernel()) {
        match rows.iter_mut().find(|row| row.0.name == entry.name) {
            Some(row) if operation.name == preferred => row.1 = operation,
            Some(_) => {}
            None => rows.push((entry, operation)),
        }
    }
    rows.sort_by_key(|(entry, operation)| entry.needs_for(operation).len());
    rows
}

/// A run of a row, and the listings of the paths that it takes.
struct Run {
    row: Row,
    ran: usize,
    listings: Vec<(usize, String)>,
}

/// Compares all rows that are open in these configurations, in one boot. How many were compared; none where the emulator is not here.
pub fn check(
    mode: Mode,
    emulator: Emulator,
    configurations: &[&str],
    is_open: impl Fn(&str, Row) -> bool,
) -> Option<usize> {
    check_logged(mode, (emulator, Logged::Paths), configurations, is_open)
}

fn check_logged(
    mode: Mode,
    (emulator, logged): (Emulator, Logged),
    configurations: &[&str],
    is_open: impl Fn(&str, Row) -> bool,
) -> Option<usize> {
    let mut listed = Listed::of(mode);
    let (mut script, mut runs) = (Script::in_mode(mode), Vec::new());
    script.harmless();
    for switches in configurations {
        script.set(switches);
        for row in rows(mode, emulator).into_iter().filter(|row| is_open(switches, *row)) {
            if !row.0.needs_for(row.1).is_empty() {
                script.set(switches);
            }
            let ran = script.row(row.0, row.1);
            let listings =
                paths_of(mode, emulator, row.0, switches).into_iter().map(|name| (script.list(&name), name));
            runs.push(Run { row, ran, listings: listings.collect() });
        }
    }
    let entries: Vec<&Entry> = runs.iter().map(|run| run.row.0).collect();
    let (session, uses) = follow(emulator, &script, &entries, logged)?;
    let mut wrong = Vec::new();
    for (run, uses) in runs.iter().zip(&uses) {
        let (ran, one) = (&session.ran[run.ran], least(uses));
        // Bochs counts one more than it traces: the fetch that faults, by all that is seen. QEMU writes it down where it is.
        let is_fetch = run.row.0.name == "vsyscall" && !emulator.is_tcg();
        let besides = matrix::miscounted(mode, emulator, run.row) + i64::from(is_fetch);
        if ran.cost() as i64 - besides != one.count() {
            wrong.push(format!("{}: counts {}, {} executed", ran.label, ran.cost(), one.count()));
        }
        for (listing, path) in &run.listings {
            wrong.extend(listed.unlike(path, run.row, ran, one, &session.ran[*listing]));
        }
        wrong.extend(listed.unlike_files(session.boot.gateway, run.row, ran, one));
    }
    assert!(wrong.is_empty(), "{}, {} of {}: {wrong:#?}", emulator.name(), wrong.len(), runs.len());
    Some(runs.len())
}

/// Rows whose kernel's side is a service behind the path of all exceptions.
fn is_served_behind_a_fault(entry: &Entry) -> bool {
    ["interrupt", "page-fault", "vsyscall"].contains(&entry.name.as_str())
}

/// Whether a row is compared; in Bochs, which is slow, one model has few.
fn is_compared(emulator: Emulator, (entry, operation): Row) -> bool {
    let is_new = !entry.through.is_empty() || entry.name.starts_with("far-");
    (emulator != Emulator::BochsAmd || is_new)
        && matrix::expected(emulator, &entry.name, &operation.name) == Answer::Ok
}

#[test]
fn a_row_counts_what_a_log_of_every_instruction_has() {
    const PLAIN: &str = "pti=off smap=off";
    const SAFE: &str = "pti=on smap=on exit=iret stack=minimum copy-frame=on swapgs=fence";
    for (emulator, configurations, least) in [
        (Emulator::TcgIntel, &[PLAIN, SAFE][..], 70),
        (Emulator::TcgAmd, &[SAFE], 30),
        (Emulator::Bochs, &[SAFE], 36),
        (Emulator::BochsAmd, &[PLAIN, SAFE], 12),
    ] {
        let is_open = |_: &str, row: Row| {
            let is_logged = !emulator.is_tcg() || !is_served_behind_a_fault(row.0);
            is_logged && is_compared(emulator, row)
        };
        let compared = check(Mode::Long, emulator, configurations, is_open);
        assert!(compared.is_none_or(|rows| rows >= least), "{}: {compared:?}", emulator.name());
    }
}

#[test]
fn what_is_served_behind_a_fault_counts_what_a_log_of_every_instruction_has() {
    const CONFIGURATIONS: [&str; 3] =
        ["pti=off smap=off", "pti=on smap=on copy-frame=on vsyscall=native", "vsyscall=original"];
    let logged = (Emulator::TcgIntel, Logged::All);
    let compared =
        check_logged(Mode::Long, logged, &CONFIGURATIONS, |_, row| is_served_behind_a_fault(row.0));
    assert!(compared.is_none_or(|rows| rows == 9), "{compared:?}");
}

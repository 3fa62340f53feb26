//! Boots a Linux in QEMU with kentry as its first program. Which kernel: `KENTRY_KERNEL` names its file, or it is
//! `target/guest/vmlinuz*`; without one these tests are skipped.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use document::{Document, Outcome};
use guest::{Accelerator, Boot, Booted, Interrupt, Limits, Machine, Work};
use linux::Kernel;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use table::Table;

/// Says, past the test runner, why something is not tested here; scripts/test.sh counts it.
fn skipped(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "skipped {}: {why}", thread.name().unwrap_or_default());
}

/// A kernel's file, and what is needed to boot it; none, with the reason printed, where it is missing.
fn kernel() -> Option<Kernel> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/guest");
    let is_kernel = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("vmlinuz");
    let found = std::fs::read_dir(folder)
        .ok()
        .and_then(|files| files.filter_map(|file| Some(file.ok()?.path())).find(is_kernel));
    let Some(file) = std::env::var_os("KENTRY_KERNEL").map(PathBuf::from).or(found) else {
        skipped("no kernel (KENTRY_KERNEL, target/guest/vmlinuz*)");
        return None;
    };
    let machine = Machine::new(Accelerator::Tcg, None);
    if std::process::Command::new(&machine.program).arg("--version").output().is_err() {
        skipped("no QEMU");
        return None;
    }
    Some(Kernel { bytes: std::fs::read(&file).unwrap(), file, ..Kernel::default() })
}

/// All rows of Linux.
fn rows() -> Vec<(u16, u16)> {
    let rows = Table::get().rows(table::Kernel::Linux);
    rows.map(|(entry, operation)| (entry.id, operation.id)).collect()
}

/// Boots with these parameters, for so many seconds at most.
fn boot(kernel: &Kernel, parameters: &str, work: &Work, seconds: u64) -> Booted {
    let program = std::fs::read(env!("CARGO_BIN_EXE_kentry")).unwrap();
    let machine = Machine::new(Accelerator::Tcg, None);
    let boot = Boot { machine: &machine, kernel, parameters, program: &program, archive: &[], work, seed: 7 };
    let limits =
        Limits { time: Duration::from_secs(seconds), output: 64 << 20, interrupt: Interrupt::default() };
    boot.run(&limits, &mut |_| ()).unwrap()
}

fn document(booted: &Booted) -> Document {
    assert_eq!(booted.trouble, None, "{}", booted.console);
    document::load(std::str::from_utf8(booted.document.as_ref().unwrap()).unwrap()).unwrap()
}

#[test]
fn every_row_of_a_guest_has_its_outcome_and_a_count_that_boots_agree_on() {
    let Some(kernel) = kernel() else { return };
    let work = Work { rows: rows(), counts: true, seed: 7, ..Work::default() };
    let booted = [(); 2].map(|()| boot(&kernel, "mispelled=1 word", &work, 60));
    assert_eq!(
        booted[0].hello.as_ref().unwrap().unknown,
        ["word", "mispelled=1"],
        "the kernel knows neither"
    );
    let [one, other] = booted.each_ref().map(document);
    assert_eq!(one.results.len(), rows().len());
    assert_eq!(one.results, other.results);
    assert_eq!((&one.environment, &one.vdso), (&other.environment, &other.vdso));
    for name in ["syscall-x86_64", "int80-x86_64", "int80-i386", "vdso-x86_64", "page-fault"] {
        let rows = one.results.iter().filter(|row| row.entry == name);
        assert!(rows.clone().any(|row| row.outcome == Outcome::Ok), "{name}");
        let counted =
            |row: &document::Row| row.instructions.as_ref().is_some_and(|cost| cost.estimate.0 > 1.0);
        assert!(rows.filter(|row| row.outcome == Outcome::Ok).all(counted), "{name}");
    }
}

#[test]
fn try_following() {
    let Some(kernel) = kernel() else { return };
    let work = Work { rows: rows(), counts: true, follows: true, symbols: true, seed: 7, ..Work::default() };
    let begin = std::time::Instant::now();
    let booted = boot(&kernel, "", &work, 120);
    println!("{:?} {:?}", begin.elapsed(), booted.first_frame);
    println!("{:?} symbols {} interrupt {}", booted.unfollowed, booted.symbols.len(), booted.interrupt.len());
    let document = document(&booted);
    for trace in &booted.traces {
        let row = document
            .results
            .iter()
            .find(|row| (row.entry_id, row.operation_id) == (Some(trace.entry), Some(trace.operation)))
            .unwrap();
        let count = row.instructions.as_ref().unwrap().estimate.0;
        let ring0 = trace.steps.iter().filter(|step| step.ring == 0).count();
        println!(
            "{} {} {count} steps {} ring0 {ring0} control {} {}",
            row.entry,
            row.operation,
            trace.steps.len(),
            trace.control,
            if count as usize + trace.control == trace.steps.len() { "" } else { "DIFFERS" }
        );
    }
}

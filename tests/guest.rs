//! Boots a Linux in QEMU with kentry as its first program. Which kernel: `KENTRY_KERNEL` names its file, or it is the newest in
//! `target/guest`; without one these tests are skipped.

use crate::qemu;
use crate::skipped::skipped;
use document::{Document, Outcome};
use iced_x86::FlowControl;
use linux::Kernel;
use places::guest::{
    Accelerator, Boot, Booted, Exec, Exit, Interrupt, Limits, Machine, ProgramOutput, Trouble, Work,
};
use record::trace::{Executed, Trace};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;
use table::Table;

/// Longer than any of these boots takes, also beside others.
const LONG: Duration = Duration::from_secs(300);

static PROGRAM: LazyLock<Vec<u8>> =
    LazyLock::new(|| linux::stripped(&std::fs::read(env!("CARGO_BIN_EXE_kentry")).unwrap()));

/// A kernel; none, and a remark, where it or what boots it is missing.
fn kernel() -> Option<Kernel> {
    if !qemu::is_here() {
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/guest");
    let word = std::env::var("KENTRY_KERNEL").unwrap_or_else(|_| folder.display().to_string());
    match linux::find(Path::new(&word)) {
        Ok(file) => Some(Kernel::read(&file, &Default::default()).unwrap()),
        Err(_) => {
            skipped("no kernels here (scripts/kernels.sh fetches them)");
            None
        }
    }
}

fn limits(time: Duration) -> Limits {
    Limits { time, output: 64 << 20, interrupt: Interrupt::default() }
}

/// Boots with these parameters, and tells what the guest says.
fn boot_and_hear(
    kernel: &Kernel,
    parameters: &str,
    work: &Work,
    time: Duration,
) -> (Booted, Vec<ProgramOutput>) {
    let machine = Machine::new(Accelerator::Tcg, None);
    let (program, archive) = (&PROGRAM, &[]);
    let boot = Boot { machine: &machine, kernel, parameters, program, archive, work, seed: 7 };
    let mut all = Vec::new();
    let booted = boot.run(&limits(time), &mut |said| all.push(said)).unwrap();
    (booted, all)
}

fn boot(kernel: &Kernel, parameters: &str, work: &Work) -> Booted {
    boot_and_hear(kernel, parameters, work, LONG).0
}

fn document(booted: &Booted) -> Document {
    assert_eq!(booted.trouble, None, "{}", booted.console);
    document::load(std::str::from_utf8(booted.document.as_ref().unwrap()).unwrap()).unwrap()
}

fn id(entry: &str, operation: &str) -> (u16, u16) {
    let table = Table::get();
    (table.entry(entry).unwrap().id, table.operation(operation).unwrap().id)
}

#[test]
fn every_row_of_a_guest_has_its_outcome_and_a_count_that_boots_agree_on() {
    let Some(kernel) = kernel() else { return };
    let rows = Table::get().rows(table::Kernel::Linux);
    let rows: Vec<_> = rows.map(|(entry, operation)| (entry.id, operation.id)).collect();
    let work = Work { rows: rows.clone(), counts: true, seed: 7, ..Work::default() };
    let booted = [(); 2].map(|()| boot(&kernel, "mispelled=1 word", &work));
    let hello = booted[0].hello.as_ref().unwrap();
    assert_eq!(hello.unknown, ["word", "mispelled=1"], "the kernel knows neither");
    let [one, other] = booted.each_ref().map(document);
    assert!(kernel.release.is_empty() || one.environment.kernel.release.as_ref() == Some(&kernel.release));
    assert_eq!(one.results.len(), rows.len());
    assert_eq!(one.results, other.results);
    assert_eq!((&one.environment, &one.vdso), (&other.environment, &other.vdso));
    for name in ["syscall-x86_64", "vdso-x86_64", "page-fault"] {
        let ok: Vec<_> =
            one.results.iter().filter(|row| row.entry == name && row.outcome == Outcome::Ok).collect();
        let counted = |row: &&document::Row| row.instructions.as_ref().unwrap().estimate.0 > 1.0;
        assert!(!ok.is_empty() && ok.iter().all(counted), "{name}");
    }
    let libc = one.results.iter().find(|row| row.entry == "libc").unwrap();
    assert_eq!(libc.outcome, Outcome::Unsupported);
    assert!(libc.reason.as_ref().unwrap().contains("guests have no C library"), "{:?}", libc.reason);
}

/// A guest whose tick is not the APIC's timer is booted again: one that could not say which it has would always be.
#[test]
fn a_guest_says_which_timer_ticks() {
    let Some(kernel) = kernel() else { return };
    let work = Work { rows: vec![id("syscall-x86_64", "getppid")], counts: true, seed: 7, ..Work::default() };
    let booted = boot(&kernel, "", &work);
    assert!(booted.hello.as_ref().unwrap().ticks_by_apic(), "{:?}", booted.hello);
    assert!(booted.parameters.contains(" tsc_early_khz=250000"), "{}", booted.parameters);
    assert_eq!(document(&booted).environment.kaslr, Some(false), "it is entered where it was linked");
}

/// Where a plain instruction is not followed by the next one, nor by an exception's entry.
fn gaps(trace: &Trace) -> Vec<String> {
    let next = |step: &Executed| {
        let code = step.decode();
        let repeats = code.has_rep_prefix() || code.has_repne_prefix();
        (code.flow_control() == FlowControl::Next && !repeats).then(|| code.next_ip())
    };
    let is_gap = |pair: &&[Executed]| {
        let (step, then) = (&pair[0], &pair[1]);
        let faults = step.ring == 3 && then.ring == 0;
        next(step).is_some_and(|next| next != then.address && !faults)
    };
    let in_words = |pair: &[Executed]| format!("{:#x} then {:#x}", pair[0].address, pair[1].address);
    trace.steps.windows(2).filter(is_gap).map(in_words).collect()
}

#[test]
fn what_is_followed_is_what_is_counted() {
    let Some(kernel) = kernel() else { return };
    let rows = [
        ("call", "none"),
        ("syscall-x86_64", "none"),
        ("syscall-x86_64", "getppid"),
        ("int80-x86_64", "none"),
        ("int80-x86_64", "getppid"),
        ("int80-i386", "getppid"),
        ("sysenter-i386", "getppid"),
        ("vdso-x86_64", "getcpu"),
        ("vdso-i386", "time"),
        ("rdtsc", "none"),
        ("page-fault", "minor-fault"),
        ("div0", "signal"),
        ("syscall-x32", "getppid"),
    ];
    let work = Work {
        rows: rows.map(|(entry, operation)| id(entry, operation)).into(),
        counts: true,
        follows: true,
        event: Some(record::trace::Event::TimerInterrupt),
        symbols: true,
        seed: 7,
        ..Work::default()
    };
    let booted = boot(&kernel, "", &work);
    each_path_is_as_long_as_its_count(&booted);
    paths_begin_and_end_where_they_should(&booted);
    the_timers_path_is_the_kernels(&booted);
}

fn each_path_is_as_long_as_its_count(booted: &Booted) {
    assert_eq!(booted.unfollowed, []);
    let document = document(booted);
    let ok: Vec<_> = document.results.iter().filter(|row| row.outcome == Outcome::Ok).collect();
    assert!(ok.len() >= 10, "{:?}", document.results);
    for row in &ok {
        let of = (row.entry_id.unwrap(), row.operation_id.unwrap());
        let trace = booted.traces.iter().find(|trace| (trace.entry, trace.operation) == of).unwrap();
        let count = row.instructions.as_ref().unwrap().estimate.0;
        assert_eq!((trace.steps.len() - trace.control) as f64, count, "{} {}", row.entry, row.operation);
        assert!(trace.steps.iter().all(|step| !step.bytes.is_empty()), "{} {}", row.entry, row.operation);
    }
    for trace in &booted.traces {
        assert_eq!(gaps(trace), Vec::<String>::new(), "{} {}", trace.entry, trace.operation);
    }
    assert_eq!(booted.traces.len(), ok.len(), "a row that is not ok is not followed");
}

fn paths_begin_and_end_where_they_should(booted: &Booted) {
    let trace = |entry, operation| {
        let row = id(entry, operation);
        booted.traces.iter().find(|trace| (trace.entry, trace.operation) == row).unwrap()
    };
    let getppid = trace("syscall-x86_64", "getppid");
    let rings: Vec<u8> = getppid.steps.iter().map(|step| step.ring).collect();
    assert_eq!((rings[0], &getppid.steps[0].bytes), (3, &vec![0x0f, 5]), "syscall");
    assert!(rings[1..].iter().all(|ring| *ring == 0));
    assert_eq!(getppid.steps[1].address, address_of(booted, "entry_SYSCALL_64"));
    assert_eq!(getppid.steps.last().unwrap().bytes.last(), Some(&7), "sysret: 48 0f 07");
    let in_32_bits = trace("int80-i386", "getppid").steps[0].clone();
    assert_eq!((in_32_bits.ring, in_32_bits.long, in_32_bits.bytes), (3, false, vec![0xcd, 0x80]));
}

fn the_timers_path_is_the_kernels(booted: &Booted) {
    let steps = booted.event.as_ref().unwrap().as_ref().unwrap();
    assert_eq!(steps[0].address, address_of(booted, "asm_sysvec_apic_timer_interrupt"));
    assert!(steps.len() > 100 && steps.iter().all(|step| step.ring == 0));
}

fn address_of(booted: &Booted, function: &str) -> u64 {
    booted.symbols.iter().find(|symbol| symbol.name == function).unwrap().address
}

#[test]
fn whatever_becomes_of_a_guest_ends_in_words() {
    let Some(kernel) = kernel() else { return };
    let work = Work { counts: true, ..Work::default() };
    let panicked = boot(&kernel, "rdinit=/nonexistent", &work);
    let Some(Trouble::Panicked { why, console }) = &panicked.trouble else {
        panic!("{:?} {}", panicked.trouble, panicked.console)
    };
    assert!(why.contains("root fs"), "{why}");
    assert!(console.contains("Kernel panic - not syncing"), "{console}");
    assert!((panicked.hello, panicked.document) == (None, None));

    let (hung, _) = boot_and_hear(&kernel, "", &work, Duration::from_millis(1500));
    let words = hung.trouble.unwrap().to_string();
    assert!(words.starts_with("the guest did not finish within 1.5 s"), "{words}");

    let garbage = Kernel { bytes: vec![0x5a; 1 << 16], ..Kernel::default() };
    let words = boot(&garbage, "", &work).trouble.unwrap().to_string();
    assert!(words.starts_with("qemu-system-x86_64 ended early, exit status: 1"), "{words}");

    let machine =
        Machine { program: "kentry-no-such-program".into(), ..Machine::new(Accelerator::Tcg, None) };
    let boot = Boot {
        machine: &machine,
        kernel: &garbage,
        parameters: "",
        program: &[],
        archive: &[],
        work: &work,
        seed: 7,
    };
    let missing = boot.run(&limits(LONG), &mut |_| ()).unwrap_err().to_string();
    assert!(missing.starts_with("there is no kentry-no-such-program here: install it"), "{missing}");
}

/// What a guest wrote to its standard error.
fn errors(said: &[ProgramOutput]) -> String {
    let bytes = said
        .iter()
        .filter_map(|said| if let ProgramOutput::Errors(bytes) = said { Some(bytes) } else { None });
    String::from_utf8(bytes.flatten().copied().collect()).unwrap()
}

#[test]
fn a_program_runs_and_its_output_and_its_end_are_told() {
    let Some(kernel) = kernel() else { return };
    let run = |arguments: &[&str]| {
        let arguments = arguments.iter().map(|word| word.to_string()).collect();
        let exec = Exec { arguments, environment: vec!["LANG=C".into()], ..Exec::default() };
        let work = Work { exec: Some(exec), ..Work::default() };
        boot_and_hear(&kernel, "", &work, LONG)
    };
    // kentry itself, which there is no longer the first program.
    let (booted, said) = run(&["/init", "explain", "no-such-entry"]);
    assert_eq!((booted.trouble, booted.exit), (None, Some(Exit::Status(2))), "{}", booted.console);
    assert!(errors(&said).contains("no-such-entry"));
    let (booted, said) = run(&["/nothing"]);
    assert_eq!((booted.trouble, booted.exit), (None, Some(Exit::Status(127))));
    assert!(
        errors(&said).contains("/nothing cannot be executed: there is no such file or folder"),
        "{said:?}"
    );
}

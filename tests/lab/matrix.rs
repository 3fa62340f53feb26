//! Every entry in every emulator: its outcome and its answer, as the lab's notes found them; and what depends on the processor.

use crate::guest::{AMD_IN_QEMU, Answer, Emulator, Script, Session, intel_has_syscall_32, qemu_is_before};
use crate::protected;
use crate::trial::working;
use places::lab::{Accelerator, End, Mode, Qemu};
use record::{Verdict, abi};
use std::collections::{BTreeMap, BTreeSet};
use table::{Entry, Kernel, Operation, Table};

const SIGILL: u64 = 4;
const SIGSEGV: u64 = 11;

/// Everything that is not ok: where, which entry and operation (none: all), how, and why.
type Row = (&'static [Emulator], &'static str, Option<&'static str>, Answer, &'static str);

const ALL: &[Emulator] = &Emulator::ALL;
const NO_RDPID: &[Emulator] = &[Emulator::TcgIntel, Emulator::TcgAmd, Emulator::BochsAmd];
const AMD: &[Emulator] = &[Emulator::TcgAmd];
const INTEL: &[Emulator] = &[Emulator::TcgIntel, Emulator::Bochs];

const NOT_EXPORTED: Answer = Answer::Verdict(Verdict {
    outcome: abi::OUTCOME_UNSUPPORTED,
    cause: abi::CAUSE_NO_SYMBOL,
    detail: [0; 4],
});

const CLOSED: &[Row] = &[
    (AMD, "sysenter-x86_64", None, Answer::Signal(SIGILL), "AMD has no sysenter in long mode: #UD in ring 3"),
    (
        AMD,
        "sysenter-i386",
        None,
        Answer::Signal(SIGILL),
        "the same; but here it is the #UD of the sysexit, in ring 0",
    ),
    (AMD, "stub-sysenter-i386", None, Answer::Signal(SIGILL), "the same: the stub has that instruction"),
    (
        INTEL,
        "syscall-i386",
        None,
        Answer::Signal(SIGILL),
        "Intel has no syscall in compatibility mode: #UD in ring 3",
    ),
    (TCG, "ring1-x86_64", None, Answer::Signal(SIGSEGV), "the gates into rings 1 and 2 are closed there"),
    (TCG, "ring2-x86_64", None, Answer::Signal(SIGSEGV), "the same"),
    (
        NO_RDPID,
        "rdpid",
        None,
        Answer::Signal(SIGILL),
        "a first Zen does not have it, nor had TCG before 8.1, and CPUID says so",
    ),
    (
        ALL,
        "vdso-x86_64",
        Some("getrandom"),
        NOT_EXPORTED,
        "Linux's vDSO has it from 6.11 on; the lab's does not",
    ),
];

/// Instructions that are counted in an emulator, and not in the others: where, which entry and operation (none: all), how many,
/// and why. All others count every instruction that is begun, from the one that enters on, and each turn of a `rep`.
pub type CountRow = (&'static [Emulator], Option<&'static str>, Option<&'static str>, i64, &'static str);

pub const TCG: &[Emulator] = &[Emulator::TcgIntel, Emulator::TcgAmd];
const AMD_MODELS: &[Emulator] = &[Emulator::TcgAmd, Emulator::BochsAmd];

const COUNTED_OTHERWISE: &[CountRow] = &[
    (TCG, Some("div0"), None, -1, "a division that faults is not counted"),
    (TCG, Some("div0-i386"), None, -1, "a division that faults is not counted, in 32-bit code"),
    (TCG, Some("page-fault"), None, -1, "an access that faults is not counted"),
    (
        TCG,
        None,
        Some("getrandom"),
        1,
        "a `rep movs` has one turn more: the one that finds that nothing is left",
    ),
    (
        AMD_MODELS,
        Some("gateway-i386"),
        None,
        -2,
        "no difference of emulators: the gateway has syscall, not sysenter",
    ),
    (
        AMD_MODELS,
        Some("vdso-i386"),
        Some("clock_gettime-thread-cputime"),
        -2,
        "the same: the vDSO asks through the gateway",
    ),
];

/// Where an emulator does otherwise than any processor of that vendor. entries.toml must say so, and nothing else.
const UNREAL: &[(Emulator, &str)] = &[
    (Emulator::TcgIntel, "syscall-i386"),
    (Emulator::TcgIntel, "ring1-x86_64"),
    (Emulator::TcgIntel, "ring2-x86_64"),
    (Emulator::TcgAmd, "ring1-x86_64"),
    (Emulator::TcgAmd, "ring2-x86_64"),
    (Emulator::TcgAmd, "sysenter-i386"),
    (Emulator::BochsAmd, "sysenter-i386"),
    (Emulator::BochsAmd, "sysenter-x86_64"),
    (Emulator::TcgAmd, "stub-sysenter-i386"),
    (Emulator::BochsAmd, "stub-sysenter-i386"),
    // Of protected mode.
    (Emulator::TcgIntel, "into"),
    (Emulator::TcgAmd, "into"),
    (Emulator::TcgIntel, "limit-fault"),
    (Emulator::TcgAmd, "limit-fault"),
    (Emulator::TcgIntel, "v86-int-redirected"),
    (Emulator::TcgAmd, "v86-int-redirected"),
];

fn row(emulator: Emulator, entry: &str, operation: &str) -> Option<&'static Row> {
    CLOSED.iter().filter(|_| !depends_on_version(emulator, entry)).find(|(emulators, name, only, ..)| {
        emulators.contains(&emulator) && *name == entry && only.is_none_or(|only| only == operation)
    })
}

/// What QEMU's model of an Intel executes in the version that is here, and not in others.
fn depends_on_version(emulator: Emulator, entry: &str) -> bool {
    emulator == Emulator::TcgIntel
        && match entry {
            "syscall-i386" => intel_has_syscall_32(),
            "rdpid" => !qemu_is_before("8.1"),
            _ => false,
        }
}

pub fn expected(emulator: Emulator, entry: &str, operation: &str) -> Answer {
    row(emulator, entry, operation).map_or(Answer::Ok, |(.., answer, _)| *answer)
}

/// The same of the kernel of a mode.
pub fn expected_in(mode: Mode, emulator: Emulator, (entry, operation): (&Entry, &Operation)) -> Answer {
    match mode {
        Mode::Long => expected(emulator, &entry.name, &operation.name),
        Mode::Protected => protected::matrix::expected(emulator, &entry.name, &operation.name),
    }
}

/// Boots every row of the lab, in a configuration, and compares.
fn check_rows(emulator: Emulator, switches: &str) {
    let mut script = Script::new();
    script.set(switches);
    let rows: Vec<_> = Table::get().rows(Kernel::Lab).collect();
    for (entry, operation) in &rows {
        script.row(entry, operation);
    }
    let Some(session) = script.boot(emulator) else { return };
    assert_eq!(session.ran.len(), rows.len());
    let wrong: Vec<String> = session
        .ran
        .iter()
        .zip(rows)
        .filter(|(ran, (entry, operation))| ran.answer() != expected(emulator, &entry.name, &operation.name))
        .map(|(ran, _)| format!("{} in {}: {:x?}", ran.label, emulator.name(), ran.answer()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_entry_and_operation_on_tcg_with_an_intel_model() {
    check_rows(Emulator::TcgIntel, "pti=off");
    check_rows(Emulator::TcgIntel, "pti=on exit=iret stack=minimum smap=off vsyscall=native");
    check_rows(Emulator::TcgIntel, "pti=trampoline copy-frame=on global=on flush-by=pge smep=off umip=off");
}

#[test]
fn every_entry_with_identifiers() {
    let mut script = Script::new();
    for switches in [
        "pti=off pcid=keep flush-by=invpcid",
        "pti=trampoline pcid=flush global=on flush-by=invlpg",
        "pti=on pcid=lazy copy-frame=on flush-by=invpcid",
        "pti=on pcid=flush copy-frame=off global=off flush-by=pge stack=minimum exit=iret",
    ] {
        script.set(switches);
        working().into_iter().for_each(|(entry, operation)| _ = script.row(entry, operation));
    }
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    let wrong: Vec<_> = session
        .ran
        .iter()
        .filter(|ran| {
            ran.answer() != expected(Emulator::Bochs, ran.label.split(' ').next().unwrap(), "getppid")
        })
        .map(|ran| (&ran.label, ran.end))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_entry_and_operation_on_tcg_with_an_amd_model() {
    check_rows(Emulator::TcgAmd, "pti=on");
}

/// All four emulators at once, each with its rows and configurations: the same answers; and the same counts in configurations of the same place, but for
/// so many more in an emulator.
pub fn check_all(
    mode: Mode,
    rows: impl Fn(Emulator) -> Vec<(&'static Entry, &'static Operation)> + Sync,
    configurations: impl Fn(Emulator) -> Vec<&'static str> + Sync,
    mut more: impl FnMut(Emulator, &Entry, &Operation) -> i64,
) {
    let boot = |emulator: Emulator| {
        let (mut script, mut asked) = (Script::in_mode(mode), Vec::new());
        for (place, switches) in configurations(emulator).into_iter().enumerate() {
            script.set(switches);
            for (entry, operation) in rows(emulator) {
                script.row(entry, operation);
                asked.push((place, switches, entry, operation));
            }
        }
        script.boot(emulator).map(|session| (emulator, asked, session.ran))
    };
    let booted: Vec<_> = std::thread::scope(|scope| {
        let threads = Emulator::ALL.map(|emulator| scope.spawn(move || boot(emulator)));
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    let (mut wrong, mut counts) = (Vec::new(), BTreeMap::<_, BTreeMap<i64, Vec<String>>>::new());
    for (emulator, asked, ran) in &booted {
        for ((place, switches, entry, operation), ran) in asked.iter().zip(ran) {
            let answer = ran.answer();
            if answer != expected_in(mode, *emulator, (entry, operation)) {
                wrong.push(format!("{} in {}: {answer:x?}", ran.label, emulator.name()));
            }
            if answer == Answer::Ok {
                let count = i64::try_from(ran.cost()).unwrap() - more(*emulator, entry, operation);
                let of_row = counts.entry((place, &entry.name, &operation.name)).or_default();
                of_row.entry(count).or_default().push(format!("{}, {switches}", emulator.name()));
            }
        }
    }
    for ((_, entry, operation), counts) in counts.iter().filter(|(_, counts)| counts.len() > 1) {
        wrong.push(format!("{entry} {operation}: {counts:?}"));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same, where all that is counted otherwise stands in a table: each row of it must be met.
pub fn check_counts(
    mode: Mode,
    rows: impl Fn(Emulator) -> Vec<(&'static Entry, &'static Operation)> + Sync,
    configurations: impl Fn(Emulator) -> Vec<&'static str> + Sync,
) {
    let (mut used, mut emulators) = (BTreeSet::new(), BTreeSet::new());
    check_all(mode, rows, configurations, |emulator, entry, operation| {
        let differences = counted_otherwise(mode, emulator, (entry, operation));
        used.extend(differences.iter().map(|row| row.4));
        emulators.insert(emulator.name());
        differences.iter().map(|row| row.3).sum()
    });
    let is_used = |row: &CountRow| used.contains(row.4) || emulators.len() < Emulator::ALL.len();
    assert!(counted_in(mode).iter().all(is_used), "{used:?}");
}

/// The same of rows by calls of Linux, which have every difference that there is.
fn check_calls(wanted: impl Fn(&Entry, &Operation) -> bool) {
    let rows = Table::get().rows(Kernel::Lab).filter(|(entry, operation)| wanted(entry, operation));
    let rows: Vec<_> = rows.collect();
    // Identifiers of page tables change no path.
    let switches = |emulator| vec![if emulator == Emulator::Bochs { "pti=on pcid=keep" } else { "pti=on" }];
    check_counts(Mode::Long, |_| rows.clone(), switches);
}

fn counted_in(mode: Mode) -> &'static [CountRow] {
    match mode {
        Mode::Long => COUNTED_OTHERWISE,
        Mode::Protected => protected::matrix::COUNTED_OTHERWISE,
    }
}

fn counted_otherwise(
    mode: Mode,
    emulator: Emulator,
    (entry, operation): (&Entry, &Operation),
) -> Vec<&'static CountRow> {
    let is_here = |(emulators, name, only, ..): &&CountRow| {
        emulators.contains(&emulator)
            && name.is_none_or(|name| name == entry.name)
            && only.is_none_or(|only| only == operation.name)
    };
    counted_in(mode).iter().filter(is_here).collect()
}

/// How many more instructions of a row are counted in an emulator than are begun there.
pub fn miscounted(mode: Mode, emulator: Emulator, row: (&Entry, &Operation)) -> i64 {
    let rows = counted_otherwise(mode, emulator, row);
    rows.iter().filter(|row| row.0 == TCG).map(|row| row.3).sum()
}

/// What most entries can do, and what only one can; and for each difference one row that has it.
fn is_one_of_few(entry: &Entry, operation: &Operation) -> bool {
    let few = ["none", "getppid", "gettimeofday", "minor-fault"];
    let others = [("syscall-x86_64", "getrandom"), ("vdso-i386", "clock_gettime-thread-cputime")];
    few.contains(&operation.name.as_str()) || others.contains(&(&entry.name, &operation.name))
}

#[test]
fn every_entry_answers_and_counts_alike_in_four_emulators() {
    check_calls(is_one_of_few);
}

#[test]
#[ignore = "takes minutes, because Bochs is slow"]
fn every_entry_and_operation_answers_and_counts_alike_in_four_emulators() {
    check_calls(|_, _| true);
}

#[test]
fn what_an_emulator_does_otherwise_is_said_in_the_table() {
    for emulator in Emulator::ALL {
        for Entry { name, differs, .. } in &Table::get().entries {
            let is_unreal = UNREAL.contains(&(emulator, name));
            assert_eq!(differs.contains_key(emulator.name()), is_unreal, "{name}, {}", emulator.name());
        }
    }
    let known = |key: &String| Emulator::ALL.iter().any(|emulator| emulator.name() == key);
    let keys = || Table::get().entries.iter().flat_map(|entry| entry.differs.keys());
    assert!(keys().all(known), "an emulator that is not tested: {:?}", keys().collect::<Vec<_>>());
}

#[test]
fn the_table_has_words_for_every_entry_that_is_closed() {
    for (_, name, _, answer, _) in CLOSED {
        let cause = match *answer {
            NOT_EXPORTED => "no-symbol",
            Answer::Signal(SIGSEGV) => "SIGSEGV",
            _ => "SIGILL",
        };
        let closed = &Table::get().entry(name).unwrap().closed;
        assert_eq!(
            closed.get(cause).map(|closed| closed.outcome.as_str()),
            Some("unsupported"),
            "{name} {cause}"
        );
    }
}

#[test]
fn the_fixed_page_four_ways() {
    let vsyscall = Table::get().entry("vsyscall").unwrap();
    let operations: Vec<_> =
        vsyscall.operations.iter().map(|name| Table::get().operation(name).unwrap()).collect();
    for emulator in Emulator::KINDS {
        let (mut script, mut expected) = (Script::new(), Vec::new());
        for isolation in ["off", "on"] {
            for way in ["none", "emulate", "native", "original", "none"] {
                script.set(&format!("pti={isolation} vsyscall={way}"));
                for operation in &operations {
                    script.row(vsyscall, operation);
                    expected.push(if way == "none" { Answer::Signal(SIGSEGV) } else { Answer::Ok });
                }
            }
        }
        let Some(session) = script.boot(emulator) else { continue };
        for (ran, expected) in session.ran.iter().zip(expected) {
            assert_eq!(ran.answer(), expected, "{} in {}", ran.label, emulator.name());
        }
    }
}

#[test]
fn a_trap_gate_leaves_interrupts_on_and_an_interrupt_gate_does_not() {
    let table = Table::get();
    let getppid = table.operation("getppid").unwrap();
    // What a probe itself calls comes through syscall and int $0x80; call gates are no gates of the interrupt table.
    let rows = [
        ("trapgate-x86_64", true),
        ("intgate-x86_64", false),
        ("trapgate-i386", true),
        ("intgate-i386", false),
        ("call-gate-x86_64", true),
        ("int3", false),
    ];
    for emulator in Emulator::KINDS {
        let mut script = Script::new();
        for observe in ["on", "off"] {
            script.set(&format!("observe={observe} gate=interrupt"));
            for (name, _) in rows {
                script.row(table.entry(name).unwrap(), getppid);
            }
            script.set("gate=interrupt");
        }
        let Some(session) = script.boot(emulator) else { continue };
        for (index, ran) in session.ran.iter().enumerate() {
            let expected = rows.get(index).map(|(_, is_on)| *is_on);
            assert_eq!((ran.answer(), ran.interrupts), (Answer::Ok, expected), "{}", ran.label);
        }
    }
}

/// Boots a few rows on a processor of QEMU's.
fn on(model: &str, write: impl Fn(&mut Script)) -> Option<Session> {
    let qemu = Qemu::new(Accelerator::Tcg, Some(model));
    let mut script = Script::new();
    write(&mut script);
    script.boot_in(&|archive, programs, limits| qemu.boot(archive, programs, limits), Qemu::TCG_HERTZ)
}

#[test]
fn the_entry_that_the_kernel_chooses_is_the_fastest_that_the_processor_has() {
    let gateway = Table::get().entry("gateway-i386").unwrap();
    let getppid = Table::get().operation("getppid").unwrap();
    for (model, vendor, chosen) in [
        ("max,vendor=GenuineIntel", abi::VENDOR_INTEL, abi::GATEWAY_SYSENTER),
        ("max,vendor=GenuineIntel,-sep", abi::VENDOR_INTEL, abi::GATEWAY_INT80),
        (AMD_IN_QEMU, abi::VENDOR_AMD, abi::GATEWAY_SYSCALL),
        ("Dhyana", abi::VENDOR_AMD, abi::GATEWAY_SYSCALL),
        ("max,vendor=CentaurHauls", abi::VENDOR_OTHER, abi::GATEWAY_INT80),
    ] {
        let Some(session) = on(model, |script| drop(script.row(gateway, getppid).to_string())) else {
            return;
        };
        assert_eq!((session.boot.vendor, session.boot.gateway), (vendor, chosen), "{model}");
        assert_eq!(session.ran[0].answer(), Answer::Ok, "{model}");
    }
}

#[test]
fn what_a_processor_lacks_is_unsupported_and_the_next_runs() {
    let entry = Table::get().entry("syscall-x86_64").unwrap();
    let getppid = Table::get().operation("getppid").unwrap();
    let switch = |name| u64::from(Table::get().switch(name).unwrap().id);
    let write = |script: &mut Script| {
        // Without being asked for, access prevention is off where there is none.
        script.row(entry, getppid);
        for switches in ["smap=on pcid=off", "smap=off pcid=keep", "smap=off pcid=off pti=on"] {
            script.set(switches);
            script.row(entry, getppid);
        }
    };
    let ends =
        |model| on(model, write).map(|session| session.ran.iter().map(|ran| ran.end).collect::<Vec<_>>());
    let (ran, no_smap, no_pcid) =
        (End::Exited(0), End::Unsupported(switch("smap")), End::Unsupported(switch("pcid")));
    // TCG has no PCID.
    let Some(poor) = ends("qemu64") else { return };
    assert_eq!(poor, [ran, no_smap, no_pcid, ran]);
    // What it makes of the default, and what was asked for, it says itself.
    let smap = |model| {
        let said = on(model, write).unwrap();
        said.ran.iter().map(|ran| ran.configured["smap"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(smap("qemu64"), ["off", "on", "off", "off"]);
    assert_eq!(smap("max,vendor=GenuineIntel"), ["on", "on", "off", "off"]);
    assert_eq!(ends("max,vendor=GenuineIntel").unwrap(), [ran, ran, no_pcid, ran]);
    // The first feature that is missing is named, and nothing of the configuration is done.
    let write = |script: &mut Script| {
        for switches in ["global=on", "global=off flush-by=pge", "flush-by=invpcid", "flush-by=invlpg"] {
            script.set(switches);
            script.row(entry, getppid);
        }
    };
    let session = on("max,vendor=GenuineIntel,-pge", write).unwrap();
    let [global, pge, invpcid] =
        ["global", "flush-by", "flush-by"].map(|name| End::Unsupported(switch(name)));
    assert!(session.ran.iter().map(|ran| ran.end).eq([global, pge, invpcid, ran]), "{:?}", session.ran);
}

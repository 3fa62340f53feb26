//! `kentry lab` with guests that are shell scripts: whatever comes over the serial line, the measurement ends, and what
//! was whole before the damage keeps its figures.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod bytes;

use bytes::{record, words};
use document::{Document, Outcome, Timing};
use kentry::cli::{Cli, Command, LabArgs};
use kentry::error::Error;
use lab::{Accelerator, Interrupt, Limits, Qemu};
use measure::Counter;
use measure::lab::{Emulator, LabPlan, Setting, measure};
use record::{Payload, Record, Request, abi};
use simulator::{Machine, Model, Subject};
use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use table::Table;
use tempfile::TempDir;

/// What a probe writes whose entry costs so many ticks.
fn answer(row: (u16, u16), cost: u64) -> Vec<u8> {
    let samples: Vec<u64> = (0..8).flat_map(|_| [0, 300, 310, 320 + cost]).collect();
    let canary = words(&[0, 40, 464, 888, 1178, 0, 0]);
    [
        record(0, abi::RECORD_BEGIN, row, &words(&[64, 256, 768, 2000, 16, 8])),
        record(1, abi::RECORD_OUTCOME, row, &words(&[abi::OUTCOME_OK, 0, 0, 0, 0, 0])),
        record(2, abi::RECORD_CANARY, row, &canary),
        record(3, abi::RECORD_SAMPLES, row, &words(&samples)),
        record(4, abi::RECORD_CANARY, row, &canary),
        record(5, abi::RECORD_BURSTS, row, &words(&[0, 16, 16, 32 + 16 * cost])),
        record(6, abi::RECORD_END, row, &words(&[0, 0])),
    ]
    .concat()
}

/// A guest's stream in the making.
#[derive(Default)]
struct Tape {
    bytes: Vec<u8>,
    sequence: u32,
}

impl Tape {
    fn booted() -> Tape {
        let mut tape = Tape::default();
        tape.push(abi::RECORD_LAB_BOOT, &words(&[1, 1000, 1000, 1, 0, 0, 0, 1, 1 << 20, abi::VENDOR_INTEL]));
        tape
    }

    fn push(&mut self, kind: u64, payload: &[u8]) {
        self.bytes.extend(record(self.sequence, kind, (0, 0), payload));
        self.sequence += 1;
    }

    /// A program that writes its output in two pieces.
    fn program(&mut self, number: u64, output: &[u8], how: u64, detail: [u64; 4]) {
        self.push(abi::RECORD_LAB_BEGIN, &words(&[number]));
        let (first, second) = output.split_at(output.len() / 2);
        for piece in [first, second] {
            self.push(abi::RECORD_LAB_OUTPUT, &[&words(&[1])[..], piece].concat());
        }
        let [a, b, c, d] = detail;
        self.push(abi::RECORD_LAB_END, &words(&[number, how, a, b, c, d]));
    }

    fn done(mut self) -> Vec<u8> {
        self.push(abi::RECORD_LAB_DONE, &[]);
        self.bytes
    }
}

/// Two rows, in the order that seed 0 has them run, and what describes the vDSO before.
const ROWS: [&str; 5] = ["--entry", "call", "--entry", "syscall-x86_64", "--operation=none"];

/// Entry ids in the order of the plan.
fn order(plan: &LabPlan) -> Vec<u16> {
    let text = plan.work(Counter::Instructions).plan.render();
    let id = |line: &str| line.split(' ').nth(abi::REQUEST_ENTRY as usize + 1)?.parse().ok();
    text.lines().filter(|line| line.starts_with("run ")).filter_map(id).collect()
}

/// A sound stream, where every row costs its entry's id in instructions.
fn sound(plan: &LabPlan) -> Vec<u8> {
    let mut tape = Tape::booted();
    let describing = [record(0, abi::RECORD_END, (0, 0), &words(&[0, 0]))].concat();
    tape.program(0, &describing, abi::LAB_END_EXITED, [0; 4]);
    tape.program(1, &describing, abi::LAB_END_EXITED, [0; 4]);
    for (entry, number) in order(plan).into_iter().zip(2..) {
        tape.program(number, &answer((entry, 1), u64::from(entry)), abi::LAB_END_EXITED, [0; 4]);
    }
    tape.done()
}

fn arguments(words: &[&str]) -> LabArgs {
    use clap::Parser;
    let Some(Command::Lab(arguments)) =
        Cli::try_parse_from([&["kentry", "lab"], words].concat()).unwrap().command
    else {
        panic!()
    };
    arguments
}

fn plan(words: &[&str]) -> LabPlan<'static> {
    LabPlan::new(Table::get(), &arguments(words).options()).unwrap()
}

/// A program in QEMU's place that does what the script says; `$STREAM` is a file with these bytes.
fn guest(folder: &TempDir, script: &str, stream: &[u8]) -> PathBuf {
    let (program, tape) = (folder.path().join("qemu"), folder.path().join("stream"));
    std::fs::write(&tape, stream).unwrap();
    // Written beside and moved: a file that another thread's child still has open for writing cannot be executed.
    let mut file = tempfile::NamedTempFile::new_in(folder).unwrap();
    writeln!(file, "#!/bin/sh\nSTREAM={}\n{script}", tape.display()).unwrap();
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o755)).unwrap();
    file.into_temp_path().persist(&program).unwrap();
    program
}

fn limits(time: Duration) -> Limits {
    Limits { time, output: 4 << 20, interrupt: Interrupt::default() }
}

const LONG: Duration = Duration::from_secs(60);

fn with_limits(
    plan: &LabPlan,
    program: &Path,
    accelerator: Accelerator,
    limits: Limits,
) -> Result<Document, Error> {
    let qemu = Qemu { program: program.into(), ..Qemu::new(accelerator, None) };
    let (emulator, version) = (Emulator::Qemu(qemu), "QEMU 1".into());
    // Five instructions wide, as is the simulated core.
    let mut host = environment::Environment::default();
    host.cpu.vendor = Some("GenuineIntel".into());
    (host.cpu.family, host.cpu.model) = (Some(6), Some(0x8f));
    let setting = Setting { emulator, version, limits, host: Some(host), tsc_hz: Some(2e9) };
    Ok(measure(plan, setting, &mut |_| ())?)
}

/// Measures the two rows with a guest that runs this script.
fn run(script: &str, stream: &[u8], time: Duration) -> Result<Document, Error> {
    let folder = tempfile::tempdir().unwrap();
    let program = guest(&folder, script, stream);
    with_limits(&plan(&ROWS), &program, Accelerator::Tcg, limits(time))
}

fn good() -> Vec<u8> {
    sound(&plan(&ROWS))
}

/// Each row: its entry's id, how it ended, its instructions.
fn figures(document: &Document) -> Vec<(u16, Outcome, Option<f64>)> {
    let row = |row: &document::Row| {
        let id = Table::get().entry(&row.entry).unwrap().id;
        (id, row.outcome, row.instructions.map(|cost| cost.estimate.0))
    };
    document.results.iter().map(row).collect()
}

#[test]
fn a_sound_stream_gives_instructions_and_no_time() {
    let document = run("cat $STREAM", &good(), LONG).unwrap();
    assert_eq!(figures(&document), [(1, Outcome::Ok, Some(1.0)), (2, Outcome::Ok, Some(2.0))]);
    for row in &document.results {
        let samples = row.counts.samples;
        assert_eq!((row.timing, samples, row.core_cycles, row.ticks), (Timing::Emulated, 8, None, None));
        assert_eq!((row.ns, row.throughput, row.reason.as_deref()), (None, None, None));
    }
    let lab = document.environment.lab.as_ref().unwrap();
    assert_eq!(
        (document.environment.host.as_str(), lab.accelerator.as_str(), lab.icount),
        ("lab", "tcg", true)
    );
    assert_eq!(lab.vendor.as_deref(), Some("GenuineIntel"));
    assert_eq!(document.findings, [], "nothing to warn of");
}

/// What a probe on a simulated core writes when it is asked so.
fn simulated(machine: &mut Machine, request: &Request, cost: f64) -> Vec<u8> {
    let records = machine.run(request.cpu, &Subject::from(cost), request);
    records.iter().zip(0..).flat_map(|(said, sequence)| written(sequence, said)).collect()
}

fn written(sequence: u32, said: &Record) -> Vec<u8> {
    let samples = |samples: &[record::Sample]| samples.iter().flat_map(|sample| sample.stamps).collect();
    let (kind, payload): (u64, Vec<u64>) = match &said.payload {
        Payload::Begin(lengths) => {
            let record::Lengths { bits, imuls, xors, nots, burst, chains } = *lengths;
            (abi::RECORD_BEGIN, vec![bits, imuls, xors, nots, burst, chains])
        }
        Payload::Outcome(verdict) => {
            (abi::RECORD_OUTCOME, [&[verdict.outcome, verdict.cause], &verdict.detail[..]].concat())
        }
        Payload::Canary(canary) => {
            (abi::RECORD_CANARY, [&canary.stamps[..], &[canary.cpu, canary.preemptions]].concat())
        }
        Payload::Samples(taken) => (abi::RECORD_SAMPLES, samples(taken)),
        Payload::Bursts(taken) => (abi::RECORD_BURSTS, samples(taken)),
        Payload::Order(taken) => (abi::RECORD_ORDER, samples(taken)),
        Payload::End { preemptions, minor_faults } => (abi::RECORD_END, vec![*preemptions, *minor_faults]),
        other => panic!("the simulator says no {other:?}"),
    };
    record(sequence, kind, (said.entry, said.operation), &words(&payload))
}

/// The request in a line of the plan: `run FILE MODE ENTRY ...`.
fn request(line: &str) -> Request {
    let number = |place: u64| line.split(' ').nth(place as usize + 1).unwrap().parse::<u64>().unwrap();
    Request {
        entry: number(abi::REQUEST_ENTRY) as u16,
        operation: number(abi::REQUEST_OPERATION) as u16,
        blocks: number(abi::REQUEST_BLOCKS),
        ticks: number(abi::REQUEST_TICKS),
        bursts: number(abi::REQUEST_BURSTS),
        parent: number(abi::REQUEST_PARENT),
        cpu: number(abi::REQUEST_CPU),
        path: number(abi::REQUEST_PATH) == 1,
        samples: number(abi::REQUEST_SAMPLES),
    }
}

#[test]
fn under_kvm_the_figures_are_times() {
    let (folder, plan) = (tempfile::tempdir().unwrap(), plan(&ROWS));
    let mut tape = Tape::booted();
    tape.program(0, &[], abi::LAB_END_EXITED, [0; 4]);
    tape.program(1, &[], abi::LAB_END_EXITED, [0; 4]);
    let rows = plan.work(Counter::Time).plan.render();
    let runs = rows.lines().filter(|line| line.starts_with("run ")).skip(2);
    let mut machine = Machine::new(1, Model::default());
    for (line, number) in runs.zip(2..) {
        let request = request(line);
        let output = simulated(&mut machine, &request, 100.0 * f64::from(request.entry));
        tape.program(number, &output, abi::LAB_END_EXITED, [0; 4]);
    }
    let program = guest(&folder, "cat $STREAM", &tape.done());
    let document = with_limits(&plan, &program, Accelerator::Kvm, limits(LONG)).unwrap();
    for (row, truth) in document.results.iter().zip([100.0, 200.0]) {
        assert_eq!((row.timing, row.outcome, row.instructions), (Timing::Hardware, Outcome::Ok, None));
        let cycles = row.core_cycles.unwrap_or_else(|| panic!("{:?}", row.noise)).estimate.0;
        assert!((cycles - truth).abs() < 0.005 * truth, "{}: {cycles} instead of {truth}", row.entry);
        let (ticks, ns) = (row.ticks.unwrap().estimate.0, row.ns.unwrap().estimate.0);
        assert!((ns - ticks / 2.0).abs() < 1e-9 * ticks, "{ns} ns are {ticks} ticks at 2 GHz");
        assert_eq!(row.counts.rounds, 12);
    }
}

#[test]
fn a_cut_stream_keeps_the_rows_that_were_whole() {
    let (whole, plan) = (good(), plan(&ROWS));
    let folder = tempfile::tempdir().unwrap();
    let mut complete = Vec::new();
    for end in (0..whole.len()).step_by(23) {
        let program = guest(&folder, &format!("head -c {end} $STREAM"), &whole);
        match with_limits(&plan, &program, Accelerator::Tcg, limits(LONG)) {
            Ok(document) => {
                let figures = figures(&document);
                for (id, outcome, instructions) in &figures {
                    let expected = (*outcome == Outcome::Ok).then_some(f64::from(*id));
                    assert_eq!(*instructions, expected, "cut at {end}");
                    assert!([Outcome::Ok, Outcome::Error].contains(outcome), "cut at {end}");
                }
                assert!(
                    document.results.iter().all(|row| row.outcome == Outcome::Ok || row.reason.is_some())
                );
                complete.push(figures.iter().filter(|(_, outcome, _)| *outcome == Outcome::Ok).count());
            }
            Err(error) => {
                assert_eq!(error.exit_code(), 3);
                assert!(complete.is_empty(), "cut at {end}, after the boot: {error}");
            }
        }
    }
    assert!(
        complete.is_sorted() && complete.first() == Some(&0) && complete.last() == Some(&2),
        "{complete:?}"
    );
}

#[test]
fn a_stream_cut_at_any_byte_gives_the_programs_that_were_whole() {
    let whole = good();
    let mut before = 0;
    for end in 0..=whole.len() {
        let (mut reader, mut collected) = (lab::Reader::new(4), lab::Collected::default());
        // Half of it, then the rest.
        for piece in whole[..end].chunks(end / 2 + 1) {
            reader.push(piece);
            while let Some(event) = reader.take().unwrap() {
                collected.take(event);
            }
        }
        assert!(collected.ran.len() >= before, "cut at {end}");
        before = collected.ran.len();
        assert!(collected.ran.values().all(|ran| ran.output.is_some() && ran.end == lab::End::Exited(0)));
    }
    assert_eq!(before, 4);
}

#[test]
fn an_interruption_before_the_boot_has_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let program = guest(&folder, "sleep 50", &[]);
    let limits = limits(LONG);
    limits.interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
    let error = with_limits(&plan(&ROWS), &program, Accelerator::Tcg, limits).unwrap_err();
    assert_eq!(error.exit_code(), 130);
}

#[test]
fn rows_that_did_not_come_to_their_end_say_why() {
    let whole = good();
    // Behind the second describing run, and within the first row.
    let document = run("head -c 700 $STREAM; echo 'bad day' >&2; exit 7", &whole, LONG).unwrap();
    let reasons: Vec<&str> = document.results.iter().map(|row| row.reason.as_deref().unwrap()).collect();
    let all = reasons.join("\n");
    assert!(
        all.contains("it was running when the guest failed: ") && all.contains("it was not begun: "),
        "{all}"
    );
    assert!(all.contains("ended early, exit status: 7: bad day"), "{all}");
    let document = run("head -c 700 $STREAM; sleep 50", &whole, Duration::from_millis(400)).unwrap();
    let outcomes: Vec<Outcome> = document.results.iter().map(|row| row.outcome).collect();
    assert!(outcomes.contains(&Outcome::Timeout) && outcomes.contains(&Outcome::Error), "{outcomes:?}");
}

#[test]
fn a_guest_that_does_not_come_up_is_an_error_with_its_last_words() {
    let error = run("echo \"unable to find CPU model 'foo'\" >&2; exit 1", &[], LONG).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("exit status: 1: unable to find CPU model 'foo'"), "{error}");
    let error = run("sleep 50", &[], Duration::from_millis(300)).unwrap_err();
    assert_eq!(error.to_string(), "the guest did not finish within 0.3 s");
}

#[test]
fn doubled_swapped_and_foreign_records_are_named() {
    let whole = good();
    let doubled = run("cat $STREAM $STREAM", &whole, LONG).unwrap();
    assert_eq!(
        doubled.results.iter().filter(|row| row.outcome == Outcome::Ok).count(),
        2,
        "all was whole before"
    );
    let reason = |tape: Tape| {
        let document = run("cat $STREAM", &tape.bytes, LONG).unwrap();
        document.results[0].reason.clone().unwrap()
    };
    let mut twice = Tape::booted();
    twice.push(abi::RECORD_LAB_BOOT, &words(&[1, 1, 1, 1, 0, 0, 0, 1, 0, 1]));
    assert!(reason(twice).ends_with("it booted twice"));
    let mut turn = Tape::booted();
    turn.program(1, &[], abi::LAB_END_EXITED, [0; 4]);
    assert!(reason(turn).ends_with("program 1 began out of turn"));
    let mut end = Tape::booted();
    end.push(abi::RECORD_LAB_END, &words(&[0, 0, 0, 0, 0, 0]));
    assert!(reason(end).ends_with("program 0 ended, but had not begun"));
    assert!(
        reason({
            let mut tape = Tape::booted();
            tape.push(abi::RECORD_LAB_DONE, &[]);
            tape
        })
        .contains("it was done after 0 programs")
    );
    let mut plan = Tape::booted();
    plan.push(abi::RECORD_LAB_END, &words(&[0, abi::LAB_END_PLAN, 3, 0, 0, 0]));
    assert!(reason(plan).ends_with("line 3 of the plan is not understood"));
}

#[test]
fn random_bytes_floods_and_silence_end() {
    let begin = Instant::now();
    let garbage = run("head -c 100000 /dev/urandom", &[], LONG).unwrap_err();
    assert!(garbage.to_string().starts_with("the guest's output: record 0 "), "{garbage}");
    // A boot, and then the same bytes for ever.
    let flood = run("cat $STREAM; yes", &Tape::booted().bytes, LONG).unwrap();
    assert!(flood.results.iter().all(|row| row.outcome == Outcome::Error));
    let mut endless = Tape::booted();
    endless.push(abi::RECORD_LAB_BEGIN, &words(&[0]));
    for _ in 0..100 {
        endless.push(abi::RECORD_LAB_OUTPUT, &[0; 64 << 10]);
    }
    let flood = run("cat $STREAM; sleep 50", &endless.bytes, LONG).unwrap();
    assert!(flood.results[0].reason.as_deref().unwrap().contains("wrote more than 4194304 bytes"));
    let silent =
        run("cat $STREAM; exec >&-; sleep 50", &Tape::booted().bytes, Duration::from_millis(300)).unwrap();
    assert!(silent.results.iter().all(|row| row.reason.as_deref().unwrap().contains("did not finish")));
    assert!(begin.elapsed() < Duration::from_secs(30));
}

/// Ends the first row so, and the others well.
fn first_ends(how: u64, detail: [u64; 4], output: impl Fn((u16, u16)) -> Vec<u8>) -> (Outcome, String) {
    let words = ["--entry", "sysenter-x86_64", "--operation", "none", "--set", "pti=on,pcid=on"];
    let (plan, folder) = (plan(&words), tempfile::tempdir().unwrap());
    let mut tape = Tape::booted();
    tape.program(0, &[], abi::LAB_END_EXITED, [0; 4]);
    tape.program(1, &[], abi::LAB_END_EXITED, [0; 4]);
    tape.program(2, &output((29, 1)), how, detail);
    let program = guest(&folder, "cat $STREAM", &tape.done());
    let document = with_limits(&plan, &program, Accelerator::Tcg, limits(LONG)).unwrap();
    let row = &document.results[0];
    assert_eq!(row.configuration.get("pcid").map(String::as_str), Some("on"));
    assert_eq!(row.instructions.is_some(), row.outcome == Outcome::Ok);
    (row.outcome, row.reason.clone().unwrap_or_default())
}

#[test]
fn every_end_of_a_program_is_an_outcome() {
    let silent = |_| Vec::new();
    let fault = first_ends(abi::LAB_END_FAULT, [4, 2, 6 << 32, 0x1000], silent);
    assert_eq!(
        fault,
        (Outcome::Unsupported, "SIGILL: #UD: AMD processors have no sysenter in long mode".into())
    );
    let page = first_ends(abi::LAB_END_FAULT, [11, 1, 14 << 32 | 6, 0x1000], silent);
    assert_eq!(page, (Outcome::Fault, "SIGSEGV (#PF at 0x1000, error code 0x6)".into()));
    let runaway = first_ends(abi::LAB_END_RUNAWAY, [1000, 0, 0, 0], silent);
    assert_eq!(runaway, (Outcome::Timeout, "it ran for 1000 ticks without an end".into()));
    let lacking = first_ends(abi::LAB_END_UNSUPPORTED, [5, 0, 0, 0], silent);
    assert_eq!(lacking, (Outcome::Unsupported, "this CPU has no PCID, which pcid=on requires".into()));
    let missing = first_ends(abi::LAB_END_NOT_LOADED, [2, 0, 0, 0], silent);
    let words = "probe64 could not be loaded in the lab: ENOENT (No such file or directory)";
    assert_eq!(missing, (Outcome::Error, words.into()));
    assert_eq!(first_ends(99, [0; 4], silent).0, Outcome::Error);
    assert_eq!(first_ends(abi::LAB_END_CHECKED, [1, 0, 0, 0], silent).0, Outcome::Error);
}

#[test]
fn what_a_program_said_is_judged_as_on_a_host() {
    let exited = |output: fn((u16, u16)) -> Vec<u8>| first_ends(abi::LAB_END_EXITED, [0; 4], output);
    assert_eq!(exited(|row| answer(row, 50)), (Outcome::Ok, String::new()));
    assert_eq!(exited(|_| Vec::new()), (Outcome::Error, "the probe said nothing".into()));
    assert_eq!(exited(|_| answer((1, 1), 5)), (Outcome::Error, "the probe answered for another row".into()));
    assert!(exited(|_| b"Segmentation fault".to_vec()).1.contains("probe64: record 0 is truncated"));
    let status = first_ends(abi::LAB_END_EXITED, [3, 0, 0, 0], |row| answer(row, 50));
    assert_eq!(status, (Outcome::Error, "the probe exited with status 3".into()));
    let wrong = exited(|row| {
        record(0, abi::RECORD_OUTCOME, row, &words(&[abi::OUTCOME_MISMATCH, abi::CAUSE_ANSWER, 1, 2, 2, 0]))
    });
    assert_eq!(wrong, (Outcome::Mismatch, "it answered 1 where 2 is right".into()));
}

#[test]
fn an_interruption_keeps_what_was_measured_and_leaves_out_the_rest() {
    let (folder, plan) = (tempfile::tempdir().unwrap(), plan(&ROWS));
    let whole = sound(&plan);
    // Without the second row and what follows it.
    let end = whole.len() - 700;
    let program = guest(&folder, &format!("head -c {end} $STREAM; sleep 50"), &whole);
    let limits = limits(LONG);
    let interrupt = limits.interrupt.clone();
    let later = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let document = with_limits(&plan, &program, Accelerator::Tcg, limits).unwrap();
    later.join().unwrap();
    assert!(document.measurement.partial);
    assert_eq!(document.results.len(), 1);
    assert_eq!(document.results[0].outcome, Outcome::Ok);
}

#[test]
fn the_kernels_plan_is_the_same_for_the_same_command_line() {
    let words =
        ["--entry", "trapgate-*", "--operation", "none", "--set", "pti=on", "--set", "smap=off", "--seed=7"];
    let plan = plan(&words);
    let text = plan.work(Counter::Instructions).plan.render();
    assert_eq!(text, PLAN, "\n{text}");
    assert_eq!(text, plan.work(Counter::Instructions).plan.render());
    let hardware = plan.work(Counter::Time);
    assert_eq!(hardware.numbered.len(), 2 + 2 + 4 * 12, "twelve rounds of two rows in two configurations");
    let layouts: BTreeSet<String> = hardware
        .plan
        .render()
        .lines()
        .filter(|line| line.starts_with("layout "))
        .map(str::to_string)
        .collect();
    assert_eq!(layouts.len(), 12, "each round has a layout of its own: {layouts:?}");
    assert!(!layouts.contains("layout 0") && !text.contains("layout"), "counts do not depend on it");
}

/// Each gate observed once, then four runs in the seed's order, each after what changes for it; the trap gate is what the
/// entries need.
const PLAN: &str = "\
lab 1
seed 7
limit 100000000
run probe64 2
run probe32 2
set pti=on gate=trap observe=on
run probe64 1 27 1 1 100000000 1 1 0 0 8
run probe32 1 31 1 1 100000000 1 1 0 0 8
set gate=interrupt observe=off pti=off smap=on
set smap=off gate=trap
run probe64 1 27 1 1 100000000 1 1 0 0 8
run probe32 1 31 1 1 100000000 1 1 0 0 8
set smap=on pti=on
run probe64 1 27 1 1 100000000 1 1 0 0 8
run probe32 1 31 1 1 100000000 1 1 0 0 8
";

#[test]
fn an_emulator_that_differs_from_processors_is_named_beside_the_figure() {
    let words = ["--entry", "syscall-i386", "--operation", "none"];
    let (plan, folder) = (plan(&words), tempfile::tempdir().unwrap());
    let mut tape = Tape::booted();
    tape.program(0, &[], abi::LAB_END_EXITED, [0; 4]);
    tape.program(1, &[], abi::LAB_END_EXITED, [0; 4]);
    tape.program(2, &answer((10, 1), 50), abi::LAB_END_EXITED, [0; 4]);
    let program = guest(&folder, "cat $STREAM", &tape.done());
    let document = with_limits(&plan, &program, Accelerator::Tcg, limits(LONG)).unwrap();
    let row = &document.results[0];
    assert_eq!((row.outcome, row.reason.as_deref()), (Outcome::Ok, None));
    assert_eq!(row.remarks, ["a real Intel processor raises #UD"]);
    assert!(row.instructions.is_some());
}

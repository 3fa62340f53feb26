//! `kentry lab` with guests that are shell scripts: whatever comes over the serial line, the measurement ends, and what
//! was whole before the damage keeps its figures.

use crate::bytes::{record, words};
use crate::tapes::{BOOT, LONG, NEXT_BOOT, Tape, guest, limits, request, simulated, ticks};
use document::{Document, Outcome, Timing};
use kentry::cli::{Cli, Command};
use kentry::error::Error;
use kentry::lab::args::LabArgs;
use measure::Counter;
use measure::lab::{Emulator, LabPlan, Numbered, Setup, measure};
use places::lab::{Accelerator, Limits, Qemu};
use record::{Record, abi};
use simulator::{Machine, Model};
use std::collections::{BTreeMap, BTreeSet};
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

/// Two rows, in the order that seed 0 has them run, and what describes the vDSO before.
const ROWS: [&str; 5] = ["--entry", "call", "--entry", "syscall-x86_64", "--operation=none"];

/// Entry ids in the order of the plan.
fn order(plan: &LabPlan) -> Vec<u16> {
    let text = plan.work(Counter::Instructions, 0).plan.render();
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

#[test]
fn a_program_and_a_listing_have_the_personality_that_is_asked_for() {
    let sets = |words: &[&str]| arguments(words).sets().unwrap();
    assert_eq!(sets(&["--set", "pti=on"]), ["pti=on"]);
    assert_eq!(sets(&[]), [""; 0]);
    let mach = |words: &[&str]| sets(&[&["--personality", "mach"], words].concat());
    assert_eq!(mach(&[]), ["personality=mach"]);
    assert_eq!(mach(&["--set", "pti=on,smap=off"]), ["pti=on,smap=off,personality=mach"]);
    assert_eq!(mach(&["--set", "default", "--set", "personality=mach"]), ["personality=mach"; 2]);
    // With blanks, as a set may have them.
    assert_eq!(mach(&["--set", "pti=on, personality=mach"]), ["pti=on, personality=mach"]);
}

fn plan(words: &[&str]) -> LabPlan<'static> {
    LabPlan::new(Table::get(), &arguments(words).options().unwrap()).unwrap()
}

fn with_limits(
    plan: &LabPlan,
    program: &Path,
    accelerator: Accelerator,
    limits: Limits,
) -> Result<Document, Error> {
    with_scout(plan, program, accelerator, limits, None)
}

fn with_scout(
    plan: &LabPlan,
    program: &Path,
    accelerator: Accelerator,
    limits: Limits,
    scout: Option<measure::Scout>,
) -> Result<Document, Error> {
    let qemu = Qemu { program: program.into(), ..Qemu::new(accelerator, None) };
    let (emulator, version) = (Emulator::Qemu(qemu), Some("QEMU 1".into()));
    // Five instructions wide, as is the simulated core.
    let mut host = environment::Environment::default();
    host.cpu.vendor = Some("GenuineIntel".into());
    (host.cpu.family, host.cpu.model) = (Some(6), Some(0x8f));
    let setup = Setup { emulator, version, limits, host: Some(host), tsc_hz: Some(2e9), scout };
    Ok(measure(plan, setup, &mut |_| ())?)
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
    let environment = &document.environment;
    let (guest, lab) = (environment.guest.as_ref().unwrap(), environment.lab.as_ref().unwrap());
    assert_eq!((environment.host.as_str(), guest.accelerator.as_str(), guest.icount), ("lab", "tcg", true));
    assert_eq!(lab.vendor.as_deref(), Some("GenuineIntel"));
    assert_eq!(document.findings, [], "nothing to warn of");
}

#[test]
fn a_row_says_which_interrupts_disturbed_it() {
    let order = order(&plan(&ROWS));
    let describing = record(0, abi::RECORD_END, (0, 0), &words(&[0, 0]));
    let mut tape = Tape::booted();
    // Between programs it is nobody's.
    tape.push(abi::RECORD_LAB_STRAY, &words(&[0x68, 1]));
    tape.program(0, &describing, abi::LAB_END_EXITED, [0; 4]);
    tape.program(1, &describing, abi::LAB_END_EXITED, [0; 4]);
    for (entry, number) in order.iter().zip(2..) {
        tape.push(abi::RECORD_LAB_BEGIN, &words(&[number]));
        let output = answer((*entry, 1), u64::from(*entry));
        tape.push(abi::RECORD_LAB_OUTPUT, &[&words(&[1])[..], &output].concat());
        if *entry == order[0] {
            tape.push(abi::RECORD_LAB_STRAY, &words(&[2, 1]));
            tape.push(abi::RECORD_LAB_STRAY, &words(&[0x37, 2]));
        }
        tape.push(abi::RECORD_LAB_END, &words(&[number, abi::LAB_END_EXITED, 0, 0, 0, 0]));
    }
    let document = run("cat $STREAM", &tape.done(), LONG).unwrap();
    let rounds = order.iter().filter(|entry| **entry == order[0]).count();
    let expected = format!(
        "{} interrupts that nobody asked for were handled while this was measured (NMI: {rounds}, vector 0x37: {})",
        3 * rounds,
        2 * rounds
    );
    for row in &document.results {
        let is_disturbed = Table::get().entry(&row.entry).unwrap().id == order[0];
        assert_eq!(row.remarks.contains(&expected), is_disturbed, "{:?}", row.remarks);
        assert!(is_disturbed || !row.remarks.iter().any(|remark| remark.contains("nobody asked")));
    }
}

/// What is counted in a run of this number in this boot.
type Counts<'a> = &'a dyn Fn(u64, u64) -> Vec<(u64, u64)>;

/// A program in QEMU's place that boots as often as the plan says, each time on the same simulated core, where a row costs a
/// hundred core cycles times its entry's id; with what the kernel found, and what was counted.
fn timed(folder: &TempDir, plan: &LabPlan, boot: &[u64], counts: Counts) -> PathBuf {
    costing(folder, plan, boot, counts, &|_| 1.0)
}

/// The same, where each layout makes everything cost so many times as much.
fn costing(
    folder: &TempDir,
    plan: &LabPlan,
    boot: &[u64],
    counts: Counts,
    layout: &dyn Fn(u64) -> f64,
) -> PathBuf {
    let mut machine = Machine::new(1, Model::default());
    for number in 0..plan.boots(Counter::Time) {
        let mut tape = Tape::found(boot);
        let text = plan.work(Counter::Time, number).plan.render();
        let (mut drawn_from, mut run) = (0, 0);
        for line in text.lines() {
            if let Some(number) = line.strip_prefix("layout ") {
                drawn_from = number.parse().unwrap();
            }
            tape.obey(line);
            if !line.starts_with("run ") {
                continue;
            }
            let output = if line.split(' ').count() == 3 {
                Vec::new()
            } else {
                let request = request(line);
                simulated(&mut machine, &request, 100.0 * layout(drawn_from) * f64::from(request.entry))
            };
            tape.counted(run, &output, &counts(number, run), abi::LAB_END_EXITED, [0; 4]);
            run += 1;
        }
        std::fs::write(folder.path().join(format!("stream.{number}")), tape.done()).unwrap();
    }
    guest(folder, NEXT_BOOT, b"0\n")
}

/// Measures these rows under a KVM.
fn measured(rows: &[&str], boot: &[u64], counts: Counts) -> Document {
    let (folder, plan) = (tempfile::tempdir().unwrap(), plan(rows));
    let program = timed(&folder, &plan, boot, counts);
    with_limits(&plan, &program, Accelerator::Kvm, limits(LONG)).unwrap()
}

/// Where nothing is counted.
const NOTHING: Counts = &|_, _| Vec::new();

fn finding(document: &Document, id: &str) -> Option<document::Level> {
    document.findings.iter().find(|finding| finding.id == id).map(|finding| finding.level)
}

#[test]
fn under_kvm_the_figures_are_times() {
    let document = measured(&ROWS, &BOOT, NOTHING);
    for (row, truth) in document.results.iter().zip([100.0, 200.0]) {
        assert_eq!((row.timing, row.outcome, row.instructions), (Timing::Hardware, Outcome::Ok, None));
        let cycles = row.core_cycles.unwrap_or_else(|| panic!("{:?}", row.noise)).estimate.0;
        assert!((cycles - truth).abs() < 0.005 * truth, "{}: {cycles} instead of {truth}", row.entry);
        let (ticks, ns) = (row.ticks.unwrap().estimate.0, row.ns.unwrap().estimate.0);
        assert!((ns - ticks / 2.0).abs() < 1e-9 * ticks, "{ns} ns are {ticks} ticks at 2 GHz");
        assert_eq!(row.counts.rounds, 16, "two in each of eight boots");
    }
    let (guest, lab) =
        (document.environment.guest.as_ref().unwrap(), document.environment.lab.as_ref().unwrap());
    let seeds: Vec<u64> = guest.boots.iter().map(|boot| boot.seed).collect();
    assert_eq!(seeds, [0, 1, 2, 3, 4, 5, 6, 7], "an order each");
    assert!(guest.boots.iter().is_sorted_by(|a, b| a.at_ms < b.at_ms));
    let layouts: Vec<u64> = lab.layouts.iter().map(|layout| layout.number).collect();
    assert_eq!(layouts, [1, 4, 2, 5, 3, 6, 4, 7, 5, 8, 6, 1, 7, 2, 8, 3], "two in each boot, each in two");
    assert!(lab.layouts.iter().is_sorted_by(|a, b| a.at_ms < b.at_ms));
    assert_eq!((lab.counters.as_ref(), lab.microcode.as_deref()), (None, Some("0x2b000643")));
}

#[test]
fn each_layout_is_in_two_boots_that_are_far_apart() {
    let plan = plan(&["--entry", "call", "--operation", "none"]);
    let boots = plan.boots(Counter::Time);
    assert_eq!(boots, 8);
    let mut of: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for boot in 0..boots {
        let work = plan.work(Counter::Time, boot);
        work.layouts.iter().for_each(|(_, layout)| of.entry(*layout).or_default().push(boot));
    }
    assert_eq!(of.len() as u64, boots);
    for (layout, of) in of {
        let [first, second] = of[..] else { panic!("layout {layout} is in boots {of:?}") };
        assert!(
            second - first >= 3,
            "layout {layout} is in boots {first} and {second}: drift looks like layout"
        );
    }
}

#[test]
fn a_layout_that_decides_the_cost_is_seen_in_the_spread() {
    let (folder, plan) = (tempfile::tempdir().unwrap(), plan(&ROWS));
    let program = costing(&folder, &plan, &BOOT, NOTHING, &|layout| 1.0 + 0.05 * (layout % 3) as f64);
    let document = with_limits(&plan, &program, Accelerator::Kvm, limits(LONG)).unwrap();
    for row in &document.results {
        let spread = row.spread.unwrap();
        assert!(spread.layouts == 8 && spread.layout > 0.9 && spread.layout_low > 0.5, "{spread:?}");
        let cost = row.core_cycles.unwrap();
        let (low, high) = (cost.ci_low.unwrap().0, cost.ci_high.unwrap().0);
        let truth = 105.0 * f64::from(row.entry_id.unwrap());
        assert!(
            low < truth && truth < high && high - low > 0.03 * truth,
            "{low} to {high}, not only {truth}"
        );
    }
    let again = measure::recompute(&document).unwrap();
    assert_eq!(again, document, "the document keeps what it takes, findings and all");
    assert!(run("cat $STREAM", &good(), LONG).unwrap().results.iter().all(|row| row.spread.is_none()));
}

/// The boot's record with other words.
fn boot_with(words: &[(u64, u64)]) -> Vec<u64> {
    let mut boot = BOOT.to_vec();
    words.iter().for_each(|(word, value)| boot[*word as usize] = *value);
    boot
}

#[test]
fn a_hypervisor_that_does_a_part_of_ring_0_itself_is_named_at_its_rows() {
    const RUN: [&str; 12] = [
        "--entry",
        "syscall-x86_64",
        "--entry",
        "int3",
        "--entry",
        "ud",
        "--operation=none",
        "--set",
        "pti=off",
        "--set",
        "pti=on",
        "--seed=1",
    ];
    let native = [(abi::LAB_BOOT_CPUID_TICKS, ticks(100)), (abi::LAB_BOOT_INVALID_TICKS, ticks(800))];
    let shadow = [(abi::LAB_BOOT_CR3_TICKS, ticks(1900))];
    let compressed = [(abi::LAB_BOOT_INTERRUPT_TICKS, ticks(2600))];
    // The verdict; how many rows of syscall, int3 and ud have remarks; and the finding.
    for (words, verdict, trapped, remarks, level) in [
        (&native[..], "natively", vec![], [0, 0, 0], None),
        (&[], "partly", vec!["invalid-instructions"], [0, 0, 2], Some(document::Level::Note)),
        (
            &shadow,
            "partly",
            vec!["cr3-writes", "invalid-instructions"],
            [1, 1, 2],
            Some(document::Level::Warning),
        ),
        (
            &compressed,
            "partly",
            vec!["interrupts", "invalid-instructions"],
            [0, 2, 2],
            Some(document::Level::Warning),
        ),
    ] {
        let document = measured(&RUN, &boot_with(words), NOTHING);
        let ring0 = serde_json::to_value(&document.environment.lab.as_ref().unwrap().ring0).unwrap();
        assert_eq!(
            (&ring0["verdict"], &ring0["trapped"]),
            (&verdict.into(), &trapped.clone().into()),
            "{ring0}"
        );
        assert_eq!(ring0["hypervisor"], "KVMKVMKVM");
        let remarked = ["syscall-x86_64", "int3", "ud"].map(|entry| {
            let rows = document.results.iter().filter(|row| row.entry == entry);
            rows.filter(|row| row.remarks.iter().any(|words| words.starts_with("the hypervisor handles")))
                .count()
        });
        assert_eq!((remarked, finding(&document, "ring-0")), (remarks, level), "{trapped:?}");
    }
}

#[test]
fn the_processors_counters_check_the_chain() {
    let silent = measured(&ROWS, &BOOT, NOTHING);
    let clock = silent.measurement.cycles_per_tick.unwrap();
    let counting = |factor: f64| {
        let cycles = (1e6 * clock * factor) as u64;
        let counts = [
            (abi::COUNTER_TSC, 1_100_000),
            (abi::COUNTER_CYCLES, cycles),
            (abi::COUNTER_REFERENCE, 1_000_000),
        ];
        let document = measured(&ROWS, &BOOT, &|_, _| counts.to_vec());
        let counters = document.environment.lab.clone().unwrap().counters.unwrap();
        assert_eq!((counters.rounds, counters.ticks, counters.smis), (32, 32 * 1_100_000, None));
        assert!((counters.cycles_per_tick.unwrap() / (clock * factor) - 1.0).abs() < 1e-5);
        finding(&document, "cycle-counter")
    };
    assert_eq!(counting(1.0), None);
    assert_eq!(counting(1.1), Some(document::Level::Warning));
    assert_eq!(counting(0.9), Some(document::Level::Warning));
}

#[test]
fn a_round_with_an_smi_inside_is_lost_and_no_other() {
    let smis = |boot: u64, run: u64| vec![(abi::COUNTER_SMI, u64::from(boot == 3 && run < 2))];
    let document = measured(&ROWS, &BOOT, &smis);
    let rounds: u64 = document.results.iter().map(|row| row.counts.rounds).sum();
    assert_eq!((rounds, finding(&document, "smi")), (30, Some(document::Level::Note)));
    let all = measured(&ROWS, &BOOT, &|_, _| vec![(abi::COUNTER_SMI, 1)]);
    for row in &all.results {
        let reason = row.reason.as_deref().unwrap_or_default();
        assert!(row.outcome == Outcome::Error && reason.contains("fell into every round"), "{reason}");
    }
    assert_eq!(all.results.len(), 2);
}

#[test]
fn a_later_boot_that_fails_costs_its_own_rounds_alone() {
    let (folder, plan) = (tempfile::tempdir().unwrap(), plan(&ROWS));
    timed(&folder, &plan, &BOOT, NOTHING);
    let script = format!("{NEXT_BOOT} | head -c $([ $BOOT = 5 ] && echo 180 || echo 99999999)");
    let program = guest(&folder, &script, b"0\n");
    let document = with_limits(&plan, &program, Accelerator::Kvm, limits(LONG)).unwrap();
    assert!(document.measurement.ended.as_deref().unwrap().contains("ended early"));
    for row in &document.results {
        assert_eq!((row.outcome, row.counts.rounds), (Outcome::Ok, 10), "{:?}", row.reason);
    }
}

#[test]
fn the_guest_is_pinned_to_the_cpu_that_is_chosen() {
    /// Where no probe can run, the choice is the last CPU.
    struct Refusing;
    impl places::host::Executor for Refusing {
        fn run(&mut self, _: table::Probe, _: usize, _: &[String]) -> Result<Vec<Record>, record::Failure> {
            Err(record::Failure::Silent)
        }
    }
    let allowed = process::allowed_cpus().unwrap();
    let last = *allowed.last().unwrap();
    let cpus = allowed.into_iter().map(|cpu| (cpu, environment::CoreType::Uniform)).collect();
    let (folder, plan) = (tempfile::tempdir().unwrap(), plan(&ROWS));
    timed(&folder, &plan, &BOOT, NOTHING);
    let program = guest(
        &folder,
        &format!("grep Cpus_allowed_list /proc/self/status >>$STREAM.pinned; {NEXT_BOOT}"),
        b"0\n",
    );
    let host = environment::Environment::default();
    let scout = measure::Scout::new(Box::new(Refusing), &cpus, &host, 1);
    let document = with_scout(&plan, &program, Accelerator::Kvm, limits(LONG), scout).unwrap();
    let pinned = std::fs::read_to_string(folder.path().join("stream.pinned")).unwrap();
    assert_eq!(pinned, format!("Cpus_allowed_list:\t{last}\n").repeat(8));
    assert!(document.environment.guest.unwrap().boots.iter().all(|boot| boot.cpu == Some(last)));
    assert!(document.results.iter().all(|row| row.cpu == Some(last)), "the guest's own number is 0");
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
        let (mut reader, mut collected) = (places::lab::Reader::new(4), places::lab::Collected::default());
        // Half of it, then the rest.
        for piece in whole[..end].chunks(end / 2 + 1) {
            reader.push(piece);
            while let Some(event) = reader.take().unwrap() {
                collected.take(event);
            }
        }
        assert!(collected.ran.len() >= before, "cut at {end}");
        before = collected.ran.len();
        assert!(
            collected.ran.values().all(|ran| ran.output.is_some() && ran.end == places::lab::End::Exited(0))
        );
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
    let there = Tape::booted().bytes.len() + 500;
    let script = format!("head -c {there} $STREAM; echo 'bad day' >&2; exit 7");
    let document = run(&script, &whole, LONG).unwrap();
    let reasons: Vec<&str> = document.results.iter().map(|row| row.reason.as_deref().unwrap()).collect();
    let all = reasons.join("\n");
    assert!(
        all.contains("it was running when the guest failed: ") && all.contains("it was not begun: "),
        "{all}"
    );
    assert!(all.contains("ended early, exit status: 7: bad day"), "{all}");
    let document =
        run(&format!("head -c {there} $STREAM; sleep 50"), &whole, Duration::from_millis(400)).unwrap();
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
    twice.push(abi::RECORD_LAB_BOOT, &words(&BOOT));
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
    plan.work(Counter::Instructions, 0).plan.render().lines().for_each(|line| tape.obey(line));
    tape.program(2, &output((29, 1)), how, detail);
    let program = guest(&folder, "cat $STREAM", &tape.done());
    let document = with_limits(&plan, &program, Accelerator::Tcg, limits(LONG)).unwrap();
    let row = &document.results[0];
    assert_eq!(row.configuration.get("pcid").map(String::as_str), Some("keep"));
    assert_eq!(row.instructions.is_some(), row.outcome == Outcome::Ok);
    (row.outcome, row.reason.clone().unwrap_or_default())
}

/// A measurement of `syscall-x86_64` with page-table isolation, of a kernel that says so of its configuration.
fn configured(said: &dyn Fn(&mut Tape)) -> Document {
    let words = ["--entry", "syscall-x86_64", "--operation", "none", "--set", "pti=on"];
    let (plan, folder) = (plan(&words), tempfile::tempdir().unwrap());
    let mut tape = Tape::booted();
    tape.program(0, &[], abi::LAB_END_EXITED, [0; 4]);
    tape.program(1, &[], abi::LAB_END_EXITED, [0; 4]);
    said(&mut tape);
    tape.program(2, &answer((2, 1), 50), abi::LAB_END_EXITED, [0; 4]);
    let program = guest(&folder, "cat $STREAM", &tape.done());
    with_limits(&plan, &program, Accelerator::Tcg, limits(LONG)).unwrap()
}

#[test]
fn what_the_kernel_says_of_its_configuration_is_in_the_document() {
    let document = configured(&|tape| ["set pti=off", "set pti=on"].iter().for_each(|line| tape.obey(line)));
    let row = &document.results[0];
    assert_eq!((row.outcome, row.instructions.is_some()), (Outcome::Ok, true));
    // The processor has no SMAP, and the kernel says what that makes of the default.
    assert_eq!((row.configuration["pti"].as_str(), row.configuration["smap"].as_str()), ("on", "off"));
    let lab = document.environment.lab.unwrap();
    assert_eq!((lab.switches["pti"].as_str(), lab.switches["smap"].as_str()), ("off", "off"));
}

#[test]
fn figures_of_a_configuration_that_nobody_asked_for_are_none() {
    for (lines, why) in [
        (&["set pti=off", "set pti=trampoline"][..], "it has pti=trampoline, and was asked for on"),
        (&["set pti=off", "set pti=on smap=on"], "it has smap=on, and was asked for off"),
        (&["set pti=off"], "it has not set what the plan sets before program 2"),
        (&["set pti=off", "set pti=on", "set pti=on"], "it has another configuration than before, unasked"),
    ] {
        let document = configured(&|tape| lines.iter().for_each(|line| tape.obey(line)));
        let row = &document.results[0];
        assert_eq!((row.outcome, row.instructions.is_none()), (Outcome::Error, true), "{lines:?}");
        let said = row.reason.as_deref().unwrap();
        assert!(
            said.contains(&format!("the guest's kernel is not configured as it was asked: {why}")),
            "{said}"
        );
        assert!(document.measurement.partial && row.configuration["pti"] == "on", "{lines:?}");
    }
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
    assert_eq!(lacking, (Outcome::Unsupported, "this CPU has no PCID, which pcid=keep requires".into()));
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

/// What the boots of a measurement of counts write, in `stream.0` and so on: every row costs its entry's id in instructions. A guest that
/// writes the one of its boot, which the seed in its plan tells.
fn counting(folder: &TempDir, plan: &LabPlan, script: &str) -> PathBuf {
    for boot in 0..plan.boots(Counter::Instructions) {
        let (mut tape, mut number) = (Tape::booted(), 0);
        for line in plan.work(Counter::Instructions, boot).plan.render().lines() {
            tape.obey(line);
            if !line.starts_with("run ") {
                continue;
            }
            let is_described = line.split(' ').count() == 3;
            let row = (!is_described).then(|| request(line)).map(|asked| (asked.entry, asked.operation));
            let output = row.map(|row| answer(row, u64::from(row.0))).unwrap_or_default();
            tape.program(number, &output, abi::LAB_END_EXITED, [0; 4]);
            number += 1;
        }
        std::fs::write(folder.path().join(format!("stream.{boot}")), tape.done()).unwrap();
    }
    let boot = "cd \"${STREAM%/*}\"; \
                while [ $1 != -initrd ]; do shift; done; BOOT=$(grep -aom 1 '^seed [0-9]*' $2); BOOT=${BOOT#seed }";
    guest(folder, &format!("{boot}; {script}"), b"")
}

/// The jobs that a boot counts.
fn counted(plan: &LabPlan, boot: u64) -> Vec<usize> {
    let round = |what: &Numbered| if let Numbered::Round(job) = what { Some(*job) } else { None };
    plan.work(Counter::Instructions, boot).numbered.iter().filter_map(round).collect()
}

#[test]
fn boots_that_count_share_the_rows_and_describe_once() {
    let plan = plan(&[]);
    assert_eq!(plan.boots(Counter::Instructions), 2, "{} jobs", plan.jobs.len());
    let rounds = [0, 1].map(|boot| counted(&plan, boot));
    assert!(rounds[0].len().abs_diff(rounds[1].len()) <= 1);
    let second = plan.work(Counter::Instructions, 1);
    assert_eq!(rounds[1].len(), second.numbered.len(), "only the first looks at what is the same in both");
    let mut all = rounds.concat();
    assert!(!all.is_sorted(), "in a drawn order");
    all.sort_unstable();
    assert!(all.into_iter().eq(0..plan.jobs.len()), "each once");
    let other = plan.clone().seeded(plan.seed + 1);
    assert_ne!(counted(&plan, 0), counted(&other, 0), "by the seed");
}

/// Where each configuration is said, each has a value for every switch: nothing is left to what the kernel had at boot.
#[test]
fn jobs_that_are_equal_are_counted_once_and_leave_no_switch_to_the_kernel() {
    let table = Table::get();
    let row = table.rows(table::Kernel::Lab).find(|(entry, _)| entry.name == "trapgate-x86_64").unwrap();
    let with = |pti: &str| table::SwitchValues::from([("pti".to_string(), pti.to_string())]);
    let [off, on] = ["off", "on"].map(with);
    let wanted = [(row, &off), (row, &on), (row, &off), (row, &on)];
    let plan = LabPlan::of(table, &wanted, 7, Duration::from_secs(1));
    assert_eq!((plan.jobs.len(), plan.configurations.all.len()), (2, 2));
    let text = plan.work(Counter::Instructions, 0).plan.render();
    let sets: Vec<&str> = text.lines().filter(|line| line.starts_with("set ")).collect();
    assert!(sets.len() > 1 && sets.iter().all(|set| !set.contains("=default")), "{text}");
    // What the command line leaves out goes back to that.
    let asked = self::plan(&["--entry", "trapgate-x86_64", "--entry", "call", "--operation", "none"]);
    let text = asked.work(Counter::Instructions, 0).plan.render();
    assert!(text.contains("gate=default"), "{text}");
}

/// At each number of jobs that changes how many boots there are, and with numbers that these do not divide.
#[test]
fn jobs_of_any_number_are_counted_once_each() {
    let plan = plan(&[]);
    for (jobs, boots) in
        [(0, 1), (1, 1), (149, 1), (150, 2), (151, 2), (999, 2), (1000, 4), (1001, 4), (1003, 4)]
    {
        let mut some = plan.clone();
        some.jobs = plan.jobs.iter().cycle().take(jobs).cloned().collect();
        assert_eq!(some.boots(Counter::Instructions), boots, "{jobs} jobs");
        let mut all: Vec<usize> = (0..boots).flat_map(|boot| counted(&some, boot)).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..jobs), "{jobs} jobs");
    }
}

/// Each type of gate that an entry comes through, once; and no entry that comes through none.
#[test]
fn each_gate_of_an_entry_is_observed_once() {
    let observed = |words: &[&str]| {
        let numbered = plan(words).work(Counter::Instructions, 0).numbered;
        numbered.iter().filter(|what| matches!(what, Numbered::Observe(_))).count()
    };
    let gates = ["--set", "gate=interrupt", "--set", "gate=trap"];
    assert_eq!(observed(&[&["--entry", "int80-i386"], &gates[..]].concat()), 2);
    assert_eq!(observed(&["--entry", "call-gate-i386"]), 1);
    assert_eq!(observed(&["--entry", "syscall-x86_64"]), 0);
}

#[test]
fn rounds_that_are_timed_have_orders_of_their_own_and_seeds_are_whole_numbers_of_json() {
    let plan = plan(&["--seed=9007199254740992"]);
    assert_eq!([0, 1].map(|boot| plan.seed_of(boot)), [1 << 53, 0]);
    let numbered = plan.work(Counter::Time, 1).numbered;
    let (first, second) = numbered.split_at(plan.jobs.len());
    assert_eq!(first.len(), second.len());
    assert_ne!(first, second);
}

#[test]
fn boots_that_count_run_side_by_side() {
    if std::thread::available_parallelism().unwrap().get() < 2 {
        return crate::skipped::skipped("there is one CPU");
    }
    let (folder, plan) = (tempfile::tempdir().unwrap(), plan(&[]));
    let both =
        "touch begun.$BOOT; for i in $(seq 300); do [ -e begun.0 -a -e begun.1 ] && break; sleep 0.1; done";
    let program = counting(&folder, &plan, &format!("{both}; [ $i -lt 300 ] && cat stream.$BOOT"));
    let document = with_limits(&plan, &program, Accelerator::Tcg, limits(LONG)).unwrap();
    assert_eq!(document.environment.guest.as_ref().unwrap().boots.len(), 2);
    assert_eq!(document.results.len(), plan.jobs.len());
    for (id, outcome, instructions) in figures(&document) {
        assert_eq!((outcome, instructions), (Outcome::Ok, Some(f64::from(id))));
    }
}

#[test]
fn a_boot_that_ends_early_costs_rows_of_its_own() {
    let (folder, plan) = (tempfile::tempdir().unwrap(), plan(&[]));
    let program =
        counting(&folder, &plan, "head -c $([ $BOOT = 1 ] && echo 20000 || echo 9999999) stream.$BOOT");
    let document = with_limits(&plan, &program, Accelerator::Tcg, limits(LONG)).unwrap();
    assert!(document.measurement.ended.as_deref().unwrap().contains("ended early"));
    let of_second: BTreeSet<usize> = (0..)
        .zip(&plan.work(Counter::Instructions, 1).numbered)
        .map(|(_, what): (u64, _)| {
            let Numbered::Round(job) = what else { panic!("{what:?}") };
            *job
        })
        .collect();
    for (job, row) in document.results.iter().enumerate() {
        let is_lost = row.outcome != Outcome::Ok;
        assert!(!is_lost || of_second.contains(&job), "{}: {:?}", row.entry, row.reason);
    }
    let lost = document.results.iter().filter(|row| row.outcome != Outcome::Ok).count();
    assert!(lost > 0 && lost < of_second.len(), "{lost} of {}", of_second.len());
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
    let text = plan.work(Counter::Instructions, 0).plan.render();
    assert_eq!(text, PLAN, "\n{text}");
    assert_eq!(text, plan.work(Counter::Instructions, 0).plan.render());
    let hardware = [0, 1].map(|boot| plan.work(Counter::Time, boot));
    let rounds = 2 * 4;
    let lengths = hardware.each_ref().map(|work| work.numbered.len());
    assert_eq!(lengths, [2 + 2 + rounds, rounds], "two rounds of two rows in two configurations");
    let layouts = hardware.each_ref().map(|work| {
        let text = work.plan.render();
        text.lines().filter(|line| line.starts_with("layout ")).map(str::to_string).collect::<Vec<_>>()
    });
    assert_eq!(layouts, [["layout 8", "layout 11"], ["layout 9", "layout 12"]], "one for each round");
    assert_eq!(hardware[1].layouts, [(0, 9), (rounds / 2, 12)], "their first runs");
    assert!(hardware[1].plan.render().starts_with("lab 4\nseed 8\n"));
    // A run ends by its samples or its ticks, long before the limit of a program that hangs.
    let text_of_times = hardware[1].plan.render();
    let asked: Vec<record::Request> =
        text_of_times.lines().filter(|line| line.starts_with("run ")).map(request).collect();
    let limit = text_of_times.lines().find_map(|line| line.strip_prefix("limit ")).unwrap();
    let limit: u64 = limit.parse().unwrap();
    for asked in &asked {
        assert!(asked.ticks < limit && asked.blocks * 64 >= asked.samples && asked.samples > 8, "{asked:?}");
        assert!(asked.bursts > 1, "{asked:?}");
    }
    assert!(!text.contains("layout"), "counts do not depend on it");
}

/// Each gate observed once, then four runs in the seed's order, each after what changes for it; the trap gate is what the
/// entries need.
const PLAN: &str = "\
lab 4
seed 7
kernel lab
limit 100000000
run probe64 2
run probe32 2
set pti=on gate=trap observe=on
run probe64 1 27 1 1 100000000 1 1 0 0 8 0 0 1
run probe32 1 31 1 1 100000000 1 1 0 0 8 0 0 1
set gate=default observe=default pti=off smap=on
set smap=off gate=trap
run probe64 1 27 1 1 100000000 1 1 0 0 8 0 0 1
run probe32 1 31 1 1 100000000 1 1 0 0 8 0 0 1
set smap=on pti=on
run probe64 1 27 1 1 100000000 1 1 0 0 8 0 0 1
run probe32 1 31 1 1 100000000 1 1 0 0 8 0 0 1
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
    assert_eq!(row.remarks, ["a real Intel processor raises #UD, as QEMU's TCG does from 9.1 on"]);
    assert!(row.instructions.is_some());
}

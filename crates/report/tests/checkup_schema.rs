//! `docs/checkup.schema.json` accepts what this crate writes, and refuses what breaks the contract.

#![allow(clippy::unwrap_used, reason = "a test")]

mod judged;
mod sample;

use document::{
    Added, Behind, Checkup, Confidence, Diagnosis, Document, Figure, Finding, Level, Price, PriceSource,
    PriceUnit, Unit,
};
use environment::Unseen;
use examine::{
    Apart, Audit, Carried, ClockHealth, IndirectBranch, KernelLog, KernelProgram, LogLine, NotLooked,
    Process, ProgramRseq, Rate, Rseq, Runtimes, Seccomp, SeccompMode, Steadiness, Steps, StoreBypass, Tracer,
};
use findings::doctor::{Check, diagnoses};
use report::{Format, Selection, Style};
use serde_json::{Value, json};
use table::Table;

const SCHEMA: &str = include_str!("../../../docs/checkup.schema.json");

const OF_RUNS: &str = include_str!("../../../docs/run.schema.json");

fn written(checkup: &Checkup) -> Value {
    let style = Style { color: false, width: 100, verbose: false, selection: Selection::All };
    let bytes = report::checkup(checkup, Some(Level::Warning), Format::Json, &style).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn objections(value: &Value) -> Vec<String> {
    judged::objections(SCHEMA, value)
}

fn steadiness(clock: &str) -> Steadiness {
    Steadiness {
        cpu: 0,
        clock: clock.into(),
        readings: 30_000,
        repeats: 4,
        smallest_ns: Some(23.5),
        common_step: Some(1),
        backward: Steps { count: 2, largest_ns: 1800.0 },
        stalls: Steps::default(),
        jumps: Steps { count: 1, largest_ns: 5.2e7 },
        longest_gap_ns: 3.9e6,
    }
}

fn apart(counter: &str, offset_ns: f64) -> Apart {
    Apart {
        from: 0,
        to: 3,
        counter: counter.into(),
        at_ns: 5.0e6,
        exchanges: 4000,
        offset_ns,
        uncertainty_ns: 60.0,
        warp_ns: 0.0,
    }
}

/// A clock that stood, counters that are apart, a CPU that nobody saw.
fn clock_health() -> ClockHealth {
    let stood = Steadiness { smallest_ns: None, common_step: None, ..steadiness("realtime") };
    let line = LogLine { at: 9.0, text: "clocksource: Marking clocksource 'tsc' as unstable".into() };
    ClockHealth {
        cpus: vec![0, 3, 7],
        not_looked: vec![NotLooked { cpu: 7, why: "other work left too little time there".into() }],
        left_out: 1,
        steadiness: vec![steadiness("monotonic"), stood, steadiness("monotonic-raw"), steadiness("tsc")],
        apart: vec![Apart { warp_ns: 900.0, ..apart("tsc", -1900.5) }, apart("monotonic", 12.0)],
        rate: Some(Rate { hz: 2.6e9, uncertainty: 1e-8, seconds: 1.4 }),
        log: KernelLog {
            is_readable: true,
            unseen: Some("it began late".into()),
            since: Some(8.5),
            lines: vec![line],
        },
        seconds: 1.52,
    }
}

fn unseen() -> Vec<Unseen> {
    vec![Unseen { what: "audit".into(), why: "only root may ask".into(), expected: true }]
}

/// Filters, a tracer, programs on every call, and whatever else there is.
fn carried() -> Carried {
    let program = |tracepoint: &str, name: Option<&str>, id| KernelProgram {
        tracepoint: tracepoint.into(),
        name: name.map(str::to_owned),
        id,
    };
    Carried {
        process: Process { pid: 71, name: String::new(), is_own: false, uid: Some(1000) },
        seccomp: Seccomp { mode: Some(SeccompMode::Filter), filters: Some(2) },
        store_bypass: Some(StoreBypass::ThreadForcedOff),
        indirect_branch: Some(IndirectBranch::ThreadOff),
        tracer: Some(Tracer { pid: 9, name: None }),
        user_dispatch: Some(false),
        audit: Audit { enabled: Some(true) },
        programs: Some(vec![
            program("sys_enter", Some("opensnoop"), Some(31)),
            program("sys_exit", None, Some(32)),
            program("syscalls", Some("an event of tracefs"), None),
        ]),
        landlock: Some(3),
        unseen: unseen(),
    }
}

fn runtimes() -> Runtimes {
    let in_program = Some(ProgramRseq { program: "/bin/true".into(), registered: true, size: 32 });
    let rseq = Rseq { in_kernel: Some(true), feature_size: Some(28), in_loader: Some(true), in_program };
    Runtimes { rseq, unseen: unseen() }
}

fn prices() -> Vec<Price> {
    let code = Price {
        setting: "smap=on".into(),
        entry: None,
        amount: Some(0.0),
        low: None,
        high: None,
        unit: PriceUnit::Instructions,
        source: PriceSource::Code,
        words: "no instruction more on any entry, counted in the kernel's code and not timed".into(),
        command: "kentry lab --set smap=off --set smap=on".into(),
    };
    let timed = Price {
        setting: "pti=on".into(),
        entry: Some("syscall-x86_64".into()),
        amount: Some(212.5),
        low: Some(208.0),
        high: Some(217.0),
        unit: PriceUnit::Cycles,
        source: PriceSource::Timed,
        ..code.clone()
    };
    let counted = Price { amount: None, source: PriceSource::Counted, ..code.clone() };
    vec![timed, counted, code]
}

fn behind() -> Behind {
    let row = |operation: &str, behind, more, is_more, closed: Option<&str>| Added {
        entry: "syscall-x86_64".into(),
        operation: operation.into(),
        without: Some(300.0),
        behind,
        more,
        is_more,
        closed: closed.map(str::to_owned),
    };
    let rows = vec![
        row("getppid", Some(422.4), Some([122.4, 118.0, 125.0]), true, None),
        row("none", Some(301.0), Some([1.0, -3.0, 4.5]), false, None),
        row("read-zero", None, None, false, Some("killed by SIGSYS")),
    ];
    Behind { command: "setpriv --no-new-privs".into(), rows }
}

/// With figures of every unit.
fn finding(level: Level) -> Finding {
    let figure = |(unit, value)| Figure {
        name: "clock_read".into(),
        labels: [("clock".to_owned(), "monotonic".to_owned())].into(),
        unit,
        value,
    };
    let values = [(Unit::Seconds, 5.6e-7), (Unit::Cycles, 1900.0), (Unit::Ratio, -0.5), (Unit::Count, 3.0)];
    let unlabelled = Figure { labels: Default::default(), ..figure(values[0]) };
    Finding {
        id: "clock-served".into(),
        level,
        verdict: "Time went backward.".into(),
        evidence: Some("tsc: 1,900 ns".into()),
        cause: Some("The counters are apart.".into()),
        costs: Some("Each read costs 560 ns instead of 24.".into()),
        remedy: None,
        next: Some("kentry explain clock-apart".into()),
        confidence: Confidence::Inferred,
        figures: values.map(figure).into_iter().chain([unlabelled]).collect(),
    }
}

/// One of everything that can come out, with what the checks themselves say of it.
fn everything() -> Checkup {
    let mut checkup = Checkup {
        clock_health: Some(clock_health()),
        carried: Some(carried()),
        runtimes: Some(runtimes()),
        prices: prices(),
        behind: Some(behind()),
        ..Checkup::of(sample::ordinary())
    };
    let levels = [Level::Critical, Level::Warning, Level::Note, Level::Ok, Level::Unknown];
    let made = levels.map(|level| Diagnosis { check: "clocks".into(), finding: finding(level) });
    checkup.diagnoses = made.into_iter().chain(diagnoses(&checkup, Table::get())).collect();
    checkup
}

#[test]
fn a_checkup_that_has_everything_is_accepted() {
    let checkup = everything();
    let own = |level| checkup.diagnoses.iter().skip(5).any(|each| each.finding.level == level);
    assert!(
        own(Level::Warning) && own(Level::Note) && own(Level::Ok),
        "the checks say some of it themselves"
    );
    assert_eq!(objections(&written(&checkup)), Vec::<String>::new());
}

#[test]
fn a_checkup_that_knows_nothing_is_accepted() {
    let nothing = Checkup::of(Document::empty());
    // A run always has a beginning, and a kentry that measured it.
    let run = Document { measurement: sample::ordinary().measurement, ..nothing.run.clone() };
    let unknown = Checkup {
        clock_health: Some(ClockHealth::default()),
        carried: Some(Carried::default()),
        runtimes: Some(Runtimes::default()),
        ..Checkup::of(run.clone())
    };
    for checkup in [Checkup::of(run), unknown] {
        assert_eq!(objections(&written(&checkup)), Vec::<String>::new());
    }
}

/// Each state that a process can be in, as the kernel tells it.
#[test]
fn every_state_of_a_process_is_accepted() {
    use SeccompMode::{Filter, Off, Strict};
    let mut checkup = everything();
    let mut accepts = |change: &dyn Fn(&mut Carried)| {
        change(checkup.carried.get_or_insert_default());
        assert_eq!(objections(&written(&checkup)), Vec::<String>::new());
    };
    for mode in [Off, Strict, Filter, SeccompMode::Unknown] {
        accepts(&|carried| carried.seccomp.mode = Some(mode));
    }
    let bypass = [
        StoreBypass::NotAffected,
        StoreBypass::Allowed,
        StoreBypass::ThreadAllowed,
        StoreBypass::ThreadOff,
        StoreBypass::ThreadForcedOff,
        StoreBypass::OffUntilExec,
        StoreBypass::Off,
        StoreBypass::Unknown,
    ];
    bypass.iter().for_each(|state| accepts(&|carried| carried.store_bypass = Some(*state)));
    let branch = [
        IndirectBranch::NotAffected,
        IndirectBranch::Allowed,
        IndirectBranch::ThreadAllowed,
        IndirectBranch::ThreadOff,
        IndirectBranch::ThreadForcedOff,
        IndirectBranch::Off,
        IndirectBranch::Unknown,
    ];
    branch.iter().for_each(|state| accepts(&|carried| carried.indirect_branch = Some(*state)));
}

#[test]
fn the_machine_under_this_test_is_accepted() {
    let mut checkup = Checkup {
        clock_health: Some(ClockHealth::look(std::time::Duration::from_millis(300))),
        carried: Some(Carried::here()),
        runtimes: Some(Runtimes::here()),
        ..Checkup::of(sample::ordinary())
    };
    checkup.run.environment = environment::capture(&environment::Roots::default(), 0);
    checkup.diagnoses = diagnoses(&checkup, Table::get());
    assert_eq!(objections(&written(&checkup)), Vec::<String>::new());
}

#[test]
fn a_wrong_value_is_refused() {
    let good = written(&everything());
    let wrong = [
        ("/schema", json!("kentry.checkup/2")),
        ("/run", Value::Null),
        ("/run/schema", json!("kentry.run/1")),
        ("/run/results/0/outcome", json!("fine")),
        ("/run/measurement/quiet_share", json!(1.5)),
        ("/clock_health", json!({})),
        ("/prices", Value::Null),
        ("/diagnoses", json!({})),
        ("/behind", Value::Null),
        ("/diagnoses/0/check", json!("network")),
        ("/diagnoses/0/id", json!("")),
        ("/diagnoses/0/level", json!("fatal")),
        ("/diagnoses/0/verdict", Value::Null),
        ("/diagnoses/0/evidence", json!("")),
        ("/diagnoses/0/costs", json!("")),
        ("/diagnoses/0/costs", json!(560)),
        ("/diagnoses/0/confidence", json!("certain")),
        ("/diagnoses/0/figures", json!([1])),
        ("/diagnoses/0/figures/0/name", json!("Clock read")),
        ("/diagnoses/0/figures/0/labels", json!({ "clock": 1 })),
        ("/diagnoses/0/figures/0/labels/clock", json!(1)),
        ("/diagnoses/0/figures/0/unit", json!("nanoseconds")),
        ("/diagnoses/0/figures/0/value", Value::Null),
    ];
    judged::refuses_values(SCHEMA, &good, wrong);
}

#[test]
fn a_wrong_value_about_clocks_is_refused() {
    let good = written(&everything());
    let wrong = [
        ("/clock_health/cpus/0", json!(-1)),
        ("/clock_health/not_looked/0/why", json!("")),
        ("/clock_health/left_out", Value::Null),
        ("/clock_health/steadiness/0/clock", json!("boottime")),
        ("/clock_health/steadiness/0/readings", json!(0.5)),
        ("/clock_health/steadiness/0/smallest_ns", json!(0)),
        ("/clock_health/steadiness/0/common_step", json!(0)),
        ("/clock_health/steadiness/0/backward/largest_ns", json!(-1)),
        ("/clock_health/steadiness/0/longest_gap_ns", Value::Null),
        // What did not happen has no size.
        ("/clock_health/steadiness/0/stalls/largest_ns", json!(12)),
        ("/clock_health/apart/0/counter", json!("hpet")),
        ("/clock_health/apart/0/exchanges", json!(0)),
        ("/clock_health/apart/0/offset_ns", Value::Null),
        ("/clock_health/apart/0/uncertainty_ns", json!(-60)),
        ("/clock_health/apart/0/warp_ns", json!(-900)),
        ("/clock_health/rate/hz", json!(0)),
        ("/clock_health/rate/uncertainty", json!(-0.1)),
        ("/clock_health/log/is_readable", json!("no")),
        ("/clock_health/log/since", json!(-1)),
        ("/clock_health/log/lines/0/text", json!("x".repeat(301))),
        ("/clock_health/seconds", json!(-1)),
    ];
    judged::refuses_values(SCHEMA, &good, wrong);
}

#[test]
fn a_wrong_value_about_a_process_or_a_command_is_refused() {
    let good = written(&everything());
    let wrong = [
        ("/carried/process/pid", json!(-1)),
        ("/carried/process/name", Value::Null),
        ("/carried/seccomp/mode", json!("on")),
        ("/carried/seccomp/filters", json!(1.5)),
        ("/carried/store_bypass", json!("vulnerable")),
        ("/carried/indirect_branch", json!("off-until-exec")),
        ("/carried/tracer/pid", json!(0)),
        ("/carried/programs/0/tracepoint", json!("")),
        ("/carried/programs/0/id", json!("31")),
        ("/carried/unseen/0/why", json!("")),
        ("/runtimes/rseq/in_kernel", json!("yes")),
        ("/runtimes/rseq/feature_size", json!(0)),
        ("/runtimes/rseq/in_program/size", Value::Null),
        ("/behind/command", json!("")),
        ("/behind/rows/0/more", json!([122.4])),
        ("/behind/rows/0/more", Value::Null),
        ("/behind/rows/0/is_more", Value::Null),
        ("/behind/rows/2/closed", json!("")),
        ("/prices/0/setting", json!("pti")),
        ("/prices/0/amount", json!("212")),
        ("/prices/0/unit", json!("seconds")),
        ("/prices/0/source", json!("guessed")),
        // What was counted is no time.
        ("/prices/0/source", json!("code")),
        ("/prices/1/unit", json!("cycles")),
    ];
    judged::refuses_values(SCHEMA, &good, wrong);
}

#[test]
fn a_missing_or_unknown_field_is_refused() {
    let mut good = written(&everything());
    // This field may be absent.
    good.as_object_mut().unwrap().remove("behind");
    let places = [
        "",
        "/run",
        "/clock_health",
        "/clock_health/not_looked/0",
        "/clock_health/steadiness/0",
        "/clock_health/steadiness/0/jumps",
        "/clock_health/apart/0",
        "/clock_health/rate",
        "/clock_health/log",
        "/clock_health/log/lines/0",
        "/carried",
        "/carried/process",
        "/carried/seccomp",
        "/carried/tracer",
        "/carried/audit",
        "/carried/programs/0",
        "/carried/unseen/0",
        "/runtimes",
        "/runtimes/rseq",
        "/runtimes/rseq/in_program",
        "/prices/0",
        "/diagnoses/0",
        "/diagnoses/1/figures/0",
    ];
    assert_eq!(objections(&good), Vec::<String>::new());
    judged::refuses_other_fields(SCHEMA, &good, &places);
    judged::refuses_other_fields(SCHEMA, &written(&everything()), &["/behind", "/behind/rows/0"]);
}

/// The rest of a checkup must say the same of findings as its run does, and know the same checks as the command.
#[test]
fn findings_are_those_of_runs_and_checks_those_of_the_command() {
    let [schema, of_runs] = [SCHEMA, OF_RUNS].map(|text| serde_json::from_str::<Value>(text).unwrap());
    let (diagnosis, finding) = (&schema["$defs"]["diagnosis"], &of_runs["$defs"]["finding"]);
    let fields =
        |of: &Value| -> Vec<String> { of["properties"].as_object().unwrap().keys().cloned().collect() };
    let mut expected = fields(finding);
    expected.push("check".to_owned());
    expected.sort();
    assert_eq!(fields(diagnosis), expected);
    for field in ["level", "confidence"] {
        assert_eq!(diagnosis["properties"][field]["enum"], finding["properties"][field]["enum"], "{field}");
    }
    let figure = &finding["properties"]["figures"]["items"]["properties"];
    assert_eq!(schema["$defs"]["figure"]["properties"]["unit"]["enum"], figure["unit"]["enum"]);
    let checks: Vec<&str> = Check::ALL.iter().map(|check| check.name()).collect();
    assert_eq!(diagnosis["properties"]["check"]["enum"], json!(checks));
}

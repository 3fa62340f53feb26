#[path = "sample.rs"]
mod sample;

use super::*;
use crate::published::{Loop, Publications, Took};
use document::Outcome;
use sample::{UNIXBENCH, cost, document, here, timed};
use stats::{Noise, NoiseKind};

const TABLE: &str = r#"
    [[publication]]
    name = "little"
    title = "a table"
    source = "a test"
    cpu = "Example 9000"
    unit = "ns"
    about = "A table."
    base = "syscall"
    [[publication.column]]
    name = "PTI on"
    needs = { pti = "on" }
    set = { pti = "on" }
    [[publication.column]]
    name = "PTI off"
    needs = { pti = "off" }
    [[publication.row]]
    name = "syscall"
    published = [200, 100]
    entry = "syscall-x86_64"
    operation = "getppid"
    [[publication.row]]
    name = "int 80h"
    published = [400, 300]
    entry = "int80-i386"
    operation = "getppid"
    [[publication.row]]
    name = "call gate"
    published = ["-", 500]
    lab = "call-gate-i386"
    operation = "getppid"
    absent = "Linux has none"
"#;

fn parsed(text: &str) -> Publication {
    Publications::parse(text, Table::get()).unwrap().iter().next().unwrap().clone()
}

/// So far do intervals reach.
const REACH: sample::Reach = [1.0, 1.0];

/// Without ticks, unless a test says otherwise.
fn row(entry: &str, ns: f64) -> document::Row {
    document::Row { ticks: None, ..sample::row(entry, ns, REACH) }
}

fn loops() -> Vec<Timed> {
    vec![
        timed("syscall-x86_64", Loop::PLAIN, vec![50_000, 70_000]),
        timed("syscall-x86_64", Loop::SINGLE, vec![95, 90, 400]),
        timed("int80-i386", Loop::PLAIN, vec![180_000]),
        timed("int80-i386", Loop::SINGLE, vec![220]),
    ]
}

fn reproduced(text: &str, pti: bool, run: Option<&Document>, timed: &[Timed]) -> Reproduction {
    let parts = Parts { here: &here(pti), run, timed, lab: None, guests: None };
    Reproduction::of(&parsed(text), &parts, Table::get())
}

fn figure<'a>(reproduction: &'a Reproduction, column: &str, row: &str) -> &'a Figure {
    let mut all = reproduction.figures.iter();
    all.find(|figure| figure.column == column && figure.row == row).unwrap()
}

fn values(figure: &Figure) -> Vec<Option<f64>> {
    figure.measured.iter().map(|measured| measured.value).collect()
}

#[test]
fn each_way_stands_beside_the_published_figure_and_the_base() {
    let run = document(vec![row("syscall-x86_64", 50.0), row("int80-i386", 175.0)]);
    let found = reproduced(TABLE, false, Some(&run), &loops());
    assert_eq!(found.ways.iter().map(|way| way.name).collect::<Vec<_>>(), ["loop", "single", "kentry"]);
    let int80 = figure(&found, "PTI off", "int 80h");
    assert_eq!(values(int80), [Some(180.0), Some(220.0), Some(175.0)]);
    assert_eq!((int80.published, int80.published_to_base), (Some(300.0), Some(3.0)));
    let ratios: Vec<_> = int80.measured.iter().map(|one| (one.to_published, one.to_base)).collect();
    assert_eq!(ratios[0], (Some(0.6), Some(3.0)), "the mean of the base's loops is 60");
    assert_eq!(ratios[1], (Some(220.0 / 300.0), Some(220.0 / 90.0)));
    assert_eq!(ratios[2], (Some(175.0 / 300.0), Some(3.5)));
    assert_eq!((int80.measured[2].ci_low, int80.measured[2].ci_high), (Some(174.0), Some(176.0)));
    assert_eq!((int80.measured[0].ci_low, int80.reason.as_deref()), (None, None));
    assert_eq!(found.here.run.as_deref(), Some("0123456789abcdef"));
}

/// The row of its loop, if a turn costs so much.
fn turn(ns: f64) -> document::Row {
    let mut row = document::Row { operation: "unixbench-syscall".into(), ..row("libc", ns) };
    row.rate = document::Rate::of(&row.operation, row.ns.as_ref());
    row
}

#[test]
fn an_index_is_measured_by_a_loop_and_by_kentry_and_both_are_an_index() {
    let way = Loop { calls: 1000, repetitions: 2, take: crate::published::Take::Mean };
    // A turn of 250 ns is 4,000,000 in a second; one of 200 ns is 5,000,000.
    let took = Timed { operation: "unixbench-syscall".into(), ..timed("libc", way, vec![240_000, 260_000]) };
    let run = document(vec![turn(200.0)]);
    let found = reproduced(UNIXBENCH, false, Some(&run), std::slice::from_ref(&took));
    assert_eq!(found.ways.iter().map(|way| way.unit).collect::<Vec<_>>(), [Unit::Index; 2]);
    assert!(found.ways[0].words.starts_with("1,000 turns of the loop"), "{:?}", found.ways[0]);
    let host = figure(&found, "PTI off", "host");
    let near = |value: Option<f64>, due: f64| (value.unwrap() - due).abs() < 1e-6;
    assert!(
        near(host.measured[0].value, 4e6 / 1500.0) && near(host.measured[1].value, 5e6 / 1500.0),
        "{host:?}"
    );
    assert!(near(host.measured[0].to_published, 4e6 / 1500.0 / 689.0), "{host:?}");
    // The more the faster: the interval of the index is that of the cost, turned round.
    assert!(
        near(host.measured[1].ci_low, 1e9 / 201.0 / 1500.0)
            && near(host.measured[1].ci_high, 1e9 / 199.0 / 1500.0)
    );
    assert_eq!(values(figure(&found, "PTI on", "host")), [None; 2]);
    assert_eq!(figure(&found, "PTI off", "guest, PCID").reason.as_deref(), Some("it takes a guest"));
    // With isolation the other column is this kernel's.
    let isolated = reproduced(UNIXBENCH, true, Some(&run), &[took]);
    assert!(figure(&isolated, "PTI on", "host").measured[0].value.is_some());
    assert_eq!(values(figure(&isolated, "PTI off", "host")), [None; 2]);
}

#[test]
fn a_turn_without_a_figure_has_no_index() {
    let noisy = document::Row { ns: None, rate: None, ..turn(200.0) };
    let noise = Noise { kind: NoiseKind::Shared, low: None, high: None };
    let run = document(vec![document::Row { noise: Some(noise), ..noisy.clone() }]);
    let found = reproduced(UNIXBENCH, false, Some(&run), &[]);
    let host = figure(&found, "PTI off", "host");
    assert_eq!(values(host), [None; 2]);
    assert!(host.reason.as_ref().unwrap().contains("noisy"), "{host:?}");
    // Without nanoseconds there is no time to count turns in.
    let found = reproduced(UNIXBENCH, false, Some(&document(vec![noisy])), &[]);
    let why = figure(&found, "PTI off", "host").reason.clone().unwrap();
    assert!(why.contains("index cannot be told here"), "{why}");
}

#[test]
fn what_this_kernel_cannot_tell_has_a_reason_and_no_figure() {
    let run = document(vec![row("syscall-x86_64", 50.0), row("int80-i386", 175.0)]);
    let found = reproduced(TABLE, false, Some(&run), &loops());
    for row in ["syscall", "int 80h"] {
        let closed = figure(&found, "PTI on", row);
        assert_eq!(values(closed), [None; 3]);
        assert_eq!(closed.reason.as_deref(), Some("page-table isolation is off here"));
        assert!(closed.published_to_base.is_some(), "what was published is known all the same");
    }
    let gate = figure(&found, "PTI off", "call gate");
    assert_eq!((values(gate), gate.reason.as_deref()), (vec![None; 3], Some("Linux has none")));
    let none_published = |figure: &&Figure| figure.column == "PTI on" && figure.row == "call gate";
    assert!(!found.figures.iter().any(|figure| none_published(&figure)));
    // With isolation it is the other way round.
    let other = reproduced(TABLE, true, Some(&run), &loops());
    assert!(values(figure(&other, "PTI on", "int 80h"))[0].is_some());
    assert_eq!(values(figure(&other, "PTI off", "int 80h")), [None; 3]);
}

#[test]
fn a_row_that_is_closed_or_noisy_says_so() {
    let mut noisy = row("syscall-x86_64", 50.0);
    (noisy.ns, noisy.core_cycles) = (None, None);
    noisy.noise = Some(Noise { kind: NoiseKind::Shared, low: Some(60.0), high: Some(90.0) });
    let mut closed = document::Row::unmeasured("int80-i386", "getppid", 32);
    (closed.outcome, closed.reason) = (Outcome::Unsupported, Some("it is closed".into()));
    let run = document(vec![noisy, closed]);
    let mut timed = loops();
    timed.retain(|timed| timed.entry != "int80-i386" || timed.way == Loop::SINGLE);
    timed.last_mut().unwrap().took = Err("it is closed".into());
    let found = reproduced(TABLE, false, Some(&run), &timed);
    let syscall = figure(&found, "PTI off", "syscall");
    assert_eq!(values(syscall), [Some(60.0), Some(90.0), None], "loops know of no noise");
    assert!(syscall.reason.as_deref().unwrap().starts_with("kentry: noisy"), "{:?}", syscall.reason);
    let int80 = figure(&found, "PTI off", "int 80h");
    assert_eq!(values(int80), [None; 3]);
    assert_eq!(
        int80.reason.as_deref(),
        Some("it was not measured before the run was interrupted; it is closed")
    );
    assert!(int80.measured.iter().all(|one| one.to_base.is_none() && one.to_published.is_none()));
}

#[test]
fn a_cost_that_its_interval_drowns_is_no_figure() {
    let run = document(vec![sample::row("syscall-x86_64", 5000.0, [4000.0; 2]), row("int80-i386", 175.0)]);
    let found = reproduced(TABLE, false, Some(&run), &loops());
    let syscall = figure(&found, "PTI off", "syscall");
    assert_eq!(values(syscall)[2], None);
    assert_eq!(syscall.reason.as_deref(), Some("kentry: the interval is wider than the cost (--budget 20)"));
    assert!(figure(&found, "PTI off", "int 80h").measured[2].to_base.is_none(), "nor is there a ratio to it");
}

#[test]
fn cycles_of_an_unknown_clock_compare_with_both_and_those_of_the_core_with_the_cores() {
    let run = document(vec![row("syscall-x86_64", 50.0), row("int80-i386", 175.0)]);
    let of_unit = |unit: &str| {
        let text = TABLE.replace("unit = \"ns\"", &format!("unit = \"{unit}\""));
        let found = reproduced(&text, false, Some(&run), &loops());
        let syscall = figure(&found, "PTI off", "syscall").clone();
        let units: Vec<_> = found.ways.iter().map(|way| way.unit).collect();
        let ratios: Vec<_> = syscall.measured.iter().map(|one| one.to_published).collect();
        (units, syscall.measured[2].value, ratios)
    };
    let (units, kentry, ratios) = of_unit("cycles");
    assert_eq!(units, [Unit::Ticks, Unit::Ticks, Unit::CoreCycles]);
    assert_eq!((kentry, ratios), (Some(150.0), vec![Some(0.6), Some(0.9), Some(1.5)]));
    let (_, _, ratios) = of_unit("core-cycles");
    assert_eq!(ratios, [None, None, Some(1.5)]);
    // The rows have no figures in ticks.
    let (_, kentry, ratios) = of_unit("ticks");
    assert_eq!((kentry, ratios), (None, vec![Some(0.6), Some(0.9), None]));
}

#[test]
fn where_nothing_was_measured_the_published_figures_stand_alone() {
    let text = TABLE.replace("entry = ", "absent = ").replace("operation = \"getppid\"\n", "\n");
    let text = text.replace("lab = \"call-gate-i386\"", "");
    let found = reproduced(&text, false, None, &[]);
    assert!(found.ways.is_empty() && found.here.run.is_none());
    assert!(found.figures.iter().all(|figure| figure.measured.is_empty() && figure.reason.is_some()));
    assert_eq!(figure(&found, "PTI on", "int 80h").published_to_base, Some(2.0));
}

#[test]
fn a_disturbed_loop_is_marked() {
    let run = document(vec![row("syscall-x86_64", 50.0), row("int80-i386", 175.0)]);
    let mut timed = loops();
    timed[0].took.as_mut().unwrap().preemptions = 1;
    let found = reproduced(TABLE, false, Some(&run), &timed);
    let (disturbed, other) = (figure(&found, "PTI off", "syscall"), figure(&found, "PTI off", "int 80h"));
    assert!(disturbed.disturbed && !other.disturbed);
    let ratios = |of: &Figure| [of.measured[0].to_published, of.measured[0].to_base].map(|one| one.is_some());
    assert_eq!(ratios(disturbed), [false, false], "its ratio looked like a result");
    assert_eq!(ratios(other), [true, false], "the base row is disturbed");
}

#[test]
fn a_run_that_was_cut_short_is_called_partial() {
    let mut run = document(vec![row("syscall-x86_64", 50.0)]);
    let is_said = |run: &Document| {
        let found = reproduced(TABLE, false, Some(run), &loops());
        found.differs.iter().any(|differs| differs.starts_with("PARTIAL: "))
    };
    assert!(!is_said(&run));
    run.measurement.partial = true;
    assert!(is_said(&run));
}

#[test]
fn what_differs_is_said() {
    let found = reproduced(TABLE, false, None, &[]);
    assert_eq!(found.differs, ["the kernel", "page-table isolation (PTI) is off here"]);
    let differs = |version: &str, release: &str| {
        let named = TABLE.replace("unit = \"ns\"", &format!("unit = \"ns\"\nkernel = \"Linux {version}\""));
        let mut here = here(false);
        here.kernel.release = Some(release.into());
        let parts = Parts { here: &here, run: None, timed: &[], lab: None, guests: None };
        Reproduction::of(&parsed(&named), &parts, Table::get()).differs.contains(&"the kernel".to_string())
    };
    assert!(!differs("4.14", "4.14.0-5-amd64") && !differs("4.14", "4.14"));
    assert!(differs("4.1", "4.14.0") && differs("1.0", "6.1.0") && differs("4.14", "6.18.44"));
    let text = TABLE.replace("Example 9000", "Example 8000").replace("needs = { pti = ", "set = { smap = ");
    let text = text.replacen("set = { pti = \"on\" }\n", "\n", 1);
    let other = reproduced(&text, true, None, &[]);
    assert_eq!(
        other.differs,
        [
            "the processor",
            "the kernel",
            "page-table isolation (PTI) is on here; the source does not say of it"
        ]
    );
}

#[test]
fn the_lab_is_asked_for_each_configuration_and_its_rows_are_found_again() {
    let publication = parsed(TABLE);
    let (entries, operations, sets) = publication.wants(Kernel::Lab, Table::get());
    assert_eq!(entries, ["syscall-x86_64", "int80-i386", "call-gate-i386"]);
    assert_eq!(
        (operations, sets),
        (vec!["getppid".to_string()], vec!["pti=on".to_string(), "pti=off".into()])
    );
    let row = |entry: &str, pti: &str, count: f64| {
        let mut row = document::Row::unmeasured(entry, "getppid", 64);
        row.configuration =
            [("pti", pti), ("smap", "on")].map(|(k, v)| (k.to_string(), v.to_string())).into();
        row.timing = document::Timing::Emulated;
        row.instructions = cost(count, REACH);
        row
    };
    let mut run = document(vec![
        row("syscall-x86_64", "off", 100.0),
        row("syscall-x86_64", "on", 110.0),
        row("int80-i386", "on", 220.0),
        row("call-gate-i386", "off", 90.0),
    ]);
    let machine = document::Machine::QemuTcg;
    run.measurement.place = document::Place::new(machine, table::Kernel::Lab);
    let parts = Parts { here: &here(false), run: None, timed: &[], lab: Some(&run), guests: None };
    let lab = Reproduction::of(&publication, &parts, Table::get()).lab.unwrap();
    assert_eq!(lab.unit, GuestUnit::Instructions);
    assert_eq!(serde_json::to_value(lab.unit).unwrap(), "instructions");
    let found: Vec<_> = lab
        .figures
        .iter()
        .map(|one| (one.column.as_str(), one.row.as_str(), one.value, one.to_base))
        .collect();
    assert_eq!(
        found,
        [
            ("pti=on", "syscall", Some(110.0), Some(1.0)),
            ("pti=on", "int 80h", Some(220.0), Some(2.0)),
            ("pti=on", "call gate", None, None),
            ("", "syscall", Some(100.0), Some(1.0)),
            ("", "int 80h", None, None),
            ("", "call gate", Some(90.0), Some(0.9)),
        ]
    );
    assert_eq!(lab.figures[2].reason.as_deref(), Some("the lab did not measure it"));
}

#[test]
fn guests_are_asked_for_each_configuration_and_what_they_lack_has_a_reason() {
    let publication = parsed(UNIXBENCH);
    let (entries, operations, sets) = publication.wants(Kernel::Linux, Table::get());
    assert_eq!((entries, operations), (vec!["syscall-x86_64".into()], vec!["unixbench-syscall".into()]));
    let asked = ["pcid=off,pti=on", "pcid=off,pti=off", "pcid=on,pti=on", "pcid=on,pti=off"];
    assert_eq!(sets, asked);
    let of = |run: &Document| {
        let parts = Parts { here: &here(false), run: None, timed: &[], lab: None, guests: Some(run) };
        Reproduction::of(&publication, &parts, Table::get()).guests.unwrap()
    };
    let mut run = sample::in_guests();
    let counted = of(&run);
    assert_eq!(counted.unit, GuestUnit::Instructions);
    let values: Vec<_> =
        counted.figures.iter().map(|one| (one.column.as_str(), one.row.as_str(), one.value)).collect();
    assert_eq!(
        values,
        [
            ("pti=on", "guest, no PCID", Some(1835.0)),
            ("pti=on", "guest, PCID", None),
            ("pti=off", "guest, no PCID", Some(1795.0)),
            ("pti=off", "guest, PCID", None),
        ]
    );
    assert_eq!(counted.figures[1].reason.as_deref(), Some("the guest's processor has no pcid"));
    assert!(counted.figures.iter().all(|one| (one.ci_low, one.to_base) == (None, None)));
    // Where time is measured it is the index that was published.
    run.measurement.place = document::Place::new(document::Machine::QemuKvm, table::Kernel::Linux);
    run.results[0].instructions = None;
    run.results[0].rate = turn(200.0).rate;
    let timed = of(&run);
    assert_eq!(timed.unit, GuestUnit::Index);
    assert!((timed.figures[0].value.unwrap() - 5e6 / 15000.0 * 10.0).abs() < 1e-6, "{:?}", timed.figures[0]);
    assert_eq!(timed.figures[2].value, None, "a count is no index");
}

#[test]
fn the_shortest_of_single_calls_was_a_step_too_short_and_had_ratios() {
    let mut run = document(vec![row("syscall-x86_64", 50.0), row("int80-i386", 175.0)]);
    (run.measurement.tsc_step, run.measurement.tsc_hz) = (Some(26.0), Some(2.6e9));
    let found = reproduced(TABLE, false, Some(&run), &loops());
    let syscall = figure(&found, "PTI off", "syscall");
    let [plain, single, _] = &syscall.measured[..] else { panic!("{syscall:?}") };
    assert_eq!((plain.coarse, single.coarse, single.value), (false, true, Some(90.0)));
    assert!(plain.to_published.is_some() && single.to_published.is_none() && single.to_base.is_none());
    assert!(syscall.remark.as_ref().unwrap().contains("single: the counter advances in steps of 10 ns"));
    assert_eq!(syscall.reason, None, "it was measured");
}

/// An index that fell: costs rise as it falls.
const INDEX: &str = r#"
    [[publication]]
    name = "index"
    title = "a table"
    source = "a test"
    unit = "index"
    about = "A table."
    base = "without"
    [[publication.column]]
    name = "PCID"
    set = { pcid = "keep" }
    [[publication.column]]
    name = "no PCID"
    set = { pcid = "off" }
    [[publication.row]]
    name = "without"
    published = [400, 380]
    lab = "syscall-x86_64"
    operation = "getppid"
    set = { pti = "off" }
    absent = "only the lab can tell"
    [[publication.row]]
    name = "with"
    published = [300, 95]
    lab = "syscall-x86_64"
    operation = "getppid"
    set = { pti = "on" }
    absent = "only the lab can tell"
    [[publication.ratio]]
    name = "isolation"
    of = "with"
    to = "without"
    [[publication.ratio]]
    name = "PCID missing"
    of = "with"
    to = "with"
    column = "no PCID"
    to_column = "PCID"
    [[publication.ratio]]
    name = "isolation alone"
    of = "with"
    to = "without"
    column = "no PCID"
"#;

/// The lab's rows of [`INDEX`], in core cycles.
fn in_cycles(trapped: Vec<environment::Trapped>) -> Document {
    let row = |pti: &str, pcid: &str, cycles: f64| {
        let mut row = row("syscall-x86_64", cycles / 3.0);
        row.configuration = [("pti", pti), ("pcid", pcid)].map(|(k, v)| (k.into(), v.into())).into();
        row.core_cycles = cost(cycles, REACH);
        row
    };
    let mut closed = row("off", "off", 0.0);
    (closed.core_cycles, closed.ns) = (None, None);
    (closed.outcome, closed.reason) = (Outcome::Unsupported, Some("it is closed".into()));
    let rows = vec![row("off", "keep", 100.0), row("on", "keep", 125.0), row("on", "off", 500.0), closed];
    let mut run = document(rows);
    run.measurement.place = document::Place::new(document::Machine::QemuKvm, table::Kernel::Lab);
    run.measurement.cycles_per_tick = Some(1.5);
    let lab: environment::Lab = serde_json::from_str(r#"{ "accelerator": "kvm" }"#).unwrap();
    let ring0 = environment::Ring0 { trapped, ..environment::Ring0::default() };
    run.environment.lab = Some(environment::Lab { ring0, ..lab });
    run
}

fn changes(run: Option<&Document>) -> Vec<Compared> {
    let parts = Parts { here: &here(false), run: None, timed: &[], lab: run, guests: None };
    Reproduction::of(&parsed(INDEX), &parts, Table::get()).ratios
}

#[test]
fn a_change_of_throughput_is_the_inverse_of_that_of_costs() {
    let found = changes(Some(&in_cycles(Vec::new())));
    let published: Vec<f64> = found.iter().map(|one| one.published).collect();
    assert_eq!(published, [300.0 / 400.0 - 1.0, 95.0 / 300.0 - 1.0, 95.0 / 380.0 - 1.0]);
    assert_eq!((found[0].of.as_str(), found[1].to.as_str()), ("with (PCID)", "with (PCID)"));
    assert_eq!(found[0].here, Some(100.0 / 125.0 - 1.0));
    // Costs of 99 to 101, and of 124 to 126.
    assert_eq!((found[0].low, found[0].high), (Some(99.0 / 126.0 - 1.0), Some(101.0 / 124.0 - 1.0)));
    assert_eq!(found[1].here, Some(125.0 / 500.0 - 1.0));
    assert_eq!((found[2].here, found[2].low), (None, None));
    assert_eq!(found[2].reason.as_deref(), Some("without (no PCID): it is closed"));
}

#[test]
fn a_share_is_the_part_itself_and_counts_can_tell_it() {
    let text = INDEX.replacen("to = \"without\"\n", "to = \"without\"\n    share = true\n", 1);
    assert_ne!(text, INDEX);
    let shares = |run: &Document| {
        let parts = Parts { here: &here(false), run: None, timed: &[], lab: Some(run), guests: None };
        Reproduction::of(&parsed(&text), &parts, Table::get()).ratios
    };
    let timed = shares(&in_cycles(Vec::new()));
    assert!(timed[0].share && !timed[1].share);
    assert_eq!((timed[0].published, timed[0].here), (300.0 / 400.0, Some(125.0 / 100.0)));
    assert_eq!((timed[0].low, timed[0].high), (Some(124.0 / 101.0), Some(126.0 / 99.0)));
    let mut run = in_cycles(Vec::new());
    run.measurement.place.machine = document::Name::Known(document::Machine::QemuTcg);
    for row in &mut run.results {
        row.instructions = row.core_cycles.map(|_| cost(40.0, REACH)).unwrap_or_default();
    }
    let counted = shares(&run);
    assert_eq!((counted[0].here, counted[0].low, &counted[0].reason), (Some(1.0), None, &None));
    assert!(counted[1].here.is_none() && counted[1].reason.is_some());
}

#[test]
fn a_count_a_trap_and_no_lab_are_no_change_of_throughput() {
    let mut counted = in_cycles(Vec::new());
    counted.measurement.place.machine = document::Name::Known(document::Machine::QemuTcg);
    let trapped = in_cycles(vec![environment::Trapped::Cr3Writes]);
    let runs = [
        (Some(&counted), "a count is neither"),
        (Some(&trapped), "executes the lab's"),
        (None, "not measured"),
    ];
    for (run, why) in runs {
        for change in changes(run).iter().filter(|change| change.name != "isolation alone") {
            assert_eq!((change.here, change.low, change.high), (None, None, None), "{change:?}");
            assert!(change.reason.as_ref().is_some_and(|reason| reason.contains(why)), "{change:?}");
        }
    }
    let parts = Parts { here: &here(false), run: None, timed: &[], lab: Some(&counted), guests: None };
    let lab = Reproduction::of(&parsed(INDEX), &parts, Table::get()).lab.unwrap();
    assert!(lab.figures.iter().all(|figure| figure.to_base.is_none()), "a multiple beside an index");
}

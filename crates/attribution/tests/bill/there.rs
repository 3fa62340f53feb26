//! What of a Linux's cost is explained, and what is left.

use crate::common::{cost, counted, document, plan, processor, question, sweeps};
use attribution::bill::{
    Configuration, ExplainedKind, ExplainedPart, Plan, Processor, Question, State, There,
};
use document::{CpuUse, Document, Machine, Outcome, Place, Row};
use environment::{Cpu, Environment};
use stats::Cost;
use table::{Kernel, Table};

/// Bare, what `getppid` costs beyond the crossing, and the steps.
const CROSSING: f64 = 10.0;
const SERVICE: f64 = 18.0;
const STEPS: [(&str, f64); 3] = [("pti=on", 40.0), ("stack=frame", 25.0), ("smep=on", 0.0)];

fn of(plan: &Plan, place: usize) -> f64 {
    let configuration = &plan.configurations[place];
    let service = if configuration.operation == "none" { 0.0 } else { SERVICE };
    CROSSING + service + configuration.steps.iter().map(|step| STEPS[*step].1).sum::<f64>()
}

/// A Linux that took so much for getppid, in core cycles or instructions.
fn linux(cycles: Option<f64>, instructions: Option<f64>) -> Document {
    let mut linux = crate::common::empty(Machine::Host, Vec::new());
    linux.measurement.place = Place::new(Machine::Host, Kernel::Linux);
    linux.environment = Environment::default();
    linux.environment.kernel.release = Some("6.1.0".into());
    let cycles = cycles.map(|estimate| Cost {
        ci_low: Some(stats::Cycles(estimate - 3.0)),
        ci_high: Some(stats::Cycles(estimate + 4.0)),
        ..cost(estimate)
    });
    let row = Row::unmeasured("syscall-x86_64", "getppid", 64);
    linux.results.push(Row { core_cycles: cycles, instructions: instructions.map(cost), ..row });
    linux
}

/// A plan, and what the lab counts of it.
fn counts() -> (Plan, Document) {
    let question = question(&STEPS.map(|(name, _)| name), 0);
    let plan = Plan::new(Table::get(), question, processor(true)).unwrap();
    let rows: Vec<_> =
        plan.configurations.iter().zip(0..).map(|(one, place)| (one, of(&plan, place))).collect();
    let lab = counted(&plan.question, &rows);
    (plan, lab)
}

/// Explained by counts.
fn by_counts(linux: &Document) -> There {
    let (plan, lab) = counts();
    plan.bill(&lab, Some(linux)).there.unwrap()
}

#[test]
fn parts_make_what_is_explained_and_the_rest_is_what_is_left() {
    for (measured, rest) in [(120.0, 27.0), (93.0, 0.0), (80.0, -13.0)] {
        let there = by_counts(&linux(None, Some(measured)));
        let estimate = |figure: Option<attribution::bill::Figure>| figure.map(|figure| figure.estimate);
        assert_eq!(estimate(there.measured), Some(measured));
        assert_eq!((estimate(there.explained), estimate(there.rest)), (Some(93.0), Some(rest)));
        assert_eq!((there.rest_share, there.why), (Some(rest / measured), None));
        let parts: Vec<_> = there.parts.iter().map(|part| (part.kind, estimate(part.figure))).collect();
        let expected = [
            (ExplainedKind::Crossing, Some(CROSSING)),
            (ExplainedKind::Step, Some(40.0)),
            (ExplainedKind::Step, Some(25.0)),
            // A count cannot see it.
            (ExplainedKind::Step, None),
            (ExplainedKind::Interactions, Some(0.0)),
            (ExplainedKind::Dispatch, Some(SERVICE)),
            (ExplainedKind::Service, None),
        ];
        assert_eq!(parts, expected);
        let sum: f64 = there.parts.iter().filter_map(|part| estimate(part.figure)).sum();
        assert_eq!(sum, 93.0);
    }
}

/// A processor that both sides ran on.
fn example() -> Cpu {
    let brand = Some("Example(R) 9000 CPU @ 2.00GHz".into());
    Cpu { brand, family: Some(6), model: Some(85), stepping: Some(7), ..Cpu::default() }
}

/// A plan, and what the lab measures of it in time, in core cycles.
fn times() -> (Plan, Document) {
    let plan = plan(&STEPS.map(|(name, _)| name), 0);
    let scatter = |sweep: usize| [0.3, -0.2, 0.1, -0.4, 0.2][sweep % 5];
    let costs =
        |place: usize| (0..16).map(|sweep| Some(of(&plan, place) + scatter(sweep * place + sweep))).collect();
    let rows: Vec<_> = plan.configurations.iter().zip(0..).map(|(one, place)| (one, costs(place))).collect();
    let mut lab = document(&plan.question, &rows, &sweeps());
    lab.environment.cpu = example();
    (plan, lab)
}

/// A Linux that took so many core cycles on that processor.
fn timed_linux(cycles: f64) -> Document {
    let mut linux = linux(Some(cycles), None);
    linux.environment.cpu = example();
    linux
}

#[test]
fn times_have_the_uncertainty_of_both_sides() {
    let (plan, lab) = times();
    let bill = plan.bill(&lab, Some(&timed_linux(120.0)));
    let there = bill.there.unwrap();
    let (rest, explained) = (there.rest.unwrap(), there.explained.unwrap());
    assert!((rest.estimate - 27.0).abs() < 1.0 && (explained.estimate - 93.0).abs() < 1.0, "{rest:?}");
    let (below, above) = (rest.estimate - rest.low.unwrap(), rest.high.unwrap() - rest.estimate);
    assert!((3.0..4.0).contains(&below) && (4.0..5.0).contains(&above), "{rest:?}");
    // Where time is measured, a step that costs nothing has a figure and an interval.
    assert!(bill.lines[2].state == State::Measured && bill.lines[2].alone.unwrap().low.is_some());
}

#[test]
fn what_cannot_be_compared_says_why() {
    let why = |linux: &Document| {
        let there = by_counts(linux);
        assert_eq!((there.measured, there.rest, there.rest_share), (None, None, None));
        assert!(there.explained.is_some());
        there.why.unwrap()
    };
    assert_eq!(why(&linux(Some(300.0), None)), "time was measured there, and instructions are counted here");
    assert_eq!(why(&linux(None, None)), "syscall-x86_64 getppid has no figure in instructions there");
    let mut other = linux(None, Some(1.0));
    other.results[0].operation = "none".into();
    assert_eq!(why(&other), "syscall-x86_64 getppid was not measured there");
    let mut closed = linux(None, None);
    (closed.results[0].outcome, closed.results[0].reason) = (Outcome::Refused, Some("a filter".into()));
    assert_eq!(why(&closed), "syscall-x86_64 getppid did not work there: a filter");
    let mut lab = linux(None, Some(1.0));
    lab.measurement.place = Place::new(Machine::QemuTcg, Kernel::Lab);
    assert_eq!(why(&lab), "it is no measurement of a Linux");
}

#[test]
fn a_hypervisor_below_is_named_and_not_billed() {
    let mut guest = linux(None, Some(120.0));
    guest.environment.hypervisor.present = true;
    guest.environment.hypervisor.signature = Some("KVMKVMKVM".into());
    let there = by_counts(&guest);
    let exits = there.parts.last().unwrap();
    assert_eq!((exits.kind, exits.figure), (ExplainedKind::Exits, None));
    assert!(exits.note.as_ref().unwrap().starts_with("KVM is below this Linux"));
    guest.environment.hypervisor.signature = Some("TCGTCGTCGTCG".into());
    let emulated = by_counts(&guest);
    let note = emulated.parts.last().unwrap().note.as_ref().unwrap();
    assert!(note.starts_with("QEMU's emulation is below this Linux"), "{note}");
    assert_eq!(there.rest.unwrap().estimate, 27.0);
}

/// With rows of these configurations, in this order, each with its count.
fn in_configurations(rows: &[(&[(&str, &str)], f64)]) -> Document {
    let mut linux = linux(None, None);
    let plain = linux.results.remove(0);
    for (configuration, count) in rows {
        let configuration =
            configuration.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        linux.results.push(Row { configuration, instructions: Some(cost(*count)), ..plain.clone() });
    }
    linux
}

#[test]
fn a_row_with_a_footprint_is_not_what_the_entry_costs() {
    let (among, plain) = ([(document::FOOTPRINT, "64,512")], [(document::FOOTPRINT, "0")]);
    let measured = |rows: &[(&[(&str, &str)], f64)]| {
        let there = by_counts(&in_configurations(rows));
        there.measured.map(|figure| figure.estimate).ok_or(there.why.unwrap_or_default())
    };
    assert_eq!(measured(&[(&among, 900.0), (&plain, 120.0)]), Ok(120.0));
    assert_eq!(measured(&[(&among, 900.0), (&[], 120.0)]), Ok(120.0));
    let why = "syscall-x86_64 getppid was measured there with a footprint alone, which is in its cost";
    assert_eq!(measured(&[(&among, 900.0)]), Err(why.into()));
}

#[test]
fn of_several_kinds_of_core_the_labs_is_taken() {
    let (fast, slow) = ([("core", "performance")], [("core", "efficient")]);
    let linux = in_configurations(&[(&fast, 120.0), (&slow, 300.0)]);
    let on = |cores: &[&str]| {
        let (plan, mut lab) = counts();
        let used = |core: &&str| CpuUse { core: core.to_string(), ..CpuUse::default() };
        lab.measurement.cpus = cores.iter().map(used).collect();
        let there = plan.bill(&lab, Some(&linux)).there.unwrap();
        there.measured.map(|figure| figure.estimate).ok_or(there.why.unwrap_or_default())
    };
    assert_eq!((on(&["performance"]), on(&["efficient", "efficient"])), (Ok(120.0), Ok(300.0)));
    for cores in [vec![], vec!["uniform"], vec!["performance", "efficient"]] {
        let why = on(&cores).unwrap_err();
        assert!(why.contains("was measured on several kinds of core there"), "{cores:?}: {why}");
    }
}

#[test]
fn times_of_another_processor_explain_nothing() {
    let (plan, lab) = times();
    let there = |change: &dyn Fn(&mut Cpu)| {
        let mut linux = timed_linux(120.0);
        change(&mut linux.environment.cpu);
        plan.bill(&lab, Some(&linux)).there.unwrap()
    };
    assert!(there(&|_| ()).rest.is_some());
    // A hypervisor may hide the brand, or a document not say the stepping.
    assert!(
        there(&|cpu| cpu.brand = None).rest.is_some() && there(&|cpu| cpu.stepping = None).rest.is_some()
    );
    type Change<'a> = &'a dyn Fn(&mut Cpu);
    let others: [(Change, &str); 3] = [
        (
            &|cpu| cpu.brand = Some("Other".into()),
            "the processor there is Other (family 6, model 85, stepping 7), and here",
        ),
        (
            &|cpu| cpu.stepping = Some(6),
            "the processor there is Example(R) 9000 CPU @ 2.00GHz (family 6, model 85, stepping 6)",
        ),
        (&|cpu| *cpu = Cpu::default(), "whether the processor there is the one here is not known"),
    ];
    for (change, expected) in others {
        let there = there(change);
        assert_eq!((there.measured, there.rest, there.rest_share), (None, None, None));
        let why = there.why.unwrap();
        assert!(why.starts_with(expected), "{why}");
    }
}

#[test]
fn times_of_another_kind_of_core_explain_nothing() {
    let (plan, mut lab) = times();
    let used = |cpu, core: &str| CpuUse { cpu, core: core.into(), ..CpuUse::default() };
    lab.measurement.cpus = vec![used(1, "performance")];
    let mut linux = timed_linux(120.0);
    linux.measurement.cpus = vec![used(0, "performance"), used(9, "efficient")];
    let mut why = |cpu| {
        linux.results[0].cpu = cpu;
        plan.bill(&lab, Some(&linux)).there.unwrap().why
    };
    assert_eq!((why(Some(0)), why(None)), (None, None));
    let other = "its core was of another kind: efficient there, and performance here";
    assert_eq!(why(Some(9)).as_deref(), Some(other));
}

#[test]
fn ticks_are_compared_only_where_they_are_as_long() {
    let (plan, mut lab) = times();
    let mut linux = timed_linux(120.0);
    // Core cycles were withheld on both sides.
    lab.results.iter_mut().for_each(|row| row.core_cycles = None);
    let ticks = linux.results[0].core_cycles.take().unwrap().unitless();
    linux.results[0].ticks = Some(cost(ticks.estimate));
    let mut there = |here: Option<f64>, there: Option<f64>| {
        (lab.measurement.tsc_hz, linux.measurement.tsc_hz) = (here, there);
        plan.bill(&lab, Some(&linux)).there.unwrap()
    };
    assert_eq!(there(Some(2.0e9), Some(2.000_1e9)).measured.unwrap().estimate, 120.0);
    let refused = |there: There| (there.measured, there.rest).eq(&(None, None)).then_some(there.why.unwrap());
    let unlike = "a tick there is not one here: 2010.0 MHz there, and 2000.0 MHz here";
    assert_eq!(refused(there(Some(2.0e9), Some(2.01e9))).as_deref(), Some(unlike));
    let unknown = "whether a tick there is as long as one here is not known";
    for (here, other) in [(Some(2.0e9), None), (None, Some(2.0e9))] {
        assert_eq!(refused(there(here, other)).as_deref(), Some(unknown));
    }
    assert!(there(Some(f64::NAN), Some(2.0e9)).measured.is_none());
}

#[test]
fn counts_of_another_processor_and_kernel_are_compared_with_a_remark() {
    let (mut plan, mut lab) = counts();
    let mut linux = linux(None, Some(120.0));
    (lab.environment.cpu, linux.environment.cpu) = (example(), example());
    let remarks = |plan: &Plan, lab: &Document| {
        let there = plan.bill(lab, Some(&linux)).there.unwrap();
        assert_eq!(there.rest.unwrap().estimate, 27.0);
        there.remarks
    };
    let kernel =
        "the profile is test, and the kernel there is Linux 6.1.0: what they do differently is in the rest";
    assert_eq!(remarks(&plan, &lab), [kernel]);
    plan.question.profile.name = findings::LIKE_HERE.into();
    assert_eq!(remarks(&plan, &lab), [""; 0]);
    lab.environment.cpu.brand = Some("Other".into());
    let found = remarks(&plan, &lab);
    assert!(
        found.len() == 1 && found[0].contains("another processor") && found[0].contains("here Other"),
        "{found:?}"
    );
}

/// The parts of bare by an entry and operation: kind, and what of it is measured.
fn of_bare(entry: &str, operation: &str) -> Vec<(ExplainedKind, Option<f64>)> {
    let question = Question { entry: entry.into(), operation: operation.into(), ..question(&[], 0) };
    let plan = Plan::new(Table::get(), question, processor(true)).unwrap();
    let rows: Vec<_> =
        plan.configurations.iter().zip(0..).map(|(one, place)| (one, of(&plan, place))).collect();
    let there = plan.bill(&counted(&plan.question, &rows), Some(&linux(None, Some(120.0)))).there.unwrap();
    let is_crossing = |what: &str| what.contains("crossing");
    assert!(there.parts.iter().all(|part| is_crossing(&part.what) == (part.kind == ExplainedKind::Crossing)));
    there.parts.iter().map(|part| (part.kind, part.figure.map(|figure| figure.estimate))).collect()
}

#[test]
fn only_a_call_number_tells_the_crossing_from_the_service() {
    let called = [(ExplainedKind::Crossing, Some(CROSSING)), (ExplainedKind::Dispatch, Some(SERVICE))];
    for entry in ["syscall-x86_64", "int80-i386", "ud", "div0"] {
        assert_eq!(of_bare(entry, "getppid")[..2], called, "{entry}");
        assert_eq!(of_bare(entry, "none"), called[..1], "{entry}");
    }
    for (entry, operation) in
        [("page-fault", "minor-fault"), ("interrupt", "none"), ("vsyscall", "time"), ("rdtsc", "none")]
    {
        let cost = if operation == "none" { CROSSING } else { CROSSING + SERVICE };
        assert_eq!(of_bare(entry, operation), [(ExplainedKind::NotToldApart, Some(cost))], "{entry}");
    }
}

/// The same without the rows of an operation with these steps.
fn without(plan: &Plan, mut lab: Document, operation: &str, steps: &[usize]) -> Document {
    let is_it =
        |one: &Configuration| one.operation == operation && one.steps.iter().copied().eq(steps.to_vec());
    let place = plan.configurations.iter().position(is_it).unwrap();
    lab.results.remove(place);
    lab
}

#[test]
fn parts_add_up_where_one_of_them_was_not_measured() {
    let (plan, lab) = times();
    let explained = |lab: &Document| {
        let there = plan.bill(lab, Some(&timed_linux(120.0))).there.unwrap();
        let sum: f64 = there.parts.iter().filter_map(|part| Some(part.figure?.estimate)).sum();
        let explained = there.explained.unwrap();
        assert!((sum - explained.estimate).abs() < 1e-9 && (sum - 93.0).abs() < 1.0, "{sum}: {explained:?}");
        assert!(explained.low.unwrap() < sum && sum < explained.high.unwrap(), "{explained:?}");
        there.parts
    };
    let kinds = |parts: &[ExplainedPart]| parts.iter().map(|part| part.kind).collect::<Vec<_>>();
    let whole = [
        ExplainedKind::Crossing,
        ExplainedKind::Step,
        ExplainedKind::Step,
        ExplainedKind::Step,
        ExplainedKind::Interactions,
    ];
    assert_eq!(kinds(&explained(&lab))[..5], whole);

    let parts = explained(&without(&plan, lab.clone(), "getppid", &[0]));
    let (step, open) = (&parts[1], &parts[4]);
    assert_eq!((step.what.as_str(), step.figure), ("pti=on", None));
    assert_eq!(step.note.as_deref(), Some("it was not measured"));
    assert_eq!((open.kind, open.what.as_str()), (ExplainedKind::NotToldApart, "steps (not told apart)"));
    assert!(open.note.as_ref().unwrap().starts_with("what pti=on adds, which cannot be told apart"));
    assert!((open.figure.unwrap().estimate - 40.0).abs() < 1.0, "{open:?}");

    let parts = explained(&without(&plan, lab, "none", &[]));
    assert_eq!(parts[0].kind, ExplainedKind::NotToldApart);
    assert_eq!(parts[0].note.as_deref(), Some("it was not measured"));
    assert!(!kinds(&parts).contains(&ExplainedKind::Dispatch));
}

#[test]
fn where_the_whole_was_not_measured_nothing_is_explained_and_why() {
    let (plan, lab) = times();
    let there = plan.bill(&without(&plan, lab, "getppid", &[0, 1, 2]), Some(&timed_linux(120.0))).there;
    let there = there.unwrap();
    assert_eq!((there.explained, there.rest), (None, None));
    let open = there.parts.iter().find(|part| part.kind == ExplainedKind::NotToldApart).unwrap();
    assert_eq!(open.note.as_deref(), Some("the whole has no figure: it was not measured"));
}

#[test]
fn a_step_without_effect_and_figure_says_so() {
    let question = question(&["verw=on"], 0);
    let machine = Processor { features: Vec::new(), counts: true, forgives: true };
    let plan = Plan::new(Table::get(), question, machine).unwrap();
    let rows: Vec<_> = plan.configurations.iter().map(|one| (one, CROSSING)).collect();
    let bill = plan.bill(&counted(&plan.question, &rows), Some(&linux(None, Some(120.0))));
    assert!(matches!(bill.lines[0].state, State::WithoutEffect(_)) && bill.lines[0].alone.is_none());
    let there = bill.there.unwrap();
    let step = there.parts.iter().find(|part| part.kind == ExplainedKind::Step).unwrap();
    assert!(step.note.as_ref().unwrap().contains("without effect: the lab's CPU has no MDCLEAR"), "{step:?}");
}

//! What the doctor says of the clocks of recorded machines: this one (a virtual machine with a steady counter), and guests of
//! `kentry linux --set clocksource=…` whose clocksource only the kernel reads. And of what becomes of such records when somebody, or
//! something, has changed them.

#![allow(clippy::unwrap_used, reason = "a test")]

use document::{Checkup, Confidence, Diagnosis, Document, Level, Outcome, Path, Row};
use examine::Apart;
use findings::doctor::diagnoses;
use serde_json::Value;
use table::Table;

const HEALTHY: &str = include_str!("checkups/healthy.json");

const LOST: [(&str, &str); 2] =
    [("acpi_pm", include_str!("checkups/acpi_pm.json")), ("hpet", include_str!("checkups/hpet.json"))];

const CHECKS: [&str; 2] = ["clocks", "clock-health"];

fn found(checkup: &Checkup) -> Vec<Diagnosis> {
    let all = diagnoses(checkup, Table::get());
    all.into_iter().filter(|diagnosis| CHECKS.contains(&diagnosis.check.as_str())).collect()
}

fn warnings(checkup: &Checkup) -> Vec<Diagnosis> {
    found(checkup).into_iter().filter(|diagnosis| diagnosis.finding.level >= Level::Warning).collect()
}

#[test]
fn a_healthy_machine_is_ok_in_both_checks() {
    let checkup: Checkup = serde_json::from_str(HEALTHY).unwrap();
    assert!(
        !is_lost(&checkup.run) && !are_apart(&checkup.clock_health.as_ref().unwrap().apart),
        "the rule says so, too"
    );
    let levels: Vec<(String, Level)> =
        found(&checkup).into_iter().map(|each| (each.finding.id, each.finding.level)).collect();
    let ok = |id: &str| (id.to_owned(), Level::Ok);
    assert_eq!(levels, [ok("clock-served"), ok("clock-steady"), ok("clock-apart")]);
}

#[test]
fn guests_whose_clocksource_only_the_kernel_reads_are_warned_with_that_cause() {
    for (source, text) in LOST {
        let checkup: Checkup = serde_json::from_str(text).unwrap();
        let [Diagnosis { finding, .. }] = warnings(&checkup).try_into().unwrap();
        assert_eq!((finding.id.as_str(), finding.confidence), ("clock-served", Confidence::Inferred));
        let cause = finding.cause.unwrap();
        assert!(
            cause.starts_with(&format!("The clocksource is {source}, which user space cannot read here")),
            "{cause}"
        );
        assert!(cause.ends_with(&format!("The kernel was booted with clocksource={source}.")), "{cause}");
        let remedy = finding.remedy.unwrap();
        assert!(remedy.starts_with("As root: echo tsc > "), "{remedy}");
        assert!(remedy.ends_with(&format!("boot without clocksource={source}.")), "{remedy}");
        assert_eq!(finding.costs, None, "an emulator counts instructions, and times nothing");
        assert!(finding.figures.is_empty());
    }
}

/// A generator of numbers that is the same everywhere (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }
}

const TEXTS: [&str; 14] = [
    "",
    "tsc",
    "hpet",
    "kvm-clock",
    "xen",
    "jiffies",
    "kernel",
    "user",
    "ok",
    "refused",
    "monotonic",
    "clocksource=hpet notsc",
    "clock\u{1b}[31m\n;",
    "核",
];

const NUMBERS: [&str; 9] = ["0", "-1", "1", "0.5", "-0.0", "1e-300", "1e300", "18446744073709551615", "255"];

fn leaves(value: &Value) -> usize {
    match value {
        Value::Array(all) => all.iter().map(leaves).sum(),
        Value::Object(all) => all.values().map(leaves).sum(),
        _ => 1,
    }
}

/// Changes the leaf of that number; tells what is left to count.
fn change(value: &mut Value, at: &mut usize, random: &mut Random) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|one| change(one, at, random)),
        Value::Object(all) => all.values_mut().for_each(|one| change(one, at, random)),
        leaf => {
            if *at == 0 {
                *leaf = another(leaf, random);
            }
            *at = at.wrapping_sub(1);
        }
    }
}

fn another(leaf: &Value, random: &mut Random) -> Value {
    let is_whole = leaf.is_u64();
    match (leaf, random.below(8)) {
        (_, 0) => Value::Null,
        (Value::Bool(is), _) => Value::Bool(!is),
        (Value::String(_), _) => TEXTS[random.below(TEXTS.len())].into(),
        (Value::Number(_), _) if is_whole => random.below(300).into(),
        (Value::Number(_), _) => serde_json::from_str(NUMBERS[random.below(NUMBERS.len())]).unwrap(),
        (other, _) => other.clone(),
    }
}

/// Each record so changed, in one to six places, that it still loads; and how many were tried.
fn mutated(text: &str, of: fn(&mut Value) -> Vec<&mut Value>, each: impl Fn(u64, &Checkup)) {
    let record: Value = serde_json::from_str(text).unwrap();
    let (mut loaded, mut seed) = (0, 0);
    while loaded < 2000 {
        seed += 1;
        assert!(seed < 20_000, "most of what is changed does not load");
        let mut random = Random(seed);
        let mut value = record.clone();
        for _ in 0..=random.below(6) {
            let mut parts = of(&mut value);
            let count = parts.len();
            let part = &mut parts[random.below(count)];
            let mut at = random.below(leaves(part));
            change(part, &mut at, &mut random);
        }
        if let Ok(checkup) = serde_json::from_value::<Checkup>(value) {
            loaded += 1;
            each(seed, &checkup);
        }
    }
}

/// The rule: names, facts and what the log says explain a warning, and never make one. Only what was measured does.
#[test]
fn nothing_that_a_machine_says_of_itself_makes_a_warning() {
    fn facts(value: &mut Value) -> Vec<&mut Value> {
        let Value::Object(checkup) = value else { panic!("it is an object") };
        let mut parts = Vec::new();
        for (name, part) in checkup.iter_mut() {
            match name.as_str() {
                "run" => parts.push(&mut part["environment"]),
                "clock_health" => {
                    let health = part.as_object_mut().unwrap();
                    let said = ["log", "cpus", "not_looked", "rate", "seconds", "left_out"];
                    parts.extend(
                        health
                            .iter_mut()
                            .filter(|(name, part)| said.contains(&name.as_str()) && leaves(part) > 0)
                            .map(|(_, part)| part),
                    );
                }
                _ => (),
            }
        }
        parts
    }
    mutated(HEALTHY, facts, |seed, checkup| {
        let warnings = warnings(checkup);
        assert!(warnings.is_empty(), "{seed}: {warnings:#?} {:?}", checkup.run.environment);
    });
}

/// Whatever is changed: no panic, sentences, and no warning but of a measurement that says so.
#[test]
fn a_warning_rests_on_what_was_measured_whatever_is_changed() {
    fn all(value: &mut Value) -> Vec<&mut Value> {
        vec![value]
    }
    for text in [HEALTHY, LOST[0].1, LOST[1].1] {
        mutated(text, all, |seed, checkup| {
            for Diagnosis { finding, .. } in found(checkup) {
                assert!(finding.verdict.ends_with('.'), "{seed}: {finding:?}");
                assert!(finding.figures.iter().all(|figure| figure.value.is_finite()), "{seed}: {finding:?}");
                if finding.level >= Level::Warning {
                    assert!(is_justified(&finding.id, checkup), "{seed}: {finding:#?}");
                }
            }
        });
    }
}

fn is_justified(id: &str, checkup: &Checkup) -> bool {
    let health = checkup.clock_health.as_ref();
    match id {
        "clock-served" => is_lost(&checkup.run),
        "clock-steady" => health
            .unwrap()
            .steadiness
            .iter()
            .any(|each| [each.backward, each.stalls, each.jumps].iter().any(|steps| steps.count > 0)),
        "clock-apart" => are_apart(&health.unwrap().apart),
        _ => false,
    }
}

fn is_lost(run: &Document) -> bool {
    let is_by_nature = |row: &Row| row.operation.ends_with("cputime");
    let of =
        |entry: &'static str| run.results.iter().filter(move |row| row.entry == entry && !is_by_nature(row));
    let enters = |row: &Row| row.outcome == Outcome::Ok && row.path == Some(Path::Kernel);
    let is_closed =
        of("vdso-x86_64").all(|row| row.outcome == Outcome::Unsupported || !row.operation.contains("time"));
    let mean =
        |row: &Row| row.core_cycles.map(|cost| cost.estimate.0).or(row.ticks.map(|cost| cost.estimate.0));
    let dearest = of("vdso-x86_64").filter_map(mean).fold(0.0, f64::max);
    let cheapest = of("syscall-x86_64").filter_map(mean).fold(f64::INFINITY, f64::min);
    of("vdso-x86_64").chain(of("libc")).any(enters) || is_closed || dearest > cheapest
}

fn are_apart(apart: &[Apart]) -> bool {
    let is_off =
        |first: &Apart, last: &Apart| first.ends().0 > last.ends().1 || last.ends().0 > first.ends().1;
    apart.iter().any(|each| each.warp_ns > 0.0)
        || apart.iter().any(|first| apart.iter().any(|last| is_off(first, last)))
}

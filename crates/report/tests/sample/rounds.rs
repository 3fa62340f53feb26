//! Documents whose charts have something to show.

use document::{Document, Outcome, Row, Timing};
use stats::{Distribution, Excluded, Lines, Mode, StoredDistribution};
use std::sync::LazyLock;

/// Rounds of a row.
const ROUNDS: usize = 48;

/// Samples that gather at one cost, and at two.
static ONE: LazyLock<StoredDistribution> = LazyLock::new(|| samples(&[(300.0, 4000)]));
static TWO: LazyLock<StoredDistribution> = LazyLock::new(|| samples(&[(300.0, 3000), (520.0, 1000)]));

fn samples(modes: &[(f64, u32)]) -> StoredDistribution {
    let mut distribution = Distribution::default();
    for (centre, count) in modes {
        // A triangle around each.
        (0..*count).for_each(|index| distribution.record(centre + f64::from(index % 12 + index % 17) - 14.0));
    }
    distribution.store()
}

/// Gives every row that was timed rounds over two seconds, some of them shared or preempted, and samples; every tenth has two
/// modes.
pub fn with_rounds(mut document: Document) -> Document {
    let clock = document.measurement.cycles_per_tick.unwrap_or(1.0);
    let rows = document.results.iter_mut();
    let timed = rows.filter(|row| row.outcome == Outcome::Ok && row.timing == Timing::Hardware);
    for (number, row) in timed.enumerate() {
        let ticks = row.ticks.map_or(200.0, |cost| cost.estimate.0);
        row.rounds = rounds(number, ticks, clock);
        row.distribution_cycles = Some(if number % 10 == 3 { TWO.clone() } else { ONE.clone() });
        if number % 10 == 3 && row.core_cycles.is_some() {
            row.modes = vec![Mode { share: 0.75, cost: 300.0 }, Mode { share: 0.25, cost: 520.0 }];
        }
    }
    document
}

fn rounds(number: usize, ticks: f64, clock: f64) -> Lines {
    let index = 0..ROUNDS;
    let state = |index: usize| match (index + number) % 16 {
        7 | 8 => Some(Excluded::Shared),
        12 => Some(Excluded::Preempted),
        _ => None,
    };
    let factor = |index: usize| match state(index) {
        Some(Excluded::Shared) => 1.3,
        Some(_) => 40.0,
        None => 1.0 + ((index * 7 + number) % 5) as f64 / 500.0,
    };
    Lines {
        at_ms: index.clone().map(|at| (at * 40 + number % 40) as f64).collect(),
        cpu: index.clone().map(|index| usize::from(index > 3)).collect(),
        cost: index.clone().map(|at| ticks * factor(at)).collect(),
        control: vec![20.0; ROUNDS],
        cycles_per_tick: index.clone().map(|at| clock * (1.0 + (at % 9) as f64 / 1000.0)).collect(),
        canary: index.clone().map(|at| if state(at).is_some() { 2.1 } else { 3.97 }).collect(),
        least: vec![ticks - 2.0; ROUNDS],
        greatest: vec![ticks + 900.0; ROUNDS],
        throughput: vec![Some(ticks * 0.8); ROUNDS],
        kept: vec![64; ROUNDS],
        lost: vec![0; ROUNDS],
        excluded: index.map(state).collect(),
    }
}

/// The same run some time later: the rows of one entry have become dearer, others have changed a little.
pub fn later(mut document: Document) -> Document {
    document.id = Some("ffeeddccbbaa99887766554433221100".to_owned());
    document.measurement.started = "2026-11-22T08:00:00Z".to_owned();
    document.environment.kernel.release = Some("6.19.0-cloud-amd64".to_owned());
    for (number, row) in document.results.iter_mut().enumerate() {
        scale(
            row,
            match (row.entry.as_str(), row.operation.as_str()) {
                // Such rows vary from run to run by as much.
                ("int80-i386", _) => 1.12,
                // Such rows do not.
                ("syscall-x86_64", "getppid") => 5.0,
                _ => 0.99 + (number % 5) as f64 / 200.0,
            },
        );
    }
    document
}

fn scale(row: &mut Row, factor: f64) {
    let Some(cost) = &mut row.core_cycles else { return };
    cost.estimate.0 *= factor;
    cost.ci_low = cost.ci_low.map(|low| stats::Cycles(low.0 * factor));
    cost.ci_high = cost.ci_high.map(|high| stats::Cycles(high.0 * factor));
}

/// Whatever a document may contain that a page must not.
pub const HOSTILE: &str = "</script><img src=x onerror=\"window.injected=1\"><svg onload='window.injected=2'>&lt;b&gt;{{7*7}}\
                           \u{1b}[2J\u{0}\u{202e}\u{2066}\u{200b}\u{2028}]]>--><!--'\"`\\";

/// A document in which every text that is free is this one.
pub fn filled(text: &str) -> Document {
    let mut document = with_rounds(super::odd());
    let free = || Some(text.to_owned());
    let environment = serde_json::to_value(&document.environment).unwrap();
    document.environment = serde_json::from_value(filled_value(environment, text)).unwrap();
    document.id = free();
    document.measurement.kentry = text.to_owned();
    document.measurement.started = text.to_owned();
    document.measurement.compiler = free();
    document.measurement.cpus.iter_mut().for_each(|cpu| cpu.core = text.to_owned());
    for export in document.vdso.values_mut().flatten() {
        (export.name, export.version) = (text.to_owned(), text.to_owned());
    }
    for finding in &mut document.findings {
        (finding.id, finding.verdict) = (text.to_owned(), text.to_owned());
        (finding.evidence, finding.cause) = (free(), free());
        (finding.remedy, finding.next) = (free(), free());
    }
    for (number, row) in document.results.iter_mut().enumerate() {
        if number % 2 == 0 {
            (row.entry_id, row.operation_id) = (None, None);
            (row.entry, row.operation) = (format!("{text}{number}"), text.to_owned());
        }
        row.configuration = [(text.to_owned(), format!("{text}{number}"))].into();
        row.reason = row.reason.as_ref().map(|_| text.to_owned());
        row.remarks = vec![text.to_owned()];
        row.throughput_withheld = free();
    }
    document
}

fn filled_value(value: serde_json::Value, text: &str) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::String(_) => Value::String(text.to_owned()),
        Value::Array(items) => items.into_iter().map(|item| filled_value(item, text)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| (key, filled_value(value, text))).collect()
        }
        other => other,
    }
}

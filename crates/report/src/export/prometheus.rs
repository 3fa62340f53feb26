//! A run as metrics. What the machine is stands in one metric's labels alone, so that a new kernel makes no new series of every other.
//! Noisy rows have no sample of their cost: 0 would be a lie, and an old value another.

use crate::Selection;
use crate::metrics::{Metrics, labels};
use document::{Level, Outcome};
use std::time::UNIX_EPOCH;
use summary::{Row, Run, Summary};
use table::special::{FIRST_SCREEN, RowName};

const COST_SECONDS: &str = "What one use of the entry costs.";
const COST_CYCLES: &str =
    "What one use of the entry costs, in core cycles, which do not depend on the core's frequency.";
const HALF_WIDTH: &str = "Half of the 95 % confidence interval of the cost in core cycles.";
const OPEN: &str = "Whether the entry works here.";

const NANO: f64 = 1e-9;

pub(super) fn render(summary: &Summary, selection: Selection) -> Vec<u8> {
    let mut metrics = Metrics::default();
    of_run(&mut metrics, &summary.run);
    let shown = summary.rows.iter().filter(|row| selection == Selection::All || is_on_first_screen(row));
    shown.for_each(|row| of_row(&mut metrics, row));
    metrics.written()
}

/// Of rows that are there in several configurations, none is the one of a screen.
fn is_on_first_screen(row: &Row) -> bool {
    let is_named = |name: RowName| name.is(&row.entry, &row.operation);
    row.configuration.is_none() && FIRST_SCREEN.into_iter().any(is_named)
}

fn of_run(metrics: &mut Metrics, run: &Run) {
    metrics.add("kentry_machine_info", "What was measured, and by which kentry.", machine(run), 1.0);
    if let Some(ratio) = run.quiet_ratio {
        let help = "Share of the run's checks that found the core alone, 0 to 1.";
        metrics.add("kentry_run_quiet_ratio", help, String::new(), ratio);
    }
    let help = "How long the run took.";
    metrics.add("kentry_run_duration_seconds", help, String::new(), run.duration_seconds);
    if let Some(seconds) = since_1970(&run.started) {
        metrics.add(
            "kentry_last_run_timestamp_seconds",
            "When the run began, since 1970.",
            String::new(),
            seconds,
        );
    }
    for (id, level) in run.findings.iter().filter(|(_, level)| **level != Level::Ok) {
        let labels = labels([("id", id.as_str()), ("level", level.name())]);
        metrics.add(
            "kentry_finding",
            "Findings that are worth a look; kentry explain ID tells more.",
            labels,
            1.0,
        );
    }
}

fn machine(run: &Run) -> String {
    let cohort = &run.cohort;
    let number = |number: Option<u32>| number.map_or_else(String::new, |number| number.to_string());
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let model = [cohort.cpu_family, cohort.cpu_model, cohort.cpu_stepping].map(number).join(".");
    let smt = cohort.smt.map_or("", |is_on| if is_on { "on" } else { "off" });
    labels([
        ("machine_id", text(&cohort.machine_id).as_str()),
        ("cpu", text(&run.cpu_brand).as_str()),
        ("cpu_vendor", text(&cohort.cpu_vendor).as_str()),
        ("cpu_model", &model),
        ("microcode", text(&cohort.microcode).as_str()),
        ("hypervisor", text(&cohort.hypervisor).as_str()),
        ("smt", smt),
        ("kernel", text(&cohort.kernel_release).as_str()),
        ("clocksource", text(&cohort.clocksource).as_str()),
        ("mitigations", text(&cohort.mitigations_sha256).as_str()),
        ("version", &run.kentry),
    ])
}

fn of_row(metrics: &mut Metrics, row: &Row) {
    let configuration = row.configuration.as_deref().map(|value| ("configuration", value));
    let named = [("entry", row.entry.as_str()), ("operation", row.operation.as_str())];
    let labels = labels(named.into_iter().chain(configuration));
    let is_open = if row.outcome == Outcome::Ok { 1.0 } else { 0.0 };
    metrics.add("kentry_entry_open", OPEN, labels.clone(), is_open);
    let ends = row.core_cycles_ci_low.zip(row.core_cycles_ci_high);
    // As summaries have figures: to a thousandth.
    let half_width = ends.map(|(low, high)| ((high - low) * 500.0).round() / 1000.0);
    let of_cost = [
        ("kentry_entry_cost_seconds", COST_SECONDS, row.nanoseconds.map(|cost| cost * NANO)),
        ("kentry_entry_cost_cycles", COST_CYCLES, row.core_cycles),
        ("kentry_entry_cost_ci_half_width_cycles", HALF_WIDTH, half_width),
    ];
    for (name, help, value) in of_cost {
        if let Some(value) = value {
            metrics.add(name, help, labels.clone(), value);
        }
    }
}

/// None for a time that is none, and before 1970.
fn since_1970(time: &str) -> Option<f64> {
    let time = humantime::parse_rfc3339_weak(time).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs_f64())
}

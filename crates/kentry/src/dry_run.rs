//! What would be measured (`--dry-run`), for a reader: text, or JSON.

use crate::error::Error;
use measure::guest::GuestPlan;
use measure::lab::LabPlan;
use measure::{Counter, CpuChoice, HostPlan, TableRow};
use record::Footprint;
use report::{Format, Kind};
use std::fmt::Write;

/// What a plan is written as, of which only one is made.
fn written(
    format: Format,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> String,
) -> Result<Vec<u8>, Error> {
    match format {
        Format::Text => Ok(text().into_bytes()),
        Format::Json => Ok(json().into_bytes()),
        _ => Err(report::Error::Format { kind: Kind::PLAN, format }.into()),
    }
}

/// The plan of a measurement of this Linux.
///
/// # Errors
/// [`Error::Report`] for the formats that no plan is written in.
pub fn plan(plan: &HostPlan, format: Format) -> Result<Vec<u8>, Error> {
    written(format, || text(plan), || json(plan))
}

/// The plan of a measurement in the lab.
///
/// # Errors
/// [`Error::Report`] for the formats that no plan is written in.
pub fn lab_plan(plan: &LabPlan, counter: Counter, format: Format) -> Result<Vec<u8>, Error> {
    let boots = plan.boots(counter);
    written(format, || lab_text(plan, counter, boots), || lab_json(plan, counter, boots))
}

fn lab_text(plan: &LabPlan, counter: Counter, boots: u64) -> String {
    let work = plan.work(counter, 0);
    let runs: usize = (0..boots).map(|boot| plan.work(counter, boot).numbered.len()).sum();
    let configurations = match plan.configurations.all.len() {
        1 => "one configuration".to_string(),
        many => format!("{many} configurations"),
    };
    let (number, which) =
        if boots == 1 { ("one boot".to_string(), "") } else { (format!("{boots} boots"), " for the first") };
    let head = format!(
        "{}, {configurations}, {runs} runs of a probe in {number}, seed {}, at most {} s; the kernel's plan{which}:\n",
        rows(plan.jobs.len()),
        plan.seed,
        plan.time.as_secs_f64(),
    );
    format!("{head}\n{}", work.plan.render())
}

fn lab_json(plan: &LabPlan, counter: Counter, boots: u64) -> String {
    let rows = plan.jobs.iter().map(|job| {
        let mut row = row_in_json(&job.row);
        row["configuration"] = serde_json::json!(job.configuration.all_values());
        row
    });
    let plan = serde_json::json!({
        "schema": "kentry.lab-plan/1",
        "seed": plan.seed,
        "boots": boots,
        "timeout_seconds": plan.time.as_secs_f64(),
        "rows": rows.collect::<Vec<_>>(),
        "plan": plan.work(counter, 0).plan.render(),
    });
    format!("{plan:#}\n")
}

/// The plan of a measurement of a Linux in guests; `usual` is the processor where the command line names none.
///
/// # Errors
/// [`Error::Report`] for the formats that no plan is written in.
pub fn linux_plan(plan: &GuestPlan, usual: &str, counter: Counter, format: Format) -> Result<Vec<u8>, Error> {
    written(format, || linux_text(plan, usual, counter), || linux_json(plan, usual, counter))
}

fn linux_text(plan: &GuestPlan, usual: &str, counter: Counter) -> String {
    let configurations = match plan.configurations.len() {
        1 => "one configuration".to_string(),
        many => format!("{many} configurations"),
    };
    let boots = if plan.boots == 1 { "one boot".to_string() } else { format!("{} boots", plan.boots) };
    let mut text = format!(
        "{} in {configurations}, {boots} of each, seed {}, at most {} s a boot, {} MiB\n",
        rows(plan.rows.len()),
        plan.seed,
        plan.time.as_secs_f64(),
        plan.memory_mib,
    );
    for configuration in &plan.configurations {
        let request = plan.request(configuration, 0, usual, counter);
        let kernel = report::plain(plan.kernels.get(request.kernel).map_or("", String::as_str));
        let board = request.board.map(|board| format!("\n  board       {board}")).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ =
            write!(text, "\nkernel        {kernel}\n  processor   {}{board}\n", report::plain(&request.cpu));
        let _ = writeln!(text, "  parameters  {}", dash(&report::plain(&request.parameters)));
        if let Some(filter) = request.filter {
            let _ = writeln!(text, "  seccomp     a filter that {}, and allows all", filter.what());
        }
    }
    text.push('\n');
    for (entry, operation) in &plan.rows {
        let _ = writeln!(text, "{:10}  {:20}  {}", entry.probe.name(), entry.name, operation.name);
    }
    text
}

/// `1 row`, `12 rows`
fn rows(count: usize) -> String {
    if count == 1 { "1 row".to_string() } else { format!("{count} rows") }
}

fn dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

fn linux_json(plan: &GuestPlan, usual: &str, counter: Counter) -> String {
    let configuration = |configuration: &measure::guest::Configuration| {
        let request = plan.request(configuration, 0, usual, counter);
        let kernel = plan.kernels.get(request.kernel);
        serde_json::json!({
            "settings": configuration.named(&plan.label, kernel.map_or("", String::as_str)),
            "kernel": kernel,
            "cpu": request.cpu,
            "board": request.board,
            "parameters": request.parameters,
            "filter": request.filter,
        })
    };
    let plan = serde_json::json!({
        "schema": "kentry.linux-plan/1",
        "seed": plan.seed,
        "boots": plan.boots,
        "timeout_seconds": plan.time.as_secs_f64(),
        "memory_mib": plan.memory_mib,
        "rings": plan.follows,
        "configurations": plan.configurations.iter().map(configuration).collect::<Vec<_>>(),
        "rows": plan.rows.iter().map(row_in_json).collect::<Vec<_>>(),
    });
    format!("{plan:#}\n")
}

fn cpus(choice: CpuChoice) -> String {
    match choice {
        CpuChoice::Quiet => "on whichever CPU is quiet".into(),
        CpuChoice::Only(cpu) => format!("on CPU {cpu}"),
        CpuChoice::EveryKind => "on each kind of core".into(),
    }
}

fn text(plan: &HostPlan) -> String {
    let more = if plan.strict_budget {
        String::new()
    } else {
        format!(" (up to {} s for rows that lack quiet rounds)", plan.longest().as_secs_f64())
    };
    let mut text = format!(
        "{} for {} s{more} {}, seed {}, {} priority\n\
         a round on a quiet CPU: at most {} blocks of {} samples, {} bursts, {} ticks\n\n",
        rows(plan.measured()),
        plan.budget.as_secs_f64(),
        cpus(plan.cpus),
        plan.seed,
        if plan.realtime { "real-time" } else { "normal" },
        HostPlan::BLOCKS,
        HostPlan::SAMPLES,
        HostPlan::BURSTS,
        HostPlan::TICKS,
    );
    if !plan.footprints.is_empty() {
        let each: Vec<String> = plan.footprints.iter().map(Footprint::to_string).collect();
        let _ = writeln!(text, "each with every footprint of these: {}\n", each.join(" "));
    }
    for (entry, operation) in &plan.rows {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:10}  {:20}  {}", entry.probe.name(), entry.name, operation.name);
    }
    text
}

fn json(plan: &HostPlan) -> String {
    let cpu = match plan.cpus {
        CpuChoice::Quiet => serde_json::json!("quiet"),
        CpuChoice::Only(cpu) => serde_json::json!(cpu),
        CpuChoice::EveryKind => serde_json::json!("all"),
    };
    let plan = serde_json::json!({
        "schema": "kentry.plan/2",
        "cpu": cpu,
        "budget_seconds": plan.budget.as_secs_f64(),
        "longest_seconds": plan.longest().as_secs_f64(),
        "seed": plan.seed,
        "realtime": plan.realtime,
        "footprints": plan.footprints.iter().map(Footprint::to_string).collect::<Vec<_>>(),
        "rows": plan.rows.iter().map(row_in_json).collect::<Vec<_>>(),
    });
    format!("{plan:#}\n")
}

fn row_in_json((entry, operation): &TableRow) -> serde_json::Value {
    serde_json::json!({"probe": entry.probe.name(), "entry": entry.name, "operation": operation.name})
}

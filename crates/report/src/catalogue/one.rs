//! The page of one run: all that its summary says.

use super::cell::{count, error, instead, optional};
use super::facts;
use super::machine::Machine;
use super::measure::Measure;
use super::path;
use crate::Error;
use crate::figure::{ABSENT, number};
use crate::frame::{COMMON, Frame, STYLE};
use crate::plain::plain;
use askama::Template;
use document::Path;
use summary::{FACTS, Row, Run};

/// What the template is filled with.
#[derive(Template)]
#[template(path = "catalogue/run.html")]
struct Page {
    frame: Frame,
    /// The catalogue's title.
    of: String,
    /// The summary, from the folder of the page.
    data: String,
    is_partial: bool,
    facts: Vec<(String, String)>,
    mitigations: Vec<(String, String)>,
    findings: Vec<(&'static str, String)>,
    tables: Vec<Figures>,
}

/// The rows of one kind.
struct Figures {
    measure: Measure,
    has_configurations: bool,
    rows: Vec<Shown>,
}

/// A row.
struct Shown {
    /// Its place in the run.
    number: usize,
    entry: String,
    operation: String,
    bits: u8,
    configuration: String,
    /// Where it is served.
    served: &'static str,
    /// A word and a reason, where there is no figure.
    instead: Option<(String, String)>,
    /// The first is what a reader looks for: cycles, nanoseconds, rounds; or instructions.
    cells: Vec<(String, String)>,
}

/// The page of a run.
pub(super) fn page(machine: &Machine, title: &str) -> Result<Vec<u8>, Error> {
    let run = &machine.summary.run;
    let tables = Measure::ALL.map(|measure| figures(machine, measure));
    let page = Page {
        frame: Frame::new(own_title(run), &[STYLE], &[COMMON]),
        of: title.to_owned(),
        data: format!("../{}", path::of_data(&machine.slug)),
        is_partial: run.partial,
        facts: facts(run),
        mitigations: run.mitigations.iter().map(|(name, value)| (plain(name), plain(value))).collect(),
        findings: run.findings.iter().map(|(id, level)| (level.name(), plain(id))).collect(),
        tables: tables.into_iter().filter(|table| !table.rows.is_empty()).collect(),
    };
    let mut text = page.render()?;
    text.push('\n');
    Ok(text.into_bytes())
}

fn own_title(run: &Run) -> String {
    let kernel = match (run.kernel.as_str(), run.cohort.kernel_release.as_deref()) {
        ("linux", Some(release)) => format!("Linux {}", plain(release)),
        (kernel, _) => plain(kernel),
    };
    format!("{kernel} on {}", facts::machine(run))
}

/// How the run was made, and each fact that can be a reason for its figures.
fn facts(run: &Run) -> Vec<(String, String)> {
    let own = [
        ("run", plain(&run.run_id)),
        (
            "measured",
            format!(
                "{}, {:.1} s, by kentry {}",
                plain(&run.started),
                run.duration_seconds,
                plain(&run.kentry)
            ),
        ),
        ("place", format!("{}, kernel: {}", plain(&run.machine), plain(&run.kernel))),
        (
            "quiet",
            run.quiet_ratio.map_or_else(
                || ABSENT.to_owned(),
                |part| format!("{:.1} % of the canaries found the core alone", 100.0 * part),
            ),
        ),
        ("core", hertz(run.core_hertz)),
        ("time stamp counter", hertz(run.tsc_hertz)),
        ("processor's name", run.cpu_brand.as_deref().map_or_else(|| ABSENT.to_owned(), plain)),
    ];
    let known = FACTS.iter().filter(|fact| fact.id != "kentry").map(|fact| {
        let value = (fact.value)(run).map_or_else(|| ABSENT.to_owned(), |value| plain(&value));
        (fact.what.to_owned(), value)
    });
    own.into_iter().map(|(what, value)| (what.to_owned(), value)).chain(known).collect()
}

fn hertz(hertz: Option<f64>) -> String {
    optional(hertz, |hertz| format!("{:.3} GHz", hertz / 1e9))
}

fn figures(machine: &Machine, measure: Measure) -> Figures {
    let all = machine.summary.rows.iter().enumerate();
    let rows: Vec<(usize, &Row)> = all.filter(|(_, row)| measure.is_of(row)).collect();
    Figures {
        measure,
        has_configurations: rows.iter().any(|(_, row)| row.configuration.is_some()),
        rows: rows.into_iter().map(|(number, row)| shown(number, row, measure)).collect(),
    }
}

fn shown(number: usize, row: &Row, measure: Measure) -> Shown {
    Shown {
        number,
        entry: plain(&row.entry),
        operation: plain(&row.operation),
        bits: row.bits,
        configuration: row
            .configuration
            .as_deref()
            .map(|text| plain(&text.replace(';', " ")))
            .unwrap_or_default(),
        served: served(row),
        instead: (!measure.has_figure(row)).then(|| instead(row)),
        cells: cells(row, measure),
    }
}

fn served(row: &Row) -> &'static str {
    match row.path {
        Some(Path::User) => "user",
        Some(Path::Kernel) => "kernel",
        None => "",
    }
}

fn cells(row: &Row, measure: Measure) -> Vec<(String, String)> {
    match measure {
        Measure::Time => vec![
            (
                optional(row.core_cycles, number),
                error(row.core_cycles, row.core_cycles_ci_low, row.core_cycles_ci_high),
            ),
            (
                optional(row.nanoseconds, number),
                error(row.nanoseconds, row.nanoseconds_ci_low, row.nanoseconds_ci_high),
            ),
            (row.kept_rounds.to_string(), String::new()),
        ],
        Measure::Count => vec![(optional(row.instructions, count), String::new())],
    }
}

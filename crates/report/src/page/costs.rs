//! The table of costs: of one run with its figures, of several side by side.

use super::PageRun;
use super::axis::Tick;
use super::comparison::{self, Verdicts};
use super::lines::Line;
use super::row::{Listed, Shared, in_words};
use crate::cells::COUNTED;
use crate::configuration::Compared;
use crate::plain::plain;
use table::Table;

/// The table.
pub(super) struct Costs {
    /// What must be known before a figure is read.
    pub notes: Vec<&'static str>,
    /// Of the axis, and of figures that do not say otherwise.
    pub unit: &'static str,
    /// The same for the column of each run.
    pub units: Vec<&'static str>,
    /// Whether all figures are instructions.
    pub is_counted: bool,
    pub has_places: bool,
    pub has_noisy: bool,
    /// Of the columns behind the estimate.
    pub headings: Vec<&'static str>,
    /// How many columns there are, and how many of them what stands instead of figures takes.
    pub columns: usize,
    pub instead_columns: usize,
    /// What the reader may choose to see: a tag of rows, and what it means.
    pub choices: Vec<(&'static str, &'static str)>,
    pub ticks: Vec<Tick>,
    pub groups: Vec<Group>,
}

/// Rows under one heading.
pub(super) struct Group {
    pub name: String,
    pub rows: Vec<Listed>,
}

/// Tags of rows, and what a reader chooses by them.
const CHOICES: [(&str, &str); 7] = [
    ("common", "the entries that programs use"),
    ("figure", "rows with a figure"),
    ("noisy", "noisy rows"),
    ("modes", "rows with several modes"),
    ("user", "served in user space"),
    ("kernel", "served by the kernel"),
    ("elsewhere", "closed or absent in a run"),
];

pub(super) fn costs<'a>(
    runs: &'a [PageRun],
    table: &'a Table,
    compared: &'a Compared,
    lines: &[Line<'a>],
    verdicts: &'a Verdicts<'a>,
) -> Costs {
    let open: Vec<&Line> = lines.iter().filter(|line| line.is_open()).collect();
    let shared = Shared::of(runs, table, compared, &open, verdicts);
    let groups: Vec<Group> =
        open.chunk_by(|a, b| a.group == b.group).map(|lines| group(&shared, lines)).collect();
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let occurs = |tag: &str| rows().any(|row| row.tags.split(' ').any(|own| own == tag));
    let is_counted = shared.is_counted();
    let has_places = rows().any(|row| !row.place.is_empty()) && !is_counted;
    let (behind, others) = (shared.columns.len(), runs.len().saturating_sub(1));
    let of_one = 3 + behind + usize::from(has_places) + usize::from(!is_counted);
    Costs {
        notes: if is_counted { vec![EMULATED, COUNTED] } else { Vec::new() },
        unit: in_words(shared.unit),
        units: shared.units.iter().map(|unit| in_words(*unit)).collect(),
        is_counted,
        has_places,
        has_noisy: rows().any(|row| row.mark.as_ref().is_some_and(|mark| mark.shared.is_some())),
        headings: shared.columns.iter().map(|column| column.heading()).collect(),
        columns: if runs.len() > 1 { 2 + runs.len() + others } else { of_one },
        instead_columns: 1 + behind + usize::from(!is_counted),
        choices: CHOICES.into_iter().chain(comparison::CHOICES).filter(|(tag, _)| occurs(tag)).collect(),
        ticks: if runs.len() > 1 { shared.differences.ticks() } else { shared.costs.ticks() },
        groups,
    }
}

fn group(shared: &Shared, lines: &[&Line]) -> Group {
    let name = lines.first().map(|line| plain(line.group)).unwrap_or_default();
    Group { name, rows: lines.iter().map(|line| shared.row(line)).collect() }
}

/// What is said above counts.
const EMULATED: &str = "These figures are of an emulator: instructions that it executed, and no time.";

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
    /// Whether something lies beyond the axis of differences.
    pub has_beyond: bool,
    /// Of the columns behind the estimate.
    pub headings: Vec<&'static str>,
    /// How many columns there are, and how many of them what stands instead of figures takes.
    pub columns: usize,
    pub instead_columns: usize,
    /// What the reader may choose to see: a tag of rows, and what it means.
    pub choices: Vec<(&'static str, &'static str)>,
    pub ticks: Vec<Tick>,
    pub groups: Vec<Group>,
    pub folded: Option<Folded>,
}

/// The rows without a figure, in one line until somebody opens it.
pub(super) struct Folded {
    /// How many there are, and which.
    pub summary: String,
    /// Whether it is open from the beginning, because there would be little else to see.
    pub is_open: bool,
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
    let groups = open.chunk_by(|a, b| a.group == b.group).map(|lines| group(&shared, lines));
    let groups: Vec<Group> = groups.collect();
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let occurs = |tag: &str| rows().any(|row| row.tags.split(' ').any(|own| own == tag));
    let is_counted = shared.is_counted();
    let has_places = rows().any(|row| !row.place.is_empty()) && !is_counted;
    let choices = CHOICES.into_iter().chain(comparison::CHOICES).filter(|(tag, _)| occurs(tag));
    let (behind, others) = (shared.columns.len(), runs.len().saturating_sub(1));
    let of_one = 3 + behind + usize::from(has_places) + usize::from(!is_counted);
    let choices = choices.collect();
    let [has_noisy, has_beyond] = [Listed::is_noisy, Listed::is_beyond].map(|is| rows().any(is));
    let (groups, folded) = folded(groups);
    Costs {
        notes: if is_counted { vec![EMULATED, COUNTED] } else { Vec::new() },
        unit: in_words(shared.unit),
        units: shared.units.iter().map(|unit| in_words(*unit)).collect(),
        is_counted,
        has_places,
        has_noisy,
        has_beyond,
        headings: shared.columns.iter().map(|column| column.heading()).collect(),
        columns: if runs.len() > 1 { 2 + runs.len() + others } else { of_one },
        instead_columns: 1 + behind + usize::from(!is_counted),
        choices,
        ticks: if runs.len() > 1 { shared.differences.ticks() } else { shared.costs.ticks() },
        groups,
        folded,
    }
}

/// The rows with a figure, and those without; where none has one, all are shown.
fn folded(groups: Vec<Group>) -> (Vec<Group>, Option<Folded>) {
    if !groups.iter().flat_map(|group| &group.rows).any(|row| row.has_figure) {
        return (groups, None);
    }
    let (mut with, mut without): (Vec<Group>, Vec<Group>) = groups.into_iter().map(Group::split).unzip();
    for groups in [&mut with, &mut without] {
        groups.retain(|group| !group.rows.is_empty());
    }
    let folded = Folded::of(&with, without);
    (with, folded)
}

impl Group {
    /// The rows that have figures, and those that have none.
    fn split(self) -> (Group, Group) {
        let (with, without) = self.rows.into_iter().partition(|row| row.has_figure);
        (Group { name: self.name.clone(), rows: with }, Group { name: self.name, rows: without })
    }
}

impl Folded {
    fn of(others: &[Group], groups: Vec<Group>) -> Option<Folded> {
        let count = |groups: &[Group]| groups.iter().map(|group| group.rows.len()).sum::<usize>();
        let rows = count(&groups);
        let names = groups.iter().flat_map(|group| &group.rows).map(Listed::name).collect::<Vec<_>>();
        let what = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
        let summary = format!("{what} without a figure: {}", names.join(", "));
        (rows > 0).then_some(Folded { summary, is_open: rows > count(others), groups })
    }
}

fn group(shared: &Shared, lines: &[&Line]) -> Group {
    let name = lines.first().map(|line| plain(line.group)).unwrap_or_default();
    Group { name, rows: lines.iter().map(|line| shared.row(line)).collect() }
}

/// What is said above counts.
const EMULATED: &str = "These figures are of an emulator: instructions that it executed, and no time.";

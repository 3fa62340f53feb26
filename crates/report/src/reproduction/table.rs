//! The tables of a reproduction, for text and Markdown alike.

use crate::figure::{ABSENT, multiple, number};
use crate::grid::{Column, Grid, Items};
use ::table::Kernel;
use compare::published::{Compared, Figure, GuestFigure, GuestUnit, InGuests, Measured, Reproduction, Unit};

/// What is left out first where there is no room: the entry that a row is measured by here, then costs as a multiple of the published,
/// then as a multiple of the base row's.
const ENTRY: u8 = 3;
const TO_PUBLISHED: u8 = 2;
const TO_BASE: u8 = 1;
const NEVER: u8 = 0;

/// Blanks before the first column of a part of the table, and before the others.
const BETWEEN_PARTS: usize = 3;
const BETWEEN: usize = 1;

/// A part of the table: a heading over all of its columns, and how spare it is.
struct Part {
    over: String,
    spare: u8,
}

impl Part {
    /// One of its columns of numbers; in Markdown with this behind its name.
    fn column(&self, is_first: bool, name: &str, of: &str) -> Column {
        let gap = if is_first { BETWEEN_PARTS } else { BETWEEN };
        let column = Column::number(name).over_left(&self.over).spare(self.spare).gap(gap);
        column.alone(format!("{name}, {of}"))
    }
}

/// Some figures: what was published and what came out here, as far as there is anything in a column; how sure kentry's costs are, if that
/// was asked for. The first column has room for a title.
pub(crate) fn figures(
    reproduction: &Reproduction,
    figures: &[&Figure],
    title: usize,
    has_interval: bool,
) -> Grid {
    let any = |is: &dyn Fn(&Figure) -> bool| reproduction.figures.iter().any(is);
    let measured = |known: fn(&Measured) -> Option<f64>| {
        any(&|figure: &Figure| figure.measured.iter().any(|measured| known(measured).is_some()))
    };
    let before = |column: Column| column.gap(BETWEEN_PARTS);
    let here = any(&|figure| figure.entry.is_some()).then(|| before(Column::word("here").spare(ENTRY)));
    let interval = has_interval && measured(|one| one.ci_high);
    let named = Grid::of(figures)
        .column(Column::text("").least(title), |figure| &figure.row)
        .maybe(here, |figure| figure.entry.as_ref());
    let costs = costs(reproduction, named)
        .maybe(interval.then(|| before(Column::number("95 %"))), |figure| {
            figure.measured.last().and_then(half_width)
        });
    let to_published = Part { over: "× published".into(), spare: TO_PUBLISHED };
    let ways = if measured(|one| one.to_published) { compared(reproduction) } else { Vec::new() };
    let to_published = ratios(costs, reproduction, &to_published, &ways, |one| one.to_published);
    if !any(&|figure| figure.published_to_base.is_some()) {
        return to_published.grid();
    }
    let to_base =
        Part { over: format!("× {}", reproduction.base.as_deref().unwrap_or(ABSENT)), spare: TO_BASE };
    let published = to_published.column(to_base.column(true, PUBLISHED, &to_base.over), |figure| {
        figure.published_to_base.map(multiple)
    });
    ratios(published, reproduction, &to_base, &compared(reproduction), |one| one.to_base).grid()
}

/// Above what was published.
const PUBLISHED: &str = "publ.";

type Figures<'a, 'f> = Items<'a, &'f Figure>;

/// Published, then in each way.
fn costs<'a, 'f>(reproduction: &Reproduction, figures: Figures<'a, 'f>) -> Figures<'a, 'f> {
    let part = Part { over: unit(reproduction).into(), spare: NEVER };
    let published = part.column(true, PUBLISHED, reproduction.unit.name());
    figures.column(published, |figure| figure.published).for_each(
        reproduction.ways.iter().enumerate(),
        |figures, (place, way)| {
            figures.column(part.column(false, way.name, way.unit.name()), |figure| {
                figure.measured.get(place).and_then(|one| one.value).map(number)
            })
        },
    )
}

/// A column of multiples for each of the ways.
fn ratios<'a, 'f>(
    figures: Figures<'a, 'f>,
    reproduction: &Reproduction,
    part: &Part,
    ways: &[usize],
    known: fn(&Measured) -> Option<f64>,
) -> Figures<'a, 'f> {
    let is_first = |number: usize| number == 0 && part.spare == TO_PUBLISHED;
    figures.for_each(ways.iter().enumerate(), |figures, (number, place)| {
        let column = part.column(is_first(number), reproduction.ways[*place].name, &part.over);
        figures.column(column, |figure| figure.measured.get(*place).and_then(known).map(multiple))
    })
}

/// The unit of all costs, where they have the same; the head tells that of each way.
fn unit(reproduction: &Reproduction) -> &'static str {
    let same = reproduction.ways.iter().all(|way| way.unit == reproduction.unit);
    if same { reproduction.unit.name() } else { "cost, units above" }
}

/// The ways whose ratios are shown: the loop, and kentry's own. (Of single calls, a ratio tells of the clock.)
fn compared(reproduction: &Reproduction) -> Vec<usize> {
    let ways = reproduction.ways.iter().enumerate();
    ways.filter(|(_, way)| way.name != "single").map(|(place, _)| place).collect()
}

/// `±0.4`: the distance to the farther end of the interval.
fn half_width(measured: &Measured) -> Option<String> {
    let (value, low, high) = (measured.value?, measured.ci_low?, measured.ci_high?);
    Some(format!("±{}", number(f64::max(value - low, high - value))))
}

/// What came out in guests of either kernel, where there were any: what is said above its table, and the table.
pub(crate) fn elsewhere(reproduction: &Reproduction) -> Vec<(Kernel, String, Grid)> {
    let all = [(Kernel::Lab, &reproduction.lab), (Kernel::Linux, &reproduction.guests)];
    let found = all.into_iter().filter_map(|(kernel, found)| Some((kernel, found.as_ref()?)));
    found
        .map(|(kernel, found)| (kernel, words(kernel, found), of_guests(reproduction, kernel, found)))
        .collect()
}

/// Where a table of guests was measured.
pub(crate) fn heading_of(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Lab => "in the lab",
        Kernel::Linux => "in a guest",
    }
}

fn of_guests(reproduction: &Reproduction, kernel: Kernel, found: &InGuests) -> Grid {
    let mut columns: Vec<&str> = found.figures.iter().map(|figure| figure.column.as_str()).collect();
    columns.dedup();
    let mut rows: Vec<&GuestFigure> = Vec::new();
    for figure in &found.figures {
        if rows.iter().all(|known| known.row != figure.row) {
            rows.push(figure);
        }
    }
    let base = reproduction.base.as_ref().filter(|_| reproduction.unit != Unit::Index);
    let base = base.map(|base| Column::number(format!("× {base}")));
    let figure =
        |row: &str, column: &str| found.figures.iter().find(|one| one.row == row && one.column == column);
    let value = |value: f64| {
        if found.unit == GuestUnit::Instructions { format!("{value:.0}") } else { number(value) }
    };
    Grid::of(&rows)
        .column(Column::text(""), |first| &first.row)
        .column(Column::word(heading_of(kernel)).spare(ENTRY), |first| &first.entry)
        .for_each(columns, |rows, column| {
            let heading = if column.is_empty() { found.unit.name() } else { column };
            rows.column(Column::number(heading), |first| {
                figure(&first.row, column).and_then(|one| one.value).map(value)
            })
            .maybe(base.clone(), |first| figure(&first.row, column).and_then(|one| one.to_base).map(multiple))
        })
        .grid()
}

/// The changes that the author found, and the lab's.
pub(crate) fn changes(reproduction: &Reproduction) -> Grid {
    let interval = |one: &Compared| {
        one.low.zip(one.high).map(|(low, high)| format!("{} to {}", percent(low), percent(high)))
    };
    Grid::of(&reproduction.ratios)
        .column(Column::text("change by"), |one| &one.name)
        .column(Column::number("published"), |one| percent(one.published))
        .column(Column::number("in the lab"), |one| one.here.map(percent))
        .column(Column::number("95 %"), interval)
        .grid()
}

/// `−17 %`; a change that rounds to nothing has no sign.
pub(super) fn percent(part: f64) -> String {
    let text = format!("{:+.0} %", 100.0 * part).replace('-', "−");
    if text.trim_start_matches(['+', '−']) == "0 %" { "0 %".to_owned() } else { text }
}

/// What is said above the changes.
pub(crate) fn change_words(reproduction: &Reproduction) -> String {
    let unit = match reproduction.unit {
        Unit::Index => "of what is done in a time",
        _ => "of the cost",
    };
    format!("What its author concluded, as changes {unit}, beside the changes in the lab.")
}

/// What is said above the table.
fn words(kernel: Kernel, found: &InGuests) -> String {
    let run = found.run.as_deref().map_or(String::new(), |id| format!(" (run {})", crate::short(id)));
    let whose = match kernel {
        Kernel::Lab => "In the lab, kentry's own kernel",
        Kernel::Linux => "In guests with a Linux",
    };
    match (found.unit, kernel) {
        (GuestUnit::Instructions, Kernel::Lab) => format!(
            "{whose}{run}: instructions executed in an emulator, not times. A count ranks no cost: iretq and cpuid count one each, \
             as mov does."
        ),
        (GuestUnit::Instructions, Kernel::Linux) => format!(
            "{whose}{run}: instructions of a turn, executed in an emulator; no times, and so no index. They show which configuration \
             executes more instructions, not what these cost: a write of CR3 counts one, as mov does."
        ),
        (unit, _) => format!("{whose}, in a virtual machine{run}: {}.", unit.name()),
    }
}

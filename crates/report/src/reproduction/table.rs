//! The tables of a reproduction, for text and Markdown alike.

use crate::figure::{ABSENT, multiple, number};
use crate::grid::{Column, Grid};
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

/// A column of numbers in a part of the table, under what stands over that; in Markdown with what it is of.
fn column(is_first: bool, name: &str, (over, of): (&str, &str), spare: u8) -> Column {
    let gap = if is_first { BETWEEN_PARTS } else { BETWEEN };
    Column::number(name).over_left(over).alone(format!("{name}, {of}")).spare(spare).gap(gap)
}

/// Above what was published, and over what is a multiple of it.
const PUBLISHED: &str = "publ.";
const OF_PUBLISHED: &str = "× published";

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
    let part = |column: Column, is_there: bool| is_there.then(|| column.gap(BETWEEN_PARTS));
    let here = part(Column::word("here").spare(ENTRY), any(&|figure| figure.entry.is_some()));
    let interval = part(Column::number("95 %"), has_interval && measured(|one| one.ci_high));
    let ways =
        |is_there: bool| if is_there { compared(reproduction) } else { Vec::new() }.into_iter().enumerate();
    let name = |way: usize| reproduction.ways[way].name;
    let of = |figure: &Figure, way: usize, known: fn(&Measured) -> Option<f64>| {
        figure.measured.get(way).and_then(known)
    };
    let has_base = any(&|figure| figure.published_to_base.is_some());
    let base = format!("× {}", reproduction.base.as_deref().unwrap_or(ABSENT));
    let published = |over, spare| column(true, PUBLISHED, over, spare);
    Grid::of(figures)
        .column(Column::text("").least(title), |figure| &figure.row)
        .maybe(here, |figure| figure.entry.as_ref())
        .column(published((unit(reproduction), reproduction.unit.name()), NEVER), |figure| figure.published)
        .for_each(reproduction.ways.iter().enumerate(), |figures, (place, way)| {
            let column = column(false, way.name, (unit(reproduction), way.unit.name()), NEVER);
            figures.column(column, |figure| of(figure, place, |one| one.value).map(number))
        })
        .maybe(interval, |figure| figure.measured.last().and_then(half_width))
        .for_each(ways(measured(|one| one.to_published)), |figures, (number, way)| {
            let column = column(number == 0, name(way), (OF_PUBLISHED, OF_PUBLISHED), TO_PUBLISHED);
            figures.column(column, |figure| of(figure, way, |one| one.to_published).map(multiple))
        })
        .maybe(has_base.then(|| published((&base, &base), TO_BASE)), |figure| {
            figure.published_to_base.map(multiple)
        })
        .for_each(ways(has_base), |figures, (_, way)| {
            let column = column(false, name(way), (&base, &base), TO_BASE);
            figures.column(column, |figure| of(figure, way, |one| one.to_base).map(multiple))
        })
        .grid()
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
    let found = [&reproduction.lab, &reproduction.guests].into_iter().flatten();
    found
        .map(|found| (found.kernel, words(found.kernel, found), of_guests(reproduction, found.kernel, found)))
        .collect()
}

/// Where a table of guests was measured.
pub(crate) fn heading_of(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Lab | Kernel::LabI386 => "in the lab",
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
        one.low.zip(one.high).map(|(low, high)| format!("{} to {}", part(one, low), part(one, high)))
    };
    let heading = if are_shares(reproduction) { "part" } else { "change by" };
    Grid::of(&reproduction.ratios)
        .column(Column::text(heading), |one| &one.name)
        .column(Column::number("published"), |one| part(one, one.published))
        .column(Column::number("in the lab"), |one| one.here.map(|here| part(one, here)))
        .column(Column::number("95 %"), interval)
        .grid()
}

/// Whether parts are told, and no changes.
pub(super) fn are_shares(reproduction: &Reproduction) -> bool {
    reproduction.ratios.iter().all(|one| one.share)
}

/// A change, or a part: `18 %`.
pub(super) fn part(one: &Compared, value: f64) -> String {
    if one.share { format!("{:.0} %", 100.0 * value) } else { percent(value) }
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
    if are_shares(reproduction) {
        let counted = reproduction.lab.as_ref().is_some_and(|lab| lab.unit == GuestUnit::Instructions);
        let of_what = if counted { "instructions executed in an emulator, not times" } else { "costs" };
        return format!(
            "One figure as a part of another: of what was published; and in the lab, of {of_what}."
        );
    }
    format!("What its author concluded, as changes {unit}, beside the changes in the lab.")
}

/// What is said above the table.
fn words(kernel: Kernel, found: &InGuests) -> String {
    let run = found.run.as_deref().map_or(String::new(), |id| format!(" (run {})", crate::short(id)));
    let whose = match kernel {
        Kernel::Lab => "In the lab, kentry's own kernel",
        Kernel::LabI386 => "In the lab, kentry's own kernel for protected mode",
        Kernel::Linux => "In guests with a Linux",
    };
    match (found.unit, kernel) {
        (GuestUnit::Instructions, Kernel::Lab | Kernel::LabI386) => format!(
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

//! A reproduction as CSV: one line for each published figure, one for each figure of the lab and of guests, then one for each
//! change that the author found.

use crate::Error;
use crate::grid::{Column, Grid, Named};
use compare::published::{Compared, Figure, GuestFigure, InGuests, Measured, Reproduction};
use std::borrow::Cow;

const WAYS: [&str; 3] = ["loop", "single", KENTRY];

/// In guests kentry's own way is the only one.
const KENTRY: &str = "kentry";

const OF_WAY: [Named<Measured>; 5] = [
    ("value", |one| one.value),
    ("ci_low", |one| one.ci_low),
    ("ci_high", |one| one.ci_high),
    ("to_published", |one| one.to_published),
    ("to_base", |one| one.to_base),
];

/// What came out in a way, and its unit.
type OfWay<'a> = (Option<&'static str>, Option<Cow<'a, Measured>>);

/// A line of any kind.
#[derive(Default)]
struct Record<'a> {
    place: &'static str,
    column: &'a str,
    row: &'a str,
    entry: Option<&'a String>,
    operation: Option<&'a String>,
    unit: &'static str,
    published: Option<f64>,
    published_to_base: Option<f64>,
    /// In the order of [`WAYS`].
    ways: [OfWay<'a>; WAYS.len()],
    reason: Option<&'a String>,
    remark: Option<&'a String>,
    disturbed: Option<bool>,
}

pub(crate) fn render(reproduction: &Reproduction) -> Result<Vec<u8>, Error> {
    let places = [("lab", &reproduction.lab), ("guest", &reproduction.guests)];
    let found = places.into_iter().filter_map(|(place, found)| Some((place, found.as_ref()?)));
    let of_guests = found.flat_map(|(place, found)| {
        found.figures.iter().map(move |figure| of_guest(reproduction, (place, found), figure))
    });
    let figures = reproduction.figures.iter().map(|figure| of_figure(reproduction, figure));
    let changes = reproduction.ratios.iter().map(of_change);
    let records: Vec<Record> = figures.chain(of_guests).chain(changes).collect();
    Grid::of(&records)
        .column(Column::text("publication"), |_| &reproduction.name)
        .column(Column::text("place"), |record| record.place)
        .column(Column::text("column"), |record| record.column)
        .column(Column::text("row"), |record| record.row)
        .column(Column::text("entry"), |record| record.entry)
        .column(Column::text("operation"), |record| record.operation)
        .column(Column::text("unit"), |record| record.unit)
        .column(Column::number("published"), |record| record.published)
        .column(Column::number("published_to_base"), |record| record.published_to_base)
        .for_each(WAYS.iter().enumerate(), |records, (place, way)| {
            let units = records.column(Column::text(format!("{way}_unit")), |record| record.ways[place].0);
            units.for_each(OF_WAY, |records, (name, of)| {
                let column = Column::number(format!("{way}_{name}"));
                records.column(column, |record| record.ways[place].1.as_deref().and_then(of))
            })
        })
        .column(Column::text("reason"), |record| record.reason)
        .column(Column::text("remark"), |record| record.remark)
        .column(Column::text("disturbed"), |record| record.disturbed.map(|is| is.to_string()))
        .grid()
        .csv()
}

fn of_figure<'a>(reproduction: &Reproduction, figure: &'a Figure) -> Record<'a> {
    let way = |way: &str| {
        let unit = reproduction.ways.iter().find(|known| known.name == way).map(|known| known.unit.name());
        (unit, figure.measured.iter().find(|measured| measured.way == way).map(Cow::Borrowed))
    };
    Record {
        place: "linux",
        column: &figure.column,
        row: &figure.row,
        entry: figure.entry.as_ref(),
        operation: figure.operation.as_ref(),
        unit: reproduction.unit.name(),
        published: figure.published,
        published_to_base: figure.published_to_base,
        ways: WAYS.map(way),
        reason: figure.reason.as_ref(),
        remark: figure.remark.as_ref(),
        disturbed: Some(figure.disturbed),
    }
}

/// Measured in kentry's way alone.
fn by_kentry<'a>(
    unit: &'static str,
    [value, ci_low, ci_high, to_base]: [Option<f64>; 4],
) -> [OfWay<'a>; WAYS.len()] {
    let (way, to_published, coarse, disturbed) = (KENTRY, None, false, false);
    let found = Measured { way, value, ci_low, ci_high, to_published, to_base, coarse, disturbed };
    [(None, None), (None, None), (Some(unit), Some(Cow::Owned(found)))]
}

fn of_guest<'a>(
    reproduction: &Reproduction,
    (place, found): (&'static str, &InGuests),
    figure: &'a GuestFigure,
) -> Record<'a> {
    Record {
        place,
        column: &figure.column,
        row: &figure.row,
        entry: Some(&figure.entry),
        operation: Some(&figure.operation),
        unit: reproduction.unit.name(),
        ways: by_kentry(found.unit.name(), [figure.value, figure.ci_low, figure.ci_high, figure.to_base]),
        reason: figure.reason.as_ref(),
        ..Record::default()
    }
}

/// A change as a part: -0.17 for 17 % less; or the part itself.
fn of_change(change: &Compared) -> Record<'_> {
    const PART: &str = "part";
    Record {
        place: if change.share { "part" } else { "change" },
        row: &change.name,
        unit: PART,
        published: Some(change.published),
        ways: by_kentry(PART, [change.here, change.low, change.high, None]),
        reason: change.reason.as_ref(),
        ..Record::default()
    }
}

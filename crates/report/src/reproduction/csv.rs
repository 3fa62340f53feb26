//! A reproduction as CSV: one line for each published figure, one for each figure of the lab and of guests, then one for each
//! change that the author found.

use crate::Error;
use crate::grid::{Column, Grid};
use compare::published::{Compared, Figure, GuestFigure, InGuests, Reproduction};

const WAYS: [&str; 3] = ["loop", "single", KENTRY];

/// In guests kentry's own way is the only one.
const KENTRY: &str = "kentry";

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
    ways: [OfWay; WAYS.len()],
    reason: Option<&'a String>,
    remark: Option<&'a String>,
    disturbed: Option<bool>,
}

/// What came out in one way.
#[derive(Default, Clone, Copy)]
struct OfWay {
    unit: Option<&'static str>,
    value: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    to_published: Option<f64>,
    to_base: Option<f64>,
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
            let of = |name: &str| format!("{way}_{name}");
            records
                .column(Column::text(of("unit")), |record| record.ways[place].unit)
                .column(Column::number(of("value")), |record| record.ways[place].value)
                .column(Column::number(of("ci_low")), |record| record.ways[place].ci_low)
                .column(Column::number(of("ci_high")), |record| record.ways[place].ci_high)
                .column(Column::number(of("to_published")), |record| record.ways[place].to_published)
                .column(Column::number(of("to_base")), |record| record.ways[place].to_base)
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
        let measured = figure.measured.iter().find(|measured| measured.way == way);
        measured.map_or(OfWay { unit, ..OfWay::default() }, |one| OfWay {
            unit,
            value: one.value,
            ci_low: one.ci_low,
            ci_high: one.ci_high,
            to_published: one.to_published,
            to_base: one.to_base,
        })
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

fn by_kentry(found: OfWay) -> [OfWay; WAYS.len()] {
    WAYS.map(|way| if way == KENTRY { found } else { OfWay::default() })
}

fn of_guest<'a>(
    reproduction: &Reproduction,
    (place, found): (&'static str, &InGuests),
    figure: &'a GuestFigure,
) -> Record<'a> {
    let GuestFigure { value, ci_low, ci_high, to_base, .. } = *figure;
    let unit = Some(found.unit.name());
    Record {
        place,
        column: &figure.column,
        row: &figure.row,
        entry: Some(&figure.entry),
        operation: Some(&figure.operation),
        unit: reproduction.unit.name(),
        ways: by_kentry(OfWay { unit, value, ci_low, ci_high, to_published: None, to_base }),
        reason: figure.reason.as_ref(),
        ..Record::default()
    }
}

/// A change as a part: -0.17 for 17 % less.
fn of_change(change: &Compared) -> Record<'_> {
    const PART: &str = "part";
    let Compared { here: value, low: ci_low, high: ci_high, .. } = *change;
    Record {
        place: "change",
        row: &change.name,
        unit: PART,
        published: Some(change.published),
        ways: by_kentry(OfWay { unit: Some(PART), value, ci_low, ci_high, ..OfWay::default() }),
        reason: change.reason.as_ref(),
        ..Record::default()
    }
}

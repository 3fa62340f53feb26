//! A reproduction as CSV: one line for each published figure, one for each figure of the lab and of guests, then one for each
//! change that the author found.

use crate::Error;
use crate::csv::records;
use compare::published::{Compared, Figure, GuestFigure, Measured, Reproduction};

const WAYS: [&str; 3] = ["loop", "single", "kentry"];
const OF_WAY: [&str; 6] = ["unit", "value", "ci_low", "ci_high", "to_published", "to_base"];
const BEFORE: [&str; 9] =
    ["publication", "place", "column", "row", "entry", "operation", "unit", "published", "published_to_base"];

pub(crate) fn render(reproduction: &Reproduction) -> Result<Vec<u8>, Error> {
    let places = [("lab", &reproduction.lab), ("guest", &reproduction.guests)];
    let found = places.into_iter().filter_map(|(place, found)| Some((place, found.as_ref()?)));
    let of_guests = found.flat_map(|(place, found)| {
        let unit = found.unit.name();
        found.figures.iter().map(move |figure| of_guest(reproduction, (place, unit), figure))
    });
    let figures = reproduction.figures.iter().map(|figure| of_figure(reproduction, figure));
    let changes = reproduction.ratios.iter().map(|one| of_change(reproduction, one));
    records(std::iter::once(header()).chain(figures).chain(of_guests).chain(changes))
}

fn header() -> Vec<String> {
    let ways = WAYS.iter().flat_map(|way| OF_WAY.iter().map(move |of| format!("{way}_{of}")));
    let behind = ["reason", "remark", "disturbed"].into_iter().map(str::to_owned);
    BEFORE.into_iter().map(str::to_owned).chain(ways).chain(behind).collect()
}

fn optional(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn of_figure(reproduction: &Reproduction, figure: &Figure) -> Vec<String> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut cells = vec![
        reproduction.name.clone(),
        "linux".into(),
        figure.column.clone(),
        figure.row.clone(),
        text(&figure.entry),
        text(&figure.operation),
        reproduction.unit.name().into(),
        optional(figure.published),
        optional(figure.published_to_base),
    ];
    for way in WAYS {
        let unit = reproduction.ways.iter().find(|known| known.name == way).map(|known| known.unit.name());
        let measured = figure.measured.iter().find(|measured| measured.way == way);
        cells.extend(of_way(unit, measured));
    }
    cells.extend([text(&figure.reason), text(&figure.remark), figure.disturbed.to_string()]);
    cells
}

fn of_way(unit: Option<&str>, measured: Option<&Measured>) -> [String; OF_WAY.len()] {
    let number = |figure: fn(&Measured) -> Option<f64>| optional(measured.and_then(figure));
    [
        unit.unwrap_or_default().to_owned(),
        number(|one| one.value),
        number(|one| one.ci_low),
        number(|one| one.ci_high),
        number(|one| one.to_published),
        number(|one| one.to_base),
    ]
}

/// In guests kentry's own way is the only one.
fn of_guest(reproduction: &Reproduction, (place, unit): (&str, &str), figure: &GuestFigure) -> Vec<String> {
    let mut cells = vec![
        reproduction.name.clone(),
        place.into(),
        figure.column.clone(),
        figure.row.clone(),
        figure.entry.clone(),
        figure.operation.clone(),
        reproduction.unit.name().into(),
        String::new(),
        String::new(),
    ];
    cells.extend(vec![String::new(); (WAYS.len() - 1) * OF_WAY.len()]);
    let empty = String::new;
    let interval = [figure.ci_low, figure.ci_high].map(optional);
    cells.extend([unit.into(), optional(figure.value)].into_iter().chain(interval));
    cells.extend([empty(), optional(figure.to_base)]);
    cells.extend([figure.reason.clone().unwrap_or_default(), empty(), empty()]);
    cells
}

/// A change as a part: -0.17 for 17 % less.
fn of_change(reproduction: &Reproduction, change: &Compared) -> Vec<String> {
    let empty = String::new;
    let mut cells = vec![reproduction.name.clone(), "change".into(), empty(), change.name.clone()];
    cells.extend([empty(), empty(), "part".into(), optional(Some(change.published)), empty()]);
    cells.extend(vec![String::new(); (WAYS.len() - 1) * OF_WAY.len()]);
    cells.extend(["part".into(), optional(change.here), optional(change.low), optional(change.high)]);
    cells.extend([empty(), empty()]);
    cells.extend([change.reason.clone().unwrap_or_default(), empty(), empty()]);
    cells
}

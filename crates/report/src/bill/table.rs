//! The tables of a bill, for text and Markdown alike.

use super::path::keys;
use super::words::{self, amount, error, is_counted, name, needs, remark, share};
use crate::figure::number;
use crate::grid::{Cell, Column, Grid, Items, Weight, Words, Writer};
use crate::line::look;
use attribution::bill::{Bill, Figure, MeasuredConfiguration, State, There, Unit};

/// What is left out first where there is no room: errors of all figures but the first, then these figures.
const ERRORS: u8 = 2;
const FIGURES: u8 = 1;

/// Blanks behind the letter of a step.
const BEHIND_KEY: usize = 1;

/// What is said of a row, behind its cells or below them.
const REMARKS: Words =
    Words { heading: "", alone: "", look: look::PLAIN, least: 24, below: Some(6), hang: None };

/// A row.
struct Line {
    weight: Weight,
    /// The letter of a step.
    key: Option<char>,
    name: Cell,
    /// Those that there could be. A row that has fewer than others is blank in their columns.
    figures: Vec<Option<Figure>>,
    share: Cell,
    needs: Cell,
    remark: String,
    /// By the path's bytes in ring 3, and between which figures most layouts lie; none where a row has no such figure, not even an absent one.
    ring3: Option<(Option<Figure>, String)>,
}

impl Line {
    /// A sum, or a part of one.
    fn new(weight: Weight, name: &str, figure: Option<Figure>, share: Cell) -> Line {
        let figures = vec![figure];
        let (needs, remark) = ("".into(), String::new());
        Line { weight, key: None, name: name.into(), figures, share, needs, remark, ring3: None }
    }

    fn said(self, remark: Option<&String>) -> Line {
        Line { remark: remark.cloned().unwrap_or_default(), ..self }
    }
}

fn weight(has_figure: bool) -> Weight {
    if has_figure { Weight::Ordinary } else { Weight::Without }
}

/// Names, and figures under these headings, each with its error where time was measured.
fn figures<'a>(bill: &Bill, lines: &'a [Line], first: &str, headings: &[&str]) -> Items<'a, Line> {
    let has_errors = !is_counted(bill);
    let key = Column::word("").least(1).look(look::NAME).only(Writer::Text);
    Grid::of(lines)
        .column(key, |line| line.key.map(String::from).unwrap_or_default())
        .column(Column::text(first).gap(BEHIND_KEY), |line| line.name.clone())
        .for_each(headings.iter().enumerate(), |lines, (place, heading)| {
            let [figures, errors] = if place == 0 { [0; 2] } else { [FIGURES, ERRORS] };
            let figure = move |line: &Line| line.figures.get(place).copied();
            let shown = |figure: Figure| amount(bill, figure.estimate);
            lines
                .column(Column::number(*heading).spare(figures), |line| {
                    figure(line).map_or_else(|| "".into(), |figure| Cell::from(figure.map(shown)))
                })
                .maybe(has_errors.then(|| Column::number("±").spare(errors)), |line| {
                    figure(line).flatten().as_ref().map(error).unwrap_or_default()
                })
        })
        .weight(|line| line.weight)
}

/// The share that a figure is of another.
fn part(figure: Option<Figure>, of: Option<Figure>) -> Cell {
    let of = of.map(|of| of.estimate).filter(|of| *of > 0.0);
    share(figure.zip(of).map(|(figure, of)| figure.estimate / of)).into()
}

/// The steps between bare and the whole.
pub(super) fn steps(bill: &Bill) -> Grid {
    let headings = ["alone", "in company", "in orders"];
    let has_orders = bill.orders > 0;
    let shown = if has_orders { &headings[..] } else { &headings[..2] };
    let of_whole = |figure| part(figure, bill.whole);
    // With orders, shares are of these, and what steps are alone has none.
    let of_alone = |figure| if has_orders { "".into() } else { of_whole(figure) };
    let sum = |name: &str, figure, share: Cell| Line::new(Weight::Sum, name, figure, share);
    let step = |(line, key): (&attribution::bill::Line, Option<char>)| Line {
        weight: weight(matches!(line.state, State::Measured | State::WithoutEffect(_))),
        key,
        name: Cell::name(name(bill, line)),
        figures: [line.alone, line.in_company, line.in_orders][..shown.len()].to_vec(),
        share: share(line.share).into(),
        needs: needs(line).into(),
        remark: remark(line),
        ring3: None,
    };
    let mut lines = vec![sum("bare", bill.bare, of_whole(bill.bare))];
    lines.extend(bill.lines.iter().zip(keys(bill)).map(step));
    lines.push(sum("sum of the steps", bill.sum, of_alone(bill.sum)));
    lines.push(sum("interactions", bill.interactions, of_alone(bill.interactions)));
    lines.push(sum("whole", bill.whole, of_whole(bill.whole)));
    if let Some(ring3) = &bill.ring3 {
        let of_rows = super::ring3::figures(ring3, bill.lines.len());
        lines.iter_mut().zip(of_rows).for_each(|(line, figure)| line.ring3 = Some(figure));
    }
    let is_timed = bill.ring3.is_some();
    figures(bill, &lines, "step", shown)
        .column(Column::number("share"), |line| line.share.clone())
        .maybe(is_timed.then(|| Column::number(super::ring3::HEADING)), |line| {
            let figure = line.ring3.as_ref().and_then(|(figure, _)| *figure);
            Cell::from(figure.map(|figure| number(figure.estimate)))
        })
        .maybe(is_timed.then(|| Column::number("±").spare(ERRORS)), |line| {
            let figure = line.ring3.as_ref().and_then(|(figure, _)| *figure);
            figure.as_ref().map(error).unwrap_or_default()
        })
        .maybe(is_timed.then(|| Column::number("by layout").spare(ERRORS)), |line| {
            line.ring3.as_ref().map(|(_, range)| range.clone()).unwrap_or_default()
        })
        .column(Column::text("needs").or_said(), |line| line.needs.clone())
        .words(REMARKS, |line| line.remark.clone())
        .grid()
}

/// What of a Linux's cost is explained.
pub(super) fn there(bill: &Bill, there: &There) -> Grid {
    let line = |weight, name: &str, figure| Line::new(weight, name, figure, part(figure, there.measured));
    let mut lines = vec![line(Weight::Sum, "measured there", there.measured).said(there.why.as_ref())];
    lines.extend(there.parts.iter().map(|part| {
        line(weight(part.figure.is_some()), &part.what, part.figure).said(words::of_part(part).as_ref())
    }));
    lines.push(line(Weight::Sum, "explained here", there.explained));
    lines.push(line(Weight::Sum, "rest", there.rest));
    figures(bill, &lines, "part", &[unit(bill)])
        .column(Column::number("share"), |line| line.share.clone())
        .words(REMARKS, |line| line.remark.clone())
        .grid()
}

/// Every configuration that was measured.
pub(super) fn configurations(bill: &Bill) -> Grid {
    let line = |configured: &MeasuredConfiguration| {
        let values = configured.values.iter().map(|(switch, value)| format!("{switch}={value}"));
        let values = values.collect::<Vec<_>>().join(" ");
        let values = if values.is_empty() { "bare".to_owned() } else { values };
        let why = configured.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let figure = configured.figure;
        Line {
            name: Cell::name(&configured.operation),
            remark: format!("{values}{why}"),
            ..Line::new(weight(figure.is_some()), "", figure, "".into())
        }
    };
    let lines: Vec<Line> = bill.configurations.iter().map(line).collect();
    let words = Words { heading: "configuration", alone: "configuration", ..REMARKS };
    figures(bill, &lines, "operation", &[unit(bill)]).words(words, |line| line.remark.clone()).grid()
}

fn unit(bill: &Bill) -> &'static str {
    bill.unit.map_or("", Unit::name)
}

//! A bill as CSV: one line for bare, each step and the sums, then one for each part of a Linux and each configuration.

use crate::Error;
use crate::grid::{Column, Grid, Named};
use attribution::bill::{Bill, Figure, Line, MeasuredConfiguration, Ring3, State, There, Unit};

/// A line of any kind; a sum has nothing but a figure.
#[derive(Default)]
struct Record<'a> {
    kind: &'static str,
    /// If it is not that of the bill.
    operation: Option<&'a str>,
    name: String,
    /// In the order of [`FIGURES`].
    figures: [Option<Figure>; FIGURES.len()],
    remark: String,
    step: Option<&'a Line>,
}

/// The last is in core cycles, whatever the bill's unit is.
const FIGURES: [&str; 4] = ["alone", "in_company", "in_orders", "ring_3_cycles"];
const OF_FIGURE: [Named<Figure>; 4] = [
    ("estimate", |one| Some(one.estimate)),
    ("low", |one| one.low),
    ("high", |one| one.high),
    ("p", |one| one.p),
];

pub(super) fn render(bill: &Bill) -> Result<Vec<u8>, Error> {
    let sums = [
        ("bare", bill.bare),
        ("sum", bill.sum),
        ("interactions", bill.interactions),
        ("added", bill.added),
        ("whole", bill.whole),
    ];
    let mut records: Vec<Record> = sums.map(|(kind, figure)| of_sum(kind, figure)).into();
    records.extend(bill.lines.iter().map(of_step));
    bill.ring3.iter().for_each(|ring3| add_ring3(&mut records, bill, ring3));
    records.extend(bill.there.iter().flat_map(of_linux));
    records.extend(bill.configurations.iter().map(of_configuration));
    let of_step = |of: fn(&Line, &Bill) -> String| {
        move |record: &Record| record.step.map_or(String::new(), |line| of(line, bill))
    };
    Grid::of(&records)
        .column(Column::text("kind"), |record| record.kind)
        .column(Column::text("entry"), |_| &bill.entry)
        .column(Column::text("operation"), |record| record.operation.unwrap_or(&bill.operation))
        .column(Column::text("profile"), |_| &bill.profile)
        .column(Column::text("name"), |record| &record.name)
        .column(Column::text("base"), of_step(|line, _| line.step.base.clone()))
        .column(Column::text("unit"), |_| bill.unit.map(Unit::name))
        .for_each(FIGURES.iter().enumerate(), |records, (place, figure)| {
            records.for_each(OF_FIGURE, |records, (name, of)| {
                let column = Column::number(format!("{figure}_{name}"));
                records.column(column, move |record| record.figures[place].as_ref().and_then(of))
            })
        })
        .column(Column::number("share"), |record| record.step.and_then(|line| line.share))
        .column(Column::text("state"), of_step(|line, _| state(line).into()))
        .column(Column::text("needs"), of_step(needs))
        .column(Column::text("requires"), of_step(requires))
        .column(Column::text("remark"), |record| &record.remark)
        .grid()
        .csv()
}

fn of_sum(kind: &'static str, figure: Option<Figure>) -> Record<'static> {
    Record { kind, figures: [figure, None, None, None], ..Record::default() }
}

/// Adds what the path's bytes cost in ring 3 to the sums and the steps, which are there already, and what is only there.
fn add_ring3(records: &mut Vec<Record>, bill: &Bill, ring3: &Ring3) {
    let sums = [ring3.bare, None, None, ring3.added, ring3.whole];
    let all = sums.into_iter().chain(ring3.lines.iter().map(|line| line.in_company));
    records.iter_mut().zip(all).for_each(|(record, figure)| record.figures[3] = figure);
    let own = [("protections", ring3.protections), ("control", ring3.control), ("measured-here", ring3.here)];
    records.extend(
        own.map(|(kind, figure)| Record { figures: [None, None, None, figure], ..of_sum(kind, None) }),
    );
    records.extend(ring3.left_out.iter().map(|left| Record {
        name: format!("{} {}", left.count, left.instruction),
        remark: left.steps.join("; "),
        ..of_sum("left-out", None)
    }));
    records.extend(super::ring3::published(bill, ring3).into_iter().map(|one| Record {
        remark: one.words(),
        name: one.what,
        ..of_sum("published", None)
    }));
}

fn of_step(line: &Line) -> Record<'_> {
    let figures = [line.alone, line.in_company, line.in_orders, None];
    let (name, remark) = (line.step.name(), super::words::remark(line));
    Record { kind: "step", operation: None, name, figures, remark, step: Some(line) }
}

/// What was measured there, the parts that explain it, and the rest.
fn of_linux(there: &There) -> Vec<Record<'_>> {
    let said = |kind, name: &str, figure, remark: &Option<String>| {
        let remark = remark.clone().unwrap_or_default();
        Record { name: name.to_owned(), remark, ..of_sum(kind, figure) }
    };
    let mut records = vec![said("measured-there", &there.what, there.measured, &there.why)];
    records.extend(
        there.parts.iter().map(|part| said("part", &part.what, part.figure, &super::words::of_part(part))),
    );
    let sums = [
        ("explained-here", there.explained),
        ("rest", there.rest),
        ("protections-there", there.protections),
        ("unprotected", there.unprotected),
    ];
    records.extend(sums.map(|(kind, figure)| of_sum(kind, figure)));
    records
}

fn of_configuration(configured: &MeasuredConfiguration) -> Record<'_> {
    let values = configured.values.iter().map(|(switch, value)| format!("{switch}={value}"));
    Record {
        operation: Some(&configured.operation),
        name: values.collect::<Vec<_>>().join(";"),
        remark: configured.why.clone().unwrap_or_default(),
        ..of_sum("configuration", configured.figure)
    }
}

fn state(line: &Line) -> &'static str {
    match line.state {
        State::Measured => "measured",
        State::WithoutEffect(_) => "without-effect",
        State::Unseen => "unseen",
        State::LeftOut(_) => "left-out",
        State::Failed(_) => "failed",
    }
}

fn needs(line: &Line, _: &Bill) -> String {
    let needs: Vec<&str> = line.step.needs.iter().map(|need| need.feature.as_str()).collect();
    needs.join(";")
}

fn requires(line: &Line, bill: &Bill) -> String {
    let required = line.step.requires.iter().filter_map(|place| bill.lines.get(*place));
    required.map(|line| line.step.name()).collect::<Vec<_>>().join(";")
}

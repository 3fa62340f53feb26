//! A bill as CSV: one line for bare, each step and the sums, then one for each part of a Linux and each configuration.

use crate::Error;
use crate::csv::records;
use attribution::bill::{Bill, Figure, Line, State};

const OF_FIGURE: [&str; 4] = ["estimate", "low", "high", "p"];
const FIGURES: [&str; 3] = ["alone", "in_company", "in_orders"];
const BEFORE: [&str; 7] = ["kind", "entry", "operation", "profile", "name", "base", "unit"];
const BEHIND: [&str; 5] = ["share", "state", "needs", "requires", "remark"];

pub(super) fn render(bill: &Bill) -> Result<Vec<u8>, Error> {
    let sums = [
        ("bare", bill.bare),
        ("sum", bill.sum),
        ("interactions", bill.interactions),
        ("added", bill.added),
        ("whole", bill.whole),
    ];
    let sums = sums.into_iter().map(|(kind, figure)| of_sum(bill, kind, "", figure, ""));
    let steps = bill.lines.iter().map(|line| of_step(bill, line));
    let all = std::iter::once(header()).chain(sums).chain(steps);
    records(all.chain(of_linux(bill)).chain(of_configurations(bill)))
}

fn header() -> Vec<String> {
    let figures = FIGURES.iter().flat_map(|figure| OF_FIGURE.iter().map(move |of| format!("{figure}_{of}")));
    let (before, behind) = (BEFORE.map(str::to_owned), BEHIND.map(str::to_owned));
    before.into_iter().chain(figures).chain(behind).collect()
}

fn optional(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// With every digit that a `f64` has; empty where there is none.
fn cells(figure: Option<Figure>) -> [String; OF_FIGURE.len()] {
    let of = |value: fn(&Figure) -> Option<f64>| optional(figure.as_ref().and_then(value));
    [of(|one| Some(one.estimate)), of(|one| one.low), of(|one| one.high), of(|one| one.p)]
}

fn before(bill: &Bill, kind: &str, name: &str, base: &str) -> Vec<String> {
    let unit = bill.unit.map_or("", attribution::bill::Unit::name);
    [kind, &bill.entry, &bill.operation, &bill.profile, name, base, unit].map(str::to_owned).into()
}

fn of_sum(bill: &Bill, kind: &str, name: &str, figure: Option<Figure>, remark: &str) -> Vec<String> {
    let mut record = before(bill, kind, name, "");
    record.extend(cells(figure));
    record.extend(vec![String::new(); (FIGURES.len() - 1) * OF_FIGURE.len() + BEHIND.len() - 1]);
    record.push(remark.to_owned());
    record
}

fn of_step(bill: &Bill, line: &Line) -> Vec<String> {
    let step = &line.step;
    let mut record = before(bill, "step", &step.name(), &step.base);
    record.extend([line.alone, line.in_company, line.in_orders].into_iter().flat_map(cells));
    let needs: Vec<&str> = step.needs.iter().map(|need| need.feature.as_str()).collect();
    let required = step.requires.iter().filter_map(|place| bill.lines.get(*place));
    let required: Vec<String> = required.map(|line| line.step.name()).collect();
    let state = match line.state {
        State::Measured => "measured",
        State::WithoutEffect(_) => "without-effect",
        State::Unseen => "unseen",
        State::LeftOut(_) => "left-out",
        State::Failed(_) => "failed",
    };
    let texts =
        [state, &needs.join(";"), &required.join(";"), &super::words::remark(line)].map(str::to_owned);
    record.push(optional(line.share));
    record.extend(texts);
    record
}

/// What was measured there, the parts that explain it, and the rest.
fn of_linux(bill: &Bill) -> Vec<Vec<String>> {
    let Some(there) = &bill.there else { return Vec::new() };
    let why = there.why.as_deref().unwrap_or_default();
    let mut records = vec![of_sum(bill, "measured-there", &there.what, there.measured, why)];
    records.extend(
        there.parts.iter().map(|part| {
            of_sum(bill, "part", &part.what, part.figure, part.note.as_deref().unwrap_or_default())
        }),
    );
    records.push(of_sum(bill, "explained-here", "", there.explained, ""));
    records.push(of_sum(bill, "rest", "", there.rest, ""));
    records
}

fn of_configurations(bill: &Bill) -> impl Iterator<Item = Vec<String>> {
    bill.configurations.iter().map(|configured| {
        let values = configured.values.iter().map(|(switch, value)| format!("{switch}={value}"));
        let name = values.collect::<Vec<_>>().join(";");
        let mut record = of_sum(
            bill,
            "configuration",
            &name,
            configured.figure,
            configured.why.as_deref().unwrap_or_default(),
        );
        // A configuration says itself which operation it is of.
        record[2] = configured.operation.clone();
        record
    })
}

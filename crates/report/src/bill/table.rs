//! The tables of a bill, for text and Markdown alike.

use super::path::keys;
use super::words::{amount, error, is_counted, name, needs, remark, share};
use crate::figure::ABSENT;
use attribution::bill::{Bill, Figure, State, There};

/// What a row of a table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// A step or a part.
    ExplainedPart,
    /// A step that has no figure.
    Without,
    /// A sum.
    Sum,
}

/// A row: its name, its numbers, and what is said of it in words.
#[derive(Clone)]
pub(super) struct Row {
    pub weight: Weight,
    pub key: Option<char>,
    pub name: String,
    pub numbers: Vec<String>,
    pub needs: String,
    pub remark: String,
}

/// A table: what stands above its numbers, and its rows.
pub(super) struct Table {
    /// Above the names.
    pub first: &'static str,
    pub headings: Vec<&'static str>,
    /// Whether it has the column of features.
    pub has_needs: bool,
    /// Above the words.
    pub last: &'static str,
    pub rows: Vec<Row>,
}

impl Table {
    /// With the columns of numbers at these places alone, which are in their order.
    pub fn with(&self, places: &[usize]) -> Table {
        let headings = places.iter().filter_map(|place| self.headings.get(*place).copied()).collect();
        let numbers =
            |row: &Row| places.iter().filter_map(|place| row.numbers.get(*place).cloned()).collect();
        let rows = self.rows.iter().map(|row| Row { numbers: numbers(row), ..row.clone() }).collect();
        Table { headings, rows, ..*self }
    }
}

/// The columns of the steps' figures: what they are called, and where they are from. Each has a column of errors behind it where
/// time was measured.
struct Columns {
    has_errors: bool,
    has_orders: bool,
}

impl Columns {
    fn headings(&self) -> Vec<&'static str> {
        let names = ["alone", "in company"].into_iter().chain(self.has_orders.then_some("in orders"));
        let mut headings: Vec<&'static str> = Vec::new();
        for name in names {
            headings.push(name);
            headings.extend(self.has_errors.then_some("±"));
        }
        headings.push("share");
        headings
    }

    /// The cells of figures in the order of the headings, and of the share.
    fn cells(&self, bill: &Bill, figures: [Option<Figure>; 3], of_whole: Option<f64>) -> Vec<String> {
        let shown = if self.has_orders { &figures[..] } else { &figures[..2] };
        let mut cells = Vec::new();
        for figure in shown {
            cells.push(figure.map_or_else(|| ABSENT.to_owned(), |figure| amount(bill, figure.estimate)));
            cells.extend(self.has_errors.then(|| figure.as_ref().map(error).unwrap_or_default()));
        }
        cells.push(share(of_whole));
        cells
    }

    /// The cells of what the steps are together, each alone: with orders, shares are of another column, and this one has none.
    fn sum_alone(&self, bill: &Bill, figure: Option<Figure>) -> Vec<String> {
        let mut cells = self.sum(bill, figure);
        if let (true, Some(share)) = (self.has_orders, cells.last_mut()) {
            share.clear();
        }
        cells
    }

    /// The cells of a figure that belongs to no one column: in the first, and nothing in the others but its share.
    fn sum(&self, bill: &Bill, figure: Option<Figure>) -> Vec<String> {
        let whole = bill.whole.map(|whole| whole.estimate).filter(|whole| *whole > 0.0);
        let of_whole = figure.zip(whole).map(|(figure, whole)| figure.estimate / whole);
        let mut cells = self.cells(bill, [figure, None, None], of_whole);
        let last = cells.len() - 1;
        let own = if self.has_errors { 2 } else { 1 };
        cells[own..last].iter_mut().for_each(String::clear);
        cells
    }
}

/// The steps between bare and the whole.
pub(super) fn steps(bill: &Bill) -> Table {
    let columns = Columns { has_errors: !is_counted(bill), has_orders: bill.orders > 0 };
    let sum = |name: &str, numbers: Vec<String>| Row {
        weight: Weight::Sum,
        key: None,
        name: name.to_owned(),
        numbers,
        needs: String::new(),
        remark: String::new(),
    };
    let step = |(line, key): (&attribution::bill::Line, Option<char>)| Row {
        weight: match line.state {
            State::Measured | State::WithoutEffect(_) => Weight::ExplainedPart,
            State::Unseen | State::LeftOut(_) | State::Failed(_) => Weight::Without,
        },
        key,
        name: name(bill, line),
        numbers: columns.cells(bill, [line.alone, line.in_company, line.in_orders], line.share),
        needs: needs(line),
        remark: remark(line),
    };
    let mut rows = vec![sum("bare", columns.sum(bill, bill.bare))];
    rows.extend(bill.lines.iter().zip(keys(bill)).map(step));
    rows.push(sum("sum of the steps", columns.sum_alone(bill, bill.sum)));
    rows.push(sum("interactions", columns.sum_alone(bill, bill.interactions)));
    rows.push(sum("whole", columns.sum(bill, bill.whole)));
    Table { first: "step", headings: columns.headings(), has_needs: true, last: "", rows }
}

/// What of a Linux's cost is explained.
pub(super) fn there(bill: &Bill, there: &There) -> Table {
    let has_errors = !is_counted(bill);
    let measured = there.measured.map(|figure| figure.estimate).filter(|measured| *measured > 0.0);
    let row = |weight, name: &str, figure: Option<Figure>, remark: &str| {
        let mut numbers =
            vec![figure.map_or_else(|| ABSENT.to_owned(), |figure| amount(bill, figure.estimate))];
        numbers.extend(has_errors.then(|| figure.as_ref().map(error).unwrap_or_default()));
        numbers.push(share(figure.zip(measured).map(|(figure, measured)| figure.estimate / measured)));
        let (name, remark) = (name.to_owned(), remark.to_owned());
        Row { weight, key: None, name, numbers, needs: String::new(), remark }
    };
    let mut rows =
        vec![row(Weight::Sum, "measured there", there.measured, there.why.as_deref().unwrap_or(""))];
    rows.extend(there.parts.iter().map(|part| {
        let weight = if part.figure.is_some() { Weight::ExplainedPart } else { Weight::Without };
        row(weight, &part.what, part.figure, part.note.as_deref().unwrap_or(""))
    }));
    rows.push(row(Weight::Sum, "explained here", there.explained, ""));
    rows.push(row(Weight::Sum, "rest", there.rest, ""));
    let unit = bill.unit.map_or("", attribution::bill::Unit::name);
    let mut headings = vec![unit];
    headings.extend(has_errors.then_some("±"));
    headings.push("share");
    Table { first: "part", headings, has_needs: false, last: "", rows }
}

/// Every configuration that was measured.
pub(super) fn configurations(bill: &Bill) -> Table {
    let has_errors = !is_counted(bill);
    let row = |configured: &attribution::bill::MeasuredConfiguration| {
        let figure = configured.figure;
        let mut numbers =
            vec![figure.map_or_else(|| ABSENT.to_owned(), |figure| amount(bill, figure.estimate))];
        numbers.extend(has_errors.then(|| figure.as_ref().map(error).unwrap_or_default()));
        let values = configured.values.iter().map(|(switch, value)| format!("{switch}={value}"));
        let values = values.collect::<Vec<_>>().join(" ");
        let values = if values.is_empty() { "bare".to_owned() } else { values };
        let why = configured.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        Row {
            weight: if figure.is_some() { Weight::ExplainedPart } else { Weight::Without },
            key: None,
            name: configured.operation.clone(),
            numbers,
            needs: String::new(),
            remark: format!("{values}{why}"),
        }
    };
    let mut headings = vec![bill.unit.map_or("", attribution::bill::Unit::name)];
    headings.extend(has_errors.then_some("±"));
    let rows = bill.configurations.iter().map(row).collect();
    Table { first: "operation", headings, has_needs: false, last: "configuration", rows }
}

//! Rows as UnixBench counts them, in a table of their own: turns in a second, and its index of them. Most rows have none.

use crate::arrange::Group;
use crate::configuration::Compared;
use crate::figure::{ABSENT, number};
use crate::grid::{Column, Grid};
use document::{Interval, Rate, Row};

/// What stands above the table.
pub(crate) const HEADING: &str = "UnixBench";

/// What the columns mean.
pub(crate) const LEGEND: &str = "turns of its loop in a second, if one took what the row costs: the loop itself is not in it; \
                                 index: turns in a second ÷ 15000 × 10, which UnixBench has for its mix of calls alone";

/// From here on a number is written with an exponent.
const EXPONENT_FROM: f64 = 1e12;

/// Each row that has a rate, in the order of the groups. A narrow terminal has no intervals, then no entries.
pub(crate) fn grid(groups: &[Group], compared: &Compared) -> Grid {
    const INTERVAL: u8 = 2;
    const ENTRY: u8 = 1;
    let rows = groups.iter().flat_map(|group| &group.blocks).flat_map(|block| &block.rows);
    let rated: Vec<(&Row, Rate)> = rows.filter_map(|row| Some((*row, row.rate?))).collect();
    let entry = |row: &Row| format!("{} {}", row.entry, compared.of(row)).trim_end().to_owned();
    let interval = || Column::number("95 % interval").spare(INTERVAL);
    Grid::of(&rated)
        .column(Column::word(HEADING).alone("entry").spare(ENTRY), |(row, _)| entry(row))
        .column(Column::word("").alone("operation"), |(row, _)| &row.operation)
        .column(Column::number("loops/s"), |(_, rate)| whole(rate.loops_per_second.estimate))
        .column(interval(), |(_, rate)| within(&rate.loops_per_second, whole))
        .column(Column::number("index"), |(_, rate)| rate.index.map(|index| number(index.estimate)))
        .column(interval(), |(_, rate)| rate.index.and_then(|index| within(&index, number)))
        .grid()
}

fn within(figure: &Interval, written: fn(f64) -> String) -> Option<String> {
    Some(format!("{} – {}", written(figure.ci_low?), written(figure.ci_high?)))
}

/// Without digits behind the point: a loop turns often.
fn whole(number: f64) -> String {
    match number {
        _ if !number.is_finite() => ABSENT.to_owned(),
        _ if number.abs() >= EXPONENT_FROM => format!("{number:.1e}"),
        _ => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_absent_and_no_number_is_endless() {
        let one = |estimate, ci_low, ci_high| Interval { estimate, ci_low, ci_high };
        assert_eq!(
            within(&one(4_232_743.4, Some(4.2e6), Some(4.3e6)), whole).as_deref(),
            Some("4200000 – 4300000")
        );
        assert_eq!(within(&one(25e6, Some(24e6), None), whole), None);
        assert_eq!([whole(1e300), whole(f64::NAN), whole(f64::INFINITY)], ["1.0e300", "-", "-"]);
    }
}

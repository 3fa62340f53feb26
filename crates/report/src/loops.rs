//! Rows as UnixBench counts them, in a table of their own: turns in a second, and its index of them. Most rows have none.

use crate::arrange::Group;
use crate::configuration::Compared;
use crate::figure::ABSENT;
use crate::plain::plain;
use document::{Interval, Row};

/// What stands above the table.
pub(crate) const HEADING: &str = "UnixBench";

/// What the columns are called.
pub(crate) const COLUMNS: [&str; 6] =
    ["entry", "operation", "loops/s", "95 % interval", "index", "95 % interval"];

/// The columns before numbers.
pub(crate) const NAMES: usize = 2;

/// What the columns mean.
pub(crate) const LEGEND: &str = "turns of its loop in a second, if one took what the row costs: the loop itself is not in it; \
                                 index: turns in a second ÷ 15000 × 10, which UnixBench has for its mix of calls alone";

/// A row's cells, in the order of [`COLUMNS`].
pub(crate) type Turns = [String; COLUMNS.len()];

/// From here on a number is written with an exponent.
const EXPONENT_FROM: f64 = 1e12;

/// The cells of each row that has a rate, in the order of the groups.
pub(crate) fn rows(groups: &[Group], compared: &Compared) -> Vec<Turns> {
    let rows = groups.iter().flat_map(|group| &group.blocks).flat_map(|block| &block.rows);
    rows.filter_map(|row| cells(row, compared)).collect()
}

fn cells(row: &Row, compared: &Compared) -> Option<Turns> {
    let rate = row.rate.as_ref()?;
    let entry = format!("{} {}", row.entry, compared.of(row));
    let [turns, turns_within] = figure(Some(&rate.loops_per_second), whole);
    let [index, index_within] = figure(rate.index.as_ref(), crate::figure::number);
    Some([plain(entry.trim_end()), plain(&row.operation), turns, turns_within, index, index_within])
}

fn figure(figure: Option<&Interval>, written: fn(f64) -> String) -> [String; 2] {
    let interval =
        figure.and_then(|one| Some(format!("{} – {}", written(one.ci_low?), written(one.ci_high?))));
    [figure.map(|one| written(one.estimate)), interval].map(|cell| cell.unwrap_or_else(|| ABSENT.to_owned()))
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
        assert_eq!(figure(None, whole), ["-", "-"]);
        assert_eq!(
            figure(Some(&one(4_232_743.4, Some(4.2e6), Some(4.3e6))), whole),
            ["4232743", "4200000 – 4300000"]
        );
        assert_eq!(figure(Some(&one(25e6, Some(24e6), None)), whole), ["25000000", "-"]);
        assert_eq!([whole(1e300), whole(f64::NAN), whole(f64::INFINITY)], ["1.0e300", "-", "-"]);
    }
}

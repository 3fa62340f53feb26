//! Bars, on a logarithmic scale: costs span five decades, and on a linear one all but a few would be empty.

use crate::figure::shown;
use document::{Document, Outcome};

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const FULL: &str = "█";

/// The scale of a document's bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    decades: i32,
}

impl Scale {
    /// From 1 to the power of ten that the greatest cost does not exceed.
    pub fn of(document: &Document) -> Self {
        let ok = document.results.iter().filter(|row| row.outcome == Outcome::Ok);
        let greatest = ok.filter_map(|row| Some(shown(row)?.cost.estimate));
        Self::to(greatest.filter(|cost| cost.is_finite()).fold(1.0, f64::max))
    }

    fn to(greatest: f64) -> Self {
        let decades = greatest.log10().ceil() as i32;
        Self { decades: decades.max(1) }
    }

    /// A full bar's cost.
    pub fn full(self) -> String {
        if self.decades < 7 {
            10_u32.pow(self.decades.unsigned_abs()).to_string()
        } else {
            format!("1e{}", self.decades)
        }
    }

    /// A bar of at most `columns`, to an eighth of a column; none for costs up to 1, which include negative ones.
    pub fn bar(self, cost: f64, columns: usize) -> String {
        let part = cost.log10() / f64::from(self.decades);
        if part.is_nan() || part <= 0.0 {
            return String::new();
        }
        let eighths = (part.min(1.0) * columns as f64 * 8.0).round() as usize;
        FULL.repeat(eighths / 8) + EIGHTHS[eighths % 8]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decade_is_a_fixed_length() {
        let scale = Scale::to(30_000.0);
        assert_eq!(scale.full(), "100000");
        assert_eq!(scale.bar(100_000.0, 10), "██████████");
        assert_eq!(scale.bar(1_000.0, 10), "██████");
        assert_eq!(scale.bar(10.0, 10), "██");
        assert_eq!(scale.bar(2.0, 10), "▋");
        assert_eq!(scale.bar(1e9, 10), "██████████");
    }

    #[test]
    fn no_cost_no_bar() {
        for cost in [1.0, 0.0, -5.0, f64::NAN] {
            assert_eq!(Scale::to(100.0).bar(cost, 10), "");
        }
        assert_eq!(Scale::to(1.0), Scale::to(10.0));
        assert_eq!(Scale::to(1e300).full(), "1e300");
    }
}

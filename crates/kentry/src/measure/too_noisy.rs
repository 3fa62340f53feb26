//! `--fail-if-noisy`: whether a run has too few figures.

use document::{Document, Outcome, Row, Timing};
use std::fmt;
use std::str::FromStr;

/// The share of `--fail-if-noisy` without one.
pub const USUAL: &str = "10%";

/// A part of all rows, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share(f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        let percent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        let share = percent.map(|percent| percent / 100.0).filter(|share| (0.0..=1.0).contains(share));
        share.map(Share).ok_or_else(|| "write a share of the rows, from 0% to 100%".into())
    }
}

impl fmt::Display for Share {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{} %", 100.0 * self.0)
    }
}

/// Why a run is too noisy, in words: more than this share of the rows that work have no figure.
pub fn why(document: &Document, most: Share) -> Option<String> {
    let works = |row: &&Row| row.outcome == Outcome::Ok && row.timing == Timing::Hardware;
    let rows = document.results.iter().filter(works).count();
    let without = document.results.iter().filter(works).filter(|row| row.figure().is_none()).count();
    let is_too_noisy = without as f64 > most.0 * rows as f64 || (rows > 0 && without == rows);
    is_too_noisy.then(|| {
        format!(
            "too few figures: {without} of {rows} working rows have no figure; the limit is {most} (--fail-if-noisy)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_percentage_of_the_rows() {
        let share = |text: &str| text.parse::<Share>();
        assert_eq!(
            (share("10%"), share("0 %"), share("100%")),
            (Ok(Share(0.1)), Ok(Share(0.0)), Ok(Share(1.0)))
        );
        assert_eq!(share(USUAL).unwrap().to_string(), "10 %");
        for wrong in ["10", "", "-1%", "101%", "nan%", "inf%"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    /// A document of ten rows that all have a figure.
    fn of_ten_rows() -> Document {
        let cost = r#"{ "estimate": 100.0, "ci_low": 99.0, "ci_high": 101.0, "min": 98.0, "p50": 100.0, "p99": null, "p999": null, "max": 110.0 }"#;
        let row = Row {
            core_cycles: serde_json::from_str(cost).unwrap(),
            ..Row::unmeasured("syscall-x86_64", "getppid", 64)
        };
        let mut document = document::load(
            r#"{ "schema": "kentry.run/2", "measurement": {}, "environment": {}, "vdso": {}, "results": [], "findings": [] }"#,
        )
        .unwrap();
        document.results = vec![row; 10];
        document
    }

    #[test]
    fn a_run_is_too_noisy_when_more_rows_lack_a_figure_than_may() {
        let mut document = of_ten_rows();
        let noisy = |document: &Document, share: &str| why(document, share.parse().unwrap());
        assert_eq!(noisy(&document, "0%"), None);
        for row in document.results.iter_mut().take(3) {
            (row.core_cycles, row.ticks) = (None, None);
        }
        assert_eq!(noisy(&document, "30%"), None);
        let said = noisy(&document, "20%").unwrap();
        assert!(
            said.starts_with("too few figures: 3 of 10 working rows have no figure; the limit is 20 %"),
            "{said}"
        );
        document.results.truncate(3);
        assert!(noisy(&document, "100%").is_some(), "nothing at all is always too little");
        document.results.clear();
        assert_eq!(noisy(&document, "0%"), None, "where no row works, noise is not why");
    }
}

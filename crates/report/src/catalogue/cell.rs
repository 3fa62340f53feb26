//! What stands in a cell of a table.

use super::measure::Measure;
use crate::figure::{ABSENT, EXPONENT_FROM, beside, number};
use crate::plain::plain;
use document::Outcome;
use summary::Row;

/// A row's figures in one run.
#[derive(Default)]
pub(super) struct Cell {
    /// The figure, or what stands where there is none.
    pub text: String,
    /// Where the row stands in its run's page; none where there is no row.
    pub href: Option<String>,
    /// By what it is ordered; empty where there is no figure.
    pub key: String,
    /// `±0.2`; empty where nothing is uncertain.
    pub error: String,
    /// In nanoseconds; empty where they are unknown, and of a count.
    pub nanoseconds: String,
    /// Why there is no figure; empty where there is one.
    pub why: String,
}

impl Cell {
    /// Of a row, with its place in the run whose page is there.
    pub fn of(row: Option<(usize, &Row)>, measure: Measure, page: &str) -> Cell {
        let Some((place, row)) = row else { return Cell { text: ABSENT.to_owned(), ..Cell::default() } };
        let href = Some(format!("{page}#row-{place}"));
        if !measure.has_figure(row) {
            let (text, why) = instead(row);
            return Cell { text, why, href, ..Cell::default() };
        }
        match measure {
            Measure::Time => Cell {
                text: optional(row.core_cycles, number),
                href,
                key: key(row.core_cycles),
                error: error(row.core_cycles, row.core_cycles_ci_low, row.core_cycles_ci_high),
                nanoseconds: row.nanoseconds.map(number).unwrap_or_default(),
                why: String::new(),
            },
            Measure::Count => Cell {
                text: optional(row.instructions, count),
                href,
                key: key(row.instructions),
                ..Cell::default()
            },
        }
    }
}

/// Why a row has no figure: in a word, and in words.
pub(super) fn instead(row: &Row) -> (String, String) {
    if row.outcome != Outcome::Ok {
        return (row.outcome.name().to_owned(), row.reason.as_deref().map(plain).unwrap_or_default());
    }
    let noise = row.noise.as_deref().map(|noise| match noise {
        "shared" => "the core was shared".to_owned(),
        "preempted" => "other processes ran in between".to_owned(),
        "too-few" => "too few rounds for an estimate".to_owned(),
        "wide" => "its interval is wider than its estimate".to_owned(),
        other => plain(other),
    });
    match noise {
        Some(why) => ("noisy".to_owned(), why),
        None => ("works".to_owned(), "not timed".to_owned()),
    }
}

/// How far an interval reaches.
pub(super) fn error(estimate: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    let known = estimate.zip(low.zip(high));
    known.map(|(estimate, (low, high))| beside(estimate, [low, high], number)).unwrap_or_default()
}

pub(super) fn optional(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), text)
}

/// What was counted is whole; a mean of several counts is not.
pub(super) fn count(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < EXPONENT_FROM {
        format!("{:.0}", value + 0.0)
    } else {
        number(value)
    }
}

fn key(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

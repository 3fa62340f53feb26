//! When a run was noisy: its rounds in parts of equal length.

use super::PageRun;
use super::rounds::{Point, State, points};
use crate::figure::ABSENT;
use document::Document;

/// So many parts a run is divided into.
const PARTS: usize = 12;

/// A run that was timed.
pub(super) struct Timeline {
    /// Its number.
    pub run: usize,
    pub parts: Vec<Part>,
}

/// A part of it.
pub(super) struct Part {
    /// From when to when.
    pub seconds: String,
    /// Rounds, of these kept, shared, preempted, struck, and the median of their canaries.
    pub cells: Vec<String>,
}

/// Of each run that has rounds.
pub(super) fn all(runs: &[PageRun]) -> Vec<Timeline> {
    let of_run = |(run, page): (usize, &PageRun)| {
        let parts = parts(&page.document);
        (!parts.is_empty()).then_some(Timeline { run, parts })
    };
    runs.iter().enumerate().filter_map(of_run).collect()
}

fn parts(document: &Document) -> Vec<Part> {
    let rows = document.results.iter();
    let points: Vec<Point> = rows.flat_map(|row| points(row, &document.measurement)).collect();
    let end = points.iter().map(|point| point.at).fold(0.0, f64::max);
    if points.is_empty() || !end.is_finite() {
        return Vec::new();
    }
    let length = end / PARTS as f64;
    let part = |point: &Point| ((point.at / length) as usize).min(PARTS - 1);
    let mut all: Vec<Vec<&Point>> = vec![Vec::new(); PARTS];
    for point in &points {
        all[part(point)].push(point);
    }
    let number = |(index, points): (usize, &Vec<&Point>)| Part {
        seconds: format!("{:.2} to {:.2}", index as f64 * length, (index + 1) as f64 * length),
        cells: cells(points),
    };
    all.iter().enumerate().map(number).collect()
}

fn cells(points: &[&Point]) -> Vec<String> {
    let count =
        |states: &[State]| points.iter().filter(|point| states.contains(&point.state)).count().to_string();
    let canary = stats::quantile_of(points.iter().filter_map(|point| point.canary), 0.5);
    vec![
        points.len().to_string(),
        count(&[State::Kept, State::Elsewhere]),
        count(&[State::Shared]),
        count(&[State::Preempted]),
        count(&[State::Struck]),
        canary.map_or(ABSENT.to_owned(), |canary| format!("{canary:.2}")),
    ]
}

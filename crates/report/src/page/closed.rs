//! What does not work in some run, and for what cause.

use super::lines::Line;
use crate::figure::ABSENT;
use crate::plain::plain;
use document::{Outcome, Row};

/// Operations of one entry that are closed for one cause.
pub(super) struct Closed {
    pub entry: String,
    pub configuration: String,
    pub operations: String,
    pub outcome: &'static str,
    pub cause: String,
    /// The runs in which they are closed so.
    pub runs: Vec<usize>,
}

impl Closed {
    fn is_for_the_cause_of(&self, other: &Closed) -> bool {
        let cause = |closed: &Closed| (closed.outcome, closed.cause.clone(), closed.runs.clone());
        self.entry == other.entry && self.configuration == other.configuration && cause(self) == cause(other)
    }
}

/// In the order of the lines; operations that are closed for the same cause in the same runs together.
pub(super) fn closed(lines: &[Line]) -> Vec<Closed> {
    let mut all: Vec<Closed> = Vec::new();
    for found in lines.iter().flat_map(of_line) {
        // The entry's operations follow each other.
        match all.iter_mut().rev().take(MOST_CAUSES).find(|known| known.is_for_the_cause_of(&found)) {
            Some(same) => same.operations = format!("{}, {}", same.operations, found.operations),
            None => all.push(found),
        }
    }
    all
}

/// So far back the same cause is looked for.
const MOST_CAUSES: usize = 32;

/// Each cause for which an operation is closed in some run.
fn of_line(line: &Line) -> Vec<Closed> {
    let mut causes: Vec<Closed> = Vec::new();
    let rows = line.rows.iter().enumerate().filter_map(|(run, row)| Some((run, (*row)?)));
    for (run, row) in rows.filter(|(_, row)| row.outcome != Outcome::Ok) {
        let found = of_row(line, row, run);
        match causes.iter_mut().find(|known| (known.outcome, &known.cause) == (found.outcome, &found.cause)) {
            Some(same) => same.runs.push(run),
            None => causes.push(found),
        }
    }
    causes
}

fn of_row(line: &Line, row: &Row, run: usize) -> Closed {
    Closed {
        entry: plain(line.entry),
        configuration: line.configuration.clone(),
        operations: plain(line.operation),
        outcome: row.outcome.name(),
        cause: row.reason.as_deref().map_or_else(|| ABSENT.to_owned(), plain),
        runs: vec![run],
    }
}

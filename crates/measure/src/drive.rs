//! Takes rounds from a place, one after the other, whichever place it is.

use crate::row::{Answer, Row, TableRow};

/// One round of one row.
#[derive(Debug)]
pub struct RoundTaken {
    /// The row's index in the plan.
    pub row: usize,
    /// When it was begun, in seconds of the measurement.
    pub at: f64,
    /// What the probe said, or why it said nothing.
    pub answer: Answer,
}

/// How far a measurement is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// How much is over of the longest time that it may take: 0 to 1. It may end before.
    pub share: f64,
    /// What is measured now.
    pub row: TableRow<'a>,
    /// Share of the canaries so far that found the core alone; none before the first.
    pub quiet: Option<f64>,
}

/// A source of rounds.
pub trait Measurer {
    /// The next round. The measurer chooses the row by what is still needed; `None` when the measurement is over.
    fn next(&mut self, rows: &[Row]) -> Option<RoundTaken>;

    /// Called when the row with this index has taken its round, so that the next one can be chosen by it. A place that is never
    /// shared has nothing to look at.
    fn look(&mut self, _rows: &mut [Row], _index: usize) {}

    /// How far the measurement is, now that this row has taken a round. `None` where the place reported its progress
    /// before, because all rounds are there when the first is taken.
    fn progress<'a>(&self, _row: TableRow<'a>) -> Option<Progress<'a>> {
        None
    }
}

/// Gives rounds to their rows until the measurer has no more. A round of a row that is not there ends it, too.
pub fn drive<'a>(measurer: &mut dyn Measurer, rows: &mut [Row<'a>], progress: &mut dyn FnMut(Progress<'a>)) {
    while let Some(taken) = measurer.next(rows) {
        let Some(row) = rows.get_mut(taken.row) else { return };
        row.take(taken.answer, taken.at);
        let row = row.row;
        measurer.look(rows, taken.row);
        if let Some(far) = measurer.progress(row) {
            progress(far);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::{Counter, Outcome};
    use std::collections::BTreeMap;
    use table::{Kernel, Table};

    /// Rounds that are there before they are asked for.
    struct Tape(Vec<RoundTaken>);

    impl Measurer for Tape {
        fn next(&mut self, _rows: &[Row]) -> Option<RoundTaken> {
            self.0.pop()
        }
    }

    /// The same of a place that looks at every row and tells how far it is.
    struct Watched {
        tape: Tape,
        looked_at: Vec<u16>,
    }

    impl Measurer for Watched {
        fn next(&mut self, rows: &[Row]) -> Option<RoundTaken> {
            self.tape.next(rows)
        }

        fn look(&mut self, rows: &mut [Row], index: usize) {
            let row = &rows[index];
            assert!(!row.is_open(), "the row has taken its round before it is looked at");
            self.looked_at.push(row.row.0.id);
        }

        fn progress<'a>(&self, row: TableRow<'a>) -> Option<Progress<'a>> {
            Some(Progress { share: self.looked_at.len() as f64, row, quiet: None })
        }
    }

    fn ending(row: usize, why: &str) -> RoundTaken {
        RoundTaken { row, at: 0.0, answer: Answer::Ended(Outcome::Refused, why.into()) }
    }

    fn rows() -> Vec<Row<'static>> {
        let rows = Table::get().rows(Kernel::Linux).take(3);
        rows.map(|row| Row::new(row, Counter::Time, BTreeMap::new())).collect()
    }

    fn reasons(rows: &[Row]) -> Vec<Option<String>> {
        rows.iter().map(|row| row.reason.clone()).collect()
    }

    #[test]
    fn every_round_reaches_its_row_and_is_looked_at() {
        let mut rows = rows();
        let tape = Tape(vec![ending(0, "late"), ending(2, "early")]);
        let mut watched = Watched { tape, looked_at: Vec::new() };
        let mut shares = Vec::new();
        drive(&mut watched, &mut rows, &mut |progress| shares.push(progress.share));
        assert_eq!(reasons(&rows), [Some("late".into()), None, Some("early".into())]);
        assert_eq!(watched.looked_at, [rows[2].row.0.id, rows[0].row.0.id]);
        assert_eq!(shares, [1.0, 2.0], "progress counts the round that was just looked at");
    }

    #[test]
    fn a_place_with_nothing_to_say_reports_no_progress() {
        let mut rows = rows();
        drive(&mut Tape(vec![ending(1, "closed")]), &mut rows, &mut |_| panic!("there is no progress"));
        assert_eq!(reasons(&rows), [None, Some("closed".into()), None]);
    }

    #[test]
    fn a_round_of_a_row_that_is_not_there_ends_the_measurement() {
        let mut rows = rows();
        drive(&mut Tape(vec![ending(0, "after it"), ending(3, "nowhere")]), &mut rows, &mut |_| ());
        assert_eq!(reasons(&rows), [None, None, None]);
    }
}

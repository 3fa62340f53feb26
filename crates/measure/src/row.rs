//! One row while it is measured.

use crate::drive::Answer;
use document::{Counter, Outcome, Path, Timing};
use record::{Failure, Payload, Record, Sample, abi};
use stats::Round;
use std::collections::BTreeMap;
use table::special::FIRST_SCREEN;
use table::{Entry, Operation};

/// What is said of a row whose rounds are not all kept.
const THINNED: &str = "the run was so long that only some rounds are kept, evenly spread over it";

/// A row of the table.
pub type TableRow<'a> = (&'a Entry, &'a Operation);

/// What is known of one row while it is measured.
pub struct Row<'a> {
    /// Which.
    pub row: TableRow<'a>,
    /// What the counter counts at this place.
    pub counter: Counter,
    /// The lab's switches, or the kind of core, that tell it from other rows of the same entry and operation.
    pub configuration: BTreeMap<String, String>,
    /// How it ended; `Ok` while it works.
    pub outcome: Outcome,
    /// Why.
    pub reason: Option<String>,
    /// For a function, whether it enters the kernel.
    pub path: Option<Path>,
    /// Remarks for the reader.
    pub remarks: Vec<String>,
    /// The rounds so far, where time is measured.
    pub rounds: Vec<Round>,
    /// The samples so far, where instructions are counted.
    pub counted: Vec<Sample>,
    /// How many of its rounds will probably be kept.
    pub good: usize,
    /// What the machine had no room for, when it last had none for a round.
    lost: Option<Failure>,
    /// Whether the last answer was a round.
    has_newest: bool,
    /// Rounds taken since the beginning, kept or not.
    taken: usize,
    /// One of so many rounds is kept.
    stride: usize,
}

impl<'a> Row<'a> {
    /// A row that was not tried yet.
    pub fn new(row: TableRow<'a>, counter: Counter, configuration: BTreeMap<String, String>) -> Row<'a> {
        Row {
            row,
            counter,
            configuration,
            outcome: Outcome::Ok,
            reason: None,
            path: None,
            remarks: Vec::new(),
            rounds: Vec::new(),
            counted: Vec::new(),
            good: 0,
            lost: None,
            has_newest: false,
            taken: 0,
            stride: 1,
        }
    }

    /// The round that the last answer was; none where that was something else.
    pub fn newest(&mut self) -> Option<&mut Round> {
        self.rounds.last_mut().filter(|_| self.has_newest)
    }

    /// Bounds the rounds that are kept, however long a run is. When there are more than `most`, every second one is dropped, and
    /// from then on every second new one, so that the rest is spread evenly over the run. To be called after each round;
    /// `good` is how many rounds were good before it.
    pub fn thin(&mut self, most: usize, good: usize) {
        let number = self.taken;
        self.taken += 1;
        if !number.is_multiple_of(self.stride) {
            self.rounds.pop();
            self.good = good;
        } else if self.rounds.len() > most.max(1) {
            let mut index = 0;
            self.rounds.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.stride *= 2;
            self.good /= 2;
            if self.stride == 2 {
                self.remarks.push(THINNED.to_string());
            }
        }
    }

    /// Whether it is shown on the first screen.
    pub fn is_shown_first(&self) -> bool {
        let (entry, operation) = self.row;
        FIRST_SCREEN.iter().any(|name| name.is(&entry.name, &operation.name))
    }

    /// Takes a round. The first that fails ends the row, whatever came before: an entry that answers wrongly once gets no
    /// number. A round for which the machine lacked processes or memory says nothing about the entry, and is ignored.
    pub fn take(&mut self, answer: Answer, at: f64) {
        let (entry, _) = self.row;
        self.has_newest = false;
        match answer {
            Answer::Records(records) => self.read(&records, at),
            Answer::Failed(failure) if failure.is_momentary() => self.lost = Some(failure),
            Answer::Failed(failure) => self.end(document::judge_failure(entry, &failure)),
            Answer::Ended(outcome, reason) => self.end((outcome, reason)),
            Answer::Unrun(outcome, reason) => {
                // The probe did not run, so remarks about the emulator's behavior do not apply.
                self.remarks.clear();
                self.end((outcome, reason));
            }
        }
    }

    fn read(&mut self, records: &[Record], at: f64) {
        let (entry, operation) = self.row;
        if records.iter().any(|record| (record.entry, record.operation) != (entry.id, operation.id)) {
            return self.end((Outcome::Error, "the probe answered for another row".into()));
        }
        let verdict = records.iter().find_map(|record| match record.payload {
            Payload::Outcome(verdict) => Some(verdict),
            _ => None,
        });
        match verdict {
            Some(verdict) if verdict.outcome != abi::OUTCOME_OK => self.end(document::judge(entry, &verdict)),
            None => self.end((Outcome::Error, "the probe gave no verdict".into())),
            Some(_) => self.read_figures(records, at),
        }
    }

    fn read_figures(&mut self, records: &[Record], at: f64) {
        let (entry, _) = self.row;
        if let Some(value) = fact(records, abi::FACT_PATH) {
            let is_function = matches!(entry.kind, table::Kind::Function | table::Kind::Memory);
            self.path = document::path_of(value).filter(|_| is_function);
        }
        match self.counter {
            Counter::Instructions => {
                let before = self.counted.len();
                self.counted.extend(records.iter().flat_map(samples));
                if self.counted.len() == before {
                    self.end((Outcome::Error, "the records hold no samples".into()));
                }
            }
            Counter::Time => match Round::reduce(records, at) {
                Ok(round) => {
                    self.rounds.push(round);
                    self.has_newest = true;
                }
                Err(error) => self.end((Outcome::Error, error.to_string())),
            },
        }
    }

    /// Whether it was tried: a row whose turn never came, because of an interruption, has no outcome and is left out.
    pub fn was_tried(&self) -> bool {
        self.outcome != Outcome::Ok || self.has_answered() || self.lost.is_some()
    }

    fn has_answered(&self) -> bool {
        !self.rounds.is_empty() || !self.counted.is_empty()
    }

    /// How it ended, and why. A row for which the machine never had room has nothing to show, and must not vanish.
    fn ended(&self) -> (Outcome, Option<String>) {
        match &self.lost {
            Some(failure) if self.is_open() && !self.has_answered() => {
                let (outcome, reason) = document::judge_failure(self.row.0, failure);
                (outcome, Some(reason))
            }
            _ => (self.outcome, self.reason.clone()),
        }
    }

    /// Whether it may still be measured.
    pub fn is_open(&self) -> bool {
        self.outcome == Outcome::Ok
    }

    fn end(&mut self, (outcome, reason): (Outcome, String)) {
        self.outcome = outcome;
        self.reason = Some(reason);
    }

    /// Its row of the document, without figures.
    pub fn without_figures(&self) -> document::Row {
        let (entry, operation) = self.row;
        let (outcome, reason) = self.ended();
        let timing = match self.counter {
            Counter::Time => Timing::Hardware,
            Counter::Instructions => Timing::Emulated,
        };
        document::Row {
            entry_id: Some(entry.id),
            operation_id: Some(operation.id),
            configuration: self.configuration.clone(),
            timing,
            outcome,
            reason,
            path: self.path,
            remarks: self.remarks.clone(),
            ..document::Row::unmeasured(&entry.name, &operation.name, entry.bits())
        }
    }
}

fn samples(record: &Record) -> &[Sample] {
    match &record.payload {
        Payload::Samples(samples) => samples,
        _ => &[],
    }
}

/// The value of a fact, if the probe reported it.
pub fn fact(records: &[Record], wanted: u64) -> Option<u64> {
    records.iter().find_map(|record| match record.payload {
        Payload::Fact { fact, value } if fact == wanted => Some(value),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulator::{Machine, Model, Subject};
    use table::{Kernel, Table};

    #[test]
    fn a_long_run_kept_every_round() {
        let row = Table::get().rows(Kernel::Linux).next().unwrap();
        let mut row = Row::new(row, Counter::Time, BTreeMap::new());
        let records =
            Machine::new(1, Model::default()).run(0, &Subject::from(8.0), &simulator::request(1, 1));
        let round = Round::reduce(&records, 0.0).unwrap();
        for number in 0..1000 {
            let good = row.good;
            row.rounds.push(Round { at: f64::from(number), ..round.clone() });
            row.good += 1;
            row.thin(100, good);
            assert!(row.rounds.len() <= 100, "{number}");
            assert!(
                number >= 100 || (row.rounds.len(), row.remarks.len()) == (number as usize + 1, 0),
                "{number}"
            );
            assert!(row.good.abs_diff(row.rounds.len()) <= 4, "{}: {} good", row.rounds.len(), row.good);
        }
        let at: Vec<f64> = row.rounds.iter().map(|round| round.at).collect();
        assert!(at.windows(2).all(|pair| pair[1] - pair[0] == 16.0), "evenly: {at:?}");
        assert_eq!((at[0], at.len(), row.remarks.len()), (0.0, 63, 1));
    }
}

//! One row while it is measured.

use document::{Counter, Outcome, Path, Timing};
use record::{Failure, Footprint, Payload, Record, Sample, abi};
use stats::Round;
use std::collections::BTreeMap;
use table::special::is_on_first_screen;
use table::{Entry, Operation};

/// What is said of a row whose rounds are not all kept.
const THINNED: &str =
    "the run was so long that only some rounds are kept, spread over it; quiet ones stay where they are rare";

/// A row of the table.
pub type TableRow<'a> = (&'a Entry, &'a Operation);

/// What a round brought.
#[derive(Debug)]
pub enum Answer {
    /// What the probe said.
    Records(Vec<Record>),
    /// It gave no answer.
    Failed(Failure),
    /// The place itself tells how the row ended.
    Ended(Outcome, String),
    /// As [`Answer::Ended`], and the probe was not even run.
    Unrun(Outcome, String),
}

/// What is known of one row while it is measured.
pub struct Row<'a> {
    /// Which.
    pub row: TableRow<'a>,
    /// What the counter counts at this place.
    pub counter: Counter,
    /// The lab's switches, or the kind of core, that tell it from other rows of the same entry and operation; and the footprint
    /// where one is asked for.
    pub configuration: BTreeMap<String, String>,
    /// What is touched behind every use.
    pub footprint: Footprint,
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
    /// Of each round whether it was good.
    were_good: Vec<bool>,
    /// Which good rounds are kept.
    good_ones: Sieve,
    /// Which others.
    others: Sieve,
}

/// Keeps one of so many.
struct Sieve {
    stride: usize,
    /// Taken since the beginning, kept or not.
    taken: usize,
}

impl Sieve {
    const ALL: Sieve = Sieve { stride: 1, taken: 0 };

    /// Whether the next one is kept.
    fn keeps_next(&mut self) -> bool {
        self.taken += 1;
        (self.taken - 1).is_multiple_of(self.stride)
    }
}

impl<'a> Row<'a> {
    /// A row that was not tried yet.
    pub fn new(row: TableRow<'a>, counter: Counter, configuration: BTreeMap<String, String>) -> Row<'a> {
        Row {
            row,
            counter,
            configuration,
            footprint: Footprint::NONE,
            outcome: Outcome::Ok,
            reason: None,
            path: None,
            remarks: Vec::new(),
            rounds: Vec::new(),
            counted: Vec::new(),
            good: 0,
            lost: None,
            has_newest: false,
            were_good: Vec::new(),
            good_ones: Sieve::ALL,
            others: Sieve::ALL,
        }
    }

    /// The same row among a footprint, which its configuration says; even if it is none, where others are asked for beside it.
    pub fn among(mut self, footprint: Footprint) -> Row<'a> {
        self.configuration.insert(document::FOOTPRINT.into(), footprint.to_string());
        self.footprint = footprint;
        self
    }

    /// The round that the last answer was; none where that was something else.
    pub fn newest(&mut self) -> Option<&mut Round> {
        self.rounds.last_mut().filter(|_| self.has_newest)
    }

    /// Bounds the rounds that are kept, however long a run is. When there are more than `most`, every second good one is dropped,
    /// or every second of the others if these are more, and from then on every second new one of that kind. So the rest is spread
    /// evenly over the run, and no run becomes so long that it loses its few good rounds. To be called after each round; `good`
    /// is how many rounds were good before it.
    pub fn thin(&mut self, most: usize, good: usize) {
        let is_good = self.good > good;
        if !self.sieve(is_good).keeps_next() {
            self.rounds.pop();
            self.good = good;
            return;
        }
        self.were_good.push(is_good);
        // Of three rounds, two at least are of one kind.
        if self.rounds.len() > most.max(2) {
            self.halve(2 * self.good > self.rounds.len());
        }
    }

    /// Judges again which of its rounds are good.
    pub fn judge(&mut self, is_good: impl FnMut(&Round) -> bool) {
        self.were_good = self.rounds.iter().map(is_good).collect();
        self.good = self.were_good.iter().filter(|was_good| **was_good).count();
    }

    fn sieve(&mut self, good: bool) -> &mut Sieve {
        if good { &mut self.good_ones } else { &mut self.others }
    }

    /// Drops every second good round, or every second of the others.
    fn halve(&mut self, good: bool) {
        let mut number = 0;
        let stays = |was_good: &bool| {
            number += usize::from(*was_good == good);
            *was_good != good || number % 2 == 1
        };
        let stay: Vec<bool> = self.were_good.iter().map(stays).collect();
        let (mut of_rounds, mut of_flags) = (stay.iter(), stay.iter());
        self.rounds.retain(|_| of_rounds.next() == Some(&true));
        self.were_good.retain(|_| of_flags.next() == Some(&true));
        self.good = self.were_good.iter().filter(|was_good| **was_good).count();
        self.sieve(good).stride *= 2;
        if !self.remarks.iter().any(|remark| remark == THINNED) {
            self.remarks.push(THINNED.to_string());
        }
    }

    /// How many uses a sample is to have. Before the path is known the probe, which finds it out, decides. Among footprints it is one, also
    /// among none: their rows are compared with each other.
    pub fn uses(&self) -> u64 {
        let (entry, operation) = self.row;
        let is_among = self.configuration.contains_key(document::FOOTPRINT);
        if is_among || operation.repeats || self.path == Some(Path::Kernel) { 1 } else { entry.uses }
    }

    /// Whether it is shown on the first screen.
    pub fn is_shown_first(&self) -> bool {
        let (entry, operation) = self.row;
        is_on_first_screen(&entry.name, &operation.name)
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
            uses: self.rounds.last().map_or(1, |round| round.uses),
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
    #[test]
    fn a_long_noisy_run_lost_its_few_good_rounds() {
        let row = Table::get().rows(Kernel::Linux).next().unwrap();
        let mut row = Row::new(row, Counter::Time, BTreeMap::new());
        let records =
            Machine::new(1, Model::default()).run(0, &Subject::from(8.0), &simulator::request(1, 1));
        let round = Round::reduce(&records, 0.0).unwrap();
        for number in 0..10_000_u32 {
            let good = row.good;
            row.rounds.push(Round { at: f64::from(number), ..round.clone() });
            row.good += usize::from(number % 1000 == 1);
            row.thin(100, good);
            assert!(row.rounds.len() <= 100, "{number}");
        }
        let at: Vec<f64> = row.rounds.iter().map(|round| round.at).collect();
        let (good, others): (Vec<f64>, Vec<f64>) = at.into_iter().partition(|at| at % 1000.0 == 1.0);
        assert_eq!((good.len(), row.good), (10, 10));
        // Evenly, but for the places that good ones take.
        assert!(others.windows(2).all(|pair| (128.0..=129.0).contains(&(pair[1] - pair[0]))), "{others:?}");
    }
}

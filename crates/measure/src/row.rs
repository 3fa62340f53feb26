//! One row while it is measured.

use crate::place::{Answer, Counter};
use document::{Outcome, Path, Timing};
use record::{Failure, Payload, Record, Sample, abi};
use stats::Round;
use std::collections::BTreeMap;
use table::{Entry, Operation};

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
        }
    }

    /// Takes a round. The first that fails ends the row, whatever came before: an entry that answers wrongly once gets no
    /// number. A round for which the machine lacked processes or memory says nothing about the entry, and is ignored.
    pub fn take(&mut self, answer: Answer, at: f64) {
        let (entry, _) = self.row;
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
                Ok(round) => self.rounds.push(round),
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
            entry: entry.name.clone(),
            entry_id: Some(entry.id),
            operation: operation.name.clone(),
            operation_id: Some(operation.id),
            bits: entry.bits(),
            configuration: self.configuration.clone(),
            timing,
            outcome,
            reason,
            path: self.path,
            remarks: self.remarks.clone(),
            noise: None,
            core_cycles: None,
            ticks: None,
            ns: None,
            instructions: None,
            throughput: None,
            throughput_withheld: None,
            modes: Vec::new(),
            cpu: None,
            counts: stats::Counts::default(),
            rounds: stats::Lines::default(),
            distribution_cycles: None,
            distribution_ticks: None,
            spread: None,
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

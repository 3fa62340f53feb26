//! One row while it is measured.

use crate::select::Row;
use document::{Outcome, Timing};
use host::{Executor, Interrupt};
use record::{Payload, Record, Request, Sample, abi};
use stats::{Reference, Round, Rounds, Scale, Summary, summarize};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Why an entry that works has no cost.
const LOST: &str = "every round was disturbed";

/// What is known of one row while it is measured.
pub struct State<'a> {
    /// Which.
    pub row: Row<'a>,
    /// How it ended, if it did.
    pub outcome: Outcome,
    reason: Option<String>,
    /// The lab's switches that tell it from other rows of the same entry and operation.
    configuration: BTreeMap<String, String>,
    /// What is worth knowing of it besides.
    remarks: Vec<&'a str>,
    /// What was measured so far, where that is time.
    pub rounds: Rounds,
    /// What was measured so far, where instructions are counted.
    counted: Option<Vec<Sample>>,
}

impl<'a> State<'a> {
    /// A row that was not tried yet.
    pub fn new(row: Row<'a>) -> State<'a> {
        State {
            row,
            outcome: Outcome::Ok,
            reason: None,
            configuration: BTreeMap::new(),
            remarks: Vec::new(),
            rounds: Rounds::default(),
            counted: None,
        }
    }

    /// A row of the lab, in one configuration; `counts` says that the counter counts instructions there, `remark` what the
    /// emulator does otherwise than a processor.
    pub fn in_lab(
        row: Row<'a>,
        configuration: BTreeMap<String, String>,
        counts: bool,
        remark: Option<&'a str>,
    ) -> State<'a> {
        let remarks = remark.into_iter().collect();
        State { configuration, remarks, counted: counts.then(Vec::new), ..State::new(row) }
    }

    /// Takes one round. The first that is not well ends the row, whatever came before: an entry that answers
    /// wrongly once has no number. A round that the machine was too busy for is left out.
    pub fn take(
        &mut self,
        executor: &mut dyn Executor,
        cpu: usize,
        request: &Request,
        interrupt: &Interrupt,
    ) {
        let (entry, _) = self.row;
        match executor.measure(entry.probe, cpu, request) {
            Ok(records) => self.read(&records),
            Err(_) if interrupt.load(Ordering::Relaxed) => {}
            // Before the first good round nothing is known, and the failure is what there is to say.
            Err(failure) if failure.is_momentary() && !self.rounds.all().is_empty() => {}
            Err(failure) => self.end(document::judge_failure(entry, &failure)),
        }
    }

    /// Takes what one run of the probe said.
    pub fn read(&mut self, records: &[Record]) {
        let (entry, operation) = self.row;
        let foreign = |record: &&Record| (record.entry, record.operation) != (entry.id, operation.id);
        if records.iter().any(|record| foreign(&record)) {
            return self.end((Outcome::Error, "the probe answered for another row".into()));
        }
        let verdict = records.iter().find_map(|record| match record.payload {
            Payload::Outcome(verdict) => Some(verdict),
            _ => None,
        });
        match verdict {
            Some(verdict) if verdict.outcome != abi::OUTCOME_OK => {
                return self.end(document::judge(entry, &verdict));
            }
            None => return self.end((Outcome::Error, "the probe gave no verdict".into())),
            Some(_) => {}
        }
        if let Some(value) = fact(records, abi::FACT_PATH) {
            let is_function = matches!(entry.kind, table::Kind::Function | table::Kind::Memory);
            self.reason = document::path_in_words(value).filter(|_| is_function).map(str::to_string);
        }
        if let Some(counted) = &mut self.counted {
            let before = counted.len();
            counted.extend(records.iter().flat_map(samples));
            if counted.len() == before {
                self.end((Outcome::Error, "the records hold no samples".into()));
            }
            return;
        }
        match Round::reduce(records) {
            Ok(round) => self.rounds.push(round),
            Err(error) => self.end((Outcome::Error, error.to_string())),
        }
    }

    /// Interrupted before its turn, a row has no outcome and is left out.
    pub fn was_tried(&self) -> bool {
        self.outcome != Outcome::Ok || !self.rounds.all().is_empty() || self.samples() > 0
    }

    /// How many samples instructions were counted in.
    pub fn samples(&self) -> u64 {
        self.counted.as_ref().map_or(0, |samples| samples.len() as u64)
    }

    /// Something worth knowing of the row.
    pub fn remark(&mut self, remark: &'a str) {
        self.remarks.push(remark);
    }

    /// Ends a row whose probe did not run: remarks on its figures do not apply then.
    pub fn end_unrun(&mut self, how: (Outcome, String)) {
        self.remarks.clear();
        self.end(how);
    }

    /// Ends the row: it has no number, whatever came before.
    pub fn end(&mut self, (outcome, reason): (Outcome, String)) {
        self.outcome = outcome;
        self.reason = Some(reason);
    }

    /// Its row of the document, and the figures behind it.
    pub fn document(
        &self,
        reference: Option<&Reference>,
        nanos_per_tick: Option<f64>,
    ) -> (document::Row, Option<Summary>) {
        let mut row = self.row_without_costs(Timing::Hardware);
        let Some(reference) = reference.filter(|_| self.outcome == Outcome::Ok) else { return (row, None) };
        let scale = Scale { nanos_per_tick, cycles: reference.chain_holds() };
        let summary = summarize(self.rounds.all(), reference, &scale);
        if summary.excluded == summary.rounds {
            row.reason = Some(LOST.into());
        }
        row.core_cycles = summary.core_cycles;
        row.ticks = summary.ticks;
        row.ns = summary.ns;
        row.throughput = summary.throughput;
        row.samples = summary.samples as u64;
        row.disturbed = summary.disturbed as u64;
        (row, Some(summary))
    }

    /// Its row where no time means anything: with instructions, where they were counted.
    pub fn emulated(&self) -> (document::Row, Option<Summary>) {
        let mut row = self.row_without_costs(Timing::Emulated);
        if let Some(samples) = self.counted.as_ref().filter(|_| self.outcome == Outcome::Ok) {
            row.instructions = stats::instructions(samples);
            row.samples = samples.len() as u64;
        }
        (row, None)
    }

    fn row_without_costs(&self, timing: Timing) -> document::Row {
        let (entry, operation) = self.row;
        document::Row {
            entry: entry.name.clone(),
            operation: operation.name.clone(),
            bits: entry.bits(),
            configuration: self.configuration.clone(),
            timing,
            outcome: self.outcome,
            reason: self.words(),
            core_cycles: None,
            ticks: None,
            ns: None,
            instructions: None,
            throughput: None,
            samples: 0,
            disturbed: 0,
        }
    }

    fn words(&self) -> Option<String> {
        let both: Vec<&str> =
            self.reason.as_deref().into_iter().chain(self.remarks.iter().copied()).collect();
        (!both.is_empty()).then(|| both.join("; "))
    }
}

fn samples(record: &Record) -> &[Sample] {
    match &record.payload {
        Payload::Samples(samples) => samples,
        _ => &[],
    }
}

/// The value of a fact that a probe found, if it did.
pub fn fact(records: &[Record], wanted: u64) -> Option<u64> {
    records.iter().find_map(|record| match record.payload {
        Payload::Fact { fact, value } if fact == wanted => Some(value),
        _ => None,
    })
}

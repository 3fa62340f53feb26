//! Plain loops of calls on this Linux, as a publication's author timed them: no control, no judgement of the noise. What they
//! tell is therefore no figure of kentry's; it stands beside one.

use crate::row::TableRow;
use crate::schedule;
use document::{Outcome, judge, judge_failure};
use host::{Executor, Interrupt};
use published::{Loop, Timed, Unit};
use record::{LoopRequest, Payload, Record, abi};
use std::sync::atomic::Ordering;
use table::Entry;

/// Loops to be timed, and where.
#[derive(Debug, Clone)]
pub struct Loops<'a> {
    /// The entries and operations.
    pub rows: Vec<TableRow<'a>>,
    /// How each is timed.
    pub ways: Vec<Loop>,
    /// What the results are to be in.
    pub unit: Unit,
    /// The CPU.
    pub cpu: usize,
    /// The process id that getppid must answer.
    pub parent: u64,
    /// What their order is drawn from.
    pub seed: u64,
}

impl Loops<'_> {
    /// Times every row in every way, each in a process of its own, in an order that is drawn. After an interrupt the rest is left
    /// out.
    pub fn time(&self, executor: &mut dyn Executor, interrupt: &Interrupt) -> Vec<Timed> {
        let jobs: Vec<(TableRow, Loop)> =
            self.rows.iter().flat_map(|row| self.ways.iter().map(|way| (*row, *way))).collect();
        let order = schedule::order(jobs.len(), self.seed).into_iter();
        let jobs = order.filter_map(|index| jobs.get(index).copied());
        let mut timed = Vec::new();
        for ((entry, operation), way) in jobs {
            let answer =
                executor.run(entry.probe, self.cpu, &self.request((entry, operation), way).arguments());
            // The interrupt ended the probe, too; its failure says nothing about the entry.
            if interrupt.load(Ordering::Relaxed) {
                break;
            }
            let took = match answer {
                Ok(records) => took(entry, &records),
                Err(failure) => Err(judge_failure(entry, &failure).1),
            };
            let (entry, operation) = (entry.name.clone(), operation.name.clone());
            timed.push(Timed { entry, operation, way, took });
        }
        timed
    }

    fn request(&self, (entry, operation): TableRow, way: Loop) -> LoopRequest {
        let clock =
            if self.unit.of_loops() == Unit::Ns { abi::LOOP_CLOCK_SYSTEM } else { abi::LOOP_CLOCK_TSC };
        LoopRequest {
            entry: entry.id,
            operation: operation.id,
            calls: way.calls,
            repetitions: way.repetitions,
            clock,
            parent: self.parent,
            cpu: self.cpu as u64,
        }
    }
}

/// What each loop took, in the clock's unit; or why there is none.
fn took(entry: &Entry, records: &[Record]) -> Result<Vec<u64>, String> {
    let verdict = records.iter().find_map(|record| match &record.payload {
        Payload::Outcome(verdict) => Some(judge(entry, verdict)),
        _ => None,
    });
    if let Some((outcome, why)) = verdict.filter(|(outcome, _)| *outcome != Outcome::Ok) {
        return Err(if why.is_empty() { outcome.name().into() } else { why });
    }
    let loops = records.iter().find_map(|record| match &record.payload {
        Payload::Loops(loops) => Some(loops),
        _ => None,
    });
    let loops = loops.ok_or("the probe timed no loop")?;
    let took = loops.iter().map(|[before, behind]| behind.checked_sub(*before)).collect::<Option<Vec<u64>>>();
    took.ok_or_else(|| "the clock ran backwards".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Failure, Verdict};
    use std::collections::BTreeSet;
    use table::{Kernel, Probe, Table};

    /// Answers with what a probe would say.
    struct Saying(Vec<Payload>, BTreeSet<Vec<String>>);

    impl Executor for Saying {
        fn run(&mut self, _: Probe, _: usize, arguments: &[String]) -> Result<Vec<Record>, Failure> {
            self.1.insert(arguments.to_vec());
            let record = |payload: &Payload| Record { entry: 0, operation: 0, payload: payload.clone() };
            Ok(self.0.iter().map(record).collect())
        }
    }

    fn outcome(outcome: u64, cause: u64) -> Payload {
        Payload::Outcome(Verdict { outcome, cause, detail: [0; 4] })
    }

    fn said(payloads: Vec<Payload>) -> (Vec<Timed>, usize) {
        let rows: Vec<TableRow> = Table::get().rows(Kernel::Linux).take(3).collect();
        let ways = vec![Loop::PLAIN, Loop::SINGLE];
        let loops = Loops { rows, ways, unit: Unit::Ns, cpu: 0, parent: 1, seed: 7 };
        let mut executor = Saying(payloads, BTreeSet::new());
        let timed = loops.time(&mut executor, &Interrupt::default());
        (timed, executor.1.len())
    }

    #[test]
    fn every_row_is_timed_in_every_way() {
        let loops = Payload::Loops(vec![[10, 20], [30, 45]]);
        let (timed, asked) = said(vec![outcome(abi::OUTCOME_OK, abi::CAUSE_NONE), loops]);
        assert_eq!((timed.len(), asked), (6, 6));
        assert!(timed.iter().all(|timed| timed.took == Ok(vec![10, 15])), "{timed:?}");
        let names: BTreeSet<_> = timed.iter().map(|timed| (&timed.entry, &timed.operation)).collect();
        assert_eq!(names.len(), 3);
    }

    #[test]
    fn what_is_closed_or_makes_no_sense_has_a_reason_and_no_figure() {
        let why = |payloads| said(payloads).0[0].took.clone().unwrap_err();
        assert_eq!(
            why(vec![outcome(abi::OUTCOME_UNSUPPORTED, abi::CAUSE_NO_SYMBOL)]),
            "there is no such function"
        );
        assert_eq!(why(vec![outcome(abi::OUTCOME_OK, abi::CAUSE_NONE)]), "the probe timed no loop");
        let backwards = Payload::Loops(vec![[20, 10]]);
        assert_eq!(
            why(vec![outcome(abi::OUTCOME_OK, abi::CAUSE_NONE), backwards]),
            "the clock ran backwards"
        );
    }

    #[test]
    fn after_an_interrupt_nothing_is_known() {
        let rows: Vec<TableRow> = Table::get().rows(Kernel::Linux).take(1).collect();
        let loops = Loops { rows, ways: vec![Loop::PLAIN], unit: Unit::Ticks, cpu: 0, parent: 1, seed: 7 };
        let interrupt = Interrupt::default();
        interrupt.store(true, Ordering::Relaxed);
        let mut executor = Saying(vec![outcome(abi::OUTCOME_OK, abi::CAUSE_NONE)], BTreeSet::new());
        assert_eq!(loops.time(&mut executor, &interrupt), []);
    }
}

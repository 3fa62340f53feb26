//! Plain loops of calls on this Linux, as a publication's author timed them: no control, no judgement of the noise. What they
//! tell is therefore no figure of kentry's; it stands beside one.

use crate::row::TableRow;
use crate::schedule;
use compare::published::{Loop, Timed, Took, Unit};
use document::{Outcome, judge, judge_failure};
use places::host::{Executor, Interrupt};
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
    /// Times every row in every way, each run in a process of its own, in an order that is drawn, and keeps the best run. After
    /// an interrupt the rest is left out.
    pub fn time(&self, executor: &mut dyn Executor, interrupt: &Interrupt) -> Vec<Timed> {
        let jobs: Vec<(TableRow, Loop)> =
            self.rows.iter().flat_map(|row| self.ways.iter().map(|way| (*row, *way))).collect();
        let mut best: Vec<Option<Result<Took, String>>> = vec![None; jobs.len()];
        let runs = self.ways.iter().map(Loop::runs).max().unwrap_or(0);
        let order = |run: usize| schedule::order(jobs.len(), self.seed.wrapping_add(run as u64));
        for (run, index) in (0..runs).flat_map(|run| order(run).into_iter().map(move |index| (run, index))) {
            let (Some((row, way)), Some(best)) = (jobs.get(index), best.get_mut(index)) else { continue };
            if run >= way.runs() || matches!(best, Some(Err(_))) {
                continue;
            }
            let took = self.run(*row, *way, executor);
            // The interrupt ended the probe, too; its failure says nothing about the entry.
            if interrupt.load(Ordering::Relaxed) {
                break;
            }
            keep_better(way, best, took);
        }
        let timed = jobs.iter().zip(best).filter_map(|((row, way), took)| {
            let (entry, operation) = (row.0.name.clone(), row.1.name.clone());
            Some(Timed { entry, operation, way: *way, took: took? })
        });
        timed.collect()
    }

    fn run(&self, row: TableRow, way: Loop, executor: &mut dyn Executor) -> Result<Took, String> {
        let (entry, _) = row;
        match executor.run(entry.probe, self.cpu, &self.request(row, way).arguments()) {
            Ok(records) => took(entry, &records),
            Err(failure) => Err(judge_failure(entry, &failure).1),
        }
    }

    fn request(&self, (entry, operation): TableRow, way: Loop) -> LoopRequest {
        let clock =
            if self.unit.of_clock() == Unit::Ns { abi::LOOP_CLOCK_SYSTEM } else { abi::LOOP_CLOCK_TSC };
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

/// Replaces a run by a better one, or by why there is none. One that no other process interrupted is better than one that was;
/// otherwise the faster is.
fn keep_better(way: &Loop, best: &mut Option<Result<Took, String>>, took: Result<Took, String>) {
    let cost = |took: &Took| (took.preemptions > 0, way.of(&took.loops).unwrap_or(f64::INFINITY));
    let is_better = match (&best, &took) {
        (Some(Ok(known)), Ok(new)) => cost(new) < cost(known),
        // One run that failed says nothing about those that did not.
        (Some(Ok(_)), Err(_)) => false,
        _ => true,
    };
    if is_better {
        *best = Some(took);
    }
}

/// What a run's loops took; or why there are none.
fn took(entry: &Entry, records: &[Record]) -> Result<Took, String> {
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
    let preemptions = records.iter().find_map(|record| match record.payload {
        Payload::End { preemptions, .. } => Some(preemptions),
        _ => None,
    });
    Ok(Took {
        loops: took.ok_or("the clock ran backwards")?,
        preemptions: preemptions.ok_or("the probe did not end its output")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Failure, Verdict};
    use std::collections::BTreeSet;
    use table::{Kernel, Probe, Table};

    /// Answers with what a probe would say, one answer after the other, over and over.
    struct Saying {
        answers: Vec<Vec<Payload>>,
        asked: Vec<Vec<String>>,
    }

    impl Executor for Saying {
        fn run(&mut self, _: Probe, _: usize, arguments: &[String]) -> Result<Vec<Record>, Failure> {
            let answer = &self.answers[self.asked.len() % self.answers.len()];
            self.asked.push(arguments.to_vec());
            let record = |payload: &Payload| Record { entry: 0, operation: 0, payload: payload.clone() };
            Ok(answer.iter().map(record).collect())
        }
    }

    fn outcome(outcome: u64, cause: u64) -> Payload {
        Payload::Outcome(Verdict { outcome, cause, detail: [0; 4] })
    }

    fn answer(loops: Vec<[u64; 2]>, preemptions: u64) -> Vec<Payload> {
        let end = Payload::End { preemptions, minor_faults: 0 };
        vec![outcome(abi::OUTCOME_OK, abi::CAUSE_NONE), Payload::Loops(loops), end]
    }

    /// So many rows, timed in these ways by probes that answer so.
    fn said(rows: usize, ways: &[Loop], answers: Vec<Vec<Payload>>) -> (Vec<Timed>, Vec<Vec<String>>) {
        let rows: Vec<TableRow> = Table::get().rows(Kernel::Linux).take(rows).collect();
        let loops = Loops { rows, ways: ways.to_vec(), unit: Unit::Ns, cpu: 0, parent: 1, seed: 7 };
        let mut executor = Saying { answers, asked: Vec::new() };
        let timed = loops.time(&mut executor, &Interrupt::default());
        (timed, executor.asked)
    }

    #[test]
    fn every_row_is_timed_in_every_way_and_as_often_as_the_way_says() {
        let (timed, asked) = said(3, &[Loop::PLAIN, Loop::SINGLE], vec![answer(vec![[10, 20], [30, 45]], 0)]);
        assert_eq!(timed.len(), 6);
        assert_eq!(asked.len(), 3 * (Loop::PLAIN.runs() + Loop::SINGLE.runs()));
        let took = Took { loops: vec![10, 15], preemptions: 0 };
        assert!(timed.iter().all(|timed| timed.took.as_ref() == Ok(&took)), "{timed:?}");
        let requests: BTreeSet<_> = asked.iter().collect();
        assert_eq!(requests.len(), 6, "each row in each way is a request of its own");
    }

    #[test]
    fn the_fastest_run_counts_that_was_not_interrupted() {
        let kept = |answers| said(1, &[Loop::PLAIN], answers).0[0].took.clone();
        let answers = vec![answer(vec![[0, 50]], 0), answer(vec![[0, 30]], 2), answer(vec![[0, 90]], 0)];
        assert_eq!(kept(answers), Ok(Took { loops: vec![50], preemptions: 0 }));
        let all_interrupted = vec![answer(vec![[0, 50]], 1), answer(vec![[0, 30]], 2)];
        assert_eq!(kept(all_interrupted), Ok(Took { loops: vec![30], preemptions: 2 }));
    }

    #[test]
    fn what_is_closed_or_makes_no_sense_has_a_reason_and_no_figure() {
        let why = |answer| {
            let (timed, asked) = said(1, &[Loop::PLAIN], vec![answer]);
            assert_eq!(asked.len(), 1, "it is not asked again");
            timed[0].took.clone().unwrap_err()
        };
        assert_eq!(
            why(vec![outcome(abi::OUTCOME_UNSUPPORTED, abi::CAUSE_NO_SYMBOL)]),
            "there is no such function"
        );
        assert_eq!(why(vec![outcome(abi::OUTCOME_OK, abi::CAUSE_NONE)]), "the probe timed no loop");
        assert_eq!(why(answer(vec![[20, 10]], 0)), "the clock ran backwards");
        assert_eq!(why(answer(vec![[10, 20]], 0)[..2].to_vec()), "the probe did not end its output");
    }

    #[test]
    fn after_an_interrupt_nothing_is_known() {
        let rows: Vec<TableRow> = Table::get().rows(Kernel::Linux).take(1).collect();
        let loops = Loops { rows, ways: vec![Loop::PLAIN], unit: Unit::Ticks, cpu: 0, parent: 1, seed: 7 };
        let interrupt = Interrupt::default();
        interrupt.store(true, Ordering::Relaxed);
        let mut executor = Saying { answers: vec![answer(vec![[10, 20]], 0)], asked: Vec::new() };
        assert_eq!(loops.time(&mut executor, &interrupt), []);
    }
}

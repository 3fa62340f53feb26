//! In which order rows are measured, and when the measurement ends.

use crate::row::Row;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use std::time::Duration;

/// With fewer good rounds a row has no estimate.
pub const NEEDED: usize = stats::LEAST_ROUNDS + 2;

/// How often the sentinel is measured when it has enough rounds.
const SENTINEL_EVERY: Duration = Duration::from_millis(150);

/// A row with so many good rounds makes room for rows that lack some.
const ENOUGH: usize = 18;

/// When the budget is used up, so many rows that lack rounds are measured at a time: where there will not be time for all,
/// some get all that they need.
const AT_A_TIME: usize = 16;

/// A row of the first screen is worth so many times the effort of another.
const WORTH: f64 = 4.0;

/// A row takes at most this part of the time, ...
const MOST_OF_TIME: f64 = 0.03;

/// ... or so many times what it would get if all rows took the same: of a few rows, each may take more.
const MOST_OF_SHARE: f64 = 3.0;

/// The rows of the first screen come first for at most this part of the budget: in a minute in which one of them finds no quiet
/// moment, the others are not to wait for it.
const FIRST_SCREEN_TIME: f64 = 0.5;

/// What a schedule knows of a row.
pub trait Wanted {
    /// Whether it may still be measured.
    fn is_open(&self) -> bool;
    /// How many of its rounds will probably be kept.
    fn good(&self) -> usize;
    /// How many rounds it has.
    fn rounds(&self) -> usize;
    /// Whether it is shown on the first screen.
    fn is_shown_first(&self) -> bool;
    /// With fewer good rounds it lacks some.
    fn needed(&self) -> usize;
}

impl Wanted for Row<'_> {
    fn is_open(&self) -> bool {
        Row::is_open(self)
    }

    fn good(&self) -> usize {
        self.good
    }

    fn rounds(&self) -> usize {
        self.rounds.len()
    }

    fn is_shown_first(&self) -> bool {
        Row::is_shown_first(self)
    }

    fn needed(&self) -> usize {
        NEEDED
    }
}

/// Sweeps over all rows, each sweep in a new order, so that drift hits all rows alike. The first sweep is always complete. Then come
/// the rows of the first screen, until none of them lacks rounds or half the budget is used, so that a short run answers what is asked
/// first; then all.
/// When the budget is used up, only rows that lack rounds are measured, until none lacks any or the longest time is over:
/// first those that take the least, and rows of the first screen before others.
pub struct Schedule {
    order: Vec<usize>,
    next: usize,
    /// Number of the sweep, from 0.
    pub sweep: u64,
    generator: StdRng,
    budget: Duration,
    longest: Duration,
    /// Measured at intervals until the end, to notice when something changes the machine.
    sentinel: Option<usize>,
    /// When it was measured last.
    sentinel_at: Duration,
    /// The time that each row has taken.
    spent: Vec<Duration>,
    /// The row that is being measured, and since when.
    measured: Option<(usize, Duration)>,
}

impl Schedule {
    /// For so many rows, in orders drawn from `seed`.
    pub fn new(
        rows: usize,
        seed: u64,
        budget: Duration,
        longest: Duration,
        sentinel: Option<usize>,
    ) -> Schedule {
        let mut generator = StdRng::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..rows).collect();
        order.shuffle(&mut generator);
        Schedule {
            order,
            next: 0,
            sweep: 0,
            generator,
            budget,
            longest,
            sentinel,
            sentinel_at: Duration::ZERO,
            spent: vec![Duration::ZERO; rows],
            measured: None,
        }
    }

    /// The next row, at this time since the beginning; `None` when the measurement is over.
    pub fn next_row(&mut self, rows: &[impl Wanted], now: Duration) -> Option<usize> {
        if let Some((row, since)) = self.measured.take()
            && let Some(spent) = self.spent.get_mut(row)
        {
            *spent += now.saturating_sub(since);
        }
        let next = self.choose(rows, now);
        self.measured = next.map(|row| (row, now));
        next
    }

    fn choose(&mut self, rows: &[impl Wanted], now: Duration) -> Option<usize> {
        loop {
            if self.sweep > 0 && now >= self.longest {
                return None;
            }
            let Some(row) = self.order.get(self.next).copied() else {
                self.begin_sweep(rows, now)?;
                continue;
            };
            self.next += 1;
            let is_open = rows.get(row).is_some_and(Wanted::is_open);
            let is_due = is_open && (self.sweep == 0 || now < self.longest);
            let is_sentinel = Some(row) == self.sentinel;
            if is_due && (self.sweep == 0 || now < self.budget || self.lacks(rows, row) || is_sentinel) {
                if is_sentinel {
                    self.sentinel_at = now;
                }
                return Some(row);
            }
        }
    }

    /// None when no row wants another round.
    fn begin_sweep(&mut self, rows: &[impl Wanted], now: Duration) -> Option<()> {
        self.sweep += 1;
        self.next = 0;
        let open = |row: &usize| rows.get(*row).is_some_and(Wanted::is_open);
        let mut lacking: Vec<usize> =
            (0..rows.len()).filter(open).filter(|row| self.lacks(rows, *row)).collect();
        let first = lacking.iter().filter(|row| rows.get(**row).is_some_and(Wanted::is_shown_first));
        let first: Vec<usize> = first.copied().collect();
        if !first.is_empty() && now < self.budget.mul_f64(FIRST_SCREEN_TIME) {
            self.order = first;
            self.order.shuffle(&mut self.generator);
            return Some(());
        }
        let is_over = now >= self.budget;
        if is_over {
            let effort = |row: &usize| rows.get(*row).map_or(f64::INFINITY, |row| effort(row));
            lacking.sort_by(|a, b| effort(a).total_cmp(&effort(b)));
            lacking.truncate(AT_A_TIME);
        }
        self.order = (0..rows.len())
            .filter(open)
            .filter(|row| {
                let good = rows.get(*row).map_or(0, Wanted::good);
                let makes_room = !lacking.is_empty() && good >= ENOUGH || self.has_had_its_part(*row);
                let is_wanted = if is_over { lacking.contains(row) } else { !makes_room };
                is_wanted || (Some(*row) == self.sentinel && now >= self.sentinel_at + SENTINEL_EVERY)
            })
            .collect();
        self.order.shuffle(&mut self.generator);
        let is_wanted = if is_over { !lacking.is_empty() } else { !self.order.is_empty() };
        is_wanted.then_some(())
    }

    /// Whether a row lacks rounds, and may have more. A row of the first screen may exceed its own part of the time; only the time of the
    /// first screen and the longest time bound it.
    fn lacks(&self, rows: &[impl Wanted], row: usize) -> bool {
        let may_have_more = |wanted: &dyn Wanted| wanted.is_shown_first() || !self.has_had_its_part(row);
        rows.get(row).is_some_and(|row| row.good() < row.needed() && may_have_more(row))
    }

    /// Whether a row has taken all the time that it may.
    fn has_had_its_part(&self, row: usize) -> bool {
        let part = MOST_OF_TIME.max(MOST_OF_SHARE / self.spent.len().max(1) as f64);
        self.spent.get(row).is_some_and(|spent| *spent >= self.longest.mul_f64(part.min(1.0)))
    }
}

/// How many rounds it will probably take until a row lacks none, by how many were good. Where none ever is, it is the row
/// with the fewest rounds that takes the least, so that all get some.
fn effort(row: &impl Wanted) -> f64 {
    let lacking = row.needed().saturating_sub(row.good()) as f64;
    let effort = lacking * (row.rounds() + 1) as f64 / (row.good() + 1) as f64;
    if row.is_shown_first() { effort / WORTH } else { effort }
}

/// Rows in an order drawn from `seed`.
pub fn order(rows: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut StdRng::seed_from_u64(seed));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::Counter;
    use std::collections::BTreeMap;
    use table::{Kernel, Table};

    fn rows(count: usize) -> Vec<Row<'static>> {
        let rows = Table::get().rows(Kernel::Linux).take(count);
        rows.map(|row| Row::new(row, Counter::Time, BTreeMap::new())).collect()
    }

    const SECOND: Duration = Duration::from_secs(1);

    fn first_sweep(seed: u64) -> Vec<usize> {
        let rows = rows(20);
        let mut schedule = Schedule::new(20, seed, Duration::ZERO, Duration::ZERO, None);
        std::iter::from_fn(|| schedule.next_row(&rows, Duration::ZERO)).collect()
    }

    #[test]
    fn without_time_there_is_one_whole_sweep_in_the_seeds_order() {
        let (first, second) = (first_sweep(1), first_sweep(2));
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
        assert_eq!(first, first_sweep(1));
        assert_ne!(first, second);
    }

    #[test]
    fn after_the_budget_only_rows_that_lack_rounds_go_on() {
        let mut rows = rows(3);
        let mut schedule = Schedule::new(3, 7, SECOND, 3 * SECOND, Some(0));
        (0..3).for_each(|_| assert!(schedule.next_row(&rows, Duration::ZERO).is_some()));
        rows[0].good = NEEDED;
        rows[2].good = ENOUGH;
        let mut next: Vec<_> = (0..4).map(|_| schedule.next_row(&rows, SECOND * 2)).collect();
        next.sort();
        assert_eq!(next, [Some(0), Some(1), Some(1), Some(1)], "and the sentinel now and then");
        assert_eq!(schedule.next_row(&rows, SECOND * 3), None, "not for ever");
        rows[1].good = NEEDED;
        assert_eq!(schedule.next_row(&rows, SECOND * 2), None, "and not longer than it must");
    }

    #[test]
    fn where_time_is_short_some_rows_get_all_that_they_need() {
        let all = Table::get().rows(Kernel::Linux).count();
        let mut rows = rows(all);
        let mut schedule = Schedule::new(all, 7, SECOND, 3 * SECOND, None);
        (0..all).for_each(|_| assert!(schedule.next_row(&rows, Duration::ZERO).is_some()));
        // There is time for a third of the rounds that all would need.
        for _ in 0..all * NEEDED / 3 {
            let next = schedule.next_row(&rows, SECOND * 2).unwrap();
            rows[next].good += 1;
        }
        let known = rows.iter().filter(|row| row.good >= NEEDED);
        assert!(known.count() >= all / 3 - AT_A_TIME, "as many as there is time for");
        assert!(
            rows.iter().all(|row| row.good >= NEEDED || !row.is_shown_first()),
            "the first screen comes first"
        );
    }

    #[test]
    fn rows_that_have_enough_make_room() {
        let mut rows = rows(3);
        rows[2].good = ENOUGH;
        let mut schedule = Schedule::new(3, 7, SECOND, 3 * SECOND, Some(0));
        let mut seen: Vec<usize> = (0..9).filter_map(|_| schedule.next_row(&rows, Duration::ZERO)).collect();
        seen.drain(..3);
        assert!(!seen.contains(&2) && seen.contains(&0) && seen.contains(&1), "{seen:?}");
        rows.iter_mut().for_each(|row| row.good = ENOUGH);
        let next: Vec<_> = (0..4).filter_map(|_| schedule.next_row(&rows, Duration::ZERO)).collect();
        assert!(next.contains(&2), "when nobody lacks any, all go on: {next:?}");
    }

    #[test]
    fn a_closed_row_is_left_out() {
        let mut rows = rows(1);
        let mut schedule = Schedule::new(1, 0, SECOND, SECOND, None);
        assert_eq!(schedule.next_row(&rows, Duration::ZERO), Some(0));
        rows[0].outcome = document::Outcome::Fault;
        assert_eq!(schedule.next_row(&rows, Duration::ZERO), None);
    }
}

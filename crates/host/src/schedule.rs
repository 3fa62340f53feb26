//! In which order rows are measured.

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use std::time::{Duration, Instant};

/// Sweeps over all rows, each in an order of its own, so that drift hits all alike. The first sweep is always
/// whole; after that it ends with the time.
pub struct Schedule {
    order: Vec<usize>,
    next: usize,
    sweep: u64,
    generator: StdRng,
    deadline: Instant,
}

impl Schedule {
    /// For `rows` rows, in orders drawn from `seed`, until `budget` from now.
    pub fn new(rows: usize, seed: u64, budget: Duration) -> Schedule {
        let mut schedule = Schedule {
            order: (0..rows).collect(),
            next: 0,
            sweep: 0,
            generator: StdRng::seed_from_u64(seed),
            deadline: Instant::now() + budget,
        };
        schedule.order.shuffle(&mut schedule.generator);
        schedule
    }

    /// The next row, and the number of the sweep it belongs to, from 0.
    pub fn next_row(&mut self) -> Option<(u64, usize)> {
        if self.sweep > 0 && Instant::now() >= self.deadline {
            return None;
        }
        if self.next == self.order.len() {
            self.next = 0;
            self.sweep += 1;
            self.order.shuffle(&mut self.generator);
            if Instant::now() >= self.deadline {
                return None;
            }
        }
        let row = *self.order.get(self.next)?;
        self.next += 1;
        Some((self.sweep, row))
    }

    /// Leaves a row out from now on.
    pub fn close(&mut self, row: usize) {
        if let Some(at) = self.order.iter().position(|other| *other == row) {
            self.order.remove(at);
            if at < self.next {
                self.next -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(seed: u64) -> Vec<usize> {
        let mut schedule = Schedule::new(20, seed, Duration::ZERO);
        std::iter::from_fn(|| schedule.next_row()).map(|(_, row)| row).collect()
    }

    #[test]
    fn without_time_there_is_one_whole_sweep_in_the_seeds_order() {
        let (first, second) = (sweep(1), sweep(2));
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
        assert_eq!(first, sweep(1));
        assert_ne!(first, second);
    }

    #[test]
    fn with_time_every_sweep_has_every_row_that_is_open() {
        let mut schedule = Schedule::new(3, 7, Duration::from_secs(3600));
        let mut seen = Vec::new();
        while let Some((sweep, row)) = schedule.next_row() {
            if sweep == 5 {
                break;
            }
            seen.push((sweep, row));
            if row == 1 {
                schedule.close(1);
            }
        }
        for sweep in 0..5 {
            let mut rows: Vec<_> = seen.iter().filter(|(s, _)| *s == sweep).map(|(_, row)| *row).collect();
            rows.sort_unstable();
            assert_eq!(rows, if sweep == 0 { vec![0, 1, 2] } else { vec![0, 2] });
        }
    }

    #[test]
    fn with_every_row_closed_it_ends() {
        let mut schedule = Schedule::new(1, 0, Duration::from_secs(3600));
        assert_eq!(schedule.next_row(), Some((0, 0)));
        schedule.close(0);
        assert_eq!(schedule.next_row(), None);
    }
}

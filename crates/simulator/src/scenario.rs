//! Machines that tests name: two CPUs at 4 GHz with independent neighbours, and a 2 GHz counter that counts by two.

use crate::cpu::Cpu;
use crate::machine::{Machine, Model};
use crate::neighbour::{Company, Neighbour};
use std::time::Duration;

/// How long the cores of [`Machine::busy_then_quiet`] are busy.
pub const BUSY: Duration = Duration::from_secs(1);

impl Model {
    /// Two CPUs with such neighbours, independent of one another.
    pub fn with_neighbours(neighbour: &Neighbour) -> Model {
        let cpu = Cpu { neighbour: neighbour.clone(), ..Cpu::default() };
        Model { cpus: vec![cpu; 2], ..Model::default() }
    }
}

impl Machine {
    /// Cores that are alone nearly always.
    pub fn quiet(seed: u64) -> Machine {
        Machine::new(seed, Model::with_neighbours(&Neighbour::new(Company::QUIET)))
    }

    /// Cores that are alone for milliseconds, and shared for milliseconds.
    pub fn mixed(seed: u64) -> Machine {
        Machine::new(seed, Model::with_neighbours(&Neighbour::new(Company::MIXED)))
    }

    /// Cores that are alone for 5 to 200 µs at a time.
    pub fn noisy(seed: u64) -> Machine {
        Machine::new(seed, Model::with_neighbours(&Neighbour::new(Company::NOISY)))
    }

    /// Cores that are never alone.
    pub fn always_shared(seed: u64) -> Machine {
        Machine::new(seed, Model::with_neighbours(&Neighbour::new(Company::Always)))
    }

    /// Cores as on the noisy machine for [`BUSY`], and then as on the quiet one.
    pub fn busy_then_quiet(seed: u64) -> Machine {
        let company = vec![(Duration::ZERO, Company::NOISY), (BUSY, Company::QUIET)];
        Machine::new(seed, Model::with_neighbours(&Neighbour::changing(company)))
    }
}

//! A simulator of probes: the records of probe runs on a machine whose true costs are known. It is the proof of the
//! statistics: what they make of these records can be compared with the truth.
//!
//! ```
//! use simulator::{Company, Cost, Machine, Model, Neighbour, Subject};
//!
//! let subject = Subject::new(Cost::per_cpu(&[1285.0, 1330.0]));
//! let request = simulator::request(16, 8); // blocks, bursts
//! let mut machine = Machine::noisy(1); // or one of your own:
//! let mut model = Model::with_neighbours(&Neighbour::new(Company::MIXED));
//! model.counter.step = 20.0;
//! let mut own = Machine::new(1, model);
//! for machine in [&mut machine, &mut own] {
//!     let records = machine.run(1, &subject, &request); // reduce them, and compare with the truth:
//!     assert_eq!((records.len(), subject.truth_on(1)), (39, 1330.0));
//! }
//! ```
//!
//! Everything is deterministic by the seed. Costs are in core cycles, times in nanoseconds since the machine started,
//! and a process executes what `probe/main.c` executes, in its order. On the way it meets what its core goes through:
//!
//! - a [`Neighbour`] on the sibling hyperthread, which slows down the canary and entries, not chains;
//! - a [`Clock`] that is constant, steps, jumps or wanders;
//! - [`Levels`] of what entries cost, which stay for a while;
//! - [`Interrupts`] and [`Preemptions`], which fall into whatever is executed then.
//!
//! All that is done takes so many cycles on a core that is alone; `Machine::execute` spends them piece by piece between
//! the events of the core. So a long entry may begin alone and end in company, as a real one does. Clock and
//! neighbour do not depend on what runs: two subjects on machines of the same seed meet the same neighbour at the same
//! time.

mod clock;
mod counter;
mod cpu;
mod levels;
mod machine;
mod neighbour;
mod pipeline;
mod probe;
mod random;
mod scenario;
mod subject;
mod tape;

pub use clock::Clock;
pub use counter::Counter;
pub use cpu::{Cpu, Interrupts, Preemptions};
pub use levels::Levels;
pub use machine::{Machine, Model};
pub use neighbour::{Company, Durations, Neighbour};
pub use pipeline::IN_FLIGHT;
pub use probe::LENGTHS;
pub use scenario::BUSY;
pub use subject::{Cost, Subject};
pub use tape::{Error as TapeError, Run, Tape};

/// How many simulated runs a case has: `usual` in the inner loop, and as many as `KENTRY_SIMULATED_RUNS` says where that is more.
/// `make test` sets it; no case has fewer there than in the inner loop.
pub fn runs(usual: u64) -> u64 {
    let asked = std::env::var("KENTRY_SIMULATED_RUNS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(0).max(usual)
}

/// A request for so many blocks of 64 samples and so many bursts, without a bound in time, for entry 2 and operation 2.
pub fn request(blocks: u64, bursts: u64) -> record::Request {
    record::Request {
        entry: 2,
        operation: 2,
        blocks,
        ticks: u64::MAX,
        bursts,
        parent: 1,
        cpu: 0,
        path: false,
        samples: record::abi::BLOCK_SAMPLES,
        footprint: record::Footprint::NONE,
        uses: 1,
    }
}

/// The request that a probe's arguments make; none of the one that describes the vDSO.
pub fn parse_request(arguments: &[String]) -> Option<record::Request> {
    let number = |place: u64| arguments.get(place as usize - 1)?.parse::<u64>().ok();
    Some(record::Request {
        entry: number(record::abi::REQUEST_ENTRY)? as u16,
        operation: number(record::abi::REQUEST_OPERATION)? as u16,
        blocks: number(record::abi::REQUEST_BLOCKS)?,
        ticks: number(record::abi::REQUEST_TICKS)?,
        bursts: number(record::abi::REQUEST_BURSTS)?,
        parent: number(record::abi::REQUEST_PARENT)?,
        cpu: number(record::abi::REQUEST_CPU)?,
        path: number(record::abi::REQUEST_PATH)? == 1,
        samples: number(record::abi::REQUEST_SAMPLES)?,
        footprint: record::Footprint {
            pages: number(record::abi::REQUEST_PAGES)?,
            lines: number(record::abi::REQUEST_LINES)?,
        },
        uses: number(record::abi::REQUEST_USES)?,
    })
}

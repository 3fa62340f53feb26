//! Runs probes on this Linux: places the embedded programs where they can be executed, and runs each in a process
//! of its own, pinned, limited in time and output, whatever it does. [`Under`] runs them under another command.

mod clock;
mod cpu;
mod files;
mod image;
mod run;
mod scratch;
mod under;
mod wrapper;

pub use crate::probes::image;
pub use clock::{Reading, tsc_is_readable};
pub use cpu::{CpuError, allowed_cpus, choose_cpu};
pub use files::Files;
pub use image::PlaceError;
pub use process::{Interrupt, Limits, try_realtime};
pub use run::Priority;
pub use scratch::Scratch;
pub use under::Under;
pub use wrapper::{FILE, NAME, PROBE, Wrapper};

use image::Image;
use process::{Errno, Error, Phase};
use record::{Failure, Record, Request};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use table::Probe;

/// Runs requests. The command measures through this trait, so that tests can substitute recorded answers.
pub trait Executor {
    /// Runs one probe with these arguments on a CPU, and returns its records.
    ///
    /// # Errors
    /// Why it gave no answer.
    fn run(&mut self, probe: Probe, cpu: usize, arguments: &[String]) -> Result<Vec<Record>, Failure>;

    /// Asks for a measurement on a CPU.
    ///
    /// # Errors
    /// Why the probe gave no answer.
    fn measure(&mut self, probe: Probe, cpu: usize, request: &Request) -> Result<Vec<Record>, Failure> {
        self.run(probe, cpu, &request.arguments())
    }

    /// The time since some moment in the past, by which a measurement keeps its budget.
    fn now(&self) -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }

    /// Asks for a description of the auxiliary vector and the vDSO, as they are on a CPU.
    ///
    /// # Errors
    /// Why the probe gave no answer.
    fn describe(&mut self, probe: Probe, cpu: usize) -> Result<Vec<Record>, Failure> {
        self.run(probe, cpu, &Request::describe())
    }
}

/// The longest that a probe may take after another has hung; normal probes take milliseconds.
const AFTER_A_HANG: Duration = Duration::from_secs(1);

/// The Linux that this program runs on.
pub struct Host {
    images: BTreeMap<Probe, Image>,
    priority: Priority,
    limits: Limits,
}

impl Host {
    /// Places the probes: in memory, or else in a temporary file that is already unlinked when this returns. The limits
    /// hold for each run.
    ///
    /// # Errors
    /// [`PlaceError`] when nothing that this process may write can be executed.
    pub fn new(priority: Priority, limits: Limits) -> Result<Host, PlaceError> {
        let mut images = BTreeMap::new();
        for probe in Probe::ALL {
            images.insert(probe, Image::place(probe)?);
        }
        Ok(Host { images, priority, limits })
    }
}

impl Executor for Host {
    fn run(&mut self, probe: Probe, cpu: usize, arguments: &[String]) -> Result<Vec<Record>, Failure> {
        // Every probe was placed by `new`.
        let missing = Error::NotStarted { phase: Phase::Execute, errno: Errno::ENOENT };
        let image = self.images.get(&probe).ok_or(missing)?;
        let output = run::run(image, cpu, arguments, self.priority, &self.limits).inspect_err(|failure| {
            // When one probe hangs, others often do too; they get less time.
            if run::is_hang(failure) {
                self.limits.time = self.limits.time.min(AFTER_A_HANG);
            }
        })?;
        records_of(&output)
    }
}

/// Runs a program that was made of a probe, and that is not kept.
///
/// # Errors
/// Why it gave no answer; as a program that cannot be executed where there is no place for it.
pub fn run_program(
    probe: Probe,
    program: &[u8],
    cpu: usize,
    arguments: &[String],
    priority: Priority,
    limits: &Limits,
) -> Result<Vec<Record>, Failure> {
    let nowhere = |_| Error::NotStarted { phase: Phase::Execute, errno: Errno::EACCES };
    let image = Image::of(probe.name(), program).map_err(nowhere)?;
    records_of(&run::run(&image, cpu, arguments, priority, limits)?)
}

fn records_of(output: &[u8]) -> Result<Vec<Record>, Failure> {
    let records = record::parse(output)?;
    if records.is_empty() { Err(Failure::Silent) } else { Ok(records) }
}

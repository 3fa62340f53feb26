//! Runs probes on this Linux: places the embedded programs where they can be executed, and runs each in a process
//! of its own, pinned, limited in time and output, whatever it does.

mod clock;
mod cpu;
mod image;
mod process;
mod schedule;

pub use clock::{Reading, tsc_is_readable};
pub use cpu::{CpuError, allowed_cpus, choose_cpu};
pub use image::PlaceError;
pub use process::{Interrupt, Limits, Priority, try_realtime};
pub use schedule::Schedule;

use image::Image;
use record::{Failure, Record, Request, Step};
use std::collections::BTreeMap;
use std::time::Duration;
use table::Probe;

/// Runs requests. The command measures through this, so that tests can put recorded answers in its place.
pub trait Executor {
    /// Runs one probe with these arguments and returns its records.
    ///
    /// # Errors
    /// What kept it from answering.
    fn run(&mut self, probe: Probe, arguments: &[String]) -> Result<Vec<Record>, Failure>;

    /// Asks for a measurement.
    ///
    /// # Errors
    /// What kept the probe from answering.
    fn measure(&mut self, probe: Probe, request: &Request) -> Result<Vec<Record>, Failure> {
        self.run(probe, &request.arguments())
    }

    /// Asks for a description of the auxiliary vector and the vDSO.
    ///
    /// # Errors
    /// What kept the probe from answering.
    fn describe(&mut self, probe: Probe) -> Result<Vec<Record>, Failure> {
        self.run(probe, &Request::describe())
    }
}

/// The longest that a probe may take once another has hung; ordinary ones take milliseconds.
const AFTER_A_HANG: Duration = Duration::from_secs(1);

/// The Linux that this program runs on.
pub struct Host {
    images: BTreeMap<Probe, Image>,
    limits: Limits,
}

impl Host {
    /// Places the probes: in memory, or else in a temporary file that is already unlinked when this returns.
    ///
    /// # Errors
    /// [`PlaceError`] when nothing that this process may write can be executed.
    pub fn new(limits: Limits) -> Result<Host, PlaceError> {
        let mut images = BTreeMap::new();
        for probe in Probe::ALL {
            images.insert(probe, Image::place(probe)?);
        }
        Ok(Host { images, limits })
    }
}

impl Executor for Host {
    fn run(&mut self, probe: Probe, arguments: &[String]) -> Result<Vec<Record>, Failure> {
        // Every probe was placed by `new`.
        let image = self
            .images
            .get(&probe)
            .ok_or(Failure::NotStarted { step: Step::Execute, errno: libc::ENOENT })?;
        let output = process::run(image, arguments, &self.limits).inspect_err(|failure| {
            // One that hangs is seldom alone; the others shall not take as long each.
            if matches!(failure, Failure::Timeout(_)) {
                self.limits.time = self.limits.time.min(AFTER_A_HANG);
            }
        })?;
        let records = record::parse(&output)?;
        if records.is_empty() { Err(Failure::Silent) } else { Ok(records) }
    }
}

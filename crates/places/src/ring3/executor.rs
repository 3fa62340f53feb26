//! Runs probes that call a path, each in a layout of its own. Arms that are measured in turns begin with the same layout and take the
//! others in the same order, so that both rounds of a pair have the same.

use super::{Asked, Error, Kernel, Prepared};
use crate::host::{Executor, Priority, run_program};
use process::{Errno, Limits, Phase};
use record::{Failure, Record, Request};
use std::rc::Rc;
use table::Probe;

/// So far apart are two layouts that follow each other: nothing that divides the number of places of a path ([`super::LAYOUTS`]) or of
/// a stack, so that all come, and a pair of places only after 4,032 others.
const STRIDE: u64 = 25;

/// Runs probes that call one path.
pub struct PathExecutor {
    kernel: Rc<Kernel>,
    prepared: Prepared,
    priority: Priority,
    limits: Limits,
    next: u64,
}

impl PathExecutor {
    /// Of a path, whose first probe has this layout. The path is laid out once, so that what cannot be called is refused here.
    ///
    /// # Errors
    /// [`Error`]
    pub fn new(
        kernel: Rc<Kernel>,
        asked: Asked,
        first: u64,
        priority: Priority,
        limits: Limits,
    ) -> Result<PathExecutor, Error> {
        kernel.function(&asked, first)?;
        let prepared = kernel.prepared(asked)?;
        Ok(PathExecutor { kernel, prepared, priority, limits, next: first })
    }
}

impl Executor for PathExecutor {
    fn run(&mut self, _: Probe, cpu: usize, arguments: &[String]) -> Result<Vec<Record>, Failure> {
        // What is wrong with a path or a probe has been found by `new`, and by the tests of this command's own.
        let damaged = |_| process::Error::NotStarted { phase: Phase::Execute, errno: Errno::ENOEXEC };
        let program = self.kernel.program(&self.prepared, self.next).map_err(damaged)?;
        run_program(Probe::Probe64, &program, cpu, arguments, self.priority, &self.limits)
    }

    fn measure(&mut self, probe: Probe, cpu: usize, request: &Request) -> Result<Vec<Record>, Failure> {
        let records = self.run(probe, cpu, &request.arguments());
        self.next = self.next.wrapping_add(STRIDE);
        records
    }
}

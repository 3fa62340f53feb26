//! What is read at the beginning and at the end of a measurement of this Linux.

use crate::conclude::Facts;
use crate::earlier::Earlier;
use crate::plan::HostPlan;
use crate::probes::Probes;
use document::{Machine, Place};
use environment::{CoreType, Environment, Load, Roots, Underneath};
use places::host::{Executor, Interrupt, Reading};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};
use table::Kernel;

/// A shorter run waits until this much time has passed, so that the counter's rate is exact: 100 ns in 50 ms are 2 ppm.
const SHORTEST_CALIBRATION: Duration = Duration::from_millis(50);

/// Where a measurement of this Linux is made.
pub struct Here {
    /// The CPUs that it may use, and their kinds.
    pub cpus: BTreeMap<usize, CoreType>,
    /// Why real-time priority was refused; none if it was not.
    pub realtime_refused: Option<String>,
    /// Ends the measurement when set.
    pub interrupt: Interrupt,
    /// The machine, captured before.
    pub environment: Environment,
    /// What earlier runs of this machine found.
    pub earlier: Earlier,
}

/// The beginning.
pub(crate) struct Around {
    /// By the executor's time.
    pub begin: Duration,
    started: String,
    reading: Option<Reading>,
    roots: Roots,
    underneath: Underneath,
    load: Load,
    cpu: usize,
}

impl Around {
    /// Of a measurement that begins on this CPU.
    pub fn begin(executor: &dyn Executor, cpu: usize) -> Around {
        let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let (begin, reading, roots) = (executor.now(), Reading::now(), Roots::default());
        let (underneath, load) = (Underneath::now(&roots), Load::now(&roots, cpu));
        Around { begin, started, reading, roots, underneath, load, cpu }
    }

    /// What is known of the measurement when it has ended, and the machine with the load meanwhile.
    pub fn end(self, plan: &HostPlan, executor: &dyn Executor, here: Here) -> (Facts, Environment) {
        let interrupted = here.interrupt.load(Ordering::Relaxed);
        let lasted = executor.now().saturating_sub(self.begin);
        std::thread::sleep(SHORTEST_CALIBRATION.saturating_sub(lasted));
        let tsc_hz = self.reading.zip(Reading::now()).and_then(|(first, last)| first.tsc_hz(&last));
        let load = Load::between(&self.load, &Load::now(&self.roots, self.cpu));
        let facts = Facts {
            place: Place::new(Machine::Host, Kernel::Linux),
            started: self.started,
            seconds: executor.now().saturating_sub(self.begin).as_secs_f64(),
            budget: plan.budget,
            strict_budget: plan.strict_budget,
            seed: plan.seed,
            interrupted,
            ended: None,
            out_of_time: false,
            realtime: plan.realtime && here.realtime_refused.is_none(),
            realtime_refused: here.realtime_refused,
            tsc_hz,
            cores: here.cpus,
            earlier: here.earlier,
            changes: Underneath::now(&self.roots).changes_since(&self.underneath),
            command: None,
            probes: Probes::embedded(),
        };
        (facts, Environment { load: Some(load), ..here.environment })
    }
}

//! What is read at the beginning and at the end of a measurement of this Linux.

use crate::conclude::{Facts, Probes};
use crate::earlier::Earlier;
use crate::plan::HostPlan;
use document::{Machine, Place};
use environment::{CoreType, Load, LoadDuring, Roots, Underneath};
use host::{Executor, Reading};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};
use table::Kernel;

/// A shorter run waits until this much time has passed, so that the counter's rate is exact: 100 ns in 50 ms are 2 ppm.
const SHORTEST_CALIBRATION: Duration = Duration::from_millis(50);

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

    /// What is known of the measurement when it has ended, and the load meanwhile.
    pub fn end(
        self,
        plan: &HostPlan,
        executor: &dyn Executor,
        interrupted: bool,
        realtime_refused: Option<String>,
        cores: BTreeMap<usize, CoreType>,
    ) -> (Facts, LoadDuring) {
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
            realtime: plan.realtime && realtime_refused.is_none(),
            realtime_refused,
            tsc_hz,
            cores,
            earlier: Earlier::new(),
            changes: Underneath::now(&self.roots).changes_since(&self.underneath),
            command: None,
            probes: Probes::embedded(),
        };
        (facts, load)
    }
}

//! Whether clocks are steady, and agree from CPU to CPU: measured by threads on them.
//!
//! [`steady`] watches a clock beside the counter of the same thread, [`apart`] bounds how far two CPUs are apart, [`look`] says who does
//! what; all of them work on a [`machine`], which is [`live`], or in tests a simulated one whose clocks are known.

mod apart;
mod kernel_log;
mod live;
mod look;
mod machine;
#[cfg(test)]
mod simulated;
mod steady;

pub use apart::Apart;
pub use kernel_log::{KernelLog, LogLine};
pub use steady::{Steadiness, Steps};

use live::Live;
use machine::Reading;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What threads on several CPUs saw of the clocks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockHealth {
    /// The CPUs that were to be looked at: those that this process may use.
    pub cpus: Vec<usize>,
    /// Those of them that could not be, or not fully, and why.
    pub not_looked: Vec<NotLooked>,
    /// Pairs and CPUs that there was no time for.
    pub left_out: u64,
    /// How each CPU saw each clock go.
    pub steadiness: Vec<Steadiness>,
    /// How far pairs of CPUs are apart. The pairs of the first CPU are there twice, as long apart as the look took.
    pub apart: Vec<Apart>,
    /// The rate of the time stamp counter; null where it could not be told.
    pub rate: Option<Rate>,
    /// What the kernel's log says about clocks.
    pub log: KernelLog,
    /// How long the look took, seconds.
    pub seconds: f64,
}

/// A CPU that could not be looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotLooked {
    /// Its number.
    pub cpu: usize,
    /// Why, in words.
    pub why: String,
}

/// How fast the time stamp counter went, by `CLOCK_MONOTONIC_RAW`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rate {
    /// Ticks in a second.
    pub hz: f64,
    /// By what part that may be wrong.
    pub uncertainty: f64,
    /// Over how long, seconds.
    pub seconds: f64,
}

impl ClockHealth {
    /// Looks, for about so long. The kernel's log is read as far as this user may.
    pub fn look(time: Duration) -> ClockHealth {
        let log = KernelLog::read();
        match Live::new() {
            Ok(live) => ClockHealth { log, ..look::look(&live, time) },
            Err(why) => {
                let not_looked = process::allowed_cpus().unwrap_or_default().into_iter();
                let not_looked = not_looked.map(|cpu| NotLooked { cpu, why: why.clone() }).collect();
                ClockHealth { log, not_looked, ..ClockHealth::default() }
            }
        }
    }
}

impl Rate {
    fn between(first: Reading, last: Reading) -> Option<Rate> {
        let ns = last.time.checked_sub(first.time).filter(|ns| *ns > 0)? as f64;
        let ticks = last.middle() - first.middle();
        let widths = (first.width() + last.width()) as f64 / 2.0;
        (ticks > 0.0).then(|| Rate {
            hz: ticks * 1e9 / ns,
            uncertainty: widths / ticks + 2.0 / ns,
            seconds: ns / 1e9,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_at_this_machine_sees_every_cpu_and_moves_nobody() {
        let before = process::allowed_cpus().unwrap();
        let found = ClockHealth::look(Duration::from_millis(300));
        assert_eq!(process::allowed_cpus().unwrap(), before, "the caller's own CPUs");
        assert_eq!(found.cpus, before);
        let looked: Vec<usize> =
            before.iter().copied().filter(|cpu| found.not_looked.iter().all(|not| not.cpu != *cpu)).collect();
        for cpu in looked {
            for clock in ["monotonic", "realtime", "tsc"] {
                let is_of = |each: &&Steadiness| each.cpu == cpu && each.clock == clock;
                // How many depends on who else is on this CPU.
                assert!(found.steadiness.iter().find(is_of).unwrap().readings > 1, "{cpu} {clock}");
            }
        }
        let rate = found.rate.unwrap();
        assert!(rate.hz > 1e8 && rate.uncertainty > 0.0 && rate.uncertainty < 1.0, "{rate:?}");
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<ClockHealth>(&text).unwrap(), found);
    }

    #[test]
    fn a_document_of_another_version_is_read() {
        let read = |text: &str| serde_json::from_str::<ClockHealth>(text).unwrap();
        assert_eq!(read("{}"), ClockHealth::default());
        assert_eq!(read(r#"{"apart": [{"new": 1}], "rate": {}}"#).apart, [Apart::default()]);
    }
}

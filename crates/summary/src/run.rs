//! What stands in a summary: a run, and rows. Units are in the names; null is unknown.

use document::{Level, Outcome, Path, Timing};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was measured where, and how that went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Tells this run from every other. Of a document without an id, a digest of it.
    pub run_id: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// How long it took.
    pub duration_seconds: f64,
    /// Version of kentry.
    pub kentry: String,
    /// What executed the instructions, as documents name it: `host`, `qemu-tcg`, ...
    pub machine: String,
    /// Which kernel served the entries, as documents name it: `linux`, `lab`, ...
    pub kernel: String,
    /// Whether the run was cut short.
    pub partial: bool,
    /// Share of the run's canaries that found the core alone, 0 to 1.
    pub quiet_ratio: Option<f64>,
    /// Frequency of the time stamp counter.
    pub tsc_hertz: Option<f64>,
    /// Frequency of the core, median over the run.
    pub core_hertz: Option<f64>,
    /// Tells this boot from the others.
    pub boot_id: Option<String>,
    /// The processor's name.
    pub cpu_brand: Option<String>,
    /// Its kind of core, where the machine has several.
    pub core_type: Option<String>,
    /// The machine's maker and name; clouds put the instance type there.
    pub product: Option<String>,
    /// The build of the kernel: `#1 SMP PREEMPT_DYNAMIC Debian 6.1.170-3`.
    pub kernel_version: Option<String>,
    /// Words of the kernel's command line, sorted, but those that name disks, consoles or the machine itself.
    pub command_line: Option<String>,
    /// What the kernel does about each fault of the processor.
    pub mitigations: BTreeMap<String, String>,
    /// Whether page tables are apart.
    pub pti: Option<bool>,
    /// Whether the kernel draws an offset of its stack for each call.
    pub randomize_kstack_offset: Option<bool>,
    /// Mode of the vsyscall page.
    pub vsyscall: Option<String>,
    /// Seccomp filters of the measuring process.
    pub seccomp_filters: Option<u32>,
    /// Whether the process was traced.
    pub traced: Option<bool>,
    /// CPUs that the process's group may use at once; null where it has no quota.
    pub cpu_quota: Option<f64>,
    /// Frequency governor.
    pub governor: Option<String>,
    /// Rule of speculative store bypass for this process.
    pub speculation_store_bypass: Option<String>,
    /// First 16 hexadecimal digits of the SHA-256 of those of the probes, so that runs of other timed code are known.
    pub probes_sha256: Option<String>,
    /// Levels of what the run found, by the finding's id; the worst where one comes several times.
    pub findings: BTreeMap<String, Level>,
    /// What machines are told apart by.
    #[serde(flatten)]
    pub cohort: Cohort,
}

/// The facts that stand in every line, so that a line can be grouped by itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cohort {
    /// Tells this machine from others that look the same; a digest.
    pub machine_id: Option<String>,
    /// `GenuineIntel`, `AuthenticAMD`.
    pub cpu_vendor: Option<String>,
    /// Family, with the extended family added.
    pub cpu_family: Option<u32>,
    /// Model, with the extended model in its upper half.
    pub cpu_model: Option<u32>,
    /// Stepping.
    pub cpu_stepping: Option<u32>,
    /// Revision of the microcode.
    pub microcode: Option<String>,
    /// Signature of the hypervisor; `none` where there is none.
    pub hypervisor: Option<String>,
    /// Whether cores run several threads.
    pub smt: Option<bool>,
    /// The kernel's release: `6.1.0-31-amd64`.
    pub kernel_release: Option<String>,
    /// First 16 hexadecimal digits of the SHA-256 of [`Run::command_line`].
    pub command_line_sha256: Option<String>,
    /// What serves the kernel's clock.
    pub clocksource: Option<String>,
    /// The preemption model.
    pub preemption: Option<String>,
    /// First 16 hexadecimal digits of the SHA-256 of [`Run::mitigations`].
    pub mitigations_sha256: Option<String>,
    /// The system's C library: its package, or name and version.
    pub libc: Option<String>,
}

/// One entry and operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the entry.
    pub entry: String,
    /// Name of the operation.
    pub operation: String,
    /// Bitness of the process that used it.
    pub bits: u8,
    /// Its configuration, `pcid=off;pti=on`; null on a host otherwise.
    pub configuration: Option<String>,
    /// Where the figures come from.
    pub timing: Timing,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it did not work, in words.
    pub reason: Option<String>,
    /// Where a function is served.
    pub path: Option<Path>,
    /// Why a row that works has no figure: `shared`, `preempted`, `too-few`; `wide` where its interval is wider than its estimate.
    pub noise: Option<String>,
    /// Cost in core cycles.
    pub core_cycles: Option<f64>,
    /// Lower end of its interval of 95 %.
    pub core_cycles_ci_low: Option<f64>,
    /// Upper end of it.
    pub core_cycles_ci_high: Option<f64>,
    /// Cost in nanoseconds.
    pub nanoseconds: Option<f64>,
    /// Lower end of its interval of 95 %.
    pub nanoseconds_ci_low: Option<f64>,
    /// Upper end of it.
    pub nanoseconds_ci_high: Option<f64>,
    /// Instructions executed; only where an emulator counted them.
    pub instructions: Option<f64>,
    /// Rounds in the estimate.
    pub kept_rounds: u64,
}

impl Row {
    /// Whether its figures can be those of a measurement.
    ///
    /// # Errors
    /// What is wrong, in words: an estimate outside of its interval.
    pub fn check(&self) -> Result<(), String> {
        let costs = [
            ("core_cycles", self.core_cycles, self.core_cycles_ci_low, self.core_cycles_ci_high),
            ("nanoseconds", self.nanoseconds, self.nanoseconds_ci_low, self.nanoseconds_ci_high),
        ];
        for (name, estimate, low, high) in costs {
            let is_outside = |estimate: f64| {
                low.is_some_and(|low| low > estimate) || high.is_some_and(|high| high < estimate)
            };
            if estimate.is_some_and(is_outside) {
                return Err(format!("{name} is outside of its own interval"));
            }
        }
        Ok(())
    }
}

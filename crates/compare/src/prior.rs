//! How much a row varies from run to run, as far as it is known before any run of this machine: by the kind of row.
//!
//! The figures are of two benchmarks of 40 runs each: `bench/RESULTS.md` (Sapphire Rapids; a range over 40 runs is 4.3 standard
//! deviations in the mean) and docs/adr/0012-comparisons-reckon-with-runs.md (Zen 5). What they say of other machines is uncertain,
//! which the model reckons with; runs of one's own machine take their place as they come.

use crate::comparison::Unit;
use table::{Kind, Table};

/// For as many degrees of freedom the prior of a kind counts against what all rows of the kind show. So few that a comparison of
/// single runs keeps its rate of false verdicts where rows vary twice as much as the prior says (tests/truth.rs).
pub(crate) const FREEDOM_OF_KIND: f64 = 7.5;

/// The same where the kernel is entered. Fewer, because runs differ in more than their levels: one run in twenty has all rows of one entry
/// 5 to 20 % higher (Zen 5, 80 runs), which single runs must not call a change, and several runs show.
pub(crate) const FREEDOM_OF_KERNEL: f64 = 3.0;

/// Standard deviation between boots, as a part of that between runs of one boot. This is an assumption: both benchmarks are of one boot
/// each, and nothing is known of how boots differ.
pub(crate) const BOOTS: f64 = 1.5;

/// By how much rows of one kind differ in what boots add is not known either: this counts against a single row for so many degrees of
/// freedom at most. With this and the above, comparisons keep their rate of false verdicts where boots add twice as much as runs
/// (tests/truth.rs).
pub(crate) const FREEDOM_OF_ROW_OF_BOOTS: f64 = 7.0;

/// The rows of a run depend on each other: so many tell as much of their kind as one that does not.
pub(crate) const ROWS_LIKE_ONE: f64 = 5.0;

/// So do those of a boot, and more, because no error within runs stands between them.
pub(crate) const ROWS_OF_A_BOOT_LIKE_ONE: f64 = 10.0;

/// The error that a run states is too great rather than too small: its interval covers 97 to 99 of 100 where there are few rounds
/// (crates/stats/tests/truth.rs). Where runs vary less than that, this part of its square is believed at least: the variance of
/// steady rows over 40 runs was 0.64 of it (Zen 5).
pub(crate) const LEAST_OF_ERROR: f64 = 0.6;

/// Standard deviation of the core's clock from run to run, as a part of it, which figures in nanoseconds have in addition: those of
/// `syscall-x86_64 getppid` ranged over 12 to 18 % in 18 and 19 runs (Sapphire Rapids), and deviated by 3 to 4 % (Zen 5).
const CLOCK: f64 = 0.04;

/// What a CPU's own state adds to whatever enters the kernel: levels that hold for 0.25 to 2 s, on each CPU by itself (251, 253, 260, 263,
/// 270 cycles of one row; standard deviation as a part of the cost, Zen 5). Most entries have theirs together: those of one run
/// correlate at 0.5 to 0.8 (80 runs, Zen 5).
const LEVELS: f64 = 0.02;

/// How long a level holds, in seconds: as long as was seen.
const LEVEL_SECONDS: f64 = 2.0;

/// The interval of a run tells levels, but two seconds are one or two of them. So levels are expected as they were seen, up to so many times
/// the greatest error that a run of the comparison states: no more, so that machines without levels are not judged as if they had some.
pub(crate) const TOLD: f64 = 3.0;

/// What minutes add: some costs are 3 % higher for minutes, which is 1.5 % up or down, and no run tells that (Zen 5;
/// `bench/OUTLIERS.md`).
const DRIFT: f64 = 0.015;

/// How long that holds, in seconds.
pub(crate) const DRIFT_SECONDS: f64 = 300.0;

/// What levels add to a run of so many seconds, as a part of the cost: the standard deviation of the mean of a state that forgets itself
/// after [`LEVEL_SECONDS`].
pub(crate) fn of_levels(seconds: f64) -> f64 {
    let times = Some(seconds / LEVEL_SECONDS).filter(|times| *times > 1e-3).unwrap_or(1e-3);
    LEVELS * (2.0 / times * (1.0 - (1.0 - (-times).exp()) / times)).max(0.0).sqrt()
}

/// Standard deviation that minutes add.
pub(crate) fn of_drift(cost: f64) -> f64 {
    DRIFT * cost.abs()
}

/// Rows that vary alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Behaviour {
    /// What does not change from run to run, but once in a while: system calls, the vDSO, calls.
    Steady,
    /// Interrupts and exceptions: one constant here, another there.
    Piecewise,
    /// The kernel's account of a thread's time.
    ThreadTime,
    /// Single instructions, some of which a hypervisor may execute.
    Instruction,
}

/// Standard deviation from run to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prior {
    /// As a part of the cost.
    part: f64,
    /// At least, in cycles.
    least: f64,
}

impl Behaviour {
    /// Of a row, by the names of its entry and operation. What this version's table lacks is taken to be steady.
    pub fn of(table: &Table, entry: &str, operation: &str) -> Behaviour {
        if operation == "clock_gettime-thread-cputime" {
            return Behaviour::ThreadTime;
        }
        match table.entry(entry) {
            Some(entry) if entry.uses_idt() => Behaviour::Piecewise,
            Some(entry) if entry.kind == Kind::Instruction => Behaviour::Instruction,
            _ => Behaviour::Steady,
        }
    }

    /// For as many degrees of freedom a kind of row counts against a single row of it, and so does the error that runs state: how
    /// much rows of one kind differ in how much they vary, beside what their runs' intervals lead to expect. Steady rows scatter as
    /// χ² with 18 degrees of freedom would; others as with fewer than 2, unless the intervals of outlying runs are counted (Zen 5).
    pub fn freedom_of_row(self) -> f64 {
        match self {
            Behaviour::Steady | Behaviour::Instruction => 15.0,
            Behaviour::Piecewise | Behaviour::ThreadTime => 5.0,
        }
    }

    /// The prior for rows that behave so.
    fn prior(self) -> Prior {
        let (part, least) = match self {
            // 0.1 to 0.2 % (ranges of 0.4 to 0.8 % over 38 runs, Sapphire Rapids), 0.1 to 0.6 % (Zen 5), of which most is the error
            // within runs; and one run in 56 that read 2.9 % more (bench/OUTLIERS.md). Rows of some cycles: 0.1 to 0.25 cycles.
            Behaviour::Steady => (0.002, 0.15),
            // 1 to 4 % (ranges of 3 to 16 % over 11 to 22 runs of one CPU, Sapphire Rapids), 0.4 to 3 % (Zen 5), where `vsyscall`
            // read a third more in a run of 40.
            Behaviour::Piecewise => (0.025, 1.0),
            // 0.1 to 0.2 % (Zen 5); but now and then a run that is 25 % (Zen 5) or 58 % off (Sapphire Rapids), most of which its own
            // interval tells.
            Behaviour::ThreadTime => (0.015, 1.0),
            // `cpuid` up to 15 % off in one run of 40 (Sapphire Rapids); 0.1 to 0.5 % (Zen 5).
            Behaviour::Instruction => (0.01, 0.25),
        };
        Prior { part, least }
    }

    /// By how many percent of the cost two boots differ at most, in 95 of 100 pairs, as [`BOOTS`] assumes.
    pub fn percent_of_two_boots(self) -> f64 {
        100.0 * 1.96 * std::f64::consts::SQRT_2 * BOOTS * self.prior().part
    }

    /// The standard deviation of a row that costs this much, in its unit. It is above zero.
    pub fn deviation(self, unit: Unit, cost: f64) -> f64 {
        let Prior { part, least } = self.prior();
        match unit {
            Unit::Cycles => (part * cost.abs()).max(least),
            // A cycle takes at least a tenth of a nanosecond.
            Unit::Ns => (part.hypot(CLOCK) * cost.abs()).max(least / 10.0),
            Unit::Instructions => 0.0,
        }
    }
}

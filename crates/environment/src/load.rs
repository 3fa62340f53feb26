//! The load on the machine while something was measured.

use serde::{Deserialize, Serialize};

use crate::container::Throttled;
use crate::reader::{Reader, Unseen};
use crate::roots::Roots;

/// Length of a tick of `/proc/stat` in milliseconds: USER_HZ is 100 on x86 (`asm-generic/param.h`), and is ABI.
const TICK_MS: f64 = 10.0;

/// Counters of the kernel at one moment. Counters count from boot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Load {
    /// The CPU that is measured on.
    pub cpu: usize,
    /// Runnable tasks, averaged over one minute. `/proc/loadavg`.
    pub loadavg_1: Option<f64>,
    /// The same over five minutes.
    pub loadavg_5: Option<f64>,
    /// The same over fifteen minutes.
    pub loadavg_15: Option<f64>,
    /// Ticks (10 ms) in which the hypervisor ran something else on this CPU. `/proc/stat`.
    pub steal_ticks: Option<u64>,
    /// Ticks of this CPU in all states. `/proc/stat`.
    pub total_ticks: Option<u64>,
    /// Ticks in which this CPU worked. `/proc/stat`.
    pub busy_ticks: Option<u64>,
    /// Ticks of all other CPUs together, in all states; 0 on a machine with one CPU. `/proc/stat`.
    pub other_total_ticks: Option<u64>,
    /// Ticks in which the other CPUs worked. `/proc/stat`.
    pub other_busy_ticks: Option<u64>,
    /// Interrupts of all kinds that this CPU took. `/proc/interrupts`.
    pub interrupts: Option<u64>,
    /// Context switches of the whole machine. `/proc/stat`.
    pub context_switches: Option<u64>,
    /// The directory of the control group whose quota limits this process the most. `/proc/self/cgroup`.
    pub throttled_group: Option<String>,
    /// Periods in which its quota was used up. `cpu.stat`, `nr_throttled`.
    pub throttled_periods: Option<u64>,
    /// Nanoseconds for which the quota stopped processes of the group. `cpu.stat`.
    pub throttled_ns: Option<u64>,
    /// What could not be read, and why.
    pub unseen: Vec<Unseen>,
}

/// What happened between two [`Load`]s.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadDuring {
    /// Runnable tasks before, averaged over one minute.
    pub loadavg_before: Option<f64>,
    /// The same after.
    pub loadavg_after: Option<f64>,
    /// Milliseconds in which the hypervisor ran something else on the measured CPU, in steps of 10. The kernel's
    /// counter may run backwards; then this is negative.
    pub steal_ms: Option<f64>,
    /// How busy the other CPUs were, in percent of all their time. `None` if less than a tick passed, or with one CPU.
    pub busy_percent_other: Option<f64>,
    /// Interrupts of all kinds that the measured CPU took.
    pub interrupts: Option<u64>,
    /// Context switches of the whole machine.
    pub context_switches: Option<u64>,
    /// Periods in which the CPU quota of this process's control group was used up. `None` where there is no quota, its effect
    /// cannot be read, or the process was moved to another group.
    pub throttled_periods: Option<u64>,
    /// Milliseconds for which the quota stopped processes of the group, summed over CPUs.
    pub throttled_ms: Option<f64>,
    /// What could not be read, and why.
    pub unseen: Vec<Unseen>,
}

impl Load {
    /// Reads the counters, for measurements on `cpu`. A few files; it costs some tens of microseconds on a machine
    /// with a few CPUs.
    pub fn now(roots: &Roots, cpu: usize) -> Self {
        let mut reader = Reader::new(roots);
        let averages = part(&mut reader, "/proc/loadavg", "three numbers", averages);
        let column = format!("a column for CPU {cpu}");
        let interrupts = part(&mut reader, "/proc/interrupts", &column, |text| interrupts_of(text, cpu));
        let row = format!("a row for CPU {cpu}");
        let stat = part(&mut reader, "/proc/stat", &row, |text| {
            let load = Self::from_stat(text, cpu);
            load.total_ticks.is_some().then_some(load)
        });
        let throttled = Throttled::now(&reader);
        Self {
            cpu,
            loadavg_1: averages.map(|averages| averages[0]),
            loadavg_5: averages.map(|averages| averages[1]),
            loadavg_15: averages.map(|averages| averages[2]),
            interrupts,
            throttled_periods: throttled.as_ref().map(|throttled| throttled.periods),
            throttled_ns: throttled.as_ref().map(|throttled| throttled.nanos),
            throttled_group: throttled.map(|throttled| throttled.directory),
            unseen: reader.into_unseen(),
            ..stat.unwrap_or_default()
        }
    }

    /// What happened from `before` to `after`. Counters of different CPUs or control groups are not compared.
    pub fn between(before: &Self, after: &Self) -> LoadDuring {
        let mut unseen = before.unseen.clone();
        unseen.extend(after.unseen.iter().filter(|new| !before.unseen.contains(new)).cloned());
        let same = before.cpu == after.cpu;
        if !same {
            let what = "load of the measured CPU".to_owned();
            let why = format!("counters of CPU {} and {}", before.cpu, after.cpu);
            unseen.push(Unseen { what, why, expected: false });
        }
        let same_group = before.throttled_group == after.throttled_group;
        let throttled_ns = increase(before.throttled_ns, after.throttled_ns).filter(|_| same_group);
        LoadDuring {
            loadavg_before: before.loadavg_1,
            loadavg_after: after.loadavg_1,
            steal_ms: difference(before.steal_ticks, after.steal_ticks)
                .filter(|_| same)
                .map(|ticks| ticks * TICK_MS),
            busy_percent_other: busy_percent_other(before, after).filter(|_| same),
            interrupts: increase(before.interrupts, after.interrupts).filter(|_| same),
            context_switches: increase(before.context_switches, after.context_switches),
            throttled_periods: increase(before.throttled_periods, after.throttled_periods)
                .filter(|_| same_group),
            throttled_ms: throttled_ns.map(|nanos| nanos as f64 / 1e6),
            unseen,
        }
    }

    fn from_stat(stat: &str, cpu: usize) -> Self {
        let all = Ticks::parse(stat, "cpu");
        let this = Ticks::parse(stat, &format!("cpu{cpu}"));
        let others = |part: fn(&Ticks) -> u64| Some(part(all.as_ref()?).saturating_sub(part(this.as_ref()?)));
        Self {
            steal_ticks: this.as_ref().map(|ticks| ticks.steal),
            total_ticks: this.as_ref().map(|ticks| ticks.total),
            busy_ticks: this.as_ref().map(|ticks| ticks.busy),
            other_total_ticks: others(|ticks| ticks.total),
            other_busy_ticks: others(|ticks| ticks.busy),
            context_switches: row(stat, "ctxt").and_then(|row| row.parse().ok()),
            ..Self::default()
        }
    }
}

/// What `parse` finds in a file; if it finds nothing, that is noted.
fn part<T>(reader: &mut Reader, path: &str, what: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let found = parse(&reader.text(path)?);
    if found.is_none() {
        reader.miss(path, format!("it does not have {what}"));
    }
    found
}

/// One `cpu` row of `/proc/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Ticks {
    total: u64,
    busy: u64,
    steal: u64,
}

impl Ticks {
    /// user nice system idle iowait irq softirq steal guest guest_nice; the guests are in user and nice already.
    /// Kernels before 2.6.33 have fewer columns. proc_stat(5).
    fn parse(stat: &str, name: &str) -> Option<Self> {
        const COLUMNS: usize = 8;
        let mut columns = [0_u64; COLUMNS];
        let numbers: Vec<u64> = row(stat, name)?
            .split_whitespace()
            .take(COLUMNS)
            .map(str::parse)
            .collect::<Result<_, _>>()
            .ok()?;
        columns.get_mut(..numbers.len())?.copy_from_slice(&numbers);
        if numbers.len() < 4 {
            return None;
        }
        let [user, nice, system, idle, iowait, irq, softirq, steal] = columns;
        let sum = |parts: &[u64]| parts.iter().fold(0, |sum: u64, part| sum.saturating_add(*part));
        let busy = sum(&[user, nice, system, irq, softirq]);
        Some(Self { total: sum(&[busy, idle, iowait, steal]), busy, steal })
    }
}

/// The words of the line that begins with `name`.
fn row<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(str::trim)
}

/// `0.00 0.01 0.00 1/81 3407`.
fn averages(line: &str) -> Option<[f64; 3]> {
    let average = |word: &str| word.parse().ok().filter(|average: &f64| (0.0..1e9).contains(average));
    let averages: Option<Vec<f64>> = line.split(' ').take(3).map(average).collect();
    averages?.try_into().ok()
}

/// The sum of a CPU's column. Rows with fewer numbers than there are CPUs (`ERR`, `MIS`) count no CPU's interrupts.
fn interrupts_of(text: &str, cpu: usize) -> Option<u64> {
    let mut lines = text.lines();
    let header = lines.next()?;
    let name = format!("CPU{cpu}");
    let column = header.split_whitespace().position(|word| word == name)?;
    let cpus = header.split_whitespace().count();
    let count = |line: &str| {
        let numbers = line.split_once(':')?.1.split_whitespace().take(cpus);
        let numbers: Vec<u64> = numbers.map_while(|word| word.parse().ok()).collect();
        if numbers.len() == cpus { numbers.get(column).copied() } else { None }
    };
    Some(lines.filter_map(count).fold(0, u64::saturating_add))
}

fn difference(before: Option<u64>, after: Option<u64>) -> Option<f64> {
    Some(after? as f64 - before? as f64)
}

fn increase(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    after?.checked_sub(before?)
}

fn busy_percent_other(before: &Load, after: &Load) -> Option<f64> {
    let total = increase(before.other_total_ticks, after.other_total_ticks).filter(|total| *total > 0)?;
    let busy = difference(before.other_busy_ticks, after.other_busy_ticks)?;
    Some(100.0 * busy / total as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{GARBAGE, Scratch, fixture};

    const STAT: &str = "cpu  1685 0 1207 153109 386 0 42 8 0 0\ncpu0 404 0 354 77488 8 0 8 1 0 0\n\
        cpu1 1281 0 853 75620 378 0 33 6 0 0\nintr 144312 0 0\nctxt 303344\nbtime 1795293125\n";

    #[test]
    fn the_rows_of_stat() {
        let load = Load::from_stat(STAT, 1);
        assert_eq!((load.steal_ticks, load.busy_ticks), (Some(6), Some(1281 + 853 + 33)));
        assert_eq!(load.total_ticks, Some(1281 + 853 + 75620 + 378 + 33 + 6));
        assert_eq!(load.other_busy_ticks, Some(2934 - 2167));
        assert_eq!(load.context_switches, Some(303_344));
        assert_eq!(Load::from_stat(STAT, 2).total_ticks, None);
    }

    #[test]
    fn a_recorded_machine() {
        let load = Load::now(&fixture("firecracker"), 0);
        assert!(load.unseen.is_empty(), "{:?}", load.unseen);
        assert!(load.loadavg_1.is_some() && load.interrupts.is_some() && load.other_total_ticks.is_some());
    }

    #[test]
    fn interrupts_of_one_cpu() {
        let text = "           CPU0       CPU2       \n 24:          1          5  IO-APIC   5-edge      ACPI:Ged\n\
            LOC:      11806      15675   Local timer interrupts\nERR:          9\nMIS:          0\n";
        assert_eq!(interrupts_of(text, 0), Some(11_807));
        assert_eq!(interrupts_of(text, 2), Some(15_680));
        assert_eq!(interrupts_of(text, 1), None);
    }

    #[test]
    fn between_two_moments() {
        let moment = |steal, other_busy, other_total, interrupts| Load {
            loadavg_1: Some(0.5),
            steal_ticks: Some(steal),
            other_busy_ticks: Some(other_busy),
            other_total_ticks: Some(other_total),
            interrupts: Some(interrupts),
            context_switches: Some(interrupts),
            ..Load::default()
        };
        let during = Load::between(&moment(10, 100, 1000, 7), &moment(13, 150, 1200, 9));
        assert_eq!(during.steal_ms, Some(30.0));
        assert_eq!(during.busy_percent_other, Some(25.0));
        assert_eq!((during.interrupts, during.context_switches), (Some(2), Some(2)));
        let backwards = Load::between(&moment(13, 100, 1000, 9), &moment(12, 100, 1000, 7));
        assert_eq!(backwards.steal_ms, Some(-10.0));
        assert_eq!((backwards.busy_percent_other, backwards.interrupts), (None, None));
    }

    #[test]
    fn what_a_quota_stopped_is_told() {
        let moment = |periods, nanos| Load {
            throttled_periods: Some(periods),
            throttled_ns: Some(nanos),
            ..Load::default()
        };
        let during = Load::between(&moment(3, 1_000_000), &moment(10, 8_500_000));
        assert_eq!((during.throttled_periods, during.throttled_ms), (Some(7), Some(7.5)));
        let without = Load::between(&Load::default(), &moment(10, 8_500_000));
        assert_eq!((without.throttled_periods, without.throttled_ms), (None, None));
    }

    #[test]
    fn what_stopped_another_group_is_not_this_runs() {
        let scratch = Scratch::new("load-groups");
        for (group, periods) in [("a", "1"), ("b", "900")] {
            scratch.write(&format!("/sys/fs/cgroup/{group}/cpu.max"), b"50000 100000\n");
            let stat = format!("nr_throttled {periods}\nthrottled_usec {periods}000\n");
            scratch.write(&format!("/sys/fs/cgroup/{group}/cpu.stat"), stat.as_bytes());
        }
        let within = |group: &str| {
            scratch.write("/proc/self/cgroup", format!("0::/{group}\n").as_bytes());
            Load::now(&scratch.roots(), 0)
        };
        let (a, b) = (within("a"), within("b"));
        assert_eq!((a.throttled_periods, b.throttled_periods), (Some(1), Some(900)));
        let (moved, stayed) = (Load::between(&a, &b), Load::between(&a, &within("a")));
        assert_eq!((moved.throttled_periods, moved.throttled_ms), (None, None));
        assert_eq!((stayed.throttled_periods, stayed.throttled_ms), (Some(0), Some(0.0)));
    }

    #[test]
    fn different_cpus_are_not_compared() {
        let on = |cpu| Load { cpu, steal_ticks: Some(1), context_switches: Some(1), ..Load::default() };
        let during = Load::between(&on(0), &on(1));
        assert_eq!((during.steal_ms, during.context_switches), (None, Some(0)));
        assert_eq!(during.unseen.len(), 1);
    }

    #[test]
    fn nothing_to_read_is_noted_once() {
        let scratch = Scratch::new("load");
        let load = Load::now(&scratch.roots(), 0);
        assert_eq!(load.unseen.len(), 3);
        let during = Load::between(&load, &load);
        assert_eq!(during.unseen, load.unseen);
        assert_eq!((during.loadavg_before, during.steal_ms), (None, None));
    }

    #[test]
    fn a_cpu_that_is_not_there_is_noted() {
        let load = Load::now(&fixture("firecracker"), 77);
        let unseen: Vec<&str> = load.unseen.iter().map(|unseen| unseen.why.as_str()).collect();
        assert_eq!(unseen, ["it does not have a column for CPU 77", "it does not have a row for CPU 77"]);
        assert!(load.loadavg_1.is_some());
    }

    #[test]
    fn garbage_is_null() {
        for text in GARBAGE {
            let load = Load::from_stat(text, 0);
            assert_eq!((load.total_ticks, load.context_switches), (None, None), "{text}");
            assert_eq!(interrupts_of(text, 0), None);
            assert_eq!(averages(text), None);
        }
        assert_eq!(averages("0.00 0.01 0.50 1/81 3407"), Some([0.0, 0.01, 0.5]));
        assert_eq!(averages("NaN inf 1e999"), None);
        let huge = format!("cpu0 {0} {0} {0} {0}\n", u64::MAX);
        assert_eq!(Ticks::parse(&huge, "cpu0").map(|ticks| ticks.total), Some(u64::MAX));
    }
}

//! What surrounds this process: control groups and containers.

use serde::{Deserialize, Serialize};

use crate::reader::Reader;
use crate::text;

/// The most levels of control groups that are looked at.
const DEPTH_LIMIT: usize = 32;

/// The most that is read of `/proc/self/cgroup` and of a `cpu.stat`, in bytes.
const GROUPS_LIMIT: u64 = 1 << 16;
const STAT_LIMIT: u64 = 1 << 12;

/// Signs of a container. Their absence proves nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Container {
    /// What was found: `/.dockerenv`, `/run/.containerenv`, `container=lxc`.
    pub hints: Vec<String>,
    /// The control group that divides processor time.
    pub cgroup: Cgroup,
}

/// A control group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cgroup {
    /// `v1`, `v2` or `hybrid`. `/proc/self/cgroup`.
    pub version: Option<String>,
    /// Its path in the hierarchy that controls the CPU. `/proc/self/cgroup`.
    pub path: Option<String>,
    /// The tightest quota from there up, in the notation of v2's `cpu.max`: `max 100000`, or `50000 100000`,
    /// microseconds of processor time in each period of microseconds.
    pub cpu_max: Option<String>,
    /// The same as a number of CPUs. `None` when there is no quota, or `cpu_max` is unknown.
    pub cpu_quota: Option<f64>,
}

impl Container {
    pub(crate) fn capture(reader: &mut Reader) -> Self {
        let mut hints: Vec<String> = ["/.dockerenv", "/run/.containerenv"]
            .iter()
            .filter(|path| reader.exists(path))
            .map(|path| (*path).to_owned())
            .collect();
        if let Some(kind) = std::env::var_os("container") {
            hints.push(format!("container={}", text::clean(kind.as_encoded_bytes())));
        }
        Self { hints, cgroup: Cgroup::capture(reader) }
    }
}

impl Cgroup {
    fn capture(reader: &mut Reader) -> Self {
        let Some(groups) = reader.text_unless("/proc/self/cgroup", "on kernels without control groups")
        else {
            return Self::default();
        };
        let membership = Membership::parse(&groups);
        let quota = membership.quota(reader).map(|(quota, _)| quota);
        if quota.is_none() {
            let why = format!("no quota file at or above {:?} (normal in the root group)", membership.path);
            reader.miss_expected("the CPU quota", why);
        }
        Self {
            version: membership.version.map(str::to_owned),
            path: membership.path.map(str::to_owned),
            cpu_max: quota.as_ref().map(Quota::in_v2_notation),
            cpu_quota: quota.as_ref().and_then(Quota::cpus),
        }
    }
}

/// What `/proc/self/cgroup` says about the hierarchy that controls the CPU.
#[derive(Debug, Default, PartialEq, Eq)]
struct Membership<'a> {
    version: Option<&'static str>,
    /// v1: the controllers that share the hierarchy, which name its directory. v2: none.
    controllers: Option<&'a str>,
    path: Option<&'a str>,
}

impl<'a> Membership<'a> {
    /// Lines `number:controllers:path`; number 0 without controllers is v2. cgroups(7).
    fn parse(groups: &'a str) -> Self {
        let lines = groups.lines().filter_map(|line| {
            let (number, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            path.starts_with('/').then_some((number, controllers, path))
        });
        let (unified, legacy): (Vec<_>, Vec<_>) =
            lines.partition(|&(number, names, _)| number == "0" && names.is_empty());
        let version = match (unified.is_empty(), legacy.is_empty()) {
            (false, true) => Some("v2"),
            (false, false) => Some("hybrid"),
            (true, false) => Some("v1"),
            (true, true) => None,
        };
        let cpu = legacy.iter().find(|(_, names, _)| names.split(',').any(|name| name == "cpu"));
        let path = cpu.or(unified.first()).map(|(_, _, path)| *path);
        Self { version, controllers: cpu.map(|(_, names, _)| *names), path }
    }

    /// The tightest quota from the group up, and the directory that it stands in. A group above limits too.
    fn quota(&self, reader: &Reader) -> Option<(Quota, String)> {
        let path = self.path.filter(|path| path.split('/').all(|part| part != ".."))?;
        let quotas = ancestors(path).take(DEPTH_LIMIT).filter_map(|group| match self.controllers {
            Some(controllers) => v1_quota(reader, controllers, group),
            None => v2_quota(reader, group),
        });
        quotas.reduce(|mine, other| if other.0.is_tighter(&mine.0) { other } else { mine })
    }
}

/// How often the quota has stopped the processes of a group, counted from the group's beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Throttled {
    /// The group's directory.
    pub directory: String,
    /// Periods whose time was used up before they ended.
    pub periods: u64,
    /// How long processes were stopped, in nanoseconds, summed over CPUs.
    pub nanos: u64,
}

impl Throttled {
    /// Of the group whose quota is the tightest; none where there is no quota, or this cannot be read.
    pub fn now(reader: &Reader) -> Option<Self> {
        let groups = text::clean(&reader.candidate("/proc/self/cgroup", GROUPS_LIMIT)?);
        let (quota, directory) = Membership::parse(&groups).quota(reader)?;
        quota.time?;
        let stat = reader.candidate(&format!("{directory}/cpu.stat"), STAT_LIMIT)?;
        Self::parse(directory, &text::clean(&stat))
    }

    /// v2 has microseconds, v1 nanoseconds. Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst.
    fn parse(directory: String, stat: &str) -> Option<Self> {
        let number = |name: &str| {
            stat.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok())
        };
        let micros = || Some(number("throttled_usec")?.saturating_mul(1000));
        let (periods, nanos) = (number("nr_throttled")?, micros().or_else(|| number("throttled_time"))?);
        Some(Self { directory, periods, nanos })
    }
}

/// `/a/b`, `/a`, and the root, which is empty here.
pub(crate) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path.trim_end_matches('/')), |group| Some(group.rsplit_once('/')?.0))
}

fn v2_quota(reader: &Reader, group: &str) -> Option<(Quota, String)> {
    let places = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
    places.iter().find_map(|place| {
        let directory = format!("{place}{group}");
        let line = reader.candidate_line(&format!("{directory}/cpu.max"))?;
        let (time, period) = line.split_once(' ')?;
        Some((Quota::new(time, period)?, directory))
    })
}

fn v1_quota(reader: &Reader, controllers: &str, group: &str) -> Option<(Quota, String)> {
    let places = [controllers, "cpu", "cpu,cpuacct"];
    places.iter().filter(|place| !place.contains('/')).find_map(|place| {
        let directory = format!("/sys/fs/cgroup/{place}{group}");
        let time = reader.candidate_line(&format!("{directory}/cpu.cfs_quota_us"))?;
        let period = reader.candidate_line(&format!("{directory}/cpu.cfs_period_us"))?;
        Some((Quota::new(&time, &period)?, directory))
    })
}

/// Processor time that a group may use in each period, both in microseconds; no time is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quota {
    time: Option<u64>,
    period: u64,
}

impl Quota {
    /// v2 writes `max` where v1 writes -1.
    fn new(time: &str, period: &str) -> Option<Self> {
        let period = period.trim().parse().ok().filter(|period| *period > 0)?;
        let time = match time.trim() {
            "max" | "-1" => None,
            time => Some(time.parse().ok()?),
        };
        Some(Self { time, period })
    }

    fn cpus(&self) -> Option<f64> {
        self.time.map(|time| time as f64 / self.period as f64)
    }

    fn is_tighter(&self, other: &Self) -> bool {
        match (self.cpus(), other.cpus()) {
            (Some(_), None) => true,
            (Some(mine), Some(others)) => mine < others,
            (None, _) => false,
        }
    }

    fn in_v2_notation(&self) -> String {
        match self.time {
            Some(time) => format!("{time} {}", self.period),
            None => format!("max {}", self.period),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{GARBAGE, Scratch};

    fn cgroup(scratch: &Scratch, groups: &str) -> Cgroup {
        scratch.write("/proc/self/cgroup", groups.as_bytes());
        Cgroup::capture(&mut Reader::new(&scratch.roots()))
    }

    #[test]
    fn the_tightest_quota_of_v2_may_stand_above() {
        let scratch = Scratch::new("cgroup-v2");
        scratch.write("/sys/fs/cgroup/a/cpu.max", b"150000 100000\n");
        scratch.write("/sys/fs/cgroup/a/b/cpu.max", b"max 100000\n");
        let group = cgroup(&scratch, "0::/a/b\n");
        assert_eq!(group.version.as_deref(), Some("v2"));
        assert_eq!(group.path.as_deref(), Some("/a/b"));
        assert_eq!(group.cpu_max.as_deref(), Some("150000 100000"));
        assert_eq!(group.cpu_quota, Some(1.5));
    }

    #[test]
    fn v1_is_written_like_v2() {
        let scratch = Scratch::new("cgroup-v1");
        scratch.write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", b"50000\n");
        scratch.write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", b"100000\n");
        scratch.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", b"-1\n");
        scratch.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", b"100000\n");
        let group = cgroup(&scratch, "4:memory:/y\n1:cpu,cpuacct:/x\n");
        assert_eq!(group.version.as_deref(), Some("v1"));
        assert_eq!(group.cpu_max.as_deref(), Some("50000 100000"));
        let root = cgroup(&scratch, "1:cpu,cpuacct:/\n0::/\n");
        assert_eq!(root.version.as_deref(), Some("hybrid"));
        assert_eq!((root.cpu_max.as_deref(), root.cpu_quota), (Some("max 100000"), None));
    }

    #[test]
    fn throttling_is_counted_where_the_quota_stands() {
        let scratch = Scratch::new("cgroup-throttled");
        let now = || Throttled::now(&Reader::new(&scratch.roots()));
        assert_eq!(now(), None);
        scratch.write("/proc/self/cgroup", b"0::/a/b\n");
        scratch.write("/sys/fs/cgroup/a/b/cpu.max", b"max 100000\n");
        scratch.write("/sys/fs/cgroup/a/b/cpu.stat", b"usage_usec 9\nnr_throttled 1\nthrottled_usec 1\n");
        assert_eq!(now(), None, "there is no quota");
        scratch.write("/sys/fs/cgroup/a/cpu.max", b"20000 100000\n");
        scratch.write("/sys/fs/cgroup/a/cpu.stat", b"nr_periods 20\nnr_throttled 7\nthrottled_usec 500\n");
        assert_eq!(
            now(),
            Some(Throttled { directory: "/sys/fs/cgroup/a".into(), periods: 7, nanos: 500_000 })
        );
        let parse = |text: &str| Throttled::parse("/x".into(), text);
        let v1 = parse("nr_periods 20\nnr_throttled 7\nthrottled_time 500\n");
        assert_eq!(v1, Some(Throttled { directory: "/x".into(), periods: 7, nanos: 500 }));
        GARBAGE.iter().for_each(|text| assert_eq!(parse(text), None, "{text}"));
    }

    #[test]
    fn a_path_that_leaves_the_hierarchy_is_not_followed() {
        let scratch = Scratch::new("cgroup-dots");
        scratch.write("/sys/fs/cpu.max", b"1 2\n");
        assert_eq!(cgroup(&scratch, "0::/..\n").cpu_max, None);
        let slash = cgroup(&scratch, "1:cpu,../../etc:/\n");
        assert_eq!(slash.cpu_max, None);
    }

    #[test]
    fn ancestors_end_at_the_root() {
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", ""]);
        assert_eq!(ancestors("/").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn garbage_is_no_group() {
        for text in GARBAGE {
            assert_eq!(Membership::parse(text).path, None, "{text}");
        }
        assert_eq!(Quota::new("1", "0"), None);
        assert_eq!(Quota::new("x", "100000"), None);
        assert_eq!(Quota::new("99999999999999999999", "100000"), None);
    }
}

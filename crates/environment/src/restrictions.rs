//! What the kernel allows and imposes on a process.

use std::collections::BTreeMap;

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use serde::{Deserialize, Serialize};

use crate::reader::Reader;
use crate::roots::Roots;
use crate::text;

/// Resource limits that can end or disturb a measurement. getrlimit(2).
const RESOURCES: [(&str, Resource); 6] = [
    ("as", Resource::RLIMIT_AS),
    ("core", Resource::RLIMIT_CORE),
    ("cpu", Resource::RLIMIT_CPU),
    ("memlock", Resource::RLIMIT_MEMLOCK),
    ("nofile", Resource::RLIMIT_NOFILE),
    ("rtprio", Resource::RLIMIT_RTPRIO),
];

/// Lines of `/proc/self/status`, and the first kernel that writes them. proc_pid_status(5).
const STATUS: [(&str, &str); 7] = [
    ("CapEff", "2.6.26"),
    ("NoNewPrivs", "4.10"),
    ("Seccomp", "3.8, and without seccomp"),
    ("Seccomp_filters", "5.9, and without seccomp"),
    ("SpeculationIndirectBranch", "5.11"),
    ("Speculation_Store_Bypass", "4.17"),
    ("TracerPid", "2.6"),
];

/// Credentials, filters, priority and limits of a process. Of another one than this, no more than `/proc/PID/status` tells is there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Restrictions {
    /// The real user id. getuid(2).
    pub uid: Option<u32>,
    /// Effective capabilities, hexadecimal as in `/proc/self/status`, `CapEff`.
    pub capabilities: Option<String>,
    /// `NoNewPrivs`.
    pub no_new_privs: Option<bool>,
    /// `Seccomp` in words: `off`, `strict`, `filter`. Each system call runs through a filter.
    pub seccomp: Option<String>,
    /// Filters on this process, since Linux 5.9. `Seccomp_filters`.
    pub seccomp_filters: Option<u32>,
    /// The process that traces this one; 0 is none. A tracer of system calls multiplies their cost. `TracerPid`.
    pub tracer_pid: Option<u32>,
    /// `Speculation_Store_Bypass`, in the kernel's words: a protection that seccomp once switched on per process.
    pub speculation_store_bypass: Option<String>,
    /// `SpeculationIndirectBranch`, in the kernel's words.
    pub speculation_indirect_branch: Option<String>,
    /// -20 to 19. `/proc/self/stat`, field 19.
    pub nice: Option<i32>,
    /// `other`, `fifo`, `rr`, `batch`, `idle`, `deadline`, `ext`. `/proc/self/stat`, field 41.
    pub scheduling_policy: Option<String>,
    /// 1 to 99 for `fifo` and `rr`, else 0. `/proc/self/stat`, field 40.
    pub realtime_priority: Option<u32>,
    /// By name: `as`, `memlock` (bytes), `core` (bytes), `cpu` (seconds), `nofile` (descriptors), `rtprio`.
    pub resources: BTreeMap<String, ResourceLimit>,
}

/// A resource limit. `None` is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceLimit {
    /// The limit in force.
    pub soft: Option<u64>,
    /// The limit up to which the process may raise it.
    pub hard: Option<u64>,
}

impl Restrictions {
    pub(crate) fn capture(reader: &mut Reader, status: Option<&str>) -> Self {
        let stat = reader.line("/proc/self/stat");
        if let Some(status) = status {
            note_missing(reader, status);
        }
        let schedule = stat.as_deref().map(Schedule::parse).unwrap_or_default();
        Self {
            uid: Some(nix::unistd::getuid().as_raw()),
            nice: schedule.nice,
            scheduling_policy: schedule.policy.map(str::to_owned),
            realtime_priority: schedule.realtime_priority,
            resources: RESOURCES
                .iter()
                .filter_map(|(name, resource)| Some(((*name).to_owned(), limit(*resource)?)))
                .collect(),
            ..Self::of_status(status.unwrap_or_default())
        }
    }

    /// Of another process; none where there is none of this number, or it is hidden.
    pub fn of_process(pid: u32) -> Option<Self> {
        let roots = Roots::default();
        Reader::new(&roots).text(&format!("/proc/{pid}/status")).map(|status| Self::of_status(&status))
    }

    /// Of the text of a `/proc/PID/status`. A line that no kernel writes says nothing; of a line that is there twice, the first counts: the
    /// kernel writes `Name` before all others, and quotes newlines in it.
    pub fn of_status(status: &str) -> Self {
        let words = |key| text::field(status, key).filter(|value| !value.is_empty()).map(str::to_owned);
        let seccomp = text::number_field::<usize>(status, "Seccomp");
        Self {
            capabilities: words("CapEff"),
            no_new_privs: text::number_field::<u32>(status, "NoNewPrivs").map(|value| value != 0),
            seccomp: seccomp
                .and_then(|mode| ["off", "strict", "filter"].get(mode))
                .map(|mode| (*mode).to_owned()),
            seccomp_filters: text::number_field(status, "Seccomp_filters"),
            tracer_pid: text::number_field(status, "TracerPid"),
            speculation_store_bypass: words("Speculation_Store_Bypass"),
            speculation_indirect_branch: words("SpeculationIndirectBranch"),
            ..Self::default()
        }
    }

    /// Whether each of its calls runs through a filter.
    pub fn is_filtered(&self) -> bool {
        self.seccomp.as_deref().is_some_and(|mode| mode != "off")
    }

    /// Whether its loads wait for earlier stores (SSBD).
    pub fn has_ssbd(&self) -> bool {
        self.speculation_store_bypass.as_deref().is_some_and(|state| SSBD.contains(&state))
    }

    /// The process that traces it.
    pub fn tracer(&self) -> Option<u32> {
        self.tracer_pid.filter(|pid| *pid != 0)
    }
}

/// What the kernel says of a process whose loads wait for earlier stores (Documentation/userspace-api/spec_ctrl.rst).
const SSBD: [&str; 3] = ["thread force mitigated", "thread mitigated", "globally mitigated"];

fn note_missing(reader: &mut Reader, status: &str) {
    for (key, since) in STATUS {
        if text::field(status, key).is_none() {
            reader.miss_expected(
                &format!("/proc/self/status, {key}"),
                format!("no such line (normal before Linux {since})"),
            );
        }
    }
}

/// None only where a filter forbids the call.
fn limit(resource: Resource) -> Option<ResourceLimit> {
    let (soft, hard) = getrlimit(resource).ok()?;
    let finite = |limit| (limit != RLIM_INFINITY).then_some(limit);
    Some(ResourceLimit { soft: finite(soft), hard: finite(hard) })
}

/// The scheduler's part of `/proc/self/stat`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Schedule {
    nice: Option<i32>,
    realtime_priority: Option<u32>,
    policy: Option<&'static str>,
}

impl Schedule {
    /// proc_pid_stat(5). The name, field 2, may hold blanks and parentheses, so fields count from its end.
    fn parse(stat: &str) -> Self {
        const POLICIES: [&str; 8] = ["other", "fifo", "rr", "batch", "", "idle", "deadline", "ext"];
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3);
        let policy = field(41).and_then(|field| field.parse::<usize>().ok());
        Self {
            nice: field(19).and_then(|field| field.parse().ok()),
            realtime_priority: field(40).and_then(|field| field.parse().ok()),
            policy: policy
                .and_then(|policy| POLICIES.get(policy).copied())
                .filter(|policy| !policy.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::GARBAGE;

    const FILTERED: &str = "Name:\tcat\nTracerPid:\t0\nCapEff:\t000001fffeffffff\nNoNewPrivs:\t1\nSeccomp:\t2\n\
        Seccomp_filters:\t1\nSpeculation_Store_Bypass:\tthread vulnerable\nSpeculationIndirectBranch:\talways enabled\n";

    #[test]
    fn status_of_a_filtered_process() {
        let restrictions = Restrictions::of_status(FILTERED);
        assert_eq!(restrictions.capabilities.as_deref(), Some("000001fffeffffff"));
        assert_eq!(restrictions.no_new_privs, Some(true));
        assert_eq!(
            (restrictions.seccomp.as_deref(), restrictions.seccomp_filters),
            (Some("filter"), Some(1))
        );
        assert_eq!(restrictions.tracer_pid, Some(0));
        assert_eq!(restrictions.speculation_store_bypass.as_deref(), Some("thread vulnerable"));
        assert!(restrictions.is_filtered() && !restrictions.has_ssbd() && restrictions.tracer().is_none());
        let traced =
            FILTERED.replace("vulnerable", "force mitigated").replace("TracerPid:\t0", "TracerPid:\t7");
        let restrictions = Restrictions::of_status(&traced.replace("Seccomp:\t2", "Seccomp:\t0"));
        assert!(!restrictions.is_filtered() && restrictions.has_ssbd());
        assert_eq!(restrictions.tracer(), Some(7));
    }

    #[test]
    fn a_name_with_blanks_and_parentheses_moves_no_field() {
        let stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 1 2 0 0 20 -5 1 0 100 3137536 410 \
            18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 50 1 0 0 0 0 0 0 0 0 0 0 0";
        let schedule = Schedule::parse(stat);
        assert_eq!(schedule, Schedule { nice: Some(-5), realtime_priority: Some(50), policy: Some("fifo") });
    }

    #[test]
    fn garbage_is_null() {
        for text in GARBAGE {
            assert_eq!(Restrictions::of_status(text), Restrictions::default(), "{text}");
            assert_eq!(Schedule::parse(text), Schedule::default());
        }
        assert_eq!(Restrictions::of_status("Seccomp:\t7\n").seccomp, None);
    }

    #[test]
    fn a_line_that_the_kernel_does_not_write_is_noted() {
        let roots = crate::testing::fixture("firecracker");
        let mut reader = Reader::new(&roots);
        Restrictions::capture(&mut reader, Some("CapEff:\t0\nNoNewPrivs:\t0\nSeccomp:\t0\nTracerPid:\t0\n"));
        assert_eq!(reader.into_unseen().len(), 3);
    }

    #[test]
    fn limits_can_always_be_read() {
        let roots = crate::roots::Roots::default();
        let restrictions = Restrictions::capture(&mut Reader::new(&roots), None);
        assert_eq!(restrictions.resources.len(), 6);
        assert!(restrictions.resources["nofile"].soft.is_none_or(|files| files > 2));
    }
}

//! Events that count the tracepoints `raw_syscalls:sys_enter` and `sys_exit` of one process (perf_event_open(2)), as `perf stat` does.

use crate::perf::{self, Attributes};
use crate::{NotHere, tracefs};
use nix::errno::Errno;
use std::os::fd::IntoRawFd;

/// Both tracepoints, as tracefs has them.
const EVENTS: [&str; 2] = ["raw_syscalls/sys_enter", "raw_syscalls/sys_exit"];

/// What restricts events.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// Counts both for this process, and for what it becomes. The descriptors stay open, and the events go with them.
pub(crate) fn count() -> Result<(), NotHere> {
    EVENTS.iter().try_for_each(|event| open(tracefs::id(event)?))
}

fn open(config: u64) -> Result<(), NotHere> {
    let [this, any_cpu] = [0, -1];
    let opened =
        Attributes { kind: perf::TRACEPOINT, config, ..Attributes::default() }.open(this, any_cpu, 0);
    // It stays open, also in what this process becomes.
    opened.map(|file| _ = file.into_raw_fd()).map_err(|errno| match errno {
        Errno::EACCES | Errno::EPERM => NotHere(format!(
            "perf_event_open refuses kernel events: they take CAP_PERFMON, or kernel.perf_event_paranoid of 1 or less (it is {})",
            std::fs::read_to_string(PARANOID).map_or("not told".into(), |text| text.trim().chars().take(8).collect::<String>())
        )),
        Errno::ENOSYS => NotHere("this kernel has no perf events (CONFIG_PERF_EVENTS)".into()),
        errno => NotHere::refused("perf_event_open", errno),
    })
}

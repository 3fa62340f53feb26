//! Events that count the tracepoints `raw_syscalls:sys_enter` and `sys_exit` of one process (perf_event_open(2)), as `perf stat` does.

use crate::NotHere;
use crate::tracefs;
use nix::errno::Errno;
use nix::libc;

/// Both tracepoints, as tracefs has them.
const EVENTS: [&str; 2] = ["raw_syscalls/sys_enter", "raw_syscalls/sys_exit"];

/// `PERF_TYPE_TRACEPOINT`
const TRACEPOINT: u32 = 2;

/// What restricts events.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// `struct perf_event_attr`, as long as its first version was.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    /// Period, what is sampled, what is read, flags; all 0: the event counts from now on, in user and in kernel mode.
    rest: [u64; 6],
}

/// Counts both for this process, and for what it becomes. The descriptors stay open, and the events go with them.
pub(crate) fn count() -> Result<(), NotHere> {
    EVENTS.iter().try_for_each(|event| open(tracefs::id(event)?))
}

fn open(config: u64) -> Result<(), NotHere> {
    let size = u32::try_from(size_of::<Attributes>()).unwrap_or(0);
    let attributes = Attributes { kind: TRACEPOINT, size, config, ..Attributes::default() };
    let [this, any_cpu, no_group, no_flags] = [0, -1, -1, 0];
    // SAFETY: the kernel reads attributes of the size that they say.
    let file = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const attributes, this, any_cpu, no_group, no_flags)
    };
    Errno::result(file).map(drop).map_err(|errno| match errno {
        Errno::EACCES | Errno::EPERM => NotHere(format!(
            "perf_event_open refuses kernel events: they take CAP_PERFMON, or kernel.perf_event_paranoid of 1 or less (it is {})",
            std::fs::read_to_string(PARANOID).map_or("not told".into(), |text| text.trim().chars().take(8).collect::<String>())
        )),
        Errno::ENOSYS => NotHere("this kernel has no perf events (CONFIG_PERF_EVENTS)".into()),
        errno => NotHere::refused("perf_event_open", errno),
    })
}

//! One perf event. perf_event_open(2).

use crate::record::{SAMPLE_REGISTERS, SAMPLE_TYPE};
use layers::perf::{self, Attributes};
use nix::errno::Errno;
use nix::libc;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

const TASK_CLOCK: u64 = 1;

const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const MMAP: u64 = 1 << 8;
const COMM: u64 = 1 << 9;
const ENABLE_ON_EXEC: u64 = 1 << 12;
const TASK: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const COMM_EXEC: u64 = 1 << 24;

const FLAG_PID_CGROUP: libc::c_ulong = 1 << 2;
const FLAG_CLOEXEC: libc::c_ulong = 1 << 3;

const IOC_ENABLE: libc::c_ulong = 0x2400;
const IOC_DISABLE: libc::c_ulong = 0x2401;
const IOC_SET_OUTPUT: libc::c_ulong = 0x2405;

/// What an event counts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    /// System calls, each with a record; the tracepoint's number, and how many bytes of a ring wake its reader.
    Calls {
        /// The tracepoint.
        tracepoint: u64,
        /// So many bytes.
        wakeup: u32,
    },
    /// CPU time in nanoseconds.
    Time,
}

/// Of whom.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Whose<'a> {
    /// A thread, and all that it will make; 0 is this one. It begins with the next program that it executes, or when it is told.
    Thread {
        /// Its number.
        tid: u32,
        /// Whether it begins with the next program.
        from_exec: bool,
    },
    /// A cgroup v2.
    Group(BorrowedFd<'a>),
    /// All.
    All,
}

/// An event; it counts nothing before it is enabled.
#[derive(Debug)]
pub(crate) struct Event(OwnedFd);

impl Event {
    /// On a CPU; none is every CPU.
    pub fn open(what: What, whose: Whose, cpu: Option<u32>) -> Result<Event, Errno> {
        let attributes = attributes(what, whose);
        let (pid, flags) = match whose {
            Whose::Thread { tid, .. } => (i32::try_from(tid).map_err(|_| Errno::ESRCH)?, 0),
            Whose::Group(folder) => (folder.as_raw_fd(), FLAG_PID_CGROUP),
            Whose::All => (-1, 0),
        };
        let cpu = cpu.map_or(Ok(-1), i32::try_from).map_err(|_| Errno::ENODEV)?;
        attributes.open(pid, cpu, FLAG_CLOEXEC | flags).map(Event)
    }

    pub fn enable(&self) -> Result<(), Errno> {
        self.control(IOC_ENABLE, 0)
    }

    pub fn disable(&self) -> Result<(), Errno> {
        self.control(IOC_DISABLE, 0)
    }

    /// Its records go to the ring of this one, too.
    pub fn write_to(&self, other: &Event) -> Result<(), Errno> {
        self.control(IOC_SET_OUTPUT, other.0.as_raw_fd())
    }

    fn control(&self, request: libc::c_ulong, argument: RawFd) -> Result<(), Errno> {
        // SAFETY: requests that take a number, or none.
        Errno::result(unsafe { libc::ioctl(self.0.as_raw_fd(), request, libc::c_long::from(argument)) })
            .map(drop)
    }

    /// What it has counted, of threads that have ended, too.
    pub fn count(&self) -> Result<u64, Errno> {
        let mut bytes = [0; 8];
        match nix::unistd::read(&self.0, &mut bytes)? {
            8 => Ok(u64::from_ne_bytes(bytes)),
            _ => Err(Errno::EIO),
        }
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn attributes(what: What, whose: Whose) -> Attributes {
    let of_thread = match whose {
        Whose::Thread { from_exec: true, .. } => INHERIT | ENABLE_ON_EXEC,
        Whose::Thread { from_exec: false, .. } => INHERIT,
        Whose::Group(_) | Whose::All => 0,
    };
    let common = Attributes { flags: DISABLED | of_thread, ..Attributes::default() };
    match what {
        What::Time => Attributes { kind: perf::SOFTWARE, config: TASK_CLOCK, ..common },
        What::Calls { tracepoint, wakeup } => Attributes {
            kind: perf::TRACEPOINT,
            config: tracepoint,
            period: 1,
            sample_type: SAMPLE_TYPE,
            registers: SAMPLE_REGISTERS,
            flags: common.flags | MMAP | COMM | COMM_EXEC | TASK | WATERMARK,
            wakeup,
            ..common
        },
    }
}

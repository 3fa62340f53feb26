//! A system call, as it is counted.

use serde::{Deserialize, Serialize};

/// Bit 30 of a number is that of x32 (arch/x86/include/uapi/asm/unistd.h).
const X32: u32 = 1 << 30;

/// How a call came into the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// `syscall` in 64-bit code.
    Syscall,
    /// The same with a number of x32.
    X32,
    /// `int $0x80` in 64-bit code, with a number of i386.
    Int80In64,
    /// 32-bit code, by the vDSO's `__kernel_vsyscall`: `sysenter` or `syscall`, whichever the processor has.
    Gateway,
    /// 32-bit code, by `int $0x80` of its own.
    Int80,
    /// 32-bit code, and nobody knows by which of the two.
    Code32,
}

impl Way {
    /// Every way.
    pub const ALL: [Way; 6] = [Way::Syscall, Way::X32, Way::Int80In64, Way::Gateway, Way::Int80, Way::Code32];

    /// Whose numbers its calls have: 64, x32 or 32.
    pub fn numbers(self) -> &'static str {
        match self {
            Way::Syscall => "64",
            Way::X32 => "x32",
            Way::Int80In64 | Way::Gateway | Way::Int80 | Way::Code32 => "32",
        }
    }

    /// Of `syscall` with this number.
    pub fn of_syscall(number: u32) -> Way {
        if number & X32 == 0 { Way::Syscall } else { Way::X32 }
    }
}

/// A system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// How it came into the kernel.
    pub way: Way,
    /// Its number, without the bit of x32.
    pub number: u32,
    /// The clock that it reads, of `clock_gettime` and `clock_gettime64`.
    pub clock: Option<u32>,
}

/// `clock_gettime` of x86-64; `clock_gettime` and `clock_gettime64` of i386 (arch/x86/entry/syscalls/*.tbl).
const CLOCK_GETTIME: u32 = 228;
const CLOCK_GETTIME_I386: [u32; 2] = [265, 403];

impl Call {
    /// Of a number as the kernel got it, and the first argument.
    pub fn new(way: Way, number: u32, first: u64) -> Call {
        let number = if way == Way::X32 { number & !X32 } else { number };
        let reads_clock = match way {
            Way::Syscall | Way::X32 => number == CLOCK_GETTIME,
            _ => CLOCK_GETTIME_I386.contains(&number),
        };
        // A clock's id is an int; those of processes are negative, and no function of the vDSO serves them.
        let clock = reads_clock.then_some(first as u32).filter(|clock| i32::try_from(*clock).is_ok());
        Call { way, number, clock }
    }

    /// Its name in the kernel's table; none of a number that the table lacks.
    pub fn name(&self) -> Option<&'static str> {
        match self.way {
            Way::Syscall => of_64(self.number),
            Way::X32 => X32_NAMES
                .get((self.number as usize).wrapping_sub(X32_FIRST))
                .copied()
                .or_else(|| of_64(self.number)),
            _ => syscalls::x86::Sysno::new(self.number as usize).map(|call| call.name()),
        }
    }

    /// Its name, or its number where it has none.
    pub fn in_words(&self) -> String {
        self.name().map_or_else(|| format!("number {}", self.number as i32), str::to_owned)
    }
}

fn of_64(number: u32) -> Option<&'static str> {
    syscalls::x86_64::Sysno::new(number as usize).map(|call| call.name())
}

/// Numbers that x32 has of its own (arch/x86/entry/syscalls/syscall_64.tbl, at its end), which no crate lists.
const X32_FIRST: usize = 512;
const X32_NAMES: [&str; 36] = [
    "rt_sigaction",
    "rt_sigreturn",
    "ioctl",
    "readv",
    "writev",
    "recvfrom",
    "sendmsg",
    "recvmsg",
    "execve",
    "ptrace",
    "rt_sigpending",
    "rt_sigtimedwait",
    "rt_sigqueueinfo",
    "sigaltstack",
    "timer_create",
    "mq_notify",
    "kexec_load",
    "waitid",
    "set_robust_list",
    "get_robust_list",
    "vmsplice",
    "move_pages",
    "preadv",
    "pwritev",
    "rt_tgsigqueueinfo",
    "recvmmsg",
    "sendmmsg",
    "process_vm_readv",
    "process_vm_writev",
    "setsockopt",
    "getsockopt",
    "io_setup",
    "io_submit",
    "execveat",
    "preadv2",
    "pwritev2",
];

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_the_name_of_its_own_table() {
        let name = |way, number| Call::new(way, number, 0).in_words();
        assert_eq!(name(Way::Syscall, 110), "getppid");
        for way in [Way::Int80In64, Way::Gateway, Way::Int80, Way::Code32] {
            assert_eq!(name(way, 64), "getppid");
        }
        assert_eq!(name(Way::X32, 110 | X32), "getppid");
        assert_eq!([name(Way::X32, 520 | X32), name(Way::X32, 547 | X32)], ["execve", "pwritev2"]);
        assert_eq!(name(Way::Syscall, 0x0fff_ffff), "number 268435455");
        assert_eq!(name(Way::Syscall, u32::MAX), "number -1");
    }

    #[test]
    fn a_clock_is_known_where_one_is_read() {
        assert_eq!(Call::new(Way::Syscall, 228, 1).clock, Some(1));
        assert_eq!(Call::new(Way::Gateway, 403, 7).clock, Some(7));
        assert_eq!(Call::new(Way::Syscall, 228, u64::from(-6_i32 as u32)).clock, None);
        assert_eq!(Call::new(Way::Syscall, 110, 1).clock, None);
        assert_eq!(Way::of_syscall(228 | X32), Way::X32);
    }
}

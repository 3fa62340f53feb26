//! How a guest ended that was not done: judged by what QEMU's process did and said, and by the guest's console.

use crate::guest::last_words::{cut, panic_of, plain};
use crate::guest::trouble::Trouble;
use nix::sys::signal::Signal;
use process::Errno;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a guest ended that was not done.
pub(crate) struct Ending<'a> {
    /// What QEMU's process said or did.
    pub trouble: crate::emulator::Trouble,
    /// Whether its first frame had come.
    pub began: bool,
    /// What its console said.
    pub console: &'a str,
    /// Its memory.
    pub mib: u64,
}

impl Ending<'_> {
    /// In words. A panic is the cause of whatever followed.
    pub fn judge(self) -> Trouble {
        let Ending { trouble, began, console, mib } = self;
        let console = console.to_string();
        if trouble == crate::emulator::Trouble::Interrupted {
            return trouble.into();
        }
        if let Some(said) = console.lines().filter(|_| !began).find(|line| is_short(line)) {
            return Trouble::Small { mib, said: cut(plain(said)) };
        }
        if let Some(why) = panic_of(&console) {
            return Trouble::Panicked { why, console };
        }
        match trouble {
            crate::emulator::Trouble::Timeout(time) => Trouble::Hung { time, began, console },
            crate::emulator::Trouble::Ended { said, .. } if lacks_memory(&said) => {
                Trouble::Memory { mib, said: last_line(&said) }
            }
            crate::emulator::Trouble::Ended { status, said, .. }
                if status.success() && !said.contains(TERMINATED) =>
            {
                Trouble::Reset { began, console }
            }
            // By the port that ends QEMU, which the guest's program writes to when it has said all.
            crate::emulator::Trouble::Ended { status, said, .. }
                if status.code() == Some(EXITED) && said.is_empty() =>
            {
                Trouble::Early { console }
            }
            crate::emulator::Trouble::Ended { program, status, said } => {
                let refused = refused(status, &said, began).map(Trouble::Refused);
                let lacks = || lack(&said).map(Trouble::Unsupported);
                let judged = refused.or_else(lacks);
                judged.unwrap_or_else(|| crate::emulator::Trouble::Ended { program, status, said }.into())
            }
            other => other.into(),
        }
    }
}

/// What Linux prints where its memory ends before it has unpacked the archive and started its first program: init/initramfs.c and
/// mm/oom_kill.c.
const SHORT: [&str; 4] = [
    "Initramfs unpacking failed",
    "System is deadlocked on memory",
    "Out of memory and no killable processes",
    "Out of memory: Killed process",
];

fn is_short(line: &str) -> bool {
    SHORT.iter().any(|words| line.contains(words))
}

/// What QEMU says when somebody ends it by a signal that it catches, before it exits with 0: `terminating on signal 15 from pid 7 (sh)`.
const TERMINATED: &str = "terminating on signal ";

/// What this machine refused QEMU, by how that ended and what it said.
fn refused(status: ExitStatus, said: &str, began: bool) -> Option<String> {
    if let Some((_, by)) = said.split_once(TERMINATED) {
        return Some(format!("it was ended from outside: {TERMINATED}{}", cut(by.lines().next()?)));
    }
    let by_signal = match status.signal() {
        // Until the guest's program begins, nothing of the guest has reached QEMU but its kernel's boot.
        Some(signal @ (nix::libc::SIGSEGV | nix::libc::SIGBUS | nix::libc::SIGABRT))
            if !began && said.is_empty() =>
        {
            let name = Signal::try_from(signal).map_or("a signal", Signal::as_str);
            return Some(format!(
                "{name} ended it before kentry began in the guest; a limit (ulimit -a) may be the cause"
            ));
        }
        Some(nix::libc::SIGKILL) => Some(
            "it was killed, as the kernel does where memory ends (its log says so: dmesg) or where the processor time is used up \
             (ulimit -t)",
        ),
        Some(nix::libc::SIGXCPU) => Some("it had used all the processor time that it may (ulimit -t)"),
        Some(nix::libc::SIGXFSZ) => process::limit(Errno::EFBIG),
        _ => None,
    };
    let told = |errno: Errno, words: &str| {
        let limit = process::limit(errno).filter(|_| said.contains(words))?;
        Some(format!("{}; {limit}", last_line(said)))
    };
    by_signal
        .map(str::to_string)
        .or_else(|| told(Errno::EAGAIN, "Resource temporarily unavailable"))
        .or_else(|| told(Errno::EMFILE, "Too many open files"))
}

/// What the processor that was asked for lacks, as QEMU says it: `Property 'max-x86_64-cpu.fred' not found`,
/// `unable to find CPU model 'nope'`.
fn lack(said: &str) -> Option<String> {
    let quoted = |behind: &str| Some(said.split_once(behind)?.1.split_once('\'')?.0);
    let lack = if let Some(model) = quoted("unable to find CPU model '") {
        format!("QEMU has no CPU model {}", cut(model))
    } else {
        let property = quoted("Property '").filter(|_| said.contains("' not found"))?;
        let feature = property.rsplit_once('.').map_or(property, |(_, feature)| feature);
        format!("QEMU's processors have no {} here", cut(feature))
    };
    Some(format!("{lack}; `qemu-system-x86_64 -cpu help` lists what there is"))
}

/// QEMU's status when the guest ends it by the port.
const EXITED: i32 = 1 | (crate::guest::EXIT_VALUE as i32) << 1;

fn lacks_memory(said: &str) -> bool {
    said.contains("cannot set up guest memory") || said.contains("Cannot allocate memory")
}

fn last_line(said: &str) -> String {
    said.lines().last().unwrap_or_default().trim().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::trouble::Kind;
    use std::time::Duration;

    const PANICKED: &str = "[    1.4] VFS: Cannot open root device\n[    1.5] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)\n\
                            [    1.6] CPU: 0 PID: 1\n[    1.7] Rebooting in 1 seconds..\n";

    fn judged(trouble: crate::emulator::Trouble, console: &str) -> String {
        Ending { trouble, began: false, console, mib: 512 }.judge().to_string()
    }

    fn qemu(status: i32, said: &str) -> crate::emulator::Trouble {
        let status = ExitStatus::from_raw(status);
        crate::emulator::Trouble::Ended { program: "qemu".into(), status, said: said.into() }
    }

    #[test]
    fn a_panic_is_quoted_however_the_machine_ended() {
        for trouble in [qemu(0, ""), crate::emulator::Trouble::Timeout(Duration::from_secs(3))] {
            assert_eq!(
                judged(trouble, PANICKED),
                "the guest's kernel panicked: VFS: Unable to mount root fs on unknown-block(0,0); before that, its console said: \
                 VFS: Cannot open root device"
            );
        }
        assert_eq!(judged(crate::emulator::Trouble::Interrupted, PANICKED), "interrupted");
    }

    #[test]
    fn what_qemu_or_the_memory_lacks_was_told_as_a_matter_of_time() {
        let lacks = |said: &str| judged(qemu(256, said), "");
        let none = "; `qemu-system-x86_64 -cpu help` lists what there is";
        let fred = lacks("qemu-system-x86_64: Property 'max-x86_64-cpu.fred' not found");
        assert_eq!(fred, format!("QEMU's processors have no fred here{none}"));
        let model = lacks("qemu-system-x86_64: unable to find CPU model 'nope'");
        assert_eq!(model, format!("QEMU has no CPU model nope{none}"));
        let small = judged(
            crate::emulator::Trouble::Timeout(Duration::from_secs(3)),
            "Initramfs unpacking failed: invalid magic\n",
        );
        assert!(small.starts_with("the guest's memory of 512 MiB is too small"), "{small}");
        let deadlock = "[    1.5] Kernel panic - not syncing: System is deadlocked on memory\n[    1.6] R10: 0000000000000000\n";
        assert_eq!(
            judged(qemu(0, ""), deadlock),
            "the guest's memory of 512 MiB is too small for its kernel and its files, or a parameter (mem=) leaves it less: Kernel panic - \
             not syncing: System is deadlocked on memory; give it more (--memory), or leave the parameter out"
        );
        // A program that takes all the memory is no sign that its guest has too little to begin with.
        let ending = |began| Ending {
            trouble: qemu(0, ""),
            began,
            console: "Out of memory: Killed process 7\n",
            mib: 512,
        };
        assert_eq!(
            [false, true].map(|began| ending(began).judge().kind()),
            [Kind::Environment, Kind::Failed]
        );
    }

    #[test]
    fn what_this_machine_refuses_was_a_guests_own_failure() {
        let kind = |trouble: crate::emulator::Trouble| {
            Ending { trouble, began: false, console: "", mib: 512 }.judge().kind()
        };
        let threads = "qemu: qemu_thread_create: Resource temporarily unavailable";
        let memory = "qemu: cannot set up guest memory 'ram': Cannot allocate memory";
        let killed = "qemu: terminating on signal 15 from pid 7 (sh)";
        for (status, said) in [(6, threads), (256, memory), (9, ""), (25, ""), (24, ""), (0, killed)] {
            assert_eq!(kind(qemu(status, said)), Kind::Environment, "{status} {said}");
        }
        for (status, said) in [(0, ""), (256, "could not load kernel"), (EXITED << 8, "")] {
            assert_eq!(kind(qemu(status, said)), Kind::Failed, "{status} {said}");
        }
        let words = judged(qemu(0, killed), "");
        assert_eq!(
            words,
            "QEMU could not go on: it was ended from outside: terminating on signal 15 from pid 7 (sh)"
        );
        let words = judged(qemu(6, threads), "");
        let end =
            "may have no more processes or threads, or no memory for them (ulimit -u; pids.max; ulimit -v)";
        assert!(words.ends_with(end), "{words}");
        assert_eq!(kind(crate::emulator::Trouble::Files("no".into())), Kind::Environment);
        assert_eq!(
            kind(crate::emulator::Trouble::Missing { program: "qemu".into(), packages: "" }),
            Kind::Environment
        );
    }

    #[test]
    fn every_other_end_has_its_words() {
        let hung = judged(crate::emulator::Trouble::Timeout(Duration::from_secs(3)), "");
        assert!(hung.starts_with("the guest did not finish within 3 s; its console is empty"), "{hung}");
        let hung = judged(crate::emulator::Trouble::Timeout(Duration::from_secs(3)), "a\nb\nc\nd\ne\n");
        assert_eq!(hung, "the guest did not finish within 3 s; its console ended: b / c / d / e");
        let timeout = crate::emulator::Trouble::Timeout(Duration::from_secs(3));
        let begun = Ending { trouble: timeout, began: true, console: "", mib: 512 }.judge().to_string();
        assert_eq!(begun, "the guest did not finish within 3 s, in which kentry had begun");
        let reset = "the guest reset its machine, as after a triple fault, before kentry began in it";
        assert_eq!(judged(qemu(0, ""), ""), reset);
        let memory =
            judged(qemu(1 << 8, "qemu: cannot set up guest memory 'ram': Cannot allocate memory"), "");
        assert!(
            memory.starts_with("this machine lacks memory for a guest of 512 MiB: qemu: cannot"),
            "{memory}"
        );
        let killed = judged(qemu(9, ""), "");
        assert!(
            killed.starts_with("QEMU could not go on: it was killed, as the kernel does where memory ends"),
            "{killed}"
        );
        assert_eq!(judged(qemu(EXITED << 8, ""), ""), "the guest ended early");
        let other = judged(qemu(1 << 8, "could not load kernel"), "");
        assert_eq!(other, "qemu ended early, exit status: 1: could not load kernel");
    }

    #[test]
    fn a_panic_was_explained_by_registers() {
        let oops = "[ 0.1] BUG: unable to handle page fault for address: ffff888000000000\n[ 0.1] RIP: 0010:native_apic_mem_read+0x5/0x10\n\
                    [ 0.1] Code: 0f 1f 44 00\n[ 0.1] RSP: 0000:ffffffff82a03ed8 EFLAGS: 00010246\n[ 0.1] RAX: 1 RBX: 2 RCX: 3\n\
                    [ 0.1] Call Trace:\n[ 0.1]  <TASK>\n[ 0.1]  ? setup_local_APIC+0x1b5/0x3a0\n[ 0.1]  start_kernel+0x5/0x10\n\
                    [ 0.1]  </TASK>\n[ 0.1] CR2: ffff888000000000\n[ 0.1] ---[ end trace 0000000000000000 ]---\n\
                    [ 0.1] Kernel panic - not syncing: Fatal exception\n";
        assert_eq!(
            judged(qemu(0, ""), oops),
            "the guest's kernel panicked: Fatal exception; before that, its console said: BUG: unable to handle page fault for \
             address: ffff888000000000 / RIP: 0010:native_apic_mem_read+0x5/0x10"
        );
    }

    #[test]
    fn the_cause_of_a_panic_was_lost_behind_the_lines_that_followed_it() {
        let oops = "[ 0.4] tsc: Fast TSC calibration failed\n[ 0.4] divide error: 0000 [#1] PREEMPT SMP PTI\n\
                    [ 0.4] CPU: 0 PID: 0 Comm: swapper/0 Not tainted 6.1.0 #1  Debian 6.1.192-2\n[ 0.4] Hardware name: Bochs\n\
                    [ 0.4] RIP: 0010:__x86_return_thunk+0x0/0x2\n[ 0.4] Code: cc\n[ 0.4] some\n[ 0.4] more\n\
                    [ 0.4] RIP: 0010:__x86_return_thunk+0x0/0x2\n[ 0.4] Kernel panic - not syncing: Attempted to kill the idle task!\n";
        let lines =
            "divide error: 0000 [#1] PREEMPT SMP PTI / some / more / RIP: 0010:__x86_return_thunk+0x0/0x2";
        let panic =
            "the guest's kernel panicked: Attempted to kill the idle task!; before that, its console said:";
        assert_eq!(judged(qemu(0, ""), oops), format!("{panic} {lines}"));
        let before_panic = oops.split_once("[ 0.4] Kernel").unwrap().0;
        let reset = "the guest reset its machine, as after a triple fault, before kentry began in it; its console ended:";
        assert_eq!(judged(qemu(0, ""), before_panic), format!("{reset} {lines}"));
    }

    #[test]
    fn a_limit_that_crashes_qemu_was_a_guests_failure() {
        let kind = |began| Ending { trouble: qemu(11, ""), began, console: "", mib: 512 }.judge().kind();
        assert_eq!([false, true].map(kind), [Kind::Environment, Kind::Failed]);
    }
}

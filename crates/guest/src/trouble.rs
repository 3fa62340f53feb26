//! What can become of a guest, in words. Each has the last lines of its console, where there are any.

use crate::frame;
use nix::sys::signal::Signal;
use process::Errno;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// What went wrong with a guest, or before there was one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Trouble {
    /// QEMU is missing, could not be started, ended by itself, or was interrupted.
    #[error(transparent)]
    Machine(#[from] emulator::Trouble),
    /// This machine lacks memory for the guest.
    #[error(
        "this machine lacks memory for a guest of {mib} MiB: {said}; free some, or raise what limits it (ulimit -v; the control \
         group's memory.max)"
    )]
    Memory {
        /// The guest's memory.
        mib: u64,
        /// How that showed.
        said: String,
    },
    /// This machine refuses QEMU something else: in words.
    #[error("QEMU could not go on: {0}")]
    Refused(String),
    /// The guest's memory cannot hold its kernel and its files.
    #[error(
        "the guest's memory of {mib} MiB is too small: its kernel and its files alone take {least} MiB; give it more (--memory)"
    )]
    TooSmall {
        /// The guest's memory.
        mib: u64,
        /// What they take, in MiB.
        least: u64,
    },
    /// The guest's memory was used up before kentry began in it.
    #[error(
        "the guest's memory of {mib} MiB is too small for its kernel and its files, or a parameter (mem=) leaves it less: {said}; give it \
         more (--memory), or leave the parameter out"
    )]
    Small {
        /// The guest's memory.
        mib: u64,
        /// What its kernel said.
        said: String,
    },
    /// QEMU, the kernel's file or the kernel lacks what was asked for, in words.
    #[error("{0}")]
    Unsupported(String),
    /// The kernel panicked.
    #[error("the guest's kernel panicked: {why}{}", leading(.console))]
    Panicked {
        /// Why, as the kernel says.
        why: String,
        /// What its console said.
        console: String,
    },
    /// It did not end in time.
    #[error("the guest did not finish within {} s{}{}", .time.as_secs_f64(), silent(*.began, .console), ended(.console))]
    Hung {
        /// Its time.
        time: Duration,
        /// Whether kentry had begun in it.
        began: bool,
        /// What its console said.
        console: String,
    },
    /// It reset its machine.
    #[error("the guest reset its machine, as after a triple fault, {}{}", before(*.began), ended(.console))]
    Reset {
        /// Whether kentry had begun in it.
        began: bool,
        /// What its console said.
        console: String,
    },
    /// What it wrote to the port of frames is none.
    #[error("the guest wrote garbage: {error}{}", ended(.console))]
    Garbage {
        /// What is wrong with it.
        error: frame::Error,
        /// What its console said.
        console: String,
    },
    /// It ended in the midst of a frame, or before its last.
    #[error("the guest ended early{}", ended(.console))]
    Early {
        /// What its console said.
        console: String,
    },
    /// It came to its end, but what it measured is not there or cannot be read.
    #[error("{why}{}", ended(.console))]
    Unusable {
        /// Why, in words.
        why: String,
        /// What its console said.
        console: String,
    },
    /// It could not be followed.
    #[error("the guest could not be followed: {0}")]
    Followed(String),
    /// kentry could not do its work there.
    #[error("in the guest: {0}")]
    Failed(String),
}

/// What a trouble means for whoever wanted something of the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The user ended it.
    Interrupted,
    /// It took too long.
    Timeout,
    /// It lacks what was asked for, and will whenever it is asked.
    Unsupported,
    /// This machine lacks or refuses what a guest needs: no guest is at fault.
    Environment,
    /// Anything else.
    Failed,
}

impl Trouble {
    /// What it means.
    pub fn kind(&self) -> Kind {
        match self {
            Trouble::Machine(emulator::Trouble::Interrupted) => Kind::Interrupted,
            Trouble::Hung { .. } => Kind::Timeout,
            Trouble::Unsupported(_) => Kind::Unsupported,
            Trouble::Machine(
                emulator::Trouble::Missing { .. }
                | emulator::Trouble::Program { .. }
                | emulator::Trouble::Version { .. }
                | emulator::Trouble::Files(_),
            ) => Kind::Environment,
            Trouble::Memory { .. }
            | Trouble::Refused(_)
            | Trouble::TooSmall { .. }
            | Trouble::Small { .. } => Kind::Environment,
            _ => Kind::Failed,
        }
    }
}

/// Of what a console said, so many lines are told.
const LINES: usize = 4;

/// And so many letters of each.
const LETTERS: usize = 200;

/// What Linux prints before the cause of a panic.
const PANIC: &str = "Kernel panic - not syncing: ";

/// How a guest ended that was not done.
pub(crate) struct Ending<'a> {
    /// What QEMU's process said or did.
    pub trouble: emulator::Trouble,
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
        if trouble == emulator::Trouble::Interrupted {
            return trouble.into();
        }
        if let Some(said) = console.lines().filter(|_| !began).find(|line| is_short(line)) {
            return Trouble::Small { mib, said: cut(plain(said)) };
        }
        if let Some(why) = panic_of(&console) {
            return Trouble::Panicked { why, console };
        }
        match trouble {
            emulator::Trouble::Timeout(time) => Trouble::Hung { time, began, console },
            emulator::Trouble::Ended { said, .. } if lacks_memory(&said) => {
                Trouble::Memory { mib, said: last_line(&said) }
            }
            emulator::Trouble::Ended { status, said, .. }
                if status.success() && !said.contains(TERMINATED) =>
            {
                Trouble::Reset { began, console }
            }
            // By the port that ends QEMU, which the guest's program writes to when it has said all.
            emulator::Trouble::Ended { status, said, .. }
                if status.code() == Some(EXITED) && said.is_empty() =>
            {
                Trouble::Early { console }
            }
            emulator::Trouble::Ended { program, status, said } => {
                let refused = refused(status, &said, began).map(Trouble::Refused);
                let lacks = || lack(&said).map(Trouble::Unsupported);
                let judged = refused.or_else(lacks);
                judged.unwrap_or_else(|| emulator::Trouble::Ended { program, status, said }.into())
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
const EXITED: i32 = 1 | (crate::EXIT_VALUE as i32) << 1;

fn lacks_memory(said: &str) -> bool {
    said.contains("cannot set up guest memory") || said.contains("Cannot allocate memory")
}

fn last_line(said: &str) -> String {
    said.lines().last().unwrap_or_default().trim().into()
}

/// Why the kernel panicked, by its console: the first time, if it did more than once.
fn panic_of(console: &str) -> Option<String> {
    let (_, rest) = console.split_once(PANIC)?;
    Some(cut(rest.lines().next()?.trim()))
}

fn cut(line: &str) -> String {
    line.chars().take(LETTERS).collect()
}

fn before(began: bool) -> &'static str {
    if began { "while kentry worked in it" } else { "before kentry began in it" }
}

fn silent(began: bool, console: &str) -> &'static str {
    if began {
        ", in which kentry had begun"
    } else if console.trim().is_empty() {
        "; its console is empty, as usual this early; --append ignore_loglevel shows the boot if the kernel has a driver for the \
         serial port (CONFIG_SERIAL_8250_CONSOLE)"
    } else {
        ""
    }
}

/// The last lines of a console, without the times that kernels write before them.
fn ended(console: &str) -> String {
    last_lines(console).map_or_else(String::new, |last| format!("; its console ended: {last}"))
}

/// The last lines before a panic, which tell how it came to it; what is behind them is where the kernel was.
fn leading(console: &str) -> String {
    let before = console.split_once(PANIC).map_or("", |(before, _)| before);
    // The panic's own line has begun there.
    let whole = before.rsplit_once('\n').map_or("", |(lines, _)| lines);
    last_lines(whole).map_or_else(String::new, |last| format!("; before that, its console said: {last}"))
}

fn last_lines(console: &str) -> Option<String> {
    let lines: Vec<&str> =
        console.lines().map(plain).filter(|line| !line.is_empty() && !is_dump(line)).collect();
    let last: Vec<String> =
        lines.iter().skip(lines.len().saturating_sub(LINES)).map(|line| cut(line)).collect();
    (!last.is_empty()).then(|| last.join(" / "))
}

/// Whether a line dumps registers, code or the stack (`show_regs` in arch/x86/kernel/process_64.c, and dumpstack.c): it tells a reader
/// less than the line before it.
fn is_dump(line: &str) -> bool {
    const BEGINNINGS: [&str; 16] = [
        "RAX:",
        "RDX:",
        "RBP:",
        "RSP:",
        "R10:",
        "R13:",
        "FS:",
        "CS:",
        "CR2:",
        "DR0:",
        "DR3:",
        "PKRU:",
        "Code:",
        "Call Trace:",
        "Modules linked in:",
        "---[ end trace",
    ];
    let line = line.trim_start();
    let is_tag = line.starts_with('<') && line.ends_with('>');
    is_tag || is_frame(line) || BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

/// Whether a line is a frame of a stack and nothing else: `? do_idle+0x1a/0x30 [module]`.
fn is_frame(line: &str) -> bool {
    // Before 4.10 the address stood before it, too.
    let mut words = line.split_whitespace().skip_while(|word| *word == "?" || word.starts_with("[<"));
    let place = words.next().and_then(|word| word.split_once("+0x"));
    let is_module = |word: &str| word.starts_with('[') && word.ends_with(']');
    place.is_some_and(|(_, rest)| rest.contains("/0x")) && words.all(is_module)
}

/// A line of a kernel's log, `[    0.123456] text`, without its time; nor who wrote it, `[    0.123456][    T1] text`.
fn plain(line: &str) -> &str {
    let line = line.trim();
    let rest = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let is_time = |time: &str| {
        let time = time.split("][").next().unwrap_or_default();
        time.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    rest.filter(|(time, _)| is_time(time)).map_or(line, |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PANICKED: &str = "[    1.4] VFS: Cannot open root device\n[    1.5] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)\n\
                            [    1.6] CPU: 0 PID: 1\n[    1.7] Rebooting in 1 seconds..\n";

    fn judged(trouble: emulator::Trouble, console: &str) -> String {
        Ending { trouble, began: false, console, mib: 512 }.judge().to_string()
    }

    fn qemu(status: i32, said: &str) -> emulator::Trouble {
        let status = ExitStatus::from_raw(status);
        emulator::Trouble::Ended { program: "qemu".into(), status, said: said.into() }
    }

    #[test]
    fn a_panic_is_quoted_however_the_machine_ended() {
        for trouble in [qemu(0, ""), emulator::Trouble::Timeout(Duration::from_secs(3))] {
            assert_eq!(
                judged(trouble, PANICKED),
                "the guest's kernel panicked: VFS: Unable to mount root fs on unknown-block(0,0); before that, its console said: \
                 VFS: Cannot open root device"
            );
        }
        assert_eq!(judged(emulator::Trouble::Interrupted, PANICKED), "interrupted");
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
            emulator::Trouble::Timeout(Duration::from_secs(3)),
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
        let kind = |trouble: emulator::Trouble| {
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
        assert_eq!(kind(emulator::Trouble::Files("no".into())), Kind::Environment);
        assert_eq!(
            kind(emulator::Trouble::Missing { program: "qemu".into(), packages: "" }),
            Kind::Environment
        );
    }

    #[test]
    fn every_other_end_has_its_words() {
        let hung = judged(emulator::Trouble::Timeout(Duration::from_secs(3)), "");
        assert!(hung.starts_with("the guest did not finish within 3 s; its console is empty"), "{hung}");
        let hung = judged(emulator::Trouble::Timeout(Duration::from_secs(3)), "a\nb\nc\nd\ne\n");
        assert_eq!(hung, "the guest did not finish within 3 s; its console ended: b / c / d / e");
        let timeout = emulator::Trouble::Timeout(Duration::from_secs(3));
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
    fn a_headline_that_names_a_place_was_taken_for_a_frame_of_the_stack() {
        for line in [
            "BUG: KASAN: slab-out-of-bounds in do_mount+0x12/0x340",
            "WARNING: CPU: 0 PID: 1 at arch/x86/kernel/fpu/core.c:50 fpu_init+0x1a/0x30",
            "initcall acpi_init+0x0/0x341 returned -19 after 0 usecs",
            "RIP: 0010:native_apic_mem_read+0x5/0x10",
        ] {
            assert!(!is_dump(line), "{line}");
        }
        let old = " [<ffffffff81334dd5>] ? dump_stack+0x5c/0x77";
        let with_caller = plain("[    0.123456][    T1]  start_kernel+0x5/0x10");
        for line in [
            old,
            with_caller,
            " start_kernel+0x5/0x10",
            " ? do_idle+0x1a/0x30 [module]",
            "PKRU: 55555554",
            " </TASK>",
        ] {
            assert!(is_dump(line), "{line}");
        }
    }

    #[test]
    fn a_limit_that_crashes_qemu_was_a_guests_failure() {
        let kind = |began| Ending { trouble: qemu(11, ""), began, console: "", mib: 512 }.judge().kind();
        assert_eq!([false, true].map(kind), [Kind::Environment, Kind::Failed]);
    }

    #[test]
    fn times_of_a_log_are_left_out_and_nothing_else() {
        assert_eq!(plain("[    1.234567] text [1] x"), "text [1] x");
        assert_eq!(plain("[end] text"), "[end] text");
        assert_eq!(plain("[1.5]"), "[1.5]");
    }
}

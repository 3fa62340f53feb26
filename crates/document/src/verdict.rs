//! From what a probe found, or what became of it, to an outcome and its cause in words.

use crate::{Outcome, Path};
use nix::errno::Errno;
use nix::sys::signal::Signal;
use process::{Error, Phase};
use record::{Failure, Verdict, abi};
use table::{Entry, Probe, REGISTERS};

/// #GP, whose error code is a selector, and #PF, whose fault has an address.
const TRAP_PROTECTION: u64 = 13;
const TRAP_PAGE_FAULT: u64 = 14;

/// What a probe's own verdict means for this entry. The entry's `closed` table decides first; what it does not
/// name keeps the probe's outcome and is put in words by its cause.
pub fn judge(entry: &Entry, verdict: &Verdict) -> (Outcome, String) {
    let outcome = match verdict.outcome {
        abi::OUTCOME_OK => Outcome::Ok,
        abi::OUTCOME_UNSUPPORTED => Outcome::Unsupported,
        abi::OUTCOME_REFUSED => Outcome::Refused,
        abi::OUTCOME_FAULT => Outcome::Fault,
        abi::OUTCOME_MISMATCH => Outcome::Mismatch,
        _ => Outcome::Error,
    };
    let [first, second, third, _] = verdict.detail;
    match verdict.cause {
        abi::CAUSE_SIGNAL => judge_signal(entry, outcome, &verdict.detail),
        abi::CAUSE_ERRNO => judge_errno(entry, outcome, first),
        abi::CAUSE_NO_AUXV => {
            closed(entry, "no-auxv", outcome, format!("auxiliary vector entry {first} is missing"))
        }
        abi::CAUSE_NO_SYMBOL => closed(entry, "no-symbol", outcome, "there is no such function".into()),
        abi::CAUSE_NO_DEVICE => closed(entry, "no-device", outcome, "there is no such device".into()),
        abi::CAUSE_NO_RING => no_ring(first),
        abi::CAUSE_NO_USER_TIME => closed(entry, "no-user-time", outcome, "cap_user_time is 0".into()),
        abi::CAUSE_NO_TIME_PAGE => closed(entry, "no-time-page", outcome, "no time page was found".into()),
        abi::CAUSE_STRICT_DEVMEM => closed(entry, "strict-devmem", outcome, "the page is kept closed".into()),
        abi::CAUSE_NO_KALLSYMS => closed(entry, "no-kallsyms", outcome, "its address is not shown".into()),
        abi::CAUSE_ANSWER => (outcome, wrong_answer(first, second, third)),
        abi::CAUSE_REGISTER => (outcome, changed_register(entry, first, second, third)),
        abi::CAUSE_EMULATOR => closed(entry, "emulator", outcome, "it was not tried in this emulator".into()),
        abi::CAUSE_UNTOLD => (outcome, untold(first, second)),
        abi::CAUSE_NOT_RANDOM => (outcome, not_random(first, second)),
        abi::CAUSE_NO_FAULT => (outcome, format!("{first} minor faults were due, {second} came")),
        abi::CAUSE_NO_SIGNAL => (outcome, format!("{first} signals were due, {second} came")),
        abi::CAUSE_REQUEST => {
            (outcome, format!("the probe does not understand argument {first} of its request"))
        }
        other => (outcome, format!("cause {other}, which this version does not know")),
    }
}

/// Why there is no io_uring, by the error of the call that makes one.
fn no_ring(errno: u64) -> (Outcome, String) {
    match Errno::from_raw(errno as i32) {
        Errno::ENOSYS => (
            Outcome::Unsupported,
            "io_uring_setup answers ENOSYS: kernel built without CONFIG_IO_URING, or a seccomp filter".into(),
        ),
        Errno::EPERM => (
            Outcome::Refused,
            "io_uring_setup answers EPERM: kernel.io_uring_disabled forbids it, a seccomp filter or a security module does".into(),
        ),
        other => (Outcome::Refused, format!("no io_uring can be made: {other:?} ({})", other.desc())),
    }
}

/// What a probe could not learn about its own run, by the number in its record and the error of the call.
fn untold(what: u64, errno: u64) -> String {
    let (call, thing) = match what {
        abi::UNTOLD_PREEMPTIONS => ("getrusage", "was preempted"),
        _ => ("getcpu", "was moved to another CPU"),
    };
    let how = match errno {
        0 => "does nothing here".to_string(),
        errno => format!("answers {:?} here", Errno::from_raw(errno as i32)),
    };
    format!(
        "it works, but is not timed: {call} {how} (a seccomp filter?), so that nobody knows whether the probe {thing}"
    )
}

/// The outcome of a probe run that ended without a verdict of its own.
pub fn judge_failure(entry: &Entry, failure: &Failure) -> (Outcome, String) {
    match failure {
        Failure::Process(Error::NotStarted { phase: Phase::Execute, errno }) => {
            judge_not_executed(entry, *errno)
        }
        Failure::Killed(number) if *number == Signal::SIGSYS as i32 => {
            (Outcome::Refused, "killed by SIGSYS: a seccomp filter forbids the call".into())
        }
        Failure::Killed(number) => {
            (Outcome::Error, format!("the probe was killed by {}", signal_name(*number as u64)))
        }
        Failure::Process(Error::Timeout(_)) => (Outcome::Timeout, failure.to_string()),
        Failure::Garbage(_) => (Outcome::Error, format!("{}: {failure}", entry.probe.name())),
        Failure::Under { failure, words } => (outcome_under(entry, failure), words.clone()),
        _ => (Outcome::Error, failure.to_string()),
    }
}

/// The outcome of a probe that was to run under a command. A command that is missing is no entry that is missing.
fn outcome_under(entry: &Entry, failure: &Failure) -> Outcome {
    match failure {
        Failure::Process(Error::NotStarted {
            phase: Phase::Execute,
            errno: Errno::EPERM | Errno::EACCES,
        }) => Outcome::Refused,
        Failure::Process(Error::NotStarted { .. }) => Outcome::Error,
        other => judge_failure(entry, other).0,
    }
}

/// What the value of `FACT_PATH` means.
pub fn path_of(value: u64) -> Option<Path> {
    match value {
        abi::PATH_USER => Some(Path::User),
        abi::PATH_KERNEL => Some(Path::Kernel),
        _ => None,
    }
}

/// Whether interrupts were on behind a gate, in words.
pub fn interrupts_in_words(on: bool) -> &'static str {
    if on { "interrupts stay on in the kernel (IF=1)" } else { "interrupts are off in the kernel (IF=0)" }
}

fn closed(entry: &Entry, cause: &str, outcome: Outcome, otherwise: String) -> (Outcome, String) {
    let Some(closed) = entry.closed.get(cause) else {
        return (outcome, otherwise);
    };
    (Outcome::try_from(closed.outcome.clone()).unwrap_or(outcome), closed.why.clone())
}

fn judge_signal(entry: &Entry, outcome: Outcome, detail: &[u64; 4]) -> (Outcome, String) {
    let name = signal_name(detail[0]);
    if name == "SIGSYS" {
        return (Outcome::Refused, "SIGSYS: a seccomp filter forbids the call".into());
    }
    let (outcome, why) = closed(entry, &name, outcome, String::new());
    let words = signal_in_words(detail);
    (outcome, if why.is_empty() { words } else { format!("{words}: {why}") })
}

/// A signal as `CAUSE_SIGNAL` details it: `SIGSEGV (#PF at 0x1000, error code 0x5)`.
pub fn signal_in_words([number, _, trap, address]: &[u64; 4]) -> String {
    let name = signal_name(*number);
    let (vector, code) = (trap >> 32, trap & 0xffff_ffff);
    match vector {
        TRAP_PROTECTION => format!("{name} (#GP, error code {code:#x})"),
        TRAP_PAGE_FAULT => format!("{name} (#PF at {address:#x}, error code {code:#x})"),
        _ => name,
    }
}

/// The same of a program that nobody knows: with the exception and its place, where the signal is one's.
pub fn exception_in_words(detail: &[u64; 4]) -> String {
    let [number, code, trap, address] = detail;
    // Others are in words already.
    let exceptions: &[(Signal, u64, &str)] = &[
        (Signal::SIGFPE, 0, "#DE"),
        (Signal::SIGTRAP, 1, "#DB"),
        (Signal::SIGTRAP, 3, "#BP"),
        (Signal::SIGSEGV, 4, "#OF"),
        (Signal::SIGSEGV, 5, "#BR"),
        (Signal::SIGILL, 6, "#UD"),
        (Signal::SIGBUS, 11, "#NP"),
        (Signal::SIGBUS, 12, "#SS"),
        (Signal::SIGFPE, 16, "#MF"),
        (Signal::SIGBUS, 17, "#AC"),
        (Signal::SIGFPE, 19, "#XM"),
    ];
    let is_it =
        |(signal, vector, _): &&(Signal, u64, &str)| (*signal as u64, *vector) == (*number, trap >> 32);
    let words = signal_in_words(detail);
    // A signal that a program has sent has no such code (sigaction(2)).
    match exceptions.iter().find(is_it).filter(|_| *code as i32 > 0) {
        Some((.., exception)) => format!("{words} ({exception} at {address:#x})"),
        None => words,
    }
}

fn judge_errno(entry: &Entry, outcome: Outcome, number: u64) -> (Outcome, String) {
    let errno = Errno::from_raw(i32::try_from(number).unwrap_or(0));
    closed(entry, &format!("{errno:?}"), outcome, format!("the kernel answers {errno:?} ({})", errno.desc()))
}

fn judge_not_executed(entry: &Entry, errno: Errno) -> (Outcome, String) {
    match (entry.probe, errno) {
        (Probe::Libc, Errno::ENOENT) => closed(entry, "no-loader", Outcome::Unsupported, "no dynamic loader".into()),
        (Probe::Probe32, Errno::ENOEXEC) => (
            Outcome::Unsupported,
            "the kernel runs no 32-bit programs (ENOEXEC): built without CONFIG_IA32_EMULATION or booted with \
             ia32_emulation=0"
                .into(),
        ),
        (probe, Errno::EPERM | Errno::EACCES) => {
            (Outcome::Refused, format!("{} may not be executed ({errno:?}: {})", probe.name(), errno.desc()))
        }
        (probe, _) => (Outcome::Error, format!("{} could not be started ({errno:?}: {})", probe.name(), errno.desc())),
    }
}

fn wrong_answer(got: u64, least: u64, most: u64) -> String {
    let signed = |value: u64| value as i64;
    if least == most {
        format!("it answered {} where {} is right", signed(got), signed(least))
    } else {
        format!("it answered {got}, outside of {least} … {most}")
    }
}

fn not_random(times: u64, number: u64) -> String {
    match times {
        0 => "it delivered no random number".into(),
        _ => format!("it delivered {number:#x} {times} times in a row, which is no random number"),
    }
}

fn changed_register(entry: &Entry, register: u64, before: u64, after: u64) -> String {
    let index = usize::try_from(register).unwrap_or(usize::MAX);
    let flags = (index == REGISTERS.len()).then_some("rflags");
    let name = flags.or(REGISTERS.get(index).copied()).unwrap_or("?");
    let name = if entry.bits() == 32 { name.replacen('r', "e", 1) } else { name.to_string() };
    format!("it changed {name} from {before:#x} to {after:#x}, which its ABI preserves")
}

fn signal_name(number: u64) -> String {
    let signal = i32::try_from(number).ok().and_then(|number| Signal::try_from(number).ok());
    signal.map_or_else(|| format!("signal {number}"), |signal| signal.as_str().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Table;

    fn entry(name: &str) -> &'static Entry {
        Table::get().entry(name).unwrap()
    }

    fn verdict(outcome: u64, cause: u64, detail: [u64; 4]) -> Verdict {
        Verdict { outcome, cause, detail }
    }

    #[test]
    fn the_table_decides_what_a_cause_means_for_an_entry() {
        let illegal = verdict(abi::OUTCOME_FAULT, abi::CAUSE_SIGNAL, [4, 2, 6 << 32, 0]);
        let (outcome, why) = judge(entry("syscall-i386"), &illegal);
        assert_eq!(outcome, Outcome::Unsupported);
        assert!(why.starts_with("SIGILL: #UD: only AMD"), "{why}");

        let gate = verdict(abi::OUTCOME_FAULT, abi::CAUSE_SIGNAL, [11, 128, 13 << 32 | 4, 0]);
        let (outcome, why) = judge(entry("lcall7-i386"), &gate);
        assert_eq!(outcome, Outcome::Fault);
        assert!(why.starts_with("SIGSEGV (#GP, error code 0x4): selector 7"), "{why}");

        let nosys = verdict(abi::OUTCOME_REFUSED, abi::CAUSE_ERRNO, [38, 0, 0, 0]);
        assert!(judge(entry("syscall-x32"), &nosys).1.contains("CONFIG_X86_X32_ABI"));

        let no_device = verdict(abi::OUTCOME_UNSUPPORTED, abi::CAUSE_NO_DEVICE, [0; 4]);
        for (name, why) in [("entry-page-i386", "no device entry"), ("mapped-time-mach", "no device time")] {
            let reason = format!("this kernel has {why}");
            assert_eq!(judge(entry(name), &no_device), (Outcome::Unsupported, reason));
        }
    }

    #[test]
    fn a_ring_that_is_refused_is_no_missing_one() {
        let of = |errno| {
            judge(
                entry("syscall-x86_64"),
                &verdict(abi::OUTCOME_REFUSED, abi::CAUSE_NO_RING, [errno, 0, 0, 0]),
            )
        };
        let ((missing, built), (refused, disabled)) = (of(38), of(1));
        assert_eq!([missing, refused], [Outcome::Unsupported, Outcome::Refused]);
        assert!(
            built.contains("CONFIG_IO_URING") && disabled.contains("kernel.io_uring_disabled"),
            "{disabled}"
        );
    }

    #[test]
    fn what_the_table_does_not_name_is_put_in_words() {
        let refused = verdict(abi::OUTCOME_REFUSED, abi::CAUSE_ERRNO, [1, 0, 0, 0]);
        let (outcome, why) = judge(entry("syscall-x86_64"), &refused);
        assert_eq!(
            (outcome, why.as_str()),
            (Outcome::Refused, "the kernel answers EPERM (Operation not permitted)")
        );

        let fault = verdict(abi::OUTCOME_FAULT, abi::CAUSE_SIGNAL, [11, 1, 14 << 32 | 5, 0x1000]);
        assert_eq!(judge(entry("call"), &fault).1, "SIGSEGV (#PF at 0x1000, error code 0x5)");

        let answer = verdict(abi::OUTCOME_MISMATCH, abi::CAUSE_ANSWER, [5, -38i64 as u64, -38i64 as u64, 0]);
        assert_eq!(judge(entry("int80-i386"), &answer).1, "it answered 5 where -38 is right");

        let random =
            |detail| judge(entry("libc"), &verdict(abi::OUTCOME_MISMATCH, abi::CAUSE_NOT_RANDOM, detail)).1;
        assert_eq!(random([0; 4]), "it delivered no random number");
        assert_eq!(random([2, 0xff, 0, 0]), "it delivered 0xff 2 times in a row, which is no random number");

        let register = verdict(abi::OUTCOME_MISMATCH, abi::CAUSE_REGISTER, [1, 0x5a, 0, 0]);
        let why = judge(entry("int80-i386"), &register).1;
        assert_eq!(why, "it changed ebx from 0x5a to 0x0, which its ABI preserves");
    }

    #[test]
    fn an_exception_is_named_and_a_signal_that_was_sent_has_none() {
        let words = |signal: u64, code: u64, vector: u64, error: u64| {
            exception_in_words(&[signal, code, vector << 32 | error, 0x40_1005])
        };
        assert_eq!(words(4, 2, 6, 0), "SIGILL (#UD at 0x401005)");
        assert_eq!(words(5, 128, 3, 0), "SIGTRAP (#BP at 0x401005)");
        assert_eq!(words(8, 1, 0, 0), "SIGFPE (#DE at 0x401005)");
        assert_eq!(words(11, 128, 13, 4), "SIGSEGV (#GP, error code 0x4)");
        assert_eq!(words(11, 1, 14, 5), "SIGSEGV (#PF at 0x401005, error code 0x5)");
        assert_eq!(
            [words(8, 0, 0, 0), words(4, 0, 0, 0), words(9, 0, 0, 0)],
            ["SIGFPE", "SIGILL", "SIGKILL"]
        );
    }

    #[test]
    fn seccomp_is_told_from_a_crash() {
        let trap = verdict(abi::OUTCOME_FAULT, abi::CAUSE_SIGNAL, [31, 1, 0, 0]);
        assert_eq!(judge(entry("syscall-x86_64"), &trap).0, Outcome::Refused);
        assert_eq!(judge_failure(entry("syscall-x86_64"), &Failure::Killed(31)).0, Outcome::Refused);
        let (outcome, why) = judge_failure(entry("syscall-x86_64"), &Failure::Killed(9));
        assert_eq!((outcome, why.as_str()), (Outcome::Error, "the probe was killed by SIGKILL"));
    }

    fn not_started(phase: Phase, errno: Errno) -> Failure {
        Failure::Process(Error::NotStarted { phase, errno })
    }

    #[test]
    fn a_kernel_without_32_bit_emulation_is_named() {
        let (outcome, why) = judge_failure(entry("int80-i386"), &not_started(Phase::Execute, Errno::ENOEXEC));
        assert_eq!(outcome, Outcome::Unsupported);
        assert!(why.contains("ia32_emulation=0"), "{why}");
        let (outcome, why) = judge_failure(entry("libc"), &not_started(Phase::Execute, Errno::ENOENT));
        assert_eq!(outcome, Outcome::Unsupported);
        assert!(why.contains("loader"), "{why}");
    }

    #[test]
    fn trouble_of_the_runner_is_no_fact_about_the_entry() {
        let pinning = not_started(Phase::Pin, Errno::EPERM);
        let (outcome, why) = judge_failure(entry("call"), &pinning);
        assert_eq!(outcome, Outcome::Error);
        assert!(why.contains("pinning it to the CPU failed with EPERM"), "{why}");
    }

    #[test]
    fn no_verdict_whatever_its_numbers_panics() {
        for outcome in 0..9 {
            for cause in 0..20 {
                let (_, why) = judge(entry("int80-i386"), &verdict(outcome, cause, [u64::MAX; 4]));
                assert!(!why.is_empty());
            }
        }
    }
}

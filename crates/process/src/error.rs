//! What goes wrong with a child process, whatever program it runs.

use crate::Errno;
use std::time::Duration;

/// The steps of starting a child, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
pub enum Phase {
    /// Making its arguments and the pipes for its output.
    #[error("making its pipes")]
    Pipe,
    /// Opening what it reads.
    #[error("opening /dev/null")]
    Input,
    /// Making a process.
    #[error("making its process")]
    Fork,
    /// Process group, death signal, resource limits, signal mask, descriptors.
    #[error("setting up its process")]
    Setup,
    /// Pinning it to a CPU.
    #[error("pinning it to the CPU")]
    Pin,
    /// Giving it real-time priority.
    #[error("giving it real-time priority")]
    Realtime,
    /// Executing the program: the only phase that depends on the program.
    #[error("executing it")]
    Execute,
}

impl Phase {
    /// All phases, in their order.
    pub const ALL: [Phase; 7] =
        [Phase::Pipe, Phase::Input, Phase::Fork, Phase::Setup, Phase::Pin, Phase::Realtime, Phase::Execute];
}

/// Why a child was not started, or did not end by itself. The texts follow the child's name in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It could not be started.
    #[error("could not be started: {phase} failed with {errno:?} ({}){}", .errno.desc(), cause(*.phase, *.errno))]
    NotStarted {
        /// What failed.
        phase: Phase,
        /// The kernel's error.
        errno: Errno,
    },
    /// Reading its output or waiting for its end failed.
    #[error("could not be followed to its end: {errno:?} ({})", .errno.desc())]
    NotFollowed {
        /// The kernel's error.
        errno: Errno,
    },
    /// It did not end in time.
    #[error("did not end within {0:?}")]
    Timeout(Duration),
    /// It wrote more than it may; the bound in bytes.
    #[error("wrote more than {0} bytes")]
    Flood(usize),
    /// The interrupt flag was set.
    #[error("was interrupted")]
    Interrupted,
}

/// What an error of the kernel means here, where its own words say little.
fn cause(phase: Phase, errno: Errno) -> String {
    if phase == Phase::Input && matches!(errno, Errno::ENOENT | Errno::ENOTDIR | Errno::ENODEV | Errno::ENXIO)
    {
        return ": is /dev mounted?".to_owned();
    }
    // Elsewhere it means something that will pass.
    let is_known = errno != Errno::EAGAIN || phase == Phase::Fork;
    limit(errno).filter(|_| is_known).map_or_else(String::new, |limit| format!(": {limit}"))
}

/// The limit that an error of the kernel speaks of, and how it is raised; none where it speaks of none.
pub fn limit(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::EAGAIN => {
            "this user, or this control group, may have no more processes or threads, or no memory for them (ulimit -u; pids.max; ulimit -v)"
        }
        Errno::EMFILE => "this process may open no more files (ulimit -n)",
        Errno::ENOMEM => {
            "there is no memory left for it: free some, or raise its limit (ulimit -v; memory.max)"
        }
        Errno::EFBIG => "no file may be so large, in memory neither (ulimit -f)",
        _ => return None,
    })
}

impl Error {
    /// Whether the kernel was short of something (processes, descriptors, memory) that may soon be free again: a later
    /// attempt may succeed, and the failure says nothing about the program.
    ///
    /// Never true of a timeout or of a child that a signal ended: these can be the program's own doing.
    pub fn is_momentary(&self) -> bool {
        match self {
            Error::NotStarted { errno, .. } | Error::NotFollowed { errno } => is_shortage(*errno),
            Error::Timeout(_) | Error::Flood(_) | Error::Interrupted => false,
        }
    }
}

/// The errors of fork(2), pipe(2) and execve(2) while processes, memory or descriptors are used up. ETXTBSY: another
/// thread forked while the program was being written, and its child has not yet closed the file.
fn is_shortage(errno: Errno) -> bool {
    matches!(errno, Errno::EAGAIN | Errno::ENOMEM | Errno::EMFILE | Errno::ENFILE | Errno::ETXTBSY)
}

/// A system's error in words, without its number.
pub fn in_words(error: &std::io::Error) -> String {
    without_numbers(&error.to_string())
}

/// A text in which the system's error numbers, such as `(os error 2)`, are removed.
pub fn without_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_errors_are_left_out_wherever_they_stand() {
        assert_eq!(without_numbers("no (os error 2); gone (os error 13)"), "no; gone");
        assert_eq!(without_numbers("no (os error"), "no (os error");
        assert_eq!(without_numbers("as (it) is"), "as (it) is");
        assert_eq!(in_words(&std::io::Error::from(Errno::ENOENT)), "No such file or directory");
    }

    fn not_started(phase: Phase, errno: Errno) -> Error {
        Error::NotStarted { phase, errno }
    }

    #[test]
    fn a_shortage_is_momentary_in_every_phase() {
        for phase in Phase::ALL {
            for errno in [Errno::EAGAIN, Errno::ENOMEM, Errno::EMFILE, Errno::ENFILE] {
                assert!(not_started(phase, errno).is_momentary(), "{phase}: {errno}");
            }
        }
        assert!(Error::NotFollowed { errno: Errno::ENOMEM }.is_momentary());
    }

    #[test]
    fn what_the_program_or_a_policy_causes_is_not_momentary() {
        for errno in
            [Errno::ENOEXEC, Errno::ENOENT, Errno::EACCES, Errno::EPERM, Errno::EINVAL, Errno::ENOSYS]
        {
            assert!(!not_started(Phase::Execute, errno).is_momentary(), "{errno}");
        }
        for error in [Error::Timeout(Duration::ZERO), Error::Flood(1), Error::Interrupted] {
            assert!(!error.is_momentary(), "{error}");
        }
    }

    #[test]
    fn the_phase_is_sent_as_a_byte_and_found_again() {
        for (place, phase) in Phase::ALL.into_iter().enumerate() {
            assert_eq!(phase as usize, place);
        }
    }

    #[test]
    fn an_error_says_what_failed_and_how_the_kernel_answered() {
        assert_eq!(
            not_started(Phase::Pin, Errno::EINVAL).to_string(),
            "could not be started: pinning it to the CPU failed with EINVAL (Invalid argument)"
        );
        let pipes = not_started(Phase::Pipe, Errno::EMFILE).to_string();
        assert!(
            pipes.ends_with("(Too many open files): this process may open no more files (ulimit -n)"),
            "{pipes}"
        );
        let setup = not_started(Phase::Setup, Errno::EAGAIN).to_string();
        assert!(setup.ends_with("(Try again)"), "{setup}");
        assert_eq!(Error::Timeout(Duration::from_millis(300)).to_string(), "did not end within 300ms");
    }
}

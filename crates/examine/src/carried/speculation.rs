//! Speculation that a process has switched off, or had switched off for it. Documentation/userspace-api/spec_ctrl.rst.

use crate::apart;
use nix::libc;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// PR_GET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS and the bits of its answer: include/uapi/linux/prctl.h.
const GET: libc::c_int = 52;
const STORE_BYPASS: libc::c_ulong = 0;
const PRCTL: i64 = 1;
const ENABLE: i64 = 1 << 1;
const DISABLE: i64 = 1 << 2;
const FORCE_DISABLE: i64 = 1 << 3;
const DISABLE_NOEXEC: i64 = 1 << 4;

/// Whether loads may run ahead of earlier stores to addresses that are not yet known (SSBD forbids it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoreBypass {
    /// The processor does not have the fault.
    NotAffected,
    /// They may, and a process cannot change that.
    Allowed,
    /// They may; a process can forbid it for itself.
    ThreadAllowed,
    /// This thread has forbidden it, and may allow it again.
    ThreadOff,
    /// This thread has forbidden it for good, and so have those that it starts.
    ThreadForcedOff,
    /// This thread has forbidden it until it executes a program.
    OffUntilExec,
    /// The kernel has forbidden it for everybody.
    Off,
    /// A state that a later version knows.
    #[serde(other)]
    Unknown,
}

impl StoreBypass {
    /// By the line `Speculation_Store_Bypass`: fs/proc/array.c.
    pub(super) fn of_status(words: &str) -> Option<StoreBypass> {
        Some(match words {
            "not vulnerable" => StoreBypass::NotAffected,
            "vulnerable" => StoreBypass::Allowed,
            "thread vulnerable" => StoreBypass::ThreadAllowed,
            "thread mitigated" => StoreBypass::ThreadOff,
            "thread force mitigated" => StoreBypass::ThreadForcedOff,
            "globally mitigated" => StoreBypass::Off,
            _ => return None,
        })
    }

    fn of_answer(answer: i64) -> Option<StoreBypass> {
        Some(match answer {
            0 => StoreBypass::NotAffected,
            ENABLE => StoreBypass::Allowed,
            DISABLE => StoreBypass::Off,
            answer if answer & PRCTL == 0 || answer < 0 => return None,
            answer if answer & FORCE_DISABLE != 0 => StoreBypass::ThreadForcedOff,
            answer if answer & DISABLE_NOEXEC != 0 => StoreBypass::OffUntilExec,
            answer if answer & DISABLE != 0 => StoreBypass::ThreadOff,
            answer if answer & ENABLE != 0 => StoreBypass::ThreadAllowed,
            _ => return None,
        })
    }

    /// Of this thread, by asking. The line of `/proc` says `vulnerable` of a thread that has forbidden it until it executes a program.
    pub(super) fn here() -> Option<StoreBypass> {
        let ask = |answer: &mut apart::Answer| {
            // SAFETY: numbers go in, and a number comes out.
            let found = unsafe { libc::prctl(GET, STORE_BYPASS, 0, 0, 0) };
            answer.number(found.into());
        };
        let answer = apart::ask(Duration::from_millis(50), ask).ok()?;
        StoreBypass::of_answer(*apart::numbers(&answer).first()?)
    }

    /// Whether this thread waits where others need not.
    pub fn is_off_for_thread(self) -> bool {
        matches!(self, StoreBypass::ThreadOff | StoreBypass::ThreadForcedOff | StoreBypass::OffUntilExec)
    }
}

/// Whether indirect branches may be predicted by what other programs have done (STIBP and IBPB forbid it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndirectBranch {
    /// The processor does not have the fault.
    NotAffected,
    /// They may, and a process cannot change that.
    Allowed,
    /// They may; a process can forbid it for itself.
    ThreadAllowed,
    /// This thread has forbidden it, and may allow it again.
    ThreadOff,
    /// This thread has forbidden it for good, and so have those that it starts.
    ThreadForcedOff,
    /// The kernel has forbidden it for everybody.
    Off,
    /// A state that a later version knows.
    #[serde(other)]
    Unknown,
}

impl IndirectBranch {
    /// By the line `SpeculationIndirectBranch`: fs/proc/array.c.
    pub(super) fn of_status(words: &str) -> Option<IndirectBranch> {
        Some(match words {
            "not affected" => IndirectBranch::NotAffected,
            "always enabled" => IndirectBranch::Allowed,
            "conditional enabled" => IndirectBranch::ThreadAllowed,
            "conditional disabled" => IndirectBranch::ThreadOff,
            "conditional force disabled" => IndirectBranch::ThreadForcedOff,
            "always disabled" => IndirectBranch::Off,
            _ => return None,
        })
    }

    /// Whether this thread pays at every switch where others need not.
    pub fn is_off_for_thread(self) -> bool {
        matches!(self, IndirectBranch::ThreadOff | IndirectBranch::ThreadForcedOff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_of_the_kernel_has_a_meaning_and_no_other() {
        let told = [
            (0, Some(StoreBypass::NotAffected)),
            (2, Some(StoreBypass::Allowed)),
            (3, Some(StoreBypass::ThreadAllowed)),
            (4, Some(StoreBypass::Off)),
            (5, Some(StoreBypass::ThreadOff)),
            (9, Some(StoreBypass::ThreadForcedOff)),
            (17, Some(StoreBypass::OffUntilExec)),
            (-1, None),
            (1, None),
            (64, None),
        ];
        for (answer, state) in told {
            assert_eq!(StoreBypass::of_answer(answer), state, "{answer}");
        }
        assert_eq!(StoreBypass::of_status("unknown"), None);
        assert_eq!(IndirectBranch::of_status("unsupported"), None);
    }
}

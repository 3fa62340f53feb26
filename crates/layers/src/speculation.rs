//! Whether loads may pass older stores (speculative store bypass), for one process
//! (`Documentation/userspace-api/spec_ctrl.rst`).

use crate::NotHere;
use nix::errno::Errno;
use nix::libc;

/// Where the kernel says what it does about it.
const FAULT: &str = "/sys/devices/system/cpu/vulnerabilities/spec_store_bypass";

/// The longest that is quoted of that, in characters.
const QUOTED: usize = 120;

/// Forbids it, for good: programs that are executed later have it forbidden, too.
pub(crate) fn forbid_store_bypass() -> Result<(), NotHere> {
    let which = libc::PR_SPEC_STORE_BYPASS;
    // SAFETY: system calls with numbers.
    let set = unsafe { libc::prctl(libc::PR_SET_SPECULATION_CTRL, which, libc::PR_SPEC_DISABLE, 0, 0) };
    if set == 0 {
        return Ok(());
    }
    let errno = Errno::last();
    // SAFETY: as above.
    let state = unsafe { libc::prctl(libc::PR_GET_SPECULATION_CTRL, which, 0, 0, 0) };
    Err(NotHere(match u32::try_from(state) {
        Err(_) => format!("prctl PR_SET_SPECULATION_CTRL: {} (since Linux 4.17)", errno.desc()),
        Ok(libc::PR_SPEC_NOT_AFFECTED) => {
            "this processor is not affected, and has nothing to switch off".into()
        }
        Ok(state) if state & libc::PR_SPEC_FORCE_DISABLE != 0 => {
            "it is forced on for this process already: its cost is in every figure here".into()
        }
        Ok(libc::PR_SPEC_DISABLE) => {
            "it is on for all processes: its cost is in every figure here (spec_store_bypass_disable=on)"
                .into()
        }
        Ok(libc::PR_SPEC_ENABLE) => format!(
            "the kernel has no switch for it: it was booted so (spec_store_bypass_disable=off, mitigations=off), or the processor, as \
             this machine shows it, has no SSBD{}",
            said()
        ),
        Ok(_) => format!("prctl PR_SET_SPECULATION_CTRL: {}", errno.desc()),
    }))
}

/// What the kernel says about the fault; nothing where it says nothing.
fn said() -> String {
    let text = std::fs::read_to_string(FAULT).unwrap_or_default();
    let line: String = text.lines().next().unwrap_or_default().chars().take(QUOTED).collect();
    if line.is_empty() { String::new() } else { format!("; it says \"{}\"", line.escape_debug()) }
}

//! What static keys are for, by the names of the variables that they are.

use crate::anatomy::Part;

/// Tracepoints: each has its key in it.
const EVENT: &str = "__tracepoint_";

/// Accounting of the time that a program and the kernel take, on the way in and out.
const WORK: &[&str] = &["context_tracking_key", "context_tracking_enabled", "rseq_debug_enabled"];

/// What the branch of a key belongs to; none where its name does not say.
pub(crate) fn part(name: &str) -> Option<Part> {
    Some(match name {
        _ if name.starts_with(EVENT) => Part::Trace,
        _ if WORK.contains(&name) => Part::Work,
        "randomize_kstack_offset" => Part::StackOffset,
        "mds_user_clear" | "mds_idle_clear" | "cpu_buf_idle_clear" | "cpu_buf_vm_clear" => Part::Verw,
        "switch_mm_cond_ibpb" | "switch_mm_always_ibpb" | "switch_vcpu_ibpb" => Part::Ibpb,
        _ => return None,
    })
}

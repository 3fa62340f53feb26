//! What functions of the kernel belong to, by their names in `arch/x86/entry`, `kernel/entry` and around.

use crate::anatomy::Part;

/// What code of a function, and of what it calls, belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Region {
    /// The assembler's code of an entry, in which several parts stand side by side.
    Entry,
    /// A part.
    Of(Part),
}

// How the names of functions begin, by what these do.

/// The assembler's code of entries.
const ENTRY: &[&str] = &[
    "entry_SYSCALL",
    "entry_SYSRET",
    "entry_SYSENTER",
    "entry_INT80",
    "asm_",
    "error_entry",
    "error_return",
    "paranoid_e",
    "swapgs_restore_regs_and_return_to_usermode",
    "syscall_return_via_sysret",
    "common_interrupt_return",
    "native_irq_return",
    "native_iret",
    "restore_regs_and_return_to_kernel",
    "irq_entries_start",
    "early_xen_iret_patch",
    "sysret32_from_system_call",
    "__begin_SYSENTER",
    "__end_SYSENTER",
    "sysret_rip_set",
    "ret_from_intr",
];

/// What an entry of system calls calls first.
const CALLS: &[&str] = &[
    "do_syscall_64",
    "do_syscall_x64",
    "do_syscall_x32",
    "do_int80_",
    "int80_emulation",
    "do_fast_syscall_32",
    "__do_fast_syscall_32",
    "do_SYSENTER_32",
    "do_syscall_32_irqs_on",
];

/// What an entry of exceptions and interrupts calls first.
const EXCEPTIONS: &[&str] = &["exc_", "sysvec_", "common_interrupt"];

/// What such a function calls for what has happened: the service of an exception, or of an interrupt, begins here.
const EXCEPTION_SERVICE: &[&str] = &[
    "do_user_addr_fault",
    "do_kern_addr_fault",
    "bad_area",
    "__bad_area",
    "__handle_mm_fault",
    "handle_mm_fault",
    "do_user_cp_fault",
    "do_error_trap",
    "do_trap",
    "do_int3",
    "uprobe_get_trap_addr",
    "handle_bug",
    "handle_invalid_op",
    "handle_xfd_event",
    "math_error",
    "gp_",
    "fixup_",
    "force_sig",
    "notify_die",
    "__exc_",
    "__sysvec_",
    "local_apic_timer_interrupt",
    "hrtimer_interrupt",
    "__common_interrupt",
    "handle_irq",
    "generic_handle_",
    "native_apic_mem_write",
    "native_apic_mem_eoi",
    "native_apic_msr_write",
    "native_apic_msr_eoi",
    "apic_eoi",
    "kvm_guest_apic_eoi_write",
];

/// What these hand an exception to. Interrupts are let in, and held back again, in either.
const HANDLES: &[&str] = &[
    "do_user_addr_fault",
    "__bad_area_nosemaphore",
    "do_user_cp_fault",
    "do_error_trap",
    "do_int3_user",
    "handle_bug",
    "handle_xfd_event",
    "math_error",
];

/// Which of a table's calls it is.
const DISPATCH: &[&str] = &["x64_sys_call", "ia32_sys_call", "x32_sys_call"];

/// What was asked for.
const SERVICE: &[&str] =
    &["__x64_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__x64_compat_sys_", "__do_sys_", "__se_sys_"];

/// Work on the way in and out.
const WORK: &[&str] = &[
    "syscall_enter_from_user_mode",
    "syscall_exit_to_user_mode",
    "syscall_trace_enter",
    "syscall_exit_work",
    "exit_to_user_mode",
    "irqentry_e",
    "enter_from_user_mode",
    "irqentry_exit",
    "syscall_slow_exit_work",
    "prepare_exit_to_usermode",
    "arch_exit_to_user_mode",
];

/// What that work calls for what is due.
const DUE: &[&str] = &[
    // Accounting of the time in the kernel.
    "__ct_user_",
    "ct_user_",
    "__context_tracking_",
    "user_exit_irqoff",
    "user_enter_irqoff",
    "vtime_user_",
    // The registers of the floating-point unit, which must be the program's.
    "fpregs_assert_state_consistent",
    "switch_fpu_return",
    "fpregs_restore_userregs",
    "fire_user_return_notifiers",
    // The accounting of interrupts, and what they have left to do.
    "irq_enter_rcu",
    "irq_exit_rcu",
    "__irq_exit_rcu",
    "do_softirq",
    "__do_softirq",
    "tick_irq_enter",
    "rcu_irq_",
    "rcu_user_",
    "ct_irq_",
    "ct_nmi_",
    "rseq_",
    "__rseq_",
    "unwind_deferred",
    "task_work_run",
    "raw_irqentry_exit_cond_resched",
];

/// What the C function of an entry calls first, or last, of the work.
const WHOLE_WORK: &[&str] =
    &["syscall_e", "irqentry_e", "enter_from_user_mode", "exit_to_user_mode", "prepare_exit_to_usermode"];

/// What draws the distance by which a call moves its stack.
const STACK_OFFSET: &[&str] = &["prandom_u32_state", "get_random_u16"];

/// Tracing of calls.
const TRACE: &[&str] = &[
    "trace_sys_e",
    "__traceiter_sys_",
    "perf_syscall_e",
    "ftrace_syscall_e",
    "trace_event_raw_event_sys_",
    "perf_trace_sys_",
];

/// Whether `int $0x80` came from outside, which its handler asks.
const EXTERNAL: &[&str] = &["native_apic_mem_read", "native_apic_msr_read", "int80_is_external", "apic_read"];

/// Signals.
const SIGNAL: &[&str] = &["arch_do_signal_or_restart", "do_signal", "get_signal", "handle_signal"];

/// What the handler reads an argument with that is in the program's memory.
const ARGUMENT: &[&str] = &["__get_user_"];

/// A function's own name: `exit_to_user_mode_loop.part.0` without what the compiler has added.
pub(crate) fn base(name: &str) -> &str {
    name.split_once('.').map_or(name, |(base, _)| base)
}

fn begins(name: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| name.starts_with(beginning))
}

/// Whether it is the C function of an entry of system calls, which knows a call by its number.
pub(crate) fn is_of_calls(name: &str) -> bool {
    begins(base(name), CALLS)
}

/// Whether the C function of an entry hands an exception to it.
pub(crate) fn handles(name: &str) -> bool {
    HANDLES.contains(&base(name))
}

/// Whether it compares a call's number with one after the other, and calls what it is.
pub(crate) fn dispatches(name: &str) -> bool {
    begins(base(name), DISPATCH)
}

/// Whether it is the function of a call.
pub(crate) fn serves(name: &str) -> bool {
    begins(base(name), SERVICE)
}

/// What the instructions of this function alone belong to, wherever it is called or jumped to from.
pub(crate) fn own(name: &str) -> Option<Part> {
    let name = base(name);
    let ends = |ending: &str| name.ends_with(ending);
    Some(match name {
        _ if ends("return_thunk") || ends("untrain_ret") || ends("safe_ret") => Part::Returns,
        _ if begins(name, &["__x86_indirect_", "__x86_retpoline"]) => Part::Retpoline,
        "clear_bhb_loop" | "clear_bhb_loop_nofence" => Part::Bhb,
        "entry_ibpb" | "write_ibpb" => Part::Ibpb,
        "amd_clear_divider" => Part::Divider,
        "mds_user_clear_cpu_buffers" => Part::Verw,
        "sync_regs" | "fixup_bad_iret" => Part::CopyFrame,
        "__fentry__" => Part::FunctionTrace,
        _ => return None,
    })
}

/// Whether it is a thunk that returns, or jumps, in another's place.
pub(crate) fn is_thunk(name: &str) -> bool {
    matches!(own(name), Some(Part::Returns | Part::Retpoline))
}

/// What a function, and all that it calls, belongs to; none where its name says nothing.
pub(crate) fn region(name: &str, caller: Option<Region>) -> Option<Region> {
    let name = base(name);
    let is_handler = caller == Some(Region::Of(Part::Handler));
    // What other tasks execute is what these are for.
    if caller == Some(Region::Of(Part::Schedule)) {
        return caller;
    }
    Some(Region::Of(match name {
        // The only function of this name that C code calls.
        "asm_load_gs_index" => return None,
        _ if begins(name, ENTRY) => return Some(Region::Entry),
        _ if begins(name, CALLS) || begins(name, EXCEPTIONS) => Part::Handler,
        _ if begins(name, DISPATCH) => Part::Dispatch,
        _ if begins(name, SERVICE) => Part::Service,
        _ if is_handler && begins(name, EXTERNAL) => Part::ExternalCheck,
        _ if is_handler && begins(name, EXCEPTION_SERVICE) => Part::Service,
        _ if is_handler && begins(name, STACK_OFFSET) => Part::StackOffset,
        _ if begins(name, WORK) || begins(name, DUE) => Part::Work,
        _ if begins(name, TRACE) => Part::Trace,
        _ if begins(name, &["__audit_syscall_", "audit_syscall_", "syscall_enter_audit"]) => Part::Audit,
        _ if begins(name, &["__secure_computing", "__seccomp_"]) => Part::Filter,
        _ if begins(name, SIGNAL) => Part::Signal,
        _ if is_handler && begins(name, ARGUMENT) => Part::Handler,
        "schedule" | "preempt_schedule_irq" => Part::Schedule,
        _ => return None,
    }))
}

/// What belongs to a function whose name says nothing, by who has called it. What an entry or its C function calls has a name that is
/// known, or is not known at all: the service begins behind the dispatch.
pub(crate) fn called_by(caller: Region) -> Region {
    match caller {
        Region::Entry | Region::Of(Part::Handler) => Region::Of(Part::Other),
        Region::Of(Part::Dispatch) => Region::Of(Part::Service),
        region => region,
    }
}

/// Whether it is the C function of an entry, or of the work around: interrupts are let in, and held back again, in these.
pub(crate) fn is_around(name: &str) -> bool {
    let name = base(name);
    begins(name, CALLS) || begins(name, EXCEPTIONS) || begins(name, WORK)
}

/// Whether it does, or has inlined, what is due before a call is served.
pub(crate) fn enters(name: &str) -> bool {
    base(name) == "syscall_trace_enter" || is_of_calls(name)
}

/// Whether the C function of an entry calls it for all of the work that is due.
pub(crate) fn is_whole_work(name: &str) -> bool {
    begins(base(name), WHOLE_WORK)
}

//! What functions are for, by the names that the kernel's developers gave them.

use attribution::anatomy::Part;

/// Functions by how their names begin, and the parts that their code may have. The first that fits decides.
const FUNCTIONS: &[(&[&str], &[Part])] = &[
    (
        &[
            "__x86_return_thunk",
            "its_return_thunk",
            "srso_",
            "retbleed_",
            "zen_untrain_ret",
            "entry_untrain_ret",
        ],
        &[Part::Returns],
    ),
    (&["__x86_indirect_", "__x86_retpoline", "its_static_thunk"], &[Part::Retpoline]),
    (&["clear_bhb_loop"], &[Part::Bhb]),
    (&["sync_regs", "fixup_bad_iret"], &[Part::CopyFrame]),
    (&["amd_clear_divider"], &[Part::Divider]),
    (&["mds_user_clear_cpu_buffers", "mds_clear_cpu_buffers", "x86_clear_cpu_buffers"], &[Part::Verw]),
    (
        &["prandom_u32_state", "choose_random_kstack_offset", "add_random_kstack_offset", "kstack_"],
        &[Part::StackOffset],
    ),
    (&["int80_is_external"], &[Part::ExternalCheck]),
    (&["array_index_mask_nospec"], &[Part::IndexMask]),
    (
        &[
            "audit_syscall_entry",
            "audit_syscall_exit",
            "__audit_syscall_",
            "audit_context",
            "syscall_enter_audit",
        ],
        &[Part::Audit],
    ),
    (&["secure_computing", "__secure_computing", "__seccomp_", "seccomp_"], &[Part::Filter]),
    (&["trace_sys_enter", "trace_sys_exit", "trace_syscall_e"], &[Part::Trace]),
    (&["schedule$", "__schedule$", "preempt_schedule"], &[Part::Schedule]),
    (&["arch_do_signal_or_restart", "get_signal", "handle_signal", "do_signal"], &[Part::Signal]),
    (&["x64_sys_call", "ia32_sys_call", "x32_sys_call"], &[Part::Dispatch]),
    (&["do_syscall_x64", "do_syscall_x32", "do_syscall_32_irqs_on"], &[Part::Dispatch, Part::IndexMask]),
    (&["syscall_32_enter"], &[Part::Handler]),
    (
        &[
            "syscall_enter_from_user_mode",
            "__syscall_enter_from_user",
            "enter_from_user_mode",
            "__enter_from_user_mode",
            "syscall_trace_enter",
            "syscall_exit_",
            "__syscall_exit",
            "exit_to_user_mode",
            "__exit_to_user_mode",
            "irqentry_",
            "arch_exit_to_user_mode",
            "syscall_rt_",
            "irq_enter_rcu",
            "irq_exit_rcu",
            "__irq_exit_rcu",
            "prepare_exit_to_usermode",
            "run_irq_",
            "fred_update",
            "user_exit",
            "user_enter",
            "context_tracking",
            "arch_enter_from_user_mode",
            "arch_check_user_regs",
        ],
        &[Part::Work],
    ),
    (
        &["__x64_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__do_sys_", "__se_sys_", "__do_compat_sys_"],
        &[Part::Service],
    ),
    (
        &[
            "do_user_addr_fault",
            "do_error_trap",
            "do_trap",
            "__sysvec_",
            "handle_bug",
            "handle_invalid_op",
            "do_int3",
            "apic_eoi",
            "ack_APIC_irq",
            "exc_debug_user",
            "bad_area",
        ],
        &[Part::Service],
    ),
    (
        &["handle_page_fault", "kmmio_fault", "fault_in_kernel_space", "kvm_handle_async_pf", "read_cr2"],
        &[Part::Handler, Part::Service],
    ),
    (
        &[
            "do_syscall_64",
            "do_int80_",
            "int80_emulation",
            "__do_fast_syscall_32",
            "do_fast_syscall_32",
            "do_SYSENTER_32",
            "exc_",
            "sysvec_",
            "common_interrupt",
        ],
        &[Part::Handler],
    ),
];

/// The first so many of these are thunks.
const THUNKS: usize = 3;

/// What a function is for; none where its name does not tell.
pub(crate) fn of(function: &str) -> Option<&'static [Part]> {
    let name = function.split('.').next().unwrap_or_default();
    FUNCTIONS.iter().find(|(names, _)| begins(name, names)).map(|(_, parts)| *parts)
}

/// What a thunk is for; none where it is another function.
pub(crate) fn of_thunk(name: &str) -> Option<&'static [Part]> {
    FUNCTIONS[..THUNKS].iter().find(|(names, _)| begins(name, names)).map(|(_, parts)| *parts)
}

/// Whether a name begins with one of these, or is one that ends with `$` here.
pub(crate) fn begins(name: &str, all: &[&str]) -> bool {
    let fits = |start: &str| match start.strip_suffix('$') {
        Some(whole) => name == whole,
        None => name.starts_with(start),
    };
    all.iter().any(|start| fits(start))
}

//! What the names of the lab's steps say: a step belongs to a family, which is its name up to the first colon.

/// Families of steps that do what Linux has in C.
pub const OF_C: [&str; 15] = [
    "C",                    // a function that the assembler calls, or the end of one
    "Mach",                 // calls of GNU Mach, which Linux does not have
    "a number of Linux",    // likewise
    "arguments",            // likewise
    "audit",                // syscall_enter_audit(), __audit_syscall_exit()
    "canary",               // what the compiler puts into functions
    "dispatch",             // x64_sys_call(), sys_call_table
    "filter",               // __secure_computing()
    "handle",               // exc_page_fault() and other handlers
    "is there such a call", // do_syscall_x64()
    "mask the number",      // array_index_nospec()
    "no such call",         // __x64_sys_ni_syscall()
    "stack offset",         // add_random_kstack_offset(), choose_random_kstack_offset()
    "trace",                // trace_sys_enter(), trace_sys_exit()
    "work",                 // syscall_enter_from_user_mode_work(), exit_to_user_mode_loop()
];

/// Families behind whose last step the way out begins: the service, or what handles an exception.
const SERVING: [&str; 2] = ["dispatch", "handle"];

/// The handler of a page fault in Linux's order, which is C code.
const HANDLER: &str = "C: handle";

/// The family of a step.
pub fn family(name: &str) -> &str {
    name.split_once(": ").map_or(name, |(family, _)| family)
}

/// Whether a step stands for C.
pub fn stands_for_c(name: &str) -> bool {
    OF_C.contains(&family(name))
}

/// Whether a step is the service, or handles an exception.
pub(crate) fn serves(name: &str) -> bool {
    SERVING.contains(&family(name)) || name == HANDLER
}

/// Whether a step is of error_entry, by which exceptions come.
pub(crate) fn is_of_exceptions(name: &str) -> bool {
    family(name) == "error_entry"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_a_whole_word() {
        assert!(stands_for_c("dispatch") && stands_for_c("dispatch: retpoline") && stands_for_c("C: serve"));
        assert!(!stands_for_c("dispatching") && !stands_for_c("CR3: write it again") && !stands_for_c(""));
        assert!(!stands_for_c("call what serves") && !stands_for_c("handled: dispatch"));
        assert!(serves("C: handle") && serves("handle") && !serves("C: serve"));
        assert!(is_of_exceptions("error_entry: save registers") && !is_of_exceptions("call error_entry"));
    }
}

//! The rows that most readers ask for: they are shown first, and measured first where time is short.

/// Entry and operation, in the order in which they are shown: the floor, then what a 64-bit program uses, a 32-bit one, and
/// what the kernel does unasked.
pub const COMMON: [(&str, &str); 14] = [
    ("call", "none"),
    ("syscall-x86_64", "none"),
    ("syscall-x86_64", "getppid"),
    ("syscall-x86_64", "clock_gettime-monotonic"),
    ("vdso-x86_64", "clock_gettime-monotonic"),
    ("libc", "clock_gettime-monotonic"),
    ("vdso-x86_64", "getrandom"),
    ("libc", "getrandom"),
    ("vsyscall", "gettimeofday"),
    ("int80-i386", "getppid"),
    ("sysenter-i386", "getppid"),
    ("vdso-i386", "clock_gettime-monotonic"),
    ("page-fault", "minor-fault"),
    ("ud", "signal"),
];

/// Whether a row is one of [`COMMON`].
pub fn is_common(entry: &str, operation: &str) -> bool {
    COMMON.contains(&(entry, operation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn every_common_row_is_in_the_table() {
        for (entry, operation) in COMMON {
            let known = Table::get().entry(entry).unwrap();
            assert!(known.operations.iter().any(|name| name == operation), "{entry} {operation}");
        }
    }
}

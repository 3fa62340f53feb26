//! Calls that a function of the vDSO could serve.

use observe::{Call, Way};
use table::{Abi, Operation, Table};

/// A call that was made where a function of the vDSO would have served: by which operation, and the entry of that function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Replaced<'t> {
    /// The operation.
    pub operation: &'t Operation,
    /// The entry by which the call was made.
    pub entry: &'static str,
    /// The vDSO of that bitness.
    pub vdso: &'static str,
}

/// Of a call; none of one that no vDSO serves.
pub fn replaced<'t>(table: &'t Table, call: &Call) -> Option<Replaced<'t>> {
    let (abi, entry, vdso) = match call.way {
        Way::Syscall => (Abi::X86_64, "syscall-x86_64", "vdso-x86_64"),
        Way::Gateway => (Abi::I386, "gateway-i386", "vdso-i386"),
        Way::Int80 => (Abi::I386, "int80-i386", "vdso-i386"),
        Way::X32 | Way::Int80In64 | Way::Code32 => return None,
    };
    let served = table.entry(vdso)?.operations_on(table::Kernel::Linux);
    let is_it = |operation: &&Operation| {
        operation.numbers_in(abi) == [call.number]
            && operation.clock == call.clock
            && served.contains(&operation.name)
    };
    let operation = table.operations.iter().find(is_it)?;
    let is_open = |entry: &str| {
        let known = table.entry(entry).map(|entry| entry.operations_on(table::Kernel::Linux));
        known.is_some_and(|names| names.contains(&operation.name))
    };
    is_open(entry).then_some(Replaced { operation, entry, vdso })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_the_vdso_serves_is_its() {
        let of = |way, number, first| {
            let found = replaced(Table::get(), &Call::new(way, number, first))?;
            Some((found.operation.name.as_str(), found.vdso))
        };
        assert_eq!(of(Way::Syscall, 228, 1).unwrap(), ("clock_gettime-monotonic", "vdso-x86_64"));
        assert_eq!(of(Way::Syscall, 96, 1).unwrap(), ("gettimeofday", "vdso-x86_64"));
        assert_eq!(of(Way::Syscall, 318, 1).unwrap(), ("getrandom", "vdso-x86_64"));
        assert_eq!(of(Way::Gateway, 403, 1).unwrap(), ("clock_gettime64-monotonic", "vdso-i386"));
        assert_eq!(of(Way::Syscall, 228, 11).unwrap(), ("clock_gettime-tai", "vdso-x86_64"));
        assert_eq!(of(Way::Syscall, 228, 9), None, "CLOCK_BOOTTIME_ALARM is no operation");
        assert_eq!(of(Way::Syscall, 110, 0), None, "no vDSO has getppid");
        assert_eq!(of(Way::Int80In64, 78, 0), None);
    }
}

//! Switches of the running kernel.

use std::collections::BTreeMap;

use crate::reader::Reader;

/// Name, and the reason for which it may be missing.
const NAMES: &[(&str, &str)] = &[
    ("kernel.io_uring_disabled", "before Linux 6.6"),
    ("kernel.kptr_restrict", ""),
    ("kernel.perf_event_paranoid", "on kernels without performance events"),
    ("kernel.randomize_va_space", ""),
    ("kernel.yama.ptrace_scope", "where the Yama module is not built in"),
    ("vm.memfd_noexec", "before Linux 6.3"),
];

/// Name → value: those in the list, and everything below `abi`.
pub(crate) fn capture(reader: &mut Reader) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for (name, normal) in NAMES {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        values.extend(reader.line_unless(&path, normal).map(|value| ((*name).to_owned(), value)));
    }
    for name in reader.names("/proc/sys/abi", "on kernels without 32-bit support") {
        let value = reader.line(&format!("/proc/sys/abi/{name}"));
        values.extend(value.map(|value| (format!("abi.{name}"), value)));
    }
    values
}

/// A switch that is written as 0 or 1.
pub(crate) fn switch(value: &str) -> Option<bool> {
    match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixture;

    #[test]
    fn a_recorded_machine() {
        let roots = fixture("firecracker");
        let mut reader = Reader::new(&roots);
        let values = capture(&mut reader);
        assert_eq!(values["kernel.perf_event_paranoid"], "2");
        assert_eq!(values["abi.vsyscall32"], "1");
        let unseen = reader.into_unseen();
        assert_eq!(unseen.len(), 1);
        assert_eq!(unseen[0].what, "/proc/sys/kernel/yama/ptrace_scope");
    }
}

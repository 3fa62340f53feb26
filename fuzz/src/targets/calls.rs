//! Records of perf events, and texts of `/proc` and of cgroups.

use observe::{Record, proc, records};

/// The least that a record takes: its header.
const HEADER: usize = 8;

pub fn run(bytes: &[u8]) {
    let found: Vec<Record> = records(bytes).collect();
    assert!(found.len() <= bytes.len() / HEADER);
    let text = String::from_utf8_lossy(bytes);
    if let Some(vdso) = proc::vdso_in(&text) {
        assert!(text.contains("[vdso]") && vdso.start() <= vdso.end());
    }
    assert!(proc::stat(&text).is_none() || text.contains(')'));
    assert!(proc::system_stat(&text).is_none() || text.contains("cpu "));
    assert!(proc::cpu_stat(&text).is_none() || text.contains("usage_usec"));
    let limits = environment::Restrictions::of_status(&text);
    assert!(limits.seccomp_filters.is_none() || text.contains("Seccomp_filters"));
}

//! What the kernel executes at each system call for somebody who watches: BPF programs that are linked to its tracepoints, and events that
//! tracefs has switched on.

mod bpf;

use crate::apart;
use crate::proc::{Proc, name};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// Something that runs at each entry into the kernel or return from it, of this process as of all others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelProgram {
    /// Its tracepoint: `sys_enter`, `sys_exit`, or `sys_enter_openat` of one call.
    pub tracepoint: String,
    /// The BPF program's name; `an event of tracefs` where it is none. Null where it has no name.
    pub name: Option<String>,
    /// The BPF program's number, as `bpftool prog` lists it.
    pub id: Option<u32>,
}

impl KernelProgram {
    /// Whether every call pays for it, whichever it is.
    pub fn is_for_every_call(&self) -> bool {
        ["sys_enter", "sys_exit"].contains(&self.tracepoint.as_str())
    }
}

/// Where tracefs may be mounted. It is read where it is, and never mounted.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// All that can be seen; none where nothing can be.
pub(super) fn seen(proc: &mut Proc) -> Option<Vec<KernelProgram>> {
    let linked = linked().inspect_err(|why| proc.miss_expected("BPF programs on system calls", why.clone()));
    let events = TRACEFS.iter().find_map(|root| events(Path::new(root)));
    if events.is_none() {
        let why = "tracefs is not mounted, or is not this user's to read";
        proc.miss_expected("events of tracefs on system calls", why);
    }
    match (linked, events) {
        (Err(_), None) => None,
        (linked, events) => Some([linked.unwrap_or_default(), events.unwrap_or_default()].concat()),
    }
}

/// BPF programs by their links.
fn linked() -> Result<Vec<KernelProgram>, String> {
    let answer = apart::ask(Duration::from_millis(150), bpf::list)?;
    bpf::heard(&answer)
}

/// Events of system calls that tracefs has on; none where it does not tell.
fn events(root: &Path) -> Option<Vec<KernelProgram>> {
    let tracefs = Proc::at(root);
    let state = |path: &str| tracefs.read(path).ok().map(|state| state.trim().to_owned());
    let each =
        ["sys_enter", "sys_exit"].map(|event| (event, state(&format!("events/raw_syscalls/{event}/enable"))));
    if each.iter().all(|(_, state)| state.is_none()) {
        return None;
    }
    let single = state("events/syscalls/enable").filter(|state| ["1", "X"].contains(&state.as_str()));
    let on = each.into_iter().filter(|(_, state)| state.as_deref() == Some("1")).map(|(event, _)| event);
    let event = |tracepoint: &str| KernelProgram {
        tracepoint: name(tracepoint),
        name: Some("an event of tracefs".into()),
        id: None,
    };
    Some(on.chain(single.map(|_| "syscalls")).map(event).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn events_that_are_on_are_found_and_texts_that_no_kernel_writes_are_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(events(folder.path()), None);
        let write = |path: &str, text: &[u8]| {
            let path = folder.path().join("events").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let found =
            || events(folder.path()).unwrap().into_iter().map(|event| event.tracepoint).collect::<Vec<_>>();
        write("raw_syscalls/sys_enter/enable", b"0\n");
        assert_eq!(found(), Vec::<String>::new());
        write("raw_syscalls/sys_exit/enable", b"\xff\x001\n");
        write("syscalls/enable", b"0\n");
        assert_eq!(found(), Vec::<String>::new());
        write("raw_syscalls/sys_enter/enable", b"1\n");
        write("syscalls/enable", b"X\n");
        assert_eq!(found(), ["sys_enter", "syscalls"]);
    }
}

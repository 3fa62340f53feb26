//! Events that the kernel writes for each system call, as for a tracer. Nobody reads them; their cost is all that is wanted.

use nix::mount::{MsFlags, mount};
use std::io;
use std::path::{Path, PathBuf};

/// Where they are switched. Every kernel that has events makes this folder.
const TRACEFS: &str = "/sys/kernel/tracing";

/// The two of every call.
const EVENTS: [&str; 2] = ["sys_enter", "sys_exit"];

/// Switches them on, for this process and all that it becomes: a word of the command line does so too early for Linux 5.10, whose first
/// process does not have the flag then.
///
/// # Errors
/// In words, when this kernel has none.
pub fn switch_on() -> Result<(), String> {
    let switch_on =
        || -> io::Result<()> { switches()?.iter().try_for_each(|switch| std::fs::write(switch, "1")) };
    switch_on().map_err(|error| {
        format!("this kernel has no events of system calls (CONFIG_FTRACE_SYSCALLS): {error}")
    })
}

/// Whether they are on. Only asked when all is counted: the file system is mounted for it.
///
/// # Errors
/// When this kernel has none.
pub fn are_on() -> io::Result<bool> {
    let is_on = |switch: &PathBuf| std::fs::read(switch).map(|text| text.starts_with(b"1"));
    let all = switches()?.iter().map(is_on).collect::<io::Result<Vec<_>>>()?;
    Ok(all.into_iter().all(|is_on| is_on))
}

fn switches() -> io::Result<[PathBuf; 2]> {
    let events = Path::new(TRACEFS).join("events");
    if !events.exists() {
        mount(Some("tracefs"), TRACEFS, Some("tracefs"), MsFlags::empty(), None::<&str>)?;
    }
    Ok(EVENTS.map(|event| events.join("raw_syscalls").join(event).join("enable")))
}

//! The emulator that the lab and guests need.

use crate::skipped::skipped;
use std::process::Command;

/// Whether it is here; says so of a test where it is not.
pub fn is_here() -> bool {
    let version = Command::new("qemu-system-x86_64").arg("--version").output();
    let is_here = version.is_ok_and(|output| output.status.success());
    if !is_here {
        skipped("there is no qemu-system-x86_64");
    }
    is_here
}

//! Files that tests write and then execute.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a file that can be executed at once. A process of its own writes it: a file that this one has open for writing is, for
/// a moment, also open in the children of other threads, and the kernel executes no file that is open for writing (ETXTBSY).
pub fn write(path: &Path, bytes: &[u8]) {
    let mut writer = Command::new("/bin/sh")
        .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(bytes).unwrap();
    assert!(writer.wait().unwrap().success(), "{}", path.display());
}

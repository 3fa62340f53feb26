//! Paths through kernels of Debian that `scripts/kernel-symbols.sh` has fetched, each instruction held against what the kernel's debug
//! information, its sources and its tables say of it; of a kernel without debug information, against its tables alone.

use crate::qemu;
use crate::skipped::skipped;
use attribution::anatomy::{Document, load};
use linux::Kernel;
use oracle::Word;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// Paths by their names, and what is asked for.
type Paths = &'static [(&'static str, &'static [&'static str])];

/// Those that are followed always.
const PATHS: Paths = &[
    ("syscall", &["syscall"]),
    ("no such call", &["syscall", "--operation", "none"]),
    ("int80, 64-bit", &["int80-x86_64"]),
    ("int80, 32-bit", &["int80-i386"]),
    ("sysenter", &["sysenter-i386"]),
    ("page fault", &["page-fault"]),
    ("signal", &["ud", "--operation", "signal"]),
    ("timer interrupt", &["timer-interrupt"]),
    ("seccomp", &["syscall", "--set", "seccomp=arguments"]),
    ("audit", &["syscall", "--set", "audit=on"]),
];

/// A path of two hundred thousand instructions.
const EXECVE: Paths = &[("execve", &["execve"])];

#[test]
fn every_instruction_belongs_to_what_the_kernels_debug_information_says() {
    hold_all(PATHS);
}

#[test]
#[ignore = "follows two hundred thousand instructions"]
fn every_instruction_of_an_execve_does() {
    hold_all(EXECVE);
}

/// Of all kernels in `target/symbols`, or in another folder (`oracle::kernels`).
fn hold_all(paths: Paths) {
    let kernels = oracle::kernels(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/symbols"));
    if kernels.is_empty() {
        skipped("no kernel with symbols here (scripts/kernel-symbols.sh stable fetches one)");
        return;
    }
    if !qemu::is_here() {
        return;
    }
    let wrong: Vec<String> = kernels.iter().flat_map(|kernel| of_kernel(kernel, paths)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Follows the paths of a kernel, two at a time, prints a row of each, and says which have too many wrong parts.
fn of_kernel(folder: &Path, paths: Paths) -> Vec<String> {
    let (todo, done) = (Mutex::new(paths.iter()), Mutex::new(Vec::new()));
    let follow = || {
        loop {
            let Some((name, arguments)) = todo.lock().unwrap().next() else { break };
            let document = followed(folder, name, arguments);
            done.lock().unwrap().push((*name, document));
        }
    };
    std::thread::scope(|scope| [scope.spawn(follow), scope.spawn(follow)].map(|one| one.join().unwrap()));
    let done = done.into_inner().unwrap();
    let file = || Kernel::read(&folder.join("kernel.deb"), &AtomicBool::default()).unwrap().bytes;
    let word = Word::read(folder, file);
    let fault = |(name, document): &(&str, Document)| {
        let path = &document.paths[0];
        word.judge(&path.configuration.release, name, &path.anatomy, false)
    };
    done.iter().filter_map(fault).collect()
}

/// Follows a path. In a folder that is not the usual one it stays beside its kernel, so that it can be told apart anew (`replay` of the oracle).
fn followed(kernel: &Path, name: &str, arguments: &[&str]) -> Document {
    let own = tempfile::tempdir().unwrap();
    let kept = std::env::var_os(oracle::FOLDER).map(|_| kernel.join(format!("{name}.json")));
    let file = kept.unwrap_or_else(|| own.path().join("anatomy.json"));
    let kernel = kernel.join("kernel.deb");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.arg("anatomy").args(arguments).arg("--kernel").arg(kernel).arg("--output").arg(&file);
    let done = command.args(["--beside", "none", "--timeout", "500"]).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    load(&std::fs::read_to_string(&file).unwrap()).unwrap()
}

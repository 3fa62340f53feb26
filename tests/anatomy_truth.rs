//! Paths through kernels of Debian that `scripts/kernel-symbols.sh` has fetched, each instruction held against what the kernel's debug
//! information, its sources and its tables say of it; of a kernel without debug information, against its tables alone.

use crate::qemu;
use crate::skipped::skipped;
use attribution::anatomy::{Document, load};
use linux::Kernel;
use oracle::{Debug, Held, Tables, hold};
use std::path::{Path, PathBuf};
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

/// Of a hundred instructions, so many may be in a wrong part.
const MOST_WRONG: f64 = 0.5;

/// Of a path, so large a share must be known at least: by tables alone, by the debug information of C code, and with the assembler's sources.
const OF_TABLES: f64 = 0.03;
const OF_C: f64 = 0.5;
const OF_ALL: f64 = 0.9;

#[test]
fn every_instruction_belongs_to_what_the_kernels_debug_information_says() {
    hold_all(PATHS);
}

#[test]
#[ignore = "follows two hundred thousand instructions"]
fn every_instruction_of_an_execve_does() {
    hold_all(EXECVE);
}

fn hold_all(paths: Paths) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/symbols");
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten().map(|file| file.path());
    let mut kernels: Vec<PathBuf> = folders.filter(|folder| folder.join("kernel.deb").exists()).collect();
    kernels.sort();
    if kernels.is_empty() {
        skipped("no kernel with symbols here (scripts/kernel-symbols.sh stable fetches one)");
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
            let document = followed(&folder.join("kernel.deb"), arguments);
            done.lock().unwrap().push((*name, document));
        }
    };
    std::thread::scope(|scope| [scope.spawn(follow), scope.spawn(follow)].map(|one| one.join().unwrap()));
    let done = done.into_inner().unwrap();
    let vmlinux = folder.join("vmlinux");
    if !vmlinux.exists() {
        let kernel = Kernel::read(&folder.join("kernel.deb"), &AtomicBool::default()).unwrap();
        let tables = Tables::read(kernel.bytes.leak());
        let held = |document: &Document| tables.hold(&document.paths[0].anatomy);
        return done
            .iter()
            .filter_map(|(name, document)| judged(document, name, &held(document), OF_TABLES))
            .collect();
    }
    let debug = Debug::read(&vmlinux);
    let share = if debug.sources.are_here() { OF_ALL } else { OF_C };
    let held = |document: &Document| hold(&document.paths[0].anatomy, &debug);
    done.iter().filter_map(|(name, document)| judged(document, name, &held(document), share)).collect()
}

fn followed(kernel: &Path, arguments: &[&str]) -> Document {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("anatomy.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.arg("anatomy").args(arguments).arg("--kernel").arg(kernel).arg("--output").arg(&file);
    let done = command.args(["--beside", "none", "--timeout", "500"]).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    load(&std::fs::read_to_string(&file).unwrap()).unwrap()
}

/// Prints a row of a path, and says why it has too many wrong parts, if it does. Of at least such a share of it something must be known.
fn judged(document: &Document, name: &str, held: &Held, share: f64) -> Option<String> {
    let path = &document.paths[0];
    let (release, rate) = (&path.configuration.release, 100.0 * held.rate());
    println!(
        "| {release} | {name} | {} | {} | {} | {} | {rate:.2} % |",
        held.all,
        held.known(),
        held.alone,
        held.wrong.len()
    );
    assert!(
        held.known() as f64 > share * held.all as f64,
        "{release} {name}: of most instructions nothing is known"
    );
    let each = held.wrong.iter().map(|wrong| format!("  {}", wrong.in_words(&path.anatomy)));
    let text = || format!("{release} {name}: {rate:.2} %\n{}", each.collect::<Vec<_>>().join("\n"));
    (rate > MOST_WRONG).then(text)
}

//! Paths through kernels of Debian that `scripts/kernel-symbols.sh` has fetched, each instruction held against what the kernel's debug
//! information says of it.

use crate::qemu;
use crate::skipped::skipped;
use attribution::anatomy::{Anatomy, Document, load};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

#[path = "../crates/attribution/tests/oracle/debug.rs"]
mod debug;
#[path = "../crates/attribution/tests/oracle/truth.rs"]
mod truth;

use debug::Debug;
use truth::{Wrong, hold};

/// The paths, by what is asked for. An execve is part of none: with the fork before it and the wait behind, it has some 400,000 instructions,
/// and at most 20,000 are followed.
const PATHS: &[(&str, &[&str])] = &[
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

/// Of a hundred instructions, so many may be in a wrong part.
const MOST_WRONG: f64 = 0.5;

#[test]
fn every_instruction_belongs_to_what_the_kernels_debug_information_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/symbols");
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten().map(|file| file.path());
    let mut kernels: Vec<PathBuf> = folders.filter(|folder| folder.join("vmlinux").exists()).collect();
    kernels.sort();
    if kernels.is_empty() {
        skipped("no kernel with symbols here (scripts/kernel-symbols.sh stable fetches one)");
    }
    if !qemu::is_here() {
        return;
    }
    let wrong: Vec<String> = kernels.iter().flat_map(|kernel| of_kernel(kernel)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Follows the paths of a kernel, two at a time, prints a row of each, and says which have too many wrong parts.
fn of_kernel(folder: &Path) -> Vec<String> {
    let (todo, done) = (Mutex::new(PATHS.iter()), Mutex::new(Vec::new()));
    let follow = || {
        loop {
            let Some((name, arguments)) = todo.lock().unwrap().next() else { break };
            let document = followed(&folder.join("kernel.deb"), arguments);
            done.lock().unwrap().push((*name, document));
        }
    };
    std::thread::scope(|scope| [scope.spawn(follow), scope.spawn(follow)].map(|one| one.join().unwrap()));
    let debug = Debug::read(&folder.join("vmlinux"));
    let done = done.into_inner().unwrap();
    done.iter().filter_map(|(name, document)| of_path(document, name, &debug)).collect()
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

/// Why a path has too many wrong parts.
fn of_path(document: &Document, name: &str, debug: &Debug) -> Option<String> {
    let path = &document.paths[0];
    let held = hold(&path.anatomy, debug);
    let other = path.anatomy.instructions.iter().filter(|one| one.part.name() == "other").count();
    let (known, rate) = (held.all - held.unknown, 100.0 * held.rate());
    println!(
        "| {} | {name} | {} | {known} | {} | {rate:.2} % | {other} |",
        path.configuration.release,
        held.all,
        held.wrong.len()
    );
    assert!(2 * known > held.all, "{name}: of most instructions the debug information says something");
    let each = held.wrong.iter().map(|wrong| in_words(wrong, &path.anatomy));
    let text = || {
        format!("{} {name}: {rate:.2} %\n{}", path.configuration.release, each.collect::<Vec<_>>().join("\n"))
    };
    (rate > MOST_WRONG).then(text)
}

fn in_words(wrong: &Wrong, anatomy: &Anatomy) -> String {
    let one = &anatomy.instructions[wrong.place];
    let offset = one.function.as_ref().map_or(0, |place| place.offset);
    let frames: Vec<String> =
        wrong.frames.iter().take(5).map(|frame| format!("{}:{}", frame.function, frame.line)).collect();
    let expected: Vec<&str> = wrong.expected.iter().map(|part| part.name()).collect();
    format!(
        "  {}+{offset:#x} {}: {}, not {}; {}",
        one.function_name(),
        one.text,
        one.part.name(),
        expected.join(" or "),
        frames.join(" < ")
    )
}

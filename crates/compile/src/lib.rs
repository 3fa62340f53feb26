//! What the build scripts of probes and lab have in common: freestanding programs of C and assembly, made with the C
//! compiler that `CC` names, or the system's.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Nothing that the compiler adds by itself: no stack protector (it needs a C library's thread block), no vector
/// registers, no calls to memset, no tables for unwinding.
pub const FREESTANDING: &[&str] = &[
    "-std=c11",
    "-O2",
    "-ffreestanding",
    "-nostdlib",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fcf-protection=none",
    "-mgeneral-regs-only",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-command-line-argument",
    "-Wl,--build-id=none",
    "-Wl,-z,noexecstack",
];

/// Debian keeps the kernel's asm/ headers, which serve both bitnesses, in the 64-bit compiler's own folder.
pub const KERNEL_HEADERS: [&str; 2] = ["-idirafter", "/usr/include/x86_64-linux-gnu"];

/// The compiler, to be given its arguments.
///
/// # Panics
/// When there is none, saying what to do: the build cannot go on.
pub fn compiler() -> Command {
    Command::new(tool().path())
}

/// Whether it is clang, whose own assembler sees nothing of what the compiler makes.
///
/// # Panics
/// As [`compiler`].
pub fn is_clang() -> bool {
    tool().is_like_clang()
}

fn tool() -> cc::Tool {
    // cc knows CC, CFLAGS-free defaults and wrappers; linking a whole program is not its subject.
    match cc::Build::new().no_default_flags(true).try_get_compiler() {
        Ok(tool) => tool,
        Err(error) => panic!("probes and lab are C and assembly: install gcc or clang, or set CC ({error})"),
    }
}

/// The C and assembler files of a folder, in a fixed order.
///
/// # Panics
/// When there is no such folder.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let is_source = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "c" || kind == "S");
    let mut files: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).filter(is_source).collect();
    files.sort();
    files
}

/// Runs the compiler.
///
/// # Panics
/// When it fails; it has said why itself.
pub fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(status.success(), "{command:?}: {status}");
}

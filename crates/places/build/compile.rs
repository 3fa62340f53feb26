//! The C compiler that `CC` names, or the system's; and how what it made is packed.

use crate::variable;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler, to be given its arguments. What it makes is the same wherever sources and build lie.
///
/// # Panics
/// When there is none, saying what to do: the build cannot go on.
pub fn compiler() -> Command {
    let mut command = Command::new(tool().path());
    let package = variable("CARGO_MANIFEST_DIR");
    for (path, name) in [(format!("{package}/../.."), "kentry"), (variable("OUT_DIR"), "build")] {
        command.arg(format!("-ffile-prefix-map={path}={name}"));
    }
    command.arg("-include").arg(format!("{package}/build/file.h"));
    command
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

/// Writes `FILE.z`, the file in zlib's format, beside it: that is what the command carries (`src/packed.rs`).
///
/// # Panics
/// When the file cannot be read, or the other not be written.
pub fn pack(file: &Path) {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
    let target = file.with_extension("z");
    let written = packed.and_then(|packed| std::fs::write(&target, packed));
    written.unwrap_or_else(|error| panic!("{}: {error}", target.display()));
}

//! The programs of this folder, compiled when a test asks for them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file for the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    pub bytes: Vec<u8>,
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles sources of this folder to a freestanding program of 32 or 64 bits.
pub fn freestanding(bits: u8, sources: &[&str]) -> Program {
    freestanding_with(bits, sources, &[])
}

/// With flags of its own.
pub fn freestanding_with(bits: u8, sources: &[&str], own: &[&str]) -> Program {
    let folder = root().join("tests/lab");
    let files: Vec<PathBuf> = sources.iter().map(|source| folder.join(source)).collect();
    let mut flags = compile::FREESTANDING.to_vec();
    flags.extend([if bits == 32 { "-m32" } else { "-m64" }, "-O1", "-static", "-no-pie", "-fno-pic"]);
    flags.extend(own);
    let stem = sources.first().and_then(|name| name.split('.').next()).unwrap();
    let name = format!("{}-{bits}", stem.trim_end_matches(char::is_numeric));
    let program = compile(&name, &flags, &files);
    program.unwrap_or_else(|complaint| panic!("{sources:?}: {complaint}"))
}

/// Compiles files to a program; the compiler's complaints when that fails.
pub fn compile<S: AsRef<OsStr>>(name: &str, flags: &[S], files: &[PathBuf]) -> Result<Program, String> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("program");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let output = Command::new(compiler)
        .args(flags)
        .arg("-I")
        .arg(root().join("abi"))
        .args(files)
        .arg("-o")
        .arg(&out)
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(Program { name: name.into(), bytes: std::fs::read(out).unwrap() })
}

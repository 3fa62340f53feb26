//! The programs of this folder, compiled when a test asks for them.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use table::{Table, header};

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
    let mut flags = table::freestanding::FREESTANDING.to_vec();
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
    compile_to(&out, flags, files)?;
    Ok(Program { name: name.into(), bytes: std::fs::read(out).unwrap() })
}

fn compile_to<S: AsRef<OsStr>>(out: &Path, flags: &[S], files: &[PathBuf]) -> Result<(), String> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let output = Command::new(compiler)
        .args(flags)
        .arg("-I")
        .arg(root().join("abi"))
        .args(files)
        .arg("-o")
        .arg(out)
        .output()
        .unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// A program of this folder with sources of the kernel, made for the host.
pub struct OnHost {
    folder: tempfile::TempDir,
}

impl OnHost {
    pub fn new(driver: &str, of_kernel: &[&str]) -> OnHost {
        let (lab, folder) = (root().join("lab"), tempfile::tempdir().unwrap());
        let sources = of_kernel.iter().map(|name| lab.join(name));
        let sources: Vec<_> = sources.chain([root().join("tests/lab").join(driver)]).collect();
        std::fs::write(folder.path().join("switches.h"), header::render_switches(Table::get())).unwrap();
        std::fs::write(folder.path().join("names.h"), header::render_names(Table::get())).unwrap();
        let include = [format!("-I{}", lab.display()), format!("-I{}", folder.path().display())];
        let mut flags = vec!["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined"];
        flags.extend(["-fsanitize-undefined-trap-on-error", &include[0], &include[1]]);
        let made = OnHost { folder };
        // The compiler writes the file: what this process has open for writing, children of other threads have, too, and then it
        // cannot be executed.
        let compiled = compile_to(&made.program(), &flags, &sources);
        compiled.unwrap_or_else(|complaint| panic!("{driver}: {complaint}"));
        made
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    pub fn run(&self, words: &str, input: &[u8]) -> String {
        fed(Command::new(self.program()).args(words.split_whitespace()), input)
    }
}

/// What a program writes that reads this input, and ends well. It is read while the input is written: a program that nobody reads stops
/// when a pipe is full, at 64 KiB, and reads no further.
pub fn fed(command: &mut Command, input: &[u8]) -> String {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A program need not read all; then this writer's pipe breaks.
        scope.spawn(move || _ = stdin.write_all(input));
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{:?}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_program_that_reads_and_writes_more_than_a_pipe_holds_hung() {
    let input = "0123456789abcde\n".repeat(1 << 16);
    assert_eq!(fed(&mut Command::new("cat"), input.as_bytes()), input);
    assert_eq!(fed(Command::new("head").args(["-c", "4"]), input.as_bytes()), "0123");
}

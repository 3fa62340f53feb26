//! The programs of this folder, compiled when a test asks for them.

use crate::executable;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use table::{Table, header};

/// A file for the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// What was made in this run of the tests, by what it was made of. Who asks for it again gets the same, or waits until it is made.
pub struct Made<K, V>(Mutex<BTreeMap<K, Arc<OnceLock<V>>>>);

impl<K: Ord, V: Clone> Made<K, V> {
    pub const fn new() -> Made<K, V> {
        Made(Mutex::new(BTreeMap::new()))
    }

    pub fn get(&self, of: K, make: impl FnOnce() -> V) -> V {
        let place = Arc::clone(self.0.lock().unwrap().entry(of).or_default());
        place.get_or_init(make).clone()
    }
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
    compile_once(&name, &flags, &files)
}

/// Compiles files of the project, once in a run: many tests run the same program.
///
/// # Panics
/// With the compiler's complaints.
pub fn compile_once<S: AsRef<OsStr>>(name: &str, flags: &[S], files: &[PathBuf]) -> Program {
    static PROGRAMS: Made<(Vec<OsString>, Vec<PathBuf>), Vec<u8>> = Made::new();
    let of = (flags.iter().map(OsString::from).collect(), files.to_vec());
    let bytes = PROGRAMS.get(of, || {
        let program = compile(name, flags, files);
        program.unwrap_or_else(|complaint| panic!("{files:?}: {complaint}")).bytes
    });
    Program { name: name.into(), bytes }
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

/// A program of this folder with sources of the kernel, made for the host, once in a run.
pub struct OnHost {
    folder: tempfile::TempDir,
}

impl OnHost {
    pub fn new(driver: &str, of_kernel: &[&str]) -> OnHost {
        static PROGRAMS: Made<(String, Vec<String>), Vec<u8>> = Made::new();
        let of = (driver.to_string(), of_kernel.iter().map(ToString::to_string).collect());
        let bytes = PROGRAMS.get(of, || OnHost::compiled(driver, of_kernel));
        OnHost::of(&bytes)
    }

    /// A program that has been compiled.
    pub fn of(bytes: &[u8]) -> OnHost {
        let made = OnHost { folder: tempfile::tempdir().unwrap() };
        executable::write(&made.program(), bytes);
        made
    }

    fn compiled(driver: &str, of_kernel: &[&str]) -> Vec<u8> {
        let (lab, folder) = (root().join("lab"), tempfile::tempdir().unwrap());
        let sources = of_kernel.iter().map(|name| lab.join(name));
        let sources: Vec<_> = sources.chain([root().join("tests/lab").join(driver)]).collect();
        std::fs::write(folder.path().join("switches.h"), header::render_switches(Table::get())).unwrap();
        std::fs::write(folder.path().join("names.h"), header::render_names(Table::get())).unwrap();
        let include = [format!("-I{}", lab.display()), format!("-I{}", folder.path().display())];
        let mut flags = vec!["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined"];
        flags.extend(["-fsanitize-undefined-trap-on-error", &include[0], &include[1]]);
        let program = compile(driver, &flags, &sources);
        program.unwrap_or_else(|complaint| panic!("{driver}: {complaint}")).bytes
    }

    pub fn program(&self) -> PathBuf {
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

//! Compiles the probes with the C compiler that `CC` names, or the system's.

use std::path::{Path, PathBuf};
use std::process::Command;
use table::{Probe, Table, header};

/// Freestanding, and nothing that the compiler adds by itself: no stack protector (it needs a C library's thread
/// block), no vector registers, no calls to memset, addresses below 2 GiB (`probe/timed.inc`).
const FLAGS: &[&str] = &[
    "-std=c11",
    "-O2",
    "-ffreestanding",
    "-nostdlib",
    "-fno-stack-protector",
    "-fno-pic",
    "-fno-builtin",
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

fn main() {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../..");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("set by cargo"));
    for watched in ["probe", "abi", "entries.toml"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    println!("cargo::rerun-if-env-changed=CC");
    for probe in Probe::ALL {
        build(probe, &root, &out);
    }
}

fn build(probe: Probe, root: &Path, out: &Path) {
    let generated = out.join(format!("{}.include", probe.name()));
    std::fs::create_dir_all(&generated).expect("OUT_DIR is writable");
    std::fs::write(generated.join("entries.h"), header::render(Table::get(), probe))
        .expect("OUT_DIR is writable");

    let source = root.join("probe");
    let machine = source.join(probe.folder());
    let mut command = compiler();
    command.args(FLAGS).arg(if probe.bits() == 32 { "-m32" } else { "-m64" });
    for include in [&root.join("abi"), &source, &machine, &generated] {
        command.arg("-I").arg(include);
    }
    // Debian keeps the kernel's asm/ headers, which serve both bitnesses, in the 64-bit compiler's own folder.
    command.arg("-idirafter").arg("/usr/include/x86_64-linux-gnu");
    command.args(sources(&source)).args(sources(&machine)).arg("-no-pie");
    if probe == Probe::Libc {
        // Linked against a stand-in, so that it needs no version of the real one. All its references are weak,
        // and would not by themselves make the linker name the library.
        let stub = out.join("libc.so.6");
        build_stub(&source.join("libc/stub.c"), &stub);
        command.arg(source.join("libc/functions.c")).arg("-Wl,--no-as-needed").arg(stub);
        command.arg("-Wl,--dynamic-linker=/lib64/ld-linux-x86-64.so.2");
    } else {
        command.arg("-static");
    }
    run(command.arg("-o").arg(out.join(probe.name())));
}

fn build_stub(source: &Path, target: &Path) {
    let mut command = compiler();
    command.args(["-shared", "-fPIC", "-nostdlib", "-fno-builtin", "-Wl,-soname,libc.so.6"]);
    run(command.arg(source).arg("-o").arg(target));
}

/// The C and assembler files of a folder, in a fixed order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let is_source = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "c" || kind == "S");
    let mut files: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).filter(is_source).collect();
    files.sort();
    files
}

fn compiler() -> Command {
    // cc knows CC, CFLAGS-free defaults and wrappers; linking a whole program is not its subject.
    let tool = cc::Build::new().no_default_flags(true).try_get_compiler();
    match tool {
        Ok(tool) => Command::new(tool.path()),
        Err(error) => panic!("the probes are C and assembly: install gcc or clang, or set CC ({error})"),
    }
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(status.success(), "{command:?}: {status}");
}

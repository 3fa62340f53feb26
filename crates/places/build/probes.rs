//! The probes.

use crate::compile::{compiler, pack, run, sources};
use std::path::{Path, PathBuf};
use table::freestanding::{FREESTANDING, KERNEL_HEADERS};
use table::{Probe, Table, header, source};

pub fn build(root: &Path, out: &Path) {
    for probe in Probe::ALL {
        build_one(probe, root, out);
    }
    let version = compiler().arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version).lines().next().unwrap_or("unknown").to_string();
    println!("cargo::rustc-env=KENTRY_PROBES_COMPILER={version}");
}

fn build_one(probe: Probe, root: &Path, out: &Path) {
    let generated = out.join(format!("{}.include", probe.name()));
    std::fs::create_dir_all(&generated).expect("OUT_DIR is writable");
    std::fs::write(generated.join("entries.h"), header::render(Table::get(), probe))
        .expect("OUT_DIR is writable");
    let entries = write_entries(probe, &generated);

    let folder = root.join("probe");
    let machine = folder.join(probe.folder());
    let mut command = compiler();
    // Addresses below 2 GiB (`probe/timed.inc`).
    command.args(FREESTANDING).arg("-fno-pic").arg(if probe.bits() == 32 { "-m32" } else { "-m64" });
    for include in [&root.join("abi"), &folder, &machine, &generated] {
        command.arg("-I").arg(include);
    }
    command.args(KERNEL_HEADERS).args(sources(&folder)).args(sources(&machine)).args(entries).arg("-no-pie");
    if probe == Probe::Libc {
        // Linked against a stand-in, so that it needs no version of the real one. All its references are weak,
        // and would not by themselves make the linker name the library.
        let stub = out.join("libc.so.6");
        build_stub(&folder.join("libc/stub.c"), &generated, &stub);
        command.arg(folder.join("libc/functions.c")).arg("-Wl,--no-as-needed").arg(stub);
        command.arg("-Wl,--dynamic-linker=/lib64/ld-linux-x86-64.so.2");
    } else {
        command.arg("-static");
    }
    let file = out.join(probe.name());
    run(command.arg("-o").arg(&file));
    pack(&file);
}

/// Writes the assembler files of the rows that say all of one; their paths.
fn write_entries(probe: Probe, folder: &Path) -> Vec<PathBuf> {
    let own = Table::get().entries.iter().filter(|entry| entry.probe == probe);
    let files = own.filter_map(|entry| {
        Some((folder.join(format!("{}.S", entry.name)), source::render(Table::get(), entry)?))
    });
    files
        .map(|(path, text)| {
            std::fs::write(&path, text).expect("OUT_DIR is writable");
            path
        })
        .collect()
}

fn build_stub(source: &Path, generated: &Path, target: &Path) {
    let mut command = compiler();
    command.arg("-I").arg(generated);
    command.args(["-shared", "-fPIC", "-nostdlib", "-fno-builtin", "-Wl,-soname,libc.so.6"]);
    run(command.arg(source).arg("-o").arg(target));
}

//! Paths that were followed before, told apart anew and held against the truth.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use attribution::anatomy::{Anatomy, Document, Instruction};
use linux::Kernel;
use oracle::{Debug, Word, kernels};
use record::trace::{Executed, Symbol, Trace};
use std::path::{Path, PathBuf};
use table::Table;

fn bytes(hexadecimal: &str) -> Vec<u8> {
    (0..hexadecimal.len() / 2)
        .map(|at| u8::from_str_radix(&hexadecimal[2 * at..2 * at + 2], 16).unwrap())
        .collect()
}

/// Of each kernel in `KENTRY_ORACLE`: `kernel.deb`, the paths that were followed (`NAME.json`, as `kentry anatomy` writes them), and `vmlinux`
/// with symbols, besides `entry_64.S` and `entry_64_compat.S`; without that, only the tables of the kernel's file are there to hold paths
/// against. `scripts/oracle.sh` leaves them there.
#[test]
#[ignore = "needs paths that were followed"]
fn replay() {
    let kernels = kernels(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/oracle"));
    assert!(!kernels.is_empty(), "no kernel with paths here (scripts/oracle.sh follows them)");
    let wrong: Vec<String> = kernels.iter().flat_map(|folder| of_kernel(folder)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Prints a row of each path of a kernel, with `KENTRY_ORACLE_SHOW` each wrong instruction too, and says which have too many wrong parts.
fn of_kernel(folder: &Path) -> Vec<String> {
    let kernel = Kernel::read(&folder.join("kernel.deb"), &Default::default()).unwrap();
    let word = Word::read(folder, || kernel.bytes.clone());
    let is_path = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    let files = folder.read_dir().unwrap().map(|file| file.unwrap().path()).filter(is_path);
    let mut paths: Vec<PathBuf> = files.collect();
    paths.sort();
    let fault = |path: &PathBuf| {
        let mut document = attribution::anatomy::load(&std::fs::read_to_string(path).unwrap()).unwrap();
        // Without symbols a path stays as it was told.
        let anatomy = match word.debug() {
            Some(debug) => anew(&document, &kernel, debug),
            None => document.paths.remove(0).anatomy,
        };
        let name = path.file_stem().unwrap().to_string_lossy();
        word.judge(&kernel.release, &name, &anatomy, std::env::var_os("KENTRY_ORACLE_SHOW").is_some())
    };
    paths.iter().filter_map(fault).collect()
}

/// Told apart by what kentry is now.
fn anew(document: &Document, kernel: &Kernel, debug: &Debug) -> Anatomy {
    let saved = &document.paths[0].anatomy;
    let symbols: Vec<Symbol> = debug
        .symbols
        .iter()
        .map(|(address, name)| Symbol { address: *address, name: name.clone() })
        .collect();
    let step = |one: &Instruction| Executed {
        address: one.address,
        ring: one.ring,
        long: one.ring == 0 || !saved.entry.ends_with("i386"),
        bytes: bytes(&one.bytes),
    };
    let table = Table::get();
    let id = |name: &str| table.entry(name).map_or(0, |entry| entry.id);
    let trace = Trace {
        entry: id(&saved.entry),
        operation: table.operation(&saved.operation).map_or(0, |operation| operation.id),
        steps: saved.instructions.iter().map(step).collect(),
        control: 0,
    };
    Anatomy::of(&trace, &symbols, kernel)
}

//! Paths that were followed before, told apart anew and held against the truth.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use attribution::anatomy::{Anatomy, Document, Instruction};
use linux::Kernel;
use oracle::{Debug, Held, Tables, hold};
use record::trace::{Executed, Symbol, Trace};
use std::path::{Path, PathBuf};
use table::Table;

fn bytes(hexadecimal: &str) -> Vec<u8> {
    (0..hexadecimal.len() / 2)
        .map(|at| u8::from_str_radix(&hexadecimal[2 * at..2 * at + 2], 16).unwrap())
        .collect()
}

/// `KENTRY_ORACLE=FOLDER`: RELEASE/kernel, RELEASE/*.json as `kentry anatomy` writes them, and RELEASE/vmlinux with symbols, besides
/// RELEASE/entry_64.S and entry_64_compat.S; without that, only the tables of the kernel's file are there to hold paths against.
#[test]
#[ignore = "needs paths that were followed"]
fn replay() {
    let folder = PathBuf::from(std::env::var_os("KENTRY_ORACLE").unwrap());
    let wanted = std::env::var("KENTRY_ORACLE_ONLY").unwrap_or_default();
    let is_wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        wanted.is_empty() || wanted.split(',').any(|one| one == name)
    };
    for release in sorted(&folder).iter().filter(|path| path.join("kernel").exists() && is_wanted(path)) {
        let kernel = Kernel::read(&release.join("kernel"), &Default::default()).unwrap();
        let debug = Some(release.join("vmlinux")).filter(|file| file.exists()).map(|file| Debug::read(&file));
        let tables = debug.is_none().then(|| Tables::read(kernel.bytes.clone().leak()));
        for path in sorted(release).iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
            let mut document = attribution::anatomy::load(&std::fs::read_to_string(path).unwrap()).unwrap();
            let name = format!("{} | {}", kernel.release, path.file_stem().unwrap().to_string_lossy());
            match (&debug, &tables) {
                (Some(debug), _) => {
                    let anatomy = anew(&document, &kernel, debug);
                    say(&name, &anatomy, &hold(&anatomy, debug));
                }
                (None, Some(tables)) => {
                    let anatomy = document.paths.remove(0).anatomy;
                    say(&name, &anatomy, &tables.hold(&anatomy));
                }
                (None, None) => unreachable!(),
            }
        }
    }
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    all.sort();
    all
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

fn say(name: &str, anatomy: &Anatomy, held: &Held) {
    println!(
        "| {name} | {} | {} | {} | {} | {:.2} % |",
        held.all,
        held.known(),
        held.alone,
        held.wrong.len(),
        100.0 * held.rate()
    );
    if std::env::var_os("KENTRY_ORACLE_SHOW").is_some() {
        held.wrong.iter().for_each(|wrong| println!("    {}", wrong.in_words(anatomy)));
    }
}

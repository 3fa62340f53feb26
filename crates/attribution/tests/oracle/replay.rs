//! Paths that were followed before, told apart anew and held against the truth.

use crate::debug::Debug;
use crate::truth::hold;
use attribution::anatomy::{Anatomy, Document};
use linux::Kernel;
use record::trace::{Executed, Symbol, Trace};
use std::path::{Path, PathBuf};
use table::Table;

fn bytes(hexadecimal: &str) -> Vec<u8> {
    (0..hexadecimal.len() / 2)
        .map(|at| u8::from_str_radix(&hexadecimal[2 * at..2 * at + 2], 16).unwrap())
        .collect()
}

/// `KENTRY_ORACLE=FOLDER`: RELEASE/vmlinux with symbols, RELEASE/kernel, and RELEASE/*.json as `kentry anatomy` writes them.
#[test]
#[ignore = "needs what scripts/oracle.sh has made"]
fn replay() {
    let folder = PathBuf::from(std::env::var_os("KENTRY_ORACLE").unwrap());
    let wanted = std::env::var("KENTRY_ORACLE_ONLY").unwrap_or_default();
    let mut releases: Vec<PathBuf> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    releases.sort();
    for release in releases.iter().filter(|path| path.join("vmlinux").exists()) {
        let name = release.file_name().unwrap().to_string_lossy().into_owned();
        if !wanted.is_empty() && !wanted.split(',').any(|one| name.starts_with(one)) {
            continue;
        }
        let debug = Debug::read(&release.join("vmlinux"));
        let kernel = Kernel::read(&release.join("kernel"), &Default::default()).unwrap();
        let mut paths: Vec<PathBuf> = release.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
            one(path, &kernel, &debug);
        }
    }
}

fn one(path: &Path, kernel: &Kernel, debug: &Debug) {
    let document: Document = attribution::anatomy::load(&std::fs::read_to_string(path).unwrap()).unwrap();
    let saved = &document.paths[0].anatomy;
    let symbols: Vec<Symbol> = debug
        .symbols
        .iter()
        .map(|(address, name)| Symbol { address: *address, name: name.clone() })
        .collect();
    let step = |one: &attribution::anatomy::Instruction| Executed {
        address: one.address,
        ring: one.ring,
        long: one.ring == 0 || !document.paths[0].anatomy.entry.ends_with("i386"),
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
    let anatomy = Anatomy::of(&trace, &symbols, kernel);
    let held = hold(&anatomy, debug);
    let before = hold(saved, debug);
    println!(
        "{} {}: {} instructions, {} held, {} wrong ({:.2} %); as saved {} ({:.2} %)",
        kernel.release,
        path.file_stem().unwrap().to_string_lossy(),
        held.all,
        held.all - held.unknown,
        held.wrong.len(),
        100.0 * held.rate(),
        before.wrong.len(),
        100.0 * before.rate(),
    );
    if std::env::var_os("KENTRY_ORACLE_SHOW").is_some() {
        for wrong in &held.wrong {
            let one = &anatomy.instructions[wrong.place];
            let function = one
                .function
                .as_ref()
                .map(|place| format!("{}+{:#x}", place.name, place.offset))
                .unwrap_or_default();
            let frames: Vec<String> = wrong
                .frames
                .iter()
                .take(5)
                .map(|frame| format!("{}:{}", frame.function, frame.line))
                .collect();
            let expected: Vec<&str> = wrong.expected.iter().map(|part| part.name()).collect();
            println!(
                "    {function:36} {:36.36} {} not {:?} | {}",
                one.text,
                one.part.name(),
                expected,
                frames.join(" < ")
            );
        }
    }
}

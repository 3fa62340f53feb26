//! The library of stubs for GNU Mach's traps (mach/stub): a program goes from one entry to another by being linked anew.

use crate::build::{OnHost, Program, compile, root};
use crate::guest::{Emulator, Script};
use crate::kernel::Kernel;
use crate::mach::{boot, code_of, enters, run_linked, widths};
use crate::mach_entry::image;
use object::{Object, ObjectSection, ObjectSymbol};
use places::lab::Mode;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

const VARIANTS: [&str; 3] = ["gate", "sysenter", "entry"];

/// All that `make` makes.
static LIBRARIES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let out = format!("OUT={}", folder.path().display());
    let output = Command::new("make").arg("-C").arg(root().join("mach/stub")).arg(out).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
});

fn library(bits: u8, variant: &str, file: &str) -> PathBuf {
    LIBRARIES.path().join(format!("{bits}/{variant}/{file}"))
}

/// Names and numbers of the list that the stubs are made from.
fn listed() -> BTreeMap<String, u32> {
    let text = std::fs::read_to_string(root().join("mach/stub/traps.def")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("STUB(")?.strip_suffix(')'));
    let rows = rows.map(|row| row.split_once(", ").unwrap());
    rows.map(|(name, number)| (name.to_string(), number.parse().unwrap())).collect()
}

/// The program of these tests as one object.
fn object_of(bits: u8, folder: &Path) -> PathBuf {
    let sources = ["mach_linked.c".to_string(), format!("mach_start{bits}.S")];
    let files: Vec<PathBuf> = sources.iter().map(|source| root().join("tests/lab").join(source)).collect();
    let mut flags = table::freestanding::FREESTANDING.to_vec();
    flags.extend([
        if bits == 32 { "-m32" } else { "-m64" },
        "-fno-pic",
        "-no-pie",
        "-Wno-unused-function",
        "-r",
    ]);
    let made = compile("linked", &flags, &files).unwrap();
    let file = folder.join(format!("linked{bits}.o"));
    std::fs::write(&file, made.bytes).unwrap();
    file
}

fn linked(name: &str, bits: u8, object: &Path, library: &Path, how: &[&str]) -> Program {
    let bits = format!("-m{bits}");
    let flags: Vec<&str> =
        [bits.as_str(), "-nostdlib", "-no-pie", "-Wl,--build-id=none"].iter().chain(how).copied().collect();
    compile(name, &flags, &[object.into(), library.into()]).unwrap()
}

#[test]
fn a_program_moves_from_one_entry_to_another_by_being_linked_anew() {
    check_linked(Mode::Long);
}

pub fn check_linked(mode: Mode) {
    let folder = tempfile::tempdir().unwrap();
    let mut programs = Vec::new();
    for bits in widths(mode).iter().copied() {
        let object = object_of(bits, folder.path());
        let bytes = std::fs::read(&object).unwrap();
        assert!(!code_of(&bytes, bits).iter().any(enters), "the program itself enters");
        for variant in VARIANTS {
            let archive = library(bits, variant, "libmachstub.a");
            let name = format!("linked-{bits}-{variant}");
            programs.push((variant, linked(&name, bits, &object, &archive, &["-static"])));
        }
    }
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let (mut script, mut expected) = (Script::in_mode(mode), Vec::new());
        let has_sysenter = emulator == Emulator::TcgIntel || mode == Mode::Protected;
        let can = |variant: &str| variant != "sysenter" || has_sysenter;
        for configuration in ["pti=off", "pti=on stack=minimum exit=iret"] {
            script.set(&format!("{configuration} personality=mach"));
            for (variant, program) in programs.iter().filter(|(variant, _)| can(variant)) {
                for device in ["${device-port}", "0"] {
                    run_linked(&mut script, program, device);
                    let begun = match (*variant, device) {
                        ("entry", "0") => "gate 10000003\n",
                        ("entry", _) => "page 00000000\n",
                        ("gate", _) => "gate 00000000\n",
                        _ => "sysenter 00000000\n",
                    };
                    expected.push(begun.to_string() + ANSWERS);
                }
            }
        }
        let Some(session) = boot(&script, emulator) else { return };
        assert_eq!(session.ran.len(), expected.len());
        for (ran, expected) in session.ran.iter().zip(expected) {
            assert_eq!(ran.text(), expected, "{}", ran.label);
        }
    }
}

#[test]
fn a_device_port_that_nobody_serves_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut script = Script::new();
    script.limit(0);
    script.set("personality=mach");
    for bits in [64, 32] {
        let (object, archive) = (object_of(bits, folder.path()), library(bits, "entry", "libmachstub.a"));
        let program = linked(&format!("given-up-{bits}"), bits, &object, &archive, &["-static"]);
        run_linked(&mut script, &program, "nobody");
    }
    let Some(session) = boot(&script, Emulator::TcgIntel) else { return };
    for ran in &session.ran {
        assert!(ran.text().starts_with("gate 10004003\n"), "{}: {}", ran.label, ran.text());
    }
}

#[test]
fn nothing_is_read_or_found_beyond_a_page_whatever_it_holds() {
    let reader = OnHost::new("mach_image.c", &["../mach/stub/image.c"]);
    let kernel = Kernel::read();
    for variant in ["syscall", "sysenter", "int80"] {
        let said = reader.run("", image(&kernel, &format!("entry64_{variant}")));
        assert_eq!(said, "whole 1\nchanged 1\nanything 0\nbeyond 0\n", "{variant}");
    }
    let said = reader.run("", image(&kernel, "entry32_gate"));
    assert!(said.starts_with("whole 0\n"), "an image of another width: {said}");
}

/// Of mach_linked.c, whichever way it enters, and at either width; `tests/gnumach.sh` asks GNU Mach itself.
const ANSWERS: &str = include_str!("mach_linked.txt");

/// The global symbols that a file defines, and whether it lacks any.
fn symbols<'data>(
    all: impl Iterator<Item = object::Symbol<'data, 'data>>,
) -> (BTreeSet<String>, Vec<String>) {
    let (defined, missing): (Vec<_>, Vec<_>) =
        all.filter(|symbol| symbol.is_global()).partition(|symbol| symbol.is_definition());
    let name = |symbol: object::Symbol| symbol.name().unwrap().to_string();
    (defined.into_iter().map(name).collect(), missing.into_iter().map(name).collect())
}

#[test]
fn all_variants_have_the_same_symbols_static_and_shared() {
    let own = ["mach_stub_begin", "mach_stub_entry"].map(str::to_string);
    let wanted: BTreeSet<String> = listed().into_keys().chain(own).collect();
    for bits in [64, 32] {
        for variant in VARIANTS {
            let read = |file| std::fs::read(library(bits, variant, file)).unwrap();
            let (archived, shared) = (read("machstub.o"), read("libmachstub.so"));
            let archived = object::File::parse(&*archived).unwrap();
            let shared = object::File::parse(&*shared).unwrap();
            for found in [symbols(archived.symbols()), symbols(shared.dynamic_symbols())] {
                assert_eq!(found, (wanted.clone(), Vec::new()), "{bits} {variant}");
            }
        }
    }
}

#[test]
fn a_program_that_is_linked_with_a_shared_one_is_the_same_whichever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    for bits in [64, 32] {
        let object = object_of(bits, folder.path());
        let programs = VARIANTS.map(|variant| {
            let shared = library(bits, variant, "libmachstub.so");
            linked("linked", bits, &object, &shared, &["-Wl,-z,now"]).bytes
        });
        assert!(programs.iter().all(|program| *program == programs[0]), "{bits}");
        let strings = String::from_utf8_lossy(&programs[0]).into_owned();
        assert!(strings.contains("libmachstub.so.1"), "{bits}");
    }
}

/// The traps that the lab has, by the names of their functions: `TRAP(25, 7, mach_msg)`.
fn traps_of_the_lab() -> BTreeMap<String, u32> {
    let text = std::fs::read_to_string(root().join("lab/mach/traps.def")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("TRAP(")?.strip_suffix(')'));
    let words = rows.map(|row| row.split(", ").collect::<Vec<_>>());
    words.map(|words| (words[2].to_string(), words[0].parse().unwrap())).collect()
}

#[test]
fn each_stub_has_the_number_of_its_trap() {
    let (listed, mut traps) = (listed(), traps_of_the_lab());
    for (bits, variant) in [64, 32].into_iter().flat_map(|bits| VARIANTS.map(|variant| (bits, variant))) {
        let bytes = std::fs::read(library(bits, variant, "machstub.o")).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let text = file.section_by_name(".text").unwrap().data().unwrap();
        for (name, number) in &listed {
            let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name)).unwrap();
            let code = &text[symbol.address() as usize..];
            // mov $-number, %eax
            let begins = [&[0xb8], &number.wrapping_neg().to_le_bytes()[..]].concat();
            assert_eq!(code[..5], begins, "{name} {variant}");
        }
    }
    for (name, number) in &listed {
        let of_lab = name.trim_start_matches("syscall_").trim_end_matches("_trap");
        assert!(traps.remove(of_lab).is_none_or(|trap| trap == *number), "{name}");
    }
    // What answers nothing has no stub.
    assert_eq!(traps.into_keys().collect::<Vec<_>>(), ["null_port"]);
}

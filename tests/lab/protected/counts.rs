//! What a path executes: as many instructions as its steps have, by the clock of QEMU and by its log, which knows nothing of steps.

use crate::every_instruction::{built_in, program_of};
use crate::exact::{check_each_alone, check_pairs};
use crate::guest::{Answer, Script, Session};
use crate::kernel::Kernel;
use crate::monitor::{is_missing, wrapped};
use crate::steps::taken;
use places::lab::{End, Limits, Mode, Qemu};
use std::collections::{BTreeMap, BTreeSet};
use table::paths::Beside;
use table::{Entry, Kernel as Kernels, Table};

const INTEL: &str = "max,vendor=GenuineIntel";
const AMD: &str = "max,vendor=AuthenticAMD";

#[test]
fn each_step_alone_adds_what_its_listing_says() {
    check_each_alone(Mode::Protected);
}

#[test]
fn pairs_of_steps_add_what_their_listings_say() {
    check_pairs(Mode::Protected);
}

/// Entries: the case of turns32.S, the row, and the path.
const ENTRIES: [(&str, &str, &str); 14] = [
    ("int80", "int80-i386", "int80"),
    ("sysenter", "sysenter-i386", "sysenter_i386"),
    ("call_gate", "call-gate-i386", "call_gate_i386"),
    ("lcall7", "lcall7-i386", "call_gate_i386"),
    ("ud", "ud-i386", "ud_i386"),
    ("lock_nop", "lock-nop-i386", "ud_i386"),
    ("int3", "int3-i386", "int3_i386"),
    ("div0", "div0-i386", "div0_i386"),
    ("into", "into", "into_i386"),
    ("absent_fs", "np-fault", "np_fault_i386"),
    ("gate_16_0", "call-gate-16-0", "call_gate_16_0_i386"),
    ("task_int", "task-gate-int", "task_gate"),
    ("task_call", "task-gate-call", "task_gate"),
    ("task_jmp", "task-jmp", "task_jmp"),
];

/// What entries execute besides paths: tasks.
fn beside(mode: Mode) -> Vec<Beside> {
    let (_, paths) = places::lab::kernel_paths(mode).unwrap();
    paths.paths.into_iter().flat_map(|path| path.beside).collect()
}

/// Boots in a QEMU that writes down what it executes of paths and tasks: the addresses of instructions, in their order.
fn logged(script: &Script, model: &str) -> (Session, Vec<u64>) {
    let (folder, kernel) = (tempfile::tempdir().unwrap(), Kernel::in_mode(script.mode));
    let log = folder.path().join("log");
    let paths = [(kernel.symbol("paths_start"), kernel.symbol("paths_end"))];
    let tasks: Vec<(u64, u64)> =
        beside(script.mode).iter().map(|code| (code.start, code.start + code.code.len() as u64)).collect();
    let ranges = paths.iter().chain(&tasks).map(|(start, end)| format!("{start:#x}..{:#x}", end - 1));
    let ranges = ranges.collect::<Vec<_>>().join(",");
    let options = format!("-cpu {model} -d in_asm,exec,nochain -dfilter {ranges} -D {}", log.display());
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {options}"));
    let qemu = qemu.in_mode(script.mode);
    let boot = |archive: &[u8], programs, limits: &Limits| qemu.boot(archive, programs, limits);
    let session = script.boot_in(&boot, Qemu::TCG_HERTZ).unwrap();
    (session, executed(&std::fs::read_to_string(log).unwrap()))
}

/// A block of instructions has, when it is translated, lines like `0xc0148000:  57   pushl    %edi`; and each time that it is executed, one
/// like `Trace 0: 0x7fc0a8000100 [00000000/c0148000/0040c0b0/ff200e01]`, with another one behind it if it is given up before it begins.
fn executed(log: &str) -> Vec<u64> {
    let hex = |text: &str| {
        u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("{text}"))
    };
    let (mut blocks, mut translated) = (BTreeMap::<&str, Vec<u64>>::new(), Vec::new());
    let (mut all, mut of_endbr) = (Vec::<u64>::new(), 0_u64);
    for line in log.lines() {
        if line.starts_with("IN:") {
            translated.clear();
        } else if let Some((address, rest)) = line.split_once(':').filter(|(at, _)| at.starts_with("0x")) {
            // What has bytes alone goes on from the line before; and so does endbr in 16-bit code, which QEMU lists as four instructions.
            let is_byte = |word: &str| word.len() == 2 && u8::from_str_radix(word, 16).is_ok();
            let is_more = rest.split_whitespace().all(is_byte) || of_endbr > 0;
            of_endbr = if rest.ends_with(".byte    0xf3") { 3 } else { of_endbr.saturating_sub(1) };
            translated.extend((!is_more).then(|| hex(address)));
        } else if line.starts_with("Trace ") {
            let block = line.split(' ').nth(2).unwrap_or_else(|| panic!("{line}"));
            if !translated.is_empty() {
                blocks.insert(block, std::mem::take(&mut translated));
            }
            let block = &blocks[block];
            assert_eq!(hex(line.split('/').nth(1).unwrap_or_default()), block[0], "{line}");
            all.extend(block);
        } else if line.starts_with("Stopped ") {
            let block =
                line.split(' ').find(|word| word.starts_with("0x")).unwrap_or_else(|| panic!("{line}"));
            all.truncate(all.len() - blocks[block].len());
        }
    }
    all
}

/// What is executed from a path's beginning to its end, each time, of this part of the log. A task goes on where the program before has left it: with
/// the jump to its beginning.
fn times(log: &[u64], path: &[u64], is_task: bool) -> Vec<Vec<u64>> {
    let slot: BTreeSet<u64> = path.iter().map(|address| address / 4096).collect();
    let mut times: Vec<Vec<u64>> = Vec::new();
    for address in log.iter().filter(|address| slot.contains(&(*address / 4096))) {
        if *address == path[0] {
            times.push(Vec::new());
        }
        match times.last_mut() {
            Some(time) => time.push(*address),
            None => assert!(is_task, "{address:x} before the beginning"),
        }
    }
    times
}

#[test]
fn a_log_of_every_instruction_has_what_is_listed_and_as_many_as_are_counted() {
    const CONFIGURATIONS: [&[(&str, &str)]; 4] = [
        &[("stack", "minimum"), ("exit", "natural"), ("pti", "off"), ("smap", "off")],
        &[("stack", "minimum"), ("exit", "iret"), ("pti", "on"), ("smap", "off"), ("paging", "classic")],
        &[
            ("stack", "frame"),
            ("exit", "natural"),
            ("pti", "on"),
            ("smap", "on"),
            ("paging", "wide"),
            ("copy-frame", "on"),
            ("verw", "on"),
            ("ibrs", "on"),
        ],
        &[
            ("stack", "frame"),
            ("exit", "iret"),
            ("pti", "trampoline"),
            ("copy-frame", "off"),
            ("verw", "off"),
            ("ibrs", "off"),
            ("filter", "4"),
            ("audit", "on"),
            ("observe", "on"),
        ],
    ];
    if is_missing() {
        return;
    }
    let program = program_of(32, 0, false, Mode::Protected);
    let (mut script, mut places) = (Script::protected(), Vec::new());
    script.harmless();
    for configuration in CONFIGURATIONS {
        let words: Vec<String> =
            configuration.iter().map(|(name, value)| format!("{name}={value}")).collect();
        script.set(&words.join(" "));
        let start = script.list("enter_user");
        for (case, row, path) in ENTRIES {
            places.push((
                configuration,
                row,
                path,
                start,
                script.list(path),
                script.run(&program, &[case, "1"]),
            ));
        }
    }
    let (session, log) = logged(&script, INTEL);
    let built = |number: usize| -> Vec<u64> {
        built_in(Mode::Protected, &session.ran[number]).iter().map(|line| line.address).collect()
    };
    // Every program begins once; before these are those of the test of ring 0.
    let begin = built(places[0].3)[0];
    let begun: Vec<usize> = (0..log.len()).filter(|at| log[*at] == begin).collect();
    let begun = &begun[begun.len() - places.len()..];
    let kernel = Kernel::in_mode(Mode::Protected);
    for (index, (configuration, row, name, _, listing, ran)) in places.iter().enumerate() {
        let end = begun.get(index + 1).copied().unwrap_or(log.len());
        let (path, ran) = (built(*listing), &session.ran[*ran]);
        assert_eq!(ran.end, End::Exited(0), "{}", ran.label);
        let is_task = name.starts_with("task_");
        let times = times(&log[begun[index]..end], &path, is_task);
        // That jump is at the end of the time before.
        let again = |time: usize| u64::from(is_task && time + 1 < times.len());
        for (time, (operation, executed)) in ["getppid", "none"].iter().zip(&times).enumerate() {
            let unlisted = executed.iter().find(|address| !path.contains(address));
            assert_eq!(unlisted, None, "{} executes what is not listed", ran.label);
            let counted = kernel.path(name).walk(configuration, taken(row, operation));
            assert_eq!(executed.len() as u64, counted + again(time), "{}: {operation}", ran.label);
        }
        assert!(times.len() >= 2, "{}: {times:x?}", ran.label);
    }
}

/// What lies between two executions of this instruction, where nothing else does: the least, which comes with every sample.
fn least_between(log: &[u64], start: u64) -> u64 {
    let places: Vec<usize> = (0..log.len()).filter(|at| log[*at] == start).collect();
    let distances: Vec<usize> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let least = distances.iter().copied().min().unwrap_or_default();
    let times = distances.iter().filter(|distance| **distance == least).count();
    assert!(times >= 5, "{least} {times} times");
    least as u64
}

/// What a row counts besides: the instruction that enters.
fn in_the_program(entry: &str) -> u64 {
    match entry {
        // One that raises an exception while it computes is not counted as executed.
        "div0-i386" | "bound" | "np-fault" | "ss-fault" => 0,
        // What the gate has copied, its lret drops, and without the entry the program.
        "call-gate-32-1" | "call-gate-32-8" => 0,
        // It counts what it has translated behind it, too (entries.toml).
        "into" => 3,
        _ => 1,
    }
}

/// What the log has of a block that is left in its middle: the instruction that faults there, and what would follow it.
fn behind_the_fault(entry: &str) -> u64 {
    match entry {
        "double-fault-task" => 3, // orl, cmp, jne
        _ => 0,
    }
}

#[test]
fn every_row_counts_what_a_log_of_every_instruction_has() {
    const CONFIGURATIONS: [(&str, &str); 3] = [
        (INTEL, "pti=off smap=off"),
        (INTEL, "pti=on smap=off exit=iret stack=minimum copy-frame=on paging=classic"),
        (AMD, "pti=on smap=off events-by=task"),
    ];
    if is_missing() {
        return;
    }
    let none = Table::get().operation("none").unwrap();
    let names = Kernel::in_mode(Mode::Protected).path_names();
    let (kernel, paths) = places::lab::kernel_paths(Mode::Protected).unwrap();
    let path_of = |entry: &Entry| {
        let name = entry.lab.as_deref().unwrap_or_default().replace('-', "_");
        [name.clone(), format!("{name}_i386")].into_iter().find(|name| names.contains(name))
    };
    for (model, switches) in CONFIGURATIONS {
        let (mut script, mut rows) = (Script::protected(), Vec::new());
        script.set(switches);
        let start = script.list("enter_user");
        for (entry, _) in Table::get().rows(Kernels::LabI386).filter(|(_, operation)| *operation == none) {
            if let Some(path) = path_of(entry) {
                rows.push((entry, script.list(&path), script.row(entry, none)));
            }
        }
        let (session, log) = logged(&script, model);
        let first = |number: usize| built_in(Mode::Protected, &session.ran[number])[0].address;
        let begin = first(start);
        let begun: Vec<usize> = (0..log.len()).filter(|at| log[*at] == begin).collect();
        let begun = &begun[begun.len() - rows.len()..];
        let mut compared = 0;
        for (index, (entry, listing, row)) in rows.iter().enumerate() {
            let ran = &session.ran[*row];
            if ran.answer() != Answer::Ok {
                continue; // matrix.rs says which
            }
            let end = begun.get(index + 1).copied().unwrap_or(log.len());
            let logged = least_between(&log[begun[index]..end], first(*listing));
            let executed = logged - behind_the_fault(&entry.name);
            let path = path_of(entry).and_then(|name| paths.path(&name));
            for line in path.iter().flat_map(|path| &path.beside).flat_map(|code| code.lines(&kernel)) {
                let is_executed = log[begun[index]..end].contains(&line.address);
                assert!(is_executed, "{}: {:x} {}", ran.label, line.address, line.text);
            }
            assert_eq!(ran.cost(), executed + in_the_program(&entry.name), "{}", ran.label);
            compared += 1;
        }
        assert!(compared >= 29, "{compared} rows with {switches}");
    }
}

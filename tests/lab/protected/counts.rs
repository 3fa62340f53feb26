//! What a path executes: as many instructions as its steps have, by the clock of QEMU and by its log, which knows nothing of steps.

use crate::counts::{Row, check};
use crate::every_instruction::{built_in, program_of};
use crate::exact::{check_each_alone, check_pairs};
use crate::executed::{in_qemu, paths};
use crate::guest::{Answer, Emulator, Script};
use crate::kernel::Kernel;
use crate::monitor::is_missing;
use crate::protected::matrix::expected;
use crate::protected::unpaged::{OFF, expected_without};
use crate::steps::taken;
use places::lab::{End, Mode};
use std::collections::BTreeSet;

const INTEL: &str = "max,vendor=GenuineIntel";

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
    let (session, log) = in_qemu(&script, INTEL, &paths(Mode::Protected));
    let log: Vec<u64> = log.iter().map(|begun| begun.address).collect();
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

/// QEMU has neither limits of segments nor paging=off.
#[test]
fn a_row_counts_what_a_log_of_every_instruction_has() {
    const PLAIN: &str = "pti=off smap=off";
    const CLASSIC: &str = "pti=on smap=off exit=iret stack=minimum copy-frame=on paging=classic";
    const BY_TASKS: &str = "pti=on smap=off events-by=task";
    const LIMITED: &str = "segments=limited exit=iret pti=on smap=on stack=minimum";
    for (emulator, configurations, least) in [
        (Emulator::TcgIntel, &[PLAIN, CLASSIC][..], 68),
        (Emulator::TcgAmd, &[BY_TASKS], 35),
        (Emulator::Bochs, &[LIMITED], 36),
        (Emulator::BochsAmd, &[OFF], 31),
    ] {
        let is_open = |switches: &str, (entry, operation): Row| {
            let is_amds = switches == BY_TASKS && entry.name == "syscall-i386";
            let expected = if switches == OFF { expected_without } else { expected };
            is_amds || expected(emulator, &entry.name, &operation.name) == Answer::Ok
        };
        let compared = check(Mode::Protected, emulator, configurations, is_open);
        assert!(compared.is_none_or(|rows| rows >= least), "{}: {compared:?}", emulator.name());
    }
}

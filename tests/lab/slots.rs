//! Where paths are: a slot for each, so that a switch moves no other; offsets that a layout draws, of paths and of stacks; what is
//! listed is what runs.

use crate::every_instruction::program;
use crate::guest::{Emulator, Ran, Script, limits};
use crate::kernel::Kernel;
use crate::monitor::is_missing;
use crate::silicon::boot_with;
use crate::steps::{ALL_PATHS, PATHS};
use iced_x86::{Code, Decoder, DecoderOptions};
use places::lab::{Accelerator, Limits, Qemu};
use std::collections::BTreeSet;
use table::Table;

/// As `lab/entry/layout.h` has it.
const SLOT: u64 = 4096;
const PATH_STEP: u64 = 16;
const STACK_STEP: u64 = 64;

fn names() -> BTreeSet<&'static str> {
    ALL_PATHS.iter().map(|(_, path)| *path).chain(["exception", "enter_user", "copy_user"]).collect()
}

fn starts(ran: &[Ran]) -> Vec<u64> {
    ran.iter().map(|ran| ran.steps.first().unwrap_or_else(|| panic!("{}", ran.label)).address).collect()
}

#[test]
fn a_switch_moves_no_path_and_a_layout_moves_each_within_its_slot() {
    let mut script = Script::new();
    for switches in ["pti=off smap=off stack=minimum", "pti=on smap=on stack=frame exit=iret cr3-writes=9"] {
        script.set(switches);
        names().iter().for_each(|path| _ = script.list(path));
    }
    for layout in [1, 2, u64::MAX, 0] {
        script.layout(layout);
        names().iter().for_each(|path| _ = script.list(path));
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let starts: Vec<Vec<u64>> = session.ran.chunks(names().len()).map(starts).collect();
    assert_eq!(starts[0], starts[1], "a switch moves no path");
    assert_eq!(starts[0], starts[5], "without a layout, paths begin their slots");
    assert!(starts[0].iter().all(|start| start % SLOT == 0));
    assert_eq!(starts[0].iter().collect::<BTreeSet<_>>().len(), names().len(), "a slot is one path's");
    let offsets: BTreeSet<u64> = starts.iter().flatten().map(|start| start % SLOT).collect();
    assert!(offsets.len() > 20, "{offsets:?}");
    assert!(offsets.iter().all(|offset| offset % PATH_STEP == 0), "{offsets:?}");
    assert!(offsets.iter().any(|offset| offset % (2 * PATH_STEP) != 0), "{offsets:?}");
    assert!(
        starts[2..5]
            .iter()
            .all(|moved| moved.iter().zip(&starts[0]).all(|(to, slot)| to / SLOT == slot / SLOT))
    );
    for ran in &session.ran {
        let last = ran.steps.last().unwrap();
        assert!(
            ran.steps[0].address / SLOT == (last.address + last.code.len() as u64 - 1) / SLOT,
            "{}",
            ran.label
        );
        let mut at = ran.steps[0].address;
        for step in &ran.steps {
            assert_eq!(step.address, at, "{}: {} follows the step before it", ran.label, step.name);
            at += step.code.len() as u64;
        }
    }
}

/// The stack pointers at page faults of a program in this layout: the kernel's, in its access to the program's memory, and the
/// program's.
fn stack_pointers(layout: u64, switches: &str) -> [u64; 2] {
    let (folder, mut script) = (tempfile::tempdir().unwrap(), Script::new());
    script.set(switches);
    script.layout(layout);
    script.run(&program(64), &["no-memory", "1"]);
    let log = folder.path().join("log");
    let session = boot_with(&script, &format!("-d int -D {}", log.display())).unwrap();
    assert_eq!(session.ran[0].end, places::lab::End::Exited(0), "{layout}");
    let text = std::fs::read_to_string(log).unwrap();
    let last = |ring: &str| {
        let faults = text.lines().filter(|line| line.contains(": v=0e ") && line.contains(ring));
        let pointer = |line: &str| u64::from_str_radix(line.split(" SP=").nth(1)?.get(5..21)?, 16).ok();
        faults.filter_map(pointer).next_back().unwrap_or_else(|| panic!("{ring}: {text}"))
    };
    [" cpl=0 ", " cpl=3 "].map(last)
}

#[test]
fn a_layout_moves_stacks_and_no_stack_leaves_its_pages() {
    const LAYOUTS: u64 = 8;
    const ROOM: u64 = 4096;
    if is_missing() {
        return;
    }
    // Through a call gate: on the entry stack, and under isolation on the kernel's.
    for switches in ["pti=off", "pti=on"] {
        let fixed = stack_pointers(0, switches);
        assert_eq!(fixed, stack_pointers(0, switches));
        let drawn: Vec<_> = (1..=LAYOUTS).map(|layout| stack_pointers(layout, switches)).collect();
        let distances: BTreeSet<u64> = drawn.iter().map(|[kernel, _]| fixed[0] - kernel).collect();
        assert!(
            distances.iter().all(|distance| *distance < ROOM && distance % STACK_STEP == 0),
            "{distances:?}"
        );
        let of_programs: BTreeSet<u64> = drawn.iter().map(|[_, program]| *program).collect();
        assert!(distances.len() > 5 && of_programs.len() > 5, "{distances:?}, {of_programs:?}");
    }
}

#[test]
fn a_layout_between_programs_that_run_together_is_refused() {
    let (mut script, program) = (Script::new(), program(64));
    script.beside(&program, &["nothing"]);
    script.layout(1);
    script.run(&program, &["nothing"]);
    let boot = |archive: &[u8], programs, limits: &Limits| {
        Qemu::new(Accelerator::Tcg, None).boot(archive, programs, limits)
    };
    if !is_missing() {
        let refused = script.try_in(&boot, Qemu::TCG_HERTZ, &limits()).unwrap_err();
        assert!(refused.contains("line 7 of the plan is not understood"), "{refused}");
    }
}

#[test]
fn a_layout_changes_no_count_and_no_answer() {
    let table = Table::get();
    let operation = |name: &str| table.operation(name).unwrap();
    let mut script = Script::new();
    for (layout, switches) in [(0, "pti=on"), (77, "pti=on"), (78, "pti=on smap=on"), (0, "pti=on")] {
        script.layout(layout);
        script.set(switches);
        PATHS.iter().for_each(|(name, _)| _ = script.row(table.entry(name).unwrap(), operation("getppid")));
        // Its page tables take pages, which a layout draws.
        script.row(table.entry("page-fault").unwrap(), operation("minor-fault"));
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let costs: Vec<u64> = session.ran.iter().map(Ran::cost).collect();
    let layouts: Vec<&[u64]> = costs.chunks(PATHS.len() + 1).collect();
    assert!(layouts.iter().all(|costs| *costs == layouts[0]), "{layouts:?}");
}

/// Every branch of what was built goes to an instruction of the path, or out of all paths, in every configuration.
#[test]
fn what_is_built_branches_to_instructions() {
    let kernel = Kernel::read();
    let paths = kernel.symbol("paths_start")..kernel.symbol("paths_end");
    let (mut script, mut branches) = (Script::new(), 0);
    for stack in ["minimum", "frame"] {
        for exit in ["natural", "iret"] {
            for (pti, smap) in [("off", "off"), ("on", "off"), ("off", "on"), ("on", "on")] {
                script.set(&format!("stack={stack} exit={exit} pti={pti} smap={smap}"));
                names().iter().for_each(|path| _ = script.list(path));
            }
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    for ran in &session.ran {
        let code: Vec<u8> = ran.steps.iter().flat_map(|step| step.code.clone()).collect();
        let instructions: Vec<_> =
            Decoder::with_ip(64, &code, ran.steps[0].address, DecoderOptions::NONE).into_iter().collect();
        for instruction in &instructions {
            assert_ne!(instruction.code(), Code::INVALID, "{} at {:x}", ran.label, instruction.ip());
            let target = instruction.near_branch_target();
            if target != 0 && paths.contains(&target) {
                branches += 1;
                let is_there = instructions.iter().any(|other| other.ip() == target);
                assert!(is_there, "{}: {:x} branches to {target:x}", ran.label, instruction.ip());
            }
        }
    }
    assert!(branches > 500, "{branches}");
}

#[test]
fn a_path_that_is_not_there_is_said() {
    let mut script = Script::new();
    script.list("teleport");
    script.list("");
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    assert!(session.ran.iter().all(|ran| ran.end == places::lab::End::NotLoaded(2) && ran.steps.is_empty()));
}

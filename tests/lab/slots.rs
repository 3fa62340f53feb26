//! Where paths are: a slot for each, so that a switch moves no other; offsets that a layout draws; what is listed is what runs.

use crate::guest::{Emulator, Ran, Script};
use crate::kernel::Kernel;
use crate::steps::PATHS;
use iced_x86::{Code, Decoder, DecoderOptions};
use std::collections::BTreeSet;
use table::Table;

/// As `lab/entry/layout.h` has it.
const SLOT: u64 = 2048;

fn names() -> BTreeSet<&'static str> {
    PATHS.iter().map(|(_, path)| *path).chain(["exception", "enter_user", "copy_user"]).collect()
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
    assert!(offsets.len() > 2 * names().len(), "{offsets:?}");
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
    assert!(session.ran.iter().all(|ran| ran.end == lab::End::NotLoaded(2) && ran.steps.is_empty()));
}

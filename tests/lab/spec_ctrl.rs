//! What SPEC_CTRL holds at every instruction, interrupts included. QEMU keeps no such register, but one that its log shows: so the kernel
//! is changed to write its values to the base of GS, which it does not use.

use crate::every_instruction::{
    CLOSED, INTEL, Interrupt, OPEN, START, Trial, boot_kernel, built, kernel_in_mode,
};
use crate::guest::{Ran, Session};
use crate::kernel::Kernel;
use crate::monitor::is_missing;
use iced_x86::{Instruction, Mnemonic, Register};
use places::lab::{End, Mode};
use std::collections::BTreeMap;

const IBRS: u64 = 1;
const STIBP: u64 = 2;

/// mov $0x48, %ecx: SPEC_CTRL.
const OF_SPEC_CTRL: [u8; 5] = [0xb9, 0x48, 0, 0, 0];
/// mov $0xc0000101, %ecx: the base of GS.
const OF_GS: [u8; 5] = [0xb9, 0x01, 0x01, 0, 0xc0];
/// mov $0xc0000082, %ecx: LSTAR, which QEMU keeps, too, and nothing in protected mode has to do with.
const OF_LSTAR: [u8; 5] = [0xb9, 0x82, 0, 0, 0xc0];
/// mov $0xc0000103, %ecx: TSC_AUX, which holds 0, as the base of GS otherwise does.
const OF_TSC_AUX: [u8; 5] = [0xb9, 0x03, 0x01, 0, 0xc0];

const WRMSR: [u8; 2] = [0x0f, 0x30];

/// Replaces a sequence of bytes wherever it is, and says how often that was.
fn replace(file: &mut [u8], from: [u8; 5], to: [u8; 5]) -> usize {
    let found: Vec<usize> =
        file.windows(from.len()).enumerate().filter(|(_, bytes)| *bytes == from).map(|(at, _)| at).collect();
    found.iter().for_each(|at| file[*at..at + to.len()].copy_from_slice(&to));
    found.len()
}

/// The kernel whose SPEC_CTRL is the base of GS. Nothing else changes that. In protected mode, where QEMU's log does not show a register
/// of the kind, it is one that at least is kept.
pub fn kernel_with_spec_ctrl(mode: Mode, interrupt: Interrupt) -> Vec<u8> {
    let (kernel, mut file) = (Kernel::in_mode(mode), kernel_in_mode(mode, interrupt));
    if mode == Mode::Protected {
        assert!(replace(&mut file, OF_SPEC_CTRL, OF_LSTAR) >= 7);
        return file;
    }
    assert!(replace(&mut file, OF_GS, OF_TSC_AUX) >= 2);
    // Four steps; the beginning and the end of what comes at any time; the configuration.
    assert!(replace(&mut file, OF_SPEC_CTRL, OF_GS) >= 7);
    // A selector would bring a base of its own.
    let is_load =
        |code: &Instruction| code.mnemonic() == Mnemonic::Mov && code.op0_register() == Register::GS;
    let loads = kernel.instructions().filter(is_load);
    for load in loads {
        let at = kernel.place(load.ip());
        file[at..at + load.len()].fill(0x90);
    }
    file
}

/// What SPEC_CTRL is to hold before each instruction of a path; where that depends on who came there, nothing.
fn expected(ran: &Ran, is_entry: bool) -> BTreeMap<u64, Option<bool>> {
    let path = built(ran);
    // In the lab's own order page faults take the path of all exceptions, and theirs has nothing.
    if path.is_empty() && ran.label.starts_with("listing page_fault ") {
        return BTreeMap::new();
    }
    let step_of = |address: u64| {
        let step = ran
            .steps
            .iter()
            .find(|step| (step.address..step.address + step.code.len() as u64).contains(&address));
        step.unwrap().name.clone()
    };
    let is_exception = ran.label.starts_with("listing exception ");
    let is_on_first = if is_exception { None } else { Some(!is_entry) };
    let (mut is_on, mut all, mut writes) = (is_on_first, BTreeMap::new(), 0);
    for line in &path {
        all.insert(line.address, is_on);
        if line.text.trim() == "wrmsr" {
            writes += 1;
            is_on = Some(step_of(line.address).starts_with("IBRS: on"));
            if step_of(line.address).starts_with("IBRS: as it was") {
                is_on = None;
            }
        }
        // The branch of an exception that has found IBRS on.
        if line.text.starts_with("lfence") {
            is_on = if is_exception && writes == 0 { Some(true) } else { is_on };
        }
        let is_way_out =
            ["iretq", "sysretq", "sysretl", "sysexitq", "sysexitl", "lretq", "sysexit", "sysret"];
        if is_way_out.contains(&line.text.trim()) {
            is_on = Some(true);
        }
    }
    assert!(
        writes == if is_exception || is_entry { 2 } else { usize::from(ran.label.contains(START)) },
        "{}: {writes}",
        ran.label
    );
    // Between reading and writing it, an exception may have found either.
    if is_exception {
        let first = path.iter().position(|line| line.text.trim() == "wrmsr").unwrap();
        path[..=first].iter().for_each(|line| _ = all.insert(line.address, None));
    }
    all
}

fn wrong_in(session: &Session, trial: &Trial, bases: &[(bool, u64, u64)]) -> Vec<String> {
    let kernel = Kernel::read();
    let paths = kernel.symbol("paths_start")..kernel.symbol("paths_end");
    let stubs = kernel.symbol("trampoline_start")..kernel.symbol("trampoline_end");
    let text = kernel.symbol("kernel_start")..kernel.symbol("trampoline_start");
    let mut expected_at = BTreeMap::new();
    for (path, number) in &trial.paths {
        expected_at
            .extend(expected(&session.ran[*number], CLOSED.contains(path) || path.starts_with("call_gate")));
    }
    let (mut wrong, mut counts) = (Vec::new(), [0; 3]);
    for (is_program, place, base) in bases {
        let (kind, wanted) = if *is_program {
            (0, Some(false))
        } else if paths.contains(place) {
            (
                1,
                expected_at
                    .get(place)
                    .copied()
                    .unwrap_or_else(|| panic!("{place:x} is in no path that is listed")),
            )
        } else if stubs.contains(place) {
            continue;
        } else {
            assert!(text.contains(place), "{place:x}");
            (2, Some(true))
        };
        counts[kind] += 1;
        if let Some(is_on) = wanted
            && *base != if is_on { IBRS | STIBP } else { STIBP }
        {
            wrong.push(format!(
                "{base:x} before {place:x}, in {}",
                ["a program", "a path", "the kernel's functions"][kind]
            ));
        }
    }
    // Ticks come to few functions.
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
    wrong.sort();
    wrong.dedup();
    wrong
}

/// What is wrong in one configuration, by a kernel that was made for this interrupt.
fn wrong(switches: &str, interrupt: Interrupt, kernel: &[u8]) -> Vec<String> {
    let mut trial = Trial::new(switches, INTEL, OPEN.iter().chain(CLOSED).copied().chain([START]));
    trial.distance(100_000);
    // What is no system call ends the program; kernel_in_mode has it go on, past the exception's path.
    trial.calls(|case| !case.starts_with("foreign-"));
    let (session, log) = boot_kernel(&trial.script, kernel, interrupt, INTEL);
    let ended = session.ran.iter().filter(|ran| !ran.label.starts_with("listing"));
    ended.for_each(|ran| assert_eq!(ran.end, End::Exited(0), "{}", ran.label));
    wrong_in(&session, &trial, &log.bases)
}

const SWITCHES: [&str; 2] =
    ["pti=off gate=trap ibrs=on stibp=on", "pti=on gate=trap stack=minimum exit=iret ibrs=on stibp=on"];

#[test]
fn ibrs_is_on_in_the_kernel_and_off_in_programs_whatever_interrupts_what() {
    if is_missing() {
        return;
    }
    for switches in SWITCHES {
        for interrupt in [Interrupt::Nmi, Interrupt::Tick] {
            let wrong = wrong(switches, interrupt, &kernel_with_spec_ctrl(Mode::Long, interrupt));
            assert!(wrong.is_empty(), "[{switches}] {interrupt:?}: {wrong:#?}");
        }
    }
}

#[test]
fn an_nmi_that_leaves_ibrs_on_is_found() {
    if is_missing() {
        return;
    }
    let (original, mut changed) = (Kernel::read(), kernel_with_spec_ctrl(Mode::Long, Interrupt::Nmi));
    let [from, to] =
        ["exception_at_any_time", "exception_iret"].map(|name| original.place(original.symbol(name)));
    let writes: Vec<usize> = (from..to).filter(|at| changed[*at..at + 2] == WRMSR).collect();
    // IBRS on, the barrier of entry-ibpb, IBRS as it was.
    assert_eq!(writes.len(), 3);
    changed[writes[2]..writes[2] + 2].fill(0x90);
    let wrong = wrong(SWITCHES[0], Interrupt::Nmi, &changed);
    assert!(wrong.iter().any(|wrong| wrong.ends_with("in a program")), "{wrong:#?}");
}

//! What the kernel finds at boot of its ring 0, and of the processor's counters.

use crate::guest::{Emulator, Script};
use crate::kernel::Kernel;
use crate::silicon::boot_kernel;
use iced_x86::{Instruction, Mnemonic};
use places::lab::Event;
use record::abi;
use table::Table;

/// Instructions of the loop in either ring, the stamps included.
const LOOP: u64 = 80_005;

#[test]
fn the_test_of_ring_0_comes_to_its_end_in_every_emulator() {
    for emulator in Emulator::ALL {
        let Some(session) = Script::new().boot(emulator) else { continue };
        let boot = session.boot;
        assert_eq!((boot.ring0_ticks, boot.ring3_ticks, boot.syscall_works), (LOOP, LOOP, true));
        // A tick is an instruction. Less the stamps, it is the same number each time.
        let each = |ticks: u64| (ticks / abi::RING_TIMES, ticks % abi::RING_TIMES);
        let turn = |instructions| (instructions, ticks_of_stamps(boot.cr3_ticks));
        assert_eq!((each(boot.cr3_ticks), each(boot.cpuid_ticks)), (turn(3), turn(4)), "{emulator:?}");
        // Each is there where the processor has it, and nowhere else.
        let has = |feature: u64| boot.features >> feature & 1 == 1;
        for (ticks, is_there, instructions) in [
            (boot.cr4_ticks, has(abi::FEATURE_PGE), 4),
            (boot.spec_ctrl_ticks, has(abi::FEATURE_IBRS), 6),
            (boot.pred_cmd_ticks, has(abi::FEATURE_IBPB), 6),
            (boot.flush_cmd_ticks, has(abi::FEATURE_L1DFLUSH), 6),
            (boot.invpcid_ticks, has(abi::FEATURE_INVPCID), 3),
            (boot.invlpg_ticks, true, 3),
        ] {
            assert_eq!(
                each(ticks),
                if is_there { (instructions, ticks_of_stamps(boot.cr3_ticks)) } else { (0, 0) }
            );
        }
        // Call number, int and two for the loop; on the path its check, the way out, and iretq: see docs/lab.md.
        let (interrupt, _) = each(boot.interrupt_ticks);
        let (invalid, _) = each(boot.invalid_ticks);
        assert!((10..=16).contains(&interrupt), "{emulator:?}: {interrupt}");
        assert!((32..=48).contains(&invalid), "{emulator:?}: {invalid}");
        let is_tcg = boot.signature.starts_with(b"TCGTCGTCGTCG");
        assert_eq!(is_tcg, matches!(emulator, Emulator::TcgIntel | Emulator::TcgAmd));
        assert_eq!(boot.signs >> abi::SIGN_HYPERVISOR & 1 == 1, is_tcg);
        assert_eq!(boot.signs >> abi::SIGN_DEPRIVILEGED & 1, 0);
        // Bochs raises #GP for the register, as a processor does that lacks it: the kernel survives that.
        assert_eq!(boot.microcode != 0, is_tcg, "{emulator:?}: {:#x}", boot.microcode);
    }
}

/// KVM's emulator has fxrstor, but neither xrstor nor ldmxcsr: a KVM that emulates ring 0 stopped the kernel before it could tell.
#[test]
fn the_test_of_ring_0_needs_no_instruction_that_kvm_does_not_emulate() {
    let kernel = without(&Kernel::read(), |code| {
        use Mnemonic::*;
        [Xrstor, Xrstor64, Xsave, Xsave64, Xsaveopt, Ldmxcsr, Stmxcsr, Vldmxcsr].contains(&code.mnemonic())
    });
    let Some(session) = boot_kernel(&Script::new(), &kernel, "") else { return };
    assert_eq!((session.boot.ring0_ticks, session.boot.ring3_ticks), (LOOP, LOOP));
}

/// The kernel with #UD in place of some instructions.
fn without(kernel: &Kernel, is_one: impl Fn(&Instruction) -> bool) -> Vec<u8> {
    const UD2: &[u8] = &[0x0f, 0x0b];
    let mut file = places::lab::kernel(places::lab::Mode::Long).to_vec();
    let found: Vec<Instruction> = kernel.instructions().filter(is_one).collect();
    assert!(found.len() > 2, "{found:?}");
    for code in found {
        let at = kernel.place(code.ip());
        file[at..at + UD2.len()].copy_from_slice(UD2);
    }
    file
}

/// What remains of a count when the turns are taken away.
fn ticks_of_stamps(ticks: u64) -> u64 {
    ticks % abi::RING_TIMES
}

/// Some emulators have counters by CPUID that do not count, or raise #GP: none of these may be shown. From 3.1 on Bochs has some that
/// count, cycles as it counts instructions: as the counter of time does.
#[test]
fn a_counter_that_does_not_count_is_no_counter() {
    for emulator in Emulator::ALL {
        let (mut script, table) = (Script::new(), Table::get());
        let row = (table.entry("call").unwrap(), table.operation("none").unwrap());
        script.row(row.0, row.1);
        let Some(events) = script.events(emulator) else { continue };
        assert!(events.iter().any(|event| matches!(event, Event::End { .. })));
        for event in events {
            let Event::Counters { counters, .. } = event else { continue };
            let counts = (abi::COUNTER_SMI..=abi::COUNTER_REFERENCE).map(|counter| counters.get(counter));
            let ticks = counters.get(abi::COUNTER_TSC);
            assert!(ticks.is_some_and(|ticks| ticks > 0), "{emulator:?}: {counters:?}");
            let is_bochs = matches!(emulator, Emulator::Bochs | Emulator::BochsAmd);
            let counts_or_is_none = |count: Option<u64>| count.is_none() || is_bochs && count == ticks;
            assert!(counts.clone().all(counts_or_is_none), "{emulator:?}: {counters:?}");
        }
    }
}

//! What the processor keeps ring 0 and ring 3 from: SMEP and UMIP, which are switches. And whether it flushes what it says it does.

use crate::build::{OnHost, freestanding};
use crate::guest::{Emulator, Script};
use crate::kernel::Kernel;
use places::lab::End;

/// Descriptors of the GDT, and the bytes of one (`lab/cpu/registers.h`).
/// GDT_ENTRIES of lab/cpu/registers.h.
const GDT_BYTES: u64 = 64 * 8;

/// What sgdt tells: the table's address and limit, or Linux's numbers.
#[test]
fn programs_are_told_where_tables_are_without_umip_alone() {
    let program = freestanding(64, &["questions.c", "ways64.S"]);
    let real = Kernel::read().symbol("gdt").wrapping_add(GDT_BYTES - 1);
    // QEMU's model of an EPYC does not have it.
    for emulator in [Emulator::TcgIntel, Emulator::Bochs] {
        let mut script = Script::new();
        for (umip, swapgs) in [("on", "off"), ("off", "on"), ("on", "fence")] {
            script.set(&format!("umip={umip} swapgs={swapgs}"));
            script.exec::<&str>(&program, &[]);
        }
        let Some(session) = script.boot(emulator) else { continue };
        let told: Vec<bool> = session
            .ran
            .iter()
            .map(|ran| {
                let text = ran.text();
                let line = text
                    .lines()
                    .find_map(|line| line.strip_prefix("sgdt: "))
                    .unwrap_or_else(|| panic!("{text} {:?}", ran.end));
                assert!(line != "not here", "{}: no UMIP", emulator.name());
                let by_gs = text.lines().find_map(|line| line.strip_prefix("sgdt by gs: "));
                assert_eq!(by_gs, Some(line), "{}", emulator.name());
                line.contains(&format!("{real:x}"))
            })
            .collect();
        assert_eq!(told, [false, true, false], "{}", emulator.name());
    }
}

#[test]
fn the_kernel_executes_a_programs_memory_without_smep_alone() {
    for emulator in Emulator::ALL {
        let mut script = Script::new();
        for switches in ["smep=on", "smep=off", "pti=on smap=on", "smep=on"] {
            script.set(switches);
            script.check("smep");
        }
        let Some(session) = script.boot(emulator) else { continue };
        let held = [true, false, false, true].map(|held| End::Checked(held, [0; 3]));
        assert!(session.ran.iter().map(|ran| ran.end).eq(held), "{}: {:?}", emulator.name(), session.ran);
    }
}

/// CPUID 1, eax, of a model of Intel's family 6.
fn signature(model: u32, stepping: u32) -> u32 {
    model >> 4 << 16 | 6 << 8 | (model & 0xf) << 4 | stepping
}

/// The processors that Linux 6.18 knows (arch/x86/mm/init.c, `invlpg_miss_ids`).
#[test]
fn where_invlpg_leaves_global_translations_is_known_by_model_and_microcode() {
    let on_host = OnHost::new("errata.c", &["cpu/errata.c"]);
    let affected = |eax: u32, microcode: u64| on_host.run(&format!("{eax} {microcode}"), b"") == "1\n";
    for (model, repaired) in
        [(0x97, 0x2e), (0x9a, 0x42c), (0xbe, 0x11), (0xb7, 0x118), (0xba, 0x4117), (0xbf, 0x2e)]
    {
        for stepping in [0, 2, 15] {
            let eax = signature(model, stepping);
            // 0: the microcode is unknown.
            let found = [0, repaired - 1, repaired, repaired + 1].map(|microcode| affected(eax, microcode));
            assert_eq!(found, [true, true, false, false], "{model:x}");
        }
    }
    // Skylake, Sapphire Rapids, Meteor Lake; the same model numbers in another family.
    for eax in [signature(0x5e, 3), signature(0x8f, 6), signature(0xaa, 4), signature(0x97, 2) ^ 1 << 8] {
        assert!(!affected(eax, 0), "{eax:x}");
    }
}

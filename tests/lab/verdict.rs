//! What an image makes of the test of ring 0 (`lab/plan/verdict.c`, compiled for the host) is what the command makes of it.

use crate::build::OnHost;
use environment::{Ring0, RingTest, Trapped, Verdict};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use record::abi;
use std::collections::BTreeSet;

const WORDS: usize = abi::LAB_BOOT_WORDS as usize;

/// Ticks at 0.1 to 8 in a core cycle; what things take in cycles lies around the thresholds, or anywhere.
fn drawn(random: &mut StdRng) -> [u64; WORDS] {
    let rate = random.random_range(0.1..8.0);
    let mut ticks = |least: f64, most: f64| {
        let cycles: f64 = if random.random_bool(0.03) { 0.0 } else { random.random_range(least..most) };
        (cycles * rate) as u64
    };
    let times = abi::RING_TIMES as f64;
    let mut boot = [0; WORDS];
    for (word, least, most) in [
        (abi::LAB_BOOT_RING0_TICKS, 50_000.0, 260_000.0),
        (abi::LAB_BOOT_RING3_TICKS, 119_000.0, 121_000.0),
        (abi::LAB_BOOT_CR3_TICKS, 100.0 * times, 1400.0 * times),
        (abi::LAB_BOOT_CPUID_TICKS, 100.0 * times, 2000.0 * times),
        (abi::LAB_BOOT_INTERRUPT_TICKS, 300.0 * times, 3500.0 * times),
        (abi::LAB_BOOT_INVALID_TICKS, 300.0 * times, 3500.0 * times),
        (abi::LAB_BOOT_CR4_TICKS, 100.0 * times, 3000.0 * times),
        (abi::LAB_BOOT_SPEC_CTRL_TICKS, 100.0 * times, 3000.0 * times),
        (abi::LAB_BOOT_PRED_CMD_TICKS, 1000.0 * times, 40_000.0 * times),
        (abi::LAB_BOOT_FLUSH_CMD_TICKS, 500.0 * times, 40_000.0 * times),
        (abi::LAB_BOOT_INVPCID_TICKS, 100.0 * times, 1400.0 * times),
        (abi::LAB_BOOT_INVLPG_TICKS, 100.0 * times, 1400.0 * times),
    ] {
        boot[word as usize] = ticks(least, most);
    }
    boot[abi::LAB_BOOT_SYSCALL_WORKS as usize] = u64::from(random.random_bool(0.97));
    boot[abi::LAB_BOOT_SIGNS as usize] = u64::from(random.random_bool(0.03)) << abi::SIGN_DEPRIVILEGED;
    boot
}

/// As crates/measure has it from the kernel's first record.
fn command_says(boot: &[u64; WORDS]) -> (bool, u64) {
    let word = |word: u64| boot[word as usize];
    let each = |index: u64| word(index) as f64 / abi::RING_TIMES as f64;
    let where_it_works = |index: u64| (word(index) != 0).then(|| each(index));
    let judged = Ring0::judge(&RingTest {
        loop_ticks: word(abi::LAB_BOOT_RING0_TICKS),
        loop_ticks_outside: word(abi::LAB_BOOT_RING3_TICKS),
        loop_cycles: (abi::RING_TURNS * abi::RING_TURN_CYCLES) as f64,
        syscall_works: word(abi::LAB_BOOT_SYSCALL_WORKS) == 1,
        cr3_write: each(abi::LAB_BOOT_CR3_TICKS),
        cpuid: each(abi::LAB_BOOT_CPUID_TICKS),
        interrupt: where_it_works(abi::LAB_BOOT_INTERRUPT_TICKS),
        invalid_instruction: where_it_works(abi::LAB_BOOT_INVALID_TICKS),
        deprivileged: word(abi::LAB_BOOT_SIGNS) >> abi::SIGN_DEPRIVILEGED & 1 == 1,
        cr4_write: where_it_works(abi::LAB_BOOT_CR4_TICKS),
        spec_ctrl_write: where_it_works(abi::LAB_BOOT_SPEC_CTRL_TICKS),
        pred_cmd_write: where_it_works(abi::LAB_BOOT_PRED_CMD_TICKS),
        flush_cmd_write: where_it_works(abi::LAB_BOOT_FLUSH_CMD_TICKS),
        invpcid: where_it_works(abi::LAB_BOOT_INVPCID_TICKS),
        invlpg: where_it_works(abi::LAB_BOOT_INVLPG_TICKS),
        ..RingTest::default()
    });
    let bit = |what: &Trapped| match what {
        Trapped::Cr3Writes => 1,
        Trapped::Interrupts => 2,
        Trapped::InvalidInstructions => 4,
        Trapped::Cr4Writes => 8,
        Trapped::SpecCtrlWrites => 16,
        Trapped::PredCmdWrites => 32,
        Trapped::FlushCmdWrites => 64,
        Trapped::Invpcid => 128,
        Trapped::Invlpg => 256,
    };
    (judged.verdict == Verdict::Emulated, judged.trapped.iter().map(bit).sum())
}

#[test]
fn an_image_judges_ring_0_as_the_command_does() {
    let mut random = StdRng::seed_from_u64(5);
    let mut boots: Vec<[u64; WORDS]> = (0..5_000).map(|_| drawn(&mut random)).collect();
    boots.push([0; WORDS]);
    let words: Vec<String> = boots.iter().flatten().map(|word| format!("{word:x}")).collect();
    let text = OnHost::new("verdict.c", &["plan/verdict.c"]).run("", words.join(" ").as_bytes());
    let image: Vec<(bool, u64)> = text
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(emulated, trapped)| (emulated == "1", trapped.parse().unwrap()))
        .collect();
    let command: Vec<(bool, u64)> = boots.iter().map(command_says).collect();
    let differs = boots.iter().zip(image.iter().zip(&command)).find(|(_, (image, command))| image != command);
    assert!(image.len() == boots.len() && differs.is_none(), "{differs:?}");
    let some = |of: u64| command.iter().map(|(_, trapped)| trapped & of).collect::<BTreeSet<_>>().len();
    assert!(command.contains(&(true, 0)), "emulated");
    // All that may be trapped, in all combinations of those that are judged alike.
    assert_eq!([7, 8 + 16, 32 + 64, 128 + 256].map(some), [8, 4, 4, 4]);
}

#[test]
fn numbers_that_no_processor_has_overflow_nothing() {
    let words = ["ffffffffffffffff"; WORDS].join(" ");
    assert_eq!(OnHost::new("verdict.c", &["plan/verdict.c"]).run("", words.as_bytes()), "1 0\n");
}

//! `stack-offset=prandom`: by the entries of either kernel that again64.S and again32.S are run with here, each call moves the stack by the next
//! number of Linux's generator.

use crate::build::freestanding;
use crate::guest::Script;
use crate::kernel::Kernel;
use crate::supervisor::answered;
use places::lab::Mode;
use table::Table;

/// The generator as Linux writes it down (lib/random32.c), independently of the lab's code.
struct Generator([u32; 4]);

/// The least that a word may be, and what a lesser one is raised by (`__seed()`).
const LEAST: [u32; 4] = [2, 8, 16, 128];

impl Generator {
    fn of(words: [u32; 4]) -> Generator {
        let raised = |place: usize| match words[place] < LEAST[place] {
            true => words[place] + LEAST[place],
            false => words[place],
        };
        Generator([0, 1, 2, 3].map(raised))
    }

    /// What the lab seeds it with before a program: SplitMix64, of the plan's seed with all bits changed, and of what that gives.
    fn of_plan(seed: u64) -> Generator {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = |number: u64| {
            let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            number ^ number >> 31
        };
        let first = mixed(!seed);
        Generator::of([1, 2, 3, 4].map(|place| mixed(first.wrapping_add(STEP.wrapping_mul(place))) as u32))
    }

    /// `prandom_u32_state()`.
    fn next(&mut self) -> u32 {
        let tausworthe = |s: u32, a: u32, b: u32, c: u32, d: u32| ((s & c) << d) ^ (((s << a) ^ s) >> b);
        let [s1, s2, s3, s4] = self.0;
        self.0 = [
            tausworthe(s1, 6, 13, 4_294_967_294, 18),
            tausworthe(s2, 2, 27, 4_294_967_288, 2),
            tausworthe(s3, 13, 21, 4_294_967_280, 7),
            tausworthe(s4, 3, 12, 4_294_967_168, 13),
        ];
        self.0.iter().fold(0, |all, word| all ^ word)
    }
}

/// The first numbers of `prandom_test1` there, which Linux tests itself by: what the eleventh is for these seeds.
#[test]
fn the_generator_of_these_tests_passes_linuxs_own() {
    for (seed, expected) in [(1, 3_484_351_685), (2, 2_623_130_059), (3, 3_125_133_893), (4, 984_847_254)] {
        let (mut words, mut last) = ([0; 4], seed);
        for (word, least) in words.iter_mut().zip(LEAST) {
            let congruential = u32::wrapping_mul(last, 69069);
            last = if congruential < least { congruential + least } else { congruential };
            *word = last;
        }
        let mut generator = Generator::of(words);
        (0..10).for_each(|_| _ = generator.next());
        assert_eq!(generator.next(), expected, "{seed}");
    }
}

/// Where the service of each call finds the stack: a program makes 256 calls by one entry, of a kernel that answers gettimeofday so.
fn stack_pointers(mode: Mode, seed: u64, switches: &str) -> Option<Vec<(&'static str, Vec<u64>)>> {
    let (program, names, service, code): (_, &[&'static str], _, &[u8]) = match mode {
        // mov %rsp, %rax; ret
        Mode::Long => {
            let names = &["syscall", "sysenter", "call_gate", "ud", "lock_nop", "int3", "div0"];
            (freestanding(64, &["again64.S"]), names, "call_gettimeofday", &[0x48, 0x89, 0xe0, 0xc3])
        }
        // mov %esp, %eax; ret
        Mode::Protected => {
            let names = &["int80", "sysenter", "gateway", "call_gate", "lcall7", "ud", "int3", "div0"];
            (freestanding(32, &["again32.S"]), names, "call_gettimeofday_32", &[0x89, 0xe0, 0xc3])
        }
    };
    let kernel = Kernel::in_mode(mode);
    let at = kernel.place(kernel.symbol(service));
    let mut file = places::lab::kernel(mode).to_vec();
    file[at..at + code.len()].copy_from_slice(code);
    let abi = if mode == Mode::Long { "x86_64" } else { "i386" };
    let number = format!("{:x}", Table::get().operation("gettimeofday").unwrap().numbers[abi]);
    let mut script = Script::in_mode(mode);
    script.seed = seed;
    script.set(switches);
    let entries: Vec<_> = names.iter().map(|entry| (*entry, number.clone())).collect();
    answered(script, &program, &entries, &file)
}

fn check(mode: Mode, bytes_pushed: u64, configurations: &[&str]) {
    let mut compared = 0;
    for (seed, others) in
        [0, 20_261_128].iter().flat_map(|seed| configurations.iter().map(move |one| (*seed, one)))
    {
        let with = |value| stack_pointers(mode, seed, &format!("{others} stack-offset={value}"));
        let (Some(off), Some(drawn)) = (with("off"), with("prandom")) else { return };
        for ((entry, off), (_, drawn)) in off.iter().zip(&drawn) {
            let mut generator = Generator::of_plan(seed);
            let expected: Vec<u64> = drawn.iter().map(|_| u64::from(generator.next() & 0x3f0)).collect();
            let found: Vec<u64> =
                off.iter().zip(drawn).map(|(off, drawn)| off - bytes_pushed - drawn).collect();
            assert_eq!(found, expected, "{mode:?} seed {seed}, {others}: {entry}");
            compared += found.len();
        }
    }
    assert_eq!(compared, 2 * configurations.len() * 256 * if mode == Mode::Long { 7 } else { 8 });
}

#[test]
fn each_call_moves_the_stack_by_the_next_number_of_linuxs_generator() {
    const ORDER: &str = "stack=frame pti=on copy-frame=on exit=natural order=linux-6.12 work=on";
    check(Mode::Long, 16, &["pti=off stack=frame clear-registers=on", "pti=on stack=minimum", ORDER]);
}

#[test]
fn in_protected_mode_too_each_call_moves_the_stack_by_the_next_number_of_linuxs_generator() {
    check(Mode::Protected, 8, &["pti=off stack=frame", "pti=on stack=minimum exit=iret"]);
}

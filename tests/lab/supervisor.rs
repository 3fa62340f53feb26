//! What protects or watches the kernel behind an entry: bases of GS, cleared registers, the stack's offset and its canary, work, trace,
//! filter, audit. Each does what it is for, and costs its instructions.

use crate::build::{OnHost, Program, freestanding};
use crate::guest::{Emulator, LIMIT, Ran, Script, Session, limits};
use crate::kernel::{Kernel, leaves, templates};
use crate::monitor::{is_missing, wrapped};
use crate::silicon::boot_kernel;
use crate::steps::PATHS;
use crate::together::Programs;
use crate::whole::is_whole;
use places::lab::{End, Limits, Qemu};
use std::collections::BTreeSet;
use table::paths::{Paths, Step};
use table::{Operation, Table};

/// Every step of this file, as a switch is set for it; `stack=frame` is the default.
const STEPS: &[(&str, &str)] = &[
    ("swapgs", "on"),
    ("swapgs", "fence"),
    ("clear-registers", "on"),
    ("stack-offset", "on"),
    ("stack-offset", "prandom"),
    ("canary", "on"),
    ("work", "on"),
    ("trace", "on"),
    ("filter", "1"),
    ("filter", "2"),
    ("filter", "3"),
    ("filter", "4"),
    ("filter", "64"),
    ("audit", "on"),
];

/// Those that need no frame.
const WITHOUT_FRAME: &[&str] = &["swapgs", "stack-offset", "canary"];

/// All at once.
const ALL: &str =
    "swapgs=fence clear-registers=on stack-offset=on canary=on work=on trace=on filter=9 audit=on";

const ENTRIES_64: &[&str] =
    &["syscall", "sysenter", "call_gate", "ud", "lock_nop", "int3", "div0", "int80", "call_gate_i386"];

/// Those with i386 numbers.
fn is_i386(name: &str) -> bool {
    ["int80", "call_gate_i386"].contains(&name)
}

fn operation(name: &str) -> &'static Operation {
    Table::get().operation(name).unwrap()
}

/// Instructions of a step that a call executes.
fn executed(step: &Step, configuration: &[(&str, &str)]) -> u64 {
    let Some(executed) = step.executed else { return step.instructions().len() as u64 };
    let switch = Table::get().switches.iter().find(|switch| u32::from(switch.id) == executed.switch);
    let value = switch.and_then(|switch| {
        let set = configuration.iter().find(|(name, _)| *name == switch.name)?;
        switch.value(set.1)
    });
    executed.count + executed.each * u64::from(value.unwrap_or(0))
}

/// What the steps of a path take until it leaves, all jumps apart.
fn length(paths: &Paths, path: &str, configuration: &[(&str, &str)]) -> u64 {
    let steps = paths.steps(paths.path(path).unwrap());
    let on = steps.iter().filter(|step| step.hook.is_none() && step.is_on(configuration));
    let leaves = |step: &&Step| step.instructions().last().is_some_and(leaves);
    let on: Vec<&Step> = on.collect();
    let out = on.iter().position(leaves).unwrap();
    on[..=out].iter().map(|step| executed(step, configuration)).sum()
}

fn text(configuration: &[(&str, &str)]) -> String {
    configuration.iter().map(|(name, value)| format!("{name}={value} ")).collect()
}

/// Configurations with nothing of this file, and the same with each step, and with all.
fn configurations() -> Vec<Vec<(&'static str, &'static str)>> {
    let mut all = Vec::new();
    let bases: [&[(&str, &str)]; 4] = [
        &[("stack", "frame"), ("pti", "off"), ("exit", "natural")],
        &[("stack", "frame"), ("pti", "on"), ("exit", "iret")],
        &[("stack", "frame"), ("pti", "on"), ("exit", "natural")],
        &[("stack", "minimum"), ("pti", "off"), ("exit", "natural")],
    ];
    for base in bases {
        let has_frame = base[0].1 == "frame";
        let off = STEPS.iter().map(|(name, _)| (*name, if *name == "filter" { "0" } else { "off" }));
        let off: Vec<_> = base.iter().copied().chain(off).collect();
        all.push(off.clone());
        let can = |name: &str| has_frame || WITHOUT_FRAME.contains(&name);
        for step in STEPS.iter().filter(|step| can(step.0)) {
            all.push(off.iter().map(|old| if old.0 == step.0 { *step } else { *old }).collect());
        }
        if has_frame {
            let every = ALL.split(' ').map(|pair| pair.split_once('=').unwrap());
            all.push(base.iter().copied().chain(every).collect());
        }
    }
    all
}

#[test]
fn each_step_adds_the_instructions_of_its_listing() {
    let (_, paths) = templates(places::lab::Mode::Long);
    let (mut script, mut expected) = (Script::new(), Vec::new());
    for configuration in configurations() {
        script.set(&text(&configuration));
        for (name, path) in PATHS.iter() {
            for operation in operations().map(operation) {
                // What is refused before registers are saved comes by fewer steps.
                let is_short = operation.name == "none" && configuration[0] == ("stack", "minimum");
                if !is_short {
                    script.row(Table::get().entry(name).unwrap(), operation);
                    expected.push((length(paths, path, &configuration), configuration.clone()));
                }
            }
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let costs: Vec<u64> = session.ran.iter().map(Ran::cost).collect();
    let (mut base, mut wrong, mut compared) = (0, Vec::new(), 0);
    for (row, (length, configuration)) in expected.iter().enumerate() {
        let is_base = configuration[3..].iter().all(|(_, value)| ["off", "0"].contains(value));
        let starts = row == 0 || expected[row - 1].1 != *configuration;
        base = if is_base && starts { row } else { base };
        let start = expected.iter().position(|other| other.1 == *configuration).unwrap();
        let of_base = base + (row - start);
        let (found, listed) =
            (costs[row] as i64 - costs[of_base] as i64, *length as i64 - expected[of_base].0 as i64);
        compared += u32::from(listed != 0);
        if found != listed {
            wrong.push(format!("{}: {found} counted, {listed} listed", session.ran[row].label));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let least = if is_whole() { 1000 } else { 500 };
    assert!(compared > least, "{compared}");
}

/// A call executes all of a path. A number that no call has, which comes by fewer steps, is for `KENTRY_WHOLE=1`.
fn operations() -> impl Iterator<Item = &'static str> {
    ["getppid", "none"].into_iter().take(if is_whole() { 2 } else { 1 })
}

/// What a program may set: its own; where the kernel's is, which the kernel must not take for its own; the end of the lower half.
fn bases() -> [u64; 4] {
    [0x1234_5000, Kernel::read().symbol("kernel_cr3"), 0, 0x7fff_ffff_f000]
}

#[test]
fn programs_keep_their_bases_of_gs() {
    let program = freestanding(64, &["bases64.S"]);
    let mut script = Script::new();
    for swapgs in ["on", "fence", "off"] {
        for others in [
            "pti=off stack=frame exit=natural gate=interrupt",
            "pti=on stack=minimum exit=natural gate=trap",
            "pti=on stack=frame exit=iret gate=interrupt",
        ] {
            script.set(&format!("swapgs={swapgs} {others}"));
            for (entry, base) in ENTRIES_64.iter().flat_map(|entry| bases().map(|base| (entry, base))) {
                script.run(&program, &[entry, &format!("{base:x}")]);
            }
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let wrong: Vec<_> = session.ran.iter().filter(|ran| ran.end != End::Exited(0)).collect();
    assert!(wrong.is_empty(), "{wrong:#x?}");
}

#[test]
fn programs_of_either_width_keep_their_bases_of_gs_beside_each_other() {
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd, Emulator::Bochs, Emulator::BochsAmd] {
        let programs = Programs::on(emulator);
        let mut script = Script::new();
        for switches in
            ["swapgs=on pti=off", "swapgs=fence pti=on", "swapgs=off", &format!("{ALL} pti=on gate=trap")]
        {
            script.set(switches);
            programs.run_all(&mut script);
        }
        let Some(session) = script.boot(emulator) else { continue };
        let wrong: Vec<_> = session.ran.iter().filter(|ran| ran.end != End::Exited(0)).collect();
        assert!(!session.ran.is_empty() && wrong.is_empty(), "{emulator:?}: {wrong:#x?}");
    }
}

/// The kernel with other code where gettimeofday is served, which is long enough.
fn serving(code: &[u8]) -> Vec<u8> {
    let kernel = Kernel::read();
    let mut file = places::lab::kernel(places::lab::Mode::Long).to_vec();
    for name in ["call_gettimeofday", "call_gettimeofday_32"] {
        let at = kernel.place(kernel.symbol(name));
        file[at..at + code.len()].copy_from_slice(code);
    }
    file
}

fn number(entry: &str) -> String {
    let numbers = &operation("gettimeofday").numbers;
    format!("{:x}", numbers[if is_i386(entry) { "i386" } else { "x86_64" }])
}

/// What every call by each entry answers, where that kernel serves gettimeofday so.
fn answers(switches: &str, code: &[u8]) -> Option<Vec<(&'static str, Vec<u64>)>> {
    let mut script = Script::new();
    script.set(switches);
    let entries: Vec<_> = ENTRIES_64.iter().map(|entry| (*entry, number(entry))).collect();
    answered(script, &freestanding(64, &["again64.S"]), &entries, &serving(code))
}

/// What again64.S, or again32.S, writes of its calls by each entry, of which the call's number stands behind the name.
pub fn answered(
    mut script: Script,
    program: &Program,
    entries: &[(&'static str, String)],
    kernel: &[u8],
) -> Option<Vec<(&'static str, Vec<u64>)>> {
    entries.iter().for_each(|(entry, number)| _ = script.run(program, &[entry, number]));
    let session = boot_kernel(&script, kernel, "")?;
    let words = |ran: &Ran| {
        assert_eq!(ran.end, End::Exited(0), "{}", ran.label);
        ran.output.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    };
    Some(entries.iter().map(|(entry, _)| *entry).zip(session.ran.iter().map(words)).collect())
}

/// or of r12 to r15, and ret
const OR_OF_LAST: &[u8] = &[0x4c, 0x89, 0xe0, 0x4c, 0x09, 0xe8, 0x4c, 0x09, 0xf0, 0x4c, 0x09, 0xf8, 0xc3];

/// or of rbx, rbp, r11, and ret: with x86-64 numbers none is an argument
const OR_OF_OTHERS_64: &[u8] = &[0x48, 0x89, 0xd8, 0x48, 0x09, 0xe8, 0x4c, 0x09, 0xd8, 0xc3];

/// or of r10, r11, and ret
const OR_OF_OTHERS_32: &[u8] = &[0x4c, 0x89, 0xd0, 0x4c, 0x09, 0xd8, 0xc3];

#[test]
fn behind_cleared_registers_a_service_finds_nothing_of_the_program_but_arguments() {
    for pti in ["pti=off", "pti=on"] {
        for code in [OR_OF_LAST, OR_OF_OTHERS_64, OR_OF_OTHERS_32] {
            let meant = |entry: &str| match code.len() {
                10 => !is_i386(entry),
                7 => is_i386(entry),
                _ => true,
            };
            let with = |value| answers(&format!("{pti} clear-registers={value}"), code);
            let (Some(off), Some(on)) = (with("off"), with("on")) else { return };
            for ((entry, off), (_, on)) in off.iter().zip(&on).filter(|((entry, _), _)| meant(entry)) {
                assert!(on.iter().all(|found| *found == 0), "{pti} {entry} {on:x?}");
                // The program counts in r12, and its stack is in rbp or r11 for some.
                assert!(code.len() != OR_OF_LAST.len() || off.iter().any(|found| *found != 0), "{entry}");
            }
        }
    }
}

/// mov %rsp, %rax; ret
const STACK_POINTER: &[u8] = &[0x48, 0x89, 0xe0, 0xc3];

#[test]
fn the_stack_begins_elsewhere_for_each_call_and_stays_within_its_bounds() {
    let bases = ["pti=off stack=frame", "pti=on stack=minimum", "pti=on stack=frame canary=on"];
    for (others, drawn) in bases.iter().flat_map(|others| ["on", "prandom"].map(|drawn| (others, drawn))) {
        let with = |value| answers(&format!("{others} stack-offset={value}"), STACK_POINTER);
        let (Some(off), Some(on)) = (with("off"), with(drawn)) else { return };
        for ((entry, off), (_, on)) in off.iter().zip(&on) {
            let fixed: BTreeSet<u64> = off.iter().copied().collect();
            assert_eq!(fixed.len(), 1, "{entry}");
            // Two words of its own.
            let distances: BTreeSet<u64> = on.iter().map(|found| off[0] - 16 - found).collect();
            assert!(distances.len() > 20, "{others} {drawn} {entry}: {distances:?}");
            assert!(distances.iter().all(|distance| *distance < 1024 && distance % 16 == 0), "{distances:?}");
            assert!(
                distances.iter().any(|distance| *distance >= 512),
                "{others} {drawn} {entry}: {distances:?}"
            );
            // What was drawn does not tell what is drawn next.
            let steps: BTreeSet<i64> = on.windows(2).map(|two| two[1] as i64 - two[0] as i64).collect();
            assert!(steps.len() > 20, "{others} {drawn} {entry}: {steps:?}");
        }
    }
}

/// Boots a kernel that may end before the plan does: then what it said.
fn try_kernel(script: &Script, kernel: &[u8]) -> Option<Result<Session, String>> {
    if is_missing() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel");
    std::fs::write(&file, kernel).unwrap();
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" -kernel {}", file.display()));
    let boot = |archive: &[u8], programs, limits: &Limits| qemu.boot(archive, programs, limits);
    Some(script.try_in(&boot, Qemu::TCG_HERTZ, &limits()))
}

/// movb $0x5a, 8(%rsp); xor %eax, %eax; ret
const WRITES_OVER_CANARY: &[u8] = &[0xc6, 0x44, 0x24, 0x08, 0x5a, 0x31, 0xc0, 0xc3];

/// 8(%rsp) to rax; ret
const READS_CANARY: &[u8] = &[0x48, 0x8b, 0x44, 0x24, 0x08, 0xc3];

#[test]
fn a_canary_that_was_written_over_ends_the_boot() {
    let program = freestanding(64, &["again64.S"]);
    for (switches, entry) in [
        ("pti=off stack=frame", "syscall"),
        ("pti=on stack=frame", "int80"),
        ("pti=on stack=minimum", "call_gate"),
        ("pti=off stack=minimum", "ud"),
    ] {
        let boot = |canary: &str, code| {
            let mut script = Script::new();
            script.set(&format!("{switches} canary={canary}"));
            script.run(&program, &[entry, &number(entry)]);
            try_kernel(&script, &serving(code))
        };
        let Some(failed) = boot("on", WRITES_OVER_CANARY) else { return };
        let why = failed.unwrap_err();
        assert!(why.contains("a service has written over the canary"), "{switches} {entry}: {why}");
        let session = boot("on", READS_CANARY).unwrap().unwrap();
        let word = u64::from_le_bytes(*session.ran[0].output.first_chunk().unwrap());
        assert!(word != 0 && word & 0xff == 0, "{word:x}");
    }
}

/// An instruction of a filter program: code, how many a jump skips if equal and if not, k.
type Instruction = [u32; 4];

const LOAD: u32 = 0x20;
const JUMP_EQUAL: u32 = 0x15;
const RETURN: u32 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const ARCH_X86_64: u32 = 0xc000_003e;
const ARCH_I386: u32 = 0x4000_0003;

/// Runs a filter program as the manual says (seccomp(2), bpf of FreeBSD): what it returns, and how many instructions it executed.
fn interpret(program: &[Instruction], number: u32, arch: u32) -> (u32, usize) {
    let (mut at, mut accumulator, mut count) = (0, 0, 0);
    loop {
        let [code, if_equal, if_not, k] = program[at];
        (at, count) = (at + 1, count + 1);
        match code {
            LOAD => accumulator = if k == 0 { number } else { [arch, 0, 0][(k / 4 - 1) as usize] },
            JUMP_EQUAL => at += if accumulator == k { if_equal } else { if_not } as usize,
            RETURN => return (k, count),
            _ => panic!("{code:x}"),
        }
    }
}

#[test]
fn a_filter_of_n_instructions_executes_n_and_allows() {
    // With four there is a look at the architecture, but no comparison of numbers.
    let host = OnHost::new("filter.c", &["entry/steps/filter.c"]);
    for count in (1..=20).chain([255, 256, 257, 999, 1000]) {
        let output = host.run(&count.to_string(), b"");
        let words = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<u32>>();
        let rows: Vec<Vec<u32>> = output.lines().map(words).collect();
        for (arch, other, first) in [(ARCH_X86_64, ARCH_I386, 0), (ARCH_I386, ARCH_X86_64, 4)] {
            let program: Vec<Instruction> =
                rows.iter().map(|row| row[first..first + 4].try_into().unwrap()).collect();
            for number in [0, 1, 110, 511, 0x0fff_ffff, u32::MAX] {
                assert_eq!(interpret(&program, number, arch), (ALLOW, count), "{count} {number:x}");
            }
            if count == 3 || count > 4 {
                assert_ne!(interpret(&program, 0x4000_0000, arch).0, ALLOW, "{count}");
            }
            if count > 3 {
                assert_ne!(interpret(&program, 1, other).0, ALLOW, "{count}");
            }
        }
    }
}

const SIGSYS: u64 = 31;

#[test]
fn a_call_that_the_filter_refuses_ends_the_program() {
    let program = freestanding(64, &["again64.S"]);
    let mut script = Script::new();
    let mut expected = Vec::new();
    for (filter, number, is_refused) in [
        ("3", "40000000", true),
        ("1000", "40000000", true),
        ("1000", "400003df", true),
        ("4", "400003df", false),
        ("0", "40000000", false),
        ("2", "40000000", false),
    ] {
        for pti in ["off", "on"] {
            script.set(&format!("filter={filter} pti={pti} stack=frame"));
            for entry in ENTRIES_64 {
                script.run(&program, &[entry, number]);
                expected.push(is_refused);
            }
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    for (ran, is_refused) in session.ran.iter().zip(expected) {
        let is_right = match ran.end {
            End::Fault([signal, ..]) => is_refused && signal == SIGSYS,
            end => !is_refused && end == End::Exited(0),
        };
        assert!(is_right, "{}: {:?}", ran.label, ran.end);
    }
}

/// Hexadecimal numbers between parentheses.
fn arguments(line: &str) -> Vec<u64> {
    let inner = line.split_once('(').unwrap().1.split_once(')').unwrap().0;
    inner.split(", ").map(|word| u64::from_str_radix(word, 16).unwrap()).collect()
}

/// What registers64.S passes, of its first picture: rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8 to r15.
fn passed(picture: &[u8], entry: &str) -> Vec<u64> {
    let words: Vec<u64> = picture.as_chunks().0[..16].iter().map(|word| u64::from_le_bytes(*word)).collect();
    if is_i386(entry) {
        [1, 2, 3, 4, 5, 6].map(|register| words[register] & 0xffff_ffff).to_vec()
    } else {
        [5, 4, 3, 10, 8, 9].map(|register| words[register]).to_vec()
    }
}

const NONE: u32 = 0x0fff_ffff;

#[test]
fn traces_and_audits_say_what_was_called_and_answered() {
    let program = freestanding(64, &["registers64.S"]);
    for switches in ["pti=off", "pti=on", "pti=on clear-registers=on filter=5 work=on canary=on exit=iret"] {
        let mut script = Script::new();
        script.set(&format!("trace=on audit=on stack=frame {switches}"));
        let calls: Vec<_> =
            ENTRIES_64.iter().flat_map(|entry| [(entry, "getppid"), (entry, "none")]).collect();
        for (entry, name) in &calls {
            let numbers = &operation(name).numbers;
            let number = numbers[if is_i386(entry) { "i386" } else { "x86_64" }];
            script.run(&program, &[entry, &format!("{number:x}")]);
            script.check("trace");
            script.check("audit");
        }
        let Some(session) = script.boot(Emulator::TcgIntel) else { return };
        for ((entry, name), three) in calls.iter().zip(session.ran.chunks(3)) {
            let [ran, trace, audit] = three else { panic!() };
            assert_eq!(ran.end, End::Exited(0), "{}", ran.label);
            let arch = if is_i386(entry) { "audit 40000003" } else { "audit c000003e" };
            let number = operation(name).numbers[if is_i386(entry) { "i386" } else { "x86_64" }];
            let result = if number == NONE { "= ffffffffffffffda" } else { "= 1" };
            let call = format!("call {number} ");
            // The call, a write, an exit, which does not come back.
            assert!(matches!(audit.end, End::Checked(true, [2, ..])), "{:?} {:?}", audit.end, audit.log);
            let [first, second] = audit.log.as_slice() else { panic!("{:?}", audit.log) };
            assert!(first.starts_with(arch) && first.contains(&call), "{first}");
            assert!(first.ends_with(result), "{first}");
            assert_eq!(arguments(first), passed(&ran.output, entry), "{}", ran.label);
            assert!(second.contains("call 1 ("), "{second}");
            assert!(matches!(trace.end, End::Checked(true, [5, ..])), "{:?} {:?}", trace.end, trace.log);
            assert!(trace.log[0].contains(&call), "{:?}", trace.log);
            assert_eq!(arguments(&trace.log[0]), passed(&ran.output, entry), "{}", ran.label);
            assert!(trace.log[1].ends_with(&format!("{call}{result}")), "{:?}", trace.log);
            assert!(trace.log[4].contains("call 60 (0, "), "{:?}", trace.log);
            let times =
                trace.log.iter().map(|line| line.split([' ', ':']).nth(1).unwrap().parse::<u64>().unwrap());
            assert!(times.is_sorted(), "{:?}", trace.log);
        }
    }
}

#[test]
fn rings_of_events_keep_the_last_ones() {
    let program = freestanding(64, &["again64.S"]);
    let mut script = Script::new();
    script.set("trace=on audit=on stack=frame");
    script.run(&program, &["syscall", "6e"]);
    script.check("trace");
    script.check("audit");
    script.check("audit");
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    // 256 calls and a write, each before and behind its service; and an exit.
    assert!(matches!(session.ran[1].end, End::Checked(true, [515, ..])), "{:?}", session.ran[1].end);
    assert!(matches!(session.ran[2].end, End::Checked(true, [257, ..])), "{:?}", session.ran[2].end);
    assert!(matches!(session.ran[3].end, End::Checked(false, [0, ..])), "{:?}", session.ran[3].end);
    assert_eq!((session.ran[1].log.len(), session.ran[2].log.len()), (128, 128));
    assert!(session.ran[2].log[127].contains("call 1 ("), "{:?}", session.ran[2].log[127]);
}

/// mov current, %rax; orl $3, 8(%rax); xor %eax, %eax; ret
fn sets_flags() -> Vec<u8> {
    let current = (Kernel::read().symbol("current") as u32).to_le_bytes();
    [&[0x48, 0x8b, 0x04, 0x25][..], &current, &[0x83, 0x48, 0x08, 0x03, 0x31, 0xc0, 0xc3]].concat()
}

#[test]
fn work_is_done_on_the_way_in_and_on_the_way_out() {
    let program = freestanding(64, &["registers64.S"]);
    let mut script = Script::new();
    for switches in ["work=off", "work=on", "work=on clear-registers=on pti=on"] {
        script.set(&format!("stack=frame {switches}"));
        ENTRIES_64.iter().for_each(|entry| _ = script.run(&program, &[entry, &number(entry)]));
    }
    let Some(session) = boot_kernel(&script, &serving(&sets_flags()), "") else { return };
    for (index, ran) in session.ran.iter().enumerate() {
        assert_eq!(ran.end, End::Exited(0), "{}", ran.label);
        // The call that sets both has its way out; the next one, which writes, comes in.
        let expected = ["work on the way out of a call", "work on the way in of a call"];
        let expected = if index < ENTRIES_64.len() { &[][..] } else { &expected[..] };
        assert_eq!(ran.log, expected, "{}", ran.label);
        if index >= ENTRIES_64.len() {
            assert_eq!(ran.output.len(), session.ran[0].output.len(), "{}", ran.label);
        }
    }
}

#[test]
fn a_program_without_an_end_is_ended_by_work_on_its_way_out() {
    let faults = freestanding(64, &["faults64.S"]);
    let programs: [(Program, &str); 3] =
        [(faults.clone(), "spin"), (freestanding(64, &["together64.S"]), "stay"), (faults, "loop-call_gate")];
    let mut script = Script::new();
    script.limit(LIMIT / 100);
    for switches in ["pti=off", "pti=on"] {
        script.set(&format!("work=on stack=frame swapgs=on {switches}"));
        programs.iter().for_each(|(program, case)| _ = script.run(program, &[case, "0"]));
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    for ran in &session.ran {
        assert!(matches!(ran.end, End::Runaway(_)), "{}: {:?}", ran.label, ran.end);
    }
}

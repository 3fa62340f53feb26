//! Hardware tasks as entries: what programs do in them, and what must fault.

use crate::build::{Program, freestanding, freestanding_with};
use crate::faults::flags;
use crate::guest::{AMD_IN_QEMU, Answer, Emulator, Ran, Script, Session, qemu_is_before};
use crate::kernel::Kernel;
use crate::protected::gates::boot;
use crate::trial::{Case, Exit, Vector, case, is_as};
use crate::whole::is_whole;
use iced_x86::{Instruction, Mnemonic, OpKind};
use places::lab::{Accelerator, End, Mode, Qemu};
use table::Table;

/// As tests/lab/entries32.inc names them.
const TASKS: [&str; 6] = ["task_int", "task_call", "task_jmp", "task_16", "task_nested", "double_fault"];

const CONFIGURATIONS: [&str; 6] = [
    "pti=off smap=on stack=frame exit=natural events-by=gate",
    "pti=off smap=off stack=minimum exit=iret copy-frame=on",
    "pti=on smap=on stack=minimum exit=natural paging=classic copy-frame=off",
    "pti=on smap=off stack=frame exit=iret paging=wide work=on trace=on audit=on filter=10 canary=on",
    "pti=trampoline smap=on stack=frame exit=natural copy-frame=on work=off trace=off audit=off filter=0",
    EVENTS_BY_TASK,
];

/// Then an NMI would be stored in the TSS of the task that it interrupts, and that of 16 bits is closed.
const EVENTS_BY_TASK: &str =
    "pti=on smap=on stack=frame exit=natural copy-frame=off canary=off events-by=task";

/// Those that are open.
fn tasks(switches: &str) -> impl Iterator<Item = &'static str> {
    let is_open = move |task: &&str| switches != EVENTS_BY_TASK || *task != "task_16";
    TASKS.into_iter().filter(is_open)
}

const SMALL: [Emulator; 3] = [Emulator::TcgIntel, Emulator::TcgAmd, Emulator::Bochs];

fn programs() -> [Program; 2] {
    [freestanding(32, &["tasks32.S"]), freestanding_with(32, &["faults32.S"], &["-DPROTECTED"])]
}

/// Cases of a program in each configuration, behind each a call by a task, in turns by `call` and by `jmp`; with `KENTRY_WHOLE=1` by both.
fn try_all(emulator: Emulator, cases: impl Fn(&str) -> Vec<(usize, Case)>) {
    let (programs, mut script, mut expected) = (programs(), Script::protected(), Vec::new());
    let rows = ["task-nested", "task-jmp"].map(|name| Table::get().entry(name).unwrap());
    let getppid = Table::get().operation("getppid").unwrap();
    for switches in CONFIGURATIONS {
        script.set(switches);
        for (place, (program, (words, ends))) in cases(switches).into_iter().enumerate() {
            script.run(&programs[program], &words.split_whitespace().collect::<Vec<_>>());
            expected.push(Some(ends));
            for (_, row) in (0..).zip(rows).filter(|(turn, _)| is_whole() || turn % 2 == place % 2) {
                script.row(row, getppid);
                expected.push(None);
            }
        }
    }
    let Some(session) = script.boot(emulator) else { return };
    assert_eq!(session.ran.len(), expected.len());
    let wrong = session.ran.iter().zip(expected).filter_map(|(ran, expected)| match expected {
        Some(expected) => is_as(ran, expected).err(),
        None => (ran.answer() != Answer::Ok).then(|| format!("{}: {:x?}", ran.label, ran.answer())),
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}: {wrong:#?}", emulator.name());
}

#[test]
fn programs_that_end_and_lose_segments_in_tasks() {
    let cases = |switches: &str| {
        let of_task = |task| {
            let mut cases = vec![
                (0, case(format!("exit-{task} 0"), Exit(0))),
                (0, case(format!("exit-{task} 7"), Exit(7))),
                (0, case(format!("yield-{task} 0"), Exit(0))),
                (0, case(format!("fpu-{task} 0"), Exit(0))),
                (0, case(format!("nested-{task} 0"), Vector(10))),
                (1, case(format!("untouched-{task} 0"), Exit(0))),
                (1, case(format!("stack-segment-gone-{task} 0"), Vector(13))),
            ];
            let gone = ["ds", "es", "fs", "gs"].map(|segment| format!("gone-{segment}-{task} 0"));
            cases.extend(gone.map(|words| (0, case(words, Exit(0)))));
            cases
        };
        tasks(switches).flat_map(of_task).collect()
    };
    SMALL.into_iter().for_each(|emulator| try_all(emulator, cases));
}

#[test]
fn flags_and_stack_pointers_of_programs_that_call_tasks() {
    let cases = |switches: &str| {
        let of_task = |task| {
            let stacks = [0u64, 1, 0x0010_0003, 0xffff_ffff];
            let stacks = stacks.map(|stack| case(format!("stack-{task} {stack:x}"), Exit(0)));
            let late = case(format!("late-trap-{task} 0"), Vector(1));
            flags(task, switches)
                .into_iter()
                .chain(stacks)
                .chain([late])
                .map(|case| (1, case))
                .collect::<Vec<_>>()
        };
        tasks(switches).flat_map(of_task).collect()
    };
    SMALL.into_iter().for_each(|emulator| try_all(emulator, cases));
}

/// Programs that run together, each in an address space of its own, and let each other go on from tasks of the kernel.
#[test]
fn threads_change_in_tasks() {
    let program = freestanding_with(32, &["together32.S"], &["-DPROTECTED"]);
    for emulator in SMALL {
        let mut script = Script::protected();
        for switches in CONFIGURATIONS {
            script.set(switches);
            let ways: Vec<&str> = tasks(switches).chain(["int80", "call_gate"]).collect();
            for (place, first) in ways.iter().enumerate() {
                for second in &ways[place..] {
                    script.beside(&program, &[first, "1"]);
                    script.run(&program, &[second, "2"]);
                }
            }
            for (number, way) in (1..).zip(&ways[1..]) {
                script.beside(&program, &[way, &format!("{number}")]);
            }
            script.run(&program, &[ways[0], &ways.len().to_string()]);
        }
        let Some(session) = script.boot(emulator) else { continue };
        all_end_well(&session);
    }
}

fn all_end_well(session: &Session) {
    let wrong = session.ran.iter().filter(|ran| ran.end != End::Exited(0));
    let wrong: Vec<_> = wrong.map(|ran| (&ran.label, ran.end, &ran.log)).collect();
    assert!(!session.ran.is_empty() && wrong.is_empty(), "{wrong:#x?}");
}

/// The selectors of task_faults32.S.
const NEW_TASK: u64 = 0x160;
const GATE: u64 = 0x168;
const ODD: u64 = 0x178;
/// What the error code of its vector, 0x50, is.
const OF_VECTOR: u64 = 0x50 * 8 + 2;
const BEYOND: u64 = 0x200;
const KERNEL_CODE: u64 = 0x10;
const KERNEL_DATA: u64 = 0x18;
const TASK_OF_PROGRAMS: u64 = 0x40;
const USER_CODE: u64 = 0x20;
const USER_DATA: u64 = 0x28;

const DB: u64 = 1;
const DF: u64 = 8;
const TS: u64 = 10;
const NP: u64 = 11;
const SS: u64 = 12;
const GP: u64 = 13;
const PF: u64 = 14;

/// Of a page fault's error code, whose bit 0 is clear where no page is.
const WRITE: u64 = 2;
const FETCH: u64 = 16;

/// What is to come of a switch: nothing; or this vector with this error code, in the task that was left, in that of NEW_TASK or in ring 0 of the former.
/// (SDM vol. 2, CALL, JMP, INT, IRET, LTR, SYSEXIT; vol. 3, 6.15, table 6-6, 7.3, table 7-1; APM vol. 2, 8.2, 12.3.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    Nothing,
    Old(u64, u64),
    New(u64, u64),
    Kernel(u64, u64),
}
use Comes::{New, Nothing, Old};

/// A case, and what comes by the error code of the gate.
type Named = (&'static str, Box<dyn Fn(u64) -> Comes>);

/// The cases of each way by their error code, where there is the gate's: in the GDT, or of the vector.
fn by_each_way() -> Vec<(String, Comes)> {
    let same = |comes| move |_| comes;
    let of_gate = |vector| move |gate| Old(vector, gate);
    let cases: [Named; 13] = [
        ("right", Box::new(same(Nothing))),
        ("gate-privilege", Box::new(of_gate(GP))),
        ("gate-not-present", Box::new(of_gate(NP))),
        ("gate-both", Box::new(of_gate(GP))),
        ("gate-local", Box::new(same(Old(GP, NEW_TASK + 4)))),
        ("gate-null", Box::new(same(Old(GP, 0)))),
        ("gate-beyond", Box::new(same(Old(GP, BEYOND)))),
        ("gate-no-tss", Box::new(same(Old(GP, KERNEL_CODE)))),
        ("gate-current", Box::new(same(Old(GP, TASK_OF_PROGRAMS)))),
        ("busy", Box::new(same(Old(GP, NEW_TASK)))),
        ("not-present", Box::new(same(Old(NP, NEW_TASK)))),
        ("limit", Box::new(same(Old(TS, NEW_TASK)))),
        ("limit-16", Box::new(same(Old(TS, NEW_TASK)))),
    ];
    let ways = [("call", GATE), ("jump", GATE), ("int", OF_VECTOR)];
    let cases =
        cases.iter().flat_map(|(name, comes)| ways.map(|(way, gate)| (format!("{name}-{way}"), comes(gate))));
    cases.collect()
}

const SWITCHES: [(&str, Comes); 37] = [
    ("tss-call", Old(GP, NEW_TASK)),
    ("tss-jump", Old(GP, NEW_TASK)),
    ("tss-open", Nothing),
    ("tss-absent", Old(PF, 0)),
    ("link-null", Old(TS, 0)),
    ("link-local", Old(TS, NEW_TASK + 4)),
    ("link-beyond", Old(TS, BEYOND)),
    ("link-no-tss", Old(TS, KERNEL_CODE)),
    ("link-available", Old(TS, NEW_TASK)),
    ("link-not-present", Old(NP, NEW_TASK)),
    ("new-ldt-local", New(TS, ODD + 4)),
    ("new-ldt-beyond", New(TS, BEYOND)),
    ("new-ldt-no-ldt", New(TS, KERNEL_DATA)),
    ("new-ldt-not-present", New(TS, ODD)),
    ("new-cs-null", New(TS, 0)),
    ("new-cs-beyond", New(TS, BEYOND)),
    ("new-cs-data", New(TS, KERNEL_DATA)),
    ("new-cs-not-present", New(NP, ODD)),
    ("new-ss-null", New(TS, 0)),
    ("new-ss-beyond", New(TS, BEYOND)),
    ("new-ss-code", New(TS, KERNEL_CODE)),
    ("new-ss-outer", New(TS, USER_DATA)),
    ("new-ss-not-present", New(SS, ODD)),
    ("new-ds-beyond", New(TS, BEYOND)),
    ("new-ds-system", New(TS, TASK_OF_PROGRAMS)),
    ("new-ds-not-present", New(NP, ODD)),
    ("new-ds-null", Nothing),
    ("new-debug", New(DB, 0)),
    ("new-cs-outer", New(TS, ODD)),
    ("new-cs-conforming-outer", New(TS, ODD)),
    ("new-cs-conforming", Nothing),
    ("new-cs-limit", New(GP, 0)),
    ("new-tables-right", Nothing),
    ("new-tables-code", New(PF, FETCH)),
    ("new-tables-stack", New(DF, 0)),
    ("new-ports-16", New(GP, 0)),
    // NEW_TASK is the one that is left. No manual says whether its page is read or written first.
    ("old-absent", New(PF, WRITE)),
];

/// With CR4.CET, which Bochs's tigerlake alone has, a TSS needs room for SSP.
const WITH_CET: [(&str, Comes); 3] = [
    ("kernel-cet-right", Nothing),
    ("kernel-cet-limit", Comes::Kernel(TS, NEW_TASK)),
    ("kernel-cet-16", Comes::Kernel(TS, NEW_TASK)),
];

/// Instructions of ring 0, with the selector that `ltr` loads. The last of them does not fault in QEMU, which aborts at the next entry.
const IN_KERNEL: [(&str, u64, Comes); 15] = [
    // An exception while another is delivered (SDM vol. 3, 6.15, #DF; APM vol. 2, 8.2.9): #GP or #PF, and #NP of its gate; #GP, and #PF of its task.
    ("kernel-gp-then-np", TASK_OF_PROGRAMS, Comes::Kernel(DF, 0)),
    ("kernel-pf-then-np", 0, Comes::Kernel(DF, 0)),
    ("kernel-gp-then-pf", TASK_OF_PROGRAMS, Comes::Kernel(PF, 0)),
    ("kernel-int-outer", 0, Comes::Kernel(GP, USER_CODE)),
    ("kernel-jump-outer", 0, Comes::Kernel(GP, USER_CODE)),
    ("kernel-jump-rpl", 0, Comes::Kernel(GP, KERNEL_CODE)),
    ("kernel-call-conforming", 0, Comes::Kernel(GP, NEW_TASK)),
    ("kernel-sysexit", 0, Comes::Kernel(GP, 0)),
    ("kernel-ltr", TASK_OF_PROGRAMS, Comes::Kernel(GP, TASK_OF_PROGRAMS)),
    ("kernel-ltr-busy", NEW_TASK, Comes::Kernel(GP, NEW_TASK)),
    ("kernel-ltr-not-present", NEW_TASK, Comes::Kernel(NP, NEW_TASK)),
    ("kernel-ltr", KERNEL_CODE, Comes::Kernel(GP, KERNEL_CODE)),
    ("kernel-ltr", NEW_TASK + 4, Comes::Kernel(GP, NEW_TASK + 4)),
    ("kernel-ltr", BEYOND, Comes::Kernel(GP, BEYOND)),
    ("kernel-ltr", 0, Comes::Kernel(GP, 0)),
];

/// What QEMU does otherwise than processors and Bochs. The handler of the first has another vector, and so another case.
const TCG_OTHERWISE: [(&str, &str, Comes); 6] = [
    ("new-ss-not-present", "new-ss-not-present-tcg", New(NP, ODD)),
    ("new-debug", "new-debug", Nothing),
    ("new-cs-conforming", "new-cs-conforming", New(TS, ODD)),
    ("gate-local-call", "gate-local-call", Old(TS, NEW_TASK + 4)),
    ("gate-local-jump", "gate-local-jump", Old(TS, NEW_TASK + 4)),
    ("gate-local-int", "gate-local-int", Old(TS, NEW_TASK + 4)),
];

/// How QEMU 7.2 accesses a TSS first whose page is not there, where Bochs writes; and 10.0, where Bochs reads.
const IN_QEMU_7: (&str, &str, Comes) = ("old-absent", "old-absent", New(PF, 0));
const IN_QEMU_10: (&str, &str, Comes) = ("kernel-gp-then-pf", "kernel-gp-then-pf", Comes::Kernel(PF, WRITE));

/// All cases with their numbers, as the manuals have them, or QEMU.
fn switches(emulator: Emulator) -> Vec<(String, u64, Comes)> {
    let with_cet = WITH_CET.iter().filter(|_| emulator == Emulator::Bochs);
    let named = SWITCHES.iter().chain(with_cet).map(|(name, comes)| (name.to_string(), *comes));
    let switches = by_each_way().into_iter().chain(named).map(|(name, comes)| (name, 0, comes));
    let in_kernel = &IN_KERNEL[..IN_KERNEL.len() - usize::from(emulator.is_tcg())];
    let in_kernel = in_kernel.iter().map(|(name, selector, comes)| (name.to_string(), *selector, *comes));
    let mut cases: Vec<_> = switches.chain(in_kernel).collect();
    let by_version = if qemu_is_before("10") { IN_QEMU_7 } else { IN_QEMU_10 };
    let otherwise = TCG_OTHERWISE.into_iter().chain([by_version]);
    for (name, instead, comes) in otherwise.filter(|_| emulator.is_tcg()) {
        let case = cases.iter_mut().find(|(known, ..)| known == name).unwrap();
        *case = (instead.into(), case.1, comes);
    }
    cases
}

/// The kernel with a call that exchanges a word of its memory: the first argument is where, the second is what.
pub fn with_poke() -> (Kernel, Vec<u8>) {
    // mov 4(%esp), %ecx; mov 8(%esp), %eax; xchg %eax, (%ecx); ret
    const POKE: &[u8] = b"\x8b\x4c\x24\x04\x8b\x44\x24\x08\x87\x01\xc3";
    let kernel = Kernel::in_mode(Mode::Protected);
    let file = kernel.beginning_with("call_arch_prctl_32", POKE);
    (kernel, file)
}

/// Its number.
pub const ARCH_PRCTL: u64 = 384;

fn program(kernel: &Kernel) -> Program {
    let define = |name: &str, value: u64| format!("-D{name}={value:#x}");
    let [gdt, idt, tss] = ["gdt", "idt", "tss"].map(|name| kernel.symbol(name));
    assert!(idt > gdt - 4096 && idt < gdt + 4096, "the boot has a table of this name, too");
    let flags = [define("GDT", gdt), define("IDT", idt), define("TSS", tss), define("POKE", ARCH_PRCTL)];
    freestanding_with(32, &["task_faults32.S"], &flags.each_ref().map(String::as_str))
}

/// What came: of a fault of the new task, the vector is that of the gate which the case has made.
fn came(end: End, output: &[u8], expected: Comes) -> Comes {
    let words: Vec<u64> =
        output.as_chunks().0.iter().map(|word| u64::from(u32::from_le_bytes(*word))).collect();
    match (end, &words[..]) {
        (End::Fault([_, _, error, _]), _) if error >> 32 == PF => Old(PF, 0),
        (End::Fault([_, _, error, _]), _) => Old(error >> 32, error & 0xffff_ffff),
        // The taker's link is the new task, which has not run.
        (End::Exited(0), [1, error, _, 0, NEW_TASK]) => match expected {
            New(vector, _) => New(vector, *error),
            _ => New(0, *error),
        },
        // The taker's link is the task of programs, where it has met the instruction that should fault.
        (End::Exited(0), [1, error, 0, 0, TASK_OF_PROGRAMS]) => match expected {
            Comes::Kernel(vector, _) => Comes::Kernel(vector, *error),
            _ => Comes::Kernel(0, *error),
        },
        (End::Exited(0), [] | [0, .., 1, _]) => Nothing,
        _ => New(u64::MAX, 0),
    }
}

/// What is wrong with how a case has ended.
fn differs(emulator: Emulator, (case, number, expected): &(String, u64, Comes), ran: &Ran) -> Option<String> {
    // A fault of the new task comes before its first instruction. QEMU has another eip if the switch itself raises it. Of #DF, it is undefined.
    let is_told = match expected {
        New(PF, _) => true,
        New(DF, _) => false,
        New(..) => !emulator.is_tcg(),
        _ => false,
    };
    let is_first = !is_told || ran.output.get(8..12) == Some(&[0; 4]);
    let came = came(ran.end, &ran.output, *expected);
    (came != *expected || !is_first).then(|| {
        let (end, output) = (ran.end, &ran.output);
        format!("{case} {number:x}: {came:x?} instead of {expected:x?} ({end:x?} {output:x?})")
    })
}

#[test]
fn switches_that_must_fault() {
    let (kernel, file) = with_poke();
    let program = program(&kernel);
    for emulator in Emulator::ALL {
        let (mut script, cases) = (Script::protected(), switches(emulator));
        script.set("smap=off smep=off pti=off umip=off paging=wide");
        for (name, number, _) in &cases {
            script.exec(&program, &[name.clone(), format!("{number:x}")]);
            script.exec(&program, &["right-link", "0"]);
        }
        // The kernel's own tasks are as they were.
        let getppid = Table::get().operation("getppid").unwrap();
        let row = script.row(Table::get().entry("task-nested").unwrap(), getppid);
        let Some(ran) = boot(emulator, &file, &script) else { continue };
        let wrong =
            cases.iter().zip(ran.chunks(2)).filter_map(|(case, ran)| differs(emulator, case, &ran[0]));
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", emulator.name());
        assert_eq!(ran[row].answer(), Answer::Ok, "{}", emulator.name());
    }
}

/// No other function can meet a TSS that is busy or absent. Those of protected mode make it available before; in its assembly,
/// which this does not see, there is one for where paging is switched.
#[test]
fn these_functions_of_the_kernels_load_the_task_register() {
    for (mode, known) in [
        (Mode::Long, &["tables_load"][..]),
        (Mode::Protected, &["tables_load", "tasks_leave", "tasks_resume"]),
    ] {
        let found = Kernel::in_mode(mode).functions_that(|code| code.mnemonic() == Mnemonic::Ltr);
        assert!(found.iter().map(String::as_str).eq(known.iter().copied()), "{mode:?}: {found:?}");
    }
}

/// SDM vol. 3, 7.2.1: a processor may read and write physical memory behind the first byte of a TSS, and so none lies over the end of a page. Where
/// they lie decides how many lines a switch takes, too, which must not hang on their neighbours.
#[test]
fn no_task_state_segment_lies_over_the_end_of_a_page() {
    const TSS: u64 = 128;
    let kernel = Kernel::in_mode(Mode::Protected);
    for (name, bytes) in
        [("task_tss", TSS), ("event_tss", TSS), ("double_fault_tss", TSS), ("whole_tss", 256), ("tss_16", 64)]
    {
        assert_eq!(kernel.symbol(name) % bytes, 0, "{name}");
    }
}

/// An NMI may come between any two instructions, and its gate changes with events-by: each gate is written by one. gates_land changes nothing but
/// the lower half.
#[test]
fn these_functions_of_the_kernel_write_gates() {
    let kernel = Kernel::in_mode(Mode::Protected);
    let gates = kernel.symbol("idt")..kernel.symbol("idt") + 256 * 8;
    let writes = |code: &Instruction| {
        code.op0_kind() == OpKind::Memory
            && code.mnemonic() != Mnemonic::Cmp
            && gates.contains(&code.memory_displacement64())
    };
    let found = kernel.functions_that(writes);
    assert!(found.iter().map(String::as_str).eq(["gates_land", "write_gate"]), "{found:?}");
    let exchanges = |code: &Instruction| writes(code) && code.mnemonic() == Mnemonic::Cmpxchg8b;
    let found = kernel.functions_that(exchanges);
    assert!(found.iter().map(String::as_str).eq(["write_gate"]), "{found:?}");
}

/// CR3 of ring 3 behind a service that has entered another address space and come back: the program's, whoever serves.
#[test]
fn a_program_goes_on_with_its_own_page_tables() {
    let (kernel, file) = with_poke();
    let program = program(&kernel);
    for model in [None, Some(AMD_IN_QEMU)] {
        let mut script = Script::protected();
        script.set("smap=off smep=off umip=off");
        for switches in ["pti=on events-by=gate", "pti=on events-by=task", "pti=off events-by=task"] {
            script.set(switches);
            let is_open = |task: &&str| !switches.contains("events-by=task") || *task != "task_16";
            for task in TASKS.into_iter().filter(is_open) {
                script.exec(&program, &[format!("tables-{task}").as_str(), "0"]);
            }
        }
        let qemu = Qemu { kernel: file.clone().into(), ..Qemu::new(Accelerator::Tcg, model) };
        let boot = script
            .boot_in(&|archive, programs, limits| qemu.boot(archive, programs, limits), Qemu::TCG_HERTZ);
        let Some(session) = boot else { return };
        all_end_well(&session);
    }
}

//! A kernel that logs what becomes of translations (lab/mm/tlb.h), read by the model of a processor (tlb.rs): no program, in
//! no configuration, could use an old one. And each flush that is left out is found.

use crate::build::{Program, freestanding, root};
use crate::exec;
use crate::guest::{Emulator, Script, Session, bochs_is_missing, changed_bochs};
use crate::kernel::Kernel;
use crate::monitor::{is_missing, wrapped};
use crate::tlb::{Event, Processor};
use crate::together::{MOST, Programs};
use crate::trial::{PATHS, working};
use crate::whole::is_whole;
use places::lab::{Bochs, End, Limits, Qemu};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use table::Table;

/// Where the kernel maps itself, and all memory (lab/mm/mm.h).
const KERNEL_BASE: u64 = 0xffff_ffff_8000_0000;
const DIRECT_MAP: u64 = 0xffff_8880_0000_0000;

/// Of an entry.
const PRESENT: u64 = 1;

/// Functions stay what they are in the source, so that each flush is a call that can be left out.
const FLAGS: [&str; 3] = ["-DTLB_LOG", "-fno-inline", "-fno-optimize-sibling-calls"];

/// The kernel, compiled as the build has compiled it, with the log.
fn logged_kernel() -> &'static [u8] {
    static KERNEL: OnceLock<Vec<u8>> = OnceLock::new();
    KERNEL.get_or_init(|| {
        let command = include_str!(concat!(env!("OUT_DIR"), "/kernel.command"));
        let mut words = command.lines();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kernel");
        let sources = ["tlb_log.c", "tlb_log.S"].map(|name| root().join("tests/lab").join(name));
        let output = Command::new(words.next().unwrap())
            .args(words)
            .args(FLAGS)
            .args(sources)
            .arg("-o")
            .arg(&file)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read(file).unwrap()
    })
}

/// Seven bits at a time, from below; the lowest of all is bit 63.
fn number(bytes: &mut impl Iterator<Item = u8>) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes.next().expect("the log ends with a whole number");
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return value.rotate_right(1);
        }
    }
}

/// Where an entry lies, by the address that it has in the kernel.
fn physical(address: u64) -> u64 {
    address - if address >= KERNEL_BASE { KERNEL_BASE } else { DIRECT_MAP }
}

/// What a boot was like.
#[derive(Debug, Default)]
struct Heard {
    /// Programs that have begun.
    programs: usize,
    runs: u64,
    stores: u64,
    /// Executions of `invlpg` behind no change of an entry that was present, since the first program.
    needless: u64,
    /// The first thing that is wrong.
    wrong: Option<String>,
}

/// Follows a log (lab/mm/tlb.h) to its end, or to the first thing that is wrong.
fn follow(log: Vec<u8>, script: &Script) -> Heard {
    let (mut processor, mut heard, mut running) =
        (Processor::default(), Heard::default(), "before all programs");
    // Entries as they were last written, and whether one was present that has been written since the last change was over.
    let (mut entries, mut is_replaced) = (BTreeMap::<u64, u64>::new(), false);
    let mut bytes = log.into_iter();
    while let Some(kind) = bytes.next() {
        let (first, second) = (number(&mut bytes), number(&mut bytes));
        let event = match kind {
            b's' => Event::Store { entry: physical(first), value: second },
            b'c' => Event::Clear { first: physical(first), bytes: second },
            b'3' => Event::Cr3(first),
            b'4' => Event::Cr4(first),
            b'i' => Event::Invlpg(first),
            b'v' => Event::Invpcid { kind: first & 0xff, identifier: first >> 8, address: second },
            b'r' => Event::Run,
            b'f' => Event::Settled { first, bytes: second },
            b'p' => {
                running = script.label_of(first);
                heard.programs += 1;
                continue;
            }
            other => panic!("no event is {other:#x}"),
        };
        heard.runs += u64::from(event == Event::Run);
        match event {
            Event::Store { entry, value } => {
                heard.stores += 1;
                is_replaced |= entries.insert(entry, value).is_some_and(|old| old & PRESENT != 0);
            }
            Event::Clear { first, bytes } => {
                let cleared: Vec<u64> =
                    entries.range(first..first + bytes).map(|(entry, _)| *entry).collect();
                cleared.iter().for_each(|entry| _ = entries.remove(entry));
            }
            Event::Invlpg(_) => {
                heard.needless += u64::from(heard.programs > 0 && !is_replaced);
                is_replaced = false;
            }
            // A tick may come before that, and write CR3.
            Event::Settled { first, bytes } => is_replaced &= (first, bytes) == (0, 0),
            _ => {}
        }
        if let Err(wrong) = processor.take(event) {
            heard.wrong = Some(format!("{running}: {wrong}"));
            break;
        }
    }
    heard
}

/// QEMU is faster, Bochs has PCID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Machine {
    Qemu,
    Bochs,
}

/// Boots a kernel that logs; what the log tells, and how the programs ended. None where the emulator is not here.
fn boot(script: &Script, kernel: &[u8], machine: Machine) -> Option<(Heard, Session)> {
    let is_missing = match machine {
        Machine::Qemu => is_missing(),
        Machine::Bochs => bochs_is_missing(),
    };
    if is_missing {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let session = match machine {
        Machine::Bochs => {
            let bochs = bochs_with(&format!("parport1: enabled=1, file={}", log.display()), folder.path());
            let bochs = Bochs { kernel: kernel.to_vec().into(), ..bochs };
            let boot = |archive: &[u8], programs, limits: &Limits| bochs.boot(archive, programs, limits);
            script.boot_in(&boot, Bochs::HERTZ)?
        }
        Machine::Qemu => {
            let option =
                format!("-chardev file,id=log,path={} -device isa-parallel,chardev=log", log.display());
            let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {option}"));
            let qemu = Qemu { kernel: kernel.to_vec().into(), ..qemu };
            let boot = |archive: &[u8], programs, limits: &Limits| qemu.boot(archive, programs, limits);
            script.boot_in(&boot, Qemu::TCG_HERTZ)?
        }
    };
    Some((follow(std::fs::read(log).unwrap(), script), session))
}

/// Bochs with one more line in its configuration.
fn bochs_with(line: &str, folder: &Path) -> Bochs {
    let change = format!("(cat \"$3\"; echo '{line}') > \"$folder/rc\"");
    changed_bochs(folder, None, &change, None)
}

/// Each entry that works here, and those that read or fault in programs' memory.
fn rows(script: &mut Script) {
    let table = Table::get();
    working().iter().for_each(|(entry, operation)| _ = script.row(entry, operation));
    for (entry, operation) in
        [("page-fault", "minor-fault"), ("vsyscall", "time"), ("vdso-x86_64", "gettimeofday")]
    {
        script.row(table.entry(entry).unwrap(), table.operation(operation).unwrap());
    }
}

fn questions() -> [Program; 2] {
    [64, 32].map(|bits| freestanding(bits, &["questions.c", &format!("ways{bits}.S")]))
}

/// What nobody here has written, and what ends by a fault.
fn foreign(script: &mut Script) {
    for program in exec::programs() {
        ["hello", "memory", "null"].iter().for_each(|command| _ = script.exec(&program, &[command]));
    }
}

/// Programs that check what they find.
fn own() -> [Program; 2] {
    [freestanding(64, &["remaps.c"]), freestanding(64, &["sizes.c"])]
}

/// As many as can be alive, which take turns: there are more of them than pairs of identifiers.
fn beside(script: &mut Script, programs: &Programs) {
    for start in [0, MOST] {
        programs.run_most(script, start);
    }
}

fn check(mut script: Script, machine: Machine) {
    // What the last program has done is noted when anything changes after it.
    script.set("pti=off pcid=off global=off flush-by=cr3");
    let Some((heard, session)) = boot(&script, logged_kernel(), machine) else { return };
    assert_eq!((heard.wrong.as_ref(), heard.needless), (None, 0));
    // The log is whole; each program at least begins, and touches more than one page.
    let programs = session.ran.iter().filter(|ran| !ran.label.starts_with("check ")).count();
    assert_eq!(heard.programs, programs);
    let programs = programs as u64;
    assert!(heard.runs > programs && heard.stores > 4 * programs, "{heard:?}");
    let checked = ["remaps", "sizes", "questions", "together"];
    for ran in session.ran.iter().filter(|ran| checked.iter().any(|name| ran.label.starts_with(name))) {
        assert_eq!(ran.end, End::Exited(0), "{}", ran.label);
    }
}

#[test]
fn no_program_could_use_an_old_translation_without_identifiers() {
    let (mut script, own, questions) = (Script::new(), own(), questions());
    let others =
        ["pti=on vsyscall=original cr3-writes=2", "pti=off vsyscall=none", "pti=trampoline copy-frame=on"];
    // The flushes of a path hang on isolation alone, which each second one of these has.
    for switches in PATHS.iter().take(if is_whole() { PATHS.len() } else { 4 }).chain(&others) {
        script.set(switches);
        own.iter().for_each(|program| _ = script.exec::<&str>(program, &[]));
        rows(&mut script);
    }
    script.set("pti=off copy-frame=off vsyscall=emulate cr3-writes=0");
    questions.iter().for_each(|program| _ = script.exec::<&str>(program, &[]));
    script.set("pti=on");
    foreign(&mut script);
    let together = Programs::on(Emulator::TcgIntel);
    beside(&mut script, &together);
    script.set("pti=off");
    beside(&mut script, &together);
    check(script, Machine::Qemu);
}

#[test]
fn no_program_could_use_an_old_translation_with_identifiers() {
    let (mut script, own) = (Script::new(), own());
    for switches in [
        "pti=on pcid=keep",
        "pcid=off",
        "pti=off",
        "pti=on pcid=keep smap=off stack=minimum exit=iret gate=trap",
        "vsyscall=none",
        "vsyscall=native cr3-writes=2",
    ] {
        script.set(switches);
        own.iter().for_each(|program| _ = script.exec::<&str>(program, &[]));
    }
    rows(&mut script);
    // The kernel itself with the program's tables.
    script.check("pti");
    questions().iter().for_each(|program| _ = script.exec::<&str>(program, &[]));
    beside(&mut script, &Programs::on(Emulator::Bochs));
    check(script, Machine::Bochs);
}

/// Values of a switch, in an order in which each page that one makes global is changed by the next.
const VSYSCALL: [&str; 3] = ["native", "original", "none"];

/// What a processor without identifiers can do, or those that need them: all combinations, or a quarter of them, in which any two of the four
/// switches have all their values beside each other.
fn combinations(pcids: &[&str], flushes: &[&str], is_quarter: bool) -> Vec<String> {
    let mut all = Vec::new();
    for (first, pcid) in pcids.iter().enumerate() {
        for (second, pti) in ["off", "on", "trampoline"].iter().enumerate() {
            for (third, global) in ["off", "on"].iter().enumerate() {
                for (fourth, flush) in flushes.iter().enumerate() {
                    if is_quarter && (first + second + third + fourth) % 4 != 0 {
                        continue;
                    }
                    let vsyscall = VSYSCALL[all.len() % VSYSCALL.len()];
                    all.push(format!(
                        "pti={pti} pcid={pcid} global={global} flush-by={flush} vsyscall={vsyscall}"
                    ));
                }
            }
        }
    }
    all
}

fn check_combinations(combinations: &[String], emulator: Emulator, machine: Machine) {
    let (mut script, own, together) = (Script::new(), own(), Programs::on(emulator));
    for (index, switches) in combinations.iter().enumerate() {
        script.set(switches);
        // Fewer pairs than the four programs, and more.
        script.set(&format!("asids={}", 1 + index % 6));
        own.iter().for_each(|program| _ = script.exec::<&str>(program, &[]));
        together.run_some(&mut script, index, 4);
    }
    check(script, machine);
}

#[test]
fn no_program_could_use_an_old_translation_however_flushes_are_done() {
    let all = combinations(&["off"], &["cr3", "pge", "invlpg"], false);
    check_combinations(&all, Emulator::TcgIntel, Machine::Qemu);
}

#[test]
fn no_program_could_use_an_old_translation_however_identifiers_are_flushed() {
    let all =
        combinations(&["off", "keep", "flush", "lazy"], &["cr3", "invpcid", "pge", "invlpg"], !is_whole());
    let (first, second) = all.split_at(all.len() / 2);
    std::thread::scope(|scope| {
        for part in [first, second] {
            scope.spawn(move || check_combinations(part, Emulator::Bochs, Machine::Bochs));
        }
    });
}

/// The functions that flush, and the kernel's calls of them after its boot: where leaving one out is found. Nowhere: the next program's
/// beginning makes up for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    In(Machine, &'static [&'static str]),
    Nowhere,
}
use Found::{In, Nowhere};

const PLAIN: Found = In(Machine::Qemu, &["pti=off", "pti=on"]);
const BY_PGE: Found = In(Machine::Qemu, &["flush-by=pge pti=off"]);
const BY_INVLPG: Found = In(Machine::Qemu, &["flush-by=invlpg pti=off"]);
const GLOBAL: Found = In(Machine::Qemu, &["global=on vsyscall=native", "vsyscall=original", "vsyscall=none"]);
const KEEP: Found = In(Machine::Bochs, &["pti=on pcid=keep"]);
const KEEP_BY_PGE: Found = In(Machine::Bochs, &["pti=on pcid=keep flush-by=pge asids=1"]);
const KEEP_BY_INVLPG: Found = In(Machine::Bochs, &["pti=on pcid=keep flush-by=invlpg"]);
const KEEP_BY_INVPCID: Found = In(Machine::Bochs, &["pti=on pcid=keep flush-by=invpcid"]);
const GLOBAL_BY_INVPCID: Found = In(
    Machine::Bochs,
    &["pcid=keep flush-by=invpcid global=on vsyscall=native", "vsyscall=original", "vsyscall=none"],
);
const LAZY: Found = In(Machine::Bochs, &["pti=on pcid=lazy"]);
const LAZY_BY_INVLPG: Found = In(Machine::Bochs, &["pti=on pcid=lazy flush-by=invlpg"]);

const FLUSHES: &[(&str, &str, Found)] = &[
    ("space_remove", "tables_flush", PLAIN),
    ("space_protect", "tables_flush", PLAIN),
    ("space_forget", "tables_flush", PLAIN),
    ("space_fault", "tables_flush", PLAIN),
    ("space_copy", "tables_flush", PLAIN),
    ("copy_pages", "flush_page", BY_INVLPG),
    ("tables_map", "flush_page", BY_INVLPG),
    ("tables_unmap", "flush_page", BY_INVLPG),
    ("vsyscall_configure", "tables_flush_kernel", GLOBAL),
    ("tables_flush", "flush_by_cr3", PLAIN),
    ("tables_flush", "flush_by_pge", BY_PGE),
    ("tables_flush", "load_after_programs", KEEP_BY_INVLPG),
    ("tables_flush", "flush_on_the_way_out", LAZY_BY_INVLPG),
    ("tables_flush_kernel", "flush_by_pge", GLOBAL),
    ("tables_flush_kernel", "invpcid", GLOBAL_BY_INVPCID),
    ("tables_flush_kernel", "flush_by_cr3", PLAIN),
    ("flush_by_cr3", "write_cr3", PLAIN),
    ("flush_by_cr3", "load_after_programs", KEEP),
    ("flush_by_cr3", "flush_on_the_way_out", LAZY),
    ("flush_by_pge", "write_cr4", BY_PGE),
    ("flush_page", "invlpg", BY_INVLPG),
    ("flush_page", "invpcid", KEEP_BY_INVPCID),
    ("enter_anew", "invpcid", KEEP_BY_INVPCID),
    ("enter_anew", "flush_by_pge", KEEP_BY_PGE),
    ("load_after_programs", "load_both", KEEP),
    ("tables_configure", "write_cr3", Nowhere),
];

/// Before there is a program: the kernel's first tables, its guard pages, and the window of the boot.
const AT_BOOT: &[(&str, &str)] = &[
    ("tables_init", "write_cr3"),
    ("guard_pages_unmap", "tables_flush_kernel"),
    ("window_to", "invlpg"),
    ("window_to_screen", "invlpg"),
];

/// What also goes to other page tables, or to another configuration: without it no program runs. What it flushes has a test of its
/// own (below).
const GOES: &[(&str, &str)] = &[
    ("tables_enter", "write_cr3"),
    ("tables_enter", "enter_anew"),
    ("enter_anew", "flush_by_cr3"),
    ("enter_anew", "write_cr3"),
    ("cpu_find_features", "write_cr4"),
    ("tables_configure", "write_cr4"),
    ("write_pat", "write_cr4"),
    ("shadow_stack_configure", "write_cr4"),
];

#[test]
fn every_flush_of_the_kernel_is_left_out_by_a_test() {
    let kernel = Kernel::of(logged_kernel());
    let mut callees: BTreeSet<&str> = FLUSHES.iter().map(|(_, callee, _)| *callee).collect();
    callees.extend(AT_BOOT.iter().chain(GOES).map(|(_, callee)| callee));
    let calls =
        callees.iter().flat_map(|callee| kernel.calls(callee).into_iter().map(|call| (call.0, *callee)));
    // The compiler may give a function's name an ending, as in open.isra.0.
    let found: BTreeSet<_> =
        calls.map(|(name, callee)| (name.split('.').next().unwrap().to_string(), callee)).collect();
    let known = FLUSHES
        .iter()
        .map(|(caller, callee, _)| (*caller, *callee))
        .chain(AT_BOOT.iter().chain(GOES).copied());
    assert_eq!(found, known.map(|(caller, callee)| (caller.to_string(), callee)).collect());
}

/// What is wrong with a kernel that lacks some flushes; none where the emulator is not here.
fn without(left_out: &[(&str, &str)], configurations: &[&str], machine: Machine) -> Option<Option<String>> {
    wrong_with(&Kernel::of(logged_kernel()).without(left_out), configurations, machine)
}

/// What is wrong with a kernel, if anything, when a program runs in each of these configurations.
fn wrong_with(kernel: &[u8], configurations: &[&str], machine: Machine) -> Option<Option<String>> {
    let (mut script, program) = (Script::new(), freestanding(64, &["remaps.c"]));
    for switches in configurations {
        script.set(switches);
        // The second one gets the identifiers of the first.
        script.exec::<&str>(&program, &[]);
        script.exec::<&str>(&program, &[]);
        // Programs that run together take them from each other, without anything else that flushes.
        if switches.contains("asids=") {
            Programs::on(Emulator::Bochs).run_some(&mut script, 0, 2);
        }
    }
    script.set("pti=off pcid=off global=off flush-by=cr3");
    boot(&script, kernel, machine).map(|(heard, _)| heard.wrong)
}

/// A kernel that is whole fails none of these (above).
fn check_found(is_wanted: impl Fn(Machine) -> bool) {
    for (caller, callee, found) in FLUSHES {
        let In(machine, configurations) = found else { continue };
        if is_wanted(*machine) {
            let Some(wrong) = without(&[(caller, callee)], configurations, *machine) else { return };
            let wrong = wrong.unwrap_or_else(|| panic!("nobody misses {callee} in {caller}"));
            assert!(wrong.contains(" is old when ") || wrong.contains(" not flushed"), "{caller}: {wrong}");
        }
    }
}

#[test]
fn a_flush_that_is_left_out_is_found() {
    check_found(|machine| matches!(machine, Machine::Qemu));
}

#[test]
fn a_flush_that_only_a_processor_with_identifiers_needs_is_found_when_it_is_left_out() {
    check_found(|machine| matches!(machine, Machine::Bochs));
}

#[test]
fn a_way_out_that_does_not_look_at_the_mask_is_found() {
    // jnc becomes jmp, in the template of each path.
    let kernel = Kernel::of(logged_kernel());
    let step = "PTI: switch to the program's page tables, and flush if that is due";
    let file = kernel.with_jumps_of_steps(step);
    let Some(wrong) = wrong_with(&file, &["pti=on pcid=lazy"], Machine::Bochs) else { return };
    assert!(wrong.is_some_and(|wrong| wrong.contains("its translations are not flushed")));
}

#[test]
fn a_page_that_only_the_kernel_maps_must_not_be_global() {
    // is_trampoline says yes of every page: ret behind mov $1, %eax.
    let kernel = Kernel::of(logged_kernel()).beginning_with("is_trampoline", &[0xb8, 1, 0, 0, 0, 0xc3]);
    let Some(wrong) = wrong_with(&kernel, &["pti=on global=on"], Machine::Qemu) else { return };
    assert!(
        wrong.as_ref().is_some_and(|wrong| wrong.contains("is not what the current tables have")),
        "{wrong:?}"
    );
}

#[test]
fn an_identifier_that_is_given_again_and_not_flushed_is_found() {
    // pcid_take says that the pair is not a new one: mov $1, %eax becomes mov $0, %eax.
    let kernel = Kernel::of(logged_kernel()).changed("pcid_take", &[0xb8, 1, 0, 0, 0], &[0xb8, 0, 0, 0, 0]);
    let Some(wrong) = wrong_with(&kernel, &["pti=on pcid=keep"], Machine::Bochs) else { return };
    assert!(wrong.is_some_and(|wrong| wrong.contains("its translations are not flushed")));
}

#[test]
fn flushes_of_a_change_of_configuration_are_made_up_for_by_the_next_program() {
    let left_out = FLUSHES.iter().filter(|(.., found)| *found == Nowhere);
    let left_out: Vec<_> = left_out.map(|(caller, callee, _)| (*caller, *callee)).collect();
    let configurations = [
        "pti=on pcid=keep vsyscall=native",
        "vsyscall=none",
        "pti=off pcid=off",
        "pti=on pcid=keep vsyscall=original",
    ];
    let Some(wrong) = without(&left_out, &configurations, Machine::Bochs) else { return };
    assert_eq!(wrong, None);
}

//! Page-table isolation, looked at from inside (the kernel's own check), from outside (QEMU's monitor reads the page tables of
//! a program that runs), and with a kernel that has a hole: the check can fail.

use crate::build::{Program, freestanding};
use crate::faults::ENTRIES;
use crate::faults32::entries_32;
use crate::guest::{Emulator, LIMIT, Script, limits};
use crate::kernel::Kernel;
use crate::monitor::{Monitor, is_missing, wrapped};
use crate::trial::*;
use places::lab::{End, Event, Events, Qemu};
use std::time::{Duration, Instant};

const PAGE: u64 = 4096;
const VSYSCALL: u64 = 0xffff_ffff_ff60_0000;
const UPPER_HALF: u64 = 1 << 63;

/// What programs' page tables have of the kernel's half: start and end.
fn allowed(kernel: &Kernel, vsyscall: bool) -> Vec<(u64, u64)> {
    let mut ranges = kernel_ranges(kernel);
    ranges.extend(vsyscall.then_some((VSYSCALL, VSYSCALL + PAGE)));
    ranges
}

/// The same of the kernel itself.
pub fn kernel_ranges(kernel: &Kernel) -> Vec<(u64, u64)> {
    let range = |name: &str| (kernel.symbol(&format!("{name}_start")), kernel.symbol(&format!("{name}_end")));
    let mut ranges = vec![range("trampoline")];
    let (mut start, end) = range("cpu_area");
    let area = start..end;
    for guard in kernel.guard_pages().into_iter().filter(|page| area.contains(page)) {
        ranges.push((start, guard));
        start = guard + PAGE;
    }
    ranges.push((start, end));
    ranges
}

fn pages(ranges: &[(u64, u64)]) -> u64 {
    ranges.iter().map(|(start, end)| (end - start) / PAGE).sum()
}

#[test]
fn the_kernels_own_check_counts_the_pages_that_the_linker_has_placed() {
    let kernel = Kernel::read();
    for emulator in Emulator::KINDS {
        let mut script = Script::new();
        script.set("pti=on smap=on vsyscall=emulate");
        script.check("pti");
        script.set("vsyscall=none");
        script.check("pti");
        script.set("pti=off");
        script.check("pti");
        // The stacks alone are no protection.
        script.set("pti=trampoline");
        script.check("pti");
        script.set("pti=on global=on copy-frame=on");
        script.check("pti");
        if emulator == Emulator::Bochs {
            for switches in ["pcid=keep", "pcid=flush", "pcid=lazy flush-by=invpcid", "global=off"] {
                script.set(switches);
                script.check("pti");
            }
        }
        let Some(session) = script.boot(emulator) else { continue };
        let ends: Vec<End> = session.ran.iter().map(|ran| ran.end).collect();
        let all = pages(&allowed(&kernel, true));
        assert_eq!(ends[0], End::Checked(true, [all, 0, 1]));
        assert_eq!(ends[1], End::Checked(true, [all - 1, 0, 1]));
        // The tables are as they were, but nobody uses them: ring 0 reads what it likes.
        assert_eq!(ends[2..4], [End::Checked(false, [all - 1, 0, 0]); 2]);
        assert!(ends[4..].iter().all(|end| *end == End::Checked(true, [all - 1, 0, 1])), "{ends:?}");
    }
}

/// Where the exit stack is mapped again, for programs with stacks of 16 bits (lab/mm/addresses.h); that it is that stack, the kernel's own
/// check finds: at every distance of 64 KiB in 8 GiB. And its bytes.
const EXIT_STACK_AGAIN: std::ops::Range<u64> = 0xffff_ff00_0000_0000..0xffff_ff80_0000_0000;
const EXIT_STACK: u64 = 12288;

/// Ranges of addresses that the current page tables map, of the upper half, joined where they touch; but for these.
fn upper_ranges(monitor: &mut Monitor, espfix: bool) -> Vec<(u64, u64)> {
    let text = monitor.ask("info mem");
    let parse = |hex: &str| u64::from_str_radix(hex.trim(), 16).ok();
    let range = |line: &str| {
        let (start, rest) = line.split_once('-')?;
        Some((parse(start)?, parse(rest.split_whitespace().next()?)?))
    };
    let (again, ranges): (Vec<_>, Vec<_>) = text
        .lines()
        .filter_map(range)
        .filter(|(start, _)| *start >= UPPER_HALF)
        .partition(|range| EXIT_STACK_AGAIN.contains(&range.0));
    let expected = if espfix { (8 << 14) * EXIT_STACK } else { 0 };
    assert_eq!(again.iter().map(|(start, end)| end - start).sum::<u64>(), expected);
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match joined.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => joined.push((start, end)),
        }
    }
    joined
}

/// What the page tables of a running program have of the upper half.
fn seen_from_outside(switches: &str, program: &Program) -> Vec<(u64, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("monitor");
    let option = format!("-monitor unix:{},server=on,wait=off", socket.display());
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {option}"));
    let mut script = Script::new();
    script.limit(0);
    script.set(switches);
    script.exec(program, &["spin"]);
    let mut guest = qemu.boot(&script.archive(Qemu::TCG_HERTZ), script.numbered(), &limits()).unwrap();
    while guest.next().unwrap() != Event::Begin(0) {}
    let mut monitor = Monitor::open(&socket);
    let start = Instant::now();
    loop {
        monitor.ask("stop");
        // Between its begin and its first instruction, and in the tick, it is the kernel that runs.
        if monitor.ask("info registers").contains("CPL=3") {
            return upper_ranges(&mut monitor, switches.contains("espfix=on"));
        }
        assert!(start.elapsed() < Duration::from_secs(20), "the program does not run");
        monitor.ask("cont");
    }
}

#[test]
fn the_page_tables_of_a_running_program_have_nothing_else_of_the_kernel() {
    if is_missing() {
        return;
    }
    let (kernel, program) = (Kernel::read(), freestanding(64, &["faults64.S"]));
    assert_eq!(seen_from_outside("pti=on vsyscall=emulate", &program), allowed(&kernel, true));
    assert_eq!(seen_from_outside("pti=on vsyscall=none", &program), allowed(&kernel, false));
    assert_eq!(seen_from_outside("pti=on vsyscall=none espfix=on", &program), allowed(&kernel, false));
    let others = "pti=on global=on flush-by=pge copy-frame=on vsyscall=native";
    assert_eq!(seen_from_outside(others, &program), allowed(&kernel, true));
    for switches in ["pti=trampoline", "pti=off global=on", "pti=off"] {
        let all = seen_from_outside(switches, &program);
        let is_seen = |address: u64| all.iter().any(|(start, end)| (*start..*end).contains(&address));
        assert!(is_seen(kernel.symbol("kernel_start")) && is_seen(0xffff_8880_0010_0000), "{all:x?}");
    }
    let all = seen_from_outside("pti=off", &program);
    let is_seen = |address: u64| all.iter().any(|(start, end)| (*start..*end).contains(&address));
    let guards = kernel.guard_pages();
    // Above each is a stack; no stack borders on another without one in between.
    assert!(guards.iter().all(|page| !is_seen(*page) && is_seen(page + PAGE)), "{guards:x?} {all:x?}");
    for top in ["main_stack_top", "exit_stack_top"] {
        let top = kernel.symbol(top);
        assert!(guards.iter().any(|page| (top - 5 * PAGE..top).contains(page)), "{top:x}");
    }
}

#[test]
fn a_kernel_that_maps_more_fails_its_check() {
    if is_missing() {
        return;
    }
    // tables_init maps from the trampoline on; in this kernel from its code on.
    let kernel = Kernel::read();
    let change = |name| (kernel.symbol(name) as u32).to_le_bytes();
    let bytes = kernel.changed("tables_init", &change("trampoline_start"), &change("kernel_start"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("kernel"), bytes).unwrap();
    // The last -kernel counts.
    let option = format!("-kernel {}", folder.path().join("kernel").display());
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {option}"));
    let mut script = Script::new();
    script.set("pti=on");
    script.check("pti");
    let session =
        script.boot_in(&|archive, programs, limits| qemu.boot(archive, programs, limits), Qemu::TCG_HERTZ);
    let more = (kernel.symbol("trampoline_start") - kernel.symbol("kernel_start")) / PAGE;
    let pages = pages(&allowed(&kernel, true)) + more;
    assert_eq!(session.unwrap().ran[0].end, End::Checked(false, [pages, more, 0]));
}

/// Where the kernel is, a program under isolation finds nothing, whichever way it last came back from the kernel.
#[test]
fn every_way_back_from_the_kernel_leads_to_the_programs_page_tables() {
    let kernel = Kernel::read();
    let (program64, program32) = (freestanding(64, &["faults64.S"]), freestanding(32, &["faults32.S"]));
    let places = [kernel.symbol("kernel_start"), kernel.symbol("cpu_area_end"), 0xffff_8880_0010_0000];
    let others = ["page-fault", "vsyscall", "ticks"];
    let mut trial = Trial::new(Emulator::TcgIntel);
    let switches = |pti| {
        let paths = [
            "stack=minimum exit=natural",
            "stack=frame exit=natural",
            "stack=frame exit=iret",
            "stack=minimum exit=iret",
        ];
        paths.map(|path| (format!("pti={pti} {path}"), pti))
    };
    let copied = switches("on").map(|(switches, pti)| (format!("{switches} copy-frame=on"), pti));
    let all = switches("on").into_iter().chain(copied).chain(switches("off")).chain(switches("trampoline"));
    for (switches, pti) in all {
        trial.script.set(&switches);
        for (index, way) in ENTRIES.iter().chain(&others).enumerate() {
            let place = places[index % places.len()];
            let expected = if pti == "on" { Absent(place) } else { Present(place) };
            // A tick every hundred thousand instructions. Where none is needed, a program may wait for a slow reader of its output.
            trial.script.limit(if *way == "ticks" { 2_000_000 } else { LIMIT });
            trial.run(&program64, &case(format!("read-after-{way} {place:x}"), expected));
        }
        trial.script.limit(LIMIT);
        let place = kernel.symbol("kernel_start");
        let expected = if pti == "on" { Absent(place) } else { Present(place) };
        for (way, _) in entries_32() {
            trial.run(&program32, &case(format!("read-after-{way} {:x}", place as u32), expected));
        }
    }
    trial.check();
}

//! NMIs with PCID, which only Bochs has. It writes no log of them, and its timers have no distance that is exact: so they come
//! anywhere, and code in the kernel's place reports what they came before (spread_nmis.S).

use crate::build::{compile_once, root};
use crate::every_instruction::{
    CASES_32, CASES_64, CASES_PROTECTED, CLOSED, Interrupt, Interrupts, NMI, OF_PROTECTED, OPEN, STUB_BYTES,
    built_in, can_be, is_behind_a_fault, jump, kernel_in_mode, program_of,
};
use crate::guest::{Emulator, Script, Session, bochs_is_missing, changed_bochs};
use crate::kernel::Kernel;
use crate::whole::is_whole;
use places::lab::{Bochs, End, Limits, Mode, Strays};
use std::collections::BTreeSet;
use std::path::Path;

/// NMIs then come before 80 to 94 of a hundred instructions of the paths, by the configuration; with `KENTRY_WHOLE=1`, and all of the timer's counts,
/// before more.
fn turns() -> u64 {
    if is_whole() { 2500 } else { 600 }
}

/// Of the PC's timer, whose tick is four instructions here: between two NMIs, in one boot each. A distance alone meets the same places of
/// a loop again and again.
const TIMER_COUNTS: [u64; 3] = [227, 241, 251];

/// The first of the vectors whose stubs are not needed.
const UNUSED: u64 = 0x50;

/// Where in spread_nmis.S their stub goes on.
const NMI_AT: u64 = 128;

/// The kernel with NMIs all the time.
fn kernel(mode: Mode, timer_count: u64) -> Vec<u8> {
    let (kernel, mut file) = (Kernel::in_mode(mode), kernel_in_mode(mode, Interrupt::Rarely));
    let stub = |vector: u64| kernel.symbol("exception_stubs") + vector * STUB_BYTES;
    let at = stub(UNUSED);
    let define = |name: &str, value: u64| format!("-D{name}={value:#x}");
    let flags = [
        if mode == Mode::Long { "-m64" } else { "-m32" }.into(),
        "-nostdlib".into(),
        "-static".into(),
        "-no-pie".into(),
        define("PATHS_START", kernel.symbol("paths_start")),
        define("PATHS_END", kernel.symbol("paths_end")),
        define("EXCEPTION_AT_ANY_TIME", kernel.symbol("exception_at_any_time")),
        define("TIMER_COUNT", timer_count),
        define("NMI_AT", NMI_AT),
        format!("-Wl,-Ttext={at:#x},--oformat=binary,--build-id=none"),
    ];
    let code = compile_once("spread-nmis", &flags, &[root().join("tests/lab/spread_nmis.S")]).bytes;
    assert!((64..48 * STUB_BYTES as usize).contains(&code.len()), "{}", code.len());
    let mut write = |address: u64, code: &[u8]| {
        let at = kernel.place(address);
        file[at..at + code.len()].copy_from_slice(code);
    };
    write(at, &code);
    write(stub(NMI), &jump(stub(NMI), at + NMI_AT));
    let counters = kernel.symbol("counters_find");
    write(counters, &jump(counters, at));
    file
}

/// What NMIs came before, of the paths: four bytes with the highest bit set, among what Bochs writes itself.
fn reports(output: &[u8], paths_start: u64) -> BTreeSet<u64> {
    let bytes: Vec<u8> = output.iter().copied().filter(|byte| byte & 0x80 != 0).collect();
    let reports = bytes.split(|byte| *byte == 0xff).filter(|report| report.len() == 3);
    let place =
        |report: &[u8]| report.iter().rev().fold(0, |place, byte| place << 6 | u64::from(byte & 0x3f));
    reports.map(|report| paths_start + place(report)).collect()
}

/// Boots in Bochs, with a folder for its output.
fn boot(script: &Script, folder: &Path, kernel: &[u8]) -> Option<Session> {
    let change = "sed '$a port_e9_hack: enabled=1' \"$3\" > \"$folder/rc\"";
    let bochs = changed_bochs(folder, None, change, Some(&folder.join("output")));
    let bochs = Bochs { kernel: kernel.to_vec().into(), ..bochs };
    let boot = |archive: &[u8], programs, limits: &Limits| bochs.boot(archive, programs, limits);
    script.boot_in(&boot, Bochs::HERTZ)
}

/// Every case, many times over, without a pause.
fn calls(mode: Mode, switches: &str) -> (Script, Vec<usize>) {
    let (mut script, mut ran) = (Script::in_mode(mode), Vec::new());
    script.limit(0);
    script.set(switches);
    let (bits, more) = if mode == Mode::Long { (64, CASES_64) } else { (32, CASES_PROTECTED) };
    for (bits, cases) in [(bits, more), (32, CASES_32)] {
        let program = program_of(bits, Interrupts::ANYWHERE, false, mode);
        // Intel's processors do not have the first.
        let is_closed = |case: &str| {
            bits == 32 && case.contains("syscall") || !can_be(case, switches) || needs_pages(case, switches)
        };
        for case in cases.iter().filter(|case| !is_closed(case)) {
            // In two paths one instruction is looked for.
            let turns = if *case == "div0" { 4 * turns() } else { turns() };
            ran.push(script.run(&program, &[case, &format!("{turns:x}")]));
        }
    }
    (script, ran)
}

/// Whether there is no such case, or path, with these switches, because there are no page tables: sysenter, an address without memory, a stack that ends,
/// virtual-8086 mode.
fn needs_pages(name: &str, switches: &str) -> bool {
    let needs = ["sysenter", "no-memory", "double_fault", "v86"];
    switches.contains("paging=off") && needs.iter().any(|needs| name.contains(needs))
}

/// Addresses of instructions, by path.
pub type Listed = Vec<(&'static str, Vec<u64>)>;

fn listed(mode: Mode, switches: &str) -> Option<Listed> {
    let mut script = Script::in_mode(mode);
    script.set(switches);
    let names = Kernel::in_mode(mode).path_names();
    let is_there = |path: &&str| {
        *path != "syscall_i386"
            && names.contains(*path)
            && can_be(path, switches)
            && !needs_pages(path, switches)
    };
    let paths: Vec<&str> = OPEN.iter().chain(CLOSED).chain(OF_PROTECTED).copied().filter(is_there).collect();
    paths.iter().for_each(|path| _ = script.list(path));
    let session = script.boot(Emulator::Bochs)?;
    let addresses = |ran| built_in(mode, ran).iter().map(|line| line.address).collect();
    Some(paths.into_iter().zip(session.ran.iter().map(addresses)).collect())
}

#[test]
fn nmis_all_over_the_paths_change_nothing_with_pcid() {
    let Some((listed, reported)) = check(Mode::Long, "pti=on pcid=keep gate=trap") else { return };
    // Where QEMU cannot.
    for (path, addresses) in listed.iter().filter(|(path, _)| is_behind_a_fault(path)) {
        assert!(reported.contains(&addresses[0]), "never before the first instruction of {path}");
    }
}

#[test]
fn nmis_all_over_the_paths_change_nothing_with_flushes_that_wait_and_copied_frames() {
    check(Mode::Long, "pti=on pcid=lazy global=on flush-by=invpcid copy-frame=on gate=trap");
}

/// The paths' instructions, and those that an NMI came before.
pub fn check(mode: Mode, switches: &str) -> Option<(Listed, BTreeSet<u64>)> {
    if bochs_is_missing() {
        return None;
    }
    let listed = listed(mode, switches)?;
    let (script, ran) = calls(mode, switches);
    let folder = tempfile::tempdir().unwrap();
    let quiet = boot(&script, folder.path(), &kernel_in_mode(mode, Interrupt::Rarely))?;
    let mut reported = BTreeSet::new();
    for timer_count in TIMER_COUNTS.into_iter().take(if is_whole() { 3 } else { 2 }) {
        let disturbed = boot(&script, folder.path(), &kernel(mode, timer_count)).unwrap();
        for number in &ran {
            let (quiet, disturbed) = (&quiet.ran[*number], &disturbed.ran[*number]);
            assert_eq!((quiet.end, &quiet.strays), (End::Exited(0), &Strays::new()), "{}", quiet.label);
            assert_eq!(disturbed.end, End::Exited(0), "{}", quiet.label);
            assert!(quiet.output == disturbed.output, "{}: other registers", quiet.label);
            assert!(disturbed.strays.keys().eq([&NMI]), "{}: {:?}", quiet.label, disturbed.strays);
        }
        let output = std::fs::read(folder.path().join("output")).unwrap();
        reported.extend(reports(&output, Kernel::in_mode(mode).symbol("paths_start")));
    }
    let all: Vec<u64> = listed.iter().flat_map(|(_, addresses)| addresses.clone()).collect();
    let hit = all.iter().filter(|address| reported.contains(address)).count();
    assert!(hit > all.len() * 3 / 4, "{hit} of {} instructions", all.len());
    Some((listed, reported))
}

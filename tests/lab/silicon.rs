//! What machines do that an emulator's own boot does not: interrupts that nobody asked for, NMIs and machine checks at any time,
//! processors that lack what this one has, firmware that leaves something behind, a fault before the kernel is up.

use crate::build::{compile_once, freestanding, root};
use crate::guest::{AMD_IN_BOCHS, AMD_IN_QEMU, Answer, Emulator, Ran, Script, Session, limits};
use crate::kernel::Kernel;
use crate::monitor::{Monitor, is_missing, wrapped};
use object::Object;
use places::lab::{Bochs, End, Event, Events, Guest, Mode, Qemu, Strays, Trouble};
use record::abi;
use std::path::Path;
use table::{Kernel as Kernels, Table};

/// Boots in QEMU with more options; `-kernel` and `-cpu` may be among them, because the last one counts.
pub fn boot_with(script: &Script, options: &str) -> Option<Session> {
    if is_missing() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {options}"));
    script.boot_in(&|archive, programs, limits| qemu.boot(archive, programs, limits), Qemu::TCG_HERTZ)
}

/// Boots this file as the kernel.
pub fn boot_kernel(script: &Script, kernel: &[u8], options: &str) -> Option<Session> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel");
    std::fs::write(&file, kernel).unwrap();
    boot_with(script, &format!("-kernel {} {options}", file.display()))
}

/// A row of each entry, and whether its answer is right.
fn rows() -> Script {
    let mut script = Script::new();
    script.set("pti=on");
    for (entry, operation) in Table::get().rows(Kernels::Lab) {
        if operation.name == "getppid" && !Emulator::TcgIntel.lacks(entry) {
            script.row(entry, operation);
        }
    }
    script
}

fn check_rows(session: &Session) {
    assert!(session.ran.len() > 10);
    let wrong: Vec<_> = session
        .ran
        .iter()
        .filter(|ran| ran.answer() != Answer::Ok)
        .map(|ran| (&ran.label, ran.end))
        .collect();
    assert!(wrong.is_empty(), "{wrong:x?}");
}

fn find(bytes: &[u8], wanted: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(wanted.len()).enumerate();
    windows.filter(|(_, window)| *window == wanted).map(|(at, _)| at).collect()
}

/// The upper half of STAR: sysret's base, and syscall's.
fn star(base: u32) -> [u8; 4] {
    (base << 16 | 0x10).to_le_bytes()
}

/// No emulator shows what AMD's processors do: they take the program's SS from STAR as it is, so that a base without
/// ring 3 fails at the next `iretq`.
#[test]
fn sysrets_base_in_star_names_ring_3() {
    assert_eq!(find(places::lab::kernel(Mode::Long), &star(0x20)), [0_usize; 0]);
    assert_eq!(find(places::lab::kernel(Mode::Long), &star(0x23)).len(), 1);
}

#[test]
fn the_kernels_test_of_a_system_call_sees_selectors_that_only_iret_looks_at() {
    let mut kernel = places::lab::kernel(Mode::Long).to_vec();
    for at in find(places::lab::kernel(Mode::Long), &star(0x23)) {
        // QEMU's sysret does not read the descriptors: the program goes on with a data segment as its code.
        kernel[at..at + 4].copy_from_slice(&star(0x2b));
    }
    let Some(session) = boot_kernel(&Script::new(), &kernel, "") else { return };
    assert!(!session.boot.syscall_works);
    assert!(boot_with(&Script::new(), "").unwrap().boot.syscall_works);
}

fn has(session: &Session, feature: u64) -> bool {
    session.boot.features >> feature & 1 == 1
}

/// Boots this kernel in Bochs, with a processor of this model.
pub fn boot_in_bochs(model: &str, script: &Script, kernel: Vec<u8>) -> Option<Session> {
    let bochs = Bochs { kernel: kernel.into(), ..Bochs::new(Some(model)) };
    script.boot_in(&|archive, programs, limits| bochs.boot(archive, programs, limits), Bochs::HERTZ)
}

/// The kernel, beginning by switching the local APIC to x2APIC mode, as firmware does where there are many CPUs. It does so where it
/// would look whether there is a 64-bit mode.
fn with_x2apic() -> Vec<u8> {
    // mov $0x80000001, %eax; cpuid; bt $29, %edx; jnc, by a distance of 32 bits
    const BEFORE: &[u8] = b"\xb8\x01\0\0\x80\x0f\xa2\x0f\xba\xe2\x1d\x0f\x83";
    const LENGTH: usize = BEFORE.len() + 4;
    // mov $0x1b, %ecx; rdmsr; or $0x400, %eax; wrmsr
    const CODE: &[u8] = b"\xb9\x1b\0\0\0\x0f\x32\x0d\0\x04\0\0\x0f\x30";
    let [at] = find(places::lab::kernel(Mode::Long), BEFORE)[..] else {
        panic!("not one place in the kernel")
    };
    let mut kernel = places::lab::kernel(Mode::Long).to_vec();
    kernel[at..at + LENGTH].fill(0x90);
    kernel[at..at + CODE.len()].copy_from_slice(CODE);
    kernel
}

#[test]
fn an_apic_in_x2apic_mode_ticks_and_is_silenced() {
    let mut script = Script::new();
    script.limit(20_000_000);
    let program = freestanding(64, &["faults64.S"]);
    for switches in ["pti=off", "pti=on pcid=keep"] {
        script.set(switches);
        script.exec(&program, &["spin"]);
        script.row(Table::get().entry("syscall-x86_64").unwrap(), Table::get().operation("getppid").unwrap());
    }
    let Some(session) = boot_in_bochs("tigerlake", &script, with_x2apic()) else { return };
    let [first, second, third, fourth] = &session.ran[..] else { panic!("{:?}", session.ran) };
    for spin in [first, third] {
        assert!(matches!(spin.end, End::Runaway(_)), "{:?}", spin.end);
    }
    assert_eq!((second.answer(), fourth.answer()), (Answer::Ok, Answer::Ok));
}

#[test]
fn a_processor_whose_lfence_cannot_be_made_to_wait_is_told() {
    for (model, waits) in
        [("max,vendor=GenuineIntel", true), (AMD_IN_QEMU, false), ("max,vendor=CentaurHauls", false)]
    {
        let Some(session) = boot_with(&Script::new(), &format!("-cpu {model}")) else { return };
        assert_eq!(has(&session, abi::FEATURE_LFENCE), waits, "{model}");
    }
    // The register is refused with #GP, and the kernel goes on.
    let Some(session) = boot_in_bochs(AMD_IN_BOCHS, &Script::new(), places::lab::kernel(Mode::Long).to_vec())
    else {
        return;
    };
    assert_eq!((session.boot.vendor, has(&session, abi::FEATURE_LFENCE)), (abi::VENDOR_AMD, false));
}

#[test]
fn no_register_is_touched_that_the_processor_may_lack() {
    for model in [
        "tigerlake",
        "corei7_sandy_bridge_2600k",
        "p4_prescott_celeron_336",
        AMD_IN_BOCHS,
        "phenom_8650_toliman",
    ] {
        let mut script = Script::new();
        let (entry, operation) = (Table::get().entry("syscall-x86_64"), Table::get().operation("getppid"));
        script.row(entry.unwrap(), operation.unwrap());
        let Some(session) = boot_in_bochs(model, &script, places::lab::kernel(Mode::Long).to_vec()) else {
            return;
        };
        assert_eq!(session.ran[0].answer(), Answer::Ok, "{model}");
    }
}

#[test]
fn processors_that_lack_something() {
    for (missing, feature) in [
        ("-nx", Some(abi::FEATURE_NX)),
        ("-nx,-smep", Some(abi::FEATURE_SMEP)),
        ("-smep", Some(abi::FEATURE_SMEP)),
        ("-smap", Some(abi::FEATURE_SMAP)),
        ("-apic", None),
        ("-rdtscp,-mce,-mca", None),
        // The last leaf of CPUID: firmware can lower it, and QEMU does not raise it again as a processor would.
        ("level=2", Some(abi::FEATURE_SMAP)),
        ("level=3", Some(abi::FEATURE_XSAVE)),
        ("level=11", Some(abi::FEATURE_XSAVE)),
        ("-avx", None),
    ] {
        let options = format!("-cpu max,vendor=GenuineIntel,{missing}");
        let Some(session) = boot_with(&rows(), &options) else { return };
        assert!(feature.is_none_or(|feature| !has(&session, feature)), "{missing}");
        check_rows(&session);
        assert_eq!(session.strays, Strays::new(), "{missing}");
    }
}

#[test]
fn without_nx_the_emulated_vsyscall_page_is_still_served_by_its_fault() {
    let vsyscall = Table::get().entry("vsyscall").unwrap();
    let mut script = Script::new();
    let mut rows = |switches: &str| {
        script.set(switches);
        vsyscall
            .operations
            .iter()
            .map(|name| script.row(vsyscall, Table::get().operation(name).unwrap()))
            .count()
    };
    let count = rows("vsyscall=emulate") + rows("vsyscall=native") + rows("vsyscall=original pti=on");
    let costs = |model: &str| {
        let session = boot_with(&script, &format!("-cpu max,vendor=GenuineIntel,{model}"))?;
        assert_eq!(session.ran.iter().filter(|ran| ran.answer() == Answer::Ok).count(), count, "{model}");
        Some(session.ran.iter().map(|ran| ran.cost()).collect::<Vec<_>>())
    };
    let Some(with) = costs("+nx") else { return };
    for model in ["-nx", "-nx,-smep"] {
        let without = costs(model).unwrap();
        let (emulate, others) = without.split_at(vsyscall.operations.len());
        assert_eq!(others, &with[emulate.len()..], "{model}");
        // Were the page executed, it would cost what a native one costs.
        assert!(emulate.iter().zip(others).all(|(emulate, native)| emulate > native), "{model}: {without:?}");
    }
}

/// What leftovers.S sets in EFER: SVME, the only one of AMD's bits that QEMU keeps, and only where CPUID has SVM.
const EFER_BITS: u64 = 1 << 12;

/// What leftovers.S puts into either half of the page attribute table: write-back, write-combining, and two uncached ones.
const PAT_HALF: u64 = 0x0007_0106;

/// The first instruction of the 64-bit probes, which all programs of the rows are.
fn probe_entry() -> u64 {
    let probe = places::lab::probes().into_iter().find(|probe| probe.name == "probe64").unwrap();
    object::File::parse(probe.bytes).unwrap().entry()
}

/// The kernel as it is entered by leftovers.S, and QEMU's options that load that.
fn behind_leftovers(folder: &Path, mut kernel: Vec<u8>) -> (Vec<u8>, String) {
    const AT: u64 = 0x400_0000; // between the kernel and the archive
    const NOTE: &[u8] = b"\x04\0\0\0\x04\0\0\0\x12\0\0\0Xen\0";
    let [note] = find(&kernel, NOTE)[..] else { panic!("not one note") };
    let entry = note + NOTE.len()..note + NOTE.len() + 4;
    let next = u32::from_le_bytes(kernel[entry.clone()].try_into().unwrap());
    let flags = [
        "-m32".into(),
        "-nostdlib".into(),
        "-static".into(),
        "-no-pie".into(),
        format!("-DNEXT={next:#x}"),
        format!("-DPAT_HALF={PAT_HALF:#x}"),
        format!("-DEFER_BITS={EFER_BITS:#x}"),
        format!("-DBREAKPOINT={:#x}", probe_entry()),
        format!("-Wl,-Ttext={AT:#x},--oformat=binary,--build-id=none"),
    ];
    let code = compile_once("leftovers", &flags, &[root().join("tests/lab/leftovers.S")]);
    kernel[entry].copy_from_slice(&(AT as u32).to_le_bytes());
    let file = folder.join("leftovers");
    std::fs::write(&file, code.bytes).unwrap();
    (kernel, format!("-device loader,file={},addr={AT:#x},force-raw=on", file.display()))
}

/// Runs leftovers.S before the kernel, in QEMU.
fn boot_after_leftovers(script: &Script, kernel: &[u8], options: &str) -> Option<Session> {
    let folder = tempfile::tempdir().unwrap();
    let (kernel, device) = behind_leftovers(folder.path(), kernel.to_vec());
    boot_kernel(script, &kernel, &format!("{device} {options}"))
}

#[test]
fn what_firmware_left_running_disturbs_no_program() {
    let mut script = rows();
    let (rdtscp, getcpu) = (Table::get().entry("rdtscp"), Table::get().operation("getcpu"));
    script.row(rdtscp.unwrap(), getcpu.unwrap());
    // Long enough for the timer.
    let program = freestanding(64, &["faults64.S"]);
    script.limit(20_000_000);
    let spin = script.exec(&program, &["spin"]);
    // Without NX the kernel looks whether firmware has switched it off; QEMU does not show it afterwards, as a processor would.
    // What lists the I/O APIC, which is left running, too, is ACPI.
    for options in ["-M microvm,acpi=on", "-M microvm,acpi=on -cpu max,vendor=GenuineIntel,-nx"] {
        let Some(session) = boot_after_leftovers(&script, places::lab::kernel(Mode::Long), options) else {
            return;
        };
        assert!(matches!(session.ran[spin].end, End::Runaway(_)), "{:?}", session.ran[spin].end);
        // Only what was pending, once.
        assert_eq!(session.strays, Strays::from([(0x68, 1)]), "{options}");
        for ran in session.ran.iter().filter(|ran| !ran.label.contains("spin")) {
            assert_eq!((ran.answer(), &ran.strays), (Answer::Ok, &Strays::new()), "{}", ran.label);
        }
    }
}

/// The kernel raises #UD there if IA32_MISC_ENABLE (0x1a0) limits CPUID or switches NX off, else #BP.
#[test]
fn what_firmware_has_hidden_of_cpuid_is_shown() {
    // mov $0x1a0, %ecx; rdmsr; test $1 << 22, %eax; jnz 1f; test $1 << 2, %edx; jnz 1f; int3; 1: ud2
    const CODE: &[u8] =
        b"\xb9\xa0\x01\0\0\x0f\x32\xa9\0\0\x40\0\x75\x09\xf7\xc2\x04\0\0\0\x75\x01\xcc\x0f\x0b";
    let folder = tempfile::tempdir().unwrap();
    let (kernel, device) = behind_leftovers(folder.path(), broken("tables_init", CODE));
    let Some(words) = last_words(Mode::Long, &kernel, &device) else { return };
    let [line] = &words[..] else { panic!("{words:?}") };
    assert!(line.starts_with("panic: an exception in the kernel: vector 3, "), "{line}");
}

/// A kernel with another entry for the timer in the APIC's local vector table than its own: a vector that it does not know,
/// or another delivery, which QEMU's timer allows.
fn with_another_timer(entry: u32) -> Vec<u8> {
    const PERIODIC: u32 = 0x20000;
    let own = (PERIODIC | 0xfe).to_le_bytes();
    Kernel::read().changed("tick_set", &own, &(PERIODIC | entry).to_le_bytes())
}

/// How many interrupts of this vector came while it ran; no others did.
fn strays(ran: &Ran, vector: u64) -> u64 {
    assert!(ran.strays.keys().all(|other| *other == vector), "{}: {:?}", ran.label, ran.strays);
    ran.strays.get(&vector).copied().unwrap_or(0)
}

#[test]
fn a_stray_interrupt_is_a_number_and_no_fault() {
    // Of the PICs, of none, and at the ends.
    for vector in [0x20, 0x37, 0x3f, 0x7f, 0x81, 0xfd] {
        let mut script = Script::new();
        // A tick for every hundred thousand instructions.
        script.limit(1_600_000);
        script.set(if vector & 1 == 0 { "pti=on gate=trap" } else { "pti=off" });
        // 131072 calls of some sixty instructions.
        script.exec(&freestanding(64, &["faults64.S"]), &["repeat-syscall", "20000"]);
        let Some(session) = boot_kernel(&script, &with_another_timer(vector), "") else { return };
        let [ran] = &session.ran[..] else { panic!("{:?}", session.ran) };
        assert_eq!(ran.end, End::Exited(0), "{vector:#x}");
        let came = strays(ran, vector.into());
        assert!((40..400).contains(&came), "{vector:#x}: {came}");
    }
}

/// How an event at any time may find each kernel: the kernel, a processor, switches.
const AT_ANY_TIME: [(Mode, &str, &str); 5] = [
    (Mode::Long, "max,vendor=GenuineIntel", "pti=on"),
    (Mode::Protected, "max,vendor=GenuineIntel", "pti=on"),
    (Mode::Protected, "max,vendor=GenuineIntel", "pti=on events-by=task"),
    (Mode::Protected, "max,vendor=AuthenticAMD", "pti=on events-by=task"),
    (Mode::Protected, "max,vendor=AuthenticAMD", "pti=off paging=classic events-by=task"),
];

/// A program that never ends, in a guest with a monitor; what the monitor is asked for is done while it runs.
fn disturbed(
    (mode, model, switches): (Mode, &str, &str),
    what: impl FnOnce(&mut Monitor),
) -> Option<(Vec<Event>, Option<Trouble>)> {
    if is_missing() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("monitor");
    let option = format!("-cpu {model} -monitor unix:{},server=on,wait=off", socket.display());
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {option}")).in_mode(mode);
    let mut script = Script::in_mode(mode);
    script.limit(150_000_000);
    script.set(switches);
    let program = match mode {
        Mode::Long => freestanding(64, &["faults64.S"]),
        Mode::Protected => freestanding(32, &["faults32.S"]),
    };
    script.exec(&program, &["spin"]);
    let mut guest = qemu.boot(&script.archive(Qemu::TCG_HERTZ), script.numbered(), &limits()).unwrap();
    let mut monitor = Monitor::open(&socket);
    let mut events = Vec::new();
    until(&mut guest, &mut events, |event| *event == Event::Begin(0));
    // Before, the kernel may still be writing the record: QEMU serves its monitor between two bytes.
    while !monitor.ask("info registers").contains("CPL=3") {}
    what(&mut monitor);
    let trouble = until(&mut guest, &mut events, |_| false);
    Some((events, trouble))
}

/// Takes events, until one that is looked for, or the end; where that is not the plan's, what ended them.
fn until(guest: &mut Guest, events: &mut Vec<Event>, is_it: impl Fn(&Event) -> bool) -> Option<Trouble> {
    loop {
        let event = match guest.next() {
            Ok(event) => event,
            Err(trouble) => return Some(trouble),
        };
        let is_last = is_it(&event) || event == Event::Done;
        events.push(event);
        if is_last {
            return None;
        }
    }
}

/// The monitor's NMIs come by the APIC's LINT1, as a PC's do.
#[test]
fn a_pcs_nmi_is_counted_and_the_program_runs_on() {
    for how in AT_ANY_TIME {
        let ask = |monitor: &mut Monitor| (0..3).for_each(|_| drop(monitor.ask("nmi")));
        let Some((events, _)) = disturbed(how, ask) else { return };
        let ended = events.iter().any(|event| matches!(event, Event::End { end: End::Runaway(_), .. }));
        assert!(ended, "{how:?}: {events:?}");
        // One that comes while another is handled waits, and a third is lost.
        let is_nmi =
            |event: &Event| matches!(event, Event::Stray { number: Some(0), vector: 2, count: 1..=3 });
        assert!(events.iter().any(is_nmi), "{how:?}: {events:?}");
    }
}

#[test]
fn a_machine_check_says_what_the_banks_say_and_stops() {
    const STATUS: &str = "0xbe00000000000135"; // valid, uncorrected, enabled, with misc and address
    for how in AT_ANY_TIME {
        let ask = |monitor: &mut Monitor| monitor.tell(&format!("mce 0 4 {STATUS} 0x5 0x1234000 0x8c"));
        let Some((events, trouble)) = disturbed(how, ask) else { return };
        let lines: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                Event::Log(line) => Some(line.as_str()),
                _ => None,
            })
            .collect();
        let [first, bank] = lines[..] else { panic!("{how:?}: {trouble:?} after {events:?}") };
        assert!(first.starts_with("machine check in ring ") && first.contains("MCG_STATUS 5, "), "{first}");
        assert_eq!(bank, "machine check: bank 4, status be00000000000135, address 1234000, misc 8c");
        assert!(!events.iter().any(|event| matches!(event, Event::End { .. } | Event::Done)));
    }
}

/// Boots a kernel that cannot come up: its log, to the end.
fn last_words(mode: Mode, kernel: &[u8], options: &str) -> Option<Vec<String>> {
    if is_missing() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel");
    std::fs::write(&file, kernel).unwrap();
    let options = format!("-kernel {} {options}", file.display());
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {options}")).in_mode(mode);
    let mut guest = qemu.boot(&Script::in_mode(mode).archive(Qemu::TCG_HERTZ), 0, &limits()).unwrap();
    let mut events = Vec::new();
    until(&mut guest, &mut events, |_| false);
    let log = events.into_iter().map(|event| match event {
        Event::Log(line) => line,
        other => panic!("{other:?}"),
    });
    Some(log.collect())
}

/// An exception that finds no stack, in the kernel of protected mode: the task of #DF has one.
#[test]
fn a_double_fault_of_the_kernels_own_is_told_by_its_task() {
    let kernel = Kernel::in_mode(Mode::Protected);
    let code = [0xbc, 0x00, 0x10, 0x00, 0x00, 0x50]; // mov $0x1000, %esp; push %eax
    let file = kernel.beginning_with("tick_init", &code);
    let Some(words) = last_words(Mode::Protected, &file, "") else { return };
    let address = kernel.symbol("tick_init") + 5;
    let expected = format!("panic: a double fault at 10:{address:x}, stack 1000, CR2 ");
    assert!(words.last().is_some_and(|line| line.starts_with(&expected)), "{words:?} without {expected}");
}

#[test]
fn a_processor_without_what_protected_mode_needs_is_refused_in_words() {
    for model in ["486", "pentium", "pentium3", "max,-pae", "max,-sse2"] {
        let kernel = places::lab::kernel(Mode::Protected);
        let Some(words) = last_words(Mode::Protected, kernel, &format!("-cpu {model}")) else { return };
        assert!(
            words[0].starts_with("panic: this processor is too old, or its firmware"),
            "{model}: {words:?}"
        );
    }
}

/// The kernel with these bytes at a symbol.
fn broken(symbol: &str, code: &[u8]) -> Vec<u8> {
    broken_again(places::lab::kernel(Mode::Long).to_vec(), symbol, code)
}

fn broken_again(mut file: Vec<u8>, symbol: &str, code: &[u8]) -> Vec<u8> {
    let kernel = Kernel::read();
    let at = kernel.place(kernel.symbol(symbol));
    file[at..at + code.len()].copy_from_slice(code);
    file
}

/// The register (MSR) that the kernel has when it is nearly up, behind leftovers.S: an exception's report has it as CR2.
fn register_behind_leftovers(kernel: Vec<u8>, register: u32, options: &str) -> Option<u64> {
    // mov $register, %ecx; rdmsr; shl $32, %rdx; or %rdx, %rax; mov %rax, %cr2; ud2
    let [a, b, c, d] = register.to_le_bytes();
    let code =
        [0xb9, a, b, c, d, 0x0f, 0x32, 0x48, 0xc1, 0xe2, 32, 0x48, 0x09, 0xd0, 0x0f, 0x22, 0xd0, 0x0f, 0x0b];
    let folder = tempfile::tempdir().unwrap();
    let (kernel, device) = behind_leftovers(folder.path(), broken_again(kernel, "tick_init", &code));
    let words = last_words(Mode::Long, &kernel, &format!("{device} {options}"))?;
    let value = words.last().and_then(|line| line.split_once(": vector 6, ")?.1.split_once(", CR2 "));
    Some(u64::from_str_radix(value.unwrap_or_else(|| panic!("{words:?}")).1, 16).unwrap())
}

#[test]
fn a_page_attribute_table_that_firmware_has_changed_is_changed_back() {
    const PAT: u32 = 0x277;
    const AT_RESET: u64 = 0x0007_0406_0007_0406;
    let Some(value) = register_behind_leftovers(places::lab::kernel(Mode::Long).to_vec(), PAT, "") else {
        return;
    };
    assert_eq!(value, AT_RESET, "{value:#x}");
    // And it was another.
    let without = broken("memory_types_init", &[0xc3]); // ret
    assert_eq!(register_behind_leftovers(without, PAT, ""), Some(PAT_HALF << 32 | PAT_HALF));
}

#[test]
fn nothing_of_firmwares_remains_in_efer() {
    const EFER: u32 = 0xc000_0080;
    const SCE_LME_LMA: u64 = 1 | 1 << 8 | 1 << 10;
    const NXE: u64 = 1 << 11;
    // leftovers.S sets a bit of CR4 that needs LA57.
    for (options, nxe) in [("-cpu EPYC,+la57,+svm", NXE), ("-cpu EPYC,+la57,+svm,-nx", 0)] {
        let Some(efer) = register_behind_leftovers(places::lab::kernel(Mode::Long).to_vec(), EFER, options)
        else {
            return;
        };
        assert_eq!(efer, SCE_LME_LMA | nxe, "{options}: {efer:#x}");
    }
}

#[test]
fn nx_that_firmware_has_switched_off_is_switched_on() {
    const MISC_ENABLE: u32 = 0x1a0;
    const XD_DISABLE: u64 = 1 << 34;
    let value = |kernel: Vec<u8>, options: &str| register_behind_leftovers(kernel, MISC_ENABLE, options);
    let Some(cleared) = value(places::lab::kernel(Mode::Long).to_vec(), "") else { return };
    assert_eq!(cleared & XD_DISABLE, 0, "{cleared:#x}");
    assert_eq!(
        value(places::lab::kernel(Mode::Long).to_vec(), "-cpu max,vendor=GenuineIntel,-nx").unwrap()
            & XD_DISABLE,
        0
    );
    // AMD's processors do not have the register. (leftovers.S sets a bit of CR4 that needs LA57.)
    assert_eq!(
        value(places::lab::kernel(Mode::Long).to_vec(), "-cpu EPYC,-nx,+la57").unwrap() & XD_DISABLE,
        XD_DISABLE
    );
}

#[test]
fn what_goes_wrong_in_32_bit_code_is_reported() {
    let begin = "panic: an exception before 64-bit mode: vector";
    let at = Kernel::read().symbol("start_32_gates");
    // ud2; mov $0x1230, %eax and mov %eax, %ds, where there is no such segment.
    for (code, expected) in [
        (&[0x0f, 0x0b][..], format!("{begin} 06, error code 00000000, at {at:08x}")),
        (
            &[0xb8, 0x30, 0x12, 0, 0, 0x8e, 0xd8],
            format!("{begin} 0d, error code 00001230, at {:08x}", at + 5),
        ),
    ] {
        let Some(words) = last_words(Mode::Long, &broken("start_32_gates", code), "") else { return };
        assert_eq!(words, [expected]);
    }
    let words = last_words(Mode::Long, places::lab::kernel(Mode::Long), "-cpu max,-lm").unwrap();
    assert_eq!(words, ["panic: this processor has no 64-bit mode"]);
}

#[test]
fn an_exception_before_the_kernel_is_up_is_reported() {
    let kernel = Kernel::read();
    // mov $address, %rax; mov %rax, %dr0; mov $0x402, %eax; mov %rax, %dr7: what is behind is not to be executed.
    let behind = 21;
    let address = (kernel.symbol("strays_silence") + behind).to_le_bytes();
    let breakpoint = [b"\x48\xb8", &address[..], b"\x0f\x23\xc0\xb8\x02\x04\0\0\x0f\x23\xf8"].concat();
    // In the first 64-bit code, behind the loading of the gates; in C, before and behind the kernel's own gates.
    for (symbol, code, vector) in [
        ("start_64_gates", &[0x0f, 0x0b][..], 6),
        ("kernel_main", &[0x0f, 0x0b], 6),
        ("boot_read", &[0x0f, 0x0b], 6),
        ("tables_init", &[0xcc], 3),
        // A #DB that no single step causes.
        ("strays_silence", &breakpoint, 1),
        // mov %rax, -8: there is nothing at the top of the address space.
        ("tick_init", &[0x48, 0xa3, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 14),
    ] {
        let Some(words) = last_words(Mode::Long, &broken(symbol, code), "") else { return };
        let distance = match vector {
            1 => behind,
            3 => 1,
            _ => 0,
        };
        let at = kernel.symbol(symbol) + distance;
        let begin = format!("panic: an exception in the kernel: vector {vector}, error code ");
        assert_eq!(words.len(), 1, "{symbol}: {words:?}");
        assert!(words[0].starts_with(&begin), "{symbol}: {words:?}");
        assert!(words[0].contains(&format!(" at {at:x}, ")), "{symbol}: {words:?}");
        assert!(vector != 14 || words[0].ends_with("CR2 fffffffffffffff8"), "{words:?}");
    }
}

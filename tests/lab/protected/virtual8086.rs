//! Virtual-8086 mode and segments of 16 bits (lab/i386/entry/v86_thread.h, steps/espfix.S): v86.S.

use crate::build::{Program, freestanding};
use crate::guest::{Answer, Emulator, Ran, Script, qemu_is_before};
use crate::kernel::Kernel;
use crate::monitor::wrapped;
use crate::protected::gates::boot;
use crate::trial::{At, Case, Exit, Expected, Page, Runaway, SHORT, Vector, case, is_as};
use object::{Object, ObjectSymbol};
use places::lab::{End, Limits, Mode, Qemu};
use table::Table;

/// Each has other steps on the way in or out, or other page tables.
const PATHS: [&str; 8] = [
    "pti=off smap=off stack=minimum",
    "pti=on smap=on stack=minimum gate=trap",
    "pti=off smap=on stack=frame exit=iret",
    "pti=trampoline copy-frame=on smap=on stack=minimum exit=iret",
    "pti=on copy-frame=on smap=off stack=frame exit=natural gate=interrupt",
    "pti=on smap=off copy-frame=on stack=minimum paging=classic",
    "pti=on smap=off copy-frame=on stack=minimum paging=wide events-by=task",
    "pti=on smap=off copy-frame=off stack=frame paging=wide work=on events-by=gate",
];

/// What CR4.VME leaves to the processor, each with a program that asks for VIP, which it does not get; and whether it would set IF. TCG has no VME.
const PENDING: [(&str, bool); 6] = [
    ("pending-cli", false),
    ("pending-sti", true),
    ("pending-popf-off", false),
    ("pending-popf-on", true),
    ("pending-iret-off", false),
    ("pending-iret-on", true),
];
/// What the processor refuses with VIP and without: TF in an image (SDM vol. 2, POPF; of IRET with VME only APM vol. 3 speaks, and Bochs does so), and
/// flags of 32 bits, which CR4.VME leaves to the monitor (SDM vol. 2, PUSHF, POPF; APM vol. 3, IRET). That VME is on, the others show.
const REFUSED: [&str; 5] =
    ["pending-popf-trap", "pending-iret-trap", "pending-pushfl", "pending-popfl", "pending-iretl"];

fn program() -> Program {
    freestanding(32, &["v86.S"])
}

/// What the manuals say of each instruction (SDM vol. 3, 20.2 and 20.3; APM vol. 2, 8.8), with IOPL 0. TCG does not redirect, and checks no limits.
fn virtual_8086(emulator: Emulator, switches: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = [
        "getppid",
        "yields",
        "no-call",
        "upper-half",
        "interrupt-flag",
        "popf-interrupt-flag",
        "popf-vm",
        "iret",
        "iretl-vm",
        "reflected",
        "long",
        "paragraphs",
    ]
    .map(|name| case(name, Exit(0)))
    .into();
    cases.push(case("exit", Exit(7)));
    // Bochs reads the 8086's table as the supervisor, and CS first; SMAP refuses that.
    let table = if switches.contains("smap=on") { Page(4 * 0x21 + 2) } else { Exit(0) };
    cases.push(case("redirected", if emulator.is_tcg() { Vector(13) } else { table }));
    cases.push(case("redirected-call", if emulator.is_tcg() { Vector(13) } else { Exit(0) }));
    let privileged =
        ["hlt", "in", "out", "insb", "read-cr0", "write-cr0", "read-dr7", "lgdt", "lmsw", "clts", "wrmsr"];
    cases.extend(privileged.map(|name| case(name, Vector(13))));
    // QEMU 7.2 refuses it, as processors do; 10.0 executes it.
    if !emulator.is_tcg() || qemu_is_before("8") {
        cases.push(case("invd", Vector(13)));
    }
    // It would forget where it came from: SYSENTER_CS is 0 as long as a program is in the mode.
    cases.push(case("sysenter", Vector(13)));
    let protected = ["ltr", "lldt", "sldt", "str", "lar", "lsl", "verr", "arpl", "ud2", "syscall"];
    cases.extend(protected.map(|name| case(name, Vector(6))));
    // int3 and into are not int n: they take gates 3 and 4, and the latter is closed.
    cases.extend(
        [("int3", 3), ("into", 4), ("bound", 5), ("divide", 0)]
            .map(|(name, vector)| case(name, Vector(vector))),
    );
    cases.extend(["trap", "popf-trap"].map(|name| case(name, Vector(1))));
    let absent = [
        ("read-absent", 0x40000),
        ("jump-absent", 0x40010),
        ("stack-absent", 0x47ffe),
        ("table-absent", 0x1000),
    ];
    cases.extend(absent.map(|(name, address)| case(name, Page(address))));
    cases.push(case("pushf-absent", Vector(13)));
    if !emulator.is_tcg() {
        cases.extend(PENDING.map(|(name, _)| case(name, Exit(0))));
        let program = program();
        cases.extend(REFUSED.map(|name| case(name, At(13, 0, place(&program, "faults", name)))));
    }
    cases.push(case("limit", if emulator.is_tcg() { Page(0x20000) } else { Vector(13) }));
    cases
}

pub const IOPL: u32 = 0b11 << 12;
const VIF: u32 = 1 << 19;
const VIP: u32 = 1 << 20;

/// The kernel with these flags in place of VIF among those that a program in the mode gets if it asks for them.
pub fn giving(kernel: &Kernel, flags: u32) -> Vec<u8> {
    // FLAGS_CHOSEN of v86.c.
    const CHOSEN: u32 = 0x0dd5;
    let [own, changed] = [VIF, flags].map(|flags| (CHOSEN | flags).to_le_bytes());
    kernel.changed("v86_serves", &own, &changed)
}

/// Each of PENDING and REFUSED, and whether it faults where VIP is set.
fn with_ends() -> impl Iterator<Item = (&'static str, bool)> {
    PENDING.into_iter().chain(REFUSED.map(|name| (name, true)))
}

/// How these programs end where the kernel gives these flags to a program that asks for VIF and VIP.
fn with_pending(program: &Program, flags: u32) -> Option<Vec<Ran>> {
    let mut script = Script::protected();
    with_ends().for_each(|(name, _)| _ = script.exec(program, &[name, "0"]));
    boot(Emulator::Bochs, &giving(&Kernel::in_mode(Mode::Protected), flags), &script)
}

/// A kernel that gives a program VIP in place of VIF: then what would set IF faults, where it stands (SDM vol. 2, STI, POPF; vol. 3, 20.3; APM
/// vol. 2, 8.10; of IRET, vol. 3). One that gives it both: then all fault, also those that would not set it, at their beginning (SDM vol. 3, 20.3.2). So
/// the cases notice either.
#[test]
fn a_pending_interrupt_would_fault() {
    let program = program();
    for (flags, all_fault) in [(VIP, false), (VIF | VIP, true)] {
        let Some(ran) = with_pending(&program, flags) else { return };
        let ends = with_ends().map(|(name, faults)| match (all_fault, faults) {
            (true, _) => At(13, 0, place(&program, "begins", name)),
            (false, true) => At(13, 0, place(&program, "faults", name)),
            (false, false) => Exit(0),
        });
        let wrong: Vec<String> =
            ran.iter().zip(ends).filter_map(|(ran, ends)| is_as(ran, ends).err()).collect();
        assert!(ran.len() == with_ends().count() && wrong.is_empty(), "{flags:#x}: {wrong:#?}");
    }
}

/// An offset in the segment of v86.S: where a case begins, or its instruction that may fault.
fn place(program: &Program, what: &str, case: &str) -> u64 {
    let (file, name) = (object::File::parse(&program.bytes[..]).unwrap(), format!("{what}-{case}"));
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(&name));
    symbol.unwrap_or_else(|| panic!("v86.S has no {name}")).address()
}

/// The same of the kernel for long mode in Linux's order, which has one body of the way out for interrupts and exceptions until 6.7, and two since.
const PATHS_OF_LINUX: [&str; 4] = [
    "pti=trampoline smap=on stack=frame exit=natural copy-frame=on order=linux-5.10",
    "pti=on smap=on stack=frame exit=natural copy-frame=on order=linux-6.1 swapgs=fence",
    "pti=trampoline smap=on stack=frame exit=natural copy-frame=on order=linux-6.12 return-checks=on",
    "pti=on smap=off stack=frame exit=natural copy-frame=on order=linux-6.12 idle=on",
];

/// With espfix=on, each keeps the upper half of esp.
const SEGMENTS: [&str; 5] =
    ["segments", "segments-exceptions", "segments-call-gate", "segments-lcall7", "segments-stack"];

fn segments() -> Vec<Case> {
    let mut cases: Vec<Case> = SEGMENTS.map(|name| case(name, Exit(0))).into();
    cases.push(case("segments-trap", Exit(0)));
    // The way back would be a far return of ring 1.
    cases.push(case("segments-ring1", Vector(13)));
    cases
}

/// Runs cases, behind each a call of another program, in each configuration; what is wrong.
fn wrong(emulator: Emulator, script: Script, cases: impl Fn(&str) -> Vec<Case>) -> Vec<String> {
    let (program, mut script, mut expected) = (program(), script, Vec::new());
    let (entry, operation) =
        (Table::get().entry("int80-i386").unwrap(), Table::get().operation("getppid").unwrap());
    script.set("espfix=on");
    let protected = script.mode == Mode::Protected;
    // Bochs is slower by far.
    let few = PATHS.into_iter().step_by(if emulator.is_tcg() { 1 } else { 3 });
    let of_linux = PATHS_OF_LINUX.into_iter().filter(|_| !protected);
    // Long mode has neither switch.
    let of_both =
        |switches: &&str| protected || !["paging", "events-by"].iter().any(|of| switches.contains(of));
    for switches in few.filter(of_both).chain(of_linux) {
        script.set(switches);
        for (words, ends) in cases(switches) {
            script.exec(&program, &[words.as_str(), "0"]);
            script.row(entry, operation);
            expected.push(ends);
        }
    }
    let Some(session) = script.boot(emulator) else { return Vec::new() };
    let mut wrong = Vec::new();
    for (pair, ends) in session.ran.chunks(2).zip(expected) {
        wrong.extend(is_as(&pair[0], ends).err());
        wrong.extend((pair[1].answer() != Answer::Ok).then(|| format!("behind {}", pair[0].label)));
    }
    wrong
}

#[test]
fn what_the_mode_serves_and_what_it_refuses() {
    for emulator in Emulator::ALL {
        let wrong = wrong(emulator, Script::protected(), |switches| virtual_8086(emulator, switches));
        assert!(wrong.is_empty(), "{}: {wrong:#?}", emulator.name());
    }
}

#[test]
fn the_upper_half_of_esp_is_the_programs() {
    for emulator in Emulator::ALL {
        for script in [Script::protected(), Script::new()] {
            let mode = script.mode;
            let wrong = wrong(emulator, script, |_| segments());
            assert!(wrong.is_empty(), "{} {mode:?}: {wrong:#?}", emulator.name());
        }
    }
}

/// The case notices what the switch is for.
#[test]
fn without_espfix_it_is_the_kernels() {
    let program = program();
    for emulator in Emulator::ALL {
        for mut script in [Script::protected(), Script::new()] {
            script.set("espfix=off");
            SEGMENTS.iter().for_each(|case| _ = script.exec(&program, &[case, "0"]));
            let Some(session) = script.boot(emulator) else { continue };
            for ran in &session.ran {
                assert!(
                    matches!(ran.end, End::Exited(status) if status != 0),
                    "{} in {} {:?}: {:?}",
                    ran.label,
                    emulator.name(),
                    script.mode,
                    ran.end
                );
            }
        }
    }
}

/// The monitor says which instruction it does not do, once, where it is.
#[test]
fn a_line_says_what_the_monitor_does_not_do() {
    let (program, mut script) = (program(), Script::protected());
    for case in ["hlt", "getppid", "redirected"] {
        script.exec(&program, &[case, "0"]);
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let logs: Vec<&[String]> = session.ran.iter().map(|ran| ran.log.as_slice()).collect();
    let [[hlt], [], [redirected]] = logs[..] else { panic!("{logs:?}") };
    assert!(
        hlt.starts_with("virtual-8086 mode: the monitor does not do the instruction f4 at 1000:"),
        "{hlt}"
    );
    assert!(redirected.contains("CR4.VME"), "{redirected}");
}

/// The tick finds programs in the mode, and one that has no end is ended.
#[test]
fn a_program_without_end_is_ended() {
    let (program, mut script) = (program(), Script::protected());
    script.limit(SHORT);
    for switches in PATHS {
        script.set(switches);
        script.exec(&program, &["runaway", "0"]);
    }
    for emulator in [Emulator::TcgIntel, Emulator::Bochs] {
        let Some(session) = script.boot(emulator) else { continue };
        let wrong: Vec<String> = session.ran.iter().filter_map(|ran| is_as(ran, Runaway).err()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// Three programs take turns, one of which is in the mode, one in segments of 16 bits, and one in neither.
#[test]
fn programs_take_turns_with_one_in_the_mode() {
    let (program, mut script) = (program(), Script::protected());
    script.set("espfix=on");
    for switches in PATHS {
        script.set(switches);
        script.beside(&program, &["yields", "0"]);
        script.beside(&program, &["segments-yields", "0"]);
        script.beside(&program, &["yields", "0"]);
        script.exec(&program, &["turns", "0"]);
    }
    for emulator in Emulator::KINDS {
        let Some(session) = script.boot(emulator) else { continue };
        let wrong: Vec<String> = session.ran.iter().filter_map(|ran| is_as(ran, Exit(0)).err()).collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", emulator.name());
    }
}

const RETURN: u8 = 0xc3;

/// The kernel with a timer that interrupts by NMIs, as QEMU's can; no program ends because it runs for long.
fn kernel_with_nmis() -> Vec<u8> {
    let kernel = Kernel::in_mode(Mode::Protected);
    let mut file = kernel.changed("tick_set", &0x200fe_u32.to_le_bytes(), &0x20400_u32.to_le_bytes());
    for function in ["program_may_be_runaway", "tick_shift"] {
        file[kernel.place(kernel.symbol(function))] = RETURN;
    }
    file
}

/// NMIs come at any instruction: also where the stack has its other name, and in the monitor.
#[test]
fn an_nmi_disturbs_neither_the_mode_nor_the_other_name_of_the_stack() {
    // A tick is a part of a program's time.
    const PARTS: u64 = 16;
    let (program, mut script) = (program(), Script::protected());
    script.set("espfix=on");
    for (at, switches) in PATHS.iter().enumerate() {
        script.set(switches);
        script.limit(PARTS * (701 + 2 * at as u64));
        for case in [
            "yields",
            "paragraphs",
            "interrupt-flag-often",
            "segments-yields",
            "segments-exceptions",
            "segments-call-gate-often",
        ] {
            script.exec(&program, &[case, "0"]);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel");
    std::fs::write(&file, kernel_with_nmis()).unwrap();
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" -kernel {}", file.display()));
    let qemu = qemu.in_mode(Mode::Protected);
    let boot = |archive: &[u8], programs, limits: &Limits| qemu.boot(archive, programs, limits);
    if crate::monitor::is_missing() {
        return;
    }
    let session = script.boot_in(&boot, Qemu::TCG_HERTZ).unwrap();
    let wrong: Vec<String> =
        session.ran.iter().filter_map(|ran| is_as(ran, Exit(0) as Expected).err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(
        session.ran.iter().all(|ran| ran.strays.get(&2).is_some_and(|count| *count > 10)),
        "{:?}",
        session.ran[0].strays
    );
}

//! NMIs and ticks at every instruction of every path: answers and registers are what they are without.
//!
//! QEMU counts instructions (`-icount`), interrupts before the very instruction at which the timer is due, and writes down which
//! one that was (`-d int`). The programs turns64.S and turns32.S count, too, and make each call one instruction nearer to the next
//! interrupt than the one before. The tests compare what was interrupted with the paths as the kernel says that it has built
//! them: no instruction may be left out.

use crate::build::{Program, freestanding_with};
use crate::guest::{AMD_IN_QEMU, Ran, Script, Session, intel_has_syscall_32};
use crate::kernel::{Kernel, Step, templates};
use crate::monitor::{is_missing, wrapped};
use crate::spec_ctrl::kernel_with_spec_ctrl;
use crate::whole::is_whole;
use places::lab::{End, Limits, Mode, Qemu, Strays};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

/// Paths with interrupts on, whatever the switches, at least where a call gate has led to them.
pub const OPEN: &[&str] = &[
    "call_gate_i386",
    "call_gate_x86_64",
    "copy_user",
    "put_user_16",
    "put_user_4",
    "put_user_8",
    "ring1",
    "ring2",
];

/// Those with interrupts off; with `gate=trap` they are on in the first.
pub const CLOSED: &[&str] = &[
    "int80",
    "div0_i386",
    "div0_x86_64",
    "exception",
    "int3_i386",
    "int3_x86_64",
    // Empty but in Linux's order.
    "page_fault",
    "syscall_i386",
    "syscall_x86_64",
    "sysenter_i386",
    "sysenter_x86_64",
    "ud_i386",
    "ud_x86_64",
];

/// Those of entries that the kernel for protected mode alone has; of them, gates leave interrupts on.
pub const OF_PROTECTED: &[&str] = &[
    "bound_i386",
    "call_gate_16_0_i386",
    "call_gate_16_1_i386",
    "call_gate_16_8_i386",
    "call_gate_32_1_i386",
    "call_gate_32_8_i386",
    "double_fault",
    "into_i386",
    "limit_fault_i386",
    "np_fault_i386",
    "ss_fault_i386",
    "task_16",
    "task_gate",
    "task_jmp",
    "task_nested",
    "v86",
];

/// Through a gate that copies words, which a QEMU before 9.1 reads as the kernel does: SMAP refuses that.
const COPIES: [&str; 4] = ["gate_16_1", "gate_16_8", "gate_32_1", "gate_32_8"];

/// What has code of its own only for how it is entered and left: looked at in the configurations in which those differ (ON_AMD, BY_TASKS), and in Bochs.
const OF_FEW: &[&str] = &["bound", "gate_16_1", "gate_16_8", "gate_32_", "task", "double_fault", "v86"];

/// Called from the conforming segment. QEMU goes back to no task there: it asks that DPL be RPL, as SDM vol. 3, table 7-1 does of any code segment;
/// its table 6-6 has #TS of a conforming one for DPL > CPL alone, as Bochs does.
const OF_CONFORMING: &str = "gate_16_";

/// Whether a case, or a path, is looked at with these switches.
fn is_looked_at(name: &str, switches: &str) -> bool {
    if switches == BY_TASKS && name.contains(OF_CONFORMING) {
        return false;
    }
    let is_of_few = OF_FEW.iter().any(|few| name.contains(few));
    can_be(name, switches) && (!is_of_few || ON_AMD.contains(&switches) || switches == BY_TASKS || is_whole())
}

/// Whether a case, or a path, can be there with these switches.
pub fn can_be(name: &str, switches: &str) -> bool {
    let is_closed = name == "task_16" && switches.contains("events-by=task");
    !is_closed && (!COPIES.iter().any(|copies| name.contains(copies)) || switches.contains("smap=off"))
}

/// The way to a program.
pub const START: &str = "enter_user";

/// The way of the check of isolation, which no program takes.
const PEEK: &str = "peek_as_program";

/// What happens at a switch of address spaces, which is a part of threads' switch (nmi.rs).
const SWITCH: &str = "switch_space";

/// A model of a processor in QEMU, and which of the lab's kernels it runs.
#[derive(Debug, Clone, Copy)]
pub struct Processor {
    model: &'static str,
    is_amd: bool,
    pub mode: Mode,
}

pub const INTEL: Processor = Processor { model: "max,vendor=GenuineIntel", is_amd: false, mode: Mode::Long };
pub const AMD: Processor = Processor { model: AMD_IN_QEMU, is_amd: true, mode: Mode::Long };

impl Processor {
    /// The same with the other kernel.
    pub const fn protected(self) -> Processor {
        Processor { mode: Mode::Protected, ..self }
    }

    /// In 32-bit code of long mode QEMU's AMD executes `sysenter`, and then raises #UD at `sysexit`.
    fn has_sysenter(self) -> bool {
        !self.is_amd || self.mode == Mode::Protected
    }

    fn kernel(self) -> Kernel {
        Kernel::in_mode(self.mode)
    }

    /// The programs that are run, by their bits, and their cases.
    fn programs(self) -> &'static [(u8, &'static [&'static str])] {
        match self.mode {
            Mode::Long => &[(64, CASES_64), (32, CASES_32)],
            Mode::Protected => &[(32, CASES_32), (32, CASES_PROTECTED)],
        }
    }

    /// Whether it has a case, or a path.
    pub fn has(self, name: &str) -> bool {
        match name {
            _ if self.mode == Mode::Protected && name.contains("syscall") => self.is_amd,
            // QEMU does not enter these rings, and checks no limits; Bochs does (rings.rs, spread_nmis.rs).
            "ring1" | "ring2" | "limit" | "limit_fault_i386" => false,
            "syscall_i386" => self.is_amd || intel_has_syscall_32(),
            _ => self.has_sysenter() || !name.starts_with("sysenter"),
        }
    }

    /// Whether a case, or a path, is one that Intel's model does not run as this one does: QEMU's models execute all but fast calls alike, by the same
    /// code of the kernel's.
    fn is_new(self, name: &str) -> bool {
        let is_own = name.contains("syscall") || name == "gateway" && self.mode == Mode::Long;
        !self.is_amd || is_own || is_whole()
    }

    /// The same of a case of 32-bit code.
    fn has_in_32(self, name: &str) -> bool {
        self.has(if name == "syscall" { "syscall_i386" } else { name })
    }
}

/// Cases of turns64.S, and of turns32.S.
pub const CASES_64: &[&str] = &[
    "syscall",
    "sysenter",
    "call_gate",
    "ring1",
    "ring2",
    "int80",
    "call_gate_i386",
    "ud",
    "lock_nop",
    "int3",
    "div0",
    "foreign-ud",
    "foreign-div0",
    "vsyscall",
    "memory",
    "no-memory",
];
pub const CASES_32: &[&str] = &[
    "int80",
    "sysenter",
    "syscall",
    "gateway",
    "call_gate",
    "lcall7",
    "ud",
    "lock_nop",
    "int3",
    "div0",
    "foreign-ud",
    "foreign-div0",
];
/// What turns32.S has besides for the kernel of protected mode.
pub const CASES_PROTECTED: &[&str] = &[
    "ring1",
    "ring2",
    "ds-gone-int80",
    "es-gone-int80",
    "ds-gone-sysenter",
    "es-gone-sysenter",
    "ds-gone-syscall",
    "es-gone-syscall",
    "ds-gone-call_gate",
    "es-gone-call_gate",
    "ds-gone-ud",
    "es-gone-ud",
    "ds-gone-lock_nop",
    "es-gone-lock_nop",
    "ds-gone-int3",
    "es-gone-int3",
    "ds-gone-div0",
    "es-gone-div0",
    "into",
    "absent_fs",
    "absent_ss",
    "bound",
    "foreign-bound",
    "limit",
    "gate_16_0",
    "gate_16_1",
    "gate_16_8",
    "gate_32_1",
    "gate_32_8",
    "task_int",
    "task_call",
    "task_jumped",
    "task_jmp",
    "task_jmp_called",
    "task_16",
    "task_nested",
    "task-nested-jumped",
    "double_fault",
    "v86",
    "foreign-v86",
    "interrupt",
    "memory",
    "no-memory",
];

/// What interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupt {
    /// The tick, so rarely that calls are hardly disturbed.
    Rarely,
    Tick,
    Nmi,
    /// An NMI, once after the beginning of each program.
    OneNmi,
}
use Interrupt::*;

impl Interrupt {
    /// The timer's entry in the APIC's local vector table: QEMU's timer can deliver an NMI, which no processor's does.
    fn entry(self) -> u32 {
        match self {
            Rarely | Tick => 0x200fe, // periodic, the kernel's own vector
            Nmi => 0x20400,
            OneNmi => 0x00400,
        }
    }

    fn vector(self) -> u64 {
        if self.entry() & 0x400 == 0 { 0xfe } else { NMI }
    }
}

pub const NMI: u64 = 2;
const BOUND: u64 = 5;
const INVALID: u64 = 6;

/// The APIC's initial count, where the kernel has mapped it (lab/mm/mm.h).
const INITIAL_COUNT: u64 = 0xffff_c000_fee0_0380;

/// Instructions between two interrupts: more than twice what the longest case takes, with an interrupt.
const fn period(mode: Mode) -> u64 {
    match mode {
        Mode::Long => 1201,
        Mode::Protected => 3001,
    }
}

/// By how many instructions, at most, an interrupt of the kernel is shorter than one of a program (aim.inc). Each costs turns. An NMI that is a task
/// looks at the segments of programs alone, which makes the greatest difference.
fn margin(mode: Mode, switches: &str) -> u64 {
    match mode {
        Mode::Long => 8,
        Mode::Protected if switches.contains("events-by=task") => 160,
        Mode::Protected => 32,
    }
}

/// The stack of the task of 16 bits: its segment, and its size (lab/cpu/registers.h, lab/entry/layout.h).
const TASK_STACK: u64 = 0x170;
const TASK_16_STACK: u64 = 512;

/// In CR3, what tells the program's tables from the kernel's (lab/mm/mm.h).
const PROGRAM_TOP: u64 = 0x1000;

const RETURN: &[u8] = &[0xc3];
/// addq $2, (%rsp); iretq
const SKIP_TWO_BYTES: &[u8] = &[0x48, 0x83, 0x04, 0x24, 2, 0x48, 0xcf];
/// addl $2, (%esp); iret
const SKIP_TWO_BYTES_32: &[u8] = &[0x83, 0x04, 0x24, 2, 0xcf];
/// The same where a path in Linux's order has called: addq $2, FRAME_RIP(%rsp); push %r12; ret
const SKIP_TWO_BYTES_AND_RETURN: &[u8] = &[0x48, 0x83, 0x84, 0x24, 0x88, 0, 0, 0, 2, 0x41, 0x54, 0xc3];
pub const STUB_BYTES: u64 = 16;

/// A vector whose stub, and the next one's, nobody needs. Code that is longer than a jump does not go to a function's place: the
/// kernel writes where returns were.
const UNUSED: u64 = 0xc0;

/// jmp
pub fn jump(from: u64, to: u64) -> Vec<u8> {
    let distance = i32::try_from(to as i64 - from as i64 - 5).unwrap();
    [&[0xe9], &distance.to_le_bytes()[..]].concat()
}

/// Code for this place that starts a period: movabs $INITIAL_COUNT, %rax; movl $(period - 1), (%rax); ret. In protected mode, where the
/// APIC's registers are anywhere: push $(period - 1); push $APIC_INITIAL; call apic_write; add $8, %esp; ret
fn start_period(kernel: &Kernel, mode: Mode, at: u64) -> Vec<u8> {
    let count = (period(mode) as u32 - 1).to_le_bytes(); // and a period ends at 0
    if mode == Mode::Long {
        return [&[0x48, 0xb8], &INITIAL_COUNT.to_le_bytes()[..], &[0xc7, 0x00], &count, RETURN].concat();
    }
    let offset = (INITIAL_COUNT as u32 & 0xfff).to_le_bytes();
    let pushes = [&[0x68][..], &count, &[0x68], &offset].concat();
    let mut call = jump(at + pushes.len() as u64, kernel.symbol("apic_write"));
    call[0] = 0xe8;
    [&pushes[..], &call, &[0x83, 0xc4, 8], RETURN].concat()
}

/// As [`kernel_in_mode`], of long mode.
pub fn kernel_with(interrupt: Interrupt) -> Vec<u8> {
    kernel_in_mode(Mode::Long, interrupt)
}

/// The kernel with a timer that interrupts so. No program ends because it runs for long, and the timer's count is never changed
/// but at a program's beginning. An exception that looks like an entry and is none goes on behind its two bytes.
pub fn kernel_in_mode(mode: Mode, interrupt: Interrupt) -> Vec<u8> {
    let kernel = Kernel::in_mode(mode);
    let own = Tick.entry().to_le_bytes();
    let mut file = kernel.changed("tick_set", &own, &interrupt.entry().to_le_bytes());
    let mut write = |address: u64, code: &[u8]| {
        let at = kernel.place(address);
        file[at..at + code.len()].copy_from_slice(code);
    };
    write(kernel.symbol("program_may_be_runaway"), RETURN);
    write(kernel.symbol("tick_shift"), RETURN);
    let skip = if mode == Mode::Long { SKIP_TWO_BYTES } else { SKIP_TWO_BYTES_32 };
    for vector in [0, BOUND, INVALID] {
        write(kernel.symbol("exception_stubs") + vector * STUB_BYTES, skip);
    }
    if mode == Mode::Long {
        write(kernel.symbol("foreign_exception"), SKIP_TWO_BYTES_AND_RETURN);
    }
    match interrupt {
        Tick | Nmi => {
            let (from, to) =
                (kernel.symbol("tick_restart"), kernel.symbol("exception_stubs") + UNUSED * STUB_BYTES);
            write(from, &jump(from, to));
            write(to, &start_period(&kernel, mode, to));
        }
        Rarely | OneNmi => {}
    }
    file
}

/// What interrupted what, as QEMU writes it down.
#[derive(Default)]
pub struct Log {
    /// Addresses before whose instruction an interrupt of one vector came, and these in the order in which they came.
    places: BTreeSet<u64>,
    in_order: Vec<u64>,
    /// Those in ring 0, with the stack segment there, and the stack pointer.
    stacks: BTreeSet<(u64, u64, u64)>,
    /// CR3 whenever anything interrupted another ring than the kernel's, from the first of those on.
    tables: BTreeSet<u64>,
    /// Whether each came in another ring than the kernel's, before which instruction, and the base of GS then.
    pub bases: Vec<(bool, u64, u64)>,
}

/// Each interrupt has a line like `7: v=02 e=0000 i=0 cpl=0 IP=0010:ffffffff80120000 pc=ffffffff80120000 SP=...`, and of those behind
/// it, which have the registers, one like `CR0=80050033 CR2=0000000000000000 CR3=0000000000160000 CR4=00300ea0`, and before that one
/// like `GS =0000 0000000000000000 00000000 00000000`.
fn read(log: &Path, vector: u64) -> Log {
    // There are many more lines.
    let output =
        Command::new("grep").args(["-e", ": v=", "-e", "^CR0=", "-e", "^GS ="]).arg(log).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let wanted = format!(": v={vector:02x} ");
    let number = |line: &str, name: &str| {
        let digits = line.split_once(name).and_then(|(_, rest)| rest.split(' ').next());
        u64::from_str_radix(digits.unwrap_or_else(|| panic!("{line}")), 16).unwrap()
    };
    let (mut log, mut is_program, mut is_wanted) = (Log::default(), false, false);
    for line in text.lines() {
        if let Some(segment) = line.strip_prefix("GS =") {
            let base = segment.split(' ').nth(1).and_then(|base| u64::from_str_radix(base, 16).ok());
            let base = base.unwrap_or_else(|| panic!("{line}"));
            log.bases.extend(is_wanted.then(|| (is_program, log.in_order[log.in_order.len() - 1], base)));
            continue;
        }
        if line.starts_with("CR0=") {
            log.tables.extend((is_program && !log.places.is_empty()).then(|| number(line, " CR3=")));
            continue;
        }
        is_program = !line.contains(" cpl=0 ");
        is_wanted = line.contains(&wanted);
        log.in_order.extend(is_wanted.then(|| number(line, " pc=")));
        if is_wanted && !is_program {
            let mut stack = line.split_once(" SP=").map_or("", |(_, rest)| rest).split([':', ' ']);
            let mut next = || stack.next().and_then(|digits| u64::from_str_radix(digits, 16).ok());
            let (Some(segment), Some(pointer)) = (next(), next()) else { panic!("{line}") };
            log.stacks.insert((number(line, " pc="), segment, pointer));
        }
        log.places.extend(log.in_order.last());
    }
    log
}

/// Boots, and says where interrupts came.
fn boot(script: &Script, interrupt: Interrupt, processor: Processor) -> (Session, Log) {
    boot_kernel(script, &kernel_in_mode(processor.mode, interrupt), interrupt, processor)
}

pub fn boot_kernel(
    script: &Script,
    kernel: &[u8],
    interrupt: Interrupt,
    processor: Processor,
) -> (Session, Log) {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (folder.path().join("kernel"), folder.path().join("log"));
    std::fs::write(&file, kernel).unwrap();
    // Nobody asks where the rare ones came.
    let logging = if interrupt == Rarely { String::new() } else { format!("-d int -D {}", log.display()) };
    let options = format!("-kernel {} -cpu {} {logging}", file.display(), processor.model);
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {options}"));
    let boot = |archive: &[u8], programs, limits: &Limits| qemu.boot(archive, programs, limits);
    let session = script.boot_in(&boot, Qemu::TCG_HERTZ).unwrap();
    (session, if interrupt == Rarely { Log::default() } else { read(&log, interrupt.vector()) })
}

/// What runs in one configuration, and the paths that are looked at.
pub struct Trial<'a> {
    switches: &'a str,
    processor: Processor,
    pub script: Script,
    pub paths: Vec<(&'static str, usize)>,
    ran: Vec<usize>,
}

impl<'a> Trial<'a> {
    pub fn new(
        switches: &'a str,
        processor: Processor,
        paths: impl IntoIterator<Item = &'static str>,
    ) -> Trial<'a> {
        let mut script = Script::in_mode(processor.mode);
        // QEMU keeps no SPEC_CTRL, and has nothing to clear.
        script.harmless();
        script.set(switches);
        let paths = paths.into_iter().map(|path| (path, script.list(path))).collect();
        Trial { switches, processor, script, paths, ran: Vec::new() }
    }

    /// A tick, or an NMI, for so many instructions: the plan has that as a part of a program's time.
    pub fn distance(&mut self, instructions: u64) {
        const PARTS: u64 = 16;
        self.script.limit(PARTS * (instructions - 1));
    }

    /// turns64.S or turns32.S, for interrupts at this processor's distance, with traps of GNU Mach or without.
    fn program(&self, bits: u8, mach: bool) -> Program {
        let mode = self.processor.mode;
        program_of(bits, Interrupts { period: period(mode), margin: margin(mode, self.switches) }, mach, mode)
    }

    fn run(&mut self, program: &Program, words: &[&str]) {
        self.ran.push(self.script.run(program, words));
    }

    /// So many turns that an interrupt comes at every instruction of a case.
    pub fn calls(&mut self, is_meant: impl Fn(&str) -> bool) {
        let processor = self.processor;
        for (bits, cases) in processor.programs() {
            let mach = self.switches.contains("personality=mach");
            let program = self.program(*bits, mach);
            let has = |case: &str| {
                if *bits == 32 { processor.has_in_32(case) } else { processor.has(case) }
            };
            let is_there = |case: &&&str| has(case) && is_looked_at(case, self.switches) && is_meant(case);
            for case in cases.iter().filter(is_there) {
                // In some, the path is a page fault's, or behind one in the kernel, or behind a long service. And some steps are long.
                let turns = match *case {
                    "vsyscall" | "no-memory" if processor.mode == Mode::Long => 480,
                    case if case.contains("-gone-") => 250,
                    "memory" if processor.mode == Mode::Protected => 1800,
                    "v86" | "foreign-v86" => 1800,
                    case if case.starts_with("foreign-") => 400,
                    _ if processor.mode == Mode::Long => 150,
                    _ => 900,
                };
                let long = [("bhb=loop", 120), ("ibrs=on", 80), ("trace=on", 200), ("order=", 150)]
                    .map(|(switch, more)| if self.switches.contains(switch) { more } else { 0 });
                self.run(&program, &[case, &format!("{:x}", turns + long.iter().sum::<u64>())]);
            }
        }
    }

    fn ran<'b>(&'b self, session: &'b Session) -> impl Iterator<Item = &'b Ran> {
        self.ran.iter().map(|number| &session.ran[*number])
    }

    /// Where no interrupt is looked for: with copied frames, the first change to the program's tables is for exceptions of the kernel
    /// that come while it has them already. Ticks do, of which there are none while there are NMIs.
    fn for_ticks_alone(&self, path: &str, ran: &Ran) -> std::ops::Range<u64> {
        let is_rare = |step: &&record::Step| {
            path == "exception"
                && self.switches.contains("copy-frame=on")
                && step.name == "PTI: switch to the program's page tables"
        };
        let rare = ran.steps.iter().find(is_rare);
        rare.map_or(0..0, |step| step.address..step.address + step.code.len() as u64)
    }

    /// What is wrong: runs that end otherwise than without interrupts, or write something else; and page tables in ring 3.
    fn compare_ends(&self, quiet: &Session, disturbed: &Session, what: &str, log: &Log) -> Vec<String> {
        let mut wrong = Vec::new();
        for (quiet, ran) in self.ran(quiet).zip(self.ran(disturbed)) {
            assert_eq!(quiet.end, End::Exited(0), "{}", quiet.label);
            if (ran.end, &ran.output, &ran.errors) != (quiet.end, &quiet.output, &quiet.errors) {
                wrong.push(format!("{} under {what}: {:?}, or other registers", ran.label, ran.end));
            }
        }
        // Programs have the same page tables always, and not the kernel's under isolation.
        let expected = if self.switches.contains("pti=on") { PROGRAM_TOP } else { 0 };
        if log.tables.len() != 1 || log.tables.iter().any(|tables| tables & PROGRAM_TOP != expected) {
            wrong.push(format!("[{}] page tables in ring 3 under {what}: {:x?}", self.switches, log.tables));
        }
        wrong
    }

    /// What is wrong: instructions of the paths that were left out, or, where interrupts are off, that were not.
    fn compare(
        &self,
        session: &Session,
        log: &Log,
        what: &str,
        is_open: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        for (path, number) in &self.paths {
            let built = built_in(self.processor.mode, &session.ran[*number]);
            let is_linuxs = self.switches.contains("order=");
            // In Linux's order page faults have a path of their own, and so no fault of the kernel's takes the other.
            let is_page_faults = *path == "page_fault";
            if is_page_faults != is_linuxs && ["page_fault", "exception"].contains(path) {
                assert_eq!(built.is_empty(), is_page_faults, "{path}");
                continue;
            }
            assert!(built.len() > 3, "{path}");
            let rare = self.for_ticks_alone(path, &session.ran[*number]);
            let never = never(path, &session.ran[*number]);
            let looked_at = |line: &&table::paths::Line| {
                !rare.contains(&line.address) && !never.iter().any(|step| step.contains(&line.address))
            };
            for (index, table::paths::Line { address, text, .. }) in
                built.iter().filter(looked_at).enumerate()
            {
                let is_expected = is_open(path) && !(index == 0 && is_behind_a_fault(path));
                // Where a code segment has a base, QEMU writes the sum as a number of 32 bits with a sign.
                let signed = *address as u32 as i32 as u64;
                let is_signed = self.processor.mode == Mode::Protected && log.places.contains(&signed);
                let came = log.places.contains(address) || is_signed;
                if came != is_expected {
                    let found = if came { "came" } else { "never came" };
                    wrong
                        .push(format!("[{}] {what} {found} before {path} {address:x} {text}", self.switches));
                }
            }
        }
        wrong
    }

    /// Those in which AMD's `syscall` has the program's stack pointer or, in its place, what it writes to CR3: only tasks may interrupt there.
    fn steps_on_a_programs_stack<'b>(&self, session: &'b Session) -> impl Iterator<Item = &'b record::Step> {
        const NAMES: [&str; 5] =
            ["clear the direction flag", "SMAP: close", "note the program's stack", "switch stack", "sysret"];
        let paths = self.paths.iter().filter(|(path, _)| *path == "syscall_i386");
        let steps = paths.flat_map(|(_, number)| &session.ran[*number].steps);
        steps.filter(|step| NAMES.contains(&step.name.as_str()) || step.name.starts_with("PTI: "))
    }

    /// Where there was no stack of the kernel's, with room for what interrupts it: in protected mode an interrupt of ring 0 brings none. One path uses
    /// more than there is, and an NMI that comes then is lost (lab/i386/entry/double-fault.S).
    fn compare_stacks(&self, session: &Session, log: &Log) -> Vec<String> {
        const ROOM: u64 = 1024;
        const PAGE: u64 = 4096;
        if self.processor.mode == Mode::Long {
            return Vec::new();
        }
        let kernel = self.processor.kernel();
        let places = ["main_stack_top", "kernel_stacks", "entry_stacks", "ring_stacks"];
        let [main, kernels, entries, rings] = places.map(|name| kernel.symbol(name));
        let guards = kernel.guard_pages();
        let is_guarded = |stack: u64| guards.iter().any(|page| (*page..page + PAGE).contains(&stack));
        // Eight stacks of five pages, each behind a guard (entry/layout.h).
        let areas = [main - 4 * PAGE..kernels + 8 * 6 * PAGE, entries..rings];
        let is_there =
            |stack: u64| areas.iter().any(|area| area.contains(&(stack - 1))) && !is_guarded(stack - ROOM);
        // On that of the task of 16 bits, which is not flat, it leaves nothing.
        let of_task = |stack: u64| stack & 0xffff == TASK_16_STACK;
        let is_right = |segment, stack| if segment == TASK_STACK { of_task(stack) } else { is_there(stack) };
        let ran = self.paths.iter().map(|(_, number)| &session.ran[*number]);
        let is_without = |step: &&record::Step| step.name.starts_with("use more of the stack");
        let overflow = ran.flat_map(|ran| &ran.steps).filter(is_without);
        let without: Vec<&record::Step> = overflow.chain(self.steps_on_a_programs_stack(session)).collect();
        let is_meant = |place: u64| {
            !without.iter().any(|step| (step.address..step.address + step.code.len() as u64).contains(&place))
        };
        let wrong = log
            .stacks
            .iter()
            .filter(|(place, segment, stack)| is_meant(*place) && !is_right(*segment, *stack));
        wrong
            .map(|(place, segment, stack)| {
                format!("[{}] at {place:x} the stack is {segment:x}:{stack:x}", self.switches)
            })
            .collect()
    }

    /// Where the base of GS is not the one that swapgs has brought: the kernel's, but in the first instructions of an entry and in the
    /// last ones. Programs here have none.
    fn compare_bases(&self, session: &Session, nmis: &Log) -> Vec<String> {
        let own = Kernel::read().symbol("kernel_cr3");
        let (mut wrong, mut swapped) = (Vec::new(), 0);
        for (path, number) in &self.paths {
            // error_entry stands behind the way out: where a line stands does not tell what has been swapped.
            let has_error_entry =
                ["int80", "ud_", "int3_", "div0_"].iter().any(|name| path.starts_with(name));
            if *path == "page_fault" || has_error_entry && self.switches.contains("order=") {
                continue;
            }
            let mut is_swapped = OPEN.contains(path) && !path.starts_with("call_gate");
            for table::paths::Line { address, text, .. } in built(&session.ran[*number]) {
                let here = nmis.bases.iter().filter(|(_, place, _)| *place == address);
                let found: BTreeSet<u64> = here.map(|(_, _, base)| *base).collect();
                // An exception of the kernel swaps nothing, and finds the kernel's everywhere.
                swapped += u32::from(found.contains(&own));
                let may_be_own = is_swapped || *path == "exception";
                if !found.iter().all(|base| (*base == own && may_be_own) || (*base == 0 && !is_swapped)) {
                    wrong.push(format!("[{}] {path} {address:x} {text}: {found:x?}", self.switches));
                }
                let leaves =
                    ["iret", "sysret", "sysexit", "lret"].iter().any(|way| text.trim().starts_with(way));
                is_swapped = if text.contains("swapgs") { !is_swapped } else { is_swapped || leaves };
            }
        }
        assert!(
            swapped > if self.processor.is_new("int80") { 100 } else { 20 },
            "[{}] {swapped} of {} NMIs",
            self.switches,
            nmis.bases.len()
        );
        wrong
    }
}

/// With which the steps of an exception that is no system call begin, where it is on.
const CLOSE_FOR_OTHERS: &str = "SMAP: close, whoever comes here";

/// Addresses of steps that nothing leads to: a descriptor that a program has loaded changes in a call of the older entries, and in nothing else; no
/// program here enters with flags that sysenter leaves on, or has another fault that looks like the load of a segment that is not present.
fn never(path: &str, ran: &Ran) -> Vec<std::ops::Range<u64>> {
    let keeps_segments = ["exception", START].contains(&path) || OF_PROTECTED.contains(&path);
    let has_no_other = ["np_fault_i386", "ss_fault_i386"].contains(&path);
    let other = ran.steps.iter().position(|step| {
        has_no_other && (step.name.starts_with("not ours") || step.name == CLOSE_FOR_OTHERS)
    });
    let are_flags = |step: &record::Step| ["flags: a kernel's", "flags: back"].contains(&step.name.as_str());
    let is_never = |place: usize, step: &record::Step| {
        keeps_segments && step.name.ends_with("S is gone")
            || are_flags(step)
            || other.is_some_and(|other| place >= other)
    };
    let steps = ran.steps.iter().enumerate().filter(|(place, step)| is_never(*place, step));
    let all = steps.map(|(_, step)| step.address..step.address + step.code.len() as u64);
    // A task that finds that the program's stack may not be written: what ends the program is the last instruction there.
    const LOAD: u64 = 6;
    let unwritable = ran.steps.iter().filter(|step| step.name == "may its stack be written");
    let last = unwritable.map(|step| step.address + step.code.len() as u64).map(|end| end - LOAD..end);
    all.chain(last).collect()
}

/// QEMU's clock stands still during a division by zero, and during a load that faults: what is due at the exception's first instruction comes
/// before that.
pub fn is_behind_a_fault(path: &str) -> bool {
    ["bound_", "div0_", "np_fault_", "ss_fault_"].iter().any(|name| path.starts_with(name))
}

/// turns64.S or turns32.S in long mode, whose calls follow each other at once: for interrupts at any place.
pub fn program(bits: u8) -> Program {
    program_of(bits, Interrupts::ANYWHERE, false, Mode::Long)
}

/// When a program is interrupted, in instructions (aim.inc).
pub struct Interrupts {
    /// From one to the next; 0: the program makes its calls at once, and does not look when interrupts come.
    period: u64,
    margin: u64,
}

impl Interrupts {
    pub const ANYWHERE: Interrupts = Interrupts { period: 0, margin: 0 };
}

/// turns64.S or turns32.S, with traps of GNU Mach or without, for the kernel of this mode.
pub fn program_of(bits: u8, Interrupts { period, margin }: Interrupts, mach: bool, mode: Mode) -> Program {
    let protected = u8::from(mode == Mode::Protected);
    let defined = [
        format!("-DPERIOD={period}"),
        format!("-DMARGIN={margin}"),
        format!("-DMACH={}", u8::from(mach)),
        format!("-DPROTECTED={protected}"),
    ];
    freestanding_with(bits, &[&format!("turns{bits}.S")], &defined.each_ref().map(String::as_str))
}

/// The instructions of a path that was listed.
pub fn built(ran: &Ran) -> Vec<table::paths::Line> {
    built_in(Mode::Long, ran)
}

/// The same of the kernel of this mode.
pub fn built_in(mode: Mode, ran: &Ran) -> Vec<table::paths::Line> {
    let (kernel, _) = templates(mode);
    // A path may be empty.
    let start = ran.steps.first().map_or(0, |step| step.address);
    table::paths::disassemble(kernel, start, &code(ran), Some(start))
}

/// NMIs, and perhaps ticks, in one configuration; what is wrong.
fn check(switches: &str, processor: Processor, with_ticks: bool) -> Vec<String> {
    let names: BTreeSet<String> = processor.kernel().path_names();
    let is_there = |path: &&str| processor.has(path) && is_looked_at(path, switches) && names.contains(*path);
    let paths = OPEN.iter().chain(CLOSED).chain(OF_PROTECTED).copied().filter(is_there);
    let mut trial = Trial::new(switches, processor, paths.filter(|path| processor.is_new(path)));
    let ways = [START, PEEK].map(|way| trial.script.list(way));
    trial.distance(100_000);
    trial.calls(|case| processor.is_new(case));
    // An exception that finds IBRS on takes another way.
    let kernel = if switches.contains("ibrs=on") { kernel_with_spec_ctrl } else { kernel_in_mode };
    let boot =
        |interrupt| boot_kernel(&trial.script, &kernel(processor.mode, interrupt), interrupt, processor);
    let (quiet, _) = boot(Rarely);
    let (under_nmis, nmis) = boot(Nmi);
    let mut wrong = trial.compare_ends(&quiet, &under_nmis, "NMIs", &nmis);
    for ran in trial.ran(&under_nmis) {
        assert!(ran.strays.keys().eq([&NMI]), "{}: {:?}", ran.label, ran.strays);
    }
    wrong.extend(trial.compare(&quiet, &nmis, "an NMI", |_| true));
    wrong.extend(trial.compare_stacks(&quiet, &nmis));
    if with_ticks {
        let (under_ticks, ticks) = boot(Tick);
        wrong.extend(trial.compare_ends(&quiet, &under_ticks, "ticks", &ticks));
        for ran in trial.ran(&under_ticks) {
            assert_eq!(ran.strays, Strays::new(), "{}", ran.label);
        }
        let is_open = |path: &str| {
            OPEN.contains(&path)
                || path.starts_with("call_gate_")
                || (path == "int80" && switches.contains("gate=trap"))
        };
        wrong.extend(trial.compare(&quiet, &ticks, "a tick", is_open));
    }
    if ["swapgs=on", "swapgs=fence"].iter().any(|on| switches.contains(on)) {
        wrong.extend(trial.compare_bases(&quiet, &nmis));
    }
    let is_new = |way: usize| is_new(processor, &code(&quiet.ran[way]), switches);
    if is_new(ways[0]) {
        wrong.extend(check_start(switches, processor));
    }
    if switches.contains("pti=on") && is_new(ways[1]) {
        wrong.extend(check_peek(switches, processor));
    }
    wrong
}

/// The code of a path that was listed.
fn code(ran: &Ran) -> Vec<u8> {
    ran.steps.iter().flat_map(|step| step.code.iter().copied()).collect()
}

/// What an NMI saves and restores, besides registers.
const STATE: [&str; 6] = ["pti=", "copy-frame=", "paging=", "segments=", "swapgs=", "ibrs="];

/// Whether a way with this code has not been looked at where an NMI saves and restores the same, whichever the processor's vendor.
fn is_new(processor: Processor, way: &[u8], switches: &str) -> bool {
    static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_state = |switch: &&str| STATE.iter().any(|name| switch.starts_with(name));
    let state: BTreeSet<&str> = switches.split(' ').filter(is_state).collect();
    SEEN.lock().unwrap().insert(format!("{:?} {state:?} {way:x?}", processor.mode)) || is_whole()
}

/// NMIs at every instruction of the check of isolation, which succeeds all the same: one for each check, a little later each time.
fn check_peek(switches: &str, processor: Processor) -> Vec<String> {
    // It tries four addresses, three of which fault. The fourth is through in fewer instructions than that.
    const LATEST: u64 = 1500;
    let mut trial = Trial::new(switches, processor, [PEEK]);
    let checks: Vec<usize> = (2..LATEST)
        .map(|distance| {
            trial.distance(distance);
            trial.script.check("pti")
        })
        .collect();
    let kernel = kernel_that_peeks_behind_the_timers_start(processor.mode);
    let (session, nmis) = boot_kernel(&trial.script, &kernel, OneNmi, processor);
    let mut wrong = trial.compare(&session, &nmis, "an NMI", |_| true);
    for ran in checks.iter().map(|number| &session.ran[*number]) {
        if !matches!(ran.end, End::Checked(true, _)) {
            wrong.push(format!("{}: {:?}", ran.label, ran.end));
        }
    }
    wrong
}

/// Of the check of isolation, the first part starts the timer instead: movq $1, (%rdi); movq $0, (%rsi); mov $tick_restart, %rax;
/// jmp *%rax. In protected mode: mov 4(%esp), %eax; movl $1, (%eax); movl $0, 4(%eax); mov 8(%esp), %eax; movl $0, (%eax); movl $0, 4(%eax);
/// mov $tick_restart, %eax; jmp *%eax
fn kernel_that_peeks_behind_the_timers_start(mode: Mode) -> Vec<u8> {
    let (kernel, mut file) = (Kernel::in_mode(mode), kernel_in_mode(mode, OneNmi));
    let restart = (kernel.symbol("tick_restart") as u32).to_le_bytes();
    let (results, load): (&[u8], &[u8]) = match mode {
        Mode::Long => (b"\x48\xc7\x07\x01\0\0\0\x48\xc7\x06\0\0\0\0", b"\x48\xc7\xc0"),
        Mode::Protected => (
            b"\x8b\x44\x24\x04\xc7\0\x01\0\0\0\xc7\x40\x04\0\0\0\0\
              \x8b\x44\x24\x08\xc7\0\0\0\0\0\xc7\x40\x04\0\0\0\0",
            b"\xb8",
        ),
    };
    let code = [results, load, &restart, b"\xff\xe0"].concat();
    let at = kernel.place(kernel.symbol("tables_check_isolation"));
    file[at..at + code.len()].copy_from_slice(&code);
    file
}

/// A program for each of these distances from the timer's start, and one NMI in each.
fn start<'a>(
    switches: &'a str,
    processor: Processor,
    distances: impl IntoIterator<Item = u64>,
) -> (Trial<'a>, Session, Log) {
    let mut trial = Trial::new(switches, processor, [START]);
    let program = trial.program(processor.programs()[0].0, false);
    for distance in distances {
        trial.distance(distance);
        trial.run(&program, &["nothing"]);
    }
    let (session, nmis) = boot(&trial.script, OneNmi, processor);
    for ran in trial.ran(&session) {
        assert_eq!((ran.end, &ran.strays), (End::Exited(0), &Strays::from([(NMI, 1)])), "{}", ran.label);
    }
    (trial, session, nmis)
}

/// NMIs at every instruction of the way to a program: one for each program, a little later each time.
fn check_start(switches: &str, processor: Processor) -> Vec<String> {
    // The way has more than STEP instructions and fewer than LONGEST, and begins some hundred behind the timer's start.
    const STEP: u64 = 16;
    const LONGEST: u64 = 64;
    const LATEST: u64 = 2000;
    let distances = (2..LATEST).step_by(STEP as usize);
    let (trial, session, nmis) = start(switches, processor, distances.clone());
    let built = built_in(processor.mode, &session.ran[trial.paths[0].1]);
    let way = built[0].address..=built[built.len() - 1].address;
    let mut came = distances.zip(&nmis.in_order).filter(|(_, place)| way.contains(place));
    let (first, _) =
        came.next().unwrap_or_else(|| panic!("[{switches}] no NMI came on the way to a program"));
    let (trial, session, nmis) =
        start(switches, processor, first.saturating_sub(STEP).max(2)..first + LONGEST);
    let mut wrong = trial.compare(&session, &nmis, "an NMI", |_| true);
    wrong.extend(trial.compare_stacks(&session, &nmis));
    wrong
}

/// Configurations of the switches that decide what paths are made of. NMIs come in all of them. A tick is never seen in a path but where
/// interrupts are on, and takes one way through the kernel: it comes in the first alone, or with `KENTRY_WHOLE=1` in all.
pub fn check_all(processor: Processor, configurations: &[&str]) {
    if is_missing() {
        return;
    }
    let check = |(place, switches): (usize, &&str)| check(switches, processor, place == 0 || is_whole());
    let wrong: Vec<String> = configurations.iter().enumerate().flat_map(check).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// All of them, with these values of others.
fn every_combination(others: &str) -> Vec<String> {
    let both = |name: &str, values: [&str; 2]| values.map(|value| format!("{name}={value} "));
    let mut combinations = vec![others.to_string()];
    for values in
        [both("exit", ["natural", "iret"]), both("stack", ["minimum", "frame"]), both("smap", ["off", "on"])]
    {
        combinations = values
            .iter()
            .flat_map(|value| combinations.iter().map(move |rest| format!("{value}{rest}")))
            .collect();
    }
    combinations
}

/// Half of the combinations, or with `KENTRY_WHOLE=1` all of them: of these three switches an even number has its second value without isolation,
/// and an odd number with it. So any three of the four have all their values beside each other.
fn check_every_combination(others: &str, is_odd: bool) {
    let is_second = |switches: &str, second: &&str| switches.contains(*second);
    let second = ["exit=iret", "stack=frame", "smap=on"];
    let is_meant = |switches: &&String| {
        is_whole()
            || second.iter().filter(|second| is_second(switches, second)).count() % 2 == usize::from(is_odd)
    };
    let combinations = every_combination(others);
    check_all(INTEL, &combinations.iter().filter(is_meant).map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn every_path_of_the_kernel_is_known() {
    for mode in [Mode::Long, Mode::Protected] {
        let found = Kernel::in_mode(mode).path_names();
        let all = OPEN.iter().chain(CLOSED).chain(if mode == Mode::Long { &[] } else { OF_PROTECTED });
        let all = all.copied().chain([START, PEEK, SWITCH]);
        // The names of the kernel for long mode, but for entries that protected mode does not have.
        let only_long = |name: &str| name.ends_with("x86_64") || name == "page_fault";
        let known = all.filter(|name| mode == Mode::Long || !only_long(name)).map(String::from).collect();
        assert_eq!(found, known, "{mode:?}");
    }
}

#[test]
fn interrupts_at_every_instruction_change_nothing() {
    check_every_combination("gate=trap pti=off", false);
}

#[test]
fn interrupts_at_every_instruction_change_nothing_under_isolation() {
    check_every_combination("gate=trap pti=on", true);
}

#[test]
fn interrupts_at_every_instruction_of_what_speculation_costs_change_nothing() {
    let configurations = [
        "pti=off gate=trap stack=minimum ibrs=on verw=on bhb=loop entry-ibpb=on returns=untrain dispatch=retpoline",
        "pti=on gate=trap stack=frame ibrs=on verw=on returns=untrain dispatch=direct index-mask=on",
        "pti=on gate=trap exit=iret ibrs=on verw=on returns=thunk dispatch=lfence",
    ];
    check_all(INTEL, &configurations);
    check_all(AMD, &configurations[1..2]);
}

#[test]
fn interrupts_at_every_instruction_of_machs_dispatch_change_nothing() {
    let configurations = [
        "personality=mach pti=on gate=trap stack=frame exit=natural smap=on index-mask=on",
        "personality=mach pti=off gate=interrupt stack=minimum exit=iret smap=off dispatch=retpoline",
    ];
    check_all(INTEL, &configurations);
    check_all(AMD, &["personality=mach pti=on gate=trap stack=minimum exit=natural"]);
}

#[test]
fn interrupts_at_every_instruction_of_rarer_steps_change_nothing() {
    const RARER: &str = "gate=interrupt observe=on cr3-writes=2";
    let configurations = ["pti=off", "pti=on"].map(|pti| format!("{pti} {RARER}"));
    check_all(INTEL, &configurations.each_ref().map(String::as_str));
}

#[test]
fn interrupts_at_every_instruction_of_a_trampoline_and_of_copied_frames_change_nothing() {
    const CONFIGURATIONS: [&str; 5] = [
        "pti=trampoline copy-frame=off stack=frame exit=natural gate=trap",
        "pti=trampoline copy-frame=on stack=minimum exit=natural gate=trap",
        "pti=trampoline copy-frame=on stack=frame exit=iret gate=interrupt",
        "pti=on copy-frame=on stack=frame exit=natural gate=trap global=on",
        "pti=on copy-frame=on stack=minimum exit=iret gate=trap",
    ];
    check_all(INTEL, &CONFIGURATIONS);
}

#[test]
fn interrupts_at_every_instruction_of_linuxs_order_change_nothing() {
    const CONFIGURATIONS: [&str; 4] = [
        "pti=on copy-frame=on stack=frame exit=natural order=linux-5.10 idle=on swapgs=on gate=trap",
        "pti=on copy-frame=on stack=frame exit=natural order=linux-6.1 clear-registers=on ibrs=on verw=on returns=thunk gate=trap",
        "pti=on copy-frame=on stack=frame exit=natural order=linux-6.12 clear-registers=on swapgs=on idle=on verw=on stack-offset=prandom gate=trap",
        "pti=trampoline copy-frame=on stack=frame exit=natural order=linux-6.12 swapgs=fence idle=on gate=trap",
    ];
    check_all(INTEL, &CONFIGURATIONS);
    check_all(AMD, &CONFIGURATIONS[2..3]);
}

/// What is behind an entry, all of it; but for work, of which there is none.
const SUPERVISOR: &str =
    "gate=trap clear-registers=on stack-offset=on canary=on trace=on filter=4 audit=on stack=frame";

#[test]
fn interrupts_at_every_instruction_of_the_supervisors_steps_change_nothing() {
    let configurations = [
        format!("swapgs=fence pti=off exit=natural {SUPERVISOR}"),
        format!("swapgs=fence pti=on exit=iret {SUPERVISOR} stack-offset=prandom"),
    ];
    check_all(INTEL, &configurations.each_ref().map(String::as_str));
    check_all(AMD, &[&format!("swapgs=on pti=on exit=natural {SUPERVISOR}")]);
}

#[test]
fn interrupts_at_every_instruction_leave_the_base_of_gs_alone() {
    check_all(
        INTEL,
        &["swapgs=on pti=off stack=minimum gate=trap", "swapgs=on pti=on stack=minimum gate=trap"],
    );
}

/// In protected mode, with NMIs that come to a task: each way in and out that writes CR3 to a TSS, too.
pub const BY_TASKS: &str =
    "events-by=task pti=on smap=off stack=minimum exit=natural copy-frame=on gate=trap";

/// Of all combinations, what every step is in that any of them has; and each way out with either kind of page tables.
pub const ON_AMD: [&str; 5] = [
    "smap=on stack=frame exit=natural gate=trap pti=off",
    "smap=off stack=minimum exit=iret gate=trap pti=off",
    "smap=on stack=minimum exit=natural gate=trap pti=on",
    "smap=off stack=frame exit=iret gate=trap pti=on",
    "pti=on gate=interrupt observe=on cr3-writes=2",
];

#[test]
fn interrupts_at_every_instruction_change_nothing_on_an_amd_model() {
    check_all(AMD, &ON_AMD);
}

#[test]
fn no_step_is_left_out_on_an_amd_model() {
    check_none_left_out(Mode::Long);
}

pub fn check_none_left_out(mode: Mode) {
    let kernel = Kernel::in_mode(mode);
    let names = kernel.path_names();
    let is_in = |step: &Step, switches: &str| {
        let values: Vec<(&str, &str)> =
            switches.split_whitespace().map(|pair| pair.split_once('=').unwrap()).collect();
        step.is_on(&values)
    };
    let all: Vec<String> =
        ["gate=trap pti=off", "gate=trap pti=on"].iter().flat_map(|gate| every_combination(gate)).collect();
    let mut steps = 0;
    for path in OPEN.iter().chain(CLOSED).chain(&[START]).filter(|path| names.contains(**path)) {
        for step in kernel.path(path).steps.iter().filter(|step| all.iter().any(|all| is_in(step, all))) {
            assert!(ON_AMD.iter().any(|switches| is_in(step, switches)), "{path}: {}", step.name);
            steps += 1;
        }
    }
    assert!(steps > 100, "{steps}");
}

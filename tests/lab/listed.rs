//! What is listed of a row's code, held against what an emulator has executed by its own log (executed.rs): paths as the kernel says that it has built
//! them, what lies beside them, and where the kernel is not entered, or by code of its own in programs, the files that have that code.

use crate::counts::Row;
use crate::executed::{Begun, Code, Use};
use crate::guest::{Emulator, Ran};
use crate::kernel::{self, Kernel, leaves, templates};
use crate::nmi::kernel_base;
use crate::steps::taken;
use crate::timed::{Timed, handler_of_sixteen};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use places::lab::Mode;
use record::abi;
use std::collections::BTreeMap;
use table::paths::{File, Line, Paths};
use table::{Entry, Kind};

/// The names of the paths that an entry takes with these switches.
pub fn paths_of(mode: Mode, emulator: Emulator, entry: &Entry, switches: &str) -> Vec<String> {
    let (_, paths) = templates(mode);
    let lab = match entry.name.as_str() {
        GATEWAY if mode == Mode::Long && emulator.is_amd() => Some("syscall"),
        GATEWAY if switches.contains("paging=off") => Some("int80"),
        GATEWAY => Some("sysenter"),
        "vsyscall" if switches.contains("vsyscall=native") => Some("syscall-x86_64"),
        "vsyscall" if switches.contains("vsyscall=original") => None,
        "vsyscall" => Some("exception"),
        _ => entry.lab.as_deref(),
    };
    let names = entry.through.iter().map(String::as_str).chain(lab);
    let of_bits = if entry.bits() == 64 { "x86_64" } else { "i386" };
    let is_there = |name: &String| paths.path(name).is_some();
    let names =
        names.map(|name| name.replace('-', "_")).map(|name| [name.clone(), format!("{name}_{of_bits}")]);
    names.map(|names| names.into_iter().find(is_there).unwrap()).collect()
}

/// The entry that the kernel chooses, whose code it copies into the vDSO (lab/vdso/gateway.inc).
const GATEWAY: &str = "gateway-i386";
const GATEWAY_OFFSET: u64 = 0x100;
const GATEWAY_SIZE: usize = 64;
const INT3: u8 = 0xcc;
const LOCK: u8 = 0xf0;
const NOP: u8 = 0x90;

/// A kernel's paths as its file has them, and what lies beside each.
pub struct Listed {
    mode: Mode,
    kernel: Kernel,
    file: &'static File<'static>,
    paths: &'static Paths,
    read: BTreeMap<String, (kernel::Path, BTreeMap<u64, Code>)>,
}

impl Listed {
    pub fn of(mode: Mode) -> Listed {
        let (file, paths) = templates(mode);
        Listed { mode, kernel: Kernel::in_mode(mode), file, paths, read: BTreeMap::new() }
    }

    /// What is wrong where a use does not execute of a path what is listed, and as much as its steps say; with what lies beside the path, each
    /// instruction once.
    pub fn unlike(&mut self, name: &str, row: Row, ran: &Ran, one: &Use, listing: &Ran) -> Option<String> {
        let (steps, beside) = self.read.entry(name.into()).or_insert_with(|| {
            let beside = self.paths.path(name).unwrap().beside.iter().flat_map(|code| code.lines(self.file));
            (self.kernel.path(name), by_address(&beside.collect::<Vec<_>>()))
        });
        let page = listing.steps[0].address / 4096;
        let executed = Executed {
            file: self.file,
            listed: instructions(self.file, listing),
            of_path: one.entry.iter().filter(|begun| begun.address / 4096 == page).collect(),
            of_beside: one.entry.iter().filter(|begun| beside.contains_key(&begun.address)).collect(),
        };
        let why = executed
            .not_listed()
            .or_else(|| executed.unlike_beside(beside))
            .or_else(|| executed.out_of_order())
            .or_else(|| match row.0.kind {
                Kind::Number => executed.unlike_steps(name, row, ran, steps),
                // What is no system call is done behind a call, for which no step declares anything.
                _ => executed.cut_off(),
            });
        why.map(|why| format!("{}: of {name}, {why}", ran.label))
    }

    /// What is wrong where a use does not execute what the files have for it outside of paths: of the probe each instruction from stamp to stamp once;
    /// and of code that the kernel has for programs all that the row leads to.
    pub fn unlike_files(&self, mut gateway: u64, row: Row, ran: &Ran, one: &Use) -> Option<String> {
        // The kernel chooses by the processor, and without page tables there is one alone.
        if ran.configured.get("paging").is_some_and(|paging| paging == "off") {
            gateway = abi::GATEWAY_INT80;
        }
        let timed = Timed::of(row.0);
        let own: Vec<(u64, Code)> =
            timed.entry.iter().map(|(address, bytes)| (*address, Code::of(bytes))).collect();
        let (first, last) = (own[0].0, own[own.len() - 1].0);
        let besides = self.for_programs(gateway, row.0, one);
        if let Some((_, code)) = self.paths.for_programs.iter().find(|(name, _)| *name == row.0.name) {
            let listed = code.lines(self.file);
            let listed: Vec<(u64, Code)> =
                listed.iter().map(|line| (line.address, Code::of(&line.bytes))).collect();
            if listed != besides {
                return Some(format!("{}: listed is {listed:x?}, its page has {besides:x?}", ran.label));
            }
        }
        let is_meant = |begun: &&Begun| match besides.is_empty() {
            true => (first..=last).contains(&begun.address),
            // All but a path, and what it calls.
            false => {
                begun.address < kernel_base(self.mode)
                    || besides.iter().any(|(address, _)| *address == begun.address)
            }
        };
        // Of an instruction that does not exist, QEMU writes down the prefix alone.
        let whole = |code: Code| if code == Code::of(&[LOCK]) { Code::of(&[LOCK, NOP]) } else { code };
        let mut executed: Vec<(u64, Code)> =
            one.entry.iter().filter(is_meant).map(|begun| (begun.address, whole(begun.code))).collect();
        let mut expected = [&own[..], &besides].concat();
        // Its access, which stands before the last fence, is begun again.
        expected.extend((row.0.name == "page-fault").then(|| own[own.len() - 3]));
        executed.sort_unstable();
        expected.sort_unstable();
        (executed != expected)
            .then(|| format!("{}: the files have {expected:x?}, executed is {executed:x?}", ran.label))
    }

    /// What an entry executes of code that lies elsewhere for programs: of the page of the conforming segment, of the vDSO, and the probe's own handler.
    fn for_programs(&self, gateway: u64, entry: &Entry, one: &Use) -> Vec<(u64, Code)> {
        let there = |offset: u64| {
            let start = self.kernel.symbol("conforming_page") + offset;
            let mut code = lines(start, self.kernel.code(start, 16));
            let end = code.iter().position(|(.., leaves)| *leaves).unwrap();
            code.drain(..=end).map(|(address, code, _)| (address, code)).collect()
        };
        match entry.name.as_str() {
            "conforming" => there(abi::CONFORMING_CALL),
            "jmp-gate" | "jmp-gate-16" => there(abi::CONFORMING_JUMP),
            "v86-int-redirected" => vec![(handler_of_sixteen(), Code::of(&[0xcf]))],
            GATEWAY => {
                let variant = match gateway {
                    abi::GATEWAY_SYSENTER => "gateway_sysenter",
                    abi::GATEWAY_SYSCALL => "gateway_syscall",
                    _ => "gateway_int80",
                };
                // Wherever the vDSO is: behind the call into it.
                let is_at = |begun: &&Begun| begun.address % 4096 == GATEWAY_OFFSET;
                let start = one.entry.iter().find(is_at).map_or(GATEWAY_OFFSET, |begun| begun.address);
                let code = lines(start, self.kernel.data(variant, GATEWAY_SIZE));
                let code = code.into_iter().map(|(address, code, _)| (address, code));
                // Behind int $0x80, it returns; behind others, the landing pad does.
                let code = code.filter(|(_, code)| *code != Code::of(&[INT3]));
                code.take(if variant == "gateway_int80" { 2 } else { usize::MAX }).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// What a use executes of a path, and of what lies beside it.
struct Executed<'a> {
    file: &'static File<'static>,
    /// The whole path.
    listed: Vec<Line>,
    of_path: Vec<&'a Begun>,
    of_beside: Vec<&'a Begun>,
}

impl Executed<'_> {
    fn not_listed(&self) -> Option<String> {
        let listed = by_address(&self.listed);
        let other = self.of_path.iter().find(|begun| listed.get(&begun.address) != Some(&begun.code))?;
        Some(format!("{other:x?} is executed, and {:x?} is listed", listed.get(&other.address)))
    }

    /// Each instruction beside the path is executed once.
    fn unlike_beside(&self, beside: &BTreeMap<u64, Code>) -> Option<String> {
        let executed: Vec<(u64, Code)> =
            self.of_beside.iter().map(|begun| (begun.address, begun.code)).collect();
        let is_same =
            executed.len() == beside.len() && executed.iter().copied().collect::<BTreeMap<_, _>>() == *beside;
        (!is_same).then(|| format!("beside it, {executed:x?} is executed"))
    }

    /// An instruction that nothing which was executed before it leads to, by what is listed.
    fn out_of_order(&self) -> Option<String> {
        let (first, page) = (self.listed.first()?.address, self.listed.first()?.address / 4096);
        let next: BTreeMap<u64, Vec<u64>> =
            self.listed.iter().map(|line| (line.address, successors(self.file, line, page))).collect();
        let mut before: Option<u64> = None;
        for begun in &self.of_path {
            let leads_here = match before.map(|before| &next[&before]) {
                None => begun.address == first || before_task(&self.listed, begun.address),
                Some(next) => next.is_empty() || next.contains(&begun.address),
            };
            if !leads_here {
                return Some(format!("nothing before {:x} leads to it", begun.address));
            }
            before = Some(begun.address);
        }
        None
    }

    /// A path that is not executed to its end.
    fn cut_off(&self) -> Option<String> {
        let last = self.of_path.last();
        let line = last.and_then(|last| self.listed.iter().find(|line| line.address == last.address));
        let is_whole =
            line.and_then(|line| decoded(self.file.bits(), line)).is_some_and(|last| leaves(&last));
        (!is_whole).then(|| format!("the last that is executed is {last:x?}"))
    }

    /// Another number of instructions than the steps have.
    fn unlike_steps(&self, name: &str, row: Row, ran: &Ran, steps: &kernel::Path) -> Option<String> {
        let configuration: Vec<(&str, &str)> =
            ran.configured.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        // What the step for stacks of 16 bits declares is what all others execute of it.
        let is_sixteen = row.0.name == "code16-int";
        let steps = if is_sixteen { steps.clone().undeclared("espfix: ") } else { steps.clone() };
        // A task goes on where its last use has left it, with the jump to its beginning; that of task_16 lies beside the path.
        let again = u64::from(name.starts_with("task_") && name != "task_16");
        let of_steps = again + steps.walk(&configuration, taken(&row.0.name, &row.1.name));
        let executed = (self.of_path.len() + self.of_beside.len()) as u64;
        (executed != of_steps).then(|| format!("{executed} are executed, and the steps have {of_steps}"))
    }
}

/// Instructions of 32-bit code, and whether each leads out of it.
fn lines(start: u64, code: &[u8]) -> Vec<(u64, Code, bool)> {
    let read = Decoder::with_ip(32, code, start, DecoderOptions::NONE).into_iter();
    let bytes = |at: u64, count: usize| Code::of(&code[(at - start) as usize..][..count]);
    read.map(|one| (one.ip(), bytes(one.ip(), one.len()), leaves(&one) || one.is_jmp_far_indirect()))
        .collect()
}

/// The instructions of a path that was listed.
fn instructions(kernel: &File, listing: &Ran) -> Vec<Line> {
    let start = listing.steps[0].address;
    let code: Vec<u8> = listing.steps.iter().flat_map(|step| step.code.iter().copied()).collect();
    table::paths::disassemble(kernel, start, &code, Some(start))
}

/// A task goes on behind the instruction by which it was left.
fn before_task(listed: &[Line], address: u64) -> bool {
    let place = listed.iter().position(|line| line.address == address);
    let before = place.and_then(|place| place.checked_sub(1)).map(|place| &listed[place]);
    before.is_some_and(|line| decoded(32, line).is_some_and(|one| leaves(&one)))
}

/// Where an instruction of a path leads to in its page; nowhere that is known behind one that returns, or leaves for another ring or place.
fn successors(kernel: &File, line: &Line, page: u64) -> Vec<u64> {
    let one = decoded(kernel.bits(), line).unwrap();
    let is_here = |address: u64| address / 4096 == page;
    let target = one.near_branch_target();
    match one.flow_control() {
        _ if leaves(&one) => Vec::new(),
        FlowControl::Next | FlowControl::Interrupt => vec![one.next_ip()],
        FlowControl::ConditionalBranch if is_here(target) => vec![one.next_ip(), target],
        FlowControl::ConditionalBranch => vec![one.next_ip()],
        FlowControl::UnconditionalBranch if is_here(target) => vec![target],
        FlowControl::Call if one.is_call_near() && is_here(target) => vec![target],
        FlowControl::Call | FlowControl::IndirectCall => vec![one.next_ip()],
        _ => Vec::new(),
    }
}

fn decoded(bits: u32, line: &Line) -> Option<Instruction> {
    Decoder::with_ip(bits, &line.bytes, line.address, DecoderOptions::NONE).into_iter().next()
}

fn by_address(lines: &[Line]) -> BTreeMap<u64, Code> {
    lines.iter().map(|line| (line.address, Code::of(&line.bytes))).collect()
}

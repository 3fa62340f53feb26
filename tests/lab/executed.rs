//! What an emulator executes, as its own log has it, which knows nothing of steps, rows or counts: QEMU's (`-d in_asm,exec,int`), and what
//! the debugger of Bochs traces.

use crate::guest::{Emulator, Script, Session, bochs_is_missing, changed_bochs};
use crate::kernel::{Kernel, templates};
use crate::monitor::{is_missing, wrapped};
use crate::nmi::kernel_base;
use crate::timed::{self, Timed};
use places::lab::{Bochs, Limits, Mode, Qemu};
use record::abi;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, read_to_string, write};
use std::io::{BufRead, BufReader};
use std::ops::RangeInclusive;
use std::path::Path;
use table::{Entry, Probe, Table};

/// Where programs have code of entries, with what they find elsewhere: what a probe executes before and between is below that.
fn programs(mode: Mode) -> Vec<RangeInclusive<u64>> {
    let first = |probe: Probe| {
        let entries = Table::get().entries.iter().filter(|entry| entry.probe == probe);
        let timed = entries.map(Timed::of).filter(|timed| timed.base == 0);
        timed.map(|timed| timed.begin).min().unwrap()
    };
    let (of_32, sixteen) = (first(Probe::Probe32), timed::SIXTEEN..=timed::SIXTEEN + 0xffff);
    match mode {
        Mode::Protected => vec![sixteen, of_32..=0xbfff_ffff],
        Mode::Long => vec![sixteen, first(Probe::Probe64)..=0x7ff_ffff, of_32..=0x7fff_ffff_ffff],
    }
}

/// An instruction that was begun: where, and its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    pub address: u64,
    pub code: Code,
}

/// The bytes of an instruction, of which there are fifteen at most, behind a 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(u128);

impl Code {
    pub fn of(bytes: &[u8]) -> Code {
        Code(1).and(bytes)
    }

    fn and(self, more: &[u8]) -> Code {
        Code(more.iter().fold(self.0, |code, byte| code << 8 | u128::from(*byte)))
    }
}

/// What was executed of a row: between two stamps with the entry, and as much without it.
#[derive(Debug, Clone)]
pub struct Use {
    pub control: Vec<Begun>,
    pub entry: Vec<Begun>,
}

impl Use {
    pub fn count(&self) -> i64 {
        self.entry.len() as i64 - self.control.len() as i64
    }

    /// Bochs writes offsets: those of a program's segment that begins elsewhere get what is missing.
    fn with_base(mut self, base: u64) -> Use {
        let short = self.control.iter_mut().chain(&mut self.entry).filter(|begun| begun.address <= 0xffff);
        short.for_each(|begun| begun.address += base);
        self
    }
}

/// The uses of a row in a part of a log.
fn uses(log: &[Begun], stamps: [u64; 4]) -> Vec<Use> {
    let places: Vec<usize> = (0..log.len()).filter(|at| stamps.contains(&log[*at].address)).collect();
    let of_sample =
        |places: &&[usize]| places.iter().zip(stamps).all(|(at, stamp)| log[*at].address == stamp);
    let samples = places.windows(4).filter(of_sample);
    samples
        .map(|places| Use {
            control: log[places[1] + 1..=places[2]].to_vec(),
            entry: log[places[2] + 1..=places[3]].to_vec(),
        })
        .collect()
}

/// The use without a tick, or whatever else comes in between: the shortest.
pub fn least(uses: &[Use]) -> &Use {
    uses.iter().min_by_key(|taken| taken.count()).unwrap()
}

/// What QEMU logs of the kernel; Bochs logs everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logged {
    Paths,
    /// Services, too: twenty times as much.
    All,
}

/// Boots, and says of each of these runs of a row, which are all that take samples, what was executed of its uses.
pub fn follow(
    emulator: Emulator,
    script: &Script,
    rows: &[&Entry],
    logged: Logged,
) -> Option<(Session, Vec<Vec<Use>>)> {
    if !emulator.is_tcg() {
        return in_bochs(script, emulator.model(), rows);
    }
    let kernel = match logged {
        Logged::Paths => paths(script.mode),
        Logged::All => vec![kernel_base(script.mode)..=u64::MAX],
    };
    let ranges = [programs(script.mode), kernel].concat();
    let (session, log) = (!is_missing()).then(|| in_qemu(script, emulator.model(), &ranges))?;
    Some((session, by_runs(&log, rows)))
}

/// A row has as many uses each time that it is run.
fn by_runs(log: &[Begun], rows: &[&Entry]) -> Vec<Vec<Use>> {
    let mut of_entry = BTreeMap::<&str, VecDeque<Vec<Use>>>::new();
    for entry in rows {
        if !of_entry.contains_key(entry.name.as_str()) {
            let timed = Timed::of(entry);
            let all = uses(log, timed.stamps.map(|stamp| timed.base + stamp));
            let runs = rows.iter().filter(|other| other.name == entry.name).count();
            assert!(
                !all.is_empty() && all.len().is_multiple_of(runs),
                "{}: {} in {runs}",
                entry.name,
                all.len()
            );
            of_entry.insert(&entry.name, all.chunks(all.len() / runs).map(<[Use]>::to_vec).collect());
        }
    }
    rows.iter().map(|entry| of_entry.get_mut(entry.name.as_str()).unwrap().pop_front().unwrap()).collect()
}

/// Where the kernel has what rows execute there, but for services: paths, tasks, and what programs execute of it.
fn paths(mode: Mode) -> Vec<RangeInclusive<u64>> {
    let (kernel, (_, paths)) = (Kernel::in_mode(mode), templates(mode));
    let beside = paths.paths.iter().flat_map(|path| &path.beside);
    let beside = beside.map(|code| code.start..=code.start + code.code.len() as u64 - 1);
    let mut all: Vec<RangeInclusive<u64>> = beside.collect();
    all.push(kernel.symbol("paths_start")..=kernel.symbol("paths_end") - 1);
    if mode == Mode::Protected {
        let page = kernel.symbol("conforming_page");
        all.push(page..=page + 4095);
    }
    all
}

/// Boots in a QEMU that writes down what it executes in these ranges of addresses: the instructions that were begun, in their order.
fn in_qemu(script: &Script, model: Option<&str>, ranges: &[RangeInclusive<u64>]) -> (Session, Vec<Begun>) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let ranges = ranges.iter().map(|range| format!("{:#x}..{:#x}", range.start(), range.end()));
    let ranges = ranges.collect::<Vec<_>>().join(",");
    let model = model.map_or(String::new(), |model| format!("-cpu {model}"));
    let options = format!("{model} -d in_asm,exec,int,nochain -dfilter {ranges} -D {}", log.display());
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {options}"));
    let qemu = qemu.in_mode(script.mode);
    let boot = |archive: &[u8], programs, limits: &Limits| qemu.boot(archive, programs, limits);
    let session = script.boot_in(&boot, Qemu::TCG_HERTZ).unwrap();
    (session, begun(&read_to_string(log).unwrap()))
}

fn hex(text: &str) -> u64 {
    let digits = text.trim_start_matches("0x");
    u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{text}"))
}

/// A block of instructions has, when it is translated, lines like `0xc0148000:  57   pushl    %edi`; and each time that it is executed, one
/// like `Trace 0: 0x7fc0a8000100 [00000000/c0148000/0040c0b0/ff200e01]`, with another one behind it if it is given up before it begins, or
/// one like `7: v=0d e=0000 i=0 cpl=3 IP=001b:00010000 pc=00010000 SP=...` if one of its instructions raises an exception.
fn begun(log: &str) -> Vec<Begun> {
    let (mut blocks, mut translated) = (BTreeMap::<&str, Vec<Begun>>::new(), Vec::<Begun>::new());
    let (mut all, mut of_endbr, mut last) = (Vec::<Begun>::new(), 0_u64, 0);
    for line in log.lines() {
        if line.starts_with("IN:") {
            translated.clear();
        } else if let Some((address, rest)) = line.split_once(':').filter(|(at, _)| at.starts_with("0x")) {
            let byte = |word: &str| u8::from_str_radix(word, 16).ok().filter(|_| word.len() == 2);
            let code: Vec<u8> = rest.split_whitespace().map_while(byte).collect();
            // What has bytes alone goes on from the line before; and so does endbr in 16-bit code, which QEMU lists as four instructions.
            let is_more = code.len() == rest.split_whitespace().count() || of_endbr > 0;
            of_endbr = if rest.ends_with(".byte    0xf3") { 3 } else { of_endbr.saturating_sub(1) };
            match translated.last_mut().filter(|_| is_more) {
                Some(before) => before.code = before.code.and(&code),
                None => translated.push(Begun { address: hex(address), code: Code::of(&code) }),
            }
        } else if line.starts_with("Trace ") {
            let block = line.split(' ').nth(2).unwrap_or_else(|| panic!("{line}"));
            if !translated.is_empty() {
                blocks.insert(block, std::mem::take(&mut translated));
            }
            let block = &blocks[block];
            assert_eq!(hex(line.split('/').nth(1).unwrap_or_default()), block[0].address, "{line}");
            last = all.len();
            all.extend(block);
        } else if line.starts_with("Stopped ") {
            let block =
                line.split(' ').find(|word| word.starts_with("0x")).unwrap_or_else(|| panic!("{line}"));
            all.truncate(all.len() - blocks[block].len());
        } else if let Some(at) = exception(line) {
            let place = all[last..].iter().position(|begun| begun.address == at);
            all.truncate(place.map_or(all.len(), |place| last + place + 1));
        }
    }
    all
}

/// Which instruction has raised an exception, where a line says that one has.
fn exception(line: &str) -> Option<u64> {
    let (vector, rest) = line.split_once(": v=")?.1.split_once(' ')?;
    let at = rest.split_once(" pc=")?.1.split(' ').next()?;
    (hex(vector) < 32).then(|| hex(at))
}

/// Boots in a Bochs whose debugger traces what is executed while samples are taken.
fn in_bochs(script: &Script, model: Option<&str>, rows: &[&Entry]) -> Option<(Session, Vec<Vec<Use>>)> {
    if bochs_is_missing() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("output");
    write(folder.path().join("commands"), commands(rows)).unwrap();
    let change = "cp \"$3\" \"$folder/rc\"; set -- \"${@:1:4}\" \"$folder/commands\" \"${@:6}\"";
    let bochs = changed_bochs(folder.path(), model, change, Some(&output)).in_mode(script.mode);
    let boot = |archive: &[u8], programs, limits: &Limits| bochs.boot(archive, programs, limits);
    let session = script.boot_in(&boot, Bochs::HERTZ)?;
    let traced = traced(script.mode, &output);
    assert_eq!(traced.len(), rows.len(), "rows that took samples");
    let of_row = |(entry, log): (&&Entry, Vec<Begun>)| {
        let timed = Timed::of(entry);
        let all = uses(&log, timed.stamps);
        all.into_iter().map(|taken| taken.with_base(timed.base)).collect()
    };
    Some((session, rows.iter().zip(traced).map(of_row).collect()))
}

/// Stops where a function that takes samples begins and, the third time, where it ends: it is called before the first canary, to teach the predictors,
/// and for the samples (probe/main.c). The debugger numbers its breakpoints from 1, and has room for sixteen.
fn commands(rows: &[&Entry]) -> String {
    let of_row = |(index, entry): (usize, &&Entry)| {
        let timed = Timed::of(entry);
        // A linear address is not what the program knows where its segments do not begin at 0.
        let stop = |at: u64| match (timed.base, entry.probe) {
            (0, Probe::Probe64) => format!("vb 0x33:{at:#x}"),
            (0, _) => format!("vb 0x23:{at:#x}"),
            (base, _) => format!("lb {:#x}", base + at),
        };
        let (begin, end, first) = (stop(timed.second), stop(timed.end), 2 * index + 1);
        format!(
            "{begin}\ncontinue\ncontinue\ncontinue\ndelete {first}\n{end}\ntrace on\ncontinue\ntrace off\ndelete {}\n",
            first + 1
        )
    };
    rows.iter().enumerate().map(of_row).chain(["continue\n".into()]).collect()
}

/// Each instruction has a line like `(0).[13608213] [0x000000118d1b] 0010:00000000c0118d1b (unk. ctxt): and edx, 0x00000007 ; 83e207`, but for one whose
/// page is not there.
fn traced(mode: Mode, output: &Path) -> Vec<Vec<Begun>> {
    let mut all = Vec::<Vec<Begun>>::new();
    for line in BufReader::new(File::open(output).unwrap()).lines().map(Result::unwrap) {
        if line.starts_with("Tracing enabled") {
            all.push(Vec::new());
        }
        let place = line.strip_prefix("(0).[").and_then(|rest| rest.split_once(" ("));
        let address = place.and_then(|(place, _)| address(mode, place));
        if let (Some(address), Some(last), Some((_, code))) =
            (address, all.last_mut(), line.rsplit_once("; "))
        {
            let byte =
                |at: usize| u8::from_str_radix(&code[at..at + 2], 16).unwrap_or_else(|_| panic!("{line}"));
            let code: Vec<u8> = (0..code.len()).step_by(2).map(byte).collect();
            last.push(Begun { address, code: Code::of(&code) });
        }
    }
    all
}

/// `13608213] [0x000000118d1b] 0010:00000000c0118d1b`: the offset, or the kernel's address for it where it may be one in a segment of 16 bits or in the
/// conforming one.
fn address(mode: Mode, place: &str) -> Option<u64> {
    let (physical, place) = place.split_once("[0x")?.1.split_once("] ")?;
    let (selector, offset) = place.split_once(':')?;
    // In virtual-8086 mode it is a paragraph.
    let is_kernels = hex(selector) & 3 != 3 && hex(selector) < timed::SIXTEEN / 16
        || hex(selector) == abi::SELECTOR_CONFORMING;
    let is_short = mode == Mode::Protected && is_kernels && hex(offset) <= 0xffff;
    Some(if is_short { kernel_base(mode) + hex(physical) } else { hex(offset) })
}

//! What rows count, and what an emulator has executed by its own log (executed.rs): as many instructions, and of paths those that are listed.

use crate::executed::{Code, Use, follow, least};
use crate::guest::{Answer, Emulator, Ran, Script};
use crate::kernel::{self, Kernel};
use crate::matrix;
use crate::steps::taken;
use places::lab::Mode;
use std::collections::BTreeMap;
use table::paths::{File, Line, Paths};
use table::{Entry, Kind, Operation, Table};

pub type Row = (&'static Entry, &'static Operation);

/// Of each entry one operation; those that change no switch come first. In Bochs it is one with a service, which QEMU does not log.
fn rows(mode: Mode, emulator: Emulator) -> Vec<Row> {
    let preferred = if emulator.is_tcg() { "none" } else { "getppid" };
    let mut rows: Vec<Row> = Vec::new();
    for (entry, operation) in Table::get().rows(mode.kernel()) {
        match rows.iter_mut().find(|row| row.0.name == entry.name) {
            Some(row) if operation.name == preferred => row.1 = operation,
            Some(_) => {}
            None => rows.push((entry, operation)),
        }
    }
    rows.sort_by_key(|(entry, operation)| entry.needs_for(operation).len());
    rows
}

/// A run of a row, and the listings of the paths that it takes.
struct Run {
    row: Row,
    ran: usize,
    listings: Vec<(usize, String)>,
}

/// The names of these paths, of an entry by whose number the kernel serves.
fn paths_of(entry: &Entry, paths: &Paths) -> Vec<String> {
    let names = entry.through.iter().chain(&entry.lab).filter(|_| entry.kind == Kind::Number);
    let of_bits = if entry.bits() == 64 { "x86_64" } else { "i386" };
    let is_there = |name: &String| paths.path(name).is_some();
    let names =
        names.map(|name| name.replace('-', "_")).map(|name| [name.clone(), format!("{name}_{of_bits}")]);
    names.map(|names| names.into_iter().find(is_there).unwrap()).collect()
}

/// Compares all rows that are open in these configurations, in one boot. How many were compared; none where the emulator is not here.
pub fn check(
    mode: Mode,
    emulator: Emulator,
    configurations: &[&str],
    is_open: impl Fn(&str, Row) -> bool,
) -> Option<usize> {
    let (_, paths) = places::lab::kernel_paths(mode).unwrap();
    let (mut script, mut runs) = (Script::in_mode(mode), Vec::new());
    script.harmless();
    for switches in configurations {
        script.set(switches);
        for row in rows(mode, emulator).into_iter().filter(|row| is_open(switches, *row)) {
            if !row.0.needs_for(row.1).is_empty() {
                script.set(switches);
            }
            let ran = script.row(row.0, row.1);
            let listings = paths_of(row.0, &paths).into_iter().map(|name| (script.list(&name), name));
            runs.push(Run { row, ran, listings: listings.collect() });
        }
    }
    let entries: Vec<&Entry> = runs.iter().map(|run| run.row.0).collect();
    let (session, uses) = follow(emulator, &script, &entries)?;
    let (mut kernel, mut wrong) = (Templates::of(mode), Vec::new());
    for (run, uses) in runs.iter().zip(&uses) {
        let (ran, one) = (&session.ran[run.ran], least(uses));
        if ran.cost() as i64 - matrix::miscounted(mode, emulator, run.row) != one.count() {
            wrong.push(format!("{}: counts {}, {} executed", ran.label, ran.cost(), one.count()));
        }
        for (listing, path) in &run.listings {
            wrong.extend(kernel.unlike(path, run.row, ran, one, &session.ran[*listing]));
        }
    }
    assert!(wrong.is_empty(), "{}, {} of {}: {wrong:#?}", emulator.name(), wrong.len(), runs.len());
    Some(runs.len())
}

/// A kernel's paths as its file has them, and what lies beside each.
struct Templates {
    kernel: Kernel,
    file: File<'static>,
    paths: Paths,
    read: BTreeMap<String, (kernel::Path, BTreeMap<u64, Code>)>,
}

impl Templates {
    fn of(mode: Mode) -> Templates {
        let (file, paths) = places::lab::kernel_paths(mode).unwrap();
        Templates { kernel: Kernel::in_mode(mode), file, paths, read: BTreeMap::new() }
    }

    /// What is wrong where a use does not execute of a path what is listed, and as much as its steps say; with what lies beside the path, each
    /// instruction once.
    fn unlike(&mut self, name: &str, row: Row, ran: &Ran, one: &Use, listing: &Ran) -> Option<String> {
        let (steps, beside) = self.read.entry(name.into()).or_insert_with(|| {
            let beside = self.paths.path(name).unwrap().beside.iter().flat_map(|code| code.lines(&self.file));
            (self.kernel.path(name), by_address(&beside.collect::<Vec<_>>()))
        });
        let listed = instructions(&self.file, listing);
        let page = listing.steps[0].address / 4096;
        let of_path = one.entry.iter().filter(|begun| begun.address / 4096 == page);
        if let Some(other) = of_path.clone().find(|begun| listed.get(&begun.address) != Some(&begun.code)) {
            let what = listed.get(&other.address);
            return Some(format!("{}: {name} executes {other:x?}, and has listed {what:x?}", ran.label));
        }
        let of_beside = one.entry.iter().filter(|begun| beside.contains_key(&begun.address));
        let of_beside: Vec<(u64, Code)> = of_beside.map(|begun| (begun.address, begun.code)).collect();
        if of_beside.len() != beside.len() || of_beside.iter().copied().collect::<BTreeMap<_, _>>() != *beside
        {
            return Some(format!("{}: beside {name} is executed {of_beside:x?}", ran.label));
        }
        let configuration: Vec<(&str, &str)> =
            ran.configured.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        // What the step for stacks of 16 bits declares is what all others execute of it.
        let is_sixteen = row.0.name == "code16-int";
        let steps = if is_sixteen { steps.clone().undeclared("espfix: ") } else { steps.clone() };
        // A task goes on where its last use has left it, with the jump to its beginning; that of task_16 lies beside the path.
        let again = u64::from(name.starts_with("task_") && name != "task_16");
        let of_steps = again + steps.walk(&configuration, taken(&row.0.name, &row.1.name));
        let executed = (of_path.count() + of_beside.len()) as u64;
        (executed != of_steps)
            .then(|| format!("{}: {executed} executed of {name}, whose steps have {of_steps}", ran.label))
    }
}

/// The instructions of a path that was listed, by their addresses.
fn instructions(kernel: &File, listing: &Ran) -> BTreeMap<u64, Code> {
    let start = listing.steps[0].address;
    let code: Vec<u8> = listing.steps.iter().flat_map(|step| step.code.iter().copied()).collect();
    by_address(&table::paths::disassemble(kernel, start, &code, Some(start)))
}

fn by_address(lines: &[Line]) -> BTreeMap<u64, Code> {
    lines.iter().map(|line| (line.address, Code::of(&line.bytes))).collect()
}

/// Whether a row is compared: in QEMU those whose kernel's side is a path, for it logs nothing else; in Bochs, which is slow, one model has few. Bochs does
/// not trace the fetch that faults.
fn is_compared(emulator: Emulator, (entry, operation): Row) -> bool {
    let is_elsewhere = ["interrupt", "page-fault"].contains(&entry.name.as_str());
    let is_new = !entry.through.is_empty() || entry.name.starts_with("far-");
    let is_meant = match emulator {
        Emulator::TcgIntel | Emulator::TcgAmd => !is_elsewhere,
        Emulator::Bochs => true,
        Emulator::BochsAmd => is_new,
    };
    is_meant
        && entry.name != "vsyscall"
        && matrix::expected(emulator, &entry.name, &operation.name) == Answer::Ok
}

#[test]
fn a_row_counts_what_a_log_of_every_instruction_has() {
    const PLAIN: &str = "pti=off smap=off";
    const SAFE: &str = "pti=on smap=on exit=iret stack=minimum copy-frame=on swapgs=fence";
    for (emulator, configurations, least) in [
        (Emulator::TcgIntel, &[PLAIN, SAFE][..], 70),
        (Emulator::TcgAmd, &[SAFE], 30),
        (Emulator::Bochs, &[SAFE], 36),
        (Emulator::BochsAmd, &[PLAIN, SAFE], 12),
    ] {
        let compared = check(Mode::Long, emulator, configurations, |_, row| is_compared(emulator, row));
        assert!(compared.is_none_or(|rows| rows >= least), "{}: {compared:?}", emulator.name());
    }
}

//! `kentry lab --listing`: the path of an entry as the kernel has built it, as text.

use crate::error::Error;
use measure::lab::{Configuration, Listed};
use places::lab::Mode;
use record::Step;
use std::fmt::Write;
use table::paths::{Beside, File, Line};
use table::{Abi, Entry, Kernel, Setting, Table, Whose};

/// Columns for an instruction, where two stand side by side.
const COLUMN: usize = 52;

/// Columns for an instruction's bytes.
const BYTES: usize = 32;

/// Writing to a String cannot fail.
macro_rules! line {
    ($text:expr, $($words:tt)*) => { let _ = writeln!($text, $($words)*); };
}

/// The entry that a word names.
///
/// # Errors
/// [`Error::Usage`] when there is none, or several.
pub fn entry<'a>(table: &'a Table, kernel: Kernel, word: &str) -> Result<&'a Entry, Error> {
    // An entry is GNU Mach's where it serves nothing else.
    let is_machs =
        |entry: &Entry| entry.operations_on(kernel).is_empty() && !entry.mach_operations.is_empty();
    let machs = Whose::machs(kernel).filter(|_| table.entry_of(word, kernel).is_some_and(is_machs));
    let whose = machs.unwrap_or(kernel.into());
    let rows = measure::select::rows(table, whose, &[word.to_string()], &[])?;
    let mut entries: Vec<&Entry> = rows.into_iter().map(|(entry, _)| entry).collect();
    entries.dedup_by_key(|entry| entry.id);
    match entries.as_slice() {
        [entry] => Ok(entry),
        many => {
            let names: Vec<&str> = many.iter().map(|entry| entry.name.as_str()).collect();
            Err(Error::Usage(format!(
                "--listing shows one entry, and {word} stands for {}",
                names.join(", ")
            )))
        }
    }
}

/// The name of the path by which an entry enters the kernel: that of its file, or with the ABI behind it where a file has a
/// path for each.
///
/// # Errors
/// [`Error::Usage`] when it has none.
pub fn path_of(mode: Mode, entry: &Entry) -> Result<String, Error> {
    let (_, paths) = places::lab::kernel_paths(mode).map_err(internal)?;
    let file = entry.lab.as_deref().map(|file| file.replace('-', "_"));
    let abi = if entry.abi == Some(Abi::X86_64) { "x86_64" } else { "i386" };
    let names = file.into_iter().flat_map(|file| [format!("{file}_{abi}"), file]);
    let mut known = names.filter(|name| paths.path(name).is_some());
    known.next().ok_or_else(|| {
        let why = match entry.group.as_str() {
            NEIGHBOURS => "executes nothing of the kernel",
            _ => "has no path of its own in the kernel",
        };
        Error::Usage(format!("{} {why}; `kentry explain` tells where it goes", entry.name))
    })
}

/// The group of entries that do not enter the kernel. None has a path.
const NEIGHBOURS: &str = "neighbours";

/// The same in a configuration: in Linux's order, an entry may have a path of its own name.
///
/// # Errors
/// As [`path_of`].
pub fn path_in(mode: Mode, entry: &Entry, configuration: &Configuration) -> Result<String, Error> {
    let of_lab = Setting::new(table::ORDER, "lab");
    let is_linuxs = configuration.values().any(|(name, value)| name == of_lab.name && value != of_lab.value);
    let (_, paths) = places::lab::kernel_paths(mode).map_err(internal)?;
    let own = entry.name.replace('-', "_");
    if is_linuxs && paths.path(&own).is_some() {
        return Ok(own);
    }
    path_of(mode, entry)
}

/// All paths of an entry, in the order in which it takes them: those of rings between its own and the kernel's, and the kernel's.
///
/// # Errors
/// As [`path_of`].
pub fn paths_of(mode: Mode, entry: &Entry) -> Result<Vec<String>, Error> {
    let last = path_of(mode, entry)?;
    Ok(entry.through.iter().cloned().chain([last]).collect())
}

fn internal(error: table::paths::Error) -> Error {
    Error::Environment(error.to_string())
}

/// What an entry without a path executes of a page that the kernel has for programs: that is the same in every configuration.
///
/// # Errors
/// [`Error::Environment`] when the kernel's file cannot be read.
pub fn for_programs(mode: Mode, entry: &Entry) -> Result<Option<String>, Error> {
    let (kernel, paths) = places::lab::kernel_paths(mode).map_err(internal)?;
    let code = paths.for_programs.iter().find(|(name, _)| *name == entry.name);
    Ok(code.map(|(name, code)| {
        let (mut text, lines) = (String::new(), code.lines(&kernel));
        line!(
            text,
            "{name}, in the kernel's page for programs: {} instructions, {} bytes, whatever the switches\n",
            lines.len(),
            code.code.len()
        );
        line!(text, "{}", report::plain(&code.name));
        lines.iter().for_each(|line| put(&mut text, line));
        text
    }))
}

/// One path, or two side by side.
///
/// # Errors
/// [`Error::Usage`] when there are more.
pub fn text(mode: Mode, path: &str, named: &[&str], listed: &[Listed]) -> Result<String, Error> {
    let (kernel, paths) = places::lab::kernel_paths(mode).map_err(internal)?;
    let beside = paths.path(path).map(|path| path.beside.as_slice()).unwrap_or_default();
    let steps = match listed {
        [one] => alone(&kernel, (path, beside), named, one),
        [left, right] => side_by_side(&kernel, path, named, left, right),
        _ => return Err(Error::Usage("--listing takes two --set at most".into())),
    };
    Ok(steps + &outside(&kernel, beside))
}

/// Code that a call executes besides the path, whatever the switches.
fn outside(kernel: &File, beside: &[Beside]) -> String {
    let mut text = String::new();
    for code in beside {
        line!(text, "\n{}, outside the path", report::plain(&code.name));
        code.lines(kernel).iter().for_each(|line| put(&mut text, line));
    }
    text
}

fn put(text: &mut String, Line { address, bytes, text: instruction }: &Line) {
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    line!(text, "  {address:x}  {:BYTES$} {instruction}", hex.join(" "));
}

fn start_of(listed: &Listed) -> u64 {
    listed.steps.first().map_or(0, |step| step.address)
}

fn switches(named: &[&str], listed: &Listed) -> String {
    let values = listed.configuration.values().filter(|(name, _)| named.contains(name));
    values.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn alone(kernel: &File, (path, beside): (&str, &[Beside]), named: &[&str], listed: &Listed) -> String {
    let instructions = |step: &Step| table::paths::disassemble(kernel, step.address, &step.code, None);
    let count: usize = listed.steps.iter().map(|step| instructions(step).len()).sum();
    let bytes: usize = listed.steps.iter().map(|step| step.code.len()).sum();
    let mut text = String::new();
    let more = match beside.iter().map(|code| code.lines(kernel).len()).sum::<usize>() {
        0 => String::new(),
        more => format!(", and {more} instructions outside the path"),
    };
    line!(text, "path {path}: {count} instructions, {bytes} bytes{more}  {}", switches(named, listed));
    for step in &listed.steps {
        line!(text, "\n{}", report::plain(&step.name));
        instructions(step).iter().for_each(|line| put(&mut text, line));
    }
    text
}

fn side_by_side(kernel: &File, path: &str, named: &[&str], left: &Listed, right: &Listed) -> String {
    let mut text = String::new();
    line!(text, "path {path}\n");
    line!(text, "{:COLUMN$}{}", switches(named, left), switches(named, right));
    let (starts, mut sides) =
        ([start_of(left), start_of(right)], [left.steps.as_slice(), right.steps.as_slice()]);
    while let Some(place) = sides.iter().filter_map(|steps| steps.first()).map(|step| step.place).min() {
        let here = sides.map(|steps| steps.first().filter(|step| step.place == place));
        let name = here.iter().flatten().next().map(|step| report::plain(&step.name)).unwrap_or_default();
        line!(text, "\n{name}");
        let columns = [0, 1].map(|side: usize| {
            let lines = here[side]
                .map(|step| table::paths::disassemble(kernel, step.address, &step.code, Some(starts[side])));
            lines.unwrap_or_default()
        });
        let [one, other] = &columns;
        for index in 0..one.len().max(other.len()) {
            let cell = |side: usize| match columns[side].get(index) {
                Some(line) => format!("  +{:<4x}{}", line.address - starts[side], line.text),
                None => String::new(),
            };
            let row = format!("{:COLUMN$}{}", cell(0), cell(1));
            line!(text, "{}", row.trim_end());
        }
        for side in [0, 1] {
            sides[side] = if here[side].is_some() { &sides[side][1..] } else { sides[side] };
        }
    }
    text
}

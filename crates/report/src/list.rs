//! The table of entries itself: those of Linux, or those of the lab with its switches and profiles.

use crate::arrange::names;
use crate::grid::{Cell, Column, Grid, Words};
use crate::line::{Line, look, written};
use crate::{Error, Format, Kind, Style, json};
use serde::Serialize;
use table::{Abi, Entry, Group, Kernel, Profile, Switch, Table};

/// So many operations are listed with their entry; entries that take call numbers have more, and much the same ones.
const FEW: usize = 4;

/// The entries of a kernel, in `format`: id, bitness, group, ABI, title, and operations. But for CSV, also what the operations do, and of
/// the lab its switches and their profiles.
///
/// # Errors
/// [`Error`] when a serializer refuses; the table does not make it do so.
pub fn list(table: &Table, kernel: Kernel, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    let listing = Listing::of(table, kernel);
    match format {
        Format::Text => Ok(text(&listing, style)),
        Format::Json => json::render(&listing),
        Format::Csv => entries(&listing).csv(),
        Format::Markdown => Ok(markdown(&listing)),
        _ => Err(Error::unfit(Kind::LIST, format)),
    }
}

/// What is listed, as it is written in JSON.
#[derive(Serialize)]
struct Listing<'a> {
    /// `linux` or `lab`.
    kernel: Kernel,
    /// The headings of groups that have entries, in their order.
    #[serde(skip)]
    groups: Vec<&'a str>,
    entries: Vec<ListedEntry<'a>>,
    operations: Vec<ListedOperation<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    switches: Vec<ListedSwitch<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profiles: Vec<ListedProfile<'a>>,
}

#[derive(Serialize)]
struct ListedSwitch<'a> {
    id: u16,
    name: &'a str,
    group: &'static str,
    /// `off|on`, or `0..64`.
    values: String,
    default: &'a str,
    what: &'a str,
}

#[derive(Serialize)]
struct ListedProfile<'a> {
    name: &'a str,
    what: &'a str,
    cpu: Option<&'a str>,
    /// In that kernel's order.
    steps: Vec<String>,
}

impl<'a> ListedSwitch<'a> {
    fn of(switch: &'a Switch) -> Self {
        let Switch { id, name, group, default, what, .. } = switch;
        Self { id: *id, name, group: group.heading(), values: switch.choices(), default, what }
    }
}

impl<'a> ListedProfile<'a> {
    fn of(profile: &'a Profile) -> Self {
        let Profile { name, what, cpu, steps, .. } = profile;
        Self { name, what, cpu: cpu.as_deref(), steps: steps.iter().map(ToString::to_string).collect() }
    }
}

#[derive(Serialize)]
struct ListedEntry<'a> {
    id: u16,
    name: &'a str,
    bits: u8,
    group: &'a str,
    abi: Option<&'static str>,
    title: &'a str,
    /// In the lab those by the calls of another personality are behind those of Linux.
    operations: Vec<&'a str>,
    #[serde(skip)]
    serves_mach: bool,
}

#[derive(Serialize)]
struct ListedOperation<'a> {
    id: u16,
    name: &'a str,
    what: &'a str,
    /// Whose calls it is by, where that is not Linux.
    #[serde(skip_serializing_if = "Option::is_none")]
    personality: Option<&'a str>,
}

impl<'a> Listing<'a> {
    fn of(table: &'a Table, kernel: Kernel) -> Self {
        let entries = table.entries.iter().filter(|entry| entry.kernels.contains(&kernel));
        let entries: Vec<_> = entries.map(|entry| ListedEntry::of(entry, kernel)).collect();
        let serves = |name: &String| entries.iter().any(|entry| entry.operations.contains(&name.as_str()));
        let operations = table.operations.iter().filter(|operation| serves(&operation.name));
        let operations = operations.map(|operation| ListedOperation {
            id: operation.id,
            name: &operation.name,
            what: &operation.what,
            personality: operation.personality.as_deref(),
        });
        let has_entries = |group: &&str| entries.iter().any(|entry| entry.group == *group);
        // Profiles are Linuxes for long mode.
        let has_profiles = kernel == Kernel::Lab;
        Self {
            kernel,
            groups: names(table).into_iter().filter(has_entries).collect(),
            operations: operations.collect(),
            entries,
            switches: table.switches_of(kernel).map(ListedSwitch::of).collect(),
            profiles: table.profiles.iter().filter(|_| has_profiles).map(ListedProfile::of).collect(),
        }
    }
}

impl<'a> ListedEntry<'a> {
    fn of(entry: &'a Entry, kernel: Kernel) -> Self {
        let operations = entry.all_on(kernel).map(String::as_str);
        Self {
            id: entry.id,
            name: &entry.name,
            bits: entry.bits(),
            group: &entry.group,
            abi: abi(entry),
            title: &entry.title,
            operations: operations.collect(),
            serves_mach: kernel.is_lab() && !entry.mach_operations.is_empty(),
        }
    }
}

fn abi(entry: &Entry) -> Option<&'static str> {
    entry.abi.map(|abi| match abi {
        Abi::X86_64 => "x86_64",
        Abi::I386 => "i386",
        Abi::X32 => "x32",
    })
}

/// Entries under their groups, then what the operations ask for.
fn text(listing: &Listing, style: &Style) -> Vec<u8> {
    let width = style.columns();
    let mut lines = entry_lines(listing, width);
    let (of_mach, usual): (Vec<_>, Vec<_>) =
        listing.operations.iter().partition(|operation| operation.personality.is_some());
    lines.push(Line::new(look::HEADING, "operations"));
    lines.extend(operation_lines(&usual, width));
    if !of_mach.is_empty() {
        lines.push(Line::default());
        lines.push(Line::new(look::HEADING, "operations of GNU Mach, by --personality mach"));
        lines.extend(operation_lines(&of_mach, width));
    }
    lines.extend(switch_lines(listing, width));
    written(&lines, style)
}

fn operation_lines(operations: &[&ListedOperation], width: usize) -> Vec<Line> {
    let ids = Grid::of(operations).column(id(), |operation| operation.id);
    let named = ids.column(name(), |operation| operation.name);
    let behind = Words { hang: Some(8), ..Words::BEHIND };
    named.words(behind, |operation| operation.what.to_owned()).grid().lines(width)
}

fn id() -> Column {
    Column::number("").least(4).look(look::FAINT)
}

fn name() -> Column {
    Column::word("").look(look::NAME)
}

/// Number, name, bitness, ABI and title; below them the operations, if they are few and more than the bare instruction.
fn entry_lines(listing: &Listing, width: usize) -> Vec<Line> {
    let grid = Grid::of(&listing.entries)
        .column(id(), |entry| entry.id)
        .column(name(), |entry| entry.name)
        .column(Column::word("").least(2), |entry| entry.bits)
        .column(Column::word("").least("x86_64".len()), |entry| entry.abi)
        .words(Words::BEHIND, |entry| entry.title.to_owned())
        .grid();
    let fitted = grid.fitted(width);
    let mut lines = Vec::new();
    for group in &listing.groups {
        lines.push(Line::new(look::HEADING, group));
        let entries = listing.entries.iter().zip(grid.rows());
        for (entry, row) in entries.filter(|(entry, _)| entry.group == *group) {
            lines.extend(fitted.row(row));
            if entry.operations.len() <= FEW && entry.operations != ["none"] {
                lines.extend(fitted.below(look::FAINT, &entry.operations.join(" ")));
            } else if entry.serves_mach {
                lines.extend(fitted.below(look::FAINT, "also GNU Mach's"));
            }
        }
        lines.push(Line::default());
    }
    lines
}

/// The names of the lab's switches, group by group, and the profiles.
fn switch_lines(listing: &Listing, width: usize) -> Vec<Line> {
    let of_group = |group: Group| {
        let switches = listing.switches.iter().filter(|switch| switch.group == group.heading());
        (group.heading(), switches.map(|switch| switch.name).collect::<Vec<_>>().join(" "))
    };
    let profiles = listing.profiles.iter().map(|profile| (profile.name, profile.what.to_owned()));
    let switches = Group::ALL.into_iter().filter(|_| !listing.switches.is_empty()).map(of_group);
    let all = [("switches", switches.collect()), ("profiles of switches", profiles.collect::<Vec<_>>())];
    let lines = all.iter().filter(|(_, named)| !named.is_empty()).flat_map(|(heading, named)| {
        let grid = Grid::of(named).column(name().gap(2), |(name, _)| *name);
        let grid = grid.words(Words::BEHIND, |(_, text)| text.clone()).grid();
        [Line::default(), Line::new(look::HEADING, heading)].into_iter().chain(grid.lines(width))
    });
    lines.collect()
}

/// Of each entry everything.
fn entries(listing: &Listing) -> Grid {
    Grid::of(&listing.entries)
        .column(Column::number("id"), |entry| entry.id)
        .column(Column::text("entry").key("name"), |entry| Cell::name(entry.name))
        .column(Column::number("bits"), |entry| entry.bits)
        .column(Column::text("group"), |entry| entry.group)
        .column(Column::text("ABI").key("abi"), |entry| entry.abi)
        .column(Column::text("title"), |entry| entry.title)
        .column(Column::text("operations"), |entry| {
            Cell::Names(entry.operations.iter().map(|name| (*name).to_owned()).collect())
        })
        .grid()
}

fn markdown(listing: &Listing) -> Vec<u8> {
    let operations = Grid::of(&listing.operations)
        .column(Column::number("id"), |operation| operation.id)
        .column(Column::text("operation"), |operation| Cell::name(operation.name))
        .column(Column::text("what"), |operation| operation.what);
    let switches = Grid::of(&listing.switches)
        .column(Column::number("id"), |switch| switch.id)
        .column(Column::text("switch"), |switch| Cell::name(switch.name))
        .column(Column::text("values"), |switch| switch.values.replace('|', ", "))
        .column(Column::text("default"), |switch| switch.default)
        .column(Column::text("what"), |switch| switch.what);
    let profiles = Grid::of(&listing.profiles)
        .column(Column::text("profile"), |profile| Cell::name(profile.name))
        .column(Column::text("what"), |profile| profile.what)
        .column(Column::text("steps"), |profile| Cell::Names(profile.steps.clone()));
    let of_lab = [switches.grid(), profiles.grid()].into_iter().filter(|grid| !grid.is_empty());
    let all = [entries(listing), operations.grid()].into_iter().chain(of_lab);
    all.map(|grid| grid.markdown()).collect::<Vec<_>>().join("\n").into_bytes()
}

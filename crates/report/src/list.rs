//! The table of entries itself: those of Linux, or those of the lab with its switches and profiles.

use crate::arrange::names;
use crate::line::{Line, look, wrapped};
use crate::{Error, Format, Kind, Style, csv, json};
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
        Format::Csv => csv::records(lines(&listing)),
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
    operations: &'a [String],
}

#[derive(Serialize)]
struct ListedOperation<'a> {
    id: u16,
    name: &'a str,
    what: &'a str,
}

impl<'a> Listing<'a> {
    fn of(table: &'a Table, kernel: Kernel) -> Self {
        let entries = table.entries.iter().filter(|entry| entry.kernels.contains(&kernel));
        let entries: Vec<_> = entries.map(|entry| ListedEntry::of(entry, kernel)).collect();
        let serves = |name: &String| entries.iter().any(|entry| entry.operations.contains(name));
        let operations = table.operations.iter().filter(|operation| serves(&operation.name));
        let operations = operations.map(|operation| ListedOperation {
            id: operation.id,
            name: &operation.name,
            what: &operation.what,
        });
        let has_entries = |group: &&str| entries.iter().any(|entry| entry.group == *group);
        let is_lab = kernel == Kernel::Lab;
        Self {
            kernel,
            groups: names(table).into_iter().filter(has_entries).collect(),
            operations: operations.collect(),
            entries,
            switches: table.switches.iter().filter(|_| is_lab).map(ListedSwitch::of).collect(),
            profiles: table.profiles.iter().filter(|_| is_lab).map(ListedProfile::of).collect(),
        }
    }
}

impl<'a> ListedEntry<'a> {
    fn of(entry: &'a Entry, kernel: Kernel) -> Self {
        Self {
            id: entry.id,
            name: &entry.name,
            bits: entry.bits(),
            group: &entry.group,
            abi: abi(entry),
            title: &entry.title,
            operations: entry.operations_on(kernel),
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
    let widest = listing.entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for group in &listing.groups {
        lines.push(Line::new(look::HEADING, group));
        let here = listing.entries.iter().filter(|entry| entry.group == *group);
        lines.extend(here.flat_map(|entry| entry_lines(entry, widest, width)));
        lines.push(Line::default());
    }
    lines.push(Line::new(look::HEADING, "operations"));
    lines.extend(operation_lines(listing, width));
    lines.extend(switch_lines(listing, width));
    let mut out = String::new();
    lines.iter().for_each(|line| line.write(style.color, &mut out));
    out.into_bytes()
}

/// Number, name, bitness, ABI and title; below them the operations, if they are few and more than the bare instruction.
fn entry_lines(entry: &ListedEntry, widest: usize, width: usize) -> Vec<Line> {
    let mut start = Line::default();
    start.push_right(look::FAINT, &entry.id.to_string(), 4);
    start.blank(2);
    start.push(look::NAME, entry.name);
    start.blank_to(6 + widest + 2);
    start.push(look::PLAIN, &entry.bits.to_string());
    start.blank(2);
    start.push(look::PLAIN, entry.abi.unwrap_or(crate::figure::ABSENT));
    let title = 6 + widest + 2 + 2 + 2 + "x86_64".len() + 2;
    start.blank_to(title);
    let mut lines = wrapped(start, look::PLAIN, entry.title, width, title);
    if entry.operations.len() <= FEW && entry.operations != ["none"] {
        let mut below = Line::default();
        below.blank(title);
        lines.extend(wrapped(below, look::FAINT, &entry.operations.join(" "), width, title));
    }
    lines
}

fn operation_lines(listing: &Listing, width: usize) -> Vec<Line> {
    let widest = listing.operations.iter().map(|operation| operation.name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for operation in &listing.operations {
        let mut start = Line::default();
        start.push_right(look::FAINT, &operation.id.to_string(), 4);
        start.blank(2);
        start.push(look::NAME, operation.name);
        start.blank_to(6 + widest + 2);
        lines.extend(wrapped(start, look::PLAIN, operation.what, width, 8));
    }
    lines
}

/// The names of the lab's switches, group by group, and the profiles.
fn switch_lines(listing: &Listing, width: usize) -> Vec<Line> {
    let named = |name: &str, column: usize, text: &str| {
        let mut start = Line::default();
        start.blank(2);
        start.push(look::NAME, name);
        start.blank_to(column);
        wrapped(start, look::PLAIN, text, width, column.min(width / 2))
    };
    let mut lines = Vec::new();
    if !listing.switches.is_empty() {
        lines.extend([Line::default(), Line::new(look::HEADING, "switches")]);
        let widest = Group::ALL.map(|group| group.heading().len()).into_iter().max().unwrap_or(0);
        for group in Group::ALL {
            let names = listing.switches.iter().filter(|switch| switch.group == group.heading());
            let names: Vec<&str> = names.map(|switch| switch.name).collect();
            lines.extend(named(group.heading(), widest + 4, &names.join(" ")));
        }
    }
    if !listing.profiles.is_empty() {
        lines.extend([Line::default(), Line::new(look::HEADING, "profiles of switches")]);
        let widest = listing.profiles.iter().map(|profile| profile.name.len()).max().unwrap_or(0);
        lines.extend(
            listing.profiles.iter().flat_map(|profile| named(profile.name, widest + 4, profile.what)),
        );
    }
    lines
}

/// One line for each entry, below one line of names.
fn lines(listing: &Listing) -> impl Iterator<Item = Vec<String>> {
    let header = ["id", "name", "bits", "group", "abi", "title", "operations"];
    let entries = listing.entries.iter().map(|entry| {
        vec![
            entry.id.to_string(),
            entry.name.to_owned(),
            entry.bits.to_string(),
            entry.group.to_owned(),
            entry.abi.unwrap_or_default().to_owned(),
            entry.title.to_owned(),
            entry.operations.join(";"),
        ]
    });
    std::iter::once(header.map(str::to_owned).to_vec()).chain(entries)
}

fn markdown(listing: &Listing) -> Vec<u8> {
    let mut out = String::from("| id | entry | bits | group | ABI | title | operations |\n");
    out.push_str("| ---: | --- | ---: | --- | --- | --- | --- |\n");
    for entry in &listing.entries {
        let operations: Vec<String> = entry.operations.iter().map(|name| format!("`{name}`")).collect();
        out.push_str(&format!(
            "| {} | `{}` | {} | {} | {} | {} | {} |\n",
            entry.id,
            entry.name,
            entry.bits,
            entry.group,
            entry.abi.unwrap_or(crate::figure::ABSENT),
            crate::markdown::escaped(entry.title),
            operations.join(" ")
        ));
    }
    out.push_str("\n| id | operation | what |\n| ---: | --- | --- |\n");
    for operation in &listing.operations {
        let what = crate::markdown::escaped(operation.what);
        out.push_str(&format!("| {} | `{}` | {what} |\n", operation.id, operation.name));
    }
    out.push_str(&switches_in_markdown(listing));
    out.into_bytes()
}

fn switches_in_markdown(listing: &Listing) -> String {
    let escaped = crate::markdown::escaped;
    let mut out = String::new();
    if !listing.switches.is_empty() {
        out.push_str("\n| id | switch | values | default | what |\n| ---: | --- | --- | --- | --- |\n");
    }
    for ListedSwitch { id, name, values, default, what, .. } in &listing.switches {
        let values = values.replace('|', ", ");
        out.push_str(&format!("| {id} | `{name}` | {values} | {default} | {} |\n", escaped(what)));
    }
    if !listing.profiles.is_empty() {
        out.push_str("\n| profile | what | steps |\n| --- | --- | --- |\n");
    }
    for ListedProfile { name, what, steps, .. } in &listing.profiles {
        let steps: Vec<String> = steps.iter().map(|step| format!("`{step}`")).collect();
        out.push_str(&format!("| `{name}` | {} | {} |\n", escaped(what), steps.join(" ")));
    }
    out
}

//! The table of entries itself.

use crate::arrange::names;
use crate::line::{Line, look, wrapped};
use crate::{Error, Format, Style, csv, json};
use serde::Serialize;
use table::{Abi, Entry, Group, Kernel, Profile, Switch, Table};

/// Every entry, in `format`: id, bitness, group, ABI, title, and the operations on Linux and in the lab. But for CSV, also the
/// operations, the lab's switches, and their profiles.
///
/// # Errors
/// [`Error`] when a serializer refuses; the table does not make it do so.
pub fn list(table: &Table, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        Format::Text => Ok(text(table, style)),
        Format::Json => json::render(&Listing::of(table)),
        Format::Csv => csv::records(lines(table)),
        Format::Markdown => Ok(markdown(table)),
    }
}

/// The list in JSON.
#[derive(Serialize)]
struct Listing<'a> {
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
    /// On Linux; none where only the lab has the entry.
    operations: &'a [String],
    /// In the lab; none where only Linux has the entry.
    lab_operations: &'a [String],
}

#[derive(Serialize)]
struct ListedOperation<'a> {
    id: u16,
    name: &'a str,
    what: &'a str,
}

impl<'a> Listing<'a> {
    fn of(table: &'a Table) -> Self {
        let operations = table.operations.iter().map(|operation| ListedOperation {
            id: operation.id,
            name: &operation.name,
            what: &operation.what,
        });
        Self {
            entries: table.entries.iter().map(ListedEntry::of).collect(),
            operations: operations.collect(),
            switches: table.switches.iter().map(ListedSwitch::of).collect(),
            profiles: table.profiles.iter().map(ListedProfile::of).collect(),
        }
    }
}

impl<'a> ListedEntry<'a> {
    fn of(entry: &'a Entry) -> Self {
        Self {
            id: entry.id,
            name: &entry.name,
            bits: entry.bits(),
            group: &entry.group,
            abi: abi(entry),
            title: &entry.title,
            operations: entry.operations_on(Kernel::Linux),
            lab_operations: entry.operations_on(Kernel::Lab),
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

/// The operations of an entry, behind the name of the kernel where that makes a difference.
fn served(entry: &Entry) -> Vec<(&'static str, &[String])> {
    match (entry.operations_on(Kernel::Linux), entry.operations_on(Kernel::Lab)) {
        (linux, []) => vec![("only on Linux: ", linux)],
        ([], lab) => vec![("only in the lab: ", lab)],
        (linux, lab) if linux == lab => vec![("", linux)],
        (linux, lab) => vec![("on Linux: ", linux), ("in the lab: ", lab)],
    }
}

/// Entries under their groups, then what the operations ask for.
fn text(table: &Table, style: &Style) -> Vec<u8> {
    let widest = table.entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for group in names(table) {
        lines.push(Line::new(look::HEADING, group));
        for entry in table.entries.iter().filter(|entry| entry.group == group) {
            lines.extend(entry_lines(entry, widest, style.columns()));
        }
        lines.push(Line::default());
    }
    lines.push(Line::new(look::HEADING, "operations"));
    lines.extend(operation_lines(table, style.columns()));
    lines.extend(switch_lines(table, style.columns()));
    let mut out = String::new();
    lines.iter().for_each(|line| line.write(style.color, &mut out));
    out.into_bytes()
}

/// Number, name, bitness, ABI and title; below them the operations.
fn entry_lines(entry: &Entry, widest: usize, width: usize) -> Vec<Line> {
    let mut start = Line::default();
    start.push_right(look::FAINT, &entry.id.to_string(), 4);
    start.blank(2);
    start.push(look::NAME, &entry.name);
    start.blank_to(6 + widest + 2);
    start.push(look::PLAIN, &entry.bits().to_string());
    start.blank(2);
    start.push(look::PLAIN, abi(entry).unwrap_or(crate::figure::ABSENT));
    let title = 6 + widest + 2 + 2 + 2 + "x86_64".len() + 2;
    start.blank_to(title);
    let mut lines = wrapped(start, look::PLAIN, &entry.title, width, title);
    for (kernel, operations) in served(entry) {
        let mut below = Line::default();
        below.blank(8);
        let text = format!("{kernel}{}", operations.join(" "));
        lines.extend(wrapped(below, look::FAINT, &text, width, 8));
    }
    lines
}

fn operation_lines(table: &Table, width: usize) -> Vec<Line> {
    let widest = table.operations.iter().map(|operation| operation.name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for operation in &table.operations {
        let mut start = Line::default();
        start.push_right(look::FAINT, &operation.id.to_string(), 4);
        start.blank(2);
        start.push(look::NAME, &operation.name);
        start.blank_to(6 + widest + 2);
        lines.extend(wrapped(start, look::PLAIN, &operation.what, width, 8));
    }
    lines
}

/// The names of the lab's switches, group by group, and the profiles.
fn switch_lines(table: &Table, width: usize) -> Vec<Line> {
    let named = |name: &str, column: usize, text: &str| {
        let mut start = Line::default();
        start.blank(2);
        start.push(look::NAME, name);
        start.blank_to(column);
        wrapped(start, look::PLAIN, text, width, column.min(width / 2))
    };
    let mut lines = Vec::new();
    if !table.switches.is_empty() {
        lines.extend([Line::default(), Line::new(look::HEADING, "switches of the lab")]);
        let widest = Group::ALL.map(|group| group.heading().len()).into_iter().max().unwrap_or(0);
        for group in Group::ALL {
            let names = table.switches.iter().filter(|switch| switch.group == group);
            let names: Vec<&str> = names.map(|switch| switch.name.as_str()).collect();
            lines.extend(named(group.heading(), widest + 4, &names.join(" ")));
        }
    }
    if !table.profiles.is_empty() {
        lines.extend([Line::default(), Line::new(look::HEADING, "profiles of switches")]);
        let widest = table.profiles.iter().map(|profile| profile.name.len()).max().unwrap_or(0);
        lines.extend(
            table.profiles.iter().flat_map(|profile| named(&profile.name, widest + 4, &profile.what)),
        );
    }
    lines
}

/// One line for each entry, below one line of names.
fn lines(table: &Table) -> impl Iterator<Item = Vec<String>> {
    let header = ["id", "name", "bits", "group", "abi", "title", "operations", "lab_operations"];
    let entries = table.entries.iter().map(|entry| {
        vec![
            entry.id.to_string(),
            entry.name.clone(),
            entry.bits().to_string(),
            entry.group.clone(),
            abi(entry).unwrap_or_default().to_owned(),
            entry.title.clone(),
            entry.operations_on(Kernel::Linux).join(";"),
            entry.operations_on(Kernel::Lab).join(";"),
        ]
    });
    std::iter::once(header.map(str::to_owned).to_vec()).chain(entries)
}

fn markdown(table: &Table) -> Vec<u8> {
    let mut out = String::from("| id | entry | bits | group | ABI | title | operations |\n");
    out.push_str("| ---: | --- | ---: | --- | --- | --- | --- |\n");
    for entry in &table.entries {
        let operations = served(entry).into_iter().map(|(kernel, operations)| {
            let names: Vec<String> = operations.iter().map(|name| format!("`{name}`")).collect();
            format!("{kernel}{}", names.join(" "))
        });
        let operations: Vec<String> = operations.collect();
        out.push_str(&format!(
            "| {} | `{}` | {} | {} | {} | {} | {} |\n",
            entry.id,
            entry.name,
            entry.bits(),
            entry.group,
            abi(entry).unwrap_or(crate::figure::ABSENT),
            crate::markdown::escaped(&entry.title),
            operations.join("; ")
        ));
    }
    out.push_str("\n| id | operation | what |\n| ---: | --- | --- |\n");
    for operation in &table.operations {
        let what = crate::markdown::escaped(&operation.what);
        out.push_str(&format!("| {} | `{}` | {what} |\n", operation.id, operation.name));
    }
    out.push_str(&switches_in_markdown(table));
    out.into_bytes()
}

fn switches_in_markdown(table: &Table) -> String {
    let escaped = crate::markdown::escaped;
    let mut out = String::new();
    if !table.switches.is_empty() {
        out.push_str("\n| id | switch | values | default | what |\n| ---: | --- | --- | --- | --- |\n");
    }
    for Switch { id, name, default, what, .. } in &table.switches {
        let values = table.switch(name).map(|switch| switch.choices().replace('|', ", ")).unwrap_or_default();
        out.push_str(&format!("| {id} | `{name}` | {values} | {default} | {} |\n", escaped(what)));
    }
    if !table.profiles.is_empty() {
        out.push_str("\n| profile | what | steps |\n| --- | --- | --- |\n");
    }
    for Profile { name, what, steps, .. } in &table.profiles {
        let steps: Vec<String> = steps.iter().map(|step| format!("`{step}`")).collect();
        out.push_str(&format!("| `{name}` | {} | {} |\n", escaped(what), steps.join(" ")));
    }
    out
}

//! A switch of the lab, one of its values, or a profile of them: from the table, from docs/bill.md, and from the kernel that is
//! built into the command.

use super::{capitalized, section, sequence};
use table::{Group, Origin, Profile, Setting, Switch, Table};

/// What kernels do around their entries, and why.
const BILL: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/bill.md"));

/// The text below a heading of docs/bill.md, with the heading.
fn section(heading: &str) -> Option<String> {
    section::of(BILL, heading)
}

/// A switch: what it decides, its values, what they require; and what docs/bill.md says of it, with the instructions of each value.
pub fn explain(table: &Table, switch: &Switch) -> String {
    let name = &switch.name;
    let mut text = format!("# {name}\n\n{}. A switch of the lab", capitalized(&switch.what));
    text.push_str(&format!(": `kentry lab --set {name}={}`.\n\n", other(switch)));
    text.push_str(&format!("- Values: {}; by default {}\n", values(switch), switch.default));
    for need in &switch.requires {
        let of = if need.values.is_empty() {
            format!("every value but {}", switch.first())
        } else {
            need.values.join(", ")
        };
        text.push_str(&format!("- Requires ({of}): {}\n", required(need)));
    }
    let profiles: Vec<String> = table
        .profiles
        .iter()
        .flat_map(|profile| profile.steps.iter().map(move |step| (profile, step)))
        .filter(|(_, step)| step.name == *name)
        .map(|(profile, step)| format!("{} ({})", profile.name, step.value))
        .collect();
    if !profiles.is_empty() {
        text.push_str(&format!("- In profiles: {}\n", profiles.join(", ")));
    }
    if switch.group == Group::Kind {
        return text
            + "\nIts values decide what an entry is, and are no steps of a bill; docs/lab.md tells of them.\n";
    }
    if let Some(section) = section(&format!("## {name}")) {
        text.push('\n');
        // Its heading would say the name again.
        text.push_str(section.split_once('\n').map_or("", |(_, rest)| rest).trim_start());
    }
    let numbers = switch.range.map(|(least, _)| (least + 1).to_string());
    let others = switch.values.iter().filter(|value| **value != switch.first()).cloned().chain(numbers);
    text + &others.map(|value| sequence::text(table, &Setting::new(name, value))).collect::<String>()
}

/// One value.
pub fn explain_setting(table: &Table, setting: &Setting) -> String {
    let whole = || table.switch(&setting.name).map_or(String::new(), |switch| explain(table, switch));
    match section(&format!("### {setting}")) {
        // With a heading of its own.
        Some(section) => section.replacen("###", "#", 1) + &sequence::text(table, setting),
        None => match section(&format!("## {}", setting.name)) {
            Some(section) => section.replacen("##", "#", 1) + &sequence::text(table, setting),
            None => whole(),
        },
    }
}

/// A profile: its kernel and processor, its steps in that kernel's order with where Linux has each, and what was chosen.
pub fn explain_profile(table: &Table, profile: &Profile) -> String {
    let mut text = format!(
        "# {}\n\n{}. A profile: `kentry bill --profile {}`.\n",
        profile.name,
        capitalized(&profile.what),
        profile.name
    );
    if let Some(cpu) = &profile.cpu {
        text.push_str(&format!("\nIt stands for: {cpu}.\n"));
    }
    if !profile.steps.is_empty() {
        text.push_str("\n## Steps, in that kernel's order\n\n");
    }
    for step in &profile.steps {
        let origins: Vec<String> = table.origins_of(step).into_iter().map(Origin::written).collect();
        text.push_str(&format!("- `{step}`: {}\n", origins.join(" ")));
    }
    if !profile.choices.is_empty() {
        text.push_str("\n## Choices\n\nAnother kernel of that version may have these otherwise.\n\n");
    }
    for (setting, why) in &profile.choices {
        text.push_str(&format!("- `{setting}`: {why}\n"));
    }
    text
}

/// What the switch can be set to besides its default.
fn other(switch: &Switch) -> String {
    let known = switch.values.iter().find(|value| **value != switch.default).cloned();
    known.or(switch.range.map(|(least, _)| (least + 1).to_string())).unwrap_or_default()
}

fn values(switch: &Switch) -> String {
    match switch.range {
        Some((least, most)) => format!("a number from {least} to {most}"),
        None => switch.values.join(", "),
    }
}

fn required(need: &table::Requirement) -> String {
    let feature = need.feature.iter().map(|feature| {
        let without = if need.harmless {
            " (where instructions are counted, it is executed without effect otherwise)"
        } else {
            ""
        };
        format!("the processor's {}{without}", feature.to_uppercase())
    });
    let switches = need.switches.iter().map(|(name, values)| format!("{name}={}", values.join(" or ")));
    feature.chain(switches).collect::<Vec<_>>().join(", and ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn headings(depth: &str) -> BTreeSet<&'static str> {
        let prefix = format!("{depth} ");
        BILL.lines().filter_map(|line| line.strip_prefix(prefix.as_str())).collect()
    }

    #[test]
    fn every_switch_that_is_a_step_has_a_section_and_no_section_lacks_its_switch() {
        let steps = || Table::get().switches.iter().filter(|switch| switch.is_step());
        let names = steps()
            .map(|switch| switch.name.as_str())
            .chain(["Profiles", "The bill", "How to read it", "Beside Linux 6"])
            .collect();
        assert_eq!(headings("##"), names);
        let of_switch = |switch: &'static Switch| {
            let others = switch.values.iter().filter(|value| **value != switch.first());
            others.map(move |value| format!("{}={value}", switch.name))
        };
        let values: BTreeSet<String> = steps().flat_map(of_switch).collect();
        assert_eq!(headings("###"), values.iter().map(String::as_str).collect());
    }

    #[test]
    fn a_section_says_where_linux_has_it_as_the_table_does() {
        for origin in &Table::get().origins {
            let own =
                section(&format!("### {}", origin.set)).or_else(|| section(&format!("## {}", origin.set)));
            let line = format!("Linux: {}", origin.written());
            assert!(own.unwrap_or_default().lines().any(|found| found == line), "{}: {line}", origin.set);
        }
        let lines = BILL.lines().filter(|line| line.starts_with("Linux: ")).count();
        assert_eq!(lines, Table::get().origins.len());
    }

    #[test]
    fn every_profile_is_in_the_text_as_it_is_in_the_table() {
        for Profile { name, what, cpu, .. } in &Table::get().profiles {
            let row = format!("| `{name}` | {what} | {} |", cpu.as_deref().unwrap_or("any"));
            assert!(BILL.lines().any(|line| line == row), "{row}");
        }
    }

    #[test]
    fn the_contents_lead_to_every_section() {
        let linked =
            |heading: &str| BILL.contains(&format!("](#{})", heading.to_lowercase().replace(' ', "-")));
        let missing: Vec<&str> = headings("##").into_iter().filter(|heading| !linked(heading)).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn a_switch_and_a_value_are_explained_with_their_instructions() {
        let table = Table::get();
        let pti = explain(table, table.switch("pti").unwrap());
        for words in
            ["# pti\n", "off, on, trampoline", "### pti=on", "Meltdown", "linux-6.1 (on)", "%rsp, %cr3"]
        {
            assert!(pti.contains(words), "{words}: {pti}");
        }
        let smap = explain_setting(table, &Setting::new("smap", "on"));
        assert!(smap.starts_with("# smap=on\n") && smap.contains("clac"), "{smap}");
        let smep = explain_setting(table, &Setting::new("smep", "on"));
        assert!(smep.contains("adds no instruction"), "{smep}");
        let writes = explain_setting(table, &Setting::new("cr3-writes", "2"));
        assert!(writes.starts_with("# cr3-writes\n") && writes.contains("12 instructions"), "{writes}");
        let gate = explain(table, table.switch("gate").unwrap());
        assert!(gate.contains("no steps of a bill"), "{gate}");
    }

    #[test]
    fn a_profile_is_explained_step_by_step() {
        let text = explain_profile(Table::get(), Table::get().profile("linux-6.1").unwrap());
        for words in
            ["Skylake", "- `ibrs=on`: `arch/x86/entry/calling.h`", "## Choices", "- `ibpb=off`: conditional"]
        {
            assert!(text.contains(words), "{words}: {text}");
        }
        let bare = explain_profile(Table::get(), Table::get().profile("bare").unwrap());
        assert!(!bare.contains("## "), "{bare}");
    }
}

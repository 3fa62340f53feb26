//! A switch of the lab, one of its values, or a profile of them: from the table, from docs/bill.md, and from the kernel that is
//! built into the command.

use super::opening::Opening;
use super::{capitalized, fault, section};
use crate::prices::{self, LabRuns, sequence};
use table::{Group, Kernel, Origin, Profile, Requirement, Setting, Switch, Table, feature};

/// What kernels do around their entries, and why.
const BILL: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/bill.md"));

/// The text below a heading of docs/bill.md, with the heading.
#[cfg(test)]
fn section(heading: &str) -> Option<String> {
    section::of(BILL, heading)
}

/// What is said of a switch or a setting under a heading of its own: opening and text. Nothing of a value without a section.
fn own(heading: &str) -> Option<(Opening, String)> {
    let section = section::below(BILL, heading)?;
    let (opening, rest) = Opening::of(&section);
    Some((opening, rest.to_owned()))
}

/// The values of a switch that are steps, the first in its levels first; of a number, the one that a profile has, or the least.
fn steps(table: &Table, switch: &Switch) -> Vec<Setting> {
    let of_profile = || {
        let steps = table.profiles.iter().flat_map(|profile| &profile.steps);
        steps.filter(|step| step.name == switch.name).map(|step| step.value.clone()).next()
    };
    let number = switch.range.map(|(least, _)| of_profile().unwrap_or_else(|| (least + 1).to_string()));
    let mut values: Vec<String> =
        switch.values.iter().filter(|value| **value != switch.first()).cloned().chain(number).collect();
    values.sort_by_key(|value| switch.levels.iter().position(|level| level == value));
    values.into_iter().map(|value| Setting::new(&switch.name, value)).collect()
}

/// The lines that a switch opens with: attack, processors, remedy, and the price of each value; nothing of one that is no step.
pub fn opening(table: &Table, switch: &Switch, runs: &LabRuns) -> String {
    match own(&format!("## {}", switch.name)) {
        Some((opening, _)) if switch.is_step() => {
            format!("{}{}\n", opening.text(), prices::line(table, &steps(table, switch), runs))
        }
        _ => String::new(),
    }
}

/// A switch: its opening, what it decides, its values, what they require; and what docs/bill.md says of it, with the instructions of each
/// value.
pub fn explain(table: &Table, switch: &Switch, runs: &LabRuns) -> String {
    let name = &switch.name;
    let opening = opening(table, switch, runs);
    let text = format!("# {name}\n\n{opening}{}", facts(table, switch));
    if switch.group == Group::Kind {
        return text
            + "\nIts values decide what an entry is, and are no steps of a bill. docs/lab.md tells of them, docs/lab-i386.md of those of protected mode.\n";
    }
    let section = own(&format!("## {name}")).map(|(_, rest)| format!("\n{rest}")).unwrap_or_default();
    let steps = steps(table, switch);
    let sequences: String = steps.iter().map(|setting| sequence::text(table, setting)).collect();
    text + section.trim_end() + "\n" + &sequences
}

/// What people call an attack or a protection: the whole of its switch; of several switches a line each, and what each opens with.
pub fn explain_known(table: &Table, name: &str, switches: &[&Switch], runs: &LabRuns) -> String {
    if let [switch] = switches {
        let text = explain(table, switch, runs);
        return format!("{name} is what the lab's switch `{}` is about.\n\n{text}", switch.name);
    }
    let line = |switch: &&Switch| format!("- `{0}`: {1} (`kentry explain {0}`)\n", switch.name, switch.what);
    let lines: String = switches.iter().map(line).collect();
    let opening = |switch: &&Switch| format!("\n## {}\n\n{}", switch.name, opening(table, switch, runs));
    let openings: Vec<String> = switches.iter().map(opening).map(|text| text.trim_end().to_owned()).collect();
    let own = fault::of(name).map(|known| fault::opening(table, known, runs) + "\n").unwrap_or_default();
    format!("# {name}\n\n{own}These switches of the lab are about it:\n\n{lines}{}\n", openings.join("\n"))
}

/// What a switch decides and how it is set, its values and their requirements, and the profiles that have it.
fn facts(table: &Table, switch: &Switch) -> String {
    let name = &switch.name;
    let mut text = format!("{}. A switch of the lab", capitalized(&switch.what));
    text.push_str(&format!(": `{}`.\n\n", command(table, switch)));
    text.push_str(&format!("- Values: {}; by default {}\n", values(switch), switch.default));
    text.push_str(match switch.only_kernel() {
        Some(Kernel::LabI386) => "- Only of the lab's kernel for protected mode (--lab-kernel i386)\n",
        Some(_) => "- Only of the lab's kernel for long mode\n",
        None => "",
    });
    for need in &switch.requires {
        let of = if need.values.is_empty() {
            format!("every value but {}", switch.first())
        } else {
            need.values.join(", ")
        };
        text.push_str(&format!("- Requires ({of}): {}\n", required(table, need)));
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
    text
}

/// One value: its opening, and what docs/bill.md says of it, or else of its switch.
pub fn explain_setting(table: &Table, setting: &Setting, runs: &LabRuns) -> String {
    let of_switch = own(&format!("## {}", setting.name));
    let of_value = own(&format!("### {setting}"));
    let Some((inherited, whole)) =
        of_switch.filter(|_| table.switch(&setting.name).is_some_and(Switch::is_step))
    else {
        return table.switch(&setting.name).map_or(String::new(), |switch| explain(table, switch, runs));
    };
    let heading = if of_value.is_some() { setting.to_string() } else { setting.name.clone() };
    let (opening, text) = of_value.unwrap_or((Opening::default(), whole));
    let price = prices::line(table, std::slice::from_ref(setting), runs);
    let opening = opening.or(&inherited).text();
    format!("# {heading}\n\n{opening}{price}\n{}\n{}", text.trim_end(), sequence::text(table, setting))
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

/// How to set it, with what that value requires.
fn command(table: &Table, switch: &Switch) -> String {
    let value = other(switch);
    let needs = switch.requirements(&value);
    let features = needs.iter().filter_map(|need| need.feature.as_deref());
    let options = feature::options(features);
    let is_default = |name: &str, allowed: &[String]| {
        table.switch(name).is_some_and(|switch| allowed.contains(&switch.default))
    };
    let switches = needs.iter().flat_map(|need| &need.switches);
    let switches = switches.filter(|(name, allowed)| !is_default(name, allowed));
    let required = switches.filter_map(|(name, allowed)| Some(format!(",{name}={}", allowed.first()?)));
    let options = options.map(|options| options + " ").unwrap_or_default();
    format!("kentry lab {options}--set {}={value}{}", switch.name, required.collect::<String>())
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

fn required(table: &Table, need: &Requirement) -> String {
    let feature = need.feature.iter().map(|feature| {
        let without = if need.harmless {
            " (where instructions are counted, it is executed without effect otherwise)"
        } else {
            ""
        };
        match feature::options([feature.as_str()]) {
            Some(options) => format!("{} ({options})", feature::name(feature)),
            None => format!("the processor's {}{without}", feature::name(feature)),
        }
    });
    let mut all = Vec::new();
    add_required(table, need, &mut all);
    let switches = all.iter().map(|(name, values)| format!("{name}={}", values.join(" or ")));
    feature.chain(switches).collect::<Vec<_>>().join(", and ")
}

/// The values of other switches that a requirement names, and what these require in turn, where it leaves no choice.
fn add_required<'a>(table: &'a Table, need: &'a Requirement, all: &mut Vec<(&'a str, &'a [String])>) {
    for (name, values) in &need.switches {
        if all.iter().any(|(known, _)| known == name) {
            continue;
        }
        all.push((name, values));
        if let ([only], Some(switch)) = (values.as_slice(), table.switch(name)) {
            switch.requirements(only).into_iter().for_each(|need| add_required(table, need, all));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_a_requirement_requires_in_turn_is_named_too() {
        let text = facts(Table::get(), Table::get().switch("paging").unwrap());
        let of_off = text.lines().find(|line| line.starts_with("- Requires (off): ")).unwrap();
        assert!(of_off.contains("segments=limited") && of_off.contains("exit=iret"), "{of_off}");
    }

    fn headings(depth: &str) -> BTreeSet<&'static str> {
        let prefix = format!("{depth} ");
        BILL.lines().filter_map(|line| line.strip_prefix(prefix.as_str())).collect()
    }

    #[test]
    fn every_switch_that_is_a_step_has_a_section_and_no_section_lacks_its_switch() {
        let steps = || Table::get().switches.iter().filter(|switch| switch.is_step());
        let names = steps()
            .map(|switch| switch.name.as_str())
            .chain(["Profiles", "The bill", "How to read it", "In ring 3", "Beside Linux"])
            .collect();
        assert_eq!(headings("##"), names);
        let of_switch = |switch: &'static Switch| {
            let others = switch.values.iter().filter(|value| **value != switch.first());
            others.map(move |value| format!("{}={value}", switch.name))
        };
        let values: BTreeSet<String> = steps().flat_map(of_switch).collect();
        assert_eq!(headings("###"), values.iter().map(String::as_str).collect());
    }

    /// The list that a section begins with, item by item; and whether it stands in the order of an opening.
    fn is_in_order(opening: &Opening, heading: &str) -> bool {
        section::below(BILL, heading).unwrap().starts_with(opening.text().as_str())
    }

    #[test]
    fn every_section_opens_with_attack_processors_and_remedy_or_has_them_of_its_switch() {
        for switch in Table::get().switches.iter().filter(|switch| switch.is_step()) {
            let heading = format!("## {}", switch.name);
            let (of_switch, _) = own(&heading).unwrap();
            assert!(of_switch.is_whole() && is_in_order(&of_switch, &heading), "{heading}: {of_switch:?}");
            for value in switch.values.iter().filter(|value| **value != switch.first()) {
                let heading = format!("### {}={value}", switch.name);
                let (of_value, rest) = own(&heading).unwrap();
                assert!(is_in_order(&of_value, &heading) && !rest.contains("- **"), "{heading}");
                assert!(of_value.or(&of_switch).is_whole(), "{heading}");
            }
        }
    }

    #[test]
    fn an_explanation_opens_with_four_lines_and_says_where_the_price_is_from() {
        let (table, none) = (Table::get(), LabRuns::of(Vec::new()));
        let words = |text: &str| -> Vec<String> {
            let items = text.lines().skip(2).take_while(|line| !line.is_empty());
            items.filter_map(|line| Some(line.strip_prefix("- **")?.split_once("**")?.0.to_owned())).collect()
        };
        for switch in table.switches.iter().filter(|switch| switch.is_step()) {
            for text in steps(table, switch)
                .iter()
                .map(|set| explain_setting(table, set, &none))
                .chain([explain(table, switch, &none)])
            {
                let words = words(&text);
                assert!(["Attack", "Fault", "Purpose"].contains(&words[0].as_str()), "{text}");
                assert_eq!(words[1..], ["Processors", "Remedy", "Price"], "{text}");
            }
        }
        let pti = explain_setting(table, &Setting::new("pti", "on"), &none);
        let price = "4 instructions more through syscall-x86_64, counted in the kernel's code and not timed, as no kept run tells it \
                     (`kentry bill --profile linux-4.14-pti --entry syscall-x86_64` counts its instructions";
        assert!(pti.contains(price), "{pti}");
        let smep = explain_setting(table, &Setting::new("smep", "on"), &none);
        assert!(smep.contains("- **Price**: no instruction more on any entry"), "{smep}");
        let writes = explain_setting(table, &Setting::new("cr3-writes", "2"), &none);
        let command = "`kentry lab --entry syscall-x86_64 --set cr3-writes=0 --set cr3-writes=2`";
        assert!(writes.contains(command), "{writes}");
    }

    /// What `kentry bill --ring-3` counts as a protection is what does not say that it is none.
    #[test]
    fn protections_open_with_an_attack_or_a_fault() {
        let (table, none) = (Table::get(), LabRuns::of(Vec::new()));
        for switch in table.switches.iter().filter(|switch| switch.is_step()) {
            for set in steps(table, switch) {
                let text = explain_setting(table, &set, &none);
                let opening = text.lines().find(|line| line.starts_with("- **")).unwrap_or_default();
                let is_none = ["no protection", "an experiment", "seccomp"]
                    .iter()
                    .any(|word| opening.starts_with(&format!("- **Purpose**: {word}")));
                let is = attribution::bill::is_protection(table, &set.name, &set.value);
                assert_eq!(is, !is_none, "{set}: {opening}");
            }
        }
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
        let (table, none) = (Table::get(), LabRuns::of(Vec::new()));
        let pti = explain(table, table.switch("pti").unwrap(), &none);
        for words in
            ["# pti\n", "off, on, trampoline", "### pti=on", "Meltdown", "linux-6.1 (on)", "%rsp, %cr3"]
        {
            assert!(pti.contains(words), "{words}: {pti}");
        }
        let smap = explain_setting(table, &Setting::new("smap", "on"), &none);
        assert!(smap.starts_with("# smap=on\n") && smap.contains("clac"), "{smap}");
        let smep = explain_setting(table, &Setting::new("smep", "on"), &none);
        assert!(smep.contains("adds no instruction"), "{smep}");
        let writes = explain_setting(table, &Setting::new("cr3-writes", "2"), &none);
        assert!(writes.starts_with("# cr3-writes\n") && writes.contains("5 instructions"), "{writes}");
        let gate = explain(table, table.switch("gate").unwrap(), &none);
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

//! What a setting costs: as the latest kept run of the lab has it, or, where none has, how many instructions it adds to a path, counted in
//! the kernel that is built into the command. Nothing here is written by hand.

use super::sequence;
use attribution::bill::Price;
use document::Document;
use std::cell::OnceCell;
use table::{Profile, Setting, Table};

/// The kept runs of the lab on this machine, which are read when the first price is asked for.
#[derive(Default)]
pub struct LabRuns(OnceCell<Vec<Document>>);

impl LabRuns {
    /// These, the newest first.
    #[cfg(test)]
    pub fn of(documents: Vec<Document>) -> LabRuns {
        LabRuns(OnceCell::from(documents))
    }

    fn newest_first(&self) -> &[Document] {
        self.0.get_or_init(crate::input::of_lab)
    }
}

/// A line of an opening: what each of these settings costs.
pub fn line(table: &Table, settings: &[Setting], runs: &LabRuns) -> String {
    let prices: Vec<String> = match settings {
        [] => return String::new(),
        [one] => vec![sentence(table, one, runs)],
        several => several.iter().map(|set| format!("`{set}`: {}", sentence(table, set, runs))).collect(),
    };
    format!("- **Price**: {}\n", prices.join(" "))
}

fn sentence(table: &Table, setting: &Setting, runs: &LabRuns) -> String {
    let kept = runs.newest_first().iter();
    let mut measured = kept.filter_map(|run| Some(report::price(&Price::of(table, run, setting)?, run)));
    measured.next().map_or_else(|| counted(table, setting), |price| format!("{price}."))
}

/// What is counted in the built-in kernel, and the command that measures it.
fn counted(table: &Table, setting: &Setting) -> String {
    let command = |entry| command(table, setting, entry);
    match sequence::counted(table, setting) {
        None => format!(
            "no instruction more on any entry, counted in the kernel's code and not timed; what else it costs, `{}` measures where there is \
             /dev/kvm.",
            command(None)
        ),
        Some(sequence::Counted { entry, more, fewer }) => {
            let instructions = if more == 1 { "instruction" } else { "instructions" };
            let fewer = if fewer == 0 { String::new() } else { format!(" and {fewer} fewer") };
            format!(
                "{more} {instructions} more{fewer} through {entry}, counted in the kernel's code and not timed, as no kept run tells it; \
                 `{}` measures it.",
                command(Some(entry))
            )
        }
    }
}

/// The command that measures a setting: a bill of the first profile that has it, or else the lab with and without it.
fn command(table: &Table, setting: &Setting, entry: Option<&str>) -> String {
    let entry = entry.map(|entry| format!(" --entry {entry}")).unwrap_or_default();
    let has = |profile: &&Profile| profile.steps.contains(setting);
    if let Some(profile) = table.profiles.iter().find(has) {
        return format!("kentry bill --profile {}{entry}", profile.name);
    }
    let first = table.switch(&setting.name).map(table::Switch::first).unwrap_or_default();
    let required = table.required(setting, &table.bare()).unwrap_or_default();
    let required: String = required.iter().map(|needed| format!(",{needed}")).collect();
    format!("kentry lab{entry} --set {}={first}{required} --set {setting}{required}", setting.name)
}

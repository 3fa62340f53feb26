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
        self.0.get_or_init(crate::this_machine::runs_of_lab)
    }
}

/// A line of an opening: what each of these settings costs.
pub fn line(table: &Table, settings: &[Setting], runs: &LabRuns) -> String {
    match settings {
        [] => String::new(),
        [one] => format!("- **Price**: {}\n", sentence(table, one, runs)),
        several => {
            let each = several.iter().map(|set| format!("  - `{set}`: {}\n", sentence(table, set, runs)));
            format!("- **Price**: of each value\n{}", each.collect::<String>())
        }
    }
}

fn sentence(table: &Table, setting: &Setting, runs: &LabRuns) -> String {
    let kept = runs.newest_first().iter();
    let mut measured = kept.filter_map(|run| Some(report::price(&Price::of(table, run, setting)?, run)));
    measured.next().map_or_else(|| counted(table, setting), |price| format!("{price}."))
}

/// What a bill and the lab tell of a setting, on which machine.
const MEASURES: &str = "counts its instructions; its time only where KVM runs ring 0 natively";

/// What is counted in the built-in kernel, and the command that measures it.
fn counted(table: &Table, setting: &Setting) -> String {
    let command = |entry| command(table, setting, entry);
    match sequence::counted(table, setting) {
        None => format!(
            "no instruction more on any entry, counted in the kernel's code and not timed; `{}` {MEASURES}.",
            command(None)
        ),
        Some(sequence::Counted { entry, more, fewer }) => {
            let instructions = if more == 1 { "instruction" } else { "instructions" };
            let fewer = if fewer == 0 { String::new() } else { format!(" and {fewer} fewer") };
            format!(
                "{more} {instructions} more{fewer} through {entry}, counted in the kernel's code and not timed, as no kept run tells it \
                 (`{}` {MEASURES}).",
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

#[cfg(test)]
mod tests {
    use super::*;
    use document::{Machine, Place, Row, Timing};
    use stats::Cost;
    use table::Kernel;

    /// A run of the lab that counted without and with a setting.
    fn run(setting: &Setting, counts: [f64; 2]) -> Document {
        let table = Table::get();
        let mut document = Document::empty();
        document.measurement.place = Place::new(Machine::QemuTcg, Kernel::Lab);
        document.measurement.started = "2026-11-22T21:24:38.882Z".into();
        let configurations = [table.bare(), table.with(std::slice::from_ref(setting))];
        document.results.extend(configurations.into_iter().zip(counts).map(|(configuration, count)| Row {
            configuration,
            instructions: Some(Cost::single(count.into())),
            timing: Timing::Emulated,
            ..Row::unmeasured("syscall-x86_64", "getppid", 64)
        }));
        document
    }

    #[test]
    fn a_price_is_that_of_the_latest_kept_run_that_tells_it() {
        let (table, smap) = (Table::get(), Setting::new("smap", "on"));
        let other = run(&Setting::new("smep", "on"), [28.0, 28.0]);
        let kept = LabRuns::of(vec![other, run(&smap, [28.0, 31.0]), run(&smap, [28.0, 40.0])]);
        let line = line(table, &[smap], &kept);
        let price = "- **Price**: 3 instructions alone; getppid through syscall-x86_64, counted in an emulator, not timed, 2026-11-22.\n";
        assert_eq!(line, price);
    }
}

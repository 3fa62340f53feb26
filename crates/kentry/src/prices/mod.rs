//! What a setting costs: as the latest kept run of the lab has it, or, where none has, how many instructions it adds to a path, counted in
//! the kernel that is built into the command. Nothing here is written by hand.

pub mod sequence;

use attribution::bill::{Figure, Price, Unit};
use document::{Document, PriceSource, PriceUnit};
use environment::{Trapped, Verdict};
use findings::LIKE_HERE;
use std::cell::OnceCell;
use table::{Profile, Setting, Switch, Table};

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
    format!("{}.", price(table, setting, runs, command).words)
}

/// What each of these settings of this machine's kernel costs, for a checkup.
pub fn of(table: &Table, settings: &[Setting], runs: &LabRuns) -> Vec<document::Price> {
    settings.iter().map(|setting| price(table, setting, runs, command_like_here)).collect()
}

/// Names the command that measures a setting, through an entry.
type Command = fn(&Table, &Setting, Option<&str>) -> String;

/// Of the latest kept run that was timed; of the latest that counted, where none was; or of the lab's code.
fn price(table: &Table, setting: &Setting, runs: &LabRuns, command: Command) -> document::Price {
    let kept = runs.newest_first().iter();
    let told = kept.filter_map(|run| Some((Price::of(table, run, setting)?, run)));
    let is_timed = |price: &Price| price.unit != Unit::Instructions;
    let told: Vec<(Price, &Document)> =
        told.filter(|(price, run)| !is_timed(price) || is_native(run, setting)).collect();
    match told.iter().find(|(price, _)| is_timed(price)).or(told.first()) {
        Some((price, run)) => {
            let command = command(table, setting, Some(&price.entry));
            measured(setting, price, run, command)
        }
        None => counted(table, setting, command),
    }
}

/// Whether the processor itself did all of ring 0 that a setting may use. What a hypervisor does instead has its price, not the setting's.
fn is_native(run: &Document, setting: &Setting) -> bool {
    let Some(lab) = &run.environment.lab else { return false };
    let by_others = |trapped: &Trapped| match trapped {
        Trapped::InvalidInstructions => false,
        Trapped::Cr3Writes | Trapped::Interrupts => true,
        step => step.settings().contains(&(setting.name.as_str(), setting.value.as_str())),
    };
    lab.ring0.verdict != Verdict::Emulated && !lab.ring0.trapped.iter().any(by_others)
}

/// As a run has it.
fn measured(setting: &Setting, price: &Price, run: &Document, command: String) -> document::Price {
    let figure: Option<Figure> = price.alone.or(price.in_company.map(|(figure, _)| figure));
    let (unit, source) = match price.unit {
        Unit::Cycles => (PriceUnit::Cycles, PriceSource::Timed),
        Unit::Ticks => (PriceUnit::Ticks, PriceSource::Timed),
        Unit::Instructions => (PriceUnit::Instructions, PriceSource::Counted),
    };
    document::Price {
        setting: setting.to_string(),
        entry: Some(price.entry.clone()),
        amount: figure.map(|figure| figure.estimate),
        low: figure.and_then(|figure| figure.low),
        high: figure.and_then(|figure| figure.high),
        unit,
        source,
        words: report::price(price, run),
        command,
    }
}

/// What a bill and the lab tell of a setting on this machine.
fn measures() -> &'static str {
    if measure::lab::is_pvm() {
        "counts its instructions"
    } else {
        "counts its instructions; its time only where KVM runs ring 0 natively"
    }
}

/// The switch that makes jumps of the kernel's returns (lab/entry/returns.c), which are on no list of steps.
const RETURNS: &str = "returns";

/// What is counted in the built-in kernel, and the command that measures it.
fn counted(table: &Table, setting: &Setting, command: Command) -> document::Price {
    let found = sequence::counted(table, setting);
    let entry = found.as_ref().map(|found| found.entry);
    let command = command(table, setting, entry);
    let first = table.switch(RETURNS).map(Switch::first);
    let changes_returns = setting.name == RETURNS && Some(&setting.value) != first.as_ref();
    let words = in_words(found.as_ref(), changes_returns, &command);
    let amount = found.as_ref().map_or(0.0, |found| found.more as f64 - found.fewer as f64);
    // What is counted in part has no figure: a bill, which counts what is executed, would contradict it.
    let amount = Some(amount).filter(|_| !changes_returns);
    document::Price {
        setting: setting.to_string(),
        entry: entry.map(str::to_owned),
        amount,
        low: None,
        high: None,
        unit: PriceUnit::Instructions,
        source: PriceSource::Code,
        words,
        command,
    }
}

fn in_words(found: Option<&sequence::Counted>, changes_returns: bool, command: &str) -> String {
    let (counted, measures) = ("counted in the kernel's code and not timed", measures());
    let each = "at each return of a function, which is no step and not counted here";
    match found {
        None if changes_returns => format!("one instruction more {each}; `{command}` {measures}"),
        None => format!("no instruction more on any entry, {counted}; `{command}` {measures}"),
        Some(sequence::Counted { entry, more, fewer }) => {
            let instructions = if *more == 1 { "instruction" } else { "instructions" };
            let fewer = if *fewer == 0 { String::new() } else { format!(" and {fewer} fewer") };
            let rest = if changes_returns { format!(", and one {each}") } else { String::new() };
            format!(
                "{more} {instructions} more{fewer} through {entry}, {counted}, as no kept run tells it{rest} (`{command}` {measures})"
            )
        }
    }
}

/// For a setting that this machine's kernel is like: a bill of all of it.
fn command_like_here(_: &Table, _: &Setting, entry: Option<&str>) -> String {
    let entry = entry.map(|entry| format!(" --entry {entry}")).unwrap_or_default();
    format!("kentry bill --profile {LIKE_HERE}{entry}")
}

/// The command that measures a setting: a bill of the first profile that has it, or else the lab with and without it.
fn command(table: &Table, setting: &Setting, entry: Option<&str>) -> String {
    let entry = entry.map(|entry| format!(" --entry {entry}")).unwrap_or_default();
    let has = |profile: &&Profile| profile.steps.contains(setting);
    if let Some(profile) = table.profiles.iter().find(has) {
        return format!("kentry bill --profile {}{entry}", profile.name);
    }
    let first = table.switch(&setting.name).map(Switch::first).unwrap_or_default();
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
    fn a_checkup_has_a_price_for_each_setting_and_says_where_it_is_from() {
        let (table, smap, pti) = (Table::get(), Setting::new("smap", "on"), Setting::new("pti", "on"));
        let kept = LabRuns::of(vec![run(&smap, [28.0, 31.0])]);
        let prices = of(table, &[smap, pti], &kept);
        let told: Vec<_> =
            prices.iter().map(|price| (price.setting.as_str(), price.source, price.amount)).collect();
        assert_eq!(told[0], ("smap=on", PriceSource::Counted, Some(3.0)));
        assert_eq!((told[1].0, told[1].1), ("pti=on", PriceSource::Code));
        assert!(prices.iter().all(|price| price.unit == PriceUnit::Instructions
            && price.command.starts_with("kentry bill --profile like-here ")));
        assert!(prices[1].words.contains("not timed") && !prices[1].words.ends_with('.'));
    }

    #[test]
    fn returns_that_become_jumps_are_no_steps_and_so_have_no_figure_from_the_code() {
        let table = Table::get();
        let settings = ["thunk", "untrain"].map(|value| Setting::new(RETURNS, value));
        let prices = of(table, &settings, &LabRuns::of(Vec::new()));
        for price in &prices {
            assert_eq!(price.amount, None);
            assert!(price.words.contains("at each return of a function"), "{}", price.words);
        }
        let kept = LabRuns::of(vec![run(&settings[1], [28.0, 35.0])]);
        assert_eq!(of(table, &settings[1..], &kept)[0].amount, Some(7.0), "a run counts what is executed");
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

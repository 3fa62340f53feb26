//! The steps of a bill: a profile's settings, with what each requires of the others and of the processor.

use crate::bill::Error;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use table::{Entry, ORDER, Profile, Setting, Table};

/// A setting of a profile as a step of the bill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Name of the switch.
    pub switch: String,
    /// Its value with the step.
    pub value: String,
    /// Its value without it: that of the switch's step before, or bare's.
    pub base: String,
    /// What the processor must have for it.
    pub needs: Vec<Need>,
    /// The steps that it requires, by their place in the profile, in order; theirs included, and the order in which it is measured.
    pub requires: Vec<usize>,
    /// Where the setting is not known but guessed: from what, in words.
    pub guess: Option<String>,
}

/// What the processor must have for a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    /// The feature, as in the table: `pcid`.
    pub feature: String,
    /// Whether the processor has it.
    pub present: bool,
    /// Whether the step can be executed without it where instructions are counted.
    pub harmless: bool,
}

/// What a bill's kernel runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processor {
    /// What it has of what switches may need.
    pub features: Vec<String>,
    /// Whether instructions are counted, and not time measured.
    pub counts: bool,
    /// Whether it executes what it does not have, where that is marked harmless: QEMU's emulation does.
    pub forgives: bool,
}

impl Step {
    /// As it is written on a command line: `pti=on`.
    pub fn name(&self) -> String {
        format!("{}={}", self.switch, self.value)
    }

    /// As the table has it.
    pub fn setting(&self) -> Setting {
        Setting::new(&self.switch, &self.value)
    }

    /// The features that the processor lacks for it, in upper case and joined; empty if it lacks none.
    pub fn lacks(&self) -> String {
        let lacking = self.needs.iter().filter(|need| !need.present);
        lacking.map(|need| need.feature.to_uppercase()).collect::<Vec<_>>().join(" and ")
    }
}

/// The steps of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    /// In the profile's order.
    pub all: Vec<Step>,
    /// Of each, why it is in no configuration, in words; `None` if it is in some.
    pub left_out: Vec<Option<String>>,
    /// Values of all switches in bare, with those that the entry always runs with.
    pub bare: BTreeMap<String, String>,
}

impl Steps {
    /// Of an entry on a processor; without one, of a processor that has everything.
    pub fn new(
        table: &Table,
        entry: &Entry,
        profile: &Profile,
        processor: Option<&Processor>,
    ) -> Result<Steps, Error> {
        let settings = profile.settled(table)?;
        let mut bare = table.bare();
        bare.extend(entry.needs.iter().map(|(name, value)| (name.clone(), value.clone())));
        let mut steps = Steps { all: Vec::new(), left_out: Vec::new(), bare };
        for setting in &settings {
            let (needs, base) = (needs(table, setting, processor), steps.before(&setting.name));
            let Setting { name: switch, value } = setting.clone();
            let guess = profile.guesses.get(setting).cloned();
            steps.left_out.push(own_reason(entry, setting, &needs, processor));
            steps.all.push(Step { switch, value, base, needs, requires: Vec::new(), guess });
        }
        if processor.is_some_and(|processor| !processor.counts) {
            steps.refuse_lacking()?;
        }
        steps.refuse_unmet(table)?;
        steps.require(table);
        steps.put_in_order();
        Ok(steps)
    }

    /// The value of a switch so far.
    fn before(&self, switch: &str) -> String {
        let kept = self.all.iter().zip(&self.left_out).rev();
        let last = kept.filter(|(_, why)| why.is_none()).find(|(step, _)| step.switch == switch);
        let value = last.map(|(step, _)| &step.value).or_else(|| self.bare.get(switch));
        value.cloned().unwrap_or_default()
    }

    fn refuse_lacking(&self) -> Result<(), Error> {
        let lacking = self.all.iter().filter(|step| !step.lacks().is_empty());
        let lacking: Vec<String> =
            lacking.map(|step| format!("{}, which {} needs", step.lacks(), step.name())).collect();
        if lacking.is_empty() { Ok(()) } else { Err(Error::Lacking(lacking)) }
    }

    /// Refuses a profile in which a step requires what another, or bare, contradicts. Whether it was left out does not matter, so that
    /// what is refused does not depend on the processor.
    fn refuse_unmet(&self, table: &Table) -> Result<(), Error> {
        let every = (0..self.all.len()).collect();
        Ok(table.check_requirements(&self.values(&every))?)
    }

    /// Fills in what each step requires, and leaves out what requires a step that is left out.
    fn require(&mut self, table: &Table) {
        // As often as it takes for the last to hear of it.
        for _ in 0..self.all.len() {
            for place in 0..self.all.len() {
                let (requires, lost) = self.required(table, place);
                let why = lost.map(|lost| format!("it requires {lost}, which is left out"));
                if let (Some(step), Some(slot)) = (self.all.get_mut(place), self.left_out.get_mut(place)) {
                    step.requires = requires;
                    *slot = slot.take().or(why);
                }
            }
        }
    }

    /// Where a profile has an order of Linux, its steps are measured in that order: there a step computes with registers that the path
    /// has saved, and the lab's own order has it save some for itself. So all steps but those that the order requires require it, too.
    fn put_in_order(&mut self) {
        let is_order = |place: &usize| self.all.get(*place).is_some_and(|step| step.switch == ORDER);
        let Some(order) = self.kept().into_iter().find(is_order) else { return };
        let mut before = self.requires(order);
        before.insert(order);
        for (_, step) in self.all.iter_mut().enumerate().filter(|(place, _)| !before.contains(place)) {
            let required: BTreeSet<usize> = before.iter().chain(&step.requires).copied().collect();
            step.requires = required.into_iter().collect();
        }
    }

    /// What a step requires, as far as it is known of the others; and the name of a step that it requires and that is left out.
    fn required(&self, table: &Table, place: usize) -> (Vec<usize>, Option<String>) {
        let (mut requires, mut lost) = (BTreeSet::new(), None);
        let Some(step) = self.all.get(place) else { return (Vec::new(), None) };
        let is_kept = |place: &usize| self.left_out.get(*place).is_some_and(Option::is_none);
        let lower = |other: &usize| self.all.get(*other).is_some_and(|other| other.switch == step.switch);
        let mut direct: Vec<usize> = (0..place).filter(is_kept).filter(lower).collect();
        let unmet = table.switch(&step.switch).map(|switch| switch.unmet(&step.value, &self.bare));
        for (name, allowed) in unmet.unwrap_or_default() {
            let would_do = |other: &usize| {
                self.all
                    .get(*other)
                    .is_some_and(|other| other.switch == name && allowed.contains(&other.value))
            };
            let all = || (0..self.all.len()).filter(would_do);
            match all().find(is_kept) {
                Some(other) => direct.push(other),
                None => {
                    lost = lost.or_else(|| all().next().and_then(|other| self.all.get(other)).map(Step::name))
                }
            }
        }
        for other in direct {
            requires.insert(other);
            requires.extend(self.all.get(other).into_iter().flat_map(|other| other.requires.iter().copied()));
        }
        requires.remove(&place);
        (requires.into_iter().collect(), lost)
    }

    /// The places of the steps that are in configurations.
    pub fn kept(&self) -> BTreeSet<usize> {
        (0..self.all.len()).filter(|place| self.left_out.get(*place).is_some_and(Option::is_none)).collect()
    }

    /// What a step requires.
    pub fn requires(&self, place: usize) -> BTreeSet<usize> {
        self.all.get(place).into_iter().flat_map(|step| step.requires.iter().copied()).collect()
    }

    /// The steps that require one.
    pub fn dependents(&self, place: usize) -> BTreeSet<usize> {
        self.kept().into_iter().filter(|other| self.requires(*other).contains(&place)).collect()
    }

    /// The values of all switches with some steps, which include what they require.
    pub fn values(&self, steps: &BTreeSet<usize>) -> BTreeMap<String, String> {
        let mut values = self.bare.clone();
        let steps = steps.iter().filter_map(|place| self.all.get(*place));
        values.extend(steps.map(|step| (step.switch.clone(), step.value.clone())));
        values
    }

    /// Those of `values` that are not as in bare.
    pub fn changes(&self, values: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let changed = values.iter().filter(|(name, value)| self.bare.get(*name) != Some(value));
        changed.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

fn needs(table: &Table, setting: &Setting, processor: Option<&Processor>) -> Vec<Need> {
    let requirements = table.switch(&setting.name).map(|switch| switch.requirements(&setting.value));
    let need = |requirement: &table::Requirement| {
        let feature = requirement.feature.clone()?;
        let present = processor.is_none_or(|processor| processor.features.contains(&feature));
        Some(Need { feature, present, harmless: requirement.harmless })
    };
    requirements.unwrap_or_default().into_iter().filter_map(need).collect()
}

/// Why a step is in no configuration, whatever the other steps are.
fn own_reason(
    entry: &Entry,
    setting: &Setting,
    needs: &[Need],
    processor: Option<&Processor>,
) -> Option<String> {
    if let Some(value) = entry.needs.get(&setting.name) {
        return Some(format!("{} always runs with {}={value}", entry.name, setting.name));
    }
    let forgives = processor.is_some_and(|processor| processor.forgives);
    let lacking = needs.iter().filter(|need| !(need.present || need.harmless && forgives));
    let lacking: Vec<String> = lacking.map(|need| need.feature.to_uppercase()).collect();
    (!lacking.is_empty()).then(|| format!("the lab's CPU has no {}", lacking.join(" and no ")))
}

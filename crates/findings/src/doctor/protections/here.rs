//! What this kernel does about each fault, with the price of it.

use super::faults::{Doing, Lies, PROTECTED_FAULTS, ProtectedFault};
use super::state::{Stands, State};
use document::{Checkup, Price};
use environment::Environment;
use table::Setting;
#[cfg(test)]
use table::Table;

/// A row of the table: a fault, and what is done here.
#[derive(Debug, Clone, PartialEq)]
pub struct Protection<'a> {
    /// The fault.
    pub fault: &'static ProtectedFault,
    /// The kernel's own words.
    pub says: &'a str,
    /// How it stands by them.
    pub stands: Stands,
    /// Whether this processor needs a remedy; none where the kernel does not know.
    pub needed: Option<bool>,
    /// What the kernel does.
    pub doings: Vec<&'static Doing>,
    /// What that costs, as far as it is known.
    pub prices: Vec<&'a Price>,
    /// Settings of the lab that are not quite what the kernel does, and why they stand for it.
    pub guesses: Vec<(String, String)>,
}

impl Protection<'_> {
    /// Where it lies, each place once.
    pub fn lies(&self) -> Vec<Lies> {
        let mut places = Vec::new();
        for place in self.doings.iter().flat_map(|doing| doing.lies) {
            if !places.contains(place) {
                places.push(*place);
            }
        }
        places
    }

    /// Its price in words: what is known of each setting, or `-` and the command that measures it.
    pub fn costs(&self) -> String {
        let guess = |price: &Price| {
            let of = self.guesses.iter().find(|(setting, _)| *setting == price.setting);
            of.map(|(_, why)| format!(" (it stands for this by a guess: {why})")).unwrap_or_default()
        };
        let of = |price: &&Price| format!("{}: {}{}", price.setting, price.words, guess(price));
        let known: Vec<String> = self.prices.iter().map(of).collect();
        let has_settings = self.doings.iter().any(|doing| !doing.settings.is_empty());
        match known.is_empty() {
            false => format!("{}.", known.join("; ")),
            true if has_settings => {
                "- (kentry bill --profile like-here counts it, and times it where KVM runs ring 0 natively)."
                    .into()
            }
            true if self.lies() == [Lies::Nowhere] => {
                "- (no instruction of a path is known to belong to it).".into()
            }
            true if self.fault.name == "spec_store_bypass" => {
                "- (kentry tax --layer ssbd measures it in a program).".into()
            }
            true => "- (kentry measures no path on which it lies).".into(),
        }
    }
}

/// The table: a row for each fault that this kernel knows, in the order of [`PROTECTED_FAULTS`].
pub fn protections(checkup: &Checkup) -> Vec<Protection<'_>> {
    let environment = &checkup.run.environment;
    let like = crate::like_here(environment);
    let guesses: Vec<(String, String)> = like
        .steps
        .iter()
        .filter_map(|step| Some((step.setting.to_string(), step.guessed.clone()?)))
        .collect();
    let row = |fault: &'static ProtectedFault| {
        let says = environment.mitigations.get(fault.name)?.as_str();
        let state = State::of(says);
        let doings: Vec<&Doing> = match state.stands {
            Stands::NotAffected => Vec::new(),
            _ => fault.doings.iter().filter(|doing| state.says(doing.says)).collect(),
        };
        let is_used = |price: &&Price| {
            let is_its = doings.iter().any(|doing| doing.settings.contains(&price.setting.as_str()));
            is_its && like.steps.iter().any(|step| step.setting.to_string() == price.setting)
        };
        let prices = checkup.prices.iter().filter(is_used).collect();
        let needed = needed(state.stands);
        Some(Protection {
            fault,
            says,
            stands: state.stands,
            needed,
            doings,
            prices,
            guesses: guesses.clone(),
        })
    };
    PROTECTED_FAULTS.iter().filter_map(row).collect()
}

/// By the kernel's word: it says of a processor that is spared that it is not affected.
fn needed(stands: Stands) -> Option<bool> {
    match stands {
        Stands::NotAffected => Some(false),
        Stands::Mitigated | Stands::Open => Some(true),
        Stands::NotKnown => None,
    }
}

/// The settings of the lab whose prices a checkup needs: those that this kernel is like, and that a protection stands for.
pub fn priced_settings(environment: &Environment) -> Vec<Setting> {
    let is_priced = |setting: &Setting| {
        let name = setting.to_string();
        let mut doings = PROTECTED_FAULTS.iter().flat_map(|fault| fault.doings);
        doings.any(|doing| doing.settings.contains(&name.as_str()))
    };
    settings_here(environment).into_iter().filter(is_priced).collect()
}

fn settings_here(environment: &Environment) -> Vec<Setting> {
    crate::like_here(environment).steps.into_iter().map(|step| step.setting).collect()
}

/// Whether the table of the lab has the settings that the faults' table names.
#[cfg(test)]
pub(super) fn unknown_settings(table: &Table) -> Vec<&'static str> {
    let settings = PROTECTED_FAULTS.iter().flat_map(|fault| fault.doings).flat_map(|doing| doing.settings);
    let is_known = |setting: &str| {
        let (name, value) = setting.split_once('=')?;
        table.switch(name)?.value(value)
    };
    settings.copied().filter(|setting| is_known(setting).is_none()).collect()
}

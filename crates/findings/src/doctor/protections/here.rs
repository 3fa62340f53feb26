//! What this kernel does about each fault, with the price of it.

use super::force::{InForce, settings_here};
use crate::facts::list;
use crate::faults::{Doing, Lies, PROTECTED_FAULTS, ProtectedFault, When};
use crate::faults::{Stands, State};
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
    /// What that costs, as far as it is known. A price that faults share stands with the first of them alone.
    pub prices: Vec<&'a Price>,
    /// Settings whose price stands with an earlier fault, which shares them.
    pub elsewhere: Vec<(&'static str, &'static ProtectedFault)>,
    /// Other faults for which the kernel does a part of the same: as long as one of them is closed, that is done.
    pub shared_with: Vec<&'static ProtectedFault>,
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

    /// Its price in words: what is known of each setting, or `-` and the command that measures it; and what could be had back for what.
    pub fn costs(&self) -> String {
        let known: Vec<String> = [self.priced(), self.priced_elsewhere()].concat();
        let unpriced = self.unpriced();
        let price = match known.is_empty() {
            false if unpriced.is_empty() => known.join("; "),
            false => format!("{}; no price is known of {}", known.join("; "), list(&unpriced)),
            true => format!("- ({})", self.why_unknown()),
        };
        match self.given_back(!known.is_empty()) {
            Some(back) => format!("{price}; {back}."),
            None => format!("{price}."),
        }
    }

    fn priced(&self) -> Vec<String> {
        let guess = |price: &Price| {
            let of = self.guesses.iter().find(|(setting, _)| *setting == price.setting);
            of.map(|(_, why)| format!(" (it stands for this by a guess: {why})")).unwrap_or_default()
        };
        self.prices
            .iter()
            .map(|price| format!("{}: {}{}", price.setting, price.words, guess(price)))
            .collect()
    }

    fn priced_elsewhere(&self) -> Vec<String> {
        let of = |(setting, first): &(&str, &ProtectedFault)| {
            format!("{setting}: once for this and {}, where its price stands", first.short())
        };
        self.elsewhere.iter().map(of).collect()
    }

    /// What costs something, and has no price here.
    fn unpriced(&self) -> Vec<String> {
        let has_price = |doing: &Doing| {
            doing.settings.iter().any(|setting| {
                let is_here = self.prices.iter().any(|price| price.setting == *setting);
                is_here || self.elsewhere.iter().any(|(known, _)| known == setting)
            })
        };
        let costly = self.doings.iter().filter(|doing| doing.lies != [Lies::Nowhere] && !has_price(doing));
        costly.map(|doing| doing.named.to_owned()).collect()
    }

    fn why_unknown(&self) -> &'static str {
        if self.doings.iter().any(|doing| !doing.settings.is_empty()) {
            "kentry bill --profile like-here counts it"
        } else if self.lies() == [Lies::Nowhere] {
            "no instruction of a path is known to belong to it"
        } else if self.fault.name == "spec_store_bypass" {
            "kentry tax --layer ssbd measures it in a program"
        } else {
            "kentry measures no path on which it lies"
        }
    }

    /// What booting without it would save, and open: a trade, and no remedy. Where faults share what is done, all must be left open.
    fn given_back(&self, is_priced: bool) -> Option<String> {
        let is_taken = |doing: &&&Doing| doing.when != When::BuiltIn && doing.lies != [Lies::Nowhere];
        let taken: Vec<String> =
            self.doings.iter().filter(is_taken).map(|doing| doing.named.to_owned()).collect();
        let own = self.fault.off.filter(|_| !taken.is_empty())?;
        let others = self.shared_with.iter().filter_map(|fault| fault.off);
        let words: Vec<String> = std::iter::once(own).chain(others).map(str::to_owned).collect();
        let (together, faults) =
            if words.len() == 1 { ("", "the fault") } else { (" together", "these faults") };
        let stays = self.doings.iter().any(|doing| doing.when == When::BuiltIn);
        let what = match (stays, is_priced) {
            (true, _) => format!("at most {}", list(&taken)),
            (false, true) => "at most that".into(),
            (false, false) => "what it costs".into(),
        };
        let (words, given_up) = (list(&words), self.fault.given_up);
        Some(format!("{words}{together} would save {what}, and open {faults}, which gives up {given_up}"))
    }
}

/// The table: a row for each fault that this kernel knows, in the order of [`PROTECTED_FAULTS`].
pub fn protections(checkup: &Checkup) -> Vec<Protection<'_>> {
    let environment = &checkup.run.environment;
    let force = InForce::of(environment);
    let guesses: Vec<(String, String)> = crate::like_here(environment)
        .steps
        .iter()
        .filter_map(|step| Some((step.setting.to_string(), step.guessed.clone()?)))
        .collect();
    let all: Vec<(&'static ProtectedFault, Vec<&'static Doing>)> =
        PROTECTED_FAULTS.iter().map(|fault| (fault, force.doings(fault))).collect();
    let row = |(place, (fault, doings)): (usize, &(&'static ProtectedFault, Vec<&'static Doing>))| {
        let says = environment.mitigations.get(fault.name)?.as_str();
        let stands = State::of(says).stands;
        let settings: Vec<&'static str> = settings(doings).filter(|setting| force.is_like(setting)).collect();
        let earlier = |setting: &str| {
            let mut before = all.iter().take(place);
            before.find(|(_, doings)| self::settings(doings).any(|known| known == setting))
        };
        let price = |setting: &&str| checkup.prices.iter().find(|price| price.setting == **setting);
        let elsewhere = settings.iter().filter(|setting| price(setting).is_some());
        let elsewhere: Vec<_> =
            elsewhere.filter_map(|setting| Some((*setting, earlier(setting)?.0))).collect();
        let own = settings.iter().filter(|setting| earlier(setting).is_none());
        Some(Protection {
            fault,
            says,
            stands,
            needed: needed(stands),
            doings: doings.clone(),
            prices: own.filter_map(price).collect(),
            elsewhere,
            shared_with: shared_with(fault, doings, &all),
            guesses: guesses.clone(),
        })
    };
    all.iter().enumerate().filter_map(row).collect()
}

fn settings<'a>(doings: &'a [&'static Doing]) -> impl Iterator<Item = &'static str> + 'a {
    doings.iter().flat_map(|doing| doing.settings).copied()
}

/// The other faults for which one of these things is done, too, if it costs anything.
fn shared_with(
    fault: &ProtectedFault,
    doings: &[&'static Doing],
    all: &[(&'static ProtectedFault, Vec<&'static Doing>)],
) -> Vec<&'static ProtectedFault> {
    let costly = |doings: &[&'static Doing]| -> Vec<&'static str> {
        let costly = doings.iter().filter(|doing| doing.lies != [Lies::Nowhere]);
        costly.flat_map(|doing| doing.settings).copied().collect()
    };
    let own = costly(doings);
    let shares = |doings: &[&'static Doing]| costly(doings).iter().any(|setting| own.contains(setting));
    let others = all.iter().filter(|(other, doings)| other.name != fault.name && shares(doings));
    others.map(|(other, _)| *other).collect()
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

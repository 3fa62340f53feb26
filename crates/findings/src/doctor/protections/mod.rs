//! What the kernel does about the processor's faults, and what that costs here.

mod boot;
mod faults;
mod guest;
mod here;
mod state;

pub use faults::{Doing, Lies, PROTECTED_FAULTS, ProtectedFault};
pub use here::{Protection, priced_settings, protections};
pub use state::Stands;

use crate::doctor::CheckupFacts;
use crate::facts::list;
use crate::id::Id;
use document::{Figure, Finding, Level, PriceSource, PriceUnit, Unit};
use environment::Environment;
use state::State;

/// The findings that are made here; `mitigations` and `pti` are made of every run, too.
#[cfg(test)]
pub(crate) const IDS: [Id; 5] = [Id::Protection, Id::GuestProcessor, Id::BootWords, Id::Fred, Id::Preemption];

pub(crate) fn findings(facts: &CheckupFacts) -> Vec<Finding> {
    if !facts.run.are_of_one_linux() {
        return Vec::new();
    }
    let environment = &facts.run.document.environment;
    let Some(checkup) = facts.checkup else { return Vec::new() };
    let table = protections(checkup);
    let mut found = crate::mitigations::findings(&facts.run);
    for finding in found.iter_mut().filter(|finding| finding.id == Id::Mitigations.name()) {
        finding.remedy = open(environment, &table).or(finding.remedy.take());
    }
    let costly = table.iter().filter(|protection| !protection.doings.is_empty());
    found.extend(costly.map(protection));
    found.extend(guest::findings(environment));
    found.extend(boot::findings(environment));
    found
}

/// What is done about one fault, and its price.
fn protection(protection: &Protection) -> Finding {
    let fault = protection.fault;
    let does: Vec<String> = protection.doings.iter().map(|doing| doing.what.to_owned()).collect();
    let lies: Vec<String> = protection.lies().iter().map(|place| place.words().to_owned()).collect();
    let partly = if protection.stands == Stands::Open { ", and says that this is not enough" } else { "" };
    let verdict =
        format!("{}: this kernel {}{partly}. It lies on {}.", fault.called, list(&does), list(&lies));
    let spends = lies.iter().any(|place| place != Lies::Nowhere.words());
    let remedy = fault
        .off
        .filter(|_| spends)
        .map(|off| format!("Booting with {off} would give this back, and give up {}.", fault.given_up));
    Finding {
        evidence: Some(format!("{}: {}", fault.name, protection.says)),
        cause: Some(match protection.needed {
            Some(true) => {
                format!(
                    "The kernel says that this processor has the fault. It concerns {}.",
                    fault.processors
                )
            }
            _ => "The kernel does not know whether this processor has the fault.".into(),
        }),
        costs: Some(protection.costs()),
        remedy,
        next: Some(format!("kentry explain {}", fault.name)),
        figures: figures(protection),
        ..Id::Protection.finding(Level::Ok, verdict)
    }
}

/// Prices, for programs: core cycles where they were timed, and instructions elsewhere.
fn figures(protection: &Protection) -> Vec<Figure> {
    let of = |price: &&document::Price| {
        let value = price.amount.filter(|amount| amount.is_finite())?;
        let (name, unit) = match (price.unit, price.source) {
            (PriceUnit::Cycles, PriceSource::Timed) => ("protection_cost", Unit::Cycles),
            (PriceUnit::Instructions, _) => ("protection_instructions", Unit::Count),
            _ => return None,
        };
        let labels = [("fault", protection.fault.name), ("setting", price.setting.as_str())];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Some(Figure { name: name.into(), labels, unit, value })
    };
    protection.prices.iter().filter_map(of).collect()
}

/// What closes each fault that is open here, by name: another word at boot, or what the processor does not show.
fn open(environment: &Environment, table: &[Protection]) -> Option<String> {
    let open = table.iter().filter(|protection| protection.stands == Stands::Open);
    let each: Vec<String> = open.filter_map(|protection| closing(environment, protection)).collect();
    (!each.is_empty()).then(|| format!("{}. Expect higher figures then.", each.join("; ")))
}

fn closing(environment: &Environment, protection: &Protection) -> Option<String> {
    let fault = protection.fault;
    let line = environment.kernel.command_line.as_deref().unwrap_or_default();
    let words = environment::command_line_words(line);
    let asked = words.iter().find(|word| **word == "mitigations=off" || fault.off == Some(**word));
    if let Some(word) = asked {
        return Some(format!("{}: boot without {word}", fault.name));
    }
    let has = |flag: &&str| environment.cpu.flags.iter().any(|known| known == flag);
    let lacks_all = !fault.needs.is_empty() && !fault.needs.iter().any(has);
    let no_microcode = State::of(protection.says).says(&["no microcode"]);
    if !lacks_all && !no_microcode {
        return None;
    }
    let flags =
        if lacks_all { format!(" ({})", fault.needs.join(", ").to_uppercase()) } else { String::new() };
    Some(match environment.hypervisor.present {
        true => format!("{}: the hypervisor must show what the remedy needs{flags}", fault.name),
        false => format!(
            "{}: the processor lacks what the remedy needs{flags}; a microcode update may bring it",
            fault.name
        ),
    })
}

#[cfg(test)]
mod tests;

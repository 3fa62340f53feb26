//! What the kernel does about the processor's faults, and what that costs here.

mod boot;
mod force;
mod guest;
mod here;

pub use crate::faults::{Doing, Lies, PROTECTED_FAULTS, ProtectedFault, Stands, When};
pub use here::{Protection, priced_settings, protections};

use crate::doctor::CheckupFacts;
use crate::facts::list;
use crate::faults::{SRSO, State};
use crate::id::Id;
use document::{Figure, Finding, Level, PriceSource, PriceUnit, Unit};
use environment::Environment;

pub(crate) use force::InForce;

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
    let (done, left): (Vec<&Protection>, Vec<&Protection>) =
        table.iter().partition(|protection| !protection.doings.is_empty());
    let half: Vec<&str> =
        done.iter().filter(|protection| protection.is_half()).map(|half| half.fault.name).collect();
    let mut found = crate::mitigations::findings_beside(&facts.run, &half);
    for finding in found.iter_mut().filter(|finding| finding.id == Id::Mitigations.name()) {
        finding.remedy = open(environment, &left).or(finding.remedy.take());
    }
    found.extend(done.into_iter().map(|done| protection(environment, done)));
    found.extend(guest::findings(environment));
    found.extend(boot::findings(environment));
    found
}

impl Protection<'_> {
    /// Something is done, and the kernel calls it open all the same. Only this finding names it then.
    fn is_half(&self) -> bool {
        self.stands == Stands::Open && !self.doings.is_empty()
    }
}

/// What is done about one fault, and its price.
fn protection(environment: &Environment, protection: &Protection) -> Finding {
    let fault = protection.fault;
    let does: Vec<String> = protection.doings.iter().map(|doing| doing.what.to_owned()).collect();
    let lies: Vec<String> = protection.lies().iter().map(|place| place.words().to_owned()).collect();
    let half = protection.is_half();
    let partly = match (half, fault.needs) {
        (false, _) => String::new(),
        (true, Some(needs)) if State::of(protection.says).lacks_microcode() => {
            format!("; the microcode half ({needs}) is missing, so the kernel calls this vulnerable")
        }
        (true, _) => "; it calls this vulnerable all the same".into(),
    };
    let verdict =
        format!("{}: this kernel {}{partly}. It lies on {}.", fault.called, list(&does), list(&lies));
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
        remedy: if half { open(environment, &[protection]) } else { None },
        next: Some(format!("kentry explain {}", fault.name)),
        figures: figures(protection),
        ..Id::Protection.finding(if half { Level::Note } else { Level::Ok }, verdict)
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
fn open(environment: &Environment, table: &[&Protection]) -> Option<String> {
    let open = table.iter().filter(|protection| protection.stands == Stands::Open);
    let each: Vec<(&Protection, String)> =
        open.filter_map(|protection| Some((*protection, closing(environment, protection)?))).collect();
    let dearer = each.iter().any(|(protection, _)| protection.is_dearer_closed());
    let each: Vec<String> = each.into_iter().map(|(_, how)| how).collect();
    let dearer = if dearer { " System calls would then cost more." } else { "" };
    (!each.is_empty()).then(|| format!("{}.{dearer}", each.join("; ")))
}

impl Protection<'_> {
    /// Whether calls pay for it only when it is closed. Of safe RET without microcode they pay all already.
    fn is_dearer_closed(&self) -> bool {
        self.doings.is_empty() && self.fault.doings.iter().any(|doing| doing.is_in_a_call())
    }
}

/// What the kernel's flags of the processor tell. Other things it reads elsewhere, and says in words that it misses them.
const FLAGS: [&str; 2] = ["SSBD", "MD_CLEAR"];

/// AMD's family of Zen 5.
const ZEN_5: u32 = 0x1a;

fn closing(environment: &Environment, protection: &Protection) -> Option<String> {
    let fault = protection.fault;
    let line = environment.kernel.command_line.as_deref().unwrap_or_default();
    let words = environment::command_line_words(line);
    let asked = words.iter().find(|word| **word == "mitigations=off" || fault.off == Some(**word));
    if let Some(word) = asked {
        return Some(format!("{}: boot without {word}", fault.name));
    }
    let cpu = &environment.cpu;
    let has = |name: &str| {
        let flags = cpu.flags.iter().chain(cpu.kernel_flags.iter().flatten());
        flags.into_iter().any(|known| known.eq_ignore_ascii_case(name))
    };
    let lacks = fault.needs.is_some_and(|needs| FLAGS.contains(&needs) && !has(needs));
    if !lacks && !State::of(protection.says).lacks_microcode() {
        return None;
    }
    let needs = fault.needs.map(|needs| format!(" ({needs})")).unwrap_or_default();
    let is_zen_5 = cpu.vendor.as_deref() == Some("AuthenticAMD") && cpu.family == Some(ZEN_5);
    let or = if is_zen_5 && fault.name == SRSO {
        "; with SRSO_USER_KERNEL_NO, which Zen 5 has, the kernel leaves safe RET out, and calls cost less"
    } else {
        ""
    };
    Some(match environment.hypervisor.present {
        true => format!("{}: the hypervisor must show what the remedy needs{needs}{or}", fault.name),
        false => format!(
            "{}: the processor lacks what the remedy needs{needs}; a microcode update may bring it{or}",
            fault.name
        ),
    })
}

#[cfg(test)]
mod tests;

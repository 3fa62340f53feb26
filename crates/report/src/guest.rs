//! What stands above the rows of a Linux that was booted in guests: which kernels, on which machine, and what the figures are.

use crate::configuration::{common, written};
use crate::fact::{Fact, fact, figures};
use crate::figure::ABSENT;
use crate::machine;
use document::{Document, KERNEL};
use environment::{Guest, GuestKernel};

/// The guest of a document, if that booted Linux.
pub(crate) fn of(document: &Document) -> Option<&Guest> {
    document.environment.guest.as_ref().filter(|guest| !guest.kernels.is_empty())
}

/// Whether what the environment says holds for all rows: one configuration was booted, and told of itself.
pub(crate) fn is_one(guest: &Guest) -> bool {
    matches!(&guest.kernels[..], [only] if only.outcome == "ok")
}

/// What the figures are from.
pub(crate) fn facts(document: &Document, guest: &Guest) -> Vec<Fact> {
    let mut facts = vec![
        fact("kernel", kernels(document, guest)),
        fact("guest", machine_of(guest)),
        fact("figures", figures(document).to_owned()),
    ];
    let parameters = common(document, |name| name != KERNEL);
    facts.extend((!parameters.is_empty()).then(|| fact("parameters", parameters)));
    let unverified = unverified(guest);
    facts.extend((!unverified.is_empty()).then(|| fact("unverified", unverified)));
    facts
}

/// Each kernel once: `Linux 6.1.0-56-cloud-amd64, Linux 6.12.100`.
fn kernels(document: &Document, guest: &Guest) -> String {
    if is_one(guest) {
        return machine::kernel(&document.environment.kernel);
    }
    let mut names: Vec<String> = Vec::new();
    for kernel in &guest.kernels {
        let name =
            if kernel.release.is_empty() { kernel.file.clone() } else { format!("Linux {}", kernel.release) };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// What the guests were given and nothing in them confirms: `l1tf=off: nothing in the guest confirms it`. Empty where there is nothing.
pub fn unverified(guest: &Guest) -> String {
    let mut all: Vec<&str> = Vec::new();
    for setting in guest.kernels.iter().flat_map(|kernel| &kernel.unverified) {
        if !all.contains(&setting.as_str()) {
            all.push(setting);
        }
    }
    match all.as_slice() {
        [] => String::new(),
        [one] => format!("{one}: nothing in the guest confirms it"),
        several => format!("{}: nothing in the guests confirms them", several.join(", ")),
    }
}

fn machine_of(guest: &Guest) -> String {
    let mut models: Vec<&str> = Vec::new();
    for model in guest.kernels.iter().map(|kernel| kernel.cpu_model.as_str()) {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    let boots = guest.kernels.iter().map(|kernel| kernel.boots.len()).max().unwrap_or(0);
    let boots = if boots > 1 { format!("; {boots} boots of each configuration") } else { String::new() };
    let (models, plural) = (models.join(" or "), if models.len() > 1 { "s" } else { "" });
    format!("{} with {}, CPU model{plural} {models}{boots}", guest.emulator, guest.accelerator.to_uppercase())
}

/// Only in verbose heads: how each was booted.
pub(crate) fn more(guest: &Guest) -> Vec<Fact> {
    let of_kernel = |kernel: &GuestKernel| {
        let settings = written(kernel.settings.iter());
        let settings = if settings.is_empty() { String::new() } else { format!("{settings}: ") };
        let reason = kernel.reason.as_ref().map(|reason| format!("; {}: {reason}", kernel.outcome));
        let seeds: Vec<String> = kernel.boots.iter().map(|boot| boot.seed.to_string()).collect();
        let seeds = match seeds.as_slice() {
            [] => format!("seed {ABSENT}"),
            [one] => format!("seed {one}"),
            several => format!("seeds {}", several.join(", ")),
        };
        let text = format!(
            "{settings}{} with \"{}\" on {}, {seeds}{}",
            kernel.file,
            kernel.command_line,
            kernel.cpu_model,
            reason.unwrap_or_default()
        );
        let console = kernel.console.iter().map(|line| fact("console", line.clone()));
        std::iter::once(fact("boot", text)).chain(console).collect::<Vec<_>>()
    };
    let came_up = format!("{:.0} ms to the first record", guest.boot_to_first_record_ms);
    std::iter::once(fact("first boot", came_up)).chain(guest.kernels.iter().flat_map(of_kernel)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_confirms_is_told_once() {
        let kernel = |unverified: &[&str]| GuestKernel {
            unverified: unverified.iter().map(|setting| setting.to_string()).collect(),
            ..GuestKernel::default()
        };
        let told = |kernels: Vec<GuestKernel>| unverified(&Guest { kernels, ..Guest::default() });
        assert_eq!(told(vec![kernel(&[])]), "");
        let one = "l1tf=off: nothing in the guest confirms it";
        assert_eq!(told(vec![kernel(&["l1tf=off"]), kernel(&["l1tf=off"])]), one);
        let two = "l1tf=off, audit=on: nothing in the guests confirms them";
        assert_eq!(told(vec![kernel(&["l1tf=off", "audit=on"])]), two);
    }
}

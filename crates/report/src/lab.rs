//! What stands above the rows of a measurement in the lab: which machine it was, and what its figures are.

use crate::configuration::{common, written};
use crate::figure::ABSENT;
use crate::head::{Fact, fact, is_counted};
use document::{Document, Machine};
use environment::Lab;

/// The facts that only the lab has.
pub(crate) fn facts(document: &Document, lab: &Lab) -> Vec<Fact> {
    vec![
        fact("lab", machine(document, lab)),
        fact("figures", figures(document).to_owned()),
        fact("ring 0", ring0(lab, is_counted(document))),
        fact("switches", switches(document, lab)),
    ]
}

/// What all rows have in common; what differs stands at the rows. Documents of schema 1 name in a row only what was set.
fn switches(document: &Document, lab: &Lab) -> String {
    let differs = |name: &str| document.results.iter().any(|row| row.configuration.contains_key(name));
    let defaults = lab.switches.iter().filter(|(name, _)| !differs(name));
    let all = [common(document), written(defaults)];
    let all: Vec<String> = all.into_iter().filter(|words| !words.is_empty()).collect();
    if all.is_empty() { ABSENT.to_owned() } else { all.join(" ") }
}

/// Only in verbose heads.
pub(crate) fn more(lab: &Lab) -> Vec<Fact> {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| ABSENT.to_owned());
    vec![
        fact(
            "boot",
            format!("{:.0} ms to the first record, by {}", lab.boot_to_first_record_ms, known(&lab.loader)),
        ),
        fact("gateway", known(&lab.gateway)),
        fact("memory", format!("{} MiB for programs", lab.memory >> 20)),
    ]
}

fn machine(document: &Document, lab: &Lab) -> String {
    let version = document.environment.kernel.release.as_deref().unwrap_or(ABSENT);
    let features = if lab.features.is_empty() { "none".to_owned() } else { lab.features.join(" ") };
    let accelerator = match document.measurement.place.machine.known() {
        // The emulator is the program itself.
        Some(Machine::Bochs | Machine::Host) => String::new(),
        Some(Machine::QemuTcg | Machine::QemuKvm) | None => {
            format!(" with {}", lab.accelerator.to_uppercase())
        }
    };
    format!(
        "kentry's own kernel {version} in {}{accelerator}, CPU model {} ({}), features {features}",
        lab.emulator,
        lab.cpu_model,
        lab.vendor.as_deref().unwrap_or(ABSENT),
    )
}

fn figures(document: &Document) -> &'static str {
    if is_counted(document) { "instructions executed in an emulator; no times" } else { "times on hardware" }
}

/// What the kernel found when it tested whether its instructions run as a program's do.
fn ring0(lab: &Lab, is_counted: bool) -> String {
    let syscall = if lab.syscall_works { "works" } else { "does not work" };
    let unit = if is_counted { "instructions" } else { "ticks" };
    let (inner, outer) = (lab.ring0_ticks, lab.ring3_ticks);
    let verdict = if is_counted { "emulated" } else { "runs natively" };
    format!("{verdict}: a loop took {inner} {unit}, in ring 3 {outer}; syscall {syscall}")
}

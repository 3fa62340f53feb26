//! What stands above the rows of a measurement in the lab: which machine it was, and what its figures are.

use crate::configuration::{Compared, common, common_changes, written};
use crate::fact::{Fact, fact, figures, is_counted};
use crate::figure::ABSENT;
use document::{Document, Machine};
use environment::{Guest, Lab, LabCounters, Ring0, Verdict};

/// The facts that only the lab has.
pub(crate) fn facts(document: &Document, lab: &Lab, verbose: bool) -> Vec<Fact> {
    let unknown = Guest::default();
    let guest = document.environment.guest.as_ref().unwrap_or(&unknown);
    let mut facts = vec![
        fact("lab", machine(document, guest, lab)),
        fact("figures", figures(document).to_owned()),
        fact("ring 0", ring0(lab, is_counted(document))),
        fact("switches", if verbose { all_switches(document, lab) } else { switches(document, lab) }),
    ];
    facts.extend(layouts(document).map(|text| fact("layout", text)));
    facts
}

/// How much of the spread between rounds is layout: the row in the middle, and the one with the most.
fn layouts(document: &Document) -> Option<String> {
    let mut rows: Vec<_> = document.results.iter().filter_map(|row| Some((row, row.spread?))).collect();
    rows.sort_by(|a, b| a.1.layout.total_cmp(&b.1.layout));
    let (middle, (row, most)) = (rows.get(rows.len() / 2)?.1, rows.last()?);
    Some(format!(
        "{} layouts; of the variance between rounds {:.0} % lies between them in the median row, at most {:.0} % ({} {})",
        most.layouts,
        100.0 * middle.layout,
        100.0 * most.layout,
        row.entry,
        row.operation,
    ))
}

/// What all rows have in common and is not by default: there are too many switches to name them all. What is compared stands at the rows, and
/// so does what an entry always runs with, as a remark.
fn switches(document: &Document, lab: &Lab) -> String {
    let changes = common_changes(document, &lab.switches);
    let columns = Compared::of_document(document).any();
    match (changes.is_empty(), columns) {
        (true, false) => "the defaults".to_owned(),
        (true, true) => "the defaults, but for what is compared".to_owned(),
        (false, _) => format!("{changes}, otherwise the defaults"),
    }
}

/// The same with the defaults that no row has otherwise.
fn all_switches(document: &Document, lab: &Lab) -> String {
    let differs = |name: &str| document.results.iter().any(|row| row.configuration.contains_key(name));
    let defaults = lab.switches.iter().filter(|(name, _)| !differs(name));
    let all = [common(document, |_| true), written(defaults)];
    let all: Vec<String> = all.into_iter().filter(|words| !words.is_empty()).collect();
    if all.is_empty() { ABSENT.to_owned() } else { all.join(" ") }
}

/// Only in verbose heads.
pub(crate) fn more(guest: Option<&Guest>, lab: &Lab) -> Vec<Fact> {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| ABSENT.to_owned());
    let came_up = guest.map(|guest| format!("{:.0}", guest.boot_to_first_record_ms));
    let mut facts = vec![
        fact("boot", format!("{} ms to the first record, by {}", known(&came_up), known(&lab.loader))),
        fact("gateway", known(&lab.gateway)),
        fact("memory", format!("{} MiB for programs", lab.memory >> 20)),
        fact("microcode", known(&lab.microcode)),
        fact("processors", processors(lab.processors)),
    ];
    let steps = Some(steps(&lab.ring0)).filter(|steps| !steps.is_empty());
    facts.extend(steps.map(|steps| fact("steps", format!("in core cycles: {steps}"))));
    facts.extend(lab.counters.as_ref().map(|counters| fact("counters", counted(counters))));
    facts
}

fn machine(document: &Document, guest: &Guest, lab: &Lab) -> String {
    let version = document.environment.kernel.release.as_deref().unwrap_or(ABSENT);
    let features = if lab.features.is_empty() { "none".to_owned() } else { lab.features.join(" ") };
    let accelerator = match document.measurement.place.machine.known() {
        // The emulator is the program itself.
        Some(Machine::Bochs | Machine::Host) => String::new(),
        Some(Machine::QemuTcg | Machine::QemuKvm) | None => {
            format!(" with {}", guest.accelerator.to_uppercase())
        }
    };
    format!(
        "kentry's own kernel {version} in {}{accelerator}, CPU model {} ({}), features {features}",
        guest.emulator,
        guest.cpu_model,
        lab.vendor.as_deref().unwrap_or(ABSENT),
    )
}

/// What the kernel found when it tested whether its instructions run as a program's do.
fn ring0(lab: &Lab, is_counted: bool) -> String {
    let syscall = if lab.syscall_works { "works" } else { "does not work" };
    let unit = if is_counted { "instructions" } else { "ticks" };
    let (inner, outer) = (lab.ring0_ticks, lab.ring3_ticks);
    let verdict = match lab.ring0.verdict {
        _ if is_counted => "emulated",
        Verdict::Natively => "runs natively",
        Verdict::Partly => "runs natively in part",
        Verdict::Emulated => "emulated",
    };
    let costs = Some(costs(&lab.ring0)).filter(|costs| !costs.is_empty());
    let costs = costs.map(|costs| format!("; in core cycles: {costs}")).unwrap_or_default();
    format!("{verdict}: a loop took {inner} {unit}, in ring 3 {outer}; syscall {syscall}{costs}")
}

/// What tells whether the hypervisor has a hand in it.
fn costs(ring0: &Ring0) -> String {
    let cost = |name: &str, cycles: Option<f64>| Some(format!("{name} {:.0}", cycles?));
    let costs = [
        cost("mov cr3", ring0.cr3_write_cycles),
        cost("int and iretq", ring0.interrupt_cycles),
        cost("ud2 and iretq", ring0.invalid_instruction_cycles),
        cost("cpuid", ring0.cpuid_cycles),
    ];
    costs.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Those that were not started wait as firmware has left them.
fn processors(count: Option<u64>) -> String {
    match count {
        None => ABSENT.to_owned(),
        Some(1) => "1".to_owned(),
        Some(count) => format!("{count}, of which one was used; how the others waited is not known"),
    }
}

/// What steps of switches are made of.
fn steps(ring0: &Ring0) -> String {
    let cost = |name: &str, cycles: Option<f64>| Some(format!("{name} {:.0}", cycles?));
    let costs = [
        cost("mov cr4", ring0.cr4_write_cycles),
        cost("wrmsr SPEC_CTRL", ring0.spec_ctrl_write_cycles),
        cost("PRED_CMD", ring0.pred_cmd_write_cycles),
        cost("FLUSH_CMD", ring0.flush_cmd_write_cycles),
        cost("invpcid", ring0.invpcid_cycles),
        cost("invlpg", ring0.invlpg_cycles),
    ];
    costs.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What the processor counted, where it did.
fn counted(counters: &LabCounters) -> String {
    let count = |name: &str, count: Option<u64>| Some(format!("{name} {}", count?));
    let clock = counters.cycles_per_tick.map(|clock| format!("core cycles in a tick {clock:.4}"));
    let values = counters.spec_ctrl.as_ref().map(|values| format!("SPEC_CTRL {}", values.join(" or ")));
    let counts = [
        clock,
        count("instructions", counters.instructions),
        count("core cycles", counters.core_cycles),
        count("SMIs", counters.smis),
        values,
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    format!("in {} rounds: {}", counters.rounds, counts.join(", "))
}

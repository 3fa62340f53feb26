//! Whether the lab's times are the processor's.

use crate::facts::{Facts, count, list};
use crate::id::Id;
use document::{Counter, Finding, Level};
use environment::{Lab, Ring0, Trapped};

/// How far core cycles by the processor's own counter may lie outside of the range of those by the chain, as a part of them.
const TOLERANCE: f64 = 0.02;

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    let is_timed = facts.document.counter() == Counter::Time;
    let Some(lab) = facts.document.environment.lab.as_ref().filter(|_| is_timed) else {
        return Vec::new();
    };
    [ring0(&lab.ring0), cycle_counter(facts, lab), smi(lab)].into_iter().flatten().collect()
}

/// KVM looks at every invalid instruction first, so that this alone is no reason to warn.
fn ring0(ring0: &Ring0) -> Option<Finding> {
    if ring0.trapped.is_empty() {
        return None;
    }
    let words = |words: fn(Trapped) -> &'static [&'static str]| -> String {
        let words = ring0.trapped.iter().flat_map(|what| words(*what));
        list(&words.map(|word| (*word).to_owned()).collect::<Vec<_>>())
    };
    let (what, whose) = (words(named), words(rows));
    let others = ring0.trapped.iter().any(|what| *what != Trapped::InvalidInstructions);
    let verdict = format!("The hypervisor handles {what} itself: times of {whose} are mostly its own.");
    let finding = Id::Ring0.finding(if others { Level::Warning } else { Level::Note }, verdict);
    let finding = Finding { evidence: Some(costs(ring0)), ..finding };
    if ring0.traps(Trapped::Cr3Writes) {
        return Some(Finding {
            cause: Some(of_cr3(ring0)),
            remedy: Some(
                "Measure where /sys/module/kvm_intel/parameters/ept or kvm_amd/parameters/npt is on, or boot the image (kentry \
                 lab --iso FILE) on the machine itself."
                    .to_owned(),
            ),
            ..finding
        });
    }
    let remedy = "Boot the image (kentry lab --iso FILE) on the machine itself for these rows.";
    Some(Finding { remedy: Some(remedy.to_owned()), ..finding })
}

/// Why writes of CR3 may leave the guest, and what is known of it. With shadow page tables, invlpg leaves it, too.
fn of_cr3(ring0: &Ring0) -> String {
    let shadow = "KVM without EPT or NPT, or inside of a virtual machine that offers neither";
    let likely = match ring0.nested_paging {
        Some(true) => {
            return "Likely a hypervisor below this machine's, or an emulated processor: this machine's KVM says that EPT or NPT is on, \
                    with which it leaves CR3 to its guests."
                .to_owned();
        }
        Some(false) => {
            return "Shadow page tables: this machine's KVM says that EPT or NPT is off.".to_owned();
        }
        None => format!("Likely shadow page tables: {shadow}; this machine does not say which it has"),
    };
    match ring0.invlpg_cycles {
        Some(_) if ring0.traps(Trapped::Invlpg) => format!("{likely}, but invlpg leaves the guest, too."),
        Some(_) => format!("{likely}, and invlpg, which would leave the guest then, does not."),
        None => format!("{likely}."),
    }
}

fn named(what: Trapped) -> &'static [&'static str] {
    match what {
        Trapped::Cr3Writes => &["writes of CR3"],
        Trapped::Interrupts => &["interrupts"],
        Trapped::InvalidInstructions => &["invalid instructions"],
        Trapped::Cr4Writes => &["writes of CR4"],
        Trapped::SpecCtrlWrites => &["writes of SPEC_CTRL"],
        Trapped::PredCmdWrites => &["IBPBs"],
        Trapped::FlushCmdWrites => &["flushes of the first data cache"],
        Trapped::Invpcid => &["invpcid"],
        Trapped::Invlpg => &["invlpg"],
    }
}

fn one(what: Trapped) -> &'static str {
    match what {
        Trapped::Cr3Writes => "a write of CR3",
        Trapped::Interrupts => "an interrupt and its return",
        Trapped::InvalidInstructions => "an invalid instruction",
        Trapped::Cr4Writes => "a write of CR4",
        Trapped::SpecCtrlWrites => "a write of SPEC_CTRL",
        Trapped::PredCmdWrites => "an IBPB",
        Trapped::FlushCmdWrites => "a flush of the first data cache",
        Trapped::Invpcid => "invpcid",
        Trapped::Invlpg => "invlpg",
    }
}

/// The rows that do this.
fn rows(what: Trapped) -> &'static [&'static str] {
    match what {
        Trapped::Cr3Writes => &["pti=on", "page faults"],
        Trapped::Interrupts => &["gates", "exceptions", "exit=iret"],
        Trapped::InvalidInstructions => &["ud", "lock-nop"],
        Trapped::Cr4Writes => &["flush-by=pge"],
        Trapped::SpecCtrlWrites => &["ibrs=on"],
        Trapped::PredCmdWrites => &["ibpb=on", "entry-ibpb=on"],
        Trapped::FlushCmdWrites => &["l1d-flush=on"],
        Trapped::Invpcid => &["flush-by=invpcid"],
        Trapped::Invlpg => &["flush-by=invlpg"],
    }
}

fn costs(ring0: &Ring0) -> String {
    let cost = |name: &str, cycles: Option<f64>| Some(format!("{name} {:.0}", cycles?));
    let costs = [
        cost("a write of CR3 took", ring0.cr3_write_cycles),
        cost("an interrupt and its return", ring0.interrupt_cycles),
        cost("an invalid instruction", ring0.invalid_instruction_cycles),
        cost("cpuid, which leaves the guest,", ring0.cpuid_cycles),
    ];
    // Of what steps are made of, those that have rows here.
    let steps = ring0.trapped.iter().filter(|what| !what.settings().is_empty());
    let steps = steps.filter_map(|what| cost(one(*what), ring0.cycles(*what)));
    let costs: Vec<String> = costs.into_iter().flatten().chain(steps).collect();
    format!("in core cycles: {}", list(&costs))
}

/// Compares the two ways to tell the core's clock, which have nothing in common but the core.
fn cycle_counter(facts: &Facts, lab: &Lab) -> Option<Finding> {
    let counted = lab.counters.as_ref()?.cycles_per_tick?;
    let [low, high] = facts.document.measurement.cycles_per_tick_range?;
    if counted >= low * (1.0 - TOLERANCE) && counted <= high * (1.0 + TOLERANCE) {
        return None;
    }
    let verdict =
        "The processor's cycle counter contradicts the chain of imuls: do not quote core cycles of this run.";
    Some(Finding {
        evidence: Some(format!(
            "{counted:.4} core cycles in a tick by the counter, {low:.4} to {high:.4} by the chain"
        )),
        cause: Some(
            "A processor that takes another number of cycles for an imul, a counter that a hypervisor makes up, or a clock that \
             changed between the samples and the rest of a round."
                .to_owned(),
        ),
        remedy: Some("Use ticks or nanoseconds.".to_owned()),
        ..Id::CycleCounter.finding(Level::Warning, verdict)
    })
}

fn smi(lab: &Lab) -> Option<Finding> {
    let counters = lab.counters.as_ref().filter(|counters| counters.rounds_lost > 0)?;
    let lost = count(counters.rounds_lost as usize, "round was", "rounds were");
    Some(Finding {
        evidence: Some(format!("{} in {} rounds", counters.smis.unwrap_or(0), counters.rounds)),
        cause: Some("The firmware takes the processor away by system management interrupts.".to_owned()),
        ..Id::Smi.finding(
            Level::Note,
            format!("{lost} left out because a system management interrupt fell into each."),
        )
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::testing::{Maker, found};
    use document::{Machine, Place};
    use environment::LabCounters;
    use table::Kernel;

    fn trapped(trapped: &[Trapped]) -> Option<Finding> {
        let cycles = (Some(2900.2), Some(640.0), Some(1300.0));
        let (cr3_write_cycles, interrupt_cycles, cpuid_cycles) = cycles;
        let trapped = trapped.to_vec();
        let cr4_write_cycles = Some(1644.0);
        let ring0 = Ring0 {
            trapped,
            cr3_write_cycles,
            interrupt_cycles,
            cpuid_cycles,
            cr4_write_cycles,
            ..Ring0::default()
        };
        found(&Maker::lab(ring0), "ring-0")
    }

    #[test]
    fn what_the_hypervisor_does_itself_is_named_with_its_rows() {
        assert_eq!(trapped(&[]), None);
        let both = trapped(&[Trapped::Cr3Writes, Trapped::InvalidInstructions]).unwrap();
        assert_eq!(
            both.verdict,
            "The hypervisor handles writes of CR3 and invalid instructions itself: times of pti=on, page faults, ud and lock-nop \
             are mostly its own."
        );
        assert_eq!(both.level, Level::Warning);
        assert!(both.evidence.unwrap().starts_with("in core cycles: a write of CR3 took 2900, "));
        assert!(both.cause.unwrap().starts_with("Likely shadow page tables: "));
        let svm = trapped(&[Trapped::InvalidInstructions, Trapped::Cr4Writes]).unwrap();
        assert_eq!((svm.level, svm.cause), (Level::Warning, None));
        assert!(
            svm.verdict.ends_with("times of ud, lock-nop and flush-by=pge are mostly its own."),
            "{}",
            svm.verdict
        );
        assert!(svm.evidence.unwrap().ends_with(" and a write of CR4 1644"));
        let invalid = trapped(&[Trapped::InvalidInstructions]).unwrap();
        assert_eq!((invalid.level, invalid.cause), (Level::Note, None));
        assert_eq!(trapped(&[Trapped::Interrupts]).unwrap().level, Level::Warning);
    }

    #[test]
    fn a_cause_of_trapped_writes_of_cr3_is_likely_unless_kvm_says_it() {
        let cause = |nested_paging, invlpg_cycles, more: &[Trapped]| {
            let trapped = [&[Trapped::Cr3Writes], more].concat();
            let ring0 = Ring0 { trapped, nested_paging, invlpg_cycles, ..Ring0::default() };
            found(&Maker::lab(ring0), "ring-0").unwrap().cause.unwrap()
        };
        assert!(cause(Some(true), None, &[]).starts_with("Likely a hypervisor below this machine's"));
        assert!(cause(Some(false), None, &[]).starts_with("Shadow page tables: this machine's KVM says"));
        let (trapped, not) = (cause(None, Some(1400.0), &[Trapped::Invlpg]), cause(None, Some(150.0), &[]));
        assert!(
            [&trapped, &not].iter().all(|cause| cause.starts_with("Likely shadow page tables")),
            "{trapped}"
        );
        assert!(trapped.ends_with("invlpg leaves the guest, too.") && not.ends_with("does not."), "{not}");
    }

    #[test]
    fn an_emulators_lab_has_nothing_to_warn_of() {
        let mut maker = Maker::lab(Ring0 { trapped: vec![Trapped::Cr3Writes], ..Ring0::default() });
        assert!(found(&maker, "ring-0").is_some());
        maker.document.measurement.place = Place::new(Machine::QemuTcg, Kernel::Lab);
        assert_eq!(found(&maker, "ring-0"), None);
    }

    #[test]
    fn the_counter_and_the_chain_must_agree_within_two_percent() {
        let contradicts = |counted: Option<f64>, range: Option<[f64; 2]>| {
            let mut maker = Maker::lab(Ring0::default());
            let lab = maker.document.environment.lab.as_mut().unwrap();
            lab.counters = Some(LabCounters { cycles_per_tick: counted, ..LabCounters::default() });
            maker.document.measurement.cycles_per_tick_range = range;
            found(&maker, "cycle-counter").is_some()
        };
        let range = Some([1.47, 1.49]);
        assert_eq!([1.45, 1.48, 1.515].map(|counted| contradicts(Some(counted), range)), [false; 3]);
        assert_eq!([1.43, 1.53, 0.99].map(|counted| contradicts(Some(counted), range)), [true; 3]);
        assert!(!contradicts(None, range) && !contradicts(Some(1.0), None));
    }

    #[test]
    fn rounds_that_the_firmware_spoiled_are_counted() {
        let mut maker = Maker::lab(Ring0::default());
        let counters = LabCounters { rounds: 96, smis: Some(5), rounds_lost: 3, ..LabCounters::default() };
        maker.document.environment.lab.as_mut().unwrap().counters = Some(counters);
        let finding = found(&maker, "smi").unwrap();
        assert!(finding.verdict.starts_with("3 rounds were left out"), "{}", finding.verdict);
        assert_eq!(finding.evidence.as_deref(), Some("5 in 96 rounds"));
    }
}

//! Whether the processor can be timed at all, and in which units.

use crate::facts::{Facts, list};
use crate::id::Id;
use document::{Confidence, Counter, Finding, Level};
use stats::{CHAIN_TOLERANCE, IMUL_CYCLES, ORDER_TOLERANCE};

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    let all = [
        emulated(facts),
        order(facts),
        chain_ratio(facts),
        tsc_not_invariant(facts),
        tsc_contradiction(facts),
    ];
    all.into_iter().flatten().collect()
}

/// Only of a host: of a guest that was started for the measurement it is no news.
fn emulated(facts: &Facts) -> Option<Finding> {
    let is_emulated = facts.working().next().is_some() && !facts.are_times();
    if facts.document.counter() != Counter::Time || !is_emulated {
        return None;
    }
    let hypervisor = &facts.document.environment.hypervisor;
    let by = hypervisor.signature.as_ref().filter(|_| hypervisor.present);
    let by_signature = by.map(|signature| format!("the hypervisor's signature is {signature}"));
    let ratio = facts.document.measurement.chain_ratio.values().copied().reduce(f64::min);
    let by_behaviour =
        ratio.map(|ratio| format!("an imul takes as long as {ratio:.2} xors, and 3 on every processor"));
    let verdict = "This machine is emulated: outcomes are what its kernel answers, but times would be the emulator's, and are \
                   not shown.";
    Some(Finding {
        evidence: by_signature.or(by_behaviour),
        remedy: Some("Measure on hardware, or in a virtual machine that runs on it (KVM).".to_owned()),
        ..Id::Emulated.finding(Level::Warning, verdict)
    })
}

fn order(facts: &Facts) -> Option<Finding> {
    let order =
        facts.document.measurement.lfence_order.filter(|order| (order - 1.0).abs() > ORDER_TOLERANCE)?;
    let verdict = "lfence does not hold back rdtsc on this processor, so that nothing can be timed.";
    Some(Finding {
        evidence: Some(format!("chains in a row took {order:.2} of the time that they must take")),
        cause: Some("On AMD, lfence waits only where the kernel has set a bit of MSR C0011029h; emulators may ignore it.".to_owned()),
        remedy: Some("Measure on another machine, or on a kernel that makes lfence serializing.".to_owned()),
        ..Id::Order.finding(Level::Warning, verdict)
    })
}

fn chain_ratio(facts: &Facts) -> Option<Finding> {
    let ratios = facts.document.measurement.chain_ratio.iter();
    let off = ratios.filter(|(_, ratio)| (*ratio / IMUL_CYCLES - 1.0).abs() > CHAIN_TOLERANCE);
    let off: Vec<String> = off.map(|(bits, ratio)| format!("{ratio:.3} xors in {bits}-bit code")).collect();
    if off.is_empty() {
        return None;
    }
    let verdict = "Core cycles cannot be told here: use ticks or nanoseconds.";
    Some(Finding {
        evidence: Some(format!("an imul takes as long as {}; 3.00 is right", list(&off))),
        cause: Some(
            "This processor takes another number of cycles for an imul, or something disturbed the chains."
                .to_owned(),
        ),
        confidence: Confidence::Seen,
        ..Id::ChainRatio.finding(Level::Warning, verdict)
    })
}

/// Only where something was timed.
fn tsc_not_invariant(facts: &Facts) -> Option<Finding> {
    if facts.document.environment.tsc.invariant || !facts.are_times() {
        return None;
    }
    let verdict = "This processor does not promise a time stamp counter of constant rate: ticks and nanoseconds may drift, core \
                   cycles do not.";
    Some(Finding {
        evidence: Some("CPUID 80000007h EDX bit 8 is 0".to_owned()),
        cause: Some("An old processor, or a hypervisor that hides the promise.".to_owned()),
        remedy: Some("Quote core cycles.".to_owned()),
        ..Id::TscNotInvariant.finding(Level::Warning, verdict)
    })
}

/// Only where something was timed: an emulator's counter has the frequency that it was given.
fn tsc_contradiction(facts: &Facts) -> Option<Finding> {
    let tsc = facts.document.environment.lab.as_ref()?.tsc.as_ref().filter(|_| facts.are_times())?;
    let (by, other) = tsc.by.as_ref().zip(tsc.contradicted_by.as_ref())?;
    let ghz = |hertz: f64| format!("{:.3} GHz", hertz / 1e9);
    let verdict = format!(
        "The guest's time stamp counter runs at {}, or at {}: nanoseconds may be wrong by that much, core cycles are not.",
        ghz(by.hz),
        ghz(other.hz)
    );
    Some(Finding {
        evidence: Some(format!("{}: {:.0} Hz; {}: {:.0} Hz", by.source, by.hz, other.source, other.hz)),
        cause: Some(
            "The hypervisor scales the counter, or CPUID or a timer of this machine is wrong.".to_owned(),
        ),
        remedy: Some("Quote core cycles.".to_owned()),
        ..Id::TscContradiction.finding(Level::Warning, verdict)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::testing::{Maker, found};
    use document::{Level, Machine, Place, Timing};
    use environment::{Lab, LabFrequency, LabTsc};
    use table::Kernel;

    #[test]
    fn an_emulated_host_is_a_warning_and_an_emulated_guest_is_not() {
        let mut maker = Maker::host().cost("syscall-x86_64", "none", 288.0);
        assert_eq!(found(&maker, "emulated"), None);
        maker.row("syscall-x86_64", "none").timing = Timing::Emulated;
        maker.document.environment.hypervisor.present = true;
        maker.document.environment.hypervisor.signature = Some("TCGTCGTCGTCG".into());
        let finding = found(&maker, "emulated").unwrap();
        assert!(finding.evidence.unwrap().contains("TCGTCGTCGTCG"));
        maker.document.measurement.place = Place::new(Machine::QemuTcg, Kernel::Linux);
        assert_eq!(found(&maker, "emulated"), None);
        maker.document.measurement.place = Place::new(Machine::QemuKvm, Kernel::Lab);
        assert!(found(&maker, "emulated").is_some(), "KVM on an emulated processor");
    }

    #[test]
    fn chains_and_fences_are_judged_by_their_tolerance() {
        let mut maker = Maker::host();
        maker.document.measurement.chain_ratio = [("64".to_owned(), 3.003), ("32".to_owned(), 2.99)].into();
        maker.document.measurement.lfence_order = Some(0.98);
        assert_eq!(found(&maker, "chain-ratio"), None);
        assert_eq!(found(&maker, "order"), None);
        maker.document.measurement.chain_ratio.insert("32".into(), 0.142);
        maker.document.measurement.lfence_order = Some(0.31);
        let finding = found(&maker, "chain-ratio").unwrap();
        assert!(finding.evidence.unwrap().contains("0.142 xors in 32-bit code"));
        assert_eq!(found(&maker, "order").unwrap().level, Level::Warning);
    }

    #[test]
    fn a_counter_without_a_promise_matters_where_something_was_timed() {
        let mut maker = Maker::host();
        maker.document.environment.tsc.invariant = false;
        assert_eq!(found(&maker, "tsc-not-invariant"), None);
        let mut maker = maker.cost("call", "none", 8.0);
        assert!(found(&maker, "tsc-not-invariant").is_some());
        maker.document.environment.tsc.invariant = true;
        assert_eq!(found(&maker, "tsc-not-invariant"), None);
    }

    #[test]
    fn frequencies_that_contradict_each_other_are_named_where_something_was_timed() {
        let frequency = |hz, source: &str| Some(LabFrequency { hz, source: source.into() });
        let mut tsc = LabTsc { by: frequency(2e9, "plan"), contradicted_by: None, invariant: true };
        let mut maker = Maker::host().cost("call", "none", 8.0);
        let mut seen = |tsc: &LabTsc, timing| {
            maker.document.environment.lab = Some(Lab { tsc: Some(tsc.clone()), ..Lab::default() });
            maker.row("call", "none").timing = timing;
            found(&maker, "tsc-contradiction")
        };
        assert_eq!(seen(&tsc, Timing::Hardware), None);
        tsc.contradicted_by = frequency(2.4e9, "crystal");
        assert_eq!(seen(&tsc, Timing::Emulated), None);
        let finding = seen(&tsc, Timing::Hardware).unwrap();
        assert!(finding.verdict.contains("2.000 GHz, or at 2.400 GHz"), "{}", finding.verdict);
        assert_eq!(finding.evidence.as_deref(), Some("plan: 2000000000 Hz; crystal: 2400000000 Hz"));
    }
}

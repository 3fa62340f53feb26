//! A line of what stands above the rows.

use document::{Counter, Document, Outcome, Timing};

/// One line of the head.
pub(crate) struct Fact {
    pub label: &'static str,
    pub text: String,
}

pub(crate) fn fact(label: &'static str, text: String) -> Fact {
    Fact { label, text }
}

/// Whether the figures are instructions.
pub(crate) fn is_counted(document: &Document) -> bool {
    document.counter() == Counter::Instructions
}

/// What the figures of a guest are.
pub(crate) fn figures(document: &Document) -> &'static str {
    let timings = || document.results.iter().filter(|row| row.outcome == Outcome::Ok).map(|row| row.timing);
    if is_counted(document) {
        "instructions executed in an emulator; no times"
    } else if timings().next().is_some() && timings().all(|timing| timing == Timing::Emulated) {
        "none: the times would be an emulator's, in which KVM runs"
    } else {
        "times on hardware"
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use document::{Machine, Place};
    use table::Kernel;

    #[test]
    fn kvm_on_an_emulated_processor_has_no_times_on_hardware() {
        let mut document: Document =
            serde_json::from_str(include_str!("../../../fuzz/corpus/document/emulated.json")).unwrap();
        document.measurement.place = Place::new(Machine::QemuKvm, Kernel::Lab);
        document.results.iter_mut().for_each(|row| row.timing = Timing::Emulated);
        assert!(document.results.iter().any(|row| row.outcome == Outcome::Ok));
        assert!(figures(&document).starts_with("none: "));
        document.results.iter_mut().for_each(|row| row.timing = Timing::Hardware);
        assert_eq!(figures(&document), "times on hardware");
        document.results.clear();
        assert_eq!(figures(&document), "times on hardware");
    }
}

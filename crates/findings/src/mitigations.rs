//! What the kernel does about the faults of the processor: too little, or more than it must.

use crate::facts::{Facts, list};
use crate::id::Id;
use document::{Confidence, Counter, Finding, Level};

/// How the kernel's lines begin. Documentation/admin-guide/hw-vuln.
const OPEN: &str = "Vulnerable";
const SAFE: &str = "Not affected";

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    // What a guest that nobody times leaves open costs nobody anything.
    if !facts.are_of_one_linux() || facts.document.counter() == Counter::Instructions {
        return Vec::new();
    }
    open(facts).into_iter().chain(isolation(facts)).collect()
}

/// Faults that are left open: the kernel's entries are cheaper than those of a kernel that closes them.
fn open(facts: &Facts) -> Option<Finding> {
    let environment = &facts.document.environment;
    let open = environment.mitigations.iter().flat_map(|(name, state)| {
        open_parts(name, state).into_iter().map(move |part| (part, format!("{name}: {state}")))
    });
    let (names, mut states): (Vec<String>, Vec<String>) = open.unzip();
    states.dedup();
    if environment.mitigations.is_empty() {
        return None;
    }
    if names.is_empty() {
        let known = environment.mitigations.len();
        let verdict =
            format!("Mitigated or not affected: all {known} processor faults that the kernel knows.");
        return Some(Id::Mitigations.finding(Level::Ok, verdict));
    }
    let line = environment.kernel.command_line.as_deref().unwrap_or_default();
    let asked = line.split_whitespace().any(|word| word == "mitigations=off");
    let verdict = format!("Not mitigated here: {}.", list(&names));
    Some(Finding {
        evidence: Some(states.join("; ")),
        cause: asked.then(|| "The kernel was booted with mitigations=off.".to_owned()),
        remedy: Some(
            "Expect higher figures where the kernel closes them. The remedies need newer microcode, a newer kernel, or \
             a command line without mitigations=off."
                .to_owned(),
        ),
        ..Id::Mitigations.finding(Level::Note, verdict)
    })
}

/// What the kernel leaves open of a fault: all of it, or the parts that it names, `spectre_v2 (BHI)`.
fn open_parts(name: &str, state: &str) -> Vec<String> {
    if state.starts_with(OPEN) {
        return vec![name.to_owned()];
    }
    let part = |clause: &str| {
        let (part, state) = clause.trim().split_once(": ")?;
        (state == OPEN).then(|| format!("{name} ({part})"))
    };
    state.split([';', ',']).filter_map(part).collect()
}

/// Page tables are switched although the processor does not have the fault.
fn isolation(facts: &Facts) -> Option<Finding> {
    let environment = &facts.document.environment;
    let is_safe = environment.mitigations.get("meltdown").is_some_and(|state| state == SAFE);
    if environment.kernel.pti != Some(true) || !is_safe {
        return None;
    }
    let line = environment.kernel.command_line.as_deref().unwrap_or_default();
    let asked = line.split_whitespace().find(|word| ["pti=on", "pti"].contains(word));
    let cause = asked.map(|word| format!("The kernel was booted with {word}."));
    let verdict = "Page-table isolation (PTI) is on, although this processor does not have the fault (Meltdown) that it \
                   is for: every entry pays for it.";
    Some(Finding {
        cause,
        remedy: Some("Boot without pti=on, or with pti=auto.".to_owned()),
        next: Some("kentry lab --set pti=off --set pti=on".to_owned()),
        confidence: Confidence::Seen,
        ..Id::Pti.finding(Level::Warning, verdict)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::testing::{Maker, found};
    use document::Level;

    fn machine(states: &[(&str, &str)], pti: bool) -> Maker {
        let mut maker = Maker::host();
        maker.document.environment.kernel.pti = Some(pti);
        let states = states.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned()));
        maker.document.environment.mitigations = states.collect();
        maker
    }

    #[test]
    fn faults_that_are_left_open_are_named() {
        let states =
            [("meltdown", "Not affected"), ("mds", "Vulnerable: Clear CPU buffers attempted, no microcode")];
        let finding = found(&machine(&states, false), "mitigations").unwrap();
        assert_eq!((finding.level, finding.verdict.as_str()), (Level::Note, "Not mitigated here: mds."));
        assert!(finding.evidence.unwrap().contains("no microcode"));
    }

    #[test]
    fn a_fault_may_be_left_open_in_part() {
        let state = "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; PBRSB-eIBRS: Not affected; BHI: Vulnerable";
        let finding = found(&machine(&[("spectre_v2", state)], false), "mitigations").unwrap();
        assert_eq!(finding.verdict, "Not mitigated here: spectre_v2 (BHI).");
        assert_eq!(finding.evidence, Some(format!("spectre_v2: {state}")));
    }

    #[test]
    fn closed_faults_are_as_they_should_be_and_unknown_ones_say_nothing() {
        let states = [("meltdown", "Mitigation: PTI"), ("mds", "Not affected")];
        assert_eq!(found(&machine(&states, true), "mitigations").unwrap().level, Level::Ok);
        assert_eq!(found(&machine(&[], true), "mitigations"), None);
    }

    #[test]
    fn isolation_without_need_is_a_warning() {
        let warned = |state, pti| found(&machine(&[("meltdown", state)], pti), "pti").is_some();
        assert!(warned("Not affected", true));
        assert!(!warned("Mitigation: PTI", true));
        assert!(!warned("Not affected", false));
        let mut maker = machine(&[("meltdown", "Not affected")], true);
        maker.document.environment.kernel.command_line = Some("quiet pti=on".into());
        assert_eq!(
            found(&maker, "pti").unwrap().cause.as_deref(),
            Some("The kernel was booted with pti=on.")
        );
    }
}

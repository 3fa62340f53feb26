//! What the kernel does about the faults of the processor: too little, or more than it must.

use crate::facts::{Facts, list};
use crate::id::Id;
use document::{Confidence, Counter, Finding, Level};

/// How the kernel's lines begin. Documentation/admin-guide/hw-vuln.
const OPEN: &str = "Vulnerable";
const CLOSED: &str = "Mitigation: ";
const SAFE: &str = "Not affected";

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    findings_beside(facts, &[])
}

/// The same, where these faults have findings of their own.
pub(crate) fn findings_beside(facts: &Facts, others: &[&str]) -> Vec<Finding> {
    // What a guest that nobody times leaves open costs nobody anything.
    if !facts.are_of_one_linux() || facts.document.counter() == Counter::Instructions {
        return Vec::new();
    }
    open(facts, others).into_iter().chain(isolation(facts)).collect()
}

/// Faults that are left open: the kernel's entries are cheaper than those of a kernel that closes them.
fn open(facts: &Facts, others: &[&str]) -> Option<Finding> {
    let environment = &facts.document.environment;
    let own = environment.mitigations.iter().filter(|(name, _)| !others.contains(&name.as_str()));
    let open = own.flat_map(|(name, state)| {
        open_parts(name, state).into_iter().map(move |part| (part, format!("{name}: {state}")))
    });
    let (names, mut states): (Vec<String>, Vec<String>) = open.unzip();
    states.dedup();
    if environment.mitigations.is_empty() {
        return None;
    }
    if names.is_empty() {
        let known = environment.mitigations.len();
        let verdict = match others.len() {
            0 => format!("Mitigated or not affected: all {known} processor faults that the kernel knows."),
            half => format!(
                "Mitigated or not affected: {} of {known} processor faults that the kernel knows.",
                known.saturating_sub(half)
            ),
        };
        return Some(Id::Mitigations.finding(Level::Ok, verdict));
    }
    let line = environment.kernel.command_line.as_deref().unwrap_or_default();
    let switch_off = |word: &str| names.iter().any(|name| switches_off(word, name));
    let mut asked: Vec<String> =
        line.split_whitespace().filter(|word| switch_off(word)).map(str::to_owned).collect();
    asked.dedup();
    let is_asked = |name: &String| asked.iter().any(|word| switches_off(word, name));
    let all_asked = names.iter().all(is_asked);
    let verdict = format!("Not mitigated here: {}.", list(&names));
    Some(Finding {
        evidence: Some(states.join("; ")),
        cause: (!asked.is_empty()).then(|| format!("The kernel was booted with {}.", list(&asked))),
        remedy: Some(remedy(&asked, all_asked, environment.hypervisor.present)),
        ..Id::Mitigations.finding(Level::Note, verdict)
    })
}

/// What closes the faults here: another command line where its words leave them open, and otherwise what the kernel and the processor lack.
fn remedy(asked: &[String], all_asked: bool, is_guest: bool) -> String {
    let missing = if is_guest {
        "a newer kernel, or newer microcode of the host that its hypervisor passes on"
    } else {
        "newer microcode or a newer kernel"
    };
    let what = match asked {
        [] => format!("The remedies need {missing}."),
        words if all_asked => format!("To close them, boot without {}.", list(words)),
        words => format!("To close them, boot without {}; the others need {missing}.", list(words)),
    };
    format!("Expect higher figures where the kernel closes them. {what}")
}

/// Whether a word of the kernel's command line leaves a fault open. Documentation/admin-guide/kernel-parameters.txt.
fn switches_off(word: &str, fault: &str) -> bool {
    let whole = fault.split(' ').next().unwrap_or(fault);
    let parameter = match whole {
        "meltdown" => "pti",
        "spec_store_bypass" => "spec_store_bypass_disable",
        other => other,
    };
    let names = [Some(parameter), fault.ends_with("(BHI)").then_some("spectre_bhi")];
    let is_of = |name: &str| word.strip_suffix("=off") == Some(name) || word.strip_prefix("no") == Some(name);
    word == "mitigations=off" || names.into_iter().flatten().any(is_of)
}

/// What the kernel leaves open of a fault: all of it, or the parts that it names, `spectre_v2 (BHI)`.
fn open_parts(name: &str, state: &str) -> Vec<String> {
    // ITS that is closed for guests alone: "Mitigation: Vulnerable, KVM: Not affected".
    if state.strip_prefix(CLOSED).unwrap_or(state).starts_with(OPEN) {
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
    fn what_is_closed_for_guests_alone_is_open() {
        let state = "Mitigation: Vulnerable, KVM: Not affected";
        let finding = found(&machine(&[("indirect_target_selection", state)], false), "mitigations").unwrap();
        assert_eq!(finding.verdict, "Not mitigated here: indirect_target_selection.");
    }

    #[test]
    fn the_remedy_is_one_that_applies_here() {
        let told = |line: &str, is_guest: bool| {
            let open =
                [("mds", "Vulnerable"), ("spec_store_bypass", "Vulnerable"), ("meltdown", "Mitigation: PTI")];
            let mut maker = machine(&open, true);
            maker.document.environment.kernel.command_line = Some(line.into());
            maker.document.environment.hypervisor.present = is_guest;
            let finding = found(&maker, "mitigations").unwrap();
            let remedy = finding.remedy.unwrap();
            let remedy = remedy
                .strip_prefix("Expect higher figures where the kernel closes them. ")
                .unwrap()
                .to_owned();
            (finding.cause.unwrap_or_default(), remedy)
        };
        let (cause, remedy) = told("quiet nopti", false);
        assert_eq!(
            (cause.as_str(), remedy.as_str()),
            ("", "The remedies need newer microcode or a newer kernel.")
        );
        let (_, remedy) = told("quiet", true);
        assert_eq!(
            remedy,
            "The remedies need a newer kernel, or newer microcode of the host that its hypervisor passes on."
        );
        let (cause, remedy) = told("mitigations=off", true);
        assert_eq!(cause, "The kernel was booted with mitigations=off.");
        assert_eq!(remedy, "To close them, boot without mitigations=off.");
        let (cause, remedy) = told("nospec_store_bypass_disable", false);
        assert_eq!(cause, "The kernel was booted with nospec_store_bypass_disable.");
        assert_eq!(
            remedy,
            "To close them, boot without nospec_store_bypass_disable; the others need newer microcode or a newer kernel."
        );
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

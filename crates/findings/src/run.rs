//! Whether the run came to its end, and whether everything about the machine is known.

use crate::facts::{Facts, count};
use crate::id::Id;
use document::{Finding, Level};

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    [ended(facts), unseen(facts)].into_iter().flatten().collect()
}

const MORE_TIME: &str =
    "Give more time (--timeout), or ask for fewer rows (--entry, --operation) or configurations (--set).";

fn ended(facts: &Facts) -> Option<Finding> {
    let measurement = &facts.document.measurement;
    if let Some(why) = &measurement.ended {
        let verdict =
            "A guest ended before its plan was done: rows may be missing, and times may be less precise.";
        return Some(Finding {
            cause: Some(sentence(why)),
            remedy: measurement.out_of_time.then(|| MORE_TIME.to_owned()),
            ..Id::GuestEnded.finding(Level::Warning, verdict)
        });
    }
    let verdict = "The run was interrupted: rows may be missing, and times may be less precise.";
    measurement.partial.then(|| Finding {
        remedy: Some("Let it run to its end before quoting a figure.".to_owned()),
        ..Id::Partial.finding(Level::Warning, verdict)
    })
}

/// Words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.trim_end_matches('.').chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

fn unseen(facts: &Facts) -> Option<Finding> {
    let unseen = facts.document.environment.unseen.iter().filter(|unseen| !unseen.expected);
    let each: Vec<String> = unseen.map(|unseen| format!("{}: {}", unseen.what, unseen.why)).collect();
    let facts = count(each.len(), "fact", "facts");
    let verdict = format!("{facts} about this machine could not be read, so that a cause may go unnamed.");
    (!each.is_empty()).then(|| Finding {
        evidence: Some(each.join("; ")),
        remedy: Some("Run as root, or outside of the container that hides them.".to_owned()),
        ..Id::Unseen.finding(Level::Note, verdict)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::testing::{Maker, found};

    #[test]
    fn a_guest_that_ended_is_not_called_interrupted() {
        let mut maker = Maker::host();
        assert!(maker.findings().is_empty());
        maker.document.measurement.partial = true;
        assert!(found(&maker, "partial").is_some());
        maker.document.measurement.ended = Some("the guest did not finish within 60 s".into());
        assert_eq!(found(&maker, "partial"), None);
        let finding = found(&maker, "guest-ended").unwrap();
        assert_eq!(finding.cause.as_deref(), Some("The guest did not finish within 60 s."));
        assert_eq!(finding.remedy, None, "nobody says that time was what it lacked");
        maker.document.measurement.out_of_time = true;
        assert!(found(&maker, "guest-ended").unwrap().remedy.unwrap().contains("--timeout"));
    }

    #[test]
    fn only_what_should_have_been_there_is_counted() {
        let fact = |what: &str, expected| environment::Unseen {
            what: what.into(),
            why: "Permission denied".into(),
            expected,
        };
        let mut maker = Maker::host();
        maker.document.environment.unseen = vec![fact("/sys/hypervisor/type", true)];
        assert_eq!(found(&maker, "unseen"), None);
        maker.document.environment.unseen.push(fact("/proc/self/maps", false));
        let finding = found(&maker, "unseen").unwrap();
        assert!(finding.verdict.starts_with("1 fact about this machine"));
        assert_eq!(finding.evidence.as_deref(), Some("/proc/self/maps: Permission denied"));
    }
}

//! What changed while it was measured: rounds before and after are of two machines.

use crate::facts::Facts;
use crate::id::Id;
use document::{Finding, Level};

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    let changes = facts.document.measurement.changes.iter();
    let finding = |change: &String| Finding {
        remedy: Some("Measure again, without whatever changed it.".to_owned()),
        ..Id::Changed.finding(
            Level::Warning,
            format!(
                "Figures mix two states, because something changed during the run: {}.",
                change.trim_end_matches('.')
            ),
        )
    };
    changes.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::Maker;

    #[test]
    fn every_change_is_a_warning() {
        let mut maker = Maker::host();
        maker.document.measurement.changes =
            vec!["the clocksource was tsc, and is hpet".into(), "tracing appeared.".into()];
        let verdicts: Vec<String> = maker.findings().into_iter().map(|finding| finding.verdict).collect();
        assert_eq!(
            verdicts,
            [
                "Figures mix two states, because something changed during the run: the clocksource was tsc, and is hpet.",
                "Figures mix two states, because something changed during the run: tracing appeared."
            ]
        );
    }
}

//! What changed while it was measured: rounds before and after are of two machines.

use crate::facts::Facts;
use crate::id::Id;
use document::{Finding, Level, Row};
use stats::Lines;
use table::special::BARE_SYSCALL;

/// If the cost of the bare system call changes by more than this part, something has changed the machine.
const CHANGE: f64 = 0.05;

/// Its rounds on either side of a change, at least.
const SIDE: usize = 4;

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    let found = &facts.document.measurement.changes;
    let is_bare = |row: &&Row| row.is(BARE_SYSCALL) && row.is_timed();
    let seen = facts.document.results.iter().filter(is_bare).filter_map(|row| change(&row.rounds));
    // Older documents have the sentence among what was found.
    let seen: Vec<String> = seen.filter(|change| !found.contains(change)).collect();
    let changes = found.iter().chain(&seen);
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

/// If a row's cost changed in the course of the run: when, and from what to what, in words.
fn change(lines: &Lines) -> Option<String> {
    let kept: Vec<(f64, f64)> = (0..lines.len())
        .filter(|index| lines.excluded.get(*index) == Some(&None))
        .filter_map(|index| Some((*lines.at_ms.get(index)?, lines.core_cycles(index)?)))
        .collect();
    let median = |part: &[(f64, f64)]| stats::quantile_of(part.iter().map(|(_, cost)| *cost), 0.5);
    let differs = |split: usize| {
        let (before, after) = kept.split_at_checked(split)?;
        let (first, second) = (median(before)?, median(after)?);
        // The two sides must differ by more than the rounds within each of them.
        let spread = |part: &[(f64, f64)], middle: f64| {
            stats::quantile_of(part.iter().map(|(_, cost)| (cost - middle).abs()), 0.75).unwrap_or(0.0)
        };
        let scatter = spread(before, first).max(spread(after, second));
        let by = (second - first).abs();
        (by > CHANGE * first.min(second) && by > 4.0 * scatter).then_some((by, split, first, second))
    };
    let splits = SIDE..(kept.len() + 1).saturating_sub(SIDE);
    let (_, split, first, second) = splits.filter_map(differs).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let at = kept.get(split)?.0 / 1e3;
    Some(format!(
        "a plain system call cost {first:.0} core cycles until {at:.1} s into the run, and {second:.0} after that: something was \
         switched on or off underneath, such as tracing or a mitigation"
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::testing::Maker;

    const CHANGED: [f64; 9] = [150.0, 151.0, 150.0, 149.0, 150.0, 4700.0, 4710.0, 4690.0, 4700.0];

    fn lines(costs: &[f64]) -> Lines {
        Lines {
            at_ms: (0..costs.len()).map(|index| index as f64 * 100.0).collect(),
            cost: costs.to_vec(),
            cycles_per_tick: vec![2.0; costs.len()],
            excluded: vec![None; costs.len()],
            ..Lines::default()
        }
    }

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

    #[test]
    fn a_change_in_the_middle_is_noticed_and_scatter_is_not() {
        let changed = change(&lines(&CHANGED)).unwrap();
        assert!(
            changed.contains("cost 300 core cycles until 0.5 s") && changed.contains("9400"),
            "{changed}"
        );
        assert_eq!(change(&lines(&[150.0; 30])), None);
        let scattered: Vec<f64> = (0..40).map(|index| 150.0 + f64::from(index * 7919 % 23)).collect();
        assert_eq!(change(&lines(&scattered)), None);
        assert_eq!(change(&lines(&[150.0, 4000.0, 150.0])), None, "too few rounds to tell");
    }

    #[test]
    fn a_bare_system_call_whose_cost_changed_is_a_warning_once() {
        let mut maker = Maker::host().cost("syscall-x86_64", "none", 300.0).cost("call", "none", 8.0);
        maker.row("call", "none").rounds = lines(&CHANGED);
        assert!(
            maker.findings().iter().all(|finding| finding.id != "changed"),
            "only this row is measured throughout"
        );
        maker.row("syscall-x86_64", "none").rounds = lines(&CHANGED);
        let changed = |maker: &Maker| -> Vec<String> {
            let findings = maker.findings().into_iter().filter(|finding| finding.id == "changed");
            findings.map(|finding| finding.verdict).collect()
        };
        let once = changed(&maker);
        assert!(once.len() == 1 && once[0].contains("cost 300 core cycles until 0.5 s"), "{once:?}");
        maker.document.measurement.changes = change(&lines(&CHANGED)).into_iter().collect();
        assert_eq!(changed(&maker), once, "an older document already says so");
        maker.row("syscall-x86_64", "none").timing = document::Timing::Emulated;
        maker.document.measurement.changes.clear();
        assert!(changed(&maker).is_empty(), "an emulator's rounds say nothing");
    }
}

//! How steadily the core's clock ticked, and whether the kernel's clocks are offset. Who serves them, `doctor::clocks` says.

use crate::facts::{Facts, list};
use crate::id::Id;
use document::{Document, Finding, Level};

/// A clock that wandered further than this share of itself is worth a note.
const WIDE: f64 = 0.03;

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    let document = facts.document;
    range(document).into_iter().chain(time_namespace(document)).collect()
}

fn range(document: &Document) -> Option<Finding> {
    let measurement = &document.measurement;
    let (middle, [low, high]) = measurement.cycles_per_tick.zip(measurement.cycles_per_tick_range)?;
    if (high - low) / middle <= WIDE {
        return None;
    }
    let verdict = match measurement.tsc_hz {
        Some(hertz) => format!(
            "The core ran at {:.2} to {:.2} GHz: nanoseconds depend on that, core cycles do not.",
            hertz * low / 1e9,
            hertz * high / 1e9
        ),
        None => "The core's clock wandered: ticks depend on that, core cycles do not.".to_owned(),
    };
    Some(Finding {
        evidence: Some(format!(
            "{low:.4} to {high:.4} core cycles in a tick, 5th to 95th percentile of the rounds"
        )),
        cause: Some("Frequency scaling, turbo, or the power that other cores use.".to_owned()),
        remedy: Some(if document.environment.hypervisor.present {
            "Quote core cycles: only the host can fix the frequency.".to_owned()
        } else {
            "Quote core cycles. For steady nanoseconds, fix the frequency (cpupower frequency-set -g performance) and \
             switch turbo off."
                .to_owned()
        }),
        ..Id::ClockRange.finding(Level::Note, verdict)
    })
}

fn time_namespace(document: &Document) -> Option<Finding> {
    let offsets = document.environment.clock.time_namespace.as_ref().filter(|offsets| !offsets.is_empty())?;
    let each = offsets.iter().map(|(clock, offset)| format!("{clock} by {} s", offset.seconds));
    let verdict =
        "This process is in a time namespace with offset clocks, where the vDSO does more work than outside.";
    Some(Finding {
        evidence: Some(format!("offset: {}", list(&each.collect::<Vec<_>>()))),
        remedy: Some("Measure outside of the container for the cost without the offset.".to_owned()),
        ..Id::TimeNamespace.finding(Level::Warning, verdict)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::testing::{Maker, found};
    use document::Level;

    #[test]
    fn a_wide_clock_range_is_noted_and_a_narrow_one_is_not() {
        let mut maker = Maker::host();
        for (range, level) in [([1.47, 1.49], None), ([1.40, 1.49], Some(Level::Note))] {
            maker.document.measurement.cycles_per_tick = Some(1.48);
            maker.document.measurement.cycles_per_tick_range = Some(range);
            assert_eq!(found(&maker, "clock-range").map(|finding| finding.level), level);
        }
    }

    #[test]
    fn a_time_namespace_is_named() {
        let mut maker = Maker::host();
        let offset = environment::ClockOffset { seconds: 86_400, nanoseconds: 0 };
        maker.document.environment.clock.time_namespace = Some([("monotonic".to_owned(), offset)].into());
        let finding = found(&maker, "time-namespace").unwrap();
        assert_eq!(finding.evidence.as_deref(), Some("offset: monotonic by 86400 s"));
    }
}

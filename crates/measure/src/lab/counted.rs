//! What the processor counted while the lab's probes ran.

use environment::LabCounters;
use record::{Counters, abi};
use std::collections::BTreeSet;

/// The counts of all rounds.
#[derive(Debug, Default)]
pub struct Counted {
    sums: LabCounters,
    ratios: Vec<f64>,
    spec_ctrl: BTreeSet<u64>,
}

impl Counted {
    /// Takes a round's counts.
    pub fn take(&mut self, counters: &Counters) {
        let sums = &mut self.sums;
        sums.rounds += 1;
        sums.ticks = sums.ticks.saturating_add(counters.get(abi::COUNTER_TSC).unwrap_or(0));
        sums.rounds_lost += u64::from(is_lost(counters));
        for (sum, counter) in [
            (&mut sums.smis, abi::COUNTER_SMI),
            (&mut sums.instructions, abi::COUNTER_INSTRUCTIONS),
            (&mut sums.core_cycles, abi::COUNTER_CYCLES),
            (&mut sums.reference_cycles, abi::COUNTER_REFERENCE),
            (&mut sums.aperf, abi::COUNTER_APERF),
            (&mut sums.mperf, abi::COUNTER_MPERF),
        ] {
            if let Some(count) = counters.get(counter) {
                *sum = Some(sum.unwrap_or(0).saturating_add(count));
            }
        }
        self.ratios.extend(cycles_per_tick(counters));
        self.spec_ctrl.extend(counters.get(abi::COUNTER_SPEC_CTRL));
    }

    /// All of it; `None` if nothing was counted.
    pub fn into_counters(self) -> Option<LabCounters> {
        let Counted { sums, ratios, spec_ctrl } = self;
        let values = || spec_ctrl.iter().map(|value| format!("{value:#x}")).collect();
        (sums.rounds > 0).then(|| LabCounters {
            cycles_per_tick: stats::quantile_of(ratios.into_iter(), 0.5),
            spec_ctrl: (!spec_ctrl.is_empty()).then(values),
            ..sums
        })
    }
}

/// Whether a system management interrupt fell into a round: the firmware ran then, for as long as it liked, unseen by
/// canaries and clocks.
pub fn is_lost(counters: &Counters) -> bool {
    counters.get(abi::COUNTER_SMI).is_some_and(|count| count > 0)
}

/// Core cycles in a tick. Both counters of a pair stand still while the guest does not run, so that a hypervisor's time is in
/// neither; against the time stamp counter it would be.
fn cycles_per_tick(counters: &Counters) -> Option<f64> {
    let ratio = |core, constant| {
        let (core, constant) = (counters.get(core)?, counters.get(constant)?);
        (core > 0 && constant > 0).then(|| core as f64 / constant as f64)
    };
    ratio(abi::COUNTER_CYCLES, abi::COUNTER_REFERENCE)
        .or_else(|| ratio(abi::COUNTER_APERF, abi::COUNTER_MPERF))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(counts: &[(u64, u64)]) -> Counters {
        let mut counters = Counters { present: 0, values: [0; 8] };
        for (counter, value) in counts {
            counters.present |= 1 << counter;
            counters.values[*counter as usize] = *value;
        }
        counters
    }

    #[test]
    fn nothing_counted_is_nothing_and_not_zero() {
        assert_eq!(Counted::default().into_counters(), None);
        let mut counted = Counted::default();
        counted.take(&counters(&[(abi::COUNTER_TSC, 10), (abi::COUNTER_SPEC_CTRL, 1)]));
        let whole = counted.into_counters().unwrap();
        assert_eq!((whole.rounds, whole.ticks, whole.smis, whole.instructions), (1, 10, None, None));
        assert_eq!((whole.cycles_per_tick, whole.spec_ctrl), (None, Some(vec!["0x1".to_string()])));
    }

    #[test]
    fn an_smi_loses_its_round_alone() {
        let (quiet, smi) = (counters(&[(abi::COUNTER_SMI, 0)]), counters(&[(abi::COUNTER_SMI, 2)]));
        assert_eq!([&quiet, &smi, &counters(&[])].map(is_lost), [false, true, false]);
        let mut counted = Counted::default();
        [&quiet, &smi, &quiet].into_iter().for_each(|one| counted.take(one));
        let whole = counted.into_counters().unwrap();
        assert_eq!((whole.rounds, whole.smis, whole.rounds_lost), (3, Some(2), 1));
    }

    #[test]
    fn the_clock_is_told_by_counters_that_stand_still_together() {
        let cycles = [(abi::COUNTER_CYCLES, 3000), (abi::COUNTER_REFERENCE, 2000)];
        let power = [(abi::COUNTER_APERF, 5000), (abi::COUNTER_MPERF, 4000)];
        let of = |counts: &[&[(u64, u64)]]| cycles_per_tick(&counters(&counts.concat()));
        assert_eq!(of(&[&cycles, &power]), Some(1.5));
        assert_eq!(of(&[&power, &[(abi::COUNTER_CYCLES, 3000), (abi::COUNTER_TSC, 9000)]]), Some(1.25));
        assert_eq!(of(&[&[(abi::COUNTER_CYCLES, 3000), (abi::COUNTER_TSC, 9000)]]), None);
        assert_eq!(of(&[&[(abi::COUNTER_CYCLES, 0), (abi::COUNTER_REFERENCE, 0)]]), None);
    }
}

//! Which boot of the lab a row's rounds are of; and by that, how much of the row's spread is layout.

use crate::Row;
use environment::LabBoot;
use stats::Spread;

/// The costs of the rounds that a row's estimate is made of, by boot, in the order of `boots`; none of a boot that has no
/// such round. They are in core cycles if the row has an estimate in these, or else in ticks: a clock that differs between
/// boots is no layout. Rows of one document that have costs here are in one unit. All rows were measured in every boot, so
/// that two configurations can be compared boot by boot. `None` where a round is older than the first boot, or its columns
/// have different lengths.
pub fn by_boot(row: &Row, boots: &[LabBoot]) -> Option<Vec<Vec<f64>>> {
    let rounds = &row.rounds;
    let mut costs = vec![Vec::new(); boots.len()];
    for (index, at) in rounds.at_ms.iter().enumerate() {
        if rounds.excluded.get(index) != Some(&None) || rounds.cpu.get(index).copied() != row.cpu {
            continue;
        }
        let clock = if row.core_cycles.is_some() { *rounds.cycles_per_tick.get(index)? } else { 1.0 };
        let boot = boots.iter().rposition(|boot| boot.at_ms <= *at).and_then(|boot| costs.get_mut(boot));
        boot?.push(rounds.cost.get(index)? * clock);
    }
    Some(costs)
}

/// The spread of a row's rounds on the CPU that its estimate is of; a boot of the lab is a layout. `None` where that cannot be
/// told.
pub fn spread(row: &Row, boots: &[LabBoot]) -> Option<Spread> {
    stats::spread(&by_boot(row, boots)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::{Excluded, Lines};

    /// Three rounds on CPU 2, and one that was dropped.
    fn row() -> Row {
        let rounds = Lines {
            at_ms: vec![10.0, 19.0, 20.0, 25.0],
            cpu: vec![2, 2, 2, 2],
            cost: vec![100.0, 101.0, 102.0, 900.0],
            cycles_per_tick: vec![2.0; 4],
            excluded: vec![None, None, None, Some(Excluded::Preempted)],
            ..Lines::default()
        };
        Row { cpu: Some(2), rounds, ..Row::unmeasured("call", "none", 64) }
    }

    fn boots(at: &[f64]) -> Vec<LabBoot> {
        at.iter().map(|at_ms| LabBoot { at_ms: *at_ms, ..LabBoot::default() }).collect()
    }

    #[test]
    fn a_round_is_of_the_boot_that_came_last_before_it() {
        let costs = by_boot(&row(), &boots(&[5.0, 20.0, 30.0])).unwrap();
        assert_eq!(costs, [vec![100.0, 101.0], vec![102.0], vec![]]);
        assert_eq!(by_boot(&row(), &boots(&[15.0])), None, "older than the first boot");
        let mut cycles = row();
        cycles.core_cycles =
            serde_json::from_str(r#"{"estimate": 200, "min": 200, "p50": 200, "max": 200}"#).ok();
        assert!(cycles.core_cycles.is_some());
        assert_eq!(by_boot(&cycles, &boots(&[5.0])).unwrap(), [[200.0, 202.0, 204.0]]);
    }

    #[test]
    fn rounds_of_other_cpus_and_columns_that_break_off_are_left_out() {
        let elsewhere = Row { cpu: Some(3), ..row() };
        assert_eq!(by_boot(&elsewhere, &boots(&[5.0])).unwrap(), [vec![0.0; 0]]);
        let mut broken = row();
        broken.rounds.cost.truncate(1);
        assert_eq!(by_boot(&broken, &boots(&[5.0])), None);
    }
}

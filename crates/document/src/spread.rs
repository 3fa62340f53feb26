//! Which boot of the lab a row's rounds are of, and which layout; and by that, how much of the row's spread is layout.

use crate::Row;
use environment::{Environment, GuestBoot, LabLayout};
use stats::Spread;
use std::collections::BTreeMap;

/// The costs of the rounds that a row's estimate is made of, by boot, in the order of `boots`; none of a boot that has no
/// such round. They are in core cycles if the row has an estimate in these, or else in ticks: a clock that differs between
/// boots is no layout. Rows of one document that have costs here are in one unit. All rows were measured in every boot, so
/// that two configurations can be compared boot by boot. `None` where a round is older than the first boot, or its columns
/// have different lengths.
pub fn by_boot(row: &Row, boots: &[GuestBoot]) -> Option<Vec<Vec<f64>>> {
    by_stretch(row, &boots.iter().map(|boot| boot.at_ms).collect::<Vec<_>>())
}

/// The same by layout, whichever boots its rounds are of.
fn by_layout(row: &Row, layouts: &[LabLayout]) -> Option<Vec<Vec<f64>>> {
    let stretches = by_stretch(row, &layouts.iter().map(|layout| layout.at_ms).collect::<Vec<_>>())?;
    let mut costs = BTreeMap::<u64, Vec<f64>>::new();
    for (layout, stretch) in layouts.iter().zip(stretches) {
        costs.entry(layout.number).or_default().extend(stretch);
    }
    Some(costs.into_values().collect())
}

/// The same by stretch of the measurement; of each the beginning, in milliseconds.
fn by_stretch(row: &Row, starts: &[f64]) -> Option<Vec<Vec<f64>>> {
    let rounds = &row.rounds;
    let mut costs = vec![Vec::new(); starts.len()];
    for (index, at) in rounds.at_ms.iter().enumerate() {
        if rounds.excluded.get(index) != Some(&None) || rounds.cpu.get(index).copied() != row.cpu {
            continue;
        }
        let is_in_cycles = row.core_cycles.is_some();
        let cost = if is_in_cycles { rounds.core_cycles(index)? } else { *rounds.cost.get(index)? };
        let stretch = starts.iter().rposition(|start| start <= at).and_then(|stretch| costs.get_mut(stretch));
        stretch?.push(cost);
    }
    Some(costs)
}

/// The spread of a row's rounds on the CPU that its estimate is of. In a document that does not name layouts, a boot is one.
/// `None` where it cannot be told.
pub fn spread(row: &Row, environment: &Environment) -> Option<Spread> {
    let layouts = &environment.lab.as_ref()?.layouts;
    let boots = environment.guest.as_ref().map(|guest| guest.boots.as_slice()).unwrap_or_default();
    let costs = if layouts.is_empty() { by_boot(row, boots) } else { by_layout(row, layouts) };
    stats::spread(&costs?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use environment::{Guest, Lab};
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

    fn boots(at: &[f64]) -> Vec<GuestBoot> {
        at.iter().map(|at_ms| GuestBoot { at_ms: *at_ms, ..GuestBoot::default() }).collect()
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
    fn rounds_of_one_layout_may_be_of_several_boots() {
        let layout = |at_ms, number| LabLayout { at_ms, number };
        let costs = by_layout(&row(), &[layout(10.0, 7), layout(15.0, 8), layout(20.0, 8), layout(21.0, 9)]);
        assert_eq!(costs.unwrap(), [vec![100.0], vec![101.0, 102.0], vec![]]);
        assert_eq!(by_layout(&row(), &[layout(10.5, 7)]), None, "older than the first layout");
    }

    /// Eight boots of two rounds; each layout is in two boots.
    fn crossed(cost: impl Fn(u64, u64) -> f64) -> (Row, Environment) {
        let rounds = || (0..8).flat_map(|boot| [(boot, boot), (boot, (boot + 1) % 8)]);
        let at = |index: usize| 10.0 * index as f64;
        let lines = Lines {
            at_ms: (0..16).map(at).collect(),
            cpu: vec![0; 16],
            cost: rounds().map(|(boot, layout)| cost(boot, layout)).collect(),
            cycles_per_tick: vec![1.0; 16],
            excluded: vec![None; 16],
            ..Lines::default()
        };
        let layouts = rounds().enumerate().map(|(index, (_, number))| LabLayout { at_ms: at(index), number });
        let boots = boots(&(0..8).map(|boot| at(2 * boot)).collect::<Vec<_>>());
        let guest = Some(Guest { boots, ..Guest::default() });
        let lab = Some(Lab { layouts: layouts.collect(), ..Lab::default() });
        let row = Row { cpu: Some(0), rounds: lines, ..Row::unmeasured("call", "none", 64) };
        (row, Environment { guest, lab, ..Environment::default() })
    }

    #[test]
    fn what_a_boot_decides_is_no_layout() {
        let odd = |number: u64| f64::from(number as u32 * 5 % 8);
        let (row, environment) = crossed(|_, layout| 300.0 + odd(layout));
        assert_eq!(spread(&row, &environment).unwrap().layout, 1.0);
        let (row, environment) = crossed(|boot, _| 300.0 + odd(boot));
        let found = spread(&row, &environment).unwrap();
        assert!(found.layout < 0.2 && found.layout_low == 0.0, "{found:?}");
        // Documents of before: a boot was a layout.
        let before = Environment { lab: Some(Lab::default()), ..environment };
        assert_eq!(spread(&row, &before).unwrap().layout, 1.0);
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

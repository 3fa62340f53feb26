//! How much of a row's spread is layout, from what a document keeps of its rounds and of the lab's boots.

use crate::Row;
use environment::LabBoot;
use stats::Spread;

/// The spread of a row's rounds on the CPU that its estimate is of; a boot of the lab is a layout. `None` where that cannot be
/// told.
pub fn spread(row: &Row, boots: &[LabBoot]) -> Option<Spread> {
    let rounds = &row.rounds;
    let mut layouts = vec![Vec::new(); boots.len()];
    for (index, at) in rounds.at_ms.iter().enumerate() {
        if rounds.excluded.get(index) != Some(&None) || rounds.cpu.get(index).copied() != row.cpu {
            continue;
        }
        // In core cycles: a clock that differs between boots is no layout.
        let clock = if row.core_cycles.is_some() { *rounds.cycles_per_tick.get(index)? } else { 1.0 };
        let layout = boots.iter().rposition(|boot| boot.at_ms <= *at).and_then(|boot| layouts.get_mut(boot));
        layout?.push(rounds.cost.get(index)? * clock);
    }
    stats::spread(&layouts)
}

//! What the gate of a roll-out says: of rows by their intervals, of what rows do not show by name.

use crate::RowName;
use crate::judgement::Named;
use crate::median::median;
use crate::rollout::{Answer, Gate, Otherwise, Rollout, RolloutRow};
use statrs::distribution::{Binomial, DiscreteCDF};

/// So many hosts are named where several are in no pair.
const NAMED: usize = 3;

/// Of roll-outs in which every row passes by its interval, this part at most is held up by chance for hosts above the limit.
const HELD_UP: f64 = 0.05;

/// Whether more hosts changed by more than the limit than by less than its mirror at the median, where changes differ by noise, which has no
/// side (sign test, corrected for all rows by Bonferroni). A part of the hosts that became slower leaves the middle one alone.
pub(crate) fn has_a_slower_part(changes: &[f64], limit: f64, rows: usize) -> bool {
    let Some(middle) = median(&mut changes.to_vec()).filter(|middle| *middle < limit) else { return false };
    let above = changes.iter().filter(|change| **change > limit).count() as u64;
    let below = changes.iter().filter(|change| **change < 2.0 * middle - limit).count() as u64;
    let Some(before) = above.checked_sub(1) else { return false };
    Binomial::new(0.5, above + below).is_ok_and(|by_chance| by_chance.sf(before) <= HELD_UP / rows as f64)
}

/// What the interval of a row says.
pub(crate) fn answer(row: &RolloutRow, limit: f64) -> Answer {
    match row.percent_low.zip(row.percent_high) {
        Some((low, _)) if low > limit => Answer::Regression,
        Some((_, high)) if high <= limit => Answer::Pass,
        _ => Answer::Inconclusive,
    }
}

/// What all rows say, with what is gone and with hosts that the middle one hides.
pub(crate) fn gate(rollout: &Rollout, limit: f64) -> Gate {
    let rows = || rollout.strata.iter().flat_map(|of| of.rows.iter().map(move |row| (of, row)));
    let unseen = unseen(rollout, limit);
    let least = if unseen.is_empty() { Answer::Pass } else { Answer::Inconclusive };
    let worst = rows().filter_map(|(_, row)| row.gate).max().unwrap_or(Answer::Inconclusive);
    let answer = worst.max(least);
    let deciding = rows().filter(|(_, row)| answer != Answer::Pass && row.gate == Some(answer));
    let deciding = deciding.map(|(of, row)| format!("{} {}", of.id, in_words(&row.name)));
    let unseen = unseen.into_iter().filter(|_| answer == Answer::Inconclusive);
    let decided_by = unseen.chain(deciding).collect();
    Gate { answer, limit_percent: limit, decided_by }
}

/// What stands in the way of a pass, though no interval shows it.
fn unseen(rollout: &Rollout, limit: f64) -> Vec<String> {
    let none = (rollout.strata.iter().all(|stratum| stratum.rows.is_empty()))
        .then(|| "no row has a figure on both sides".to_owned());
    let lost = rollout.strata.iter().flat_map(|of| of.lost.iter().map(move |row| (of, row)));
    let lost = lost.filter(|(_, row)| row.lost.count == row.pairs);
    let lost =
        lost.map(|(of, row)| format!("{} {}, which has no figure afterwards", of.id, in_words(&row.name)));
    // A host that is new was never in the way; one that is gone may be gone for being slow.
    let alone = Some(&rollout.only_before).filter(|hosts| hosts.count > 0);
    let alone = alone.map(|hosts| format!("{}, only before and in no pair", first(hosts)));
    let otherwise = rollout.otherwise.iter().filter_map(|host| above(host, limit));
    none.into_iter().chain(lost).chain(alone).chain(otherwise).collect()
}

/// The row by which a host changed most, where that is above the limit.
fn above(host: &Otherwise, limit: f64) -> Option<String> {
    let worst = host.rows.iter().max_by(|a, b| a.percent.total_cmp(&b.percent))?;
    let told =
        || format!("{} {} {}: {:+.1} %", host.stratum, host.host, in_words(&worst.name), worst.percent);
    (worst.percent > limit).then(told)
}

fn first(hosts: &Named) -> String {
    let first = hosts.first.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match hosts.count.saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn in_words(name: &RowName) -> String {
    let RowName { entry, operation, bits, configuration } = name;
    let behind = configuration.as_ref().map(|configuration| format!(" {configuration}")).unwrap_or_default();
    format!("{entry} {operation} {bits}{behind}")
}

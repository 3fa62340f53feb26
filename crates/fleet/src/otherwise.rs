//! Hosts that changed otherwise than their stratum's others, which its middle hides.

use crate::corrected::{FALSE_ODD, benjamini_hochberg};
use crate::far::{Far, FarRow};
use crate::rollout::{Otherwise, OtherwiseRow, RolloutRow};
use crate::tested::{Tested, percent};

/// Judges the hosts of all strata together, as hosts of cohorts are.
pub(crate) fn otherwise(strata: &[Tested]) -> Vec<Otherwise> {
    let far: Vec<Far> =
        strata.iter().map(|stratum| Far::of(&stratum.samples, stratum.told.hosts.len())).collect();
    let p: Vec<f64> = far.iter().flat_map(|far| far.p.values().copied()).collect();
    let corrected = benjamini_hochberg(&p);
    let named = corrected.iter().filter(|q| **q <= FALSE_ODD).count();
    let part = named as f64 / p.len().max(1) as f64;
    let mut corrected = corrected.into_iter();
    let mut found = Vec::new();
    for (stratum, far) in strata.iter().zip(&far) {
        for ((host, p), q) in far.p.iter().zip(corrected.by_ref()) {
            if q <= FALSE_ODD {
                found.push(Otherwise {
                    host: stratum.told.hosts[*host as usize].clone(),
                    stratum: stratum.told.id.clone(),
                    p: *p,
                    q,
                    rows: told(stratum, far.rows(&stratum.samples, *host, part)),
                });
            }
        }
    }
    found.sort_by(|a, b| a.q.total_cmp(&b.q).then(a.p.total_cmp(&b.p)).then_with(|| a.host.cmp(&b.host)));
    found
}

fn told(stratum: &Tested, rows: Vec<FarRow>) -> Vec<OtherwiseRow> {
    let told = |row: FarRow| {
        let sample = &stratum.samples[row.sample];
        let RolloutRow { name, .. } = &stratum.told.rows[sample.row as usize];
        let (own, others) = (sample.values[row.at], row.distance.middle);
        OtherwiseRow {
            name: name.clone(),
            percent: percent(own),
            others_percent: percent(others),
            more_percent: percent(own - others),
            more_percent_low: percent(own - others - row.reach),
            more_percent_high: percent(own - others + row.reach),
            p: row.p,
            is_clear: row.is_clear,
        }
    };
    let clear = rows.iter().filter(|row| row.is_clear).count();
    rows.into_iter().take(clear.max(1)).map(told).collect()
}

//! Figures where a tick is an instruction: an emulator's counter does not drift, so no clock chain is needed.

use crate::primitives::quantile;
use crate::{Cost, Instructions};
use record::Sample;

/// What an entry costs in instructions, where the counter counts them. `None` without samples.
///
/// All samples are equal, except those with an interrupt in them. The estimate is therefore the most frequent value (of
/// equally frequent ones the smallest), and there is no interval.
pub fn instructions(samples: &[Sample]) -> Option<Cost<Instructions>> {
    let mut costs: Vec<f64> = samples.iter().filter_map(cost).collect();
    costs.sort_by(f64::total_cmp);
    let at = |q| quantile(&costs, q).map(Instructions);
    Some(Cost {
        estimate: Instructions(mode(&costs)?),
        ci_low: None,
        ci_high: None,
        min: Instructions(*costs.first()?),
        p50: at(0.5)?,
        p99: at(0.99),
        p999: at(0.999),
        max: Instructions(*costs.last()?),
    })
}

/// Entry less control; `None` if the counter ran backwards.
fn cost(sample: &Sample) -> Option<f64> {
    let (control, entry) = (sample.interval(1), sample.interval(2));
    let whole = control != u64::MAX && entry != u64::MAX;
    whole.then_some(entry as f64 - control as f64)
}

/// The most frequent of sorted values; of equally frequent ones the smallest.
fn mode(sorted: &[f64]) -> Option<f64> {
    let runs = sorted.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0]));
    let most = runs.clone().map(|(length, _)| length).max()?;
    runs.into_iter().find(|(length, _)| *length == most).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(costs: &[i64]) -> Vec<Sample> {
        costs.iter().map(|cost| Sample { stamps: [0, 300, 310, (320 + cost) as u64] }).collect()
    }

    #[test]
    fn the_most_frequent_is_the_estimate() {
        let cost = instructions(&samples(&[52, 52, 4711, 52, 60, 60])).unwrap();
        assert_eq!((cost.estimate.0, cost.min.0, cost.max.0), (52.0, 52.0, 4711.0));
        assert_eq!((cost.ci_low, cost.p50.0), (None, 52.0));
        assert_eq!(instructions(&samples(&[60, 52])).unwrap().estimate.0, 52.0);
        assert_eq!(instructions(&samples(&[-3])).unwrap().estimate.0, -3.0);
        assert_eq!(instructions(&[]), None);
    }

    #[test]
    fn a_counter_that_ran_backwards_says_nothing() {
        let backwards = Sample { stamps: [0, 300, 310, 5] };
        assert_eq!(instructions(&[backwards]), None);
    }
}

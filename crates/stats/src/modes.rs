//! Whether values gather around more than one value.
//!
//! A counter that counts in steps makes two values of one: a cost between two steps is read as the lower or the higher. So bins are
//! two steps wide, and peaks a step apart are one.

/// The bulk of the values is divided into at most this many bins.
const MOST_BINS: usize = 2048;

/// A valley separates two peaks if it is lower than this part of the lower peak.
const VALLEY: f64 = 0.25;

/// Splits sorted values (value, count) into groups: count and mean of each, ascending. `noise` is how far apart values of
/// one group lie.
///
/// The bulk, without half a percent at either end, is put in bins; a group ends at the deepest bin between two peaks when
/// there are hardly any values there. What lies outside of the bulk belongs to the group beside it.
pub fn split(values: &[(f64, u64)], noise: f64) -> Vec<(u64, f64)> {
    let total: u64 = values.iter().map(|(_, count)| count).sum();
    let at = |q: f64| {
        let rank = (q * total as f64).ceil().max(1.0) as u64;
        let mut before = 0;
        values.iter().find(|(_, count)| {
            before += count;
            before >= rank
        })
    };
    let (Some((low, _)), Some((middle, _)), Some((high, _))) = (at(0.005), at(0.5), at(0.995)) else {
        return Vec::new();
    };
    let width = (2.0 * noise).max(middle.abs() * 0.01).max(1.0).max((high - low) / MOST_BINS as f64);
    let mut bins = vec![0.0; ((high - low) / width) as usize + 1];
    for (value, count) in values.iter().filter(|(value, _)| (*low..=*high).contains(value)) {
        if let Some(bin) = bins.get_mut(((value - low) / width) as usize) {
            *bin += *count as f64;
        }
    }
    let cuts: Vec<f64> = valleys(&bins).into_iter().map(|bin| low + (bin as f64 + 0.5) * width).collect();
    let group = |value: f64| cuts.iter().filter(|cut| value > **cut).count();
    let groups = values.chunk_by(|a, b| group(a.0) == group(b.0));
    groups
        .map(|group| {
            let count: u64 = group.iter().map(|(_, count)| count).sum();
            let sum: f64 = group.iter().map(|(value, count)| value * *count as f64).sum();
            (count, sum / count as f64)
        })
        .collect()
}

/// The bins that separate two peaks.
fn valleys(bins: &[f64]) -> Vec<usize> {
    let mut valleys = Vec::new();
    let (mut peak, mut lowest, mut lowest_at) = (0.0_f64, f64::INFINITY, 0);
    // Smaller peaks are scatter.
    let least = bins.iter().sum::<f64>() * 0.01;
    for (index, bin) in bins.iter().enumerate() {
        if *bin < lowest {
            (lowest, lowest_at) = (*bin, index);
        }
        let lower = peak.min(*bin);
        if lower >= least && lowest < VALLEY * lower {
            valleys.push(lowest_at);
            (peak, lowest) = (*bin, *bin);
        }
        if *bin > peak {
            (peak, lowest) = (*bin, *bin);
        }
    }
    valleys
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of a bell around each centre, so many values each.
    fn bells(centres: &[(f64, u64)], sd: f64) -> Vec<(f64, u64)> {
        let range = (0..4000).map(f64::from);
        let bell = |value: f64, (centre, count): (f64, u64)| {
            let z = (value - centre) / sd;
            (count as f64 * (-z * z / 2.0).exp() / (sd * 2.506)).round() as u64
        };
        range
            .map(|value| (value, centres.iter().map(|centre| bell(value, *centre)).sum()))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    fn shares(values: &[(f64, u64)]) -> Vec<(i64, i64)> {
        let total: u64 = values.iter().map(|(_, count)| count).sum();
        let groups = split(values, 1.0);
        groups
            .iter()
            .map(|(count, mean)| (((count * 100 + total / 2) / total) as i64, mean.round() as i64))
            .collect()
    }

    #[test]
    fn one_bell_is_one_group_however_wide() {
        for sd in [2.0, 10.0, 100.0] {
            assert_eq!(shares(&bells(&[(1000.0, 100_000)], sd)).len(), 1, "{sd}");
        }
    }

    #[test]
    fn two_placements_are_two_groups() {
        let groups = shares(&bells(&[(1285.0, 60_000), (1330.0, 40_000)], 4.0));
        assert_eq!(groups, [(60, 1285), (40, 1330)]);
        let groups = shares(&bells(&[(125.0, 50_000), (600.0, 10_000)], 5.0));
        assert_eq!(groups, [(83, 125), (17, 600)]);
    }

    #[test]
    fn nothing_is_no_group() {
        assert_eq!(split(&[], 1.0), []);
        assert_eq!(split(&[(7.0, 3)], 1.0), [(3, 7.0)]);
    }
}

//! How heavy the tails of hosts' distances are: by those in the middle, which are seen often enough, a Student t is chosen for those far
//! out. Its degrees of freedom are the fewest that are still likely, so that few hosts give a heavy tail.

use crate::median::{NORMAL, median};
use stats::Student;

/// Of the hosts, this part is beyond where tails are looked at. Odd hosts that are fewer hardly move it; more make the tail heavier, and
/// nobody is named who should not be.
const BEYOND: f64 = 0.1;

/// So many standard errors the ratio may be greater than it was found.
const LIKELY: f64 = 2.0;

/// No tail is taken to be lighter.
const LIGHTEST: f64 = 30.0;

/// Nor is any heavier, where few hosts would allow it.
const HEAVIEST: f64 = 3.0;

/// Tails are heavier than the middle shows where what hosts differ by adds up with what is normal. By simulation, a t of 3 with as much normal
/// noise looks like one of 4.3, and so few in a million are as far off as of 3.3; of 4, like 6.0 and 4.5.
const HIDDEN: f64 = 16.0;

/// The density of |normal| / 0.6745 at 1 and where a tenth is beyond.
const DENSITY_AT_ONE: f64 = 0.4287;
const DENSITY_BEYOND: f64 = 0.1391;

/// Collects distances of hosts, row by row.
#[derive(Debug, Clone)]
pub(crate) struct Tails {
    /// Host, and its distance in medians of its row's.
    all: Vec<(u32, f64)>,
    hosts: usize,
}

impl Tails {
    pub fn new(hosts: usize) -> Tails {
        Tails { all: Vec::new(), hosts }
    }

    /// Adds a row: hosts with their distances.
    pub fn add(&mut self, row: impl Iterator<Item = (u32, f64)>) {
        let row: Vec<(u32, f64)> = row.map(|(host, distance)| (host, distance.abs())).collect();
        let middle = median(&mut row.iter().map(|(_, distance)| *distance).collect::<Vec<_>>());
        // Most values are the same: nothing is known of the scale.
        let unit = middle.filter(|middle| *middle > 0.0).unwrap_or(1.0 / NORMAL);
        self.all.extend(row.into_iter().map(|(host, distance)| (host, distance / unit)));
    }

    /// Degrees of freedom.
    pub fn freedom(mut self) -> f64 {
        self.all.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        let count = self.all.len() as f64;
        let place = ((1.0 - BEYOND) * count) as usize;
        let Some((_, ratio)) = self.all.get(place).copied() else { return HEAVIEST };
        let seen = freedom_of(ratio + LIKELY * self.error(ratio, count));
        (seen.recip() + HIDDEN.recip()).recip()
    }

    /// The standard error of the ratio. All rows of a host may move together, so that it is by what each host adds.
    fn error(&self, ratio: f64, count: f64) -> f64 {
        let density_beyond = DENSITY_BEYOND * (ratio_of(LIGHTEST) / ratio).min(1.0).powi(3);
        let mut parts = vec![0.0; self.hosts];
        for (host, distance) in &self.all {
            let is = |condition: bool, part: f64| f64::from(u8::from(condition)) - part;
            let of_beyond = is(*distance > ratio, BEYOND) / density_beyond;
            let of_middle = ratio * is(*distance > 1.0, 0.5) / DENSITY_AT_ONE;
            parts[*host as usize] += (of_beyond - of_middle) / count;
        }
        parts.iter().map(|part| part * part).sum::<f64>().sqrt()
    }
}

/// How many medians of |t| are where a tenth is beyond.
fn ratio_of(freedom: f64) -> f64 {
    Student::new(freedom).map_or(f64::NAN, |student| student.reach(BEYOND) / student.reach(0.5))
}

/// The Student t with this ratio.
fn freedom_of(ratio: f64) -> f64 {
    let (mut heavy, mut light) = (HEAVIEST, LIGHTEST);
    if ratio.is_nan() || ratio >= ratio_of(heavy) {
        return heavy;
    }
    if ratio <= ratio_of(light) {
        return light;
    }
    for _ in 0..40 {
        let middle = f64::midpoint(heavy, light);
        if ratio_of(middle) > ratio { heavy = middle } else { light = middle }
    }
    heavy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_the_degrees_of_freedom_that_it_comes_of() {
        for freedom in [3.0, 4.5, 8.0, 30.0] {
            let found = freedom_of(ratio_of(freedom));
            assert!((found - freedom).abs() < 1e-3 * freedom, "{found} for {freedom}");
        }
        assert_eq!(freedom_of(100.0), HEAVIEST);
        assert_eq!(freedom_of(2.0), LIGHTEST);
        assert_eq!(freedom_of(f64::NAN), HEAVIEST);
    }
}

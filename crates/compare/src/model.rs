//! The change of one row: a mixed linear model of rounds within runs within boots, and of runs that are near in time.
//!
//! The figure of a run is the mean of its side, plus what its boot adds, plus what the minutes add in which it was taken, plus what the
//! run adds, plus the error within the run, which its own interval tells. How much runs add is uncertain: κ says by what factor its variance differs from the prior's. The
//! means are estimated by generalized least squares, and κ by the residuals, moderated by a prior as in limma (Smyth 2004): an
//! inverse χ² distribution with few degrees of freedom, so that tests are Student's t with those and the runs' together.

use crate::prior::{DRIFT_SECONDS, LEAST_OF_ERROR};

/// The figure of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Observation {
    /// What it says.
    pub figure: f64,
    /// Standard error within the run.
    pub error: f64,
    /// Standard deviation between runs of one boot, by the prior.
    pub between_runs: f64,
    /// Standard deviation between boots, by the prior.
    pub between_boots: f64,
    /// Standard deviation between runs that are far apart in time, in addition, by the prior: what holds for minutes.
    pub drift: f64,
    /// When the run began, in seconds; infinite where nobody knows, which is far from every other time.
    pub at: f64,
    /// Which boot it is of.
    pub boot: usize,
    /// Which mean it has.
    pub side: usize,
}

impl Observation {
    /// Variance of its run alone, if that between runs is `factor` times the prior's. So is that within the run, because nobody can
    /// tell one from the other by a figure a run; but what the run states is not believed to be much too great.
    pub fn variance(&self, factor: f64) -> f64 {
        factor * self.between_runs.powi(2) + factor.max(LEAST_OF_ERROR) * self.error.powi(2)
    }

    /// What it has in common with another run in drift: all of it at the same moment, and nothing after many times [`DRIFT_SECONDS`].
    fn drift_with(&self, other: &Observation) -> f64 {
        let apart = if self.at == other.at { 0.0 } else { (self.at - other.at).abs() };
        self.drift * other.drift * (-apart / DRIFT_SECONDS).exp()
    }
}

/// The means of two sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Means {
    pub means: [f64; 2],
    /// Of the means, if the factor is the true one.
    pub covariance: [[f64; 2]; 2],
    /// Sum of the squared residuals, each as a part of its variance.
    pub residual: f64,
}

/// What the residuals of some observations say about the factor.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Evidence {
    /// Sum of the squared residuals, each as a part of what the prior expects.
    pub residual: f64,
    /// Degrees of freedom.
    pub freedom: f64,
}

impl Evidence {
    /// With a prior that expects `factor` and counts for so many degrees of freedom.
    pub fn moderated(self, factor: f64, freedom: f64) -> f64 {
        (freedom * factor + self.residual) / (freedom + self.freedom)
    }
}

impl std::ops::Add for Evidence {
    type Output = Evidence;

    fn add(self, other: Evidence) -> Evidence {
        Evidence { residual: self.residual + other.residual, freedom: self.freedom + other.freedom }
    }
}

/// The means of two sides; none where a side has no observation. The variance between boots is `of_boots` times the prior's: where that
/// is great, boots that both sides share are compared within, and nothing else counts.
pub(crate) fn means(observations: &[Observation], factor: f64, of_boots: f64) -> Option<Means> {
    let covariance = Covariance::of(observations, [factor, of_boots])?;
    let is_of = |side: usize| move |o: &Observation| f64::from(u8::from(o.side == side));
    let [base, new] = [0, 1].map(|side| covariance.white(observations, is_of(side)));
    let figures = covariance.white(observations, |o| o.figure);
    let (bb, bn, nn) = (dot(&base, &base), dot(&base, &new), dot(&new, &new));
    let (by, ny) = (dot(&base, &figures), dot(&new, &figures));
    let determinant = bb * nn - bn * bn;
    let is_regular = bb > 0.0 && nn > 0.0 && determinant > 0.0;
    let means = [(nn * by - bn * ny) / determinant, (bb * ny - bn * by) / determinant];
    let of_means = [[nn / determinant, -bn / determinant], [-bn / determinant, bb / determinant]];
    let residual = |o: &Observation| o.figure - means.get(o.side).copied().unwrap_or(f64::NAN);
    let residuals = covariance.white(observations, residual);
    let all = means.into_iter().chain(of_means.into_iter().flatten());
    (is_regular && all.into_iter().all(f64::is_finite)).then(|| Means {
        means,
        covariance: of_means,
        residual: dot(&residuals, &residuals),
    })
}

/// What runs with one mean say about the factor, by their residuals.
pub(crate) fn evidence(observations: &[Observation]) -> Evidence {
    let Some(covariance) = Covariance::of(observations, [1.0; 2]) else { return Evidence::default() };
    let one = covariance.white(observations, |_| 1.0);
    let mean = dot(&one, &covariance.white(observations, |o| o.figure)) / dot(&one, &one);
    let residuals = covariance.white(observations, |o| o.figure - mean);
    let residual = dot(&residuals, &residuals);
    let freedom = observations.len().saturating_sub(1) as f64;
    if residual.is_finite() { Evidence { residual, freedom } } else { Evidence::default() }
}

/// The covariance V of some observations as L Lᵀ, by the rows of the triangle L: what each run varies by itself, what all runs of a
/// boot have in common, and what runs that are near in time have.
struct Covariance(Vec<Vec<f64>>);

impl Covariance {
    /// If runs vary by `factor` times the prior's variance, and boots by `of_boots` times. Drift is never believed to be less than the
    /// prior says: runs of a few minutes do not show it. None where a number is not finite.
    fn of(observations: &[Observation], [factor, of_boots]: [f64; 2]) -> Option<Covariance> {
        let in_common = |one: &Observation, other: &Observation| {
            let boot = if one.boot == other.boot { one.between_boots * other.between_boots } else { 0.0 };
            of_boots * boot + factor.max(1.0) * one.drift_with(other)
        };
        let mut triangle: Vec<Vec<f64>> = Vec::new();
        for (index, one) in observations.iter().enumerate() {
            let mut row: Vec<f64> = Vec::with_capacity(index + 1);
            for (above, other) in triangle.iter().zip(observations) {
                let (diagonal, before) = above.split_last()?;
                row.push((in_common(one, other) - dot(&row, before)) / diagonal);
            }
            let own = one.variance(factor) + in_common(one, one) - dot(&row, &row);
            row.push(Some(own.sqrt()).filter(|own| own.is_finite() && *own > 0.0)?);
            triangle.push(row);
        }
        Some(Covariance(triangle))
    }

    /// L⁻¹ u: the product of two such vectors is uᵀ V⁻¹ v.
    fn white(&self, observations: &[Observation], u: impl Fn(&Observation) -> f64) -> Vec<f64> {
        let mut white: Vec<f64> = Vec::with_capacity(observations.len());
        for (row, o) in self.0.iter().zip(observations) {
            let Some((diagonal, before)) = row.split_last() else { continue };
            white.push((u(o) - dot(before, &white)) / diagonal);
        }
        white
    }
}

fn dot(u: &[f64], v: &[f64]) -> f64 {
    u.iter().zip(v).map(|(u, v)| u * v).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(figure: f64, boot: usize, side: usize) -> Observation {
        Observation {
            figure,
            error: 3.0,
            between_runs: 4.0,
            between_boots: 12.0,
            drift: 0.0,
            at: 0.0,
            boot,
            side,
        }
    }

    fn variance_of_change(found: &Means) -> f64 {
        let [[bb, bn], [_, nn]] = found.covariance;
        bb + nn - 2.0 * bn
    }

    #[test]
    fn a_boot_that_both_sides_share_costs_nothing_and_two_boots_do() {
        // A run varies by 4² + 3² = 25, a boot by 144.
        let apart = means(&[observation(300.0, 0, 0), observation(310.0, 1, 1)], 1.0, 1.0).unwrap();
        assert!((apart.means[0] - 300.0).abs() < 1e-9 && (apart.means[1] - 310.0).abs() < 1e-9, "{apart:?}");
        assert!((variance_of_change(&apart) - 2.0 * (25.0 + 144.0)).abs() < 1e-9, "{apart:?}");
        let together = means(&[observation(300.0, 0, 0), observation(310.0, 0, 1)], 1.0, 1.0).unwrap();
        assert!((variance_of_change(&together) - 2.0 * 25.0).abs() < 1e-9, "{together:?}");
        assert!((together.covariance[0][0] - 169.0).abs() < 1e-9, "a side alone still has its boot's part");
        assert!(together.residual < 1e-9, "a run a side leaves nothing over");
    }

    #[test]
    fn more_runs_of_a_boot_leave_the_boots_part() {
        let side = |side: usize, at: f64| [-1.0, 0.0, 1.0].map(|off| observation(at + off, side, side));
        let found = means(&[side(0, 300.0), side(1, 310.0)].concat(), 1.0, 1.0).unwrap();
        assert!((variance_of_change(&found) - 2.0 * (25.0 / 3.0 + 144.0)).abs() < 1e-9, "{found:?}");
        assert!((found.residual - 4.0 / 25.0).abs() < 1e-9, "two squares of 1 on either side: {found:?}");
    }

    #[test]
    fn drift_is_in_sides_that_are_hours_apart_and_hardly_in_runs_that_were_taken_in_turns() {
        let run = |at: f64, side: usize| Observation {
            drift: 10.0,
            between_boots: 0.0,
            at,
            ..observation(300.0, 0, side)
        };
        let variance = |runs: &[Observation]| variance_of_change(&means(runs, 1.0, 1.0).unwrap());
        let of_runs = 2.0 * 25.0 / 3.0;
        let in_turns = [0.0, 1.0, 2.0].map(|pair| [run(12.0 * pair, 0), run(12.0 * pair + 6.0, 1)]).concat();
        let apart = [0.0, 6.0, 12.0].map(|at| [run(at, 0), run(1e5 + at, 1)]).concat();
        let (turns, apart) = (variance(&in_turns), variance(&apart));
        assert!(turns > of_runs && turns < of_runs + 10.0, "{turns}");
        assert!(apart > of_runs + 180.0 && apart < of_runs + 201.0, "{apart}");
        let unknown = [run(f64::NEG_INFINITY, 0), run(f64::INFINITY, 1)];
        assert!((variance(&unknown) - 2.0 * (25.0 + 100.0)).abs() < 1e-9, "as far apart as can be");
    }

    #[test]
    fn an_imprecise_run_counts_for_less() {
        let vague = Observation { error: 300.0, ..observation(400.0, 0, 0) };
        let found = means(&[observation(300.0, 0, 0), vague, observation(300.0, 0, 1)], 1.0, 1.0).unwrap();
        assert!((found.means[0] - 300.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn variance_between_runs_is_scaled_and_what_a_run_states_is_believed() {
        let one = observation(0.0, 0, 0);
        assert_eq!([one.variance(1.0), one.variance(4.0)], [25.0, 100.0]);
        assert_eq!(one.variance(0.0), LEAST_OF_ERROR * 9.0);
    }

    #[test]
    fn runs_with_one_mean_tell_how_much_they_vary() {
        let runs = [295.0, 300.0, 305.0].map(|figure| observation(figure, 0, 0));
        let found = evidence(&runs);
        assert!((found.residual - 2.0).abs() < 1e-9 && found.freedom == 2.0, "50 of 25: {found:?}");
        assert!((found.moderated(1.0, 2.0) - 1.0).abs() < 1e-9);
        assert_eq!(Evidence { residual: 36.0, freedom: 4.0 }.moderated(1.0, 4.0), 5.0);
        assert_eq!((evidence(&[]), evidence(&runs[..1]).freedom), (Evidence::default(), 0.0));
    }

    #[test]
    fn a_side_without_runs_has_no_mean() {
        assert_eq!(means(&[observation(1.0, 0, 0)], 1.0, 1.0), None);
        assert_eq!(means(&[], 1.0, 1.0), None);
    }
}

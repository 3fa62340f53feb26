//! The changes of all rows together: what the rows of one kind show about how much runs vary helps each of them.

use crate::comparison::{Source, Unit, Variation};
use crate::model::{Evidence, Means, Observation, evidence, means};
use crate::pair::Figures;
use crate::prior::{Behaviour, FREEDOM_OF_KIND, ROWS_LIKE_ONE};
use crate::run::Paired;
use crate::student::Student;
use std::collections::BTreeMap;

/// What one row can say of the others of its kind, at most: residuals of so many times what is expected. A row that is beside
/// itself says nothing of them.
const AT_MOST: f64 = 16.0;

/// The estimate of a row's change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    pub means: [f64; 2],
    /// Of the means.
    pub covariance: [[f64; 2]; 2],
    /// What the estimates follow.
    pub student: Student,
    /// Degrees of freedom.
    pub freedom: f64,
    /// Variance that one more run on a side has, in a boot of its own where the sides are of different boots.
    pub of_a_run: f64,
    /// Runs on the side with fewer.
    pub runs: u64,
}

/// What is known of one row's variation.
#[derive(Debug, Clone, Copy)]
struct Known {
    runs: Evidence,
    history: Evidence,
    kept_runs: u64,
}

/// Fits every row; none where something is not finite.
pub(crate) fn fit_all(rows: &[&Figures]) -> Vec<Option<(Fit, Variation)>> {
    let of_runs = |row: &&Figures| if row.paired.is_none() { Known::of(row) } else { None };
    let known: Vec<Option<Known>> = rows.iter().map(of_runs).collect();
    let mut kinds = BTreeMap::<(Behaviour, Unit), [Evidence; 2]>::new();
    for (row, known) in rows.iter().zip(&known) {
        let Some(known) = known else { continue };
        let [runs, history] = kinds.entry((row.behaviour, row.unit)).or_default();
        *runs = *runs + known.runs.for_kind();
        *history = *history + known.history.for_kind();
    }
    let fit = |(row, known): (&&Figures, &Option<Known>)| {
        if let Some(paired) = &row.paired {
            return of_pairs(row, paired);
        }
        let kind = kinds.get(&(row.behaviour, row.unit)).copied().unwrap_or_default();
        fit(row, (*known)?, kind)
    };
    rows.iter().zip(&known).map(fit).collect()
}

impl Known {
    fn of(row: &Figures) -> Option<Known> {
        let Means { residual, .. } = means(&row.observations, 1.0)?;
        let freedom = row.observations.len().saturating_sub(2) as f64;
        let history = row.history.iter().map(|group| evidence(group));
        Some(Known {
            runs: Evidence { residual, freedom },
            history: history.fold(Evidence::default(), |a, b| a + b),
            kept_runs: row.history.iter().map(|group| group.len() as u64).sum(),
        })
    }
}

impl Evidence {
    /// What it says of other rows of its kind.
    fn for_kind(self) -> Evidence {
        let residual = self.residual.min(AT_MOST * self.freedom);
        Evidence { residual: residual / ROWS_LIKE_ONE, freedom: self.freedom / ROWS_LIKE_ONE }
    }
}

fn fit(row: &Figures, known: Known, [runs, history]: [Evidence; 2]) -> Option<(Fit, Variation)> {
    let kind = runs + history;
    // As a kind becomes known, what remains is by how much rows of one kind differ.
    let of_kind = (row.behaviour.freedom_of_row().recip() + (FREEDOM_OF_KIND + kind.freedom).recip()).recip();
    let expected = kind.moderated(1.0, FREEDOM_OF_KIND);
    let factor = (known.runs + known.history).moderated(expected, of_kind);
    let Means { means, covariance, .. } = means(&row.observations, factor)?;
    let freedom = of_kind + known.runs.freedom + known.history.freedom;
    let count = |side: usize| row.observations.iter().filter(|o| o.side == side).count() as u64;
    let root_mean_square = |of: &dyn Fn(&Observation) -> f64| {
        let sum: f64 = row.observations.iter().map(|o| of(o).powi(2)).sum();
        (sum / row.observations.len() as f64).sqrt()
    };
    let of_boots = if row.are_of_different_boots() { root_mean_square(&|o| o.between_boots) } else { 0.0 };
    let of_a_run = root_mean_square(&|o| o.variance(factor).sqrt()).powi(2) + factor * of_boots.powi(2);
    let fit = Fit {
        means,
        covariance,
        student: Student::new(freedom)?,
        freedom,
        of_a_run,
        runs: count(0).min(count(1)),
    };
    let prior = root_mean_square(&|o| o.between_runs);
    // What the kind's rows showed takes the prior's place.
    let share = |of: f64| of_kind * of / (FREEDOM_OF_KIND + kind.freedom);
    let of_runs = known.runs.freedom + share(runs.freedom);
    let of_history = known.history.freedom + share(history.freedom);
    let of_prior = share(FREEDOM_OF_KIND);
    let source = if of_runs >= of_history.max(of_prior) {
        Source::Runs
    } else if of_history >= of_prior {
        Source::History
    } else {
        Source::Prior
    };
    let deviation = factor.sqrt() * prior;
    let base = means.first().copied().filter(|base| *base > 0.0);
    let percent = base.map(|base| 100.0 * deviation / base).filter(|percent| percent.is_finite());
    let variation = Variation {
        deviation,
        percent,
        source,
        of_runs,
        of_history,
        of_prior,
        prior,
        kept_runs: known.kept_runs,
    };
    Some((fit, variation))
}

/// A row whose rounds are in pairs, which tell all of the change.
fn of_pairs(row: &Figures, paired: &Paired) -> Option<(Fit, Variation)> {
    let freedom = paired.pairs.saturating_sub(1) as f64;
    let student = Student::new(freedom)?;
    let error = (paired.high - paired.low) / 2.0 / student.critical(0.025);
    let of = |side: usize| row.observations.iter().find(move |o| o.side == side);
    let (base, new) = (of(0)?, of(1)?);
    let (bb, nn) = (base.error.powi(2), new.error.powi(2));
    // So that the change has the error of the pairs.
    let bn = (bb + nn - error.powi(2)) / 2.0;
    let means = [base.figure, base.figure + paired.change];
    let is_sound = means.iter().chain([&bn]).all(|value| value.is_finite()) && error >= 0.0;
    let fit =
        Fit { means, covariance: [[bb, bn], [bn, nn]], student, freedom, of_a_run: error.powi(2), runs: 1 };
    is_sound.then(|| (fit, Variation { of_runs: freedom, ..Variation::nothing(Source::Pairs) }))
}

impl Variation {
    /// Where nothing is said of how runs vary.
    pub(crate) fn nothing(source: Source) -> Variation {
        Variation {
            deviation: 0.0,
            percent: None,
            source,
            of_runs: 0.0,
            of_history: 0.0,
            of_prior: 0.0,
            prior: 0.0,
            kept_runs: 0,
        }
    }
}

impl Figures {
    /// Whether no boot has runs on both sides.
    fn are_of_different_boots(&self) -> bool {
        let of = |side: usize| self.observations.iter().filter(move |o| o.side == side);
        !of(0).any(|base| of(1).any(|new| base.boot == new.boot))
    }
}

impl Fit {
    pub fn change(&self) -> f64 {
        self.means[1] - self.means[0]
    }

    /// Standard error of the change.
    pub fn error(&self) -> f64 {
        let [[bb, bn], [_, nn]] = self.covariance;
        (bb + nn - 2.0 * bn).max(0.0).sqrt()
    }

    /// How many more runs it takes on each side until a change of `change` is told from nothing at the probability `of_change`, or
    /// until it is the same within `margin` at the probability `of_same`, whichever is fewer; none where more than `most` would be.
    pub fn more_runs(&self, margin: f64, [of_change, of_same]: [f64; 2], most: u64) -> Option<u64> {
        let change = self.change().abs();
        let decides = |more: u64| {
            let error = (2.0 * self.of_a_run / (self.runs + more) as f64).sqrt();
            let student = Student::new(self.freedom + 2.0 * more as f64);
            let clears = |probability: f64, reach: f64| {
                student.is_some_and(|student| student.critical(probability) * error <= reach)
            };
            clears(of_change / 2.0, change) || clears(of_same, margin - change)
        };
        let (mut low, mut high) = (1, most);
        if !decides(most) {
            return None;
        }
        while low < high {
            let middle = (low + high) / 2;
            if decides(middle) { high = middle } else { low = middle + 1 }
        }
        Some(low)
    }
}

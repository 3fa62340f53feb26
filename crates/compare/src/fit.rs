//! The changes of all rows together: what the rows of one kind show about how much runs vary helps each of them.

use crate::boots;
use crate::comparison::{Source, Unit, Variation};
use crate::figures::Figures;
use crate::judgement::USUAL;
use crate::model::{Evidence, Means, Observation, means};
use crate::prior::{
    Behaviour, FREEDOM_OF_KERNEL, FREEDOM_OF_KIND, FREEDOM_OF_ROW_OF_BOOTS, LEAST_OF_ERROR, ROWS_LIKE_ONE,
    ROWS_OF_A_BOOT_LIKE_ONE,
};
use stats::Student;
use std::collections::BTreeMap;

/// What one row can say of the others of its kind, at most: residuals of so many times what is expected. A row that is beside
/// itself says nothing of them.
const AT_MOST: f64 = 16.0;

/// So many times the prior's variance between boots leaves nothing of what one boot says about another.
const ANYTHING: f64 = 1e4;

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
    /// Variance of the change that more runs do not take away.
    pub of_drift: f64,
    /// Runs on the side with fewer.
    pub runs: u64,
}

/// Rows of one kind vary alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    behaviour: Behaviour,
    enters_the_kernel: bool,
    unit: Unit,
    are_of_boots: bool,
}

/// What is known of one row's variation.
#[derive(Debug, Clone, Copy)]
struct Known {
    runs: Evidence,
    history: Evidence,
    kept_runs: u64,
}

/// Fits every row but those in turns; none where something is not finite.
pub(crate) fn fit_all(rows: &[&Figures]) -> Vec<Option<(Fit, Variation)>> {
    let of_runs = |row: &&Figures| if row.turns.is_none() { Known::of(row) } else { None };
    let known: Vec<Option<Known>> = rows.iter().map(of_runs).collect();
    let rows_of_kind = |kind: Kind| rows.iter().filter(|row| row.kind() == kind).count() as f64;
    let mut kinds = BTreeMap::<Kind, [Evidence; 2]>::new();
    for (row, known) in rows.iter().zip(&known) {
        let Some(known) = known else { continue };
        let like_one = row.rows_like_one().unwrap_or_else(|| rows_of_kind(row.kind()));
        let [runs, history] = kinds.entry(row.kind()).or_default();
        *runs = *runs + known.runs.for_kind(like_one);
        *history = *history + known.history.for_kind(like_one);
    }
    let fit = |(row, known): (&&Figures, &Option<Known>)| {
        let kind = kinds.get(&row.kind()).copied().unwrap_or_default();
        fit(row, (*known)?, kind)
    };
    rows.iter().zip(&known).map(fit).collect()
}

impl Known {
    fn of(row: &Figures) -> Option<Known> {
        let Means { residual, .. } = means(&row.observations, 1.0, ANYTHING)?;
        // Of sides that are of boots, all observations have one number.
        let estimated = boots::count(&row.observations) + 1;
        let freedom = row.observations.len().saturating_sub(estimated) as f64;
        let history = row.history.iter().map(|group| boots::evidence_within(group));
        Some(Known {
            runs: Evidence { residual, freedom },
            history: history.fold(Evidence::default(), |a, b| a + b),
            kept_runs: row.kept_runs,
        })
    }
}

impl Evidence {
    /// What it says of other rows of its kind.
    fn for_kind(self, rows_like_one: f64) -> Evidence {
        let residual = self.residual.min(AT_MOST * self.freedom);
        Evidence { residual: residual / rows_like_one, freedom: self.freedom / rows_like_one }
    }
}

/// By what factor a row's variance between runs differs from the prior's, and what that rests on.
struct Factor {
    value: f64,
    /// Degrees of freedom of all that it rests on.
    freedom: f64,
    /// Of these, what the kind of row is worth.
    of_kind: f64,
}

impl Factor {
    fn of(row: &Figures, known: Known, kind: Evidence) -> Factor {
        // As a kind becomes known, what remains is by how much rows of one kind differ.
        let of_row = row.freedom_of_row();
        let prior = row.freedom_of_prior();
        let of_kind = (of_row.recip() + (prior + kind.freedom).recip()).recip();
        let value = (known.runs + known.history).moderated(kind.moderated(1.0, prior), of_kind);
        Factor { value, freedom: of_kind + known.runs.freedom + known.history.freedom, of_kind }
    }
}

fn fit(row: &Figures, known: Known, kind: [Evidence; 2]) -> Option<(Fit, Variation)> {
    let factor = Factor::of(row, known, kind[0] + kind[1]);
    let Means { means, covariance, .. } = means(&row.observations, factor.value, factor.value.max(1.0))?;
    let within = row.mean_square(|o| o.error);
    let believed = LEAST_OF_ERROR * within;
    let between = factor.value * row.mean_square(|o| o.between_runs);
    let uncertain = between + factor.value.max(LEAST_OF_ERROR) * within - believed;
    let parts = [(uncertain, factor.freedom), (believed, row.freedom_of_row())];
    let freedom = factor.freedom.max(satterthwaite(parts));
    let count = |side: usize| row.observations.iter().filter(|o| o.side == side).count() as u64;
    let student = Student::new(freedom)?;
    let of_a_run = uncertain + believed;
    let runs = count(0).min(count(1));
    let mut fit = Fit { means, covariance, student, freedom, of_a_run, of_drift: 0.0, runs };
    fit.doubt(shift(&row.observations));
    let of_runs = of_a_run * ((count(0) as f64).recip() + (count(1) as f64).recip());
    fit.of_drift = (fit.error().powi(2) - of_runs).max(0.0);
    Some((fit, variation(row, known, kind, &factor, means[0])))
}

/// The median of all differences between a run of the new side and one of the base (Hodges and Lehmann 1963): two odd runs of five do not move it.
fn shift(observations: &[Observation]) -> Option<f64> {
    let of = |side| observations.iter().filter(move |o| o.side == side).map(|o| o.figure);
    stats::quantile_of(of(1).flat_map(|new| of(0).map(move |base| new - base)), 0.5)
}

fn variation(row: &Figures, known: Known, kind: [Evidence; 2], factor: &Factor, base: f64) -> Variation {
    let [runs, history] = kind;
    // What the kind's rows showed takes the prior's place.
    let prior = row.freedom_of_prior();
    let share = |of: f64| factor.of_kind * of / (prior + (runs + history).freedom);
    let of_runs = known.runs.freedom + share(runs.freedom);
    let of_history = known.history.freedom + share(history.freedom);
    let of_prior = share(prior);
    let source = if of_runs >= of_history.max(of_prior) {
        Source::Runs
    } else if of_history >= of_prior {
        Source::History
    } else {
        Source::Prior
    };
    // Of sides that are of boots, it has what these add.
    let prior = row.mean_square(|o| o.between_runs).sqrt();
    let deviation = factor.value.sqrt() * prior;
    let percent = (base > 0.0).then(|| 100.0 * deviation / base).filter(|percent| percent.is_finite());
    let kept_runs = known.kept_runs;
    Variation {
        deviation: Some(deviation),
        percent,
        source,
        of_runs,
        of_history,
        of_prior,
        prior: Some(prior),
        kept_runs,
        pairs: 0,
    }
}

/// The degrees of freedom of a sum of variances, each with its own (Satterthwaite 1946).
fn satterthwaite(variances: [(f64, f64); 2]) -> f64 {
    let sum: f64 = variances.iter().map(|(variance, _)| variance).sum();
    let squares: f64 = variances.iter().map(|(variance, freedom)| variance.powi(2) / freedom).sum();
    if squares > 0.0 { sum.powi(2) / squares } else { 0.0 }
}

impl Variation {
    /// Where nothing is said of how runs vary.
    pub(crate) fn nothing(source: Source) -> Variation {
        Variation {
            deviation: None,
            percent: None,
            source,
            of_runs: 0.0,
            of_history: 0.0,
            of_prior: 0.0,
            prior: None,
            kept_runs: 0,
            pairs: 0,
        }
    }
}

impl Figures {
    fn mean_square(&self, of: impl Fn(&Observation) -> f64) -> f64 {
        let sum: f64 = self.observations.iter().map(|o| of(o).powi(2)).sum();
        sum / self.observations.len() as f64
    }

    fn kind(&self) -> Kind {
        Kind {
            behaviour: self.behaviour,
            enters_the_kernel: self.enters_the_kernel,
            unit: self.unit,
            are_of_boots: self.are_of_boots,
        }
    }

    /// So many rows of its kind tell as much as one; none where all of them together do, because they have the state of a CPU in common.
    fn rows_like_one(&self) -> Option<f64> {
        let alike = if self.are_of_boots { ROWS_OF_A_BOOT_LIKE_ONE } else { ROWS_LIKE_ONE };
        (!self.enters_the_kernel).then_some(alike)
    }

    /// For so many degrees of freedom the prior counts.
    fn freedom_of_prior(&self) -> f64 {
        if self.enters_the_kernel { FREEDOM_OF_KERNEL } else { FREEDOM_OF_KIND }
    }

    fn freedom_of_row(&self) -> f64 {
        let most = if self.are_of_boots { FREEDOM_OF_ROW_OF_BOOTS } else { f64::INFINITY };
        self.behaviour.freedom_of_row().min(most)
    }
}

impl Fit {
    pub fn change(&self) -> f64 {
        self.means[1] - self.means[0]
    }

    /// Takes into account what the change is by another estimator, which odd runs hardly move: by how much the two disagree, the change is
    /// uncertain. Means follow a run that is odd, and all the more one that is sure of itself.
    fn doubt(&mut self, shift: Option<f64>) {
        let apart = shift.map_or(0.0, |shift| self.change() - shift);
        let [base, new] = &mut self.covariance;
        base[0] += apart.powi(2) / 2.0;
        new[1] += apart.powi(2) / 2.0;
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
            self.clears(more, of_change / 2.0, change) || self.clears(more, of_same, margin - change)
        };
        fewest(most, decides)
    }

    /// How many more runs it takes on each side until the interval of the change leaves out `limit`; none where more than `most` would be.
    pub fn more_runs_to_clear(&self, limit: f64, of_change: f64, most: u64) -> Option<u64> {
        let (change, room) = (self.change().abs(), (self.change() - limit).abs());
        let decides = |more: u64| {
            // The interval of a change that is told has the confidence that tells it.
            let is_told = self.clears(more, of_change / 2.0, change);
            self.clears(more, if is_told { of_change } else { USUAL } / 2.0, room)
        };
        fewest(most, decides)
    }

    /// Whether an interval that leaves out `probability` on either end reaches no farther than this, with so many more runs a side.
    fn clears(&self, more: u64, probability: f64, reach: f64) -> bool {
        let error = (2.0 * self.of_a_run / (self.runs + more) as f64 + self.of_drift).sqrt();
        let student = Student::new(self.freedom + 2.0 * more as f64);
        student.is_some_and(|student| student.critical(probability) * error <= reach)
    }
}

/// The least number, from one on, that decides; none where `most` does not.
fn fewest(most: u64, decides: impl Fn(u64) -> bool) -> Option<u64> {
    decides(most).then(|| {
        let (mut low, mut high) = (1, most);
        while low < high {
            let middle = (low + high) / 2;
            if decides(middle) { high = middle } else { low = middle + 1 }
        }
        low
    })
}

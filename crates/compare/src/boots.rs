//! Which boots runs are of, and what that means for a row.
//!
//! Where the kernel lies in memory is drawn at every boot. Where the sides share a boot, they are compared within it, and what boots
//! add concerns neither. Where they share none, a boot is what differs between them, and its runs are no repetitions of it: then each
//! boot counts as one figure, the mean of its runs, and only figures of several boots tell how much these vary.

use crate::model::{Evidence, Observation, evidence};
use crate::run::Run;
use std::collections::{BTreeMap, BTreeSet};

/// The boots of some runs, numbered.
#[derive(Default)]
pub(crate) struct Boots(BTreeMap<String, usize>);

impl Boots {
    /// A boot that is unknown is taken for another on the other side, and for the same within one: this is the widest. Runs that are
    /// of several boots each are as good as of one.
    pub fn number(&mut self, run: &Run, side: usize) -> usize {
        let unknown = || format!("unknown, on side {side}");
        let boot =
            if run.is_of_one_boot { run.head.boot.clone().unwrap_or_else(unknown) } else { "several".into() };
        let next = self.0.len();
        *self.0.entry(boot).or_insert(next)
    }
}

/// Whether the sides share no boot, and one of them has a single one: then nothing in them tells how much boots differ.
pub(crate) fn is_one_against_others([base, new]: [&[&Run]; 2]) -> bool {
    let mut boots = Boots::default();
    let mut of = |runs: &[&Run], side: usize| -> BTreeSet<usize> {
        runs.iter().map(|run| boots.number(run, side)).collect()
    };
    let (of_base, of_new) = (of(base, 0), of(new, 1));
    let is_one = |runs: &[&Run], boots: &BTreeSet<usize>| {
        boots.len() == 1 && runs.iter().all(|run| run.is_of_one_boot)
    };
    of_base.is_disjoint(&of_new) && (is_one(base, &of_base) || is_one(new, &of_new))
}

/// Whether no boot has runs on both sides.
pub(crate) fn are_apart(observations: &[Observation]) -> bool {
    let of = |side: usize| observations.iter().filter(move |o| o.side == side);
    !of(0).any(|base| of(1).any(|new| base.boot == new.boot))
}

/// Each boot of either side as one figure, which varies by what the boot adds and by what its runs leave. A run that is of several
/// boots stays as it is.
pub(crate) fn each_as_one(observations: &[Observation]) -> Vec<Observation> {
    let mut boots = BTreeMap::<(usize, usize, usize), Vec<&Observation>>::new();
    for (index, o) in observations.iter().enumerate() {
        let own = if o.between_boots > 0.0 { 0 } else { index };
        boots.entry((o.side, o.boot, own)).or_default().push(o);
    }
    boots.values().map(|runs| mean(runs)).collect()
}

fn mean(runs: &[&Observation]) -> Observation {
    let weights: f64 = runs.iter().map(|o| o.variance(1.0).recip()).sum();
    let part = |o: &Observation| o.variance(1.0).recip() / weights;
    let mean = |of: &dyn Fn(&Observation) -> f64| runs.iter().map(|o| part(o) * of(o)).sum::<f64>();
    let left =
        |of: &dyn Fn(&Observation) -> f64| runs.iter().map(|o| (part(o) * of(o)).powi(2)).sum::<f64>().sqrt();
    let of_boots = mean(&|o| o.between_boots);
    Observation {
        figure: mean(&|o| o.figure),
        error: left(&|o| o.error),
        between_runs: left(&|o| o.between_runs).hypot(of_boots),
        // It is in the above.
        between_boots: 0.0,
        drift: mean(&|o| o.drift),
        at: mean(&|o| o.at),
        boot: 0,
        side: runs.first().map_or(0, |o| o.side),
    }
}

/// What runs with one mean say about how runs of one boot vary.
pub(crate) fn evidence_within(observations: &[Observation]) -> Evidence {
    let mut boots = BTreeMap::<usize, Vec<Observation>>::new();
    for o in observations {
        boots.entry(o.boot).or_default().push(*o);
    }
    boots.values().map(|runs| evidence(runs)).fold(Evidence::default(), |a, b| a + b)
}

/// Whether runs with one mean say anything about how runs of one boot vary, or about how boots do.
pub(crate) fn tell(observations: &[Observation], of_boots: bool) -> bool {
    let figures = if of_boots { each_as_one(observations).len() } else { observations.len() };
    let means = if of_boots { 1 } else { count(observations) };
    figures > means
}

/// How many boots some runs are of.
pub(crate) fn count(observations: &[Observation]) -> usize {
    observations.iter().map(|o| o.boot).collect::<BTreeSet<usize>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(figure: f64, boot: usize, side: usize) -> Observation {
        Observation {
            figure,
            error: 6.0,
            between_runs: 8.0,
            between_boots: 12.0,
            drift: 0.0,
            at: 0.0,
            boot,
            side,
        }
    }

    #[test]
    fn a_boot_of_several_runs_is_one_figure_that_keeps_the_boots_part() {
        let runs = [298.0, 299.0, 301.0, 302.0].map(|figure| observation(figure, 3, 1));
        let found = each_as_one(&[&runs[..], &[observation(310.0, 4, 1)]].concat());
        assert_eq!(found.len(), 2);
        assert!((found[0].figure - 300.0).abs() < 1e-9 && (found[0].error - 3.0).abs() < 1e-9, "{found:?}");
        assert!((found[0].between_runs - 4f64.hypot(12.0)).abs() < 1e-9, "{found:?}");
        assert_eq!((found[1].figure, found[1].side, found[1].between_boots), (310.0, 1, 0.0));
    }

    #[test]
    fn runs_of_several_boots_each_stay_as_they_are() {
        let runs =
            [298.0, 302.0].map(|figure| Observation { between_boots: 0.0, ..observation(figure, 0, 0) });
        assert_eq!(each_as_one(&runs), runs);
    }

    #[test]
    fn runs_of_one_boot_say_nothing_of_boots_and_boots_nothing_of_runs() {
        let of_one = [298.0, 300.0, 302.0].map(|figure| observation(figure, 0, 0));
        let of_three = [0, 1, 2].map(|boot| observation(300.0 + boot as f64, boot, 0));
        assert_eq!((evidence_within(&of_one).freedom, evidence_within(&of_three).freedom), (2.0, 0.0));
        let of_boots = |runs: &[Observation]| evidence(&each_as_one(runs)).freedom;
        assert_eq!((of_boots(&of_one), of_boots(&of_three)), (0.0, 2.0));
        let tell = |runs: &[Observation]| [false, true].map(|of_boots| tell(runs, of_boots));
        assert_eq!((tell(&of_one), tell(&of_three)), ([true, false], [false, true]));
        assert!((evidence_within(&of_one).residual - 8.0 / 100.0).abs() < 1e-9);
    }
}

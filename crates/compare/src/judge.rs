//! Verdicts over all rows together.
//!
//! Two families of tests, each corrected for the number of rows by Benjamini and Hochberg (1995): whether a row changed at all, and
//! whether it is the same within the margin (two one-sided tests, Schuirmann 1987). Rows of one run depend on each other positively
//! (a clock, a core, a neighbour are common to all), for which the procedure holds (Benjamini and Yekutieli 2001). If nothing
//! changed, a comparison contains any false `slower` or `faster` in 5 of 100 cases at most.
//!
//! The interval that is shown of a row agrees with its verdict: it leaves out 0 exactly where a change is told, and lies within the
//! margin where the row is the same. That of a change that is told has the confidence that the correction asks for (Benjamini and
//! Yekutieli 2005); the others have 95 %, or more where that would say more than the verdict.

use crate::comparison::{Change, Row, Source, Unit, Variation, Verdict};
use crate::figures::Figures;
use crate::fit::{Fit, fit_all};
use crate::judgement::{Judgement, USUAL};
use crate::pair::{RowOfBoth, ToldBy};
use crate::settings::Same;
use crate::turns::PairedChange;

/// Of the changes that are told, so many are none, in the mean over comparisons.
const FALSE_CHANGES: f64 = 0.05;

/// Of the rows that are called the same, so many are not, on either end of the margin. Half as many as of the changes, so that the
/// interval has at least the confidence of 95 %.
const FALSE_SAMES: f64 = 0.025;

/// An interval that must hold 0 does so by more than a rounding error.
const BEYOND: f64 = 1.0 + 1e-6;

/// Judges every pair that has figures.
pub(crate) fn judge(pairs: &mut [RowOfBoth], same: &Same) {
    for pair in pairs.iter_mut() {
        if let Some(figures) = pair.figures.as_ref().filter(|figures| figures.unit == Unit::Instructions) {
            counted(&mut pair.row, figures, same);
        }
    }
    let timed = |pair: &&mut RowOfBoth| {
        pair.figures.as_ref().is_some_and(|figures| figures.unit != Unit::Instructions)
    };
    let mut timed: Vec<&mut RowOfBoth> = pairs.iter_mut().filter(timed).collect();
    let figures: Vec<&Figures> = timed.iter().filter_map(|pair| pair.figures.as_ref()).collect();
    let changes: Vec<Option<Basis>> = fit_all(&figures)
        .into_iter()
        .zip(&figures)
        .map(|(fit, figures)| match &figures.turns {
            Some(rank) => PairedChange::of(figures, rank).map(Basis::PairedChange),
            None => fit.map(|(fit, variation)| Basis::Runs(fit, variation)),
        })
        .collect();
    let mut judged: Vec<Judged> = Vec::new();
    for (pair, change) in timed.iter_mut().zip(changes) {
        let RowOfBoth { row, fit, .. } = &mut **pair;
        let Some(change) = change else { continue };
        let margin = margin(change.means(), row.unit, same);
        judged.push(Judged { row, fit, change, margin });
    }
    let of_change: Vec<f64> = judged.iter().map(|row| row.change.p()).collect();
    let of_same: Vec<f64> = judged.iter().map(|row| row.change.p_of_same(row.margin)).collect();
    let limits = [benjamini_hochberg(&of_change, FALSE_CHANGES), benjamini_hochberg(&of_same, FALSE_SAMES)];
    judged.into_iter().for_each(|row| row.judge(limits));
}

/// The probability up to which a test rejects: R q / m, where R of m do, and q / m where none does.
fn benjamini_hochberg(probabilities: &[f64], rate: f64) -> f64 {
    let mut sorted = probabilities.to_vec();
    sorted.sort_by(f64::total_cmp);
    let step = rate / sorted.len().max(1) as f64;
    let rejected = sorted.iter().zip(1..).filter(|(p, rank)| **p <= step * f64::from(*rank));
    step * f64::from(rejected.map(|(_, rank)| rank).max().unwrap_or(1))
}

/// Within what a row's costs are the same. By the cheaper side, so that it does not matter which one is the base.
fn margin([base, new]: [f64; 2], unit: Option<Unit>, same: &Same) -> f64 {
    let of_percent = same.percent / 100.0 * base.abs().min(new.abs());
    match unit {
        // So many cycles are so many nanoseconds only where the core's clock is known.
        Some(Unit::Ns) | None => of_percent,
        Some(Unit::Cycles | Unit::Instructions) => of_percent.max(same.cycles),
    }
}

/// What tells a row's change.
enum Basis {
    /// The runs of both sides, and what is known of how runs vary.
    Runs(Fit, Variation),
    /// Rounds in turns.
    PairedChange(PairedChange),
}

impl Basis {
    fn means(&self) -> [f64; 2] {
        match self {
            Basis::Runs(fit, _) => fit.means,
            Basis::PairedChange(turns) => turns.means(),
        }
    }

    /// How probable a change at least this great is if there is none.
    fn p(&self) -> f64 {
        match self {
            Basis::Runs(fit, _) => fit.p(),
            Basis::PairedChange(turns) => turns.p(),
        }
    }

    /// How probable a change at most this great is if it is as great as the margin.
    fn p_of_same(&self, margin: f64) -> f64 {
        match self {
            Basis::Runs(fit, _) => fit.p_of_same(margin),
            Basis::PairedChange(turns) => turns.p_of_same(margin),
        }
    }

    fn judgement(&self, margin: f64, limits: [f64; 2]) -> Judgement {
        match self {
            Basis::Runs(fit, _) => fit.judgement(margin, limits),
            Basis::PairedChange(turns) => turns.judgement(margin, limits),
        }
    }
}

impl Fit {
    fn p(&self) -> f64 {
        let error = self.error();
        let t = if error > 0.0 { self.change().abs() / error } else { 0.0 };
        (2.0 * self.student.above(t)).min(1.0)
    }

    fn p_of_same(&self, margin: f64) -> f64 {
        let error = self.error();
        let room = margin - self.change().abs();
        if error > 0.0 { self.student.above(room / error) } else { 1.0 }
    }

    fn judgement(&self, margin: f64, limits: [f64; 2]) -> Judgement {
        let (change, error) = (self.change(), self.error());
        let (verdict, reach) = verdict(self, margin, limits);
        let t = if error > 0.0 { reach / error } else { 0.0 };
        Judgement {
            verdict,
            low: change - reach,
            high: change + reach,
            confidence: (1.0 - 2.0 * self.student.above(t)).max(0.0),
            percent: in_percent(self, t),
        }
    }
}

/// A row, what tells its change, and its margin.
struct Judged<'a> {
    row: &'a mut Row,
    fit: &'a mut Option<ToldBy>,
    change: Basis,
    margin: f64,
}

impl Judged<'_> {
    fn judge(self, limits: [f64; 2]) {
        let Judged { row, fit: told_by, change, margin } = self;
        let ([base, new], told) = (change.means(), change.judgement(margin, limits));
        let at = |index: usize| told.percent.map(|percent| percent[index]);
        row.change = Some(Change {
            estimate: new - base,
            low: told.low,
            high: told.high,
            percent: at(0),
            percent_low: at(1),
            percent_high: at(2),
            confidence: told.confidence,
            p: change.p(),
        });
        row.verdict = told.verdict;
        row.within_margin = told.low > -margin && told.high < margin;
        row.set_margin(margin, base);
        row.variation = Some(match change {
            Basis::PairedChange(turns) => {
                Variation { pairs: turns.pairs(), ..Variation::nothing(Source::Pairs) }
            }
            Basis::Runs(fit, variation) => {
                let is_open = row.verdict == Verdict::Inconclusive;
                row.more_runs = is_open.then(|| fit.more_runs(margin, limits, Row::MANY)).flatten();
                row.set_estimates(&fit);
                *told_by = Some(ToldBy { fit, of_change: limits[0] });
                variation
            }
        });
    }
}

/// The verdict, and how far the interval that it rests on reaches to either side. Where nothing is told, this is the interval of
/// 95 %, unless it would say more than the verdict: then it is as wide as the correction for many rows makes it.
fn verdict(fit: &Fit, margin: f64, [of_change, of_same]: [f64; 2]) -> (Verdict, f64) {
    let change = fit.change();
    let reach = |probability: f64| fit.student.critical(probability) * fit.error();
    let told = reach(of_change / 2.0);
    if change.abs() > told {
        return (if change > 0.0 { Verdict::Slower } else { Verdict::Faster }, told);
    }
    let usual = reach(USUAL / 2.0).max(change.abs() * BEYOND);
    let is_within = |reach: f64| change.abs() + reach < margin;
    match (is_within(usual), is_within(reach(of_same))) {
        (true, true) => (Verdict::Same, usual),
        (true, false) => (Verdict::Inconclusive, reach(of_same)),
        (false, _) => (Verdict::Inconclusive, usual),
    }
}

impl Row {
    fn set_margin(&mut self, margin: f64, base: f64) {
        self.margin = Some(margin);
        self.margin_percent =
            (base > 0.0).then(|| 100.0 * margin / base).filter(|percent| percent.is_finite());
    }

    fn set_estimates(&mut self, fit: &Fit) {
        let reach = fit.student.critical(USUAL / 2.0);
        for (index, side) in [&mut self.base, &mut self.new].into_iter().enumerate() {
            let Some(side) = side else { continue };
            let (mean, error) = (fit.means[index], fit.covariance[index][index].sqrt());
            side.estimate = Some(mean);
            (side.low, side.high) = (Some(mean - reach * error), Some(mean + reach * error));
        }
    }
}

/// The change in percent, and its interval by Fieller's theorem (1954): the ratios of new to base that are not refused at `t`. So it
/// leaves out 0 exactly where the interval of the difference does. None where the base may be zero.
fn in_percent(fit: &Fit, t: f64) -> Option<[f64; 3]> {
    let ([base, new], [[bb, bn], [_, nn]]) = (fit.means, fit.covariance);
    let squared = t * t;
    let (a, b, c) = (base * base - squared * bb, base * new - squared * bn, new * new - squared * nn);
    if base <= 0.0 || a <= 0.0 {
        return None;
    }
    let root = (b * b - a * c).max(0.0).sqrt();
    let percent = [new / base, (b - root) / a, (b + root) / a].map(|ratio| 100.0 * (ratio - 1.0));
    percent.iter().all(|percent| percent.is_finite()).then_some(percent)
}

/// A row whose instructions are counted: what differs differs.
fn counted(row: &mut Row, figures: &Figures, same: &Same) {
    let of = |side: usize| figures.observations.iter().filter(move |o| o.side == side).map(|o| o.figure);
    let ends =
        |side: usize| (of(side).fold(f64::INFINITY, f64::min), of(side).fold(f64::NEG_INFINITY, f64::max));
    let mean = |side: usize| of(side).sum::<f64>() / of(side).count() as f64;
    let ((base_low, base_high), (new_low, new_high)) = (ends(0), ends(1));
    let means = [mean(0), mean(1)];
    let (change, low, high) = (means[1] - means[0], new_low - base_high, new_high - base_low);
    let margin = margin(means, row.unit, same);
    let percent = |change: f64| (means[0] > 0.0).then(|| 100.0 * change / means[0]).filter(|p| p.is_finite());
    row.within_margin = low.abs().max(high.abs()) <= margin;
    row.verdict = if low > 0.0 {
        Verdict::Slower
    } else if high < 0.0 {
        Verdict::Faster
    } else if row.within_margin {
        Verdict::Same
    } else {
        Verdict::Inconclusive
    };
    row.change = Some(Change {
        estimate: change,
        low,
        high,
        percent: percent(change),
        percent_low: percent(low),
        percent_high: percent(high),
        confidence: 1.0,
        p: if low > 0.0 || high < 0.0 { 0.0 } else { 1.0 },
    });
    row.set_margin(margin, means[0]);
    row.variation = Some(Variation { deviation: Some(0.0), ..Variation::nothing(Source::Counted) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Student;

    fn fit(base: f64, new: f64, error: f64) -> Fit {
        let variance = error * error / 2.0;
        Fit {
            means: [base, new],
            covariance: [[variance, 0.0], [0.0, variance]],
            student: Student::new(9.0).unwrap(),
            freedom: 9.0,
            of_a_run: variance,
            of_drift: 0.0,
            runs: 1,
        }
    }

    #[test]
    fn the_greatest_rank_below_its_limit_decides() {
        // Benjamini and Hochberg's own example (1995): 15 tests, of which four are rejected at 0.05.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        assert!((benjamini_hochberg(&p, 0.05) - 4.0 * 0.05 / 15.0).abs() < 1e-12);
        assert_eq!(benjamini_hochberg(&[0.9, 0.8], 0.05), 0.025, "none is");
        assert_eq!(benjamini_hochberg(&[], 0.05), 0.05);
    }

    #[test]
    fn critical_values_are_those_of_the_tables() {
        for (freedom, probability, value) in [(5.0, 0.025, 2.571), (9.0, 0.00025, 5.291), (1e9, 0.025, 1.960)]
        {
            let found = Student::new(freedom).unwrap().critical(probability);
            assert!((found - value).abs() < 0.001, "{freedom} {probability}: {found}");
        }
        assert!(Student::new(0.0).is_none() && Student::new(f64::NAN).is_none());
    }

    #[test]
    fn the_interval_always_agrees_with_the_verdict() {
        let (of_change, margin) = (0.0005, 6.0);
        for of_same in [0.0002, 0.025] {
            for change in (-40..=40).map(|tenths| f64::from(tenths) / 2.0) {
                for error in [0.1, 0.5, 1.0, 2.0, 8.0] {
                    let (told, reach) =
                        verdict(&fit(300.0, 300.0 + change, error), margin, [of_change, of_same]);
                    let (low, high) = (change - reach, change + reach);
                    let holds_nothing = low <= 0.0 && high >= 0.0;
                    let is_within = change.abs() + reach < margin;
                    let agrees = match told {
                        Verdict::Slower => low > 0.0,
                        Verdict::Faster => high < 0.0,
                        Verdict::Same => holds_nothing && is_within,
                        Verdict::Inconclusive => holds_nothing && !is_within,
                        _ => false,
                    };
                    assert!(agrees, "{told}: {low} to {high}");
                    assert!(reach >= 2.26 * error, "at least 95 %");
                }
            }
        }
    }

    #[test]
    fn percent_leaves_out_nothing_where_cycles_do() {
        for change in [-30.0, -6.7, -6.8, 0.0, 6.7, 6.8, 30.0] {
            let (fit, t) = (fit(300.0, 300.0 + change, 3.0), 2.262);
            let [percent, low, high] = in_percent(&fit, t).unwrap();
            assert!((percent - change / 3.0).abs() < 1e-9 && low < percent && percent < high);
            let reach = t * fit.error();
            assert_eq!((low > 0.0, high < 0.0), (change - reach > 0.0, change + reach < 0.0), "{change}");
        }
        assert_eq!(in_percent(&fit(-1.0, 1.0, 0.1), 2.0), None);
        assert_eq!(in_percent(&fit(1.0, 2.0, 3.0), 2.0), None, "the base may be zero");
    }

    #[test]
    fn more_runs_are_as_many_as_it_takes() {
        let (limits, wide) = ([0.0005, 0.025], fit(300.0, 301.0, 5.0));
        let more = wide.more_runs(6.0, limits, 100).unwrap();
        let told = |more: u64| {
            let runs = (more + 1) as f64;
            let student = Student::new(9.0 + 2.0 * more as f64).unwrap();
            let fit = Fit { student, ..fit(300.0, 301.0, 5.0 / runs.sqrt()) };
            verdict(&fit, 6.0, limits).0
        };
        assert_eq!((told(more), told(more - 1)), (Verdict::Same, Verdict::Inconclusive), "{more}");
        assert_eq!(fit(300.0, 303.0, 500.0).more_runs(6.0, limits, 100), None);
    }
}

//! What follows from a document's rounds alone: the figures of its rows. The same function computes them when a measurement
//! ends and when a saved document is to show them again.

use crate::{Document, Measurement, Outcome, Rate, Row, Timing};
use stats::{Assumed, Cost, Distribution, Figures, Levels, OfEntry, Scale, figures};
use std::collections::BTreeMap;
use table::special;

/// A row's single samples.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    /// In core cycles.
    pub cycles: Distribution,
    /// In ticks.
    pub ticks: Distribution,
}

impl Document {
    /// Computes, from each row's rounds, its single samples and what earlier runs showed, every figure of the row, the share of layout in its spread,
    /// and whether its throughput is withheld. No figure is left of before. `samples` is asked once for each row, in their
    /// order, so that those of one row at a time are in memory; a row that was not timed has none, and gets no figures.
    ///
    /// # Errors
    /// The first of `samples`; then the rows from there on are as they were.
    pub fn compute<E>(
        &mut self,
        mut samples: impl FnMut(&Row) -> Result<Option<Samples>, E>,
    ) -> Result<(), E> {
        let scale = self.measurement.scale();
        let environment = &self.environment;
        let of_entries = levels(&self.results);
        for row in &mut self.results {
            let samples = samples(row)?;
            let levels = of_entries
                .get(&row.sharing())
                .map_or(Levels::NONE, |entry| entry.of_row(&row.rounds, row.earlier.as_ref()));
            row.set(
                samples.as_ref().map(|samples| row.figures(samples, &scale, &levels)).unwrap_or_default(),
            );
            row.spread = samples.and_then(|_| crate::spread(row, environment));
        }
        withhold_throughput(&mut self.results);
        Ok(())
    }
}

impl Measurement {
    /// How ticks become other units.
    pub fn scale(&self) -> Scale {
        Scale {
            nanos_per_tick: self.tsc_hz.map(|hertz| 1e9 / hertz),
            cycles: self.cycles_per_tick.is_some(),
            // Without one nothing was timed.
            step: self.tsc_step.unwrap_or(1.0),
            clock_error: self.clock_error.unwrap_or(0.0),
        }
    }
}

impl Row {
    /// Whether its figures are computed from rounds.
    pub fn is_timed(&self) -> bool {
        match self.timing {
            Timing::Hardware => self.outcome == Outcome::Ok,
            Timing::Emulated => false,
        }
    }

    /// Without rounds there are none.
    fn figures(&self, samples: &Samples, scale: &Scale, levels: &Levels) -> Figures {
        if self.rounds.is_empty() {
            return Figures::default();
        }
        let figures = figures(&self.rounds, &samples.cycles, &samples.ticks, scale, levels);
        if self.uses == 1 { figures } else { without_percentiles(figures) }
    }

    /// Rows that share their levels: those of an entry in a configuration, whether they leave user space or not.
    pub(crate) fn sharing(&self) -> Sharing {
        (self.entry.clone(), self.configuration.clone(), self.leaves_user_space())
    }

    pub(crate) fn assumed_levels(&self) -> Assumed {
        if self.leaves_user_space() { Assumed::OF_A_KERNEL } else { Assumed::OF_USER_SPACE }
    }

    fn set(&mut self, figures: Figures) {
        let Figures { core_cycles, ticks, ns, throughput, modes, cpu, noise } = figures;
        (self.core_cycles, self.ticks, self.ns, self.throughput) = (core_cycles, ticks, ns, throughput);
        (self.modes, self.cpu, self.noise) = (modes, cpu, noise);
        self.rate = Rate::of(&self.operation, self.ns.as_ref());
    }
}

/// Without what is known of single uses alone, where a sample is a mean of several.
fn without_percentiles(figures: Figures) -> Figures {
    fn without<U>(cost: Option<Cost<U>>) -> Option<Cost<U>> {
        cost.map(|cost| Cost { p99: None, p999: None, ..cost })
    }
    let Figures { core_cycles, ticks, ns, .. } = figures;
    let (core_cycles, ticks, ns) = (without(core_cycles), without(ticks), without(ns));
    Figures { core_cycles, ticks, ns, modes: Vec::new(), ..figures }
}

/// What rows have in common that share their levels: entry, configuration, and whether they leave user space.
pub(crate) type Sharing = (String, BTreeMap<String, String>, bool);

/// The levels of every entry, by all its rows.
fn levels(rows: &[Row]) -> BTreeMap<Sharing, OfEntry> {
    let mut of_entries = BTreeMap::<_, Vec<&Row>>::new();
    for row in rows.iter().filter(|row| row.is_timed() && row.rounds.is_whole()) {
        of_entries.entry(row.sharing()).or_default().push(row);
    }
    let told = of_entries.into_iter().filter_map(|(key, rows)| {
        let assumed = rows.first()?.assumed_levels();
        Some((key, OfEntry::of(rows.iter().map(|row| &row.rounds), assumed)))
    });
    told.collect()
}

/// Withholds a throughput that is below that of a call and return of the same configuration: such calls overlapped with the
/// control that is subtracted. Rows that were chosen from a document may lack the call; then what was withheld stays so.
fn withhold_throughput(rows: &mut [Row]) {
    let floors = floors(rows);
    for row in rows {
        let known = floors.get(&row.configuration);
        let floor = known.copied().unwrap_or(0.0);
        let before = row.throughput_withheld.take().filter(|_| known.is_none());
        let cost = row.throughput.map(|cost| cost.estimate.0);
        // One that is not finite is no throughput that was measured: [`crate::recompute`] refuses it.
        let is_impossible = |cost: &f64| cost.is_finite() && (*cost < floor || *cost <= 0.0);
        row.throughput_withheld = match cost.filter(is_impossible) {
            Some(_) if before.is_some() => before,
            Some(cost) => Some(format!(
                "{cost:.1} core cycles are less than a call and return takes ({floor:.1}): back to back, these calls \
                 overlap with each other and with the control"
            )),
            None => before,
        };
        if row.throughput_withheld.is_some() {
            row.throughput = None;
        }
    }
}

/// The least that a call and return takes back to back, of each configuration that has that row; zero where it has no figure.
fn floors(rows: &[Row]) -> BTreeMap<BTreeMap<String, String>, f64> {
    let mut floors = BTreeMap::new();
    for call in rows.iter().filter(|row| row.is(special::CALL)) {
        let floor = call.throughput.map_or(0.0, |cost| cost.ci_low.unwrap_or(cost.estimate).0);
        floors.entry(call.configuration.clone()).or_insert(floor);
    }
    floors
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Lines;

    fn row(entry: &str, core: &str, throughput: Option<f64>) -> Row {
        let cost = |cycles| Cost::single(stats::Cycles(cycles));
        let configuration = [("core".to_string(), core.to_string())].into();
        Row { configuration, throughput: throughput.map(cost), ..Row::unmeasured(entry, "none", 64) }
    }

    #[test]
    fn percentiles_and_modes_of_means_are_not_those_of_uses() {
        const ROUNDS: usize = 20;
        let costs: Vec<f64> = (0..ROUNDS).map(|round| 100.0 + round as f64 / 10.0).collect();
        let rounds = Lines {
            at_ms: (0..ROUNDS).map(|round| round as f64).collect(),
            cpu: vec![0; ROUNDS],
            control: vec![80.0; ROUNDS],
            cycles_per_tick: vec![1.0; ROUNDS],
            canary: vec![5.0; ROUNDS],
            least: costs.clone(),
            greatest: costs.clone(),
            throughput: vec![None; ROUNDS],
            kept: vec![16; ROUNDS],
            lost: vec![0; ROUNDS],
            excluded: vec![None; ROUNDS],
            cost: costs,
        };
        let mut singles = Distribution::default();
        (0..20_000).for_each(|sample| singles.record(if sample % 3 == 0 { 90.0 } else { 110.0 }));
        let samples = Samples { cycles: singles.clone(), ticks: singles };
        let scale = Scale { nanos_per_tick: Some(0.5), cycles: true, step: 1.0, clock_error: 0.0 };
        let figures = |uses: u64| {
            let row = Row { uses, rounds: rounds.clone(), ..Row::unmeasured("call", "none", 64) };
            row.figures(&samples, &scale, &Levels::NONE)
        };
        let (one, sixteen) = (figures(1), figures(16));
        assert!(one.core_cycles.is_some_and(|cost| cost.p99.is_some() && cost.p999.is_some()));
        let modes = vec![stats::Mode { share: 0.5, cost: 90.0 }, stats::Mode { share: 0.5, cost: 110.0 }];
        let told = without_percentiles(Figures { modes, ..one.clone() });
        assert_eq!((told.modes, told.cpu), (Vec::new(), one.cpu));
        let known = [
            sixteen.core_cycles.map(|cost| (cost.p99.is_some(), cost.p999.is_some())),
            sixteen.ticks.map(|cost| (cost.p99.is_some(), cost.p999.is_some())),
            sixteen.ns.map(|cost| (cost.p99.is_some(), cost.p999.is_some())),
        ];
        assert_eq!(known, [Some((false, false)); 3]);
        assert_eq!(one.core_cycles.map(|cost| cost.estimate), sixteen.core_cycles.map(|cost| cost.estimate));
    }

    #[test]
    fn each_configuration_has_its_own_floor() {
        let mut rows = [
            row("call", "performance", Some(2.0)),
            row("rdtsc", "performance", Some(5.0)),
            row("rdtsc", "efficiency", Some(5.0)),
            row("call", "efficiency", Some(9.0)),
            row("rdtsc", "lacks the call", Some(1.0)),
        ];
        withhold_throughput(&mut rows);
        let withheld = rows.each_ref().map(|row| row.throughput_withheld.is_some());
        assert_eq!(withheld, [false, false, true, false, false]);
        assert!(rows.iter().all(|row| row.throughput.is_none() == row.throughput_withheld.is_some()));
        // Chosen from a document without the call of one configuration, what was withheld there stays so.
        let mut chosen = [row("call", "performance", Some(2.0)), rows[2].clone()];
        withhold_throughput(&mut chosen);
        assert_eq!(chosen[1], rows[2]);
    }
}

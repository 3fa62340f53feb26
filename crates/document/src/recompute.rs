//! What follows from a document's rounds alone: the figures of its rows. The same functions compute them when a measurement
//! ends and when a saved document is to show them again.

use crate::{Document, Key, Measurement, Outcome, Row, Timing};
use stats::{Cost, Distribution, Figures, NotADistribution, Scale, figures};
use std::collections::BTreeMap;
use table::special;

/// Why figures cannot be computed again.
#[derive(Debug, thiserror::Error)]
pub enum Recomputed {
    /// The document is of a schema that kept no rounds.
    #[error("the document keeps no rounds: it is of schema kentry.run/1")]
    NoRounds,
    /// The rounds are not whole.
    #[error("{row}: the columns of its rounds have different lengths")]
    Columns {
        /// Which row.
        row: String,
    },
    /// There are rounds in the estimate, and no samples.
    #[error("{row}: the document keeps its rounds without their samples")]
    NoSamples {
        /// Which row.
        row: String,
    },
    /// What the rounds give cannot be shown.
    #[error("{row}: a figure that its rounds give is not finite")]
    NotFinite {
        /// Which row.
        row: String,
    },
    /// The single samples cannot be read.
    #[error("{row}: {source}")]
    Distribution {
        /// Which row.
        row: String,
        /// Why not.
        source: NotADistribution,
    },
}

/// The document with every figure of a timed row computed again from its rounds and its samples. What was found out about
/// the measurement as a whole, such as the clock, is taken from the document; its findings are left as they are.
///
/// # Errors
/// [`Recomputed`] where the document does not keep what that takes.
pub fn recompute(document: &Document) -> Result<Document, Recomputed> {
    // Documents of schema 1 had no id.
    if document.id.is_none() {
        return Err(Recomputed::NoRounds);
    }
    let mut document = document.clone();
    let scale = document.measurement.scale();
    for row in &mut document.results {
        if row.is_timed() {
            let (cycles, ticks) = samples(row)?;
            row.compute(&cycles, &ticks, &scale);
            if !is_finite(row) {
                return Err(Recomputed::NotFinite { row: row.key().to_string() });
            }
            row.spread = document.environment.lab.as_ref().and_then(|lab| crate::spread(row, &lab.boots));
        } else {
            row.set(Figures::default());
        }
    }
    withhold_throughput(&mut document.results);
    Ok(document)
}

/// A row's single samples, in core cycles and in ticks.
fn samples(row: &Row) -> Result<(Distribution, Distribution), Recomputed> {
    let name = |key: Key| key.to_string();
    if !row.rounds.is_whole() {
        return Err(Recomputed::Columns { row: name(row.key()) });
    }
    let has_samples = row.distribution_ticks.is_some() && row.distribution_cycles.is_some();
    if !has_samples && row.rounds.excluded.iter().any(Option::is_none) {
        return Err(Recomputed::NoSamples { row: name(row.key()) });
    }
    let open = |stored: &Option<stats::StoredDistribution>| {
        let opened = stored.as_ref().map(stats::StoredDistribution::open).transpose();
        let error = |source| Recomputed::Distribution { row: name(row.key()), source };
        opened.map(Option::unwrap_or_default).map_err(error)
    };
    Ok((open(&row.distribution_cycles)?, open(&row.distribution_ticks)?))
}

fn is_finite(row: &Row) -> bool {
    let costs = [
        row.core_cycles.map(|cost| cost.unitless()),
        row.ticks.map(|cost| cost.unitless()),
        row.ns.map(|cost| cost.unitless()),
        row.throughput.map(|cost| cost.unitless()),
    ];
    let ends = row.noise.map(|noise| [noise.low, noise.high]).into_iter().flatten().flatten();
    costs.into_iter().flatten().flat_map(values).chain(ends).all(f64::is_finite)
}

fn values(cost: Cost<f64>) -> impl Iterator<Item = f64> {
    let always = [cost.estimate, cost.min, cost.p50, cost.max];
    always.into_iter().chain([cost.ci_low, cost.ci_high, cost.p99, cost.p999].into_iter().flatten())
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

    /// Computes its figures from its rounds and their single samples, in core cycles and in ticks. None is left of before;
    /// without rounds there are none. [`withhold_throughput`] has the last word about one of them.
    pub fn compute(&mut self, cycles: &Distribution, ticks: &Distribution, scale: &Scale) {
        let rounds = &self.rounds;
        let are_some = !rounds.is_empty();
        self.set(if are_some { figures(rounds, cycles, ticks, scale) } else { Figures::default() });
    }

    fn set(&mut self, figures: Figures) {
        let Figures { core_cycles, ticks, ns, throughput, modes, cpu, noise } = figures;
        (self.core_cycles, self.ticks, self.ns, self.throughput) = (core_cycles, ticks, ns, throughput);
        (self.modes, self.cpu, self.noise) = (modes, cpu, noise);
    }
}

/// Withholds a throughput that is below that of a call and return of the same configuration: such calls overlapped with the
/// control that is subtracted. Rows that were chosen from a document may lack the call; then what was withheld stays so.
pub fn withhold_throughput(rows: &mut [Row]) {
    let floors = floors(rows);
    for row in rows {
        let known = floors.get(&row.configuration);
        let floor = known.copied().unwrap_or(0.0);
        let before = row.throughput_withheld.take().filter(|_| known.is_none());
        let cost = row.throughput.map(|cost| cost.estimate.0);
        row.throughput_withheld = match cost.filter(|cost| *cost < floor || *cost <= 0.0) {
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

    fn row(entry: &str, core: &str, throughput: Option<f64>) -> Row {
        let cost = |cycles| {
            let cycles = stats::Cycles(cycles);
            let (estimate, min, p50, max) = (cycles, cycles, cycles, cycles);
            Cost { estimate, ci_low: None, ci_high: None, min, p50, p99: None, p999: None, max }
        };
        let configuration = [("core".to_string(), core.to_string())].into();
        Row { configuration, throughput: throughput.map(cost), ..Row::unmeasured(entry, "none", 64) }
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

//! The figures of a document, computed again from its rounds.

use crate::{Document, Outcome, Row, Timing};
use stats::{Figures, NotADistribution, Scale, figures};

/// Why figures cannot be computed again.
#[derive(Debug, thiserror::Error)]
pub enum Recomputed {
    /// The document is of a schema that kept no rounds.
    #[error("the document keeps no rounds: it is of schema kentry.run/1")]
    NoRounds,
    /// The rounds are not whole.
    #[error("{entry} {operation}: the columns of its rounds have different lengths")]
    Columns {
        /// The row's entry.
        entry: String,
        /// The row's operation.
        operation: String,
    },
    /// There are rounds in the estimate, and no samples.
    #[error("{entry} {operation}: the document keeps its rounds without their samples")]
    NoSamples {
        /// The row's entry.
        entry: String,
        /// The row's operation.
        operation: String,
    },
    /// The single samples cannot be read.
    #[error("{entry} {operation}: {source}")]
    Distribution {
        /// The row's entry.
        entry: String,
        /// The row's operation.
        operation: String,
        /// Why not.
        source: NotADistribution,
    },
}

/// The document with every figure of a timed row computed again from its rounds and its samples.
///
/// # Errors
/// [`Recomputed`] where the document does not keep what that takes.
pub fn recompute(document: &Document) -> Result<Document, Recomputed> {
    // Documents of schema 1 had no id.
    if document.id.is_none() {
        return Err(Recomputed::NoRounds);
    }
    let mut document = document.clone();
    let measurement = &document.measurement;
    let scale = Scale {
        nanos_per_tick: measurement.tsc_hz.map(|hertz| 1e9 / hertz),
        cycles: measurement.cycles_per_tick.is_some(),
        // Without one nothing was timed.
        step: measurement.tsc_step.unwrap_or(1.0),
        clock_error: measurement.clock_error.unwrap_or(0.0),
    };
    for row in &mut document.results {
        if row.timing == Timing::Hardware && row.outcome == Outcome::Ok {
            let figures = if row.rounds.is_empty() { Figures::default() } else { again(row, &scale)? };
            row.set(figures);
            row.spread = document.environment.lab.as_ref().and_then(|lab| crate::spread(row, &lab.boots));
        }
    }
    Ok(document)
}

fn again(row: &Row, scale: &Scale) -> Result<Figures, Recomputed> {
    let (entry, operation) = (row.entry.clone(), row.operation.clone());
    if !row.rounds.is_whole() {
        return Err(Recomputed::Columns { entry, operation });
    }
    let has_samples = row.distribution_ticks.is_some() && row.distribution_cycles.is_some();
    if !has_samples && row.rounds.excluded.iter().any(Option::is_none) {
        return Err(Recomputed::NoSamples { entry, operation });
    }
    let open = |stored: &Option<stats::StoredDistribution>| {
        stored.as_ref().map(stats::StoredDistribution::open).transpose().map(Option::unwrap_or_default)
    };
    let cycles = open(&row.distribution_cycles);
    let both = cycles.and_then(|cycles| Ok((cycles, open(&row.distribution_ticks)?)));
    let (cycles, ticks) = both.map_err(|source| Recomputed::Distribution { entry, operation, source })?;
    Ok(figures(&row.rounds, &cycles, &ticks, scale))
}

impl Row {
    /// Takes over what was computed from its rounds. A throughput that was withheld stays so.
    pub fn set(&mut self, figures: Figures) {
        self.core_cycles = figures.core_cycles;
        self.ticks = figures.ticks;
        self.ns = figures.ns;
        self.throughput = figures.throughput.filter(|_| self.throughput_withheld.is_none());
        self.modes = figures.modes;
        self.cpu = figures.cpu;
        self.noise = figures.noise;
    }
}

//! The figures of a saved document, computed again from what it keeps.

use crate::compute::Samples;
use crate::{Document, Row};
use stats::{Cost, NotADistribution};

/// Why figures cannot be computed again.
#[derive(Debug, thiserror::Error)]
pub enum Recomputed {
    /// There are figures, and no rounds.
    #[error("{row}: the document keeps its figures without their rounds")]
    NoRounds {
        /// Which row.
        row: String,
    },
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
    let mut document = document.clone();
    document.compute(|row| row.is_timed().then(|| samples(row)).transpose())?;
    match document.results.iter().find(|row| !is_finite(row)) {
        Some(row) => Err(Recomputed::NotFinite { row: row.in_words() }),
        None => Ok(document),
    }
}

/// What the document keeps of a row's single samples.
fn samples(row: &Row) -> Result<Samples, Recomputed> {
    let name = || row.in_words();
    if !row.rounds.is_whole() {
        return Err(Recomputed::Columns { row: name() });
    }
    if row.rounds.kept.is_empty() && row.ticks.is_some() {
        return Err(Recomputed::NoRounds { row: name() });
    }
    let has_samples = row.distribution_ticks.is_some() && row.distribution_cycles.is_some();
    if !has_samples && row.rounds.excluded.iter().any(Option::is_none) {
        return Err(Recomputed::NoSamples { row: name() });
    }
    let open = |stored: &Option<stats::StoredDistribution>| {
        let opened = stored.as_ref().map(stats::StoredDistribution::open).transpose();
        let error = |source| Recomputed::Distribution { row: name(), source };
        opened.map(Option::unwrap_or_default).map_err(error)
    };
    Ok(Samples { cycles: open(&row.distribution_cycles)?, ticks: open(&row.distribution_ticks)? })
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

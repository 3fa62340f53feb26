//! Runs for other programs, without their rounds: lines of JSON, CSV of many runs, metrics.

mod csv;
mod prometheus;

use crate::{Error, Format, Kind, Selection};
use document::Document;
use summary::Summary;

/// Runs in `format`. Metrics are of one run, of which the first screen's rows are enough for most; CSV and lines of JSON have every row.
///
/// # Errors
/// [`Error`] when a serializer refuses, or for a format that runs are not exported to.
pub fn exported(summaries: &[Summary], format: Format, selection: Selection) -> Result<Vec<u8>, Error> {
    match format {
        Format::Ndjson => Ok(summaries.iter().flat_map(summary::write).collect()),
        Format::Csv => csv::render(summaries),
        Format::Prometheus => {
            Ok(summaries.iter().flat_map(|one| prometheus::render(one, selection)).collect())
        }
        _ => Err(Error::unfit(Kind::EXPORT, format)),
    }
}

/// A run as lines of JSON.
pub(crate) fn lines(document: &Document) -> Vec<u8> {
    summary::write(&Summary::of(document))
}

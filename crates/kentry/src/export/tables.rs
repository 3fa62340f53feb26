//! Two tables of Parquet in a folder. They belong together, so that neither appears before both are written.

use crate::error::Error;
use crate::output::Target;
use crate::summaries::TABLES;
use std::path::Path;
use summary::Summary;
use summary::parquet::{Unwritable, Writer};

/// Writes both to a folder, which is made if it is not there.
///
/// # Errors
/// [`Error::Output`] when something cannot be written, and [`Error::Usage`] for runs that tables cannot hold; files that were there are then
/// as they were before.
pub fn write(folder: &Path, summaries: &[Summary]) -> Result<(), Error> {
    let failed = |source| Error::Output { target: folder.to_path_buf(), source };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let [runs, rows] = TABLES.map(|name| Target::open(Some(&folder.join(name))));
    let (runs, rows) = (runs?, rows?);
    let (run_bytes, row_bytes) =
        tables(summaries).map_err(|why| Error::Usage(format!("--to parquet: {why}")))?;
    rows.write(&row_bytes)?;
    runs.write(&run_bytes)
}

/// The bytes of both, that of the runs first.
fn tables(summaries: &[Summary]) -> Result<(Vec<u8>, Vec<u8>), Unwritable> {
    let mut writer = Writer::new(Vec::new(), Vec::new())?;
    summaries.iter().try_for_each(|summary| writer.add(summary))?;
    writer.close()
}

//! `kentry compare` of saved anatomies: what the paths of the others execute more and less than the first.

use crate::compare::args::CompareArgs;
use crate::error::Error;
use attribution::anatomy::Document;
use report::{Format, Kind};

/// Refuses what is for runs alone.
///
/// # Errors
/// [`Error::Usage`], naming it.
pub fn only_what_applies(args: &CompareArgs) -> Result<(), Error> {
    let gate = args.settings().gate;
    let wrong = |why: &str| Err(Error::Usage(format!("these are anatomies: {why}")));
    if args.rows.are_named() {
        return wrong("they are compared whole; leave out --entry and --operation");
    }
    if !gate.above.is_empty() || !gate.on.is_empty() {
        return wrong("no gate judges them; leave out --fail-above and --fail-on");
    }
    Ok(())
}

/// One document with all paths; the lab's profile stands beside the first.
///
/// # Errors
/// In words, which paths make no sense together.
pub fn joined(documents: Vec<Document>) -> Result<Document, String> {
    let row = |document: &Document| {
        document.first().map(|path| (path.anatomy.entry.clone(), path.anatomy.operation.clone()))
    };
    let mut all = documents.into_iter();
    let mut first = all.next().ok_or("there is no anatomy")?;
    for other in all {
        let rows = [row(&first), row(&other)];
        if rows[0] != rows[1] {
            let [base, new] =
                rows.map(|row| row.map_or(String::new(), |(entry, asked)| format!("{entry} {asked}")));
            let why = format!(
                "a path of {base} is not comparable with one of {new}: follow the same entry and operation in both"
            );
            return Err(report::plain(&why));
        }
        first.paths.extend(other.paths);
    }
    Ok(first)
}

/// Refuses a comparison's formats that say which row passed.
///
/// # Errors
/// [`Error::Usage`], naming it.
pub fn can_be_written_in(format: Format) -> Result<(), Error> {
    let kind = Kind::COMPARED_PATHS;
    if kind.is_written_in(format) {
        return Ok(());
    }
    Err(Error::Usage(format!("--format {format}: {} is written as {}", kind.name, kind.names())))
}

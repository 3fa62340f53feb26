//! Whether the rules of a gate say something about the rows that are compared. One that names none could never fail.

use crate::error::Error;
use compare::{Above, Comparison, Gate, Rows, Verdict};
use measure::select::UNMEASURED;
use table::{Kernel, Table};

/// Refuses two rules for the same rows.
///
/// # Errors
/// [`Error::Usage`].
pub fn not_contradictory(gate: &Gate) -> Result<(), Error> {
    let Some([one, other]) = gate.contradiction() else { return Ok(()) };
    let what = if one.rows.is_some() { "the same rows" } else { "all rows" };
    let why = format!("--fail-above {one} and --fail-above {other} are both for {what}: give one of them");
    Err(Error::Usage(report::plain(&why)))
}

/// Refuses a rule that names none of the rows that both sides have.
///
/// # Errors
/// [`Error::Usage`].
pub fn name_rows_of(compared: &Comparison) -> Result<(), Error> {
    let rows = compared.rows.iter().filter(|row| row.verdict != Verdict::Absent);
    let rows: Vec<_> = rows.map(|row| (&*row.entry, &*row.operation)).collect();
    let mut runs = compared.base.runs.iter().chain(&compared.new.runs);
    name_rows(&compared.settings.gate, runs.find_map(|run| run.place.kernel.known()), &rows)
}

/// Refuses a rule that names none of these rows, which are of entry and operation each.
///
/// # Errors
/// [`Error::Usage`], with the name that is most like the one that was given.
pub fn name_rows(gate: &Gate, kernel: Option<Kernel>, rows: &[(&str, &str)]) -> Result<(), Error> {
    let table = Table::get();
    match gate.idle(table, kernel, rows.iter().copied()) {
        Some((above, named)) => Err(Error::Usage(report::plain(&idle(table, kernel, above, named, rows)))),
        None => Ok(()),
    }
}

fn idle(table: &Table, kernel: Option<Kernel>, above: &Above, named: &Rows, rows: &[(&str, &str)]) -> String {
    let (entry, operation) = named.words();
    let is_of = |word: &str, row: (&str, &str)| {
        word.parse::<Rows>().is_ok_and(|rows| rows.matches(table, kernel, row.0, row.1))
    };
    let has_entry = rows.iter().any(|row| is_of(entry, *row));
    let hint = match operation.filter(|_| has_entry) {
        Some(operation) => {
            let of_entry = rows.iter().filter(|row| is_of(entry, **row));
            table::nearest(operation, of_entry.map(|(_, operation)| *operation))
        }
        None => {
            let short_names = table.short_names().into_iter();
            let short_names = short_names.filter(|word| rows.iter().any(|row| is_of(word, *row)));
            table::nearest(entry, short_names.chain(rows.iter().map(|(entry, _)| *entry)))
        }
    };
    let mut of_linux = table.rows(Kernel::Linux);
    let is_there =
        of_linux.any(|(entry, operation)| named.matches(table, kernel, &entry.name, &operation.name));
    let hint = if is_there && kernel == Some(Kernel::Linux) { format!("; {UNMEASURED}") } else { hint };
    format!("--fail-above {above}: no compared row has this name{hint}")
}

//! Which rows a command line names.

use crate::error::Error;
use clap::{Args, ValueHint};
use measure::{TableRow, select};
use table::special::is_on_first_screen;
use table::{Kernel, Table};

/// The rows that a command is about.
#[derive(Debug, Clone, Default, Args)]
pub struct RowArgs {
    /// Only rows of entries of this name, short name (syscall) or glob (*, ?, [...]); may be given several times
    #[arg(short, long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub entry: Vec<String>,
    /// Only rows of operations of this name, C function or glob (*, ?, [...]); may be given several times
    #[arg(short, long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub operation: Vec<String>,
}

impl RowArgs {
    /// Whether any are named; then all of them are shown.
    pub fn are_named(&self) -> bool {
        !self.entry.is_empty() || !self.operation.is_empty()
    }

    /// The rows to measure on this Linux: those that are named, or those of the first screen unless all are asked for.
    ///
    /// # Errors
    /// [`Error::Usage`] when a name matches no row.
    pub fn of_linux<'a>(&self, table: &'a Table, all: bool) -> Result<Vec<TableRow<'a>>, Error> {
        let mut rows = select::rows(table, Kernel::Linux, &self.entry, &self.operation)?;
        if !all && !self.are_named() {
            rows.retain(|(entry, operation)| is_on_first_screen(&entry.name, &operation.name));
        }
        Ok(rows)
    }
}

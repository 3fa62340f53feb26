//! Which rows a command line names.

use clap::{Args, ValueHint};

/// The rows that a command is about: all, unless it names some.
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
}

//! What can be wrong with what is asked for.

use table::Mistake;

/// Why there is no bill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A profile, or what a command line makes of it, is wrong.
    #[error(transparent)]
    Settings(#[from] Mistake),
    /// The processor lacks what steps need, and time is measured.
    #[error("this CPU lacks {}; `--without STEP` leaves a step out", .0.join(", "))]
    Lacking(Vec<String>),
    /// The entry does not serve the operation.
    #[error("{0}")]
    NoRow(String),
}

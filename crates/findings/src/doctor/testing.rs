//! Checkups for the tests of all checks.

use super::{behind, entries};
use document::Checkup;

/// Checkups that have every finding there is of checks, between them.
pub fn everything() -> Vec<Checkup> {
    [entries::tests::made(), behind::tests::made()].concat()
}

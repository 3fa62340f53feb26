//! Checkups for the tests of all checks.

use super::{behind, clock_health, clocks, entries};
use document::Checkup;

/// Checkups that have every finding there is of checks, between them.
pub fn everything() -> Vec<Checkup> {
    let clocks = [clocks::tests::checkups(), clock_health::tests::checkups()].into_iter().flatten();
    clocks.chain(entries::tests::made()).chain(behind::tests::made()).collect()
}

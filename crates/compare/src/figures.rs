//! What tells the change of a row that has figures on both sides.

use crate::comparison::Unit;
use crate::model::Observation;
use crate::prior::Behaviour;
use stats::SignedRank;

/// The figures of a row that has some on both sides.
#[derive(Debug, Clone)]
pub(crate) struct Figures {
    pub unit: Unit,
    pub behaviour: Behaviour,
    /// Whether its cost has the state of a CPU's entries into the kernel in it.
    pub enters_the_kernel: bool,
    /// Whether the sides share no boot. Then each observation is of a boot, and not of a run.
    pub are_of_boots: bool,
    /// Those of both sides.
    pub observations: Vec<Observation>,
    /// Those of kept runs, in groups that have one mean each.
    pub history: Vec<Vec<Observation>>,
    /// How many runs these are of.
    pub kept_runs: u64,
    /// What pairs of rounds say, which is then all that counts.
    pub turns: Option<SignedRank>,
}

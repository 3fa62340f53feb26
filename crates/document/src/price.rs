//! What a protection costs on this machine, as far as kept runs and the lab's own code tell it.

use serde::{Deserialize, Serialize};

/// What a setting of the lab adds to an entry. It stands for what a Linux does: `pti=on`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The setting.
    pub setting: String,
    /// Name of the entry; null where it changes none.
    pub entry: Option<String>,
    /// How much more; null where nothing tells it.
    pub amount: Option<f64>,
    /// Lower end of its interval; null where it was counted.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// What is counted.
    pub unit: PriceUnit,
    /// Where it is from.
    pub source: PriceSource,
    /// In words, with what was measured and when: no full stop.
    pub words: String,
    /// The command that measures it.
    pub command: String,
}

/// What a price is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PriceUnit {
    /// Core cycles.
    Cycles,
    /// Ticks of the time stamp counter.
    Ticks,
    /// Instructions, which are no time.
    Instructions,
    /// A unit that a later version knows.
    #[serde(other)]
    Unknown,
}

/// Where a price is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PriceSource {
    /// A kept run of the lab on this machine's processor, which timed it.
    Timed,
    /// A kept run of the lab in an emulator, which counted instructions.
    Counted,
    /// The code of the lab's kernel, as it is built into the command.
    Code,
    /// A source that a later version knows.
    #[serde(other)]
    Unknown,
}

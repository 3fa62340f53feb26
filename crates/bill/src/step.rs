//! Profiles and their steps.

use serde::{Deserialize, Serialize};

/// A named, ordered list of settings, as the table has it or as it was made from an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name: `linux-6.1`, `like-here`.
    pub name: String,
    /// Its settings in Linux's order. A switch may stand in it twice, the later raising it.
    pub settings: Vec<Setting>,
}

/// A value of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Name of the switch.
    pub switch: String,
    /// The value.
    pub value: String,
    /// Where it is not known but guessed: from what, in words.
    pub guess: Option<String>,
}

/// A setting of a profile as a step of the bill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Name of the switch.
    pub switch: String,
    /// Its value with the step.
    pub value: String,
    /// Its value without it: that of the switch's step before, or bare's.
    pub base: String,
    /// What the processor must have for it.
    pub needs: Vec<Need>,
    /// The steps that it requires, by their place in the profile, in order; theirs included.
    pub requires: Vec<usize>,
    /// Where the setting is not known but guessed: from what, in words.
    pub guess: Option<String>,
}

/// What the processor must have for a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    /// The feature, as in the table: `pcid`.
    pub feature: String,
    /// Whether the processor has it.
    pub present: bool,
    /// Whether the step can be executed without it where instructions are counted.
    pub harmless: bool,
}

impl Step {
    /// As it is written on a command line: `pti=on`.
    pub fn name(&self) -> String {
        format!("{}={}", self.switch, self.value)
    }
}

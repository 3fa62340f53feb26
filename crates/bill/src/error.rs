//! What can be wrong with what is asked for.

use table::Table;

/// What is wrong with a profile, or with what a command line makes of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such switch.
    #[error("there is no switch \"{0}\"")]
    NoSwitch(String),
    /// A switch does not have such a value.
    #[error("\"{value}\" is no value of {switch}, which can be {choices}")]
    NoValue {
        /// The switch.
        switch: String,
        /// What was asked for.
        value: String,
        /// What there is.
        choices: String,
    },
    /// It is not of the form `SWITCH=VALUE`.
    #[error("\"{0}\" is not of the form SWITCH=VALUE")]
    NoSetting(String),
    /// The values of this switch are no steps.
    #[error("{0} is no step of a bill: it decides what an entry is, and costs nothing beside")]
    NoBillStep(String),
    /// The profile has no such step.
    #[error("the profile {profile} has no step \"{step}\"")]
    NoStep {
        /// The profile.
        profile: String,
        /// What was asked for.
        step: String,
    },
    /// Two settings contradict each other, or one is given twice.
    #[error("{0}")]
    Contradiction(String),
    /// The processor lacks what steps need, and time is measured.
    #[error("this CPU lacks {}; `--without STEP` leaves a step out", .0.join(", "))]
    Lacking(Vec<String>),
    /// The entry does not serve the operation.
    #[error("{0}")]
    NoRow(String),
}

impl Error {
    /// What was asked for that does not exist, and the names of what does; so that a command can name the nearest.
    pub fn names<'a>(&'a self, table: &'a Table, steps: &'a [String]) -> Option<(&'a str, Vec<&'a str>)> {
        match self {
            Error::NoSwitch(asked) => {
                Some((asked, table.switches.iter().map(|switch| switch.name.as_str()).collect()))
            }
            Error::NoStep { step, .. } => Some((step, steps.iter().map(String::as_str).collect())),
            _ => None,
        }
    }
}

//! The profiles that a command line can name.

use bill::{Profile, Setting};
use table::Table;

/// The name of each, and what it is.
pub fn all(table: &Table) -> impl Iterator<Item = (&str, &str)> {
    table.profiles.iter().map(|profile| (profile.name.as_str(), profile.what.as_str()))
}

/// The profile of that name.
pub fn find(table: &Table, name: &str) -> Option<Profile> {
    let profile = table.profile(name)?;
    let setting = |step: &table::Setting| Setting {
        switch: step.switch.clone(),
        value: step.value.clone(),
        guess: None,
    };
    Some(Profile { name: profile.name.clone(), settings: profile.steps.iter().map(setting).collect() })
}

//! The profiles that a command line can name: those of the table, and the one that is like a machine's kernel.

use bill::{Profile, Setting};
use environment::Environment;
use findings::{LIKE_HERE, Likeness, like_here};
use table::Table;

/// The name of each, and what it is.
pub fn all(table: &Table) -> impl Iterator<Item = (&str, &str)> {
    let like =
        (LIKE_HERE, "like this machine's Linux, or like that of --run, by its own words; guesses are marked");
    std::iter::once(like)
        .chain(table.profiles.iter().map(|profile| (profile.name.as_str(), profile.what.as_str())))
}

/// The profile of that name in the table.
pub fn of_table(table: &Table, name: &str) -> Option<Profile> {
    let profile = table.profile(name)?;
    let settings = profile.steps.iter().map(|step| setting(step, None)).collect();
    Some(Profile { name: profile.name.clone(), settings, not_in_lab: Vec::new() })
}

/// The profile that is like the kernel of these facts.
pub fn like(environment: &Environment) -> Profile {
    let Likeness { steps, left_out, .. } = like_here(environment);
    let settings = steps.iter().map(|step| setting(&step.setting, step.guessed.clone())).collect();
    Profile { name: LIKE_HERE.into(), settings, not_in_lab: left_out }
}

fn setting(step: &table::Setting, guess: Option<String>) -> Setting {
    Setting { switch: step.switch.clone(), value: step.value.clone(), guess }
}

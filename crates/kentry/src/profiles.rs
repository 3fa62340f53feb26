//! The profiles that a command line can name: those of the table, and the one that is like a machine's kernel.

use findings::LIKE_HERE;
use table::Table;

/// The name of each, and what it is.
pub fn all(table: &Table) -> impl Iterator<Item = (&str, &str)> + Clone {
    let like =
        (LIKE_HERE, "like this machine's Linux, or like that of --run, by its own words; guesses are marked");
    std::iter::once(like)
        .chain(table.profiles.iter().map(|profile| (profile.name.as_str(), profile.what.as_str())))
}

//! Named sets of operations, so that a list which many entries serve is written once.

use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, BTreeSet};

/// What names a set in `[sets]`, or in a list of operations stands for all of it.
pub type Sets = BTreeMap<String, Vec<String>>;

/// A name, or a list of names.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the name of a set, or a list of sets and operations")]
enum Names {
    One(String),
    Many(Vec<String>),
}

impl From<Names> for Vec<String> {
    fn from(names: Names) -> Self {
        match names {
            Names::One(name) => vec![name],
            Names::Many(names) => names,
        }
    }
}

pub(crate) fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Names::deserialize(from).map(Vec::from)
}

pub(crate) fn optional_names<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    Names::deserialize(from).map(|names| Some(names.into()))
}

/// Checks that every member of a set is an operation, and that no set has the name of an operation.
///
/// # Errors
/// The wrong set, in words.
pub(crate) fn check(sets: &Sets, is_operation: impl Fn(&str) -> bool) -> Result<(), String> {
    for (name, members) in sets {
        let wrong = |what: &str| Err(format!("set {name}: {what}"));
        if is_operation(name) {
            return wrong("an operation has this name");
        }
        if members.is_empty() {
            return wrong("it is empty");
        }
        if let Some(unknown) = members.iter().find(|member| !is_operation(member)) {
            return wrong(&format!("{unknown} is not an operation"));
        }
        if let Some(twice) = duplicate(members) {
            return wrong(&format!("{twice} is in it twice"));
        }
    }
    Ok(())
}

/// The operations that a list names, each set in the order of its members.
///
/// # Errors
/// When one is named twice, also through a set.
pub(crate) fn resolve(sets: &Sets, names: &[String]) -> Result<Vec<String>, String> {
    let members = |name: &String| sets.get(name).cloned().unwrap_or_else(|| vec![name.clone()]);
    let resolved: Vec<String> = names.iter().flat_map(members).collect();
    match duplicate(&resolved) {
        Some(twice) => Err(format!("operation {twice} is listed twice")),
        None => Ok(resolved),
    }
}

fn duplicate(names: &[String]) -> Option<&String> {
    let mut seen = BTreeSet::new();
    names.iter().find(|name| !seen.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::{Sets, resolve};
    use crate::{SOURCE, Table};

    #[test]
    fn a_set_stands_for_its_members_in_their_order() {
        let names = |text: &str| text.split(' ').map(str::to_string).collect::<Vec<String>>();
        let sets = Sets::from([("clocks".into(), names("time date"))]);
        assert_eq!(resolve(&sets, &names("none clocks getppid")), Ok(names("none time date getppid")));
        assert_eq!(resolve(&sets, &names("none")), Ok(names("none")));
        assert_eq!(resolve(&sets, &names("date clocks")), Err("operation date is listed twice".into()));
    }

    fn refused(from: &str, to: &str) -> String {
        let text = SOURCE.replacen(from, to, 1);
        assert_ne!(text, SOURCE, "{from}");
        Table::parse(&text).unwrap_err().to_string()
    }

    /// What the table says of the first entry with calls.
    const CALLS: &str = "operations = [\"calls\", \"more-clocks\", \"unixbench\", \"unixbench-exec\", \"objects\", \"io_uring\"]";

    #[test]
    fn contradictions_are_named() {
        let unknown = refused(CALLS, "operations = \"cals\"");
        assert_eq!(unknown, "entries.toml: entry syscall-x86_64: cals is neither an operation nor a set");
        let twice = refused(CALLS, "operations = [\"calls\", \"time\"]");
        assert_eq!(twice, "entries.toml: entry syscall-x86_64: operation time is listed twice");
        let both = refused(CALLS, "operations = [\"calls\", \"calls\"]");
        assert_eq!(both, "entries.toml: entry syscall-x86_64: operation none is listed twice");
        let nothing = refused(CALLS, "operations = []");
        assert_eq!(nothing, "entries.toml: entry syscall-x86_64: serves no operation");
        let shape = refused(CALLS, "operations = 7");
        assert!(shape.contains("expected the name of a set, or a list of sets and operations"), "{shape}");
    }

    #[test]
    fn sets_that_are_none_are_named() {
        let with = |set: &str| refused("[sets]\n", &format!("[sets]\n{set}\n"));
        assert_eq!(with("odd = []"), "entries.toml: set odd: it is empty");
        assert_eq!(with("odd = [\"tim\"]"), "entries.toml: set odd: tim is not an operation");
        assert_eq!(with("odd = [\"calls\"]"), "entries.toml: set odd: calls is not an operation");
        assert_eq!(with("odd = [\"time\", \"time\"]"), "entries.toml: set odd: time is in it twice");
        assert_eq!(with("time = [\"none\"]"), "entries.toml: set time: an operation has this name");
    }
}

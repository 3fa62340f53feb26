//! What people call attacks and protections, and the switches that these names are of.

use crate::{Switch, Table};
use std::collections::BTreeSet;

/// Whether two words are the same name: in whatever case, with `-` or `_` for a blank.
pub fn is_same_name(one: &str, other: &str) -> bool {
    plain(one) == plain(other)
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace([' ', '_'], "-")
}

impl Table {
    /// The switches that a name of an attack or a protection is of, with the name as the table writes it.
    pub fn known_as(&self, word: &str) -> Option<(&str, Vec<&Switch>)> {
        let own = |switch: &'_ Switch| switch.known.iter().position(|name| is_same_name(name, word));
        let switches: Vec<&Switch> = self.switches.iter().filter(|switch| own(switch).is_some()).collect();
        let first = *switches.first()?;
        let name = first.known.get(own(first)?)?;
        Some((name, switches))
    }

    /// Every such name, each once.
    pub fn known_names(&self) -> BTreeSet<&str> {
        self.switches.iter().flat_map(|switch| &switch.known).map(String::as_str).collect()
    }

    /// Refuses a name that stands twice with one switch, is written in two ways, or means something else already. A parameter of a Linux
    /// may be called so: it decides what that Linux does about the same thing.
    pub(crate) fn check_known(&self) -> Result<(), String> {
        for switch in &self.switches {
            let names: BTreeSet<String> = switch.known.iter().map(|name| plain(name)).collect();
            if names.len() < switch.known.len() || names.contains("") {
                return Err(format!(
                    "switch {}: a name of known is empty, or stands there twice",
                    switch.name
                ));
            }
        }
        let taken = |name: &str| {
            let of = |own: &str| is_same_name(own, name);
            self.switches.iter().any(|switch| of(&switch.name))
                || self.profiles.iter().any(|profile| of(&profile.name))
                || self
                    .operations
                    .iter()
                    .any(|known| of(&known.name) || known.function.as_deref().is_some_and(of))
                || self.entries.iter().any(|entry| of(&entry.name))
                || self.short_names().into_iter().any(of)
        };
        let known = self.known_names();
        for name in &known {
            if taken(name) {
                return Err(format!("known: {name} is the name of something else"));
            }
            if let Some(other) = known.iter().find(|other| *other != name && is_same_name(other, name)) {
                return Err(format!("known: {name} and {other} are the same name"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SOURCE;

    fn switches(word: &str) -> Vec<&'static str> {
        let found = Table::get().known_as(word).map(|(_, switches)| switches).unwrap_or_default();
        found.iter().map(|switch| switch.name.as_str()).collect()
    }

    #[test]
    fn a_name_is_found_in_whatever_case_and_has_all_of_its_switches() {
        for word in ["KAISER", "kaiser", "Meltdown", "KPTI", "cve-2017-5754"] {
            assert_eq!(switches(word), ["pti"], "{word}");
        }
        for word in ["Spectre v2", "spectre-v2", "SPECTRE_V2"] {
            assert_eq!(switches(word), ["ibrs", "stibp", "ibpb", "rsb", "dispatch"], "{word}");
        }
        assert_eq!(switches("retbleed"), ["ibrs", "returns"]);
        assert_eq!(switches("pti"), [""; 0], "the name itself is no other");
    }

    #[test]
    fn a_name_that_means_two_things_is_refused() {
        let refused = |name: &str| {
            let changed = SOURCE.replacen("\"Meltdown\"", &format!("\"{name}\""), 1);
            assert!(changed != SOURCE);
            Table::parse(&changed).unwrap_err().to_string()
        };
        for name in ["GETPPID", "SMAP", "syscall", "Linux-6.1", "clock gettime"] {
            assert_eq!(refused(name), format!("entries.toml: known: {name} is the name of something else"));
        }
        assert!(refused("kpti").ends_with("switch pti: a name of known is empty, or stands there twice"));
        assert!(refused("spectre V2").ends_with("known: Spectre v2 and spectre V2 are the same name"));
    }
}

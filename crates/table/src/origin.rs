//! Where Linux has what the lab's settings stand for.

use crate::{Setting, Table};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Where Linux has what a setting stands for, in all versions or in some: where it has been moved or renamed, a setting has several
/// rows, of which each begins after the one before has ended.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// A setting, or a switch, of which it then holds for every value that has no row of its own.
    pub set: String,
    /// A file of Linux.
    pub file: String,
    /// What to look for there.
    pub symbol: String,
    /// The first version that had it there, `5.2`; absent if nothing is said of earlier ones.
    pub since: Option<String>,
    /// The last version that had it there; absent if current ones do.
    pub until: Option<String>,
}

impl Origin {
    /// In words: `arch/x86/entry/calling.h`: SWITCH_TO_KERNEL_CR3; since 4.15.
    pub fn written(&self) -> String {
        let versions = [("since", &self.since), ("until", &self.until)]
            .into_iter()
            .filter_map(|(word, version)| Some(format!("{word} {}", version.as_ref()?)))
            .collect::<Vec<_>>()
            .join(", ");
        let behind = if versions.is_empty() { versions } else { format!("; {versions}") };
        format!("`{}`: {}{behind}.", self.file, self.symbol)
    }

    /// The first and the last version; `None` if one of them is not of the form `5.2`.
    fn versions(&self) -> Option<[(u32, u32); 2]> {
        let number = |version: &String| {
            let (major, minor) = version.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        };
        let or = |version: &Option<String>, absent| version.as_ref().map_or(Some(absent), number);
        Some([or(&self.since, (0, 0))?, or(&self.until, (u32::MAX, u32::MAX))?])
    }
}

impl Table {
    /// Where Linux has it, from its first version on; nothing if it does not.
    pub fn origins_of(&self, setting: &Setting) -> Vec<&Origin> {
        let named = |name: &str| self.origins.iter().filter(|origin| origin.set == name).collect::<Vec<_>>();
        let own = named(&setting.to_string());
        if own.is_empty() { named(&setting.name) } else { own }
    }

    pub(crate) fn check_origins(&self) -> Result<(), String> {
        let mut ends = BTreeMap::new();
        for origin in &self.origins {
            let wrong = |what: &str| Err(format!("origin of {}: {what}", origin.set));
            let step = Setting::try_from(origin.set.clone());
            let is_setting = step.is_ok_and(|step| self.check_step(&step).is_ok());
            if !is_setting && self.switch(&origin.set).is_none() {
                return wrong("it is no step");
            }
            let Some([since, until]) = origin.versions().filter(|[since, until]| since <= until) else {
                return wrong("since and until are not two versions of Linux in order");
            };
            if ends.insert(&origin.set, until).is_some_and(|end| end >= since) {
                return wrong("a row begins before the one above it has ended");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SOURCE;

    fn set(text: &str) -> Setting {
        Setting::try_from(text.to_string()).unwrap()
    }

    fn refused(from: &str, to: &str) -> String {
        let text = SOURCE.replacen(from, to, 1);
        assert_ne!(text, SOURCE, "{from}");
        Table::parse(&text).unwrap_err().to_string()
    }

    #[test]
    fn every_step_of_every_profile_says_where_linux_has_it() {
        let table = Table::get();
        assert!(table.profiles.iter().any(|profile| !profile.steps.is_empty()));
        for profile in &table.profiles {
            for step in &profile.steps {
                assert!(!table.origins_of(step).is_empty(), "{}: {step}", profile.name);
            }
        }
    }

    #[test]
    fn what_linux_has_renamed_has_rows_for_versions_that_do_not_overlap() {
        let rows = |text: &str| {
            let origins = Table::get().origins_of(&set(text));
            origins.iter().map(|origin| (origin.since.clone(), origin.until.clone())).collect::<Vec<_>>()
        };
        let version = |text: &str| Some(text.to_owned());
        assert_eq!(rows("verw=on"), [(version("5.2"), version("6.7")), (version("6.8"), None)]);
        let why = "entries.toml: origin of verw=on: a row begins before the one above it has ended";
        assert_eq!(refused("until = \"6.7\"\n", ""), why);
        assert_eq!(refused("until = \"6.7\"", "until = \"6.10\""), why, "6.10 is later than 6.8");
        let why = "entries.toml: origin of verw=on: since and until are not two versions of Linux in order";
        assert_eq!(refused("until = \"6.7\"", "until = \"5.1\""), why);
        assert_eq!(refused("until = \"6.7\"", "until = \"6\""), why);
    }

    #[test]
    fn a_number_has_one_origin_and_a_value_its_own() {
        let symbol =
            |text: &str| Table::get().origins_of(&set(text)).first().map(|origin| origin.symbol.clone());
        assert!(symbol("rsb=16").is_some() && symbol("rsb=16") == symbol("rsb=32"));
        assert_ne!(symbol("ibrs=on"), symbol("ibrs=enhanced"));
        assert_eq!(symbol("cr3-writes=1"), None, "an experiment");
    }
}

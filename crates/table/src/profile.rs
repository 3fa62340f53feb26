//! Profiles: named lists of what a kernel does around its entries, and where Linux does each of it.

use crate::{Switch, Table, conflict};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A value of a switch, `pti=on`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Setting {
    /// The switch's name.
    pub switch: String,
    /// The value, as [`Switch::written`] writes it.
    pub value: String,
}

impl Setting {
    /// Of these names, whether there are such a switch and value or not.
    pub fn new(switch: impl Into<String>, value: impl Into<String>) -> Setting {
        Setting { switch: switch.into(), value: value.into() }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}={}", self.switch, self.value)
    }
}

impl TryFrom<String> for Setting {
    type Error = String;

    fn try_from(text: String) -> Result<Setting, String> {
        let pair = text.split_once('=').filter(|(switch, value)| !switch.is_empty() && !value.is_empty());
        let (switch, value) = pair.ok_or_else(|| format!("{text:?} is not of the form switch=value"))?;
        Ok(Setting::new(switch, value))
    }
}

/// What some kernel does around its entries.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// As written on the command line.
    pub name: String,
    /// Which kernel that is, in a few words.
    pub what: String,
    /// The processor that it stands for.
    pub cpu: Option<String>,
    /// In the order in which that kernel comes to them; a switch that stands here twice is raised by the second.
    pub steps: Vec<Setting>,
    /// Of these settings, whether in the list or left out (`ibpb=off`), another kernel of that version may have others: why these.
    #[serde(default)]
    pub choices: BTreeMap<String, String>,
}

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

/// A value for every switch, by its name.
pub type Whole = BTreeMap<String, String>;

impl Table {
    /// The profile of that name.
    pub fn profile(&self, name: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.name == name)
    }

    /// The configuration that a bill begins with: of every switch that is a step the first value, of the others the default.
    pub fn bare(&self) -> Whole {
        let value = |switch: &Switch| if switch.is_step() { switch.first() } else { switch.default.clone() };
        self.switches.iter().map(|switch| (switch.name.clone(), value(switch))).collect()
    }

    /// The bare configuration with these settings, the last of a switch counting.
    pub fn with(&self, settings: &[Setting]) -> Whole {
        let mut whole = self.bare();
        whole.extend(settings.iter().map(|set| (set.switch.clone(), set.value.clone())));
        whole
    }

    /// Where Linux has it, from its first version on; nothing if it does not.
    pub fn origins_of(&self, setting: &Setting) -> Vec<&Origin> {
        let named = |name: &str| self.origins.iter().filter(|origin| origin.set == name).collect::<Vec<_>>();
        let own = named(&setting.to_string());
        if own.is_empty() { named(&setting.switch) } else { own }
    }

    /// What a setting requires of other switches, and what that requires in turn, the furthest first. Where a requirement leaves
    /// a choice, it is the value of `preferred` if that will do, or the first. What the bare configuration has is not named.
    ///
    /// # Errors
    /// A requirement that contradicts another, in words.
    pub fn required(&self, setting: &Setting, preferred: &Whole) -> Result<Vec<Setting>, String> {
        let (mut needed, bare) = (Vec::new(), self.bare());
        self.require(setting, preferred, &bare, &mut needed)?;
        Ok(needed)
    }

    fn require(
        &self,
        setting: &Setting,
        preferred: &Whole,
        bare: &Whole,
        needed: &mut Vec<Setting>,
    ) -> Result<(), String> {
        let Some(switch) = self.switch(&setting.switch) else {
            return Err(format!("there is no switch {}", setting.switch));
        };
        for (name, allowed) in switch.requirements(&setting.value).into_iter().flat_map(|need| &need.switches)
        {
            let will_do = |value: &&String| allowed.contains(value);
            let settled = needed.iter().find(|set| set.switch == *name).map(|set| &set.value);
            if settled.or(bare.get(name)).filter(will_do).is_some() {
                continue;
            }
            if let Some(other) = settled {
                return Err(format!(
                    "{setting} requires {name}={}, and {name} is {other}",
                    allowed.join(" or ")
                ));
            }
            let Some(value) = preferred.get(name).filter(will_do).or(allowed.first()) else { continue };
            let next = Setting::new(name, value);
            self.require(&next, preferred, bare, needed)?;
            needed.push(next);
        }
        Ok(())
    }

    /// What a value of a configuration requires of another that has another value, in words.
    pub fn conflict(&self, whole: &Whole) -> Option<String> {
        let value = |switch: &'_ Switch| whole.get(&switch.name).map(String::as_str);
        conflict(self.switches.iter().filter_map(|switch| Some((switch, value(switch)?))))
    }

    pub(crate) fn check_profiles(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        for profile in &self.profiles {
            let wrong = |what: String| format!("profile {}: {what}", profile.name);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.=".contains(c);
            if profile.name.is_empty() || !profile.name.chars().all(plain) || !names.insert(&profile.name) {
                return Err(wrong("the name is taken, empty, or not of a-z 0-9 - _ . =".into()));
            }
            self.accepts(profile).map_err(wrong)?;
        }
        self.check_origins()
    }

    fn check_origins(&self) -> Result<(), String> {
        let mut ends = BTreeMap::new();
        for origin in &self.origins {
            let wrong = |what: &str| Err(format!("step {}: {what}", origin.set));
            let is_setting =
                Setting::try_from(origin.set.clone()).is_ok_and(|set| self.check_step(&set).is_ok());
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

    /// Whether a setting can be a step of a bill.
    fn check_step(&self, setting: &Setting) -> Result<&Switch, String> {
        let switch = self.switch(&setting.switch).ok_or_else(|| format!("{setting} names no switch"))?;
        if switch.written(&setting.value).as_ref() != Some(&setting.value) {
            return Err(format!("{setting} is no value of {}", switch.name));
        }
        if !switch.is_step() {
            return Err(format!("{} is no step: it decides what an entry is", switch.name));
        }
        if setting.value == switch.first() {
            return Err(format!("{setting} is how the switch is without it"));
        }
        Ok(switch)
    }

    /// Whether the steps of a profile are some that there are, in an order in which each has what it requires.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn accepts(&self, profile: &Profile) -> Result<(), String> {
        let mut whole = self.bare();
        for setting in &profile.steps {
            let switch = self.check_step(setting)?;
            let before = whole.insert(setting.switch.clone(), setting.value.clone()).unwrap_or_default();
            if before != switch.first() && !switch.raises(&before, &setting.value) {
                return Err(format!(
                    "{setting} comes behind {}={before}, and does not raise it",
                    switch.name
                ));
            }
            // What a step requires stands before it, so that the list can be walked step by step.
            if let Some(why) = self.conflict(&whole) {
                return Err(why);
            }
        }
        let is_meant = |key: &String| {
            let in_list = profile.steps.iter().any(|set| set.to_string() == *key);
            let left_out = |set: Setting| whole.get(&set.switch).is_some_and(|value| *value == set.value);
            in_list || Setting::try_from(key.clone()).is_ok_and(left_out)
        };
        if let Some(odd) = profile.choices.keys().find(|key| !is_meant(key)) {
            return Err(format!("it has a choice {odd}, and is otherwise"));
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

    /// The table with one more profile.
    fn with_profile(steps: &str) -> Result<Table, String> {
        let row = format!("\n[[profile]]\nname = \"odd\"\nwhat = \"odd\"\nsteps = {steps}\n");
        Table::parse(&format!("{SOURCE}{row}")).map_err(|error| error.to_string())
    }

    #[test]
    fn bare_is_the_first_value_of_every_step_and_the_default_of_what_is_none() {
        let bare = Table::get().bare();
        assert_eq!(bare.len(), Table::get().switches.len());
        for (name, value) in [("smap", "off"), ("stack", "minimum"), ("asids", "1"), ("smep", "off")] {
            assert_eq!(bare[name], value, "{name}");
        }
        assert_eq!((bare["vsyscall"].as_str(), bare["gate"].as_str()), ("emulate", "interrupt"));
        let profile = Table::get().profile("bare").unwrap();
        assert_eq!((profile.steps.len(), Table::get().with(&profile.steps)), (0, bare));
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
        let why = "entries.toml: step verw=on: a row begins before the one above it has ended";
        assert_eq!(refused("until = \"6.7\"\n", ""), why);
        assert_eq!(refused("until = \"6.7\"", "until = \"6.10\""), why, "6.10 is later than 6.8");
        let why = "entries.toml: step verw=on: since and until are not two versions of Linux in order";
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

    #[test]
    fn what_a_step_requires_comes_with_what_that_requires() {
        let table = Table::get();
        let required = |text: &str, preferred: &[&str]| {
            let preferred = table.with(&preferred.iter().map(|text| set(text)).collect::<Vec<_>>());
            let found = table.required(&set(text), &preferred).unwrap();
            found.iter().map(Setting::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(required("copy-frame=on", &[]), "pti=on");
        assert_eq!(required("copy-frame=on", &["pti=trampoline"]), "pti=trampoline");
        assert_eq!(required("clear-registers=on", &[]), "stack=frame");
        assert_eq!(required("ibrs=on", &["pti=on"]), "");
        let chain = SOURCE.replacen(
            "feature = \"stibp\", ",
            "feature = \"stibp\", switches = { copy-frame = [\"on\"] }, ",
            1,
        );
        let table = Table::parse(&chain).unwrap();
        let found = table.required(&set("stibp=on"), &table.bare()).unwrap();
        assert_eq!(found, [set("pti=on"), set("copy-frame=on")]);
    }

    #[test]
    fn a_switch_stands_twice_only_where_the_second_raises_it() {
        assert!(with_profile(r#"["pti=trampoline", "pti=on"]"#).is_ok());
        assert!(with_profile(r#"["rsb=16", "rsb=32", "swapgs=on", "swapgs=fence"]"#).is_ok());
        for (steps, why) in [
            (r#"["pti=on", "pti=trampoline"]"#, "pti=trampoline comes behind pti=on, and does not raise it"),
            (r#"["rsb=32", "rsb=16"]"#, "rsb=16 comes behind rsb=32, and does not raise it"),
            (r#"["smep=on", "smep=on"]"#, "smep=on comes behind smep=on, and does not raise it"),
            (r#"["bhb=loop", "bhb=hardware"]"#, "bhb=hardware comes behind bhb=loop, and does not raise it"),
            (r#"["pit=on"]"#, "pit=on names no switch"),
            (r#"["pti=maybe"]"#, "pti=maybe is no value of pti"),
            (r#"["rsb=08"]"#, "rsb=08 is no value of rsb"),
            (r#"["pti=off"]"#, "pti=off is how the switch is without it"),
            (r#"["vsyscall=none"]"#, "vsyscall is no step: it decides what an entry is"),
            (
                r#"["clear-registers=on", "stack=frame"]"#,
                "clear-registers=on requires stack=frame, and stack is minimum",
            ),
            (r#"["copy-frame=on"]"#, "copy-frame=on requires pti=on or trampoline, and pti is off"),
        ] {
            assert_eq!(with_profile(steps).unwrap_err(), format!("entries.toml: profile odd: {why}"));
        }
        assert!(with_profile(r#"["pti"]"#).unwrap_err().contains("is not of the form switch=value"));
    }

    #[test]
    fn contradictions_are_named() {
        let taken = refused("name = \"linux-6.18\"", "name = \"linux-6.1\"");
        assert_eq!(
            taken,
            "entries.toml: profile linux-6.1: the name is taken, empty, or not of a-z 0-9 - _ . ="
        );
        let choice = refused("[profile.choices]\n", "[profile.choices]\n\"smep=off\" = \"?\"\n");
        assert!(choice.ends_with("it has a choice smep=off, and is otherwise"), "{choice}");
        let origin = refused("set = \"pti=trampoline\"", "set = \"pti=door\"");
        assert_eq!(origin, "entries.toml: step pti=door: it is no step");
        let levels = refused("levels = [\"off\", \"trampoline\"", "levels = [\"off\", \"door\"");
        assert_eq!(
            levels,
            "entries.toml: switch pti: its levels are not of its values, or do not begin with the first"
        );
        assert!(refused("group = \"isolation\"", "group = \"islands\"").contains("islands"));
    }
}

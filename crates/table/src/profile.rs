//! Profiles: named lists of what a kernel does around its entries; and what a command line adds to one or leaves out.

use crate::{Kernel, Mistake, Setting, Settings, SwitchValues, Table, nearest};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What some kernel does around its entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
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
    /// Of the steps that are not known but guessed: from what, in words. The table's are known.
    #[serde(skip)]
    pub guesses: BTreeMap<Setting, String>,
    /// What that kernel does beside, and the lab cannot; in words.
    #[serde(skip)]
    pub not_in_lab: Vec<String>,
}

impl Profile {
    /// With what each of these asks for (`--set`). The first setting of a switch takes the place of all that the profile has of it, or
    /// comes last; one of a later `--set` comes behind it, and raises it. Bare's value takes the switch out of the profile.
    ///
    /// # Errors
    /// [`Mistake::NoStep`] when the values of a switch are no steps.
    pub fn with(mut self, table: &Table, sets: &[Settings]) -> Result<Profile, Mistake> {
        let mut seen = BTreeSet::new();
        for setting in sets.iter().flat_map(Settings::iter) {
            if table.switch(&setting.name).is_some_and(|switch| !switch.is_step()) {
                return Err(Mistake::NoStep(setting.name.clone()));
            }
            let is_of_switch = |known: &Setting| known.name == setting.name;
            let end = self.steps.len();
            let place = if seen.insert(setting.name.clone()) {
                let place = self.steps.iter().position(is_of_switch).unwrap_or(end);
                self.steps.retain(|known| !is_of_switch(known));
                self.guesses.retain(|known, _| !is_of_switch(known));
                place
            } else {
                self.steps.iter().rposition(is_of_switch).map_or(end, |last| last + 1)
            };
            self.steps.insert(place, setting.clone());
        }
        Ok(self)
    }

    /// Without these steps (`--without`): `pti=on`, or all of a switch, `pti`; several have commas between them.
    ///
    /// # Errors
    /// [`Mistake::NotInProfile`]; [`Mistake::Needed`] where a step that is left requires one that is not.
    pub fn without(mut self, table: &Table, texts: &[String]) -> Result<Profile, Mistake> {
        for text in texts.iter().flat_map(|text| text.split(',')).map(str::trim) {
            let setting = table.setting(Kernel::Lab, text).ok();
            let is_meant = |known: &Setting| known.name == text || Some(known) == setting.as_ref();
            if !self.steps.iter().any(is_meant) {
                return Err(self.lacks(text));
            }
            self.steps.retain(|known| !is_meant(known));
        }
        self.refuse_needed(table, texts).map(|()| self)
    }

    /// Whoever leaves a step out is told everything that has to go with it.
    fn refuse_needed(&self, table: &Table, texts: &[String]) -> Result<(), Mistake> {
        let (mut left, mut gone) = (self.steps.clone(), Vec::new());
        if texts.is_empty() {
            return Ok(());
        }
        let needs_more = |step: &Setting, whole: &SwitchValues| {
            table.switch(&step.name).is_some_and(|switch| !switch.unmet(&step.value, whole).is_empty())
        };
        while let Some(place) = left.iter().position(|step| needs_more(step, &table.with(&left))) {
            gone.push(left.remove(place));
        }
        let Some(step) = gone.first().cloned() else { return Ok(()) };
        let without = texts.join(",");
        let more: Vec<String> = gone.iter().map(Setting::to_string).collect();
        let both = format!("{without},{}", more.join(","));
        Err(Mistake::Needed { without, step, both })
    }

    fn lacks(&self, step: &str) -> Mistake {
        let switches: BTreeSet<String> = self.steps.iter().map(|step| step.name.clone()).collect();
        let names: Vec<String> = self.steps.iter().map(Setting::to_string).chain(switches).collect();
        let hint = nearest(step, names.iter().map(String::as_str));
        Mistake::NotInProfile { profile: self.name.clone(), step: step.into(), hint, steps: names.join(", ") }
    }

    /// Its steps without those that bare has.
    ///
    /// # Errors
    /// When there is no such switch or value, when one stands there twice, or does not raise the one of its switch before it.
    pub fn settled(&self, table: &Table) -> Result<Vec<Setting>, Mistake> {
        let (bare, mut whole) = (table.bare(), table.bare());
        let mut settled = Vec::new();
        for step in &self.steps {
            if bare.get(&step.name) == whole.get(&step.name) && bare.get(&step.name) == Some(&step.value) {
                continue;
            }
            table.setting(Kernel::Lab, &step.to_string())?;
            table.raise(&bare, &mut whole, step)?;
            settled.push(step.clone());
        }
        Ok(settled)
    }
}

impl Table {
    /// The profile of that name.
    pub fn profile(&self, name: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.name == name)
    }

    /// That there is no such profile, but these.
    pub fn unknown_profile<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Mistake {
        let hint = nearest(name, names.clone());
        Mistake::NoProfile { name: name.into(), hint, names: names.collect::<Vec<_>>().join(", ") }
    }

    /// Puts a step on top of those before it: it is the first of its switch, or has more than the one before.
    fn raise(&self, bare: &SwitchValues, whole: &mut SwitchValues, step: &Setting) -> Result<(), Mistake> {
        let before = whole.insert(step.name.clone(), step.value.clone()).unwrap_or_default();
        let raises = self.switch(&step.name).is_some_and(|switch| switch.raises(&before, &step.value));
        if raises || bare.get(&step.name) == Some(&before) {
            return Ok(());
        }
        if before == step.value {
            return Err(Mistake::Twice(step.clone()));
        }
        Err(Mistake::NotRaised { before: Setting::new(&step.name, before), step: step.clone() })
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
        self.check_orders()?;
        self.check_origins()
    }

    /// Whether a setting can be a step of a bill.
    pub(crate) fn check_step(&self, step: &Setting) -> Result<(), String> {
        let written = self.setting(Kernel::Lab, &step.to_string()).map_err(|mistake| mistake.to_string())?;
        if written != *step {
            return Err(format!("{step} is written {written}"));
        }
        match self.switch(&step.name) {
            Some(switch) if !switch.is_step() => Err(Mistake::NoStep(step.name.clone()).to_string()),
            Some(switch) if step.value == switch.first() => {
                Err(format!("{step} is how the switch is without it"))
            }
            _ => Ok(()),
        }
    }

    /// Whether the steps of a profile are some that there are, in an order in which each has what it requires.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn accepts(&self, profile: &Profile) -> Result<(), String> {
        let (bare, mut whole) = (self.bare(), self.bare());
        for step in &profile.steps {
            self.check_step(step)?;
            self.raise(&bare, &mut whole, step).map_err(|mistake| mistake.to_string())?;
            // What a step requires stands before it, so that the list can be walked step by step.
            self.check_requirements(&whole).map_err(|mistake| mistake.to_string())?;
        }
        let is_meant = |key: &String| {
            let in_list = profile.steps.iter().any(|set| set.to_string() == *key);
            let left_out = |set: Setting| whole.get(&set.name).is_some_and(|value| *value == set.value);
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

    fn profile(steps: &[&str]) -> Profile {
        let steps = steps.iter().map(|text| Setting::try_from(text.to_string()).unwrap()).collect();
        Profile { name: "test".into(), steps, ..Profile::default() }
    }

    fn names(profile: &Profile) -> Vec<String> {
        profile.settled(Table::get()).unwrap().iter().map(Setting::to_string).collect()
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| text.to_string()).collect()
    }

    fn sets(texts: &[&str]) -> Vec<Settings> {
        texts.iter().map(|text| Table::get().settings(Kernel::Lab, text).unwrap()).collect()
    }

    #[test]
    fn what_is_set_takes_the_place_of_the_switch_and_raises_it() {
        let base = profile(&["smap=on", "pti=trampoline", "pti=on", "pcid=keep", "stack=frame"]);
        let with = |texts: &[&str]| names(&base.clone().with(Table::get(), &sets(texts)).unwrap());
        assert_eq!(
            with(&["pcid=flush"]),
            ["smap=on", "pti=trampoline", "pti=on", "pcid=flush", "stack=frame"]
        );
        assert_eq!(with(&["pti=on"]), ["smap=on", "pti=on", "pcid=keep", "stack=frame"]);
        assert_eq!(with(&["pti=off"]), ["smap=on", "pcid=keep", "stack=frame"]);
        assert_eq!(with(&["default"]), names(&base));
        let raised = ["smap=on", "cr3-writes=1", "cr3-writes=2"];
        assert_eq!(with(&["pti=off,stack=minimum,cr3-writes=1", "cr3-writes=2,pcid=off"]), raised);
        let kind = base.clone().with(Table::get(), &sets(&["observe=on"])).unwrap_err().to_string();
        assert_eq!(
            kind,
            "observe is no step of a bill: it decides what an entry is, and a bill is of one entry as it is"
        );
    }

    #[test]
    fn what_somebody_sets_is_no_guess() {
        let mut like = profile(&["smap=on", "rsb=32"]);
        let guess = |setting: &Setting| (setting.clone(), "by the version".to_string());
        like.guesses = like.steps.iter().map(guess).collect();
        let set = like.with(Table::get(), &sets(&["rsb=32"])).unwrap();
        assert_eq!(set.guesses.keys().map(Setting::to_string).collect::<Vec<_>>(), ["smap=on"]);
    }

    #[test]
    fn a_step_or_all_of_a_switch_is_left_out() {
        let base = profile(&["smap=on", "pti=trampoline", "pti=on", "pcid=keep"]);
        let without = |steps: &[&str]| base.clone().without(Table::get(), &strings(steps));
        assert_eq!(names(&without(&["pti=on"]).unwrap()), ["smap=on", "pti=trampoline", "pcid=keep"]);
        assert_eq!(names(&without(&["pti", "pcid=on"]).unwrap()), ["smap=on"]);
        assert_eq!(names(&without(&["pti, pcid"]).unwrap()), ["smap=on"]);
        assert_eq!(
            without(&["smpa"]).unwrap_err().to_string(),
            "the profile test has no step \"smpa\"; did you mean smap? (there are smap=on, pti=trampoline, pti=on, pcid=keep, pcid, pti, smap)"
        );
    }

    #[test]
    fn steps_that_contradict_each_other_are_refused() {
        let refused = |steps: &[&str]| profile(steps).settled(Table::get()).unwrap_err().to_string();
        for [first, second] in [
            ["pti=on", "pti=off"],
            ["pti=on", "pti=trampoline"],
            ["rsb=32", "rsb=16"],
            ["dispatch=retpoline", "dispatch=direct"],
        ] {
            let why = refused(&[first, "smap=on", second]);
            assert!(why.starts_with(&format!("{first} and {second} contradict each other")), "{why}");
        }
        assert_eq!(refused(&["pcid=keep", "pcid=keep"]), "pcid=keep is set twice; leave one out");
    }

    #[test]
    fn what_bare_has_is_no_step() {
        assert_eq!(names(&profile(&["pti=off", "smap=off", "vsyscall=emulate", "gate=trap"])), ["gate=trap"]);
    }

    #[test]
    fn a_switch_stands_twice_only_where_the_second_raises_it() {
        assert!(with_profile(r#"["pti=trampoline", "pti=on"]"#).is_ok());
        assert!(with_profile(r#"["rsb=16", "rsb=32", "swapgs=on", "swapgs=fence"]"#).is_ok());
        for (steps, why) in [
            (r#"["pti=on", "pti=trampoline"]"#, "pti=on and pti=trampoline contradict each other"),
            (r#"["rsb=32", "rsb=16"]"#, "rsb=32 and rsb=16 contradict each other"),
            (r#"["smep=on", "smep=on"]"#, "smep=on is set twice"),
            (r#"["bhb=loop", "bhb=hardware"]"#, "bhb=loop and bhb=hardware contradict each other"),
            (r#"["pit=on"]"#, "there is no switch \"pit\""),
            (r#"["pti=maybe"]"#, "\"maybe\" is no value of pti"),
            (r#"["rsb=08"]"#, "rsb=08 is written rsb=8"),
            (r#"["pti=off"]"#, "pti=off is how the switch is without it"),
            (r#"["vsyscall=none"]"#, "vsyscall is no step of a bill: it decides what an entry is"),
            (
                r#"["clear-registers=on", "stack=frame"]"#,
                "clear-registers=on requires stack=frame, and stack is minimum",
            ),
            (r#"["copy-frame=on"]"#, "copy-frame=on requires pti=on or trampoline, and pti is off"),
        ] {
            let said = with_profile(steps).unwrap_err();
            assert!(said.starts_with(&format!("entries.toml: profile odd: {why}")), "{said}");
        }
        assert!(with_profile(r#"["pti"]"#).unwrap_err().contains("\"pti\" is no setting"));
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
        assert_eq!(origin, "entries.toml: origin of pti=door: it is no step");
        let levels = refused("levels = [\"off\", \"trampoline\"", "levels = [\"off\", \"door\"");
        assert_eq!(
            levels,
            "entries.toml: switch pti: its levels are not of its values, or do not begin with the first"
        );
        assert!(refused("group = \"isolation\"", "group = \"islands\"").contains("islands"));
    }
}

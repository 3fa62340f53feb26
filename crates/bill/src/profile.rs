//! Profiles: named lists of settings, and what a command line adds to one or leaves out.

use crate::Error;
use table::Table;

/// A named, ordered list of settings, as the table has it or as it was made from an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name: `linux-6.1`, `like-here`.
    pub name: String,
    /// Its settings in Linux's order. A switch may stand in it twice, the later raising it.
    pub settings: Vec<Setting>,
    /// What that kernel does beside, and the lab cannot; in words.
    pub not_in_lab: Vec<String>,
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

impl Setting {
    /// As it is written on a command line: `pti=on`.
    pub fn name(&self) -> String {
        format!("{}={}", self.switch, self.value)
    }

    /// Parses `SWITCH=VALUE`.
    fn parse(text: &str) -> Result<Setting, Error> {
        let (switch, value) = text.split_once('=').ok_or_else(|| Error::NoSetting(text.into()))?;
        Ok(Setting { switch: switch.trim().into(), value: value.trim().into(), guess: None })
    }
}

impl Profile {
    /// With these `SWITCH=VALUE`s (`--set`; several may stand in one, with commas). The first of a switch takes the place of all that
    /// the profile has of it, or comes last; further ones raise it. Bare's value takes the switch out of the profile.
    ///
    /// # Errors
    /// When one is no setting, or there is no such switch or value, or its values are no steps.
    pub fn with(mut self, table: &Table, texts: &[String]) -> Result<Profile, Error> {
        let mut seen: Vec<String> = Vec::new();
        for text in texts.iter().flat_map(|texts| texts.split(',')) {
            let setting = settled(table, &Setting::parse(text)?)?;
            if table.switch(&setting.switch).is_some_and(|switch| !switch.is_step()) {
                return Err(Error::NoBillStep(setting.switch));
            }
            let of_switch = |known: &Setting| known.switch == setting.switch;
            let place = if seen.contains(&setting.switch) {
                self.settings.iter().rposition(of_switch).map_or(self.settings.len(), |last| last + 1)
            } else {
                let place = self.settings.iter().position(of_switch).unwrap_or(self.settings.len());
                self.settings.retain(|known| known.switch != setting.switch);
                place
            };
            seen.push(setting.switch.clone());
            self.settings.insert(place, setting);
        }
        Ok(self)
    }

    /// Without these steps (`--without`): `pti=on`, or all of a switch, `pti`.
    ///
    /// # Errors
    /// When the profile has no such step.
    pub fn without(mut self, steps: &[String]) -> Result<Profile, Error> {
        for step in steps {
            let before = self.settings.len();
            self.settings.retain(|setting| setting.switch != *step && setting.name() != *step);
            if self.settings.len() == before {
                return Err(Error::NoStep { profile: self.name.clone(), step: step.clone() });
            }
        }
        Ok(self)
    }

    /// Its settings as the table writes them, without those that bare has.
    pub(crate) fn settled(&self, table: &Table) -> Result<Vec<Setting>, Error> {
        let (mut all, bare): (Vec<Setting>, _) = (Vec::new(), table.bare());
        for setting in &self.settings {
            let setting = settled(table, setting)?;
            let mut before = all.iter().filter(|known| known.switch == setting.switch);
            if before.clone().any(|known| known.value == setting.value) {
                return Err(Error::Contradiction(format!("{} is given twice", setting.name())));
            }
            let is_bare = bare.get(&setting.switch) == Some(&setting.value);
            let raises = |from: &Setting| {
                table.switch(&from.switch).is_some_and(|switch| switch.raises(&from.value, &setting.value))
            };
            match before.next_back() {
                Some(first) if !raises(first) => {
                    let (first, name) = (first.name(), setting.name());
                    return Err(Error::Contradiction(format!("{first} and {name} contradict each other")));
                }
                None if is_bare => (),
                _ => all.push(setting),
            }
        }
        Ok(all)
    }

    /// What can be said of its steps on a command line: each, and all of a switch.
    pub fn step_names(&self) -> Vec<String> {
        let steps = self.settings.iter().map(Setting::name);
        steps.chain(self.settings.iter().map(|setting| setting.switch.clone())).collect()
    }
}

fn settled(table: &Table, setting: &Setting) -> Result<Setting, Error> {
    let switch = table.switch(&setting.switch).ok_or_else(|| Error::NoSwitch(setting.switch.clone()))?;
    let value = switch.written(&setting.value).ok_or_else(|| Error::NoValue {
        switch: switch.name.clone(),
        value: setting.value.clone(),
        choices: switch.choices().replace('|', ", "),
    })?;
    Ok(Setting { value, ..setting.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(settings: &[&str]) -> Profile {
        let settings = settings.iter().map(|text| Setting::parse(text).unwrap()).collect();
        Profile { name: "test".into(), settings, not_in_lab: Vec::new() }
    }

    fn names(profile: &Profile) -> Vec<String> {
        profile.settled(Table::get()).unwrap().iter().map(Setting::name).collect()
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| text.to_string()).collect()
    }

    #[test]
    fn what_is_set_takes_the_place_of_the_switch_and_raises_it() {
        let base = profile(&["smap=on", "pti=trampoline", "pti=on", "pcid=on", "stack=frame"]);
        let with = |texts: &[&str]| names(&base.clone().with(Table::get(), &strings(texts)).unwrap());
        assert_eq!(
            with(&["pcid=flush"]),
            ["smap=on", "pti=trampoline", "pti=on", "pcid=flush", "stack=frame"]
        );
        assert_eq!(with(&["pti=on"]), ["smap=on", "pti=on", "pcid=keep", "stack=frame"]);
        assert_eq!(with(&["pti=off"]), ["smap=on", "pcid=keep", "stack=frame"]);
        let raised = ["smap=on", "cr3-writes=1", "cr3-writes=2"];
        assert_eq!(with(&["pti=off,stack=minimum", "cr3-writes=1,cr3-writes=2", "pcid=off"]), raised);
    }

    #[test]
    fn a_step_or_all_of_a_switch_is_left_out() {
        let base = profile(&["smap=on", "pti=trampoline", "pti=on"]);
        let without = |steps: &[&str]| base.clone().without(&strings(steps));
        assert_eq!(names(&without(&["pti=on"]).unwrap()), ["smap=on", "pti=trampoline"]);
        assert_eq!(names(&without(&["pti"]).unwrap()), ["smap=on"]);
        let why = without(&["pit"]).unwrap_err();
        assert_eq!(why.to_string(), "the profile test has no step \"pit\"");
        let steps = base.step_names();
        assert_eq!(why.names(Table::get(), &steps).unwrap().1[1], "pti=trampoline");
    }

    #[test]
    fn what_is_no_setting_or_contradicts_another_is_refused() {
        let refused = |settings: &[&str]| profile(settings).settled(Table::get()).unwrap_err().to_string();
        assert_eq!(refused(&["smpa=on"]), "there is no switch \"smpa\"");
        assert_eq!(refused(&["pti=yes"]), "\"yes\" is no value of pti, which can be off, on, trampoline");
        assert_eq!(refused(&["pti=on", "smap=on", "pti=off"]), "pti=on and pti=off contradict each other");
        for (first, second) in
            [("pti=on", "pti=trampoline"), ("rsb=32", "rsb=16"), ("dispatch=retpoline", "dispatch=direct")]
        {
            assert_eq!(refused(&[first, second]), format!("{first} and {second} contradict each other"));
        }
        assert_eq!(refused(&["pcid=on", "pcid=keep"]), "pcid=keep is given twice");
        let with = |text: &str| profile(&[]).with(Table::get(), &strings(&[text])).unwrap_err().to_string();
        assert_eq!(with("pti"), "\"pti\" is not of the form SWITCH=VALUE");
        let no_step = "observe is no step of a bill: it decides what an entry is, and costs nothing beside";
        assert_eq!(with("observe=on"), no_step);
        assert_eq!(with("cr3-writes=1001"), "\"1001\" is no value of cr3-writes, which can be 0..1000");
    }

    #[test]
    fn what_bare_has_is_no_step() {
        assert_eq!(names(&profile(&["pti=off", "smap=off", "vsyscall=emulate", "gate=trap"])), ["gate=trap"]);
    }
}

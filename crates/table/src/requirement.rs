//! What the values of switches require of other switches: the one place that knows when a requirement is met.

use crate::mistake::Need;
use crate::{Mistake, Setting, Switch, Table};
use std::collections::BTreeMap;

/// A value for every switch, by its name.
pub type SwitchValues = BTreeMap<String, String>;

impl Switch {
    /// What a value requires of other switches, and these values do not meet: the switch, and the values that would do.
    pub fn unmet<'a>(&'a self, value: &str, whole: &'a SwitchValues) -> Vec<(&'a str, &'a [String])> {
        let needs = self.requirements(value).into_iter().flat_map(|need| &need.switches);
        let is_unmet = |(name, allowed): &(&String, &Vec<String>)| {
            whole.get(*name).is_some_and(|value| !allowed.contains(value))
        };
        needs.filter(is_unmet).map(|(name, allowed)| (name.as_str(), allowed.as_slice())).collect()
    }
}

impl Table {
    /// The configuration that a bill begins with: of every switch that is a step the first value, of the others the default.
    pub fn bare(&self) -> SwitchValues {
        let value = |switch: &Switch| if switch.is_step() { switch.first() } else { switch.default.clone() };
        self.switches.iter().map(|switch| (switch.name.clone(), value(switch))).collect()
    }

    /// The bare configuration with these settings, the last of a switch counting.
    pub fn with(&self, settings: &[Setting]) -> SwitchValues {
        let mut whole = self.bare();
        whole.extend(settings.iter().map(|set| (set.name.clone(), set.value.clone())));
        whole
    }

    /// What a value of a configuration requires of another that has another value.
    ///
    /// # Errors
    /// [`Mistake::Unmet`], of the first.
    pub fn check_requirements(&self, whole: &SwitchValues) -> Result<(), Mistake> {
        for switch in &self.switches {
            let Some(value) = whole.get(&switch.name) else { continue };
            let needs = self.all_unmet(switch, value, whole);
            if !needs.is_empty() {
                return Err(Mistake::Unmet { setting: Setting::new(&switch.name, value), needs });
            }
        }
        Ok(())
    }

    /// What a value requires and what these values do not meet; and what that requires in turn, where it leaves no choice.
    fn all_unmet(&self, switch: &Switch, value: &str, whole: &SwitchValues) -> Vec<Need> {
        let mut needs: Vec<Need> = Vec::new();
        for (name, allowed) in switch.unmet(value, whole) {
            needs.push(need(name, allowed, whole));
            let [only] = allowed else { continue };
            let further = self.switch(name).map(|switch| self.all_unmet(switch, only, whole));
            needs.extend(further.unwrap_or_default());
        }
        needs
    }

    /// What a setting requires of other switches, and what that requires in turn, the furthest first. Where a requirement leaves
    /// a choice, it is the value of `preferred` if that will do, or the first. What the bare configuration has is not named.
    ///
    /// # Errors
    /// A requirement that contradicts another; a switch that there is not.
    pub fn required(&self, setting: &Setting, preferred: &SwitchValues) -> Result<Vec<Setting>, Mistake> {
        let mut needed = Vec::new();
        self.require(setting, preferred, &mut needed)?;
        Ok(needed)
    }

    fn require(
        &self,
        setting: &Setting,
        preferred: &SwitchValues,
        needed: &mut Vec<Setting>,
    ) -> Result<(), Mistake> {
        let switch = self.switch(&setting.name);
        let switch = switch.ok_or_else(|| self.unknown_to(&[crate::Kernel::Lab], &setting.name))?;
        // What one requirement brings may meet the next.
        while let Some((name, allowed)) = switch.unmet(&setting.value, &self.with(needed)).first() {
            if needed.iter().any(|known| known.name == *name) {
                let needs = vec![need(name, allowed, &self.with(needed))];
                return Err(Mistake::Unmet { setting: setting.clone(), needs });
            }
            let preferred_value = preferred.get(*name).filter(|value| allowed.contains(value));
            let Some(value) = preferred_value.or(allowed.first()) else { break };
            let next = Setting::new(*name, value);
            self.require(&next, preferred, needed)?;
            needed.push(next);
        }
        Ok(())
    }
}

fn need(name: &str, allowed: &[String], whole: &SwitchValues) -> Need {
    let value = whole.get(name).cloned().unwrap_or_default();
    Need { name: name.into(), allowed: allowed.to_vec(), value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SOURCE;

    fn set(text: &str) -> Setting {
        Setting::try_from(text.to_string()).unwrap()
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
    fn all_that_is_not_met_is_told_at_once() {
        let said = |text: &str| {
            let bad = Table::get().sets(crate::Kernel::LabI386, &[text.into()]).unwrap_err().to_string();
            bad.strip_prefix(&format!("--set {text}: ")).unwrap().to_owned()
        };
        assert_eq!(
            said("paging=off"),
            "paging=off requires more: add segments=limited,exit=iret,smap=off,smep=off"
        );
        assert_eq!(
            said("paging=off,smep=off,exit=iret"),
            "paging=off requires more: add segments=limited,smap=off"
        );
        assert_eq!(
            said("paging=off,smep=off,smap=off,exit=iret"),
            "paging=off requires segments=limited, and segments is flat"
        );
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
}

//! The lab's switches: their values, and what these require.

use crate::{Kernel, Table, unique};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a switch is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// What an entry saves, and on what it runs.
    Frame,
    /// Page tables, and the translations that the processor keeps of them.
    Isolation,
    /// What the processor does ahead of time.
    Speculation,
    /// What the processor forbids the kernel or programs.
    Supervisor,
    /// What a kernel does for a call besides serving it.
    Work,
    /// What there is, or is seen: no step of a bill.
    Kind,
}

impl Group {
    /// Every group, in the order in which they are shown.
    pub const ALL: [Group; 6] =
        [Group::Frame, Group::Isolation, Group::Speculation, Group::Supervisor, Group::Work, Group::Kind];

    /// Its heading.
    pub fn heading(self) -> &'static str {
        match self {
            Group::Frame => "registers and stack",
            Group::Isolation => "page tables",
            Group::Speculation => "speculation",
            Group::Supervisor => "forbidden by the processor",
            Group::Work => "work on every call",
            Group::Kind => "what an entry is",
        }
    }
}

/// Something that can be switched in the lab between two measurements of one boot.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Its id; it never changes.
    pub id: u16,
    /// What it is about.
    pub group: Group,
    /// Values of which each has all that the one before it has; the order of a number if there are none.
    #[serde(default)]
    pub levels: Vec<String>,
    /// As written on the command line.
    pub name: String,
    /// In a few words.
    pub what: String,
    /// What people call the attack that it is against, or the protection, where that is another name: `Meltdown`.
    #[serde(default)]
    pub known: Vec<String>,
    /// Names of its values, by index; empty for a number.
    #[serde(default)]
    pub values: Vec<String>,
    /// Other names of values, which earlier versions had.
    #[serde(default)]
    pub aliases: BTreeMap<String, String>,
    /// For a number: the least and the greatest.
    pub range: Option<(u32, u32)>,
    /// Its default value.
    pub default: String,
    /// The lab's kernels that it is a switch of. The other one takes it in a plan, where it does nothing.
    #[serde(default = "both_kernels")]
    pub kernels: Vec<Kernel>,
    /// What its values need.
    #[serde(default)]
    pub requires: Vec<Requirement>,
}

fn both_kernels() -> Vec<Kernel> {
    vec![Kernel::Lab, Kernel::LabI386]
}

/// What some values of a switch need.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The values that need it; none: all but the first, or the least.
    #[serde(default)]
    pub values: Vec<String>,
    /// What the processor must have: `FEATURE_*` of `abi/lab.h`, in lower case.
    pub feature: Option<String>,
    /// Whether the step can be executed without that feature where instructions are counted; it has no effect then.
    #[serde(default)]
    pub harmless: bool,
    /// The values of other switches that go together with it.
    #[serde(default)]
    pub switches: BTreeMap<String, Vec<String>>,
}

/// Conditions of paths have a bit for each value (`lab/entry/path.inc`); a number from here on shares the last.
const LAST_BIT: u32 = 31;

impl Switch {
    /// The only kernel of the lab that it is a switch of; none if both have it.
    pub fn only_kernel(&self) -> Option<Kernel> {
        match self.kernels.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// The number by which the kernel knows a value; `None` if there is no such value.
    pub fn value(&self, text: &str) -> Option<u32> {
        match self.range {
            Some((least, most)) => {
                let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let number = is_number.then(|| text.parse().ok()).flatten();
                number.filter(|number| (least..=most).contains(number))
            }
            None => {
                let name = self.aliases.get(text).map_or(text, String::as_str);
                let place = self.values.iter().position(|value| value == name)?;
                u32::try_from(place).ok()
            }
        }
    }

    /// A value as it is written everywhere: a number without leading zeros, and no alias.
    pub fn written(&self, text: &str) -> Option<String> {
        let value = self.value(text)?;
        match self.range {
            Some(_) => Some(value.to_string()),
            None => self.values.get(value as usize).cloned(),
        }
    }

    /// The value that the kernel knows by a number; `None` if there is no such value.
    pub fn of_number(&self, number: u64) -> Option<String> {
        match self.range {
            Some((least, most)) => {
                let is_within = (u64::from(least)..=u64::from(most)).contains(&number);
                is_within.then(|| number.to_string())
            }
            None => self.values.get(usize::try_from(number).ok()?).cloned(),
        }
    }

    /// The first value, or the least number: what needs nothing.
    pub fn first(&self) -> String {
        match (self.range, self.values.first()) {
            (Some((least, _)), _) => least.to_string(),
            (None, first) => first.cloned().unwrap_or_default(),
        }
    }

    /// Whether its values are steps of a bill; the others decide what an entry is, or are seen alone.
    pub fn is_step(&self) -> bool {
        self.group != Group::Kind
    }

    /// Whether a value has all that another has, and more.
    pub fn raises(&self, from: &str, to: &str) -> bool {
        self.level(from).zip(self.level(to)).is_some_and(|(from, to)| from < to)
    }

    /// How far a value is raised; none of values of which none has all that another has.
    pub fn level(&self, value: &str) -> Option<u32> {
        match self.range {
            Some(_) => self.value(value),
            None => self.levels.iter().position(|level| level == value)?.try_into().ok(),
        }
    }

    /// All values, in few words: `off|on`, `0..1000`.
    pub fn choices(&self) -> String {
        match self.range {
            Some((least, most)) => format!("{least}..{most}"),
            None => self.values.join("|"),
        }
    }

    /// The same as a part of a sentence: `off, on`, `a whole number from 0 to 1000`.
    pub(crate) fn choices_in_words(&self) -> String {
        match self.range {
            Some((least, most)) => format!("a whole number from {least} to {most}"),
            None => self.values.join(", "),
        }
    }

    /// What a value requires.
    pub fn requirements(&self, value: &str) -> Vec<&Requirement> {
        let is_first = value == self.first();
        let applies = |requirement: &&Requirement| match requirement.values.as_slice() {
            [] => !is_first,
            values => values.iter().any(|known| known == value),
        };
        self.requires.iter().filter(applies).collect()
    }

    /// The values to which a requirement applies, as a mask: a bit for each value.
    pub(crate) fn mask(&self, requirement: &Requirement) -> u32 {
        let bit = |value: u32| 1 << value.min(LAST_BIT);
        match requirement.values.as_slice() {
            [] => !bit(self.range.map_or(0, |(least, _)| least)),
            values => {
                values.iter().filter_map(|value| self.value(value)).fold(0, |mask, value| mask | bit(value))
            }
        }
    }

    pub(crate) fn check(&self, table: &Table) -> Result<(), String> {
        if self.values.is_empty() != self.range.is_some() {
            return Err("it has either values or a range".into());
        }
        if self.kernels.is_empty() || !self.kernels.iter().all(|kernel| kernel.is_lab()) {
            return Err("its kernels are not some of the lab's".into());
        }
        if self.range.is_some_and(|(least, most)| least >= most) {
            return Err("its range is empty".into());
        }
        if self.values.len() > LAST_BIT as usize {
            return Err(format!("it has more than {LAST_BIT} values"));
        }
        let is_value = |level: &String| self.values.contains(level);
        if !self.levels.is_empty()
            && (self.levels.first() != self.values.first() || !self.levels.iter().all(is_value))
        {
            return Err("its levels are not of its values, or do not begin with the first".into());
        }
        if self.written(&self.default).as_ref() != Some(&self.default) {
            return Err(format!("the default {} is none of its values", self.default));
        }
        if let Some((alias, value)) = self
            .aliases
            .iter()
            .find(|(alias, value)| self.values.contains(alias) || !self.values.contains(value))
        {
            return Err(format!("the alias {alias} = {value} is a value itself, or stands for none"));
        }
        unique("value", self.values.iter().zip(1..).map(|(value, place)| (place, value.as_str())))?;
        self.requires.iter().try_for_each(|requirement| self.check_requirement(table, requirement))
    }

    fn check_requirement(&self, table: &Table, requirement: &Requirement) -> Result<(), String> {
        if let Some(value) = requirement.values.iter().find(|value| self.value(value).is_none()) {
            return Err(format!("requires something for {value}, which is none of its values"));
        }
        let is_plain =
            |name: &String| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if requirement.harmless && requirement.feature.is_none() {
            return Err("harmless without a feature".into());
        }
        if let Some(name) = requirement.feature.as_ref().filter(|name| !is_plain(name)) {
            return Err(format!("{name} is not the name of a feature"));
        }
        for (name, values) in &requirement.switches {
            if *name == self.name {
                return Err("requires itself".into());
            }
            if values.is_empty() {
                return Err(format!("requires {name} to have none of its values"));
            }
            if let Some(value) = values.iter().find(|value| !table.has_value(name, value)) {
                return Err(format!("requires {name}={value}, which is no switch and value"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(name: &str) -> &'static Switch {
        Table::get().switch(name).unwrap()
    }

    #[test]
    fn a_number_is_within_its_range_and_written_in_one_way() {
        let writes = switch("cr3-writes");
        assert_eq!(
            (writes.value("0"), writes.value("1000"), writes.value("007")),
            (Some(0), Some(1000), Some(7))
        );
        for bad in ["1001", "-1", "+1", "", "on", "1 ", "99999999999"] {
            assert_eq!(writes.value(bad), None, "{bad:?}");
        }
        assert_eq!(writes.written("007").as_deref(), Some("7"));
        assert_eq!(
            [0, 1000, 1001, u64::MAX].map(|number| writes.of_number(number).is_some()),
            [true, true, false, false]
        );
        assert_eq!((writes.choices(), switch("gate").choices()), ("0..1000".into(), "interrupt|trap".into()));
    }

    #[test]
    fn all_values_but_the_first_need_what_is_required() {
        let pcid = switch("pcid");
        assert_eq!(pcid.requirements("off").len(), 0);
        assert_eq!((pcid.written("on"), pcid.value("on")), (Some("keep".into()), pcid.value("keep")));
        assert_eq!(pcid.requirements("keep")[0].feature.as_deref(), Some("pcid"));
        assert_eq!(pcid.mask(&pcid.requires[0]), !1);
        let numbers = [0, 1, 99].map(|number| pcid.of_number(number));
        assert_eq!(numbers, [Some("off".to_string()), Some("keep".to_string()), None]);
    }
}

//! Configurations of the lab: a value for every switch.

use crate::{Error, TableRow};
use std::borrow::Cow;
use std::collections::BTreeMap;
use table::{Entry, Kernel, Switch, Table};

/// A value for every switch, in the table's order. Two are equal if all values are, whoever asked for them.
#[derive(Debug, Clone)]
pub struct Configuration<'a> {
    values: Vec<(&'a Switch, Cow<'a, str>)>,
    /// The switches that were asked for.
    named: Vec<&'a str>,
}

impl PartialEq for Configuration<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl<'a> Configuration<'a> {
    /// The default of every switch.
    pub fn defaults(table: &'a Table) -> Configuration<'a> {
        let values = table.switches.iter().map(|switch| (switch, Cow::from(switch.default.as_str())));
        Configuration { values: values.collect(), named: Vec::new() }
    }

    /// With the values that an entry requires, whatever was asked for.
    pub fn for_entry(&self, entry: &'a Entry) -> Configuration<'a> {
        let value = |(switch, value): &(&'a Switch, Cow<'a, str>)| {
            let needed = entry.needs.get(&switch.name).map(|value| Cow::from(value.as_str()));
            (*switch, needed.unwrap_or_else(|| value.clone()))
        };
        Configuration { values: self.values.iter().map(value).collect(), named: self.named.clone() }
    }

    /// With the values that a row requires: those of its entry, and of its operation.
    pub fn for_row(&self, (entry, operation): TableRow<'a>) -> Configuration<'a> {
        let needed = entry.needs_for(operation);
        let value = |(switch, value): &(&'a Switch, Cow<'a, str>)| {
            let needed = needed.get(switch.name.as_str()).map(|value| Cow::from(*value));
            (*switch, needed.unwrap_or_else(|| value.clone()))
        };
        Configuration { values: self.values.iter().map(value).collect(), named: self.named.clone() }
    }

    /// With these values asked for, which are some of the table's.
    pub fn with<'v>(mut self, values: impl IntoIterator<Item = (&'v str, &'v str)>) -> Configuration<'a> {
        for (name, value) in values {
            if let Some((switch, kept)) = self.values.iter_mut().find(|(switch, _)| switch.name == name) {
                *kept = value.to_string().into();
                self.named.push(&switch.name);
            }
        }
        self
    }

    /// What was asked for of a switch.
    fn asked(&self, name: &str) -> Option<&str> {
        let is_named = self.named.contains(&name);
        self.values().find(|(known, _)| is_named && *known == name).map(|(_, value)| value)
    }

    /// Each switch and its value.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(switch, value)| (switch.name.as_str(), value.as_ref()))
    }

    /// All of them, by name.
    pub fn all_values(&self) -> BTreeMap<String, String> {
        self.values().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    /// The values of some switches.
    pub fn only(&self, names: &[&str]) -> BTreeMap<String, String> {
        let named = self.values().filter(|(name, _)| names.contains(name));
        named.map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    /// The switches whose values differ from another configuration, with the values here.
    pub fn changes_from(&self, other: &Configuration) -> Vec<(String, String)> {
        let pairs = self.values().zip(other.values());
        let changed = pairs.filter(|(new, old)| new != old).map(|(new, _)| new);
        changed.map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    /// The switch of this id, and its value.
    pub fn of_switch(&self, id: u64) -> Option<(&'a Switch, &str)> {
        let found = self.values.iter().find(|(switch, _)| u64::from(switch.id) == id);
        found.map(|(switch, value)| (*switch, value.as_ref()))
    }

    /// What has no effect on a processor with these features, where it is executed all the same: switch, value, and the feature that
    /// is missing.
    pub fn without_effect(&self, features: &[String]) -> Vec<(&str, &str, &'a str)> {
        let of_switch = |(switch, value): &'_ (&'a Switch, Cow<'a, str>)| {
            let needs = switch.requirements(value).into_iter().filter(|need| need.harmless);
            let mut lacking = needs.filter_map(|need| need.feature.as_deref());
            lacking.find(|feature| !features.iter().any(|known| known == feature))
        };
        let all = self.values.iter();
        all.filter_map(|pair| Some((pair.0.name.as_str(), pair.1.as_ref(), of_switch(pair)?))).collect()
    }
}

/// What a command line compares.
#[derive(Debug, Clone)]
pub struct Configurations<'a> {
    /// One for each `--set`, in their order; without `--set`, the defaults.
    pub all: Vec<Configuration<'a>>,
    /// The switches that some `--set` names.
    pub named: Vec<&'a str>,
}

impl<'a> Configurations<'a> {
    /// Parses these `--set`s of a kernel of the lab.
    ///
    /// # Errors
    /// [`Error::Usage`], with the mistake.
    pub fn new(table: &'a Table, kernel: Kernel, texts: &[String]) -> Result<Configurations<'a>, Error> {
        let defaults = Configuration::defaults(table);
        let sets = table.sets(kernel, texts)?;
        let all: Vec<Configuration> = match sets.as_slice() {
            [] => vec![defaults],
            sets => sets.iter().map(|settings| defaults.clone().with(settings.pairs())).collect(),
        };
        let names = table.switches.iter().map(|switch| switch.name.as_str());
        let named = names.filter(|name| all.iter().any(|asked| asked.named.contains(name))).collect();
        Ok(Configurations { all, named })
    }

    /// What an entry always runs with, and rows beside it do not: a remark for each such switch. `defaults` are the kernel's on that machine.
    pub fn remarks(&self, entry: &Entry, defaults: Option<&BTreeMap<String, String>>) -> Vec<String> {
        let others_differ = |(name, value): &(&String, &String)| {
            let default = defaults.and_then(|defaults| defaults.get(*name)).map(String::as_str);
            self.all.iter().any(|asked| asked.asked(name).or(default) != Some(value.as_str()))
        };
        let needed = entry.needs.iter().filter(others_differ);
        needed.map(|(name, value)| format!("always with {name}={value}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configurations(texts: &[&str]) -> Result<Configurations<'static>, String> {
        let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
        Configurations::new(Table::get(), Kernel::Lab, &texts).map_err(|error| error.to_string())
    }

    #[test]
    fn each_set_is_a_configuration_on_top_of_the_defaults() {
        let two = configurations(&["pti=on,pcid=on", "smap=off"]).unwrap();
        assert_eq!(two.named, ["smap", "pti", "pcid"]);
        let of = |index: usize| two.all[index].only(&two.named).into_values().collect::<Vec<_>>().join(" ");
        // By name: pcid, pti, smap.
        assert_eq!([of(0), of(1)], ["keep on on", "off off off"]);
        let none = configurations(&[]).unwrap();
        assert_eq!(none.all, [Configuration::defaults(Table::get())]);
        assert!(none.named.is_empty());
    }

    #[test]
    fn a_value_that_is_spelled_like_a_switch_named_it() {
        let frames = "values = [\"minimum\", \"frame\"";
        let table = Table::parse(&table::SOURCE.replacen(frames, &format!("{frames}, \"pti\""), 1)).unwrap();
        let one = Configurations::new(&table, Kernel::Lab, &["stack=pti".to_string()]).unwrap();
        assert_eq!((one.all[0].all_values()["stack"].as_str(), one.named), ("pti", vec!["stack"]));
    }

    #[test]
    fn an_entry_fixes_its_switches() {
        let table = Table::get();
        let defaults = Configuration::defaults(table);
        let trap = defaults.for_entry(table.entry("trapgate-i386").unwrap());
        assert_eq!(trap.changes_from(&defaults), [("gate".to_string(), "trap".to_string())]);
        assert_eq!(
            trap.of_switch(7).map(|(switch, value)| (switch.name.as_str(), value)),
            Some(("gate", "trap"))
        );
        assert_eq!(trap.of_switch(99), None);
    }

    #[test]
    fn what_an_entry_always_runs_with_is_said_where_other_rows_do_not() {
        let table = Table::get();
        let remarks = |entry: &str, sets: &[&str]| {
            let defaults = Configuration::defaults(table).all_values();
            let sets: Vec<String> = sets.iter().map(|text| text.to_string()).collect();
            let all = Configurations::new(table, Kernel::LabI386, &sets).unwrap();
            all.remarks(table.entry(entry).unwrap(), Some(&defaults)).join("; ")
        };
        assert_eq!(remarks("call-gate-32-8", &[]), "always with smap=off");
        assert_eq!(remarks("call-gate-32-8", &["smap=off"]), "");
        assert_eq!(remarks("call-gate-32-8", &["smap=off", "smap=on"]), "always with smap=off");
        assert_eq!(remarks("call-gate-32-8", &["smap=off,pti=on", "pti=on"]), "always with smap=off");
        assert_eq!(remarks("intgate-i386", &[]), "");
        assert_eq!(remarks("intgate-i386", &["gate=trap"]), "always with gate=interrupt");
        assert_eq!(remarks("task-16", &["events-by=task"]), "always with events-by=gate");
        assert_eq!(remarks("int80-i386", &["smap=off", "smap=on"]), "");
    }

    #[test]
    fn a_step_without_its_feature_has_no_effect_and_is_told() {
        let asked = configurations(&["ibrs=on,verw=on,pti=on,pcid=on"]).unwrap();
        let told = |features: &[&str]| {
            let features: Vec<String> = features.iter().map(|feature| feature.to_string()).collect();
            let told = asked.all[0].without_effect(&features);
            told.iter()
                .map(|(switch, value, feature)| format!("{switch}={value} {feature}"))
                .collect::<Vec<_>>()
        };
        // Identifiers of address spaces are not harmless.
        assert_eq!(told(&[]), ["ibrs=on ibrs", "verw=on mdclear"]);
        assert_eq!(told(&["ibrs"]), ["verw=on mdclear"]);
        assert_eq!(told(&["mdclear", "ibrs"]), [""; 0]);
    }

    #[test]
    fn what_is_wrong_with_a_set_is_said() {
        let refused = |texts: &[&str]| configurations(texts).unwrap_err();
        assert!(refused(&["pti=maybe"]).starts_with("--set pti=maybe: \"maybe\" is no value of pti"));
        assert!(refused(&["pti=on", "smap=on,pti=on"]).contains("the same configuration as --set pti=on"));
    }
}

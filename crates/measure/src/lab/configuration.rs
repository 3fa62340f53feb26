//! What `--set` asks for: values of the lab's switches.

use crate::Error;
use crate::select::nearest;
use std::collections::BTreeMap;
use table::{Entry, Switch, Table};

/// A value for every switch, in the table's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration<'a> {
    values: Vec<(&'a Switch, &'a str)>,
}

impl<'a> Configuration<'a> {
    /// The default of every switch.
    pub fn defaults(table: &'a Table) -> Configuration<'a> {
        let values = table.switches.iter().map(|switch| (switch, switch.default.as_str()));
        Configuration { values: values.collect() }
    }

    /// With the values that an entry requires, whatever was asked for.
    pub fn for_entry(&self, entry: &'a Entry) -> Configuration<'a> {
        let value = |(switch, value): &(&'a Switch, &'a str)| {
            (*switch, entry.needs.get(&switch.name).map_or(*value, String::as_str))
        };
        Configuration { values: self.values.iter().map(value).collect() }
    }

    /// With one value changed.
    pub fn but(mut self, name: &str, value: &'a str) -> Configuration<'a> {
        self.values.iter_mut().filter(|(switch, _)| switch.name == name).for_each(|slot| slot.1 = value);
        self
    }

    /// Each switch and its value.
    pub fn values(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.values.iter().map(|(switch, value)| (switch.name.as_str(), *value))
    }

    /// All of them, by name.
    pub fn whole(&self) -> BTreeMap<String, String> {
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

    /// Name and value of the switch of this id.
    pub fn of_switch(&self, id: u64) -> Option<(&'a str, &'a str)> {
        let found = self.values.iter().find(|(switch, _)| u64::from(switch.id) == id);
        found.map(|(switch, value)| (switch.name.as_str(), *value))
    }

    /// With the values of one `--set`: `pti=on,pcid=off`.
    fn with(mut self, table: &'a Table, text: &str) -> Result<Configuration<'a>, Error> {
        let mut seen = Vec::new();
        for part in text.split(',') {
            let wrong = |why: String| Error::Usage(format!("--set {text}: {why}"));
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| wrong(format!("{part:?} is not of the form SWITCH=VALUE")))?;
            let switch = table.switch(name).ok_or_else(|| wrong(unknown_switch(table, name)))?;
            let value = switch.values.iter().find(|known| *known == value);
            let value = value.ok_or_else(|| wrong(unknown_value(switch, part)))?;
            if seen.contains(&name) {
                return Err(wrong(format!("{name} is set twice")));
            }
            seen.push(name);
            self.values.iter_mut().filter(|(known, _)| *known == switch).for_each(|slot| slot.1 = value);
        }
        Ok(self)
    }
}

fn unknown_switch(table: &Table, name: &str) -> String {
    let names: Vec<&str> = table.switches.iter().map(|switch| switch.name.as_str()).collect();
    format!(
        "there is no switch {name:?}{} (there are {})",
        nearest(name, names.iter().copied()),
        names.join(", ")
    )
}

fn unknown_value(switch: &Switch, part: &str) -> String {
    let value = part.split_once('=').map_or(part, |(_, value)| value);
    format!("{value:?} is no value of {}, which can be {}", switch.name, switch.values.join(", "))
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
    /// Parses these `--set`s.
    ///
    /// # Errors
    /// [`Error::Usage`], naming the nearest switch or the values that there are.
    pub fn new(table: &'a Table, texts: &[String]) -> Result<Configurations<'a>, Error> {
        let defaults = Configuration::defaults(table);
        let mut all: Vec<Configuration> = Vec::new();
        for text in texts {
            let configuration = defaults.clone().with(table, text)?;
            if all.contains(&configuration) {
                return Err(Error::Usage(format!(
                    "--set {text}: the same configuration as another --set, with the defaults of what it leaves out"
                )));
            }
            all.push(configuration);
        }
        if all.is_empty() {
            all.push(defaults);
        }
        let words = || texts.iter().flat_map(|text| text.split([',', '=']));
        let names = table.switches.iter().map(|switch| switch.name.as_str());
        let named = names.filter(|name| words().any(|word| word == *name)).collect();
        Ok(Configurations { all, named })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configurations(texts: &[&str]) -> Result<Configurations<'static>, String> {
        let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
        Configurations::new(Table::get(), &texts).map_err(|error| error.to_string())
    }

    #[test]
    fn each_set_is_a_configuration_on_top_of_the_defaults() {
        let two = configurations(&["pti=on,pcid=on", "smap=off"]).unwrap();
        assert_eq!(two.named, ["smap", "pti", "pcid"]);
        let of = |index: usize| two.all[index].only(&two.named).into_values().collect::<Vec<_>>().join(" ");
        // By name: pcid, pti, smap.
        assert_eq!([of(0), of(1)], ["on on on", "off off off"]);
        let none = configurations(&[]).unwrap();
        assert_eq!(none.all, [Configuration::defaults(Table::get())]);
        assert!(none.named.is_empty());
    }

    #[test]
    fn an_entry_fixes_its_switches() {
        let table = Table::get();
        let defaults = Configuration::defaults(table);
        let trap = defaults.for_entry(table.entry("trapgate-i386").unwrap());
        assert_eq!(trap.changes_from(&defaults), [("gate".to_string(), "trap".to_string())]);
        assert_eq!(trap.of_switch(7), Some(("gate", "trap")));
        assert_eq!(trap.of_switch(99), None);
    }

    #[test]
    fn what_is_wrong_with_a_set_is_said() {
        for (texts, why) in [
            (&["pti"][..], "--set pti: \"pti\" is not of the form SWITCH=VALUE"),
            (&[""], "--set : \"\" is not of the form SWITCH=VALUE"),
            (&["pcdi=on"], "there is no switch \"pcdi\"; did you mean pcid? (there are smap, stack, "),
            (&["zzz=on"], "there is no switch \"zzz\" (there are smap, stack, "),
            (&["stack=on"], "\"on\" is no value of stack, which can be minimum, frame"),
            (&["pti=on,pti=off"], "--set pti=on,pti=off: pti is set twice"),
            (&["pti=on", "smap=on,pti=on"], "--set smap=on,pti=on: the same configuration as another"),
        ] {
            let error = configurations(texts).unwrap_err();
            assert!(error.contains(why), "{texts:?}: {error}");
        }
    }
}

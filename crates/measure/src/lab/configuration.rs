//! What `--set` asks for: values of the lab's switches.

use crate::Error;
use crate::select::nearest;
use std::borrow::Cow;
use std::collections::BTreeMap;
use table::{Entry, Switch, Table, conflict};

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

    /// With these values asked for, of each switch one.
    ///
    /// # Errors
    /// What is wrong, in words: there is no such switch or value, or one of all values requires what another contradicts.
    pub fn with_values(mut self, values: &[(&str, &str)]) -> Result<Configuration<'a>, String> {
        for (place, (name, value)) in values.iter().enumerate() {
            let slot = self.values.iter().position(|(switch, _)| switch.name == *name);
            let slot = slot.ok_or_else(|| self.unknown_switch(name))?;
            let (switch, kept) = &mut self.values[slot];
            *kept = switch.written(value).ok_or_else(|| unknown_value(switch, value))?.into();
            if values.iter().take(place).any(|(before, _)| before == name) {
                return Err(format!("{name} is set twice"));
            }
            self.named.push(&switch.name);
        }
        match conflict(self.values.iter().map(|(switch, value)| (*switch, value.as_ref()))) {
            Some(why) => Err(why),
            None => Ok(self),
        }
    }

    /// Each switch and its value.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(switch, value)| (switch.name.as_str(), value.as_ref()))
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

    /// The switch of this id, and its value.
    pub fn of_switch(&self, id: u64) -> Option<(&'a Switch, &str)> {
        let found = self.values.iter().find(|(switch, _)| u64::from(switch.id) == id);
        found.map(|(switch, value)| (*switch, value.as_ref()))
    }

    /// As the kernel has it on a processor with these features: a default gets the first value if the processor lacks what it
    /// requires, unless the plan names the switch. What an entry requires instead of the default, the plan sets, too.
    pub fn on(mut self, features: &[String], named: &[&str]) -> Configuration<'a> {
        for (switch, value) in &mut self.values {
            if *value == switch.default && !named.contains(&switch.name.as_str()) {
                *value = switch.or_first(value, features).into();
            }
        }
        self
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

    /// With the values of one `--set`: `pti=on,pcid=off`.
    fn with(self, text: &str) -> Result<Configuration<'a>, String> {
        let pair = |part| {
            str::split_once(part, '=').ok_or_else(|| format!("{part:?} is not of the form SWITCH=VALUE"))
        };
        self.with_values(&text.split(',').map(pair).collect::<Result<Vec<_>, String>>()?)
    }

    fn unknown_switch(&self, name: &str) -> String {
        let names: Vec<&str> = self.values().map(|(name, _)| name).collect();
        let nearest = nearest(name, names.iter().copied());
        format!("there is no switch {name:?}{nearest} (there are {})", names.join(", "))
    }
}

fn unknown_value(switch: &Switch, value: &str) -> String {
    let name = &switch.name;
    match switch.range {
        Some((least, most)) => {
            format!("{value:?} is no value of {name}, which is a whole number from {least} to {most}")
        }
        None => format!("{value:?} is no value of {name}, which can be {}", switch.values.join(", ")),
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
    /// Parses these `--set`s.
    ///
    /// # Errors
    /// [`Error::Usage`], naming the nearest switch or the values that there are.
    pub fn new(table: &'a Table, texts: &[String]) -> Result<Configurations<'a>, Error> {
        let defaults = Configuration::defaults(table);
        let mut all: Vec<Configuration> = Vec::new();
        for text in texts {
            let configuration = defaults.clone().with(text);
            let configuration = configuration.map_err(|why| Error::Usage(format!("--set {text}: {why}")))?;
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
        let names = table.switches.iter().map(|switch| switch.name.as_str());
        let named = names.filter(|name| all.iter().any(|asked| asked.named.contains(name))).collect();
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
        assert_eq!([of(0), of(1)], ["keep on on", "off off off"]);
        let none = configurations(&[]).unwrap();
        assert_eq!(none.all, [Configuration::defaults(Table::get())]);
        assert!(none.named.is_empty());
    }

    #[test]
    fn a_value_that_is_spelled_like_a_switch_named_it() {
        let frames = "values = [\"minimum\", \"frame\"";
        let table = Table::parse(&table::SOURCE.replacen(frames, &format!("{frames}, \"pti\""), 1)).unwrap();
        let one = Configurations::new(&table, &["stack=pti".to_string()]).unwrap();
        assert_eq!((one.all[0].whole()["stack"].as_str(), one.named), ("pti", vec!["stack"]));
    }

    #[test]
    fn a_switch_or_value_that_is_none_was_ignored() {
        let with = |values| Configuration::defaults(Table::get()).with_values(values);
        assert!(with(&[("zzz", "on")]).unwrap_err().starts_with("there is no switch \"zzz\""));
        assert!(with(&[("observe", "maybe")]).unwrap_err().starts_with("\"maybe\" is no value of observe"));
        let copied = with(&[("copy-frame", "on")]).unwrap_err();
        assert_eq!(copied, "copy-frame=on requires pti=on or trampoline, and pti is off");
        let observed = with(&[("observe", "on")]).unwrap();
        let changes = observed.changes_from(&Configuration::defaults(Table::get()));
        assert_eq!(changes, [("observe".to_string(), "on".to_string())]);
    }

    #[test]
    fn what_an_entry_requires_is_set_whatever_the_processor_has() {
        let text = table::SOURCE.replacen("gate = \"trap\"", "pti = \"on\", pcid = \"on\"", 1);
        let table = Table::parse(&text).unwrap();
        let entry = table.entry("trapgate-x86_64").unwrap();
        let of_entry = Configuration::defaults(&table).for_entry(entry).on(&[], &[]).whole();
        assert_eq!((of_entry["pcid"].as_str(), of_entry["smap"].as_str()), ("on", "off"));
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
    fn a_default_that_the_processor_lacks_is_the_first_value() {
        let smap = |configuration: Configuration| configuration.whole()["smap"].clone();
        let defaults = Configuration::defaults(Table::get());
        assert_eq!(smap(defaults.clone().on(&["smap".into()], &[])), "on");
        assert_eq!(smap(defaults.clone().on(&[], &[])), "off");
        // What is asked for is not changed: it ends as unsupported.
        assert_eq!(smap(defaults.on(&[], &["smap"])), "on");
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
    fn numbers_go_beyond_a_byte() {
        let one = configurations(&["cr3-writes=0300"]).unwrap();
        assert_eq!(one.all[0].whole()["cr3-writes"], "300");
    }

    #[test]
    fn what_is_wrong_with_a_set_is_said() {
        for (texts, why) in [
            (&["pti"][..], "--set pti: \"pti\" is not of the form SWITCH=VALUE"),
            (&[""], "--set : \"\" is not of the form SWITCH=VALUE"),
            (&["pcdi=on"], "there is no switch \"pcdi\"; did you mean pcid? (there are smap, stack, "),
            (&["zzz=on"], "there is no switch \"zzz\" (there are smap, stack, "),
            (&["stack=on"], "\"on\" is no value of stack, which can be minimum, frame"),
            (
                &["cr3-writes=1001"],
                "\"1001\" is no value of cr3-writes, which is a whole number from 0 to 1000",
            ),
            (&["cr3-writes=1", "cr3-writes=01"], "--set cr3-writes=01: the same configuration as another"),
            (
                &["copy-frame=on"],
                "--set copy-frame=on: copy-frame=on requires pti=on or trampoline, and pti is off",
            ),
            (
                &["copy-frame=on,pti=off"],
                "--set copy-frame=on,pti=off: copy-frame=on requires pti=on or trampoline, and pti is off",
            ),
            (&["pcid=on", "pcid=keep"], "--set pcid=keep: the same configuration as another"),
            (&["pti=on,pti=off"], "--set pti=on,pti=off: pti is set twice"),
            (&["pti=on", "smap=on,pti=on"], "--set smap=on,pti=on: the same configuration as another"),
        ] {
            let error = configurations(texts).unwrap_err();
            assert!(error.contains(why), "{texts:?}: {error}");
        }
    }
}

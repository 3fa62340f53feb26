//! Settings of a Linux guest that are known by name: what the guest boots with for each, and how it shows that it has it.

use crate::Table;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Keys of a row's configuration that no parameter may have: what else tells rows apart.
const RESERVED: [&str; 5] = ["kernel", "append", "cpu-model", "core", "footprint"];

/// Parts of a run document that may show that a guest has a value.
const SHOWN_IN: [&str; 2] = ["environment.", "vdso."];

/// Something that a boot of Linux, or the processor that it boots on, decides.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// As written on the command line.
    pub name: String,
    /// In a few words.
    pub what: String,
    /// Of a feature that adds to system calls: the value without it. `kentry anatomy --each` follows the other values beside that.
    pub without: Option<String>,
    /// Its values.
    pub values: Vec<ParameterValue>,
}

/// A value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterValue {
    /// As written on the command line.
    pub name: String,
    /// The words of the kernel's command line that it stands for; empty if it stands for none.
    #[serde(default)]
    pub append: String,
    /// What is added to the processor's model for it, as QEMU writes it: `+pcid`, `-smap`; empty if nothing.
    #[serde(default)]
    pub cpu: String,
    /// QEMU's board (`-M`) that has what it needs; none if the usual one has.
    pub board: Option<String>,
    /// Whether only a kernel that unpacks itself can have it: one that is entered by its ELF file is where it was linked.
    #[serde(default)]
    pub compressed: bool,
    /// The filter of system calls that the guest's first program gives itself and what it executes; none where it gives none.
    pub filter: Option<Filter>,
    /// Whether the guest's first program switches the events of all system calls on.
    #[serde(default)]
    pub trace: bool,
    /// Other ways to write name and value, `nopcid`.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The first version of Linux that knows it; none if all do, or it is not known.
    pub since: Option<String>,
    /// The last version that knows it.
    pub until: Option<String>,
    /// Whether it leaves the choice to the kernel: whatever a guest says of itself agrees with it.
    #[serde(default)]
    pub kernel_chooses: bool,
    /// What a guest that has it says of itself: all of these hold, as far as the guest says anything.
    #[serde(default)]
    pub shows: Vec<Evidence>,
}

/// What a seccomp filter looks at before it allows a call. It allows all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// The call's ABI and number. Linux knows since 5.11 which calls such a filter always allows, and does not execute it for these.
    Number,
    /// Its first argument, too, so that it is executed for each call.
    Arguments,
    /// What a container runtime's profile looks at, which is a hundred times longer.
    Runtime,
}

impl Filter {
    /// In a few words.
    pub fn what(self) -> &'static str {
        match self {
            Filter::Number => "looks at a call's number",
            Filter::Arguments => "looks at a call's number and its first argument",
            Filter::Runtime => "is as long as that of a container runtime",
        }
    }
}

/// A field of a run document, and what it must say.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The field: `environment.cpu.kernel_flags`.
    pub field: String,
    /// It says something of the value only where it has this word, or contains it; none: wherever it is there.
    pub where_has: Option<String>,
    /// It says nothing of the value where this parameter, which overrules it in this field, is given as well; none: it always does.
    pub unless: Option<String>,
    /// It says exactly this: a text; `true`, `false`.
    pub is: Option<String>,
    /// A list with this word, or a text that contains it.
    pub has: Option<String>,
    /// A list without this word, or a text that does not contain it.
    pub lacks: Option<String>,
    /// Whether a list has anything in it.
    pub some: Option<bool>,
}

impl Parameter {
    /// The value of this name.
    pub fn value(&self, name: &str) -> Option<&ParameterValue> {
        self.values.iter().find(|value| value.name == name)
    }

    /// The value that a word of the kernel's command line stands for, be it one of several or another spelling.
    pub fn written(&self, word: &str) -> Option<&ParameterValue> {
        // The kernel reads `-` in a name as `_`.
        let plain = |word: &str| match word.split_once('=') {
            Some((name, value)) => format!("{}={value}", name.replace('-', "_")),
            None => word.replace('-', "_"),
        };
        let is_meant = |known: &str| plain(known) == plain(word);
        self.values.iter().find(|value| {
            // Those behind the first are about something else, which the value needs as well.
            let first = value.append.split_whitespace().next();
            first.into_iter().chain(value.aliases.iter().map(String::as_str)).any(is_meant)
        })
    }

    /// All values, in few words: `on|off`.
    pub fn choices(&self) -> String {
        self.values.iter().map(|value| value.name.as_str()).collect::<Vec<_>>().join("|")
    }

    fn check(&self) -> Result<(), String> {
        if RESERVED.contains(&self.name.as_str()) {
            return Err("a configuration has another key of this name".into());
        }
        if self.values.is_empty() {
            return Err("it has no value".into());
        }
        let mut names = BTreeSet::new();
        for value in &self.values {
            if !names.insert(&value.name) {
                return Err(format!("it has the value {} twice", value.name));
            }
            value.check().map_err(|what| format!("{}: {what}", value.name))?;
        }
        match &self.without {
            Some(name) if self.value(name).is_none() => Err(format!("without: it has no value {name}")),
            _ => Ok(()),
        }
    }
}

impl ParameterValue {
    fn check(&self) -> Result<(), String> {
        if self.name.is_empty() || self.name.contains([',', '=']) || self.name.contains(char::is_whitespace) {
            return Err("this cannot be written behind --set".into());
        }
        if !self.cpu.is_empty() && !self.cpu.starts_with(['+', '-']) {
            return Err("cpu begins with + or -".into());
        }
        if self.kernel_chooses && !self.shows.is_empty() {
            return Err("whatever a guest shows agrees with what the kernel chooses".into());
        }
        self.shows.iter().try_for_each(|evidence| {
            evidence.check().map_err(|what| format!("shows {}: {what}", evidence.field))
        })
    }
}

impl Evidence {
    fn check(&self) -> Result<(), String> {
        if !SHOWN_IN.iter().any(|part| self.field.starts_with(part)) {
            return Err("no field of the environment, nor of the vDSO".into());
        }
        let said = [self.is.is_some(), self.has.is_some(), self.lacks.is_some(), self.some.is_some()];
        match said.iter().filter(|said| **said).count() {
            1 => Ok(()),
            _ => Err("it says one of is, has, lacks and some".into()),
        }
    }
}

impl Table {
    /// The features that add to system calls: each such parameter, with its value without it and its other values.
    pub fn features(&self) -> impl Iterator<Item = (&Parameter, &ParameterValue, Vec<&ParameterValue>)> {
        self.parameters.iter().filter_map(|parameter| {
            let without = parameter.value(parameter.without.as_deref()?)?;
            let with = parameter.values.iter().filter(|value| value.name != without.name);
            Some((parameter, without, with.collect()))
        })
    }

    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    pub(crate) fn check_parameters(&self) -> Result<(), String> {
        let (mut names, mut aliases) = (BTreeSet::new(), BTreeSet::new());
        for parameter in &self.parameters {
            let of_parameter = |what: String| format!("parameter {}: {what}", parameter.name);
            if !names.insert(&parameter.name) {
                return Err(of_parameter("the name is taken".into()));
            }
            parameter.check().map_err(of_parameter)?;
            let shows = parameter.values.iter().flat_map(|value| &value.shows);
            let mut others = shows.filter_map(|evidence| evidence.unless.as_deref());
            if let Some(other) = others.find(|name| self.parameter(name).is_none()) {
                return Err(of_parameter(format!("unless: there is no parameter {other}")));
            }
            for alias in parameter.values.iter().flat_map(|value| &value.aliases) {
                let is_value = alias.split_once('=').is_some_and(|(name, value)| {
                    self.parameter(name).is_some_and(|parameter| parameter.value(value).is_some())
                });
                if is_value || !aliases.insert(alias) {
                    return Err(of_parameter(format!("{alias} is taken")));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SOURCE;

    #[test]
    fn no_two_values_of_a_parameter_are_the_same_boot() {
        for parameter in &Table::get().parameters {
            let boots = |one: &ParameterValue, other: &ParameterValue| {
                let of = |one: &ParameterValue| (one.append.clone(), one.cpu.clone(), one.board.clone());
                let more = |one: &ParameterValue| (one.compressed, one.filter, one.trace);
                (of(one), more(one)) == (of(other), more(other))
            };
            for (place, value) in parameter.values.iter().enumerate() {
                let mut before = parameter.values.iter().take(place);
                assert!(!before.any(|other| boots(value, other)), "{}={}", parameter.name, value.name);
            }
        }
    }

    #[test]
    fn words_of_the_kernel_stand_for_values() {
        let value = |parameter: &str, word: &str| {
            let value = Table::get().parameter(parameter).unwrap().written(word)?;
            Some(value.name.as_str())
        };
        for (parameter, word, name) in [
            ("pti", "pti=on", Some("on")),
            ("pti", "nopti", Some("off")),
            ("pti", "pti", None),
            ("spectre_v2", "spectre_v2=retpoline,lfence", Some("retpoline-lfence")),
            ("spectre_v2", "spectre-v2=ibrs", Some("ibrs")),
            ("clocksource", "clocksource=tsc", Some("tsc")),
            ("clocksource", "tsc=reliable", None),
            ("kstack-offset", "randomize_kstack_offset=1", Some("on")),
            ("seccomp", "seccomp=on", None),
        ] {
            assert_eq!(value(parameter, word), name, "{word}");
        }
    }

    #[test]
    fn contradictions_are_named() {
        let first = SOURCE.find("[[parameter]]\n").unwrap();
        let with = |row: &str| {
            let text = format!("{}{row}\n\n{}", &SOURCE[..first], &SOURCE[first..]);
            Table::parse(&text).unwrap_err().to_string()
        };
        let row = |name: &str, value: &str| {
            format!("[[parameter]]\nname = \"{name}\"\nwhat = \"x\"\nvalues = [{value}]\n")
        };
        let on = "{ name = \"on\", append = \"x\" }";
        assert_eq!(with(&row("pti", on)), "entries.toml: parameter pti: the name is taken");
        assert!(with(&row("kernel", on)).contains("parameter kernel: a configuration has another key"));
        assert!(with(&row("x", "")).contains("parameter x: it has no value"));
        let without = row("x", on).replace("values", "without = \"off\"\nvalues");
        assert!(with(&without).contains("parameter x: without: it has no value off"));
        assert!(with(&row("x", &format!("{on}, {on}"))).contains("it has the value on twice"));
        assert!(with(&row("x", "{ name = \"a,b\" }")).contains("cannot be written behind --set"));
        assert!(with(&row("x", "{ name = \"on\", cpu = \"pcid\" }")).contains("cpu begins with + or -"));
        assert!(with(&row("x", "{ name = \"on\", aliases = [\"nopcid\"] }")).contains("nopcid is taken"));
        let shows = |evidence: &str| with(&row("x", &format!("{{ name = \"on\", shows = [{evidence}] }}")));
        assert!(
            shows("{ field = \"measurement.seed\", is = \"1\" }").contains("no field of the environment")
        );
        assert!(shows("{ field = \"environment.vsyscall\" }").contains("one of is, has, lacks and some"));
        let unless = shows("{ field = \"environment.vsyscall\", unless = \"made-up\", is = \"none\" }");
        assert!(unless.contains("unless: there is no parameter made-up"), "{unless}");
    }
}

//! What one `--set` of `kentry linux` asks for: values of the parameters that are known by name.

use super::words::Words;
use crate::select::nearest;
use document::DEFAULT;
use table::{Filter, Parameter, ParameterValue, Table};

/// Values of parameters, of each one at most, in the table's order; so two are equal whoever wrote them in what order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings<'a> {
    values: Vec<(&'a Parameter, &'a ParameterValue)>,
}

impl<'a> Settings<'a> {
    /// Parses `pti=on,nopcid`; `default` asks for nothing.
    ///
    /// # Errors
    /// What is wrong, in words, with the nearest name.
    pub fn parse(table: &'a Table, text: &str) -> Result<Settings<'a>, String> {
        if text.trim() == DEFAULT {
            return Ok(Settings::default());
        }
        let mut values: Vec<(&Parameter, &ParameterValue)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let found = table.parameter_setting(part).ok_or_else(|| unknown(table, part))?;
            if values.iter().any(|(parameter, _)| parameter.name == found.0.name) {
                return Err(format!("{} is set twice", found.0.name));
            }
            values.push(found);
        }
        let place = |name: &str| table.parameters.iter().position(|parameter| parameter.name == name);
        values.sort_by_key(|(parameter, _)| place(&parameter.name));
        Ok(Settings { values })
    }

    /// Each parameter and its value.
    pub fn values(&self) -> impl Iterator<Item = (&'a Parameter, &'a ParameterValue)> {
        self.values.iter().copied()
    }

    /// The value of a parameter, if it is named here.
    pub fn value(&self, name: &str) -> Option<&'a ParameterValue> {
        self.values().find(|(parameter, _)| parameter.name == name).map(|(_, value)| value)
    }

    /// The words of the kernel's command line.
    pub fn append(&self) -> Words {
        self.values().map(|(_, value)| value.append.as_str()).collect()
    }

    /// The processor's model with the features that these add and take away.
    pub fn cpu(&self, model: &str) -> String {
        let flags = self.values().filter(|(_, value)| !value.cpu.is_empty());
        flags.fold(model.to_string(), |model, (_, value)| format!("{model},{}", value.cpu))
    }

    /// QEMU's board (`-M`) that has what they need; none if the usual one has.
    pub fn board(&self) -> Option<&'a str> {
        self.values().find_map(|(_, value)| value.board.as_deref())
    }

    /// The filter of system calls that the guest's first program gives itself.
    pub fn filter(&self) -> Option<Filter> {
        self.values().find_map(|(_, value)| value.filter)
    }

    /// Whether only a kernel that unpacks itself can have them.
    pub fn compressed(&self) -> bool {
        self.values().any(|(_, value)| value.compressed)
    }
}

fn unknown(table: &Table, part: &str) -> String {
    let name = part.split_once('=').map_or(part, |(name, _)| name);
    if let Some(parameter) = table.parameter(name) {
        let value = part.split_once('=').map_or("", |(_, value)| value);
        return format!("{value:?} is no value of {name}, which can be {}", parameter.choices());
    }
    if table.switch(name).is_some() {
        return format!("only the lab has the switch {name:?} (`kentry lab`)");
    }
    let names = || table.parameters.iter().map(|parameter| parameter.name.as_str());
    let aliases = table.parameters.iter().flat_map(|parameter| &parameter.values);
    let aliases = aliases.flat_map(|value| &value.aliases).map(String::as_str);
    let hint = nearest(name, names().chain(aliases.filter(|alias| !alias.contains('='))));
    let all = names().collect::<Vec<_>>().join(", ");
    format!(
        "no parameter {name:?} is known by name{hint} (known are {all}); --append gives the kernel any other, as it is written"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings<'static>, String> {
        Settings::parse(Table::get(), text)
    }

    #[test]
    fn names_and_aliases_become_words_and_flags() {
        let both = parse("nopcid,pti=on").unwrap();
        assert_eq!(both, parse("pti=on, pcid=off").unwrap());
        assert_eq!(both.append().to_string(), "pti=on");
        assert_eq!(both.cpu("max"), "max,-pcid");
        assert_eq!((both.board(), both.compressed()), (None, false));
        assert_eq!(parse("clocksource=hpet").unwrap().board(), Some("pc"));
        assert!(parse("kaslr=on").unwrap().compressed());
        assert_eq!(parse("seccomp=on").unwrap().filter(), Some(Filter::Number));
        assert_eq!(parse("seccomp=off").unwrap().filter(), None);
        assert_eq!(parse("default").unwrap(), Settings::default());
    }

    #[test]
    fn what_is_no_setting_is_answered_with_the_nearest_or_with_what_there_is() {
        let error = |text| parse(text).unwrap_err();
        assert_eq!(error("pti=maybe"), "\"maybe\" is no value of pti, which can be on|off");
        assert_eq!(error("pti"), "\"\" is no value of pti, which can be on|off");
        assert!(error("mitigation=off").contains("; did you mean mitigations?"));
        assert!(error("nopcdi").contains("; did you mean nopcid?"));
        assert!(error("quiet").contains("--append gives the kernel any other"));
        assert_eq!(error("cr3-writes=2"), "only the lab has the switch \"cr3-writes\" (`kentry lab`)");
        assert_eq!(error("pti=on,nopti"), "pti is set twice");
        for text in ["", ",", "=", "pti=on,"] {
            error(text);
        }
    }
}

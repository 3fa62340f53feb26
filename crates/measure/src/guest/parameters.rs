//! What the settings of a Linux stand for: words of the kernel's command line, the processor, the board, the first program.

use super::words::Words;
use table::{Filter, Parameter, ParameterValue, Settings, Table};

/// Values of parameters, of each one at most, in the table's order; so two are equal whoever wrote them in what order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters<'a> {
    values: Vec<(&'a Parameter, &'a ParameterValue)>,
}

impl<'a> Parameters<'a> {
    /// Those that settings name.
    pub fn of(table: &'a Table, settings: &Settings) -> Parameters<'a> {
        let set = |parameter: &'a Parameter| {
            let value = parameter.value(settings.value(&parameter.name)?)?;
            Some((parameter, value))
        };
        Parameters { values: table.parameters.iter().filter_map(set).collect() }
    }

    /// Those that words of the kernel's command line stand for. Of two words about one parameter, the kernel obeys the last.
    pub fn written(table: &'a Table, words: &Words) -> Parameters<'a> {
        let last = |parameter: &'a Parameter| {
            let mut values = words.each().filter_map(|word| parameter.written(word));
            Some((parameter, values.next_back()?))
        };
        Parameters { values: table.parameters.iter().filter_map(last).collect() }
    }

    /// Each parameter and its value.
    pub fn values(&self) -> impl Iterator<Item = (&'a Parameter, &'a ParameterValue)> {
        self.values.iter().copied()
    }

    /// The value of a parameter, if it is named here.
    pub fn value(&self, name: &str) -> Option<&'a ParameterValue> {
        self.values().find(|(parameter, _)| parameter.name == name).map(|(_, value)| value)
    }

    /// Whether a word stands for a value of one of these parameters.
    pub fn knows(&self, word: &str) -> bool {
        self.values().any(|(parameter, _)| parameter.written(word).is_some())
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

    /// Whether the guest's first program switches the events of all system calls on.
    pub fn trace(&self) -> bool {
        self.values().any(|(_, value)| value.trace)
    }

    /// Whether only a kernel that unpacks itself can have them.
    pub fn compressed(&self) -> bool {
        self.values().any(|(_, value)| value.compressed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Kernel;

    fn of(text: &str) -> Parameters<'static> {
        Parameters::of(Table::get(), &Table::get().settings(Kernel::Linux, text).unwrap())
    }

    #[test]
    fn the_last_of_two_words_counts() {
        let written = |text: &str| Parameters::written(Table::get(), &Words::of(text));
        assert_eq!(written("quiet pti=on nopti clocksource=hpet"), of("pti=off,clocksource=hpet"));
        assert_eq!(written("nopti pti=on"), of("pti=on"));
        assert_eq!(written("quiet tsc=reliable foo"), Parameters::default());
    }

    #[test]
    fn names_and_aliases_become_words_and_flags() {
        let both = of("nopcid,pti=on");
        assert_eq!(both, of("pti=on, pcid=off"));
        assert_eq!(both.append().to_string(), "pti=on");
        assert_eq!(both.cpu("max"), "max,-pcid");
        assert_eq!((both.board(), both.compressed()), (None, false));
        assert_eq!(of("clocksource=hpet").board(), Some("pc"));
        assert!(of("kaslr=on").compressed());
        assert_eq!(of("seccomp=on").filter(), Some(Filter::Number));
        assert_eq!(of("seccomp=off").filter(), None);
        assert_eq!(of("default"), Parameters::default());
    }
}

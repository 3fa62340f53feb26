//! What can be set in a kernel: the lab has switches, and a Linux parameters.

use crate::{Kernel, Mistake, Setting, Switch, Table, nearest};

impl Table {
    /// Every name and value that a completion can offer for a kernel, and what it is about; of a number, its default stands for all.
    pub fn offered(&self, kernel: Kernel) -> Vec<(Setting, &str)> {
        match kernel {
            Kernel::Lab | Kernel::LabI386 => {
                let of = |switch: &'_ Switch| {
                    let number = switch.range.is_some().then(|| switch.default.clone());
                    switch.values.iter().cloned().chain(number).collect::<Vec<_>>()
                };
                self.switches_of(kernel)
                    .flat_map(|one| {
                        of(one).into_iter().map(|value| (Setting::new(&one.name, value), one.what.as_str()))
                    })
                    .collect()
            }
            Kernel::Linux => {
                let all =
                    self.parameters.iter().flat_map(|one| one.values.iter().map(move |value| (one, value)));
                all.map(|(one, value)| (Setting::new(&one.name, &value.name), one.what.as_str())).collect()
            }
        }
    }

    /// The switches of a kernel; a Linux has none.
    pub fn switches_of(&self, kernel: Kernel) -> impl Iterator<Item = &Switch> {
        self.switches.iter().filter(move |switch| switch.kernels.contains(&kernel))
    }

    /// The switch of this name, if a kernel of the lab has it.
    pub fn switch_of(&self, kernel: Kernel, name: &str) -> Option<&Switch> {
        self.switch(name).filter(|switch| switch.kernels.contains(&kernel))
    }

    /// The names that can be set.
    fn names(&self, kernel: Kernel) -> Vec<&str> {
        match kernel {
            Kernel::Lab | Kernel::LabI386 => {
                self.switches_of(kernel).map(|switch| switch.name.as_str()).collect()
            }
            Kernel::Linux => self.parameters.iter().map(|parameter| parameter.name.as_str()).collect(),
        }
    }

    pub(crate) fn has_name(&self, kernel: Kernel, name: &str) -> bool {
        self.names(kernel).contains(&name)
    }

    /// A value as it is written everywhere; `None` if the name has no such value.
    pub(crate) fn written(&self, kernel: Kernel, name: &str, value: &str) -> Option<String> {
        match kernel {
            Kernel::Lab | Kernel::LabI386 => self.switch(name)?.written(value),
            Kernel::Linux => Some(self.parameter(name)?.value(value)?.name.clone()),
        }
    }

    /// What stands for a name and a value together: `nopcid`, `audit=1`. Only Linux has such words.
    pub(crate) fn short_form(&self, kernel: Kernel, text: &str) -> Option<Setting> {
        let all = self.parameters.iter().filter(|_| kernel == Kernel::Linux);
        let mut all = all.flat_map(|one| one.values.iter().map(move |value| (one, value)));
        let found = all.find(|(_, value)| value.aliases.iter().any(|alias| alias == text));
        found.map(|(one, value)| Setting::new(&one.name, &value.name))
    }

    /// The values of a name, in words.
    pub(crate) fn choices(&self, kernel: Kernel, name: &str) -> String {
        match kernel {
            Kernel::Lab | Kernel::LabI386 => self.switch(name).map(Switch::choices_in_words),
            Kernel::Linux => self.parameter(name).map(|parameter| parameter.choices().replace('|', ", ")),
        }
        .unwrap_or_default()
    }

    /// That a kernel has no such name; or that another has it.
    pub(crate) fn unknown_name(&self, kernel: Kernel, name: &str) -> Mistake {
        let mut owners = Kernel::ALL;
        // First what is nearest: a lab's other kernel is no more than an option away.
        owners.sort_by_key(|owner| owner.is_lab() != kernel.is_lab());
        if let Some(owner) = owners.into_iter().find(|owner| self.has_name(*owner, name)) {
            return Mistake::Elsewhere { asked: kernel, owner, name: name.into() };
        }
        self.unknown_to(&[kernel], name)
    }

    /// That none of these kernels has such a name.
    pub fn unknown_to(&self, kernels: &[Kernel], name: &str) -> Mistake {
        // The lab's kernels share most names.
        let mut names: Vec<&str> = Vec::new();
        for name in kernels.iter().flat_map(|kernel| self.names(*kernel)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let aliases = self.parameters.iter().flat_map(|one| &one.values).flat_map(|value| &value.aliases);
        let aliases = aliases.filter(|alias| kernels.contains(&Kernel::Linux) && !alias.contains('='));
        let hint = nearest(name, names.iter().copied().chain(aliases.map(String::as_str)));
        Mistake::NoName { kernels: kernels.to_vec(), name: name.into(), hint, names: names.join(", ") }
    }

    /// That a name has no such value.
    pub(crate) fn unknown_value(&self, kernel: Kernel, name: &str, value: &str) -> Mistake {
        let offered = self.offered(kernel);
        let values = offered.iter().filter(|(setting, _)| setting.name == name);
        let is_number = kernel.is_lab() && self.switch(name).is_some_and(|switch| switch.range.is_some());
        let values = values.filter(|_| !is_number).map(|(setting, _)| setting.value.as_str());
        let hint = nearest(value, values);
        let choices = self.choices(kernel, name);
        Mistake::NoSuchValue { name: name.into(), value: value.into(), choices, hint }
    }
}

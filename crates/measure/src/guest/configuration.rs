//! What one guest is booted with: a kernel, parameters, a processor.

use super::parameters::Parameters;
use super::words::Words;
use document::{DEFAULT, KERNEL};
use std::collections::BTreeMap;

/// The keys of a row's configuration that are no parameters, besides [`KERNEL`].
pub const APPEND: &str = "append";
/// As above.
pub const CPU_MODEL: &str = "cpu-model";

/// One of those that are crossed.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration<'a> {
    /// The kernel, by its place on the command line.
    pub kernel: usize,
    /// What `--append` gives the kernel; none if the command line has no `--append`.
    pub append: Option<String>,
    /// What of these words is known by name, and so verified as if `--set` had asked for it.
    pub written: Parameters<'a>,
    /// The processor's model as `--cpu-model` names it; none if the command line has no such option.
    pub cpu_model: Option<String>,
    /// What `--set` asks for; none if the command line has no `--set`.
    pub parameters: Option<Parameters<'a>>,
}

/// What the command line names, and what a row's configuration has therefore.
#[derive(Debug, Clone, Default)]
pub struct Label<'a> {
    /// Whether it names kernels.
    pub kernels: bool,
    /// The parameters that some `--set` names.
    pub parameters: Vec<&'a str>,
}

impl<'a> Configuration<'a> {
    /// The words that the kernel is given besides those that every guest has. What has a name comes last: of two words for the same, the
    /// kernel takes the last.
    pub fn words(&self) -> Words {
        let append = self.append.as_deref().map(Words::of).unwrap_or_default();
        append.and(self.parameters.as_ref().map(Parameters::append).unwrap_or_default())
    }

    /// A word of `--append` that has no effect, and the one of `--set` behind it that has: both are about the same.
    pub fn overruled(&self) -> Option<(String, String)> {
        let append = self.append.as_deref().map(Words::of)?;
        let set = self.parameters.as_ref().map(Parameters::append)?;
        // The kernel reads `-` in a name as `_`.
        let about = |word: &str| word.split('=').next().unwrap_or_default().replace('-', "_");
        let behind = |word: &str| set.each().find(|other| about(other) == about(word) && *other != word);
        // Two spellings may be about the same, too: nopti, and pti=on.
        let values = || self.parameters.iter().flat_map(Parameters::values);
        let other = |word: &str| {
            values().find_map(|(parameter, value)| {
                let is_other = parameter.written(word).is_some_and(|written| written != value);
                value.append.split_whitespace().next().filter(|_| is_other)
            })
        };
        append
            .each()
            .find_map(|word| Some((word.to_string(), behind(word).or_else(|| other(word))?.to_string())))
    }

    /// QEMU's word for the processor.
    pub fn cpu(&self, usual: &str) -> String {
        let model = self.cpu_model.as_deref().unwrap_or(usual);
        self.parameters.as_ref().map_or_else(|| model.to_string(), |parameters| parameters.cpu(model))
    }

    /// As rows have it in their configuration: only what the command line names. `kernel` is what the kernel is called.
    pub fn named(&self, label: &Label, kernel: &str) -> BTreeMap<String, String> {
        let mut named = BTreeMap::new();
        if label.kernels {
            named.insert(KERNEL.to_string(), kernel.to_string());
        }
        named.extend(self.append.clone().map(|append| (APPEND.to_string(), append)));
        named.extend(self.cpu_model.clone().map(|model| (CPU_MODEL.to_string(), model)));
        let value = |name: &&str| {
            let set = self.parameters.as_ref().and_then(|parameters| parameters.value(name));
            set.map_or(DEFAULT, |value| &value.name).to_string()
        };
        named.extend(label.parameters.iter().map(|name| (name.to_string(), value(name))));
        named
    }
}

//! Settings: what `--set` asks for, of the lab's switches or of a Linux's parameters. The names and values differ; the language is one.

use crate::{Kernel, Mistake, Setting, Table};
use std::collections::BTreeMap;

/// What `--set` calls the settings that nobody made: a configuration with nothing set.
pub const DEFAULT: &str = "default";

impl TryFrom<String> for Setting {
    type Error = Mistake;

    fn try_from(text: String) -> Result<Setting, Mistake> {
        match halves(&text) {
            (name, Some(value)) if !name.is_empty() && !value.is_empty() => Ok(Setting::new(name, value)),
            _ => Err(Mistake::NoSetting(text)),
        }
    }
}

/// The name, and the value if there is a `=`.
fn halves(text: &str) -> (&str, Option<&str>) {
    match text.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (text.trim(), None),
    }
}

/// What one `--set` asks for: of each name one value at most, in the order in which they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings(Vec<Setting>);

impl Settings {
    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Setting> {
        self.0.iter()
    }

    /// Each name and its value.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter().map(|setting| (setting.name.as_str(), setting.value.as_str()))
    }

    /// The value of a name, if it is set.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.iter().find(|setting| setting.name == name).map(|setting| setting.value.as_str())
    }

    /// With one more.
    fn and(mut self, kernel: Kernel, setting: Setting) -> Result<Settings, Mistake> {
        match self.iter().find(|known| known.name == setting.name) {
            Some(known) if *known == setting => return Err(Mistake::Twice(setting)),
            Some(known) => return Err(Mistake::TwoValues { kernel, settings: [known.clone(), setting] }),
            None => self.0.push(setting),
        }
        Ok(self)
    }
}

/// A mistake in a `--set`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--set {text}: {mistake}")]
pub struct BadSet {
    /// The option's value.
    pub text: String,
    /// What is wrong with it.
    pub mistake: Box<Mistake>,
}

impl BadSet {
    fn new(text: &str, mistake: Mistake) -> BadSet {
        BadSet { text: text.into(), mistake: Box::new(mistake) }
    }
}

impl Table {
    /// The setting of a kernel that a text means: `pti=on`, `nopcid`.
    ///
    /// # Errors
    /// When it is none, or the kernel has no such name or value.
    pub fn setting(&self, kernel: Kernel, text: &str) -> Result<Setting, Mistake> {
        if let Some(setting) = self.short_form(kernel, text.trim()) {
            return Ok(setting);
        }
        let (name, value) = halves(text);
        if name.is_empty() {
            return Err(Mistake::NoSetting(text.trim().into()));
        }
        if !self.has_name(kernel, name) {
            return Err(self.unknown_name(kernel, name));
        }
        let choices = || self.choices(kernel, name);
        let value = value.ok_or_else(|| Mistake::NoValue { name: name.into(), choices: choices() })?;
        let written = self.written(kernel, name, value);
        Ok(Setting::new(name, written.ok_or_else(|| self.unknown_value(kernel, name, value))?))
    }

    /// The settings of a kernel that a text means: `pti=on,smap=off`; `default` means none. Spaces around names, values and commas do not
    /// count.
    ///
    /// # Errors
    /// The first mistake. A name has one value.
    pub fn settings(&self, kernel: Kernel, text: &str) -> Result<Settings, Mistake> {
        if text.trim() == DEFAULT {
            return Ok(Settings::default());
        }
        text.split(',').try_fold(Settings::default(), |settings, part| {
            let setting = self.setting(kernel, part).map_err(|mistake| {
                // `pti=off,on`: the value would do for the name before it.
                let more = settings.0.last().and_then(|last| {
                    let value = self.written(kernel, &last.name, part.trim())?;
                    Some([last.clone(), Setting::new(&last.name, value)])
                });
                more.map_or(mistake, |settings| Mistake::TwoValues { kernel, settings })
            })?;
            settings.and(kernel, setting)
        })
    }

    /// The settings of one `--set`.
    ///
    /// # Errors
    /// The first mistake, with the option's value.
    pub fn set(&self, kernel: Kernel, text: &str) -> Result<Settings, BadSet> {
        self.settings(kernel, text).map_err(|mistake| BadSet::new(text, mistake))
    }

    /// The settings of each `--set`, which are a configuration each.
    ///
    /// # Errors
    /// The first mistake: in one of them; what one of its values requires, of switches that it leaves out, too; or two that come to the same.
    pub fn sets(&self, kernel: Kernel, texts: &[String]) -> Result<Vec<Settings>, BadSet> {
        let mut all: Vec<Settings> = Vec::new();
        let mut seen: Vec<BTreeMap<String, String>> = Vec::new();
        for text in texts {
            let bad = |mistake| BadSet::new(text, mistake);
            let settings = self.set(kernel, text)?;
            let whole = self.configured(kernel, &settings);
            if kernel.is_lab() {
                self.check_requirements(&whole).map_err(bad)?;
            }
            if let Some(other) = seen.iter().zip(texts).find(|(other, _)| **other == whole) {
                return Err(bad(Mistake::SameAgain(other.1.clone())));
            }
            all.push(settings);
            seen.push(whole);
        }
        Ok(all)
    }

    /// The values that a kernel then has, as far as they are known before it boots: the lab's are, with the defaults of those left out.
    fn configured(&self, kernel: Kernel, settings: &Settings) -> BTreeMap<String, String> {
        let of_lab = self.switches.iter().filter(|_| kernel.is_lab());
        let defaults = of_lab.map(|switch| (switch.name.clone(), switch.default.clone()));
        let set = settings.iter().map(|set| (set.name.clone(), set.value.clone()));
        defaults.chain(set).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kernel: Kernel, text: &str) -> Result<String, String> {
        let settings = Table::get().settings(kernel, text).map_err(|mistake| mistake.to_string())?;
        Ok(settings.iter().map(Setting::to_string).collect::<Vec<_>>().join(" "))
    }

    fn sets(kernel: Kernel, texts: &[&str]) -> Result<usize, String> {
        let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
        Table::get().sets(kernel, &texts).map(|all| all.len()).map_err(|bad| bad.to_string())
    }

    #[test]
    fn settings_are_separated_by_commas_and_written_as_the_table_does() {
        for kernel in Kernel::ALL {
            assert_eq!(read(kernel, "smap=off,pti=on").unwrap(), "smap=off pti=on");
            assert_eq!(read(kernel, " pti=on , smap = off ").unwrap(), "pti=on smap=off");
            assert_eq!(read(kernel, "default").unwrap(), "");
        }
        assert_eq!(read(Kernel::Lab, "pcid=on,cr3-writes=0300").unwrap(), "pcid=keep cr3-writes=300");
        assert_eq!(read(Kernel::Linux, "nopcid,audit=1").unwrap(), "pcid=off audit=on");
    }

    #[test]
    fn each_mistake_has_a_sentence_whichever_kernel_it_is_of() {
        let no_setting = |text: &str| format!("\"{text}\" is no setting; write NAME=VALUE,NAME=VALUE");
        let wrong = |kernel, text: &str| read(kernel, text).unwrap_err();
        for (kernel, values) in [(Kernel::Lab, "off, on, trampoline"), (Kernel::Linux, "on, off")] {
            for (text, part) in [("", ""), ("pti=on,", ""), (",", ""), ("=on", "=on"), ("pti=on, =", "=")] {
                assert_eq!(wrong(kernel, text), no_setting(part), "{text:?}");
            }
            assert_eq!(wrong(kernel, "pti"), format!("pti has no value here; it can be {values}"));
            assert_eq!(wrong(kernel, "smap=off,pti"), wrong(kernel, "pti"));
            for value in ["maybe", ""] {
                let why = format!("\"{value}\" is no value of pti, which can be {values}");
                assert_eq!(wrong(kernel, &format!("pti={value}")), why);
            }
            assert_eq!(wrong(kernel, "pti=on,pti=on"), "pti=on is set twice; leave one out");
            assert!(wrong(kernel, "ptii=on").contains("\"ptii\"; did you mean pti? (there are "));
            assert!(wrong(kernel, "zzz").contains("\"zzz\" (there are "));
        }
        assert!(wrong(Kernel::Lab, "ibrs=enhancd").ends_with("; did you mean enhanced?"));
        assert!(wrong(Kernel::Linux, "nopcdi").contains("; did you mean nopcid?"));
        assert_eq!(
            wrong(Kernel::Lab, "cr3-writes=1001"),
            "\"1001\" is no value of cr3-writes, which can be a whole number from 0 to 1000"
        );
    }

    #[test]
    fn two_values_of_a_name_are_two_configurations() {
        for (kernel, command) in [(Kernel::Lab, "lab"), (Kernel::Linux, "linux")] {
            for text in ["pti=off,on", "pti=off,pti=on", "smap=on, pti=off, on"] {
                let why = read(kernel, text).unwrap_err();
                let expected = format!(
                    "a configuration has one value of pti; `kentry {command} --set pti=off --set pti=on` measures two configurations"
                );
                assert_eq!(why, expected, "{text}");
            }
        }
        assert_eq!(
            read(Kernel::Lab, "pcid=on,pcid=keep").unwrap_err(),
            "pcid=keep is set twice; leave one out"
        );
    }

    #[test]
    fn what_another_kernel_has_is_named_with_its_command() {
        let wrong = |kernel, text: &str| read(kernel, text).unwrap_err();
        assert_eq!(
            wrong(Kernel::Linux, "cr3-writes=2"),
            "only the lab has the switch cr3-writes (`kentry lab --set cr3-writes=…`)"
        );
        assert_eq!(
            wrong(Kernel::Lab, "clocksource=hpet"),
            "only a Linux has the parameter clocksource (`kentry linux --set clocksource=…`)"
        );
        assert_eq!(
            wrong(Kernel::LabI386, "pti=on,swapgs=on"),
            "only the lab's kernel for long mode has the switch swapgs (`kentry lab --lab-kernel x86_64 --set swapgs=…`)"
        );
        assert!(
            wrong(Kernel::LabI386, "pcid=on")
                .contains("has the switch pcid (`kentry lab --lab-kernel x86_64")
        );
        let of_i386 = "the switch segments (`kentry lab --lab-kernel i386 --set segments=…`)";
        assert_eq!(
            wrong(Kernel::Lab, "segments=limited"),
            format!("only the lab's kernel for protected mode has {of_i386}")
        );
        assert_eq!(wrong(Kernel::Linux, "segments=limited"), format!("only the lab has {of_i386}"));
        assert!(
            wrong(Kernel::Linux, "quiet")
                .ends_with("; --append gives the kernel any other, as it is written")
        );
    }

    #[test]
    fn each_set_is_a_configuration_and_no_two_are_the_same() {
        for kernel in Kernel::ALL {
            assert_eq!(sets(kernel, &[]), Ok(0));
            assert_eq!(sets(kernel, &["default", "pti=on", "pti=on,smap=off"]), Ok(3));
            let same = sets(kernel, &["smap=off,pti=on", "pti=on,smap=off"]).unwrap_err();
            assert_eq!(
                same,
                "--set pti=on,smap=off: this is the same configuration as --set smap=off,pti=on; leave one of them out"
            );
            assert!(sets(kernel, &["default", "default"]).is_err());
            assert!(
                sets(kernel, &["pti=maybe"]).unwrap_err().starts_with("--set pti=maybe: \"maybe\" is no")
            );
        }
        // The lab's defaults are known, those of a Linux are not.
        assert!(sets(Kernel::Lab, &["pti=off", "smap=on"]).is_err());
        assert_eq!(sets(Kernel::Linux, &["pti=off", "smap=on"]), Ok(2));
        assert!(sets(Kernel::Lab, &["cr3-writes=1", "cr3-writes=01"]).is_err());
    }

    #[test]
    fn what_a_value_requires_is_named_with_what_contradicts_it() {
        for text in ["copy-frame=on", "copy-frame=on,pti=off"] {
            let why = format!("--set {text}: copy-frame=on requires pti=on or trampoline, and pti is off");
            assert_eq!(sets(Kernel::Lab, &[text]), Err(why));
        }
        assert_eq!(sets(Kernel::Lab, &["copy-frame=on,pti=on"]), Ok(1));
    }
}

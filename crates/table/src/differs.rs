//! What an emulator does otherwise than the processor that it emulates, and up to which of its versions.

use crate::Kernel;
use serde::Deserialize;

/// How an emulator differs from a processor.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Differs {
    /// What the processor does, in words.
    pub how: String,
    /// The first version of the emulator that does as the processor, `9.1`; `None` if none is known to.
    #[serde(default)]
    pub before: Option<String>,
    /// The kernels of the lab in which it does; if empty, all that have the entry.
    #[serde(default)]
    pub kernels: Vec<Kernel>,
}

impl Differs {
    /// Whether this emulator differs so under a kernel, by its name and version, `QEMU 7.2.22`. One that does not tell its version may.
    pub fn is_in(&self, emulator: &str, kernel: Kernel) -> bool {
        if !self.kernels.is_empty() && !self.kernels.contains(&kernel) {
            return false;
        }
        let version = numbers(emulator.rsplit(' ').next().unwrap_or_default());
        version.is_empty() || self.before.as_deref().is_none_or(|before| version < numbers(before))
    }
}

/// The numbers that a version begins with: `7.2.22` and `10.0.13+ds`.
fn numbers(version: &str) -> Vec<u32> {
    let part =
        |part: &str| part.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok());
    version.split('.').map_while(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emulator_that_does_as_the_processor_was_said_to_differ() {
        let differs = |before: Option<&str>| Differs {
            how: "how".into(),
            before: before.map(str::to_string),
            kernels: Vec::new(),
        };
        for (emulator, expected) in [
            ("QEMU 7.2.22", true),
            ("QEMU 9.0.4", true),
            ("QEMU 9.1", false),
            ("QEMU 9.1.0-rc1", false),
            ("QEMU 10.0.13", false),
            ("QEMU 11.1.3+ds", false),
            ("QEMU", true),
            ("", true),
        ] {
            assert_eq!(differs(Some("9.1")).is_in(emulator, Kernel::Lab), expected, "{emulator}");
            assert!(differs(None).is_in(emulator, Kernel::Lab), "{emulator}");
        }
    }

    #[test]
    fn what_an_emulator_does_in_one_mode_was_said_of_both() {
        let differs =
            |entry: &str, emulator: &str| &crate::Table::get().entry(entry).unwrap().differs[emulator];
        for (entry, emulator) in [
            ("sysenter-i386", "tcg AuthenticAMD"),
            ("sysenter-i386", "bochs AuthenticAMD"),
            ("syscall-i386", "tcg GenuineIntel"),
        ] {
            let differs = differs(entry, emulator);
            let is_in = [Kernel::Lab, Kernel::LabI386].map(|kernel| differs.is_in("QEMU 7.2.22", kernel));
            assert_eq!(is_in, [true, false], "{entry} {emulator}");
        }
        assert!(differs("into", "tcg GenuineIntel").is_in("QEMU 7.2.22", Kernel::LabI386));
    }
}

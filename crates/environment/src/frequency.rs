//! How fast the measured CPU may run.

use serde::{Deserialize, Serialize};

use crate::reader::Reader;
use crate::sysctls::switch;

/// Frequency scaling of the measured CPU; all `None` where the kernel does none, as in most virtual machines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frequency {
    /// `intel_pstate`, `amd-pstate-epp`, `acpi-cpufreq`. `cpufreq/scaling_driver`.
    pub driver: Option<String>,
    /// `performance`, `powersave`, `schedutil`. `cpufreq/scaling_governor`.
    pub governor: Option<String>,
    /// Lowest frequency allowed, in kHz. `cpufreq/scaling_min_freq`.
    pub min_khz: Option<u64>,
    /// Highest frequency allowed, in kHz. `cpufreq/scaling_max_freq`.
    pub max_khz: Option<u64>,
    /// The kernel's idea of the present frequency, in kHz. `cpufreq/scaling_cur_freq`.
    pub current_khz: Option<u64>,
    /// Whether the CPU may exceed its base frequency. `intel_pstate/no_turbo` or `cpufreq/boost`.
    pub turbo: Option<bool>,
}

impl Frequency {
    pub(crate) fn capture(reader: &mut Reader, cpu: usize) -> Self {
        let directory = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq");
        if !reader.exists(&directory) {
            reader.miss_expected(&directory, "No such file or directory (normal in a virtual machine)");
            return Self::default();
        }
        let mut line = |name: &str| reader.line(&format!("{directory}/{name}"));
        let khz = |value: Option<String>| value.and_then(|value| value.parse().ok());
        Self {
            driver: line("scaling_driver"),
            governor: line("scaling_governor"),
            min_khz: khz(line("scaling_min_freq")),
            max_khz: khz(line("scaling_max_freq")),
            current_khz: khz(line("scaling_cur_freq")),
            turbo: turbo(reader),
        }
    }
}

fn turbo(reader: &mut Reader) -> Option<bool> {
    const INTEL: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
    const OTHERS: &str = "/sys/devices/system/cpu/cpufreq/boost";
    if let Some(off) = reader.candidate_line(INTEL) {
        return switch(&off).map(|off| !off);
    }
    let boost = reader.candidate_line(OTHERS);
    if boost.is_none() {
        reader.miss_expected("turbo", format!("neither {INTEL} nor {OTHERS} can be read"));
    }
    boost.and_then(|boost| switch(&boost))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Scratch, fixture};

    #[test]
    fn bare_hardware() {
        let roots = fixture("bare-hardware");
        let frequency = Frequency::capture(&mut Reader::new(&roots), 0);
        assert_eq!(frequency.driver.as_deref(), Some("intel_pstate"));
        assert_eq!(frequency.governor.as_deref(), Some("powersave"));
        assert_eq!((frequency.min_khz, frequency.max_khz), (Some(400_000), Some(4_000_000)));
        assert_eq!(frequency.turbo, Some(true));
    }

    #[test]
    fn a_virtual_machine_is_noted_once() {
        let scratch = Scratch::new("frequency");
        let roots = scratch.roots();
        let mut reader = Reader::new(&roots);
        assert_eq!(Frequency::capture(&mut reader, 3), Frequency::default());
        let unseen = reader.into_unseen();
        assert_eq!(unseen.len(), 1);
        assert_eq!(unseen[0].what, "/sys/devices/system/cpu/cpu3/cpufreq");
    }

    #[test]
    fn garbage_is_null() {
        let scratch = Scratch::new("frequency-garbage");
        scratch
            .write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", b"\xff99999999999999999999999");
        scratch.write("/sys/devices/system/cpu/cpufreq/boost", b"perhaps");
        let frequency = Frequency::capture(&mut Reader::new(&scratch.roots()), 0);
        assert_eq!((frequency.max_khz, frequency.turbo), (None, None));
    }
}

//! Where rounds come from: a machine and a kernel, and what that means for figures.

use crate::{Document, Outcome, Place};
use environment::GuestKernel;
use serde::{Deserialize, Serialize};
use table::Kernel;

/// A name in a document: one that this version knows, or one of a later version, which is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Name<T> {
    /// One that this version knows.
    Known(T),
    /// Any other.
    Other(String),
}

impl<T: Copy> Name<T> {
    /// What it names, if this version knows that.
    pub fn known(&self) -> Option<T> {
        match self {
            Name::Known(known) => Some(*known),
            Name::Other(_) => None,
        }
    }
}

impl<T> Default for Name<T> {
    fn default() -> Name<T> {
        Name::Other(String::new())
    }
}

/// What executes the kernel's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Machine {
    /// The one that the command ran on.
    Host,
    /// QEMU's own emulation.
    QemuTcg,
    /// QEMU with the processor's virtualization.
    QemuKvm,
    /// Bochs.
    Bochs,
}

/// What a machine's counter tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// Time on a processor: rounds are repeated, and judged.
    Time,
    /// Instructions executed: always the same, so that few samples are enough.
    Instructions,
}

impl Machine {
    /// Every machine.
    pub const ALL: [Machine; 4] = [Machine::Host, Machine::QemuTcg, Machine::QemuKvm, Machine::Bochs];

    /// What its counter tells.
    pub fn counter(self) -> Counter {
        match self {
            Machine::Host | Machine::QemuKvm => Counter::Time,
            Machine::QemuTcg | Machine::Bochs => Counter::Instructions,
        }
    }

    /// Whether it was started for the measurement. Nobody chooses to measure on an emulated host, but everybody chooses a
    /// guest; and a guest has one CPU, whose number says nothing.
    pub fn is_guest(self) -> bool {
        match self {
            Machine::Host => false,
            Machine::QemuTcg | Machine::QemuKvm | Machine::Bochs => true,
        }
    }

    /// What executes a guest's instructions, as the table's `differs` and [`environment::Guest`] name it; none of a host.
    pub fn accelerator(self) -> Option<&'static str> {
        match self {
            Machine::Host => None,
            Machine::QemuTcg => Some("tcg"),
            Machine::QemuKvm => Some("kvm"),
            Machine::Bochs => Some("bochs"),
        }
    }
}

impl Place {
    /// A place of this version.
    pub fn new(machine: Machine, kernel: Kernel) -> Place {
        Place { machine: Name::Known(machine), kernel: Name::Known(kernel) }
    }
}

impl Document {
    /// What its figures are. Of a machine that only a later version knows, the rows tell.
    pub fn counter(&self) -> Counter {
        let counts = || self.results.iter().any(|row| row.instructions.is_some());
        match self.measurement.place.machine.known() {
            Some(machine) => machine.counter(),
            None if counts() => Counter::Instructions,
            None => Counter::Time,
        }
    }

    /// Why no configuration of a Linux in guests has what was asked for, by the first of them; none if one has, or there were no guests.
    pub fn unfit(&self) -> Option<&str> {
        let kernels = &self.environment.guest.as_ref()?.kernels;
        let is_unfit = |kernel: &GuestKernel| kernel.outcome == Outcome::Unsupported.name();
        let first = kernels.first().filter(|_| kernels.iter().all(is_unfit));
        first.map(|kernel| kernel.reason.as_deref().unwrap_or_default())
    }

    /// Whether the kernel was kentry's own, so that what Linux does on entry says nothing about its figures.
    pub fn is_of_lab(&self) -> bool {
        self.measurement.place.kernel.known().is_some_and(Kernel::is_lab)
    }

    /// Whether the kernel was Linux, so that its facts explain the figures. Not the opposite of [`Document::is_of_lab`]:
    /// a later version may measure other kernels.
    pub fn is_of_linux(&self) -> bool {
        self.measurement.place.kernel.known() == Some(Kernel::Linux)
    }

    /// Whether the machine is the one that the command ran on, and not a guest; false of a machine that only a later version
    /// knows.
    pub fn is_of_host(&self) -> bool {
        self.measurement.place.machine.known().is_some_and(|machine| !machine.is_guest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_schema() {
        let names =
            Machine::ALL.map(|machine| serde_json::to_value(Place::new(machine, Kernel::Lab)).unwrap());
        let names = names.map(|place| place["machine"].as_str().unwrap().to_string());
        assert_eq!(names, ["host", "qemu-tcg", "qemu-kvm", "bochs"]);
        for machine in Machine::ALL {
            let place = Place::new(machine, Kernel::Linux);
            let text = serde_json::to_string(&place).unwrap();
            assert_eq!(serde_json::from_str::<Place>(&text).unwrap(), place);
        }
    }

    #[test]
    fn a_name_of_a_later_version_is_kept() {
        let text = r#"{"machine":"cloud-hypervisor","kernel":"hurd"}"#;
        let place: Place = serde_json::from_str(text).unwrap();
        assert_eq!((place.machine.known(), place.kernel.known()), (None, None));
        assert_eq!(serde_json::to_string(&place).unwrap(), text);
        assert!(serde_json::from_str::<Place>(r#"{"machine":7,"kernel":"lab"}"#).is_err());
    }
}

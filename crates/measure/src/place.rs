//! Where rounds come from: a machine and a kernel.

use table::Kernel;

/// What executes the kernel's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// The one that this program runs on.
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
    /// What its counter tells.
    pub fn counter(self) -> Counter {
        match self {
            Machine::Host | Machine::QemuKvm => Counter::Time,
            Machine::QemuTcg | Machine::Bochs => Counter::Instructions,
        }
    }

    /// As in documents.
    pub fn name(self) -> &'static str {
        match self {
            Machine::Host => "host",
            Machine::QemuTcg => "qemu-tcg",
            Machine::QemuKvm => "qemu-kvm",
            Machine::Bochs => "bochs",
        }
    }

    /// What executes instructions, as the table's `differs` and a lab's environment name it.
    pub fn accelerator(self) -> &'static str {
        match self {
            Machine::Host => "host",
            Machine::QemuTcg => "tcg",
            Machine::QemuKvm => "kvm",
            Machine::Bochs => "bochs",
        }
    }

    /// Ticks in a second of its counter, where the emulator defines that.
    pub fn tsc_hz(self) -> Option<u64> {
        match self {
            Machine::Host | Machine::QemuKvm => None,
            Machine::QemuTcg => Some(lab::Qemu::TCG_HERTZ),
            Machine::Bochs => Some(lab::Bochs::HERTZ),
        }
    }
}

/// A machine and a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The machine.
    pub machine: Machine,
    /// The kernel.
    pub kernel: Kernel,
}

impl Place {
    /// As in documents.
    pub fn document(self) -> document::Place {
        let kernel = match self.kernel {
            Kernel::Linux => "linux",
            Kernel::Lab => "lab",
        };
        document::Place { machine: self.machine.name().into(), kernel: kernel.into() }
    }
}

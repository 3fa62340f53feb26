//! The virtual machine that a Linux boots in.

use crate::emulator::{Accelerator, qemu};
use std::ffi::OsString;

/// What QEMU writes frames from.
pub const FRAME_PORT: u16 = 0xe9;

/// Writing to this one ends QEMU.
pub const EXIT_PORT: u16 = 0xf4;

/// The small board that has no PCI; its ACPI is of the kind without old hardware. Without a clock chip Linux waits for one, twice for a
/// second of virtual time. Without its old interrupt controller, interrupts come by the IOAPIC alone: that ACPI tells Linux that there is no
/// such controller, so Linux does not initialise it, and no firmware has masked it; the first tick of the PIT, by which Linux calibrates
/// the counter, would arrive as vector 0, a division by zero.
pub(super) const BOARD: &str = "microvm,rtc=on,pic=off";

/// A guest's memory unless somebody asks for another: every kernel of a distribution boots in it. In MiB.
pub const MEMORY_MIB: u64 = 512;

/// A virtual machine of QEMU that boots a Linux.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The program.
    pub program: OsString,
    /// What executes the instructions: [`Accelerator::Tcg`] counts them.
    pub accelerator: Accelerator,
    /// The board, as QEMU's `-M` has it.
    pub board: String,
    /// The processor, as QEMU's `-cpu` has it. Where instructions are counted, it never has random numbers of its own.
    pub cpu_model: String,
    /// Its memory, in MiB.
    pub memory_mib: u64,
}

impl Machine {
    /// Debian's QEMU, with this processor or the accelerator's usual one.
    pub fn new(accelerator: Accelerator, cpu_model: Option<&str>) -> Machine {
        let cpu_model = cpu_model.unwrap_or(accelerator.usual_model()).to_string();
        let (program, board) = (qemu::PROGRAM.into(), BOARD.into());
        Machine { program, accelerator, board, cpu_model, memory_mib: MEMORY_MIB }
    }

    /// The processor's random numbers would differ from boot to boot, and so would what depends on them.
    pub(super) fn processor(&self) -> String {
        match self.accelerator {
            Accelerator::Tcg => format!("{},-rdrand,-rdseed", self.cpu_model),
            Accelerator::Kvm => self.cpu_model.clone(),
        }
    }
}

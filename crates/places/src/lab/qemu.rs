//! QEMU's command line for the lab kernel.

use crate::emulator::{Accelerator, Command, qemu};
use crate::lab::{Guest, Limits, Mode, Trouble, kernel};
use process::{file_in_memory, inherited};
use record::abi;
use std::borrow::Cow;
use std::ffi::OsString;

/// Its smallest machine, without ACPI. For firmware to hand out the tables takes a tenth of a boot with qboot, as in Debian 12's QEMU, and half of
/// it with SeaBIOS, as in Debian 13's; without them QEMU takes qboot (`qboot.rom`) in both. The kernel then knows neither how many processors there
/// are, of which QEMU makes one, nor the I/O APICs, whose inputs QEMU's reset masks and qboot leaves alone.
const BOARD: &str = "microvm,acpi=off";

/// A virtual machine of QEMU.
#[derive(Debug, Clone)]
pub struct Qemu {
    /// The program.
    pub program: OsString,
    /// What executes the instructions.
    pub accelerator: Accelerator,
    /// The processor that the guest sees.
    pub cpu_model: String,
    /// This machine's CPU that all of QEMU is pinned to; none where instructions are counted, which no CPU changes.
    pub cpu: Option<usize>,
    /// The [`kernel`] for long mode, unless another is asked for, or a test boots one of its own.
    pub kernel: Cow<'static, [u8]>,
}

impl Qemu {
    /// Ticks in a second under [`Accelerator::Tcg`]: an instruction is a nanosecond (`-icount shift=0`).
    pub const TCG_HERTZ: u64 = 1_000_000_000;

    /// Debian's QEMU, with this processor or the accelerator's usual one.
    pub fn new(accelerator: Accelerator, cpu_model: Option<&str>) -> Qemu {
        let cpu_model = cpu_model.unwrap_or(accelerator.usual_model()).to_string();
        let (program, kernel) = (qemu::PROGRAM.into(), kernel(Mode::Long).into());
        Qemu { program, accelerator, cpu_model, cpu: None, kernel }
    }

    /// Boots an archive whose plan has so many programs and checks.
    ///
    /// # Errors
    /// When QEMU cannot be started.
    pub fn boot(&self, archive: &[u8], programs: usize, limits: &Limits) -> Result<Guest, Trouble> {
        Guest::boot(self.command(archive)?, programs, limits)
    }

    /// Its name and version, `QEMU 7.2.22`.
    ///
    /// # Errors
    /// When it cannot be started, or does not answer: there is no guest yet.
    pub fn version(&self, limits: &Limits) -> Result<String, Trouble> {
        Ok(qemu::version(&self.program, limits)?)
    }

    /// The same with the kernel for a mode.
    pub fn in_mode(self, mode: Mode) -> Qemu {
        Qemu { kernel: kernel(mode).into(), ..self }
    }

    fn command(&self, archive: &[u8]) -> Result<Command, Trouble> {
        let kernel = file_in_memory("kernel", &self.kernel)?;
        let archive = file_in_memory("archive", archive)?;
        let exit = format!("isa-debug-exit,iobase={:#x},iosize=0x04", abi::LAB_EXIT_PORT);
        let (kernel_path, archive_path) = (inherited(&kernel), inherited(&archive));
        let mut arguments = vec!["-M", BOARD, "-m", "256", "-nodefaults", "-no-user-config", "-no-reboot"];
        arguments.extend(["-display", "none", "-serial", "stdio", "-device", &exit]);
        arguments.extend(["-kernel", &kernel_path, "-initrd", &archive_path, "-cpu", &self.cpu_model]);
        arguments.extend(match self.accelerator {
            Accelerator::Tcg => ["-accel", "tcg", "-icount", "shift=0,sleep=off"].as_slice(),
            Accelerator::Kvm => ["-accel", "kvm"].as_slice(),
        });
        let arguments = arguments.into_iter().map(OsString::from).collect();
        let files = vec![kernel, archive];
        Ok(Command { files, cpu: self.cpu, ..qemu::command(&self.program, arguments) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qemu_is_pinned_as_it_is_asked_to_be() {
        let pinned = |cpu| Qemu { cpu, ..Qemu::new(Accelerator::Kvm, None) }.command(b"").unwrap().cpu;
        assert_eq!([pinned(None), pinned(Some(3))], [None, Some(3)]);
    }

    #[test]
    fn the_processor_is_the_one_that_was_asked_for() {
        assert_eq!(Qemu::new(Accelerator::Kvm, Some("host")).cpu_model, "host");
        assert_eq!(Qemu::new(Accelerator::Kvm, None).cpu_model, Accelerator::Kvm.usual_model());
    }

    #[test]
    fn instructions_are_counted_under_tcg_alone() {
        let arguments = |accelerator, model| {
            let command = Qemu::new(accelerator, model).command(b"").unwrap();
            command
                .arguments
                .iter()
                .map(|word| word.to_str().unwrap().to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let tcg = arguments(Accelerator::Tcg, None);
        assert!(tcg.ends_with("-cpu max,vendor=GenuineIntel -accel tcg -icount shift=0,sleep=off"), "{tcg}");
        let kvm = arguments(Accelerator::Kvm, Some("EPYC"));
        assert!(kvm.ends_with("-cpu EPYC -accel kvm"), "{kvm}");
    }
}

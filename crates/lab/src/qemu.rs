//! QEMU's command line.

use crate::program::Command;
use crate::trouble::told;
use crate::{Guest, KERNEL, Limits, Trouble};
use process::{file_in_memory, inherited};
use record::abi;
use std::borrow::Cow;
use std::ffi::OsString;
use std::time::Duration;

/// The Debian package that contains QEMU.
pub const QEMU_PACKAGES: &str = "qemu-system-x86";

/// The longest that QEMU may take to print its version; it takes milliseconds.
const VERSION_TIME: Duration = Duration::from_secs(10);

/// And the most that it may write; it is two lines.
const VERSION_BYTES: usize = 64 << 10;

/// What executes the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// QEMU itself: instructions are counted, and the time stamp counter is that count.
    Tcg,
    /// The processor, by Linux's KVM.
    Kvm,
}

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
    /// The kernel, [`KERNEL`] unless a test boots one of its own.
    pub kernel: Cow<'static, [u8]>,
}

impl Qemu {
    /// Ticks in a second under [`Accelerator::Tcg`]: an instruction is a nanosecond (`-icount shift=0`).
    pub const TCG_HERTZ: u64 = 1_000_000_000;

    /// Debian's QEMU, with this processor or the accelerator's own. Plain `max` would be an AMD under TCG.
    pub fn new(accelerator: Accelerator, cpu_model: Option<&str>) -> Qemu {
        let own = match accelerator {
            Accelerator::Tcg => "max,vendor=GenuineIntel",
            Accelerator::Kvm => host_model(&vendor()),
        };
        let cpu_model = cpu_model.unwrap_or(own).to_string();
        let (program, kernel) = ("qemu-system-x86_64".into(), KERNEL.into());
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
        let command = self.with(vec!["--version".into()], Vec::new());
        let limits = Limits { time: VERSION_TIME, output: VERSION_BYTES, ..limits.clone() };
        let unanswered =
            |why: String| Trouble::Version { program: self.program.to_string_lossy().into(), why };
        let ended = command.run(&limits).map_err(|trouble| match trouble {
            Trouble::Timeout(time) => unanswered(format!("did not answer within {} s", time.as_secs_f64())),
            Trouble::Flood(most) => unanswered(format!("wrote more than {most} bytes")),
            other => other,
        })?;
        if !ended.status.success() {
            return Err(unanswered(format!("failed, {}{}", ended.status, told(&ended.messages))));
        }
        let said = String::from_utf8_lossy(&ended.output);
        version_in(&said).ok_or_else(|| unanswered("did not answer as QEMU does".into()))
    }

    fn command(&self, archive: &[u8]) -> Result<Command, Trouble> {
        let kernel = file_in_memory("kernel", &self.kernel)?;
        let archive = file_in_memory("archive", archive)?;
        let exit = format!("isa-debug-exit,iobase={:#x},iosize=0x04", abi::LAB_EXIT_PORT);
        let (kernel_path, archive_path) = (inherited(&kernel), inherited(&archive));
        let mut arguments =
            vec!["-M", "microvm", "-m", "256", "-nodefaults", "-no-user-config", "-no-reboot"];
        arguments.extend(["-display", "none", "-serial", "stdio", "-device", &exit]);
        arguments.extend(["-kernel", &kernel_path, "-initrd", &archive_path, "-cpu", &self.cpu_model]);
        arguments.extend(match self.accelerator {
            Accelerator::Tcg => ["-accel", "tcg", "-icount", "shift=0,sleep=off"].as_slice(),
            Accelerator::Kvm => ["-accel", "kvm"].as_slice(),
        });
        let arguments = arguments.into_iter().map(OsString::from).collect();
        Ok(self.with(arguments, vec![kernel, archive]))
    }

    fn with(&self, arguments: Vec<OsString>, files: Vec<std::os::fd::OwnedFd>) -> Command {
        let (program, cpu) = (self.program.clone(), self.cpu);
        Command { program, packages: QEMU_PACKAGES, arguments, files, records: None, cpu }
    }
}

/// This machine's processor, as QEMU gives it to a guest of KVM.
///
/// No processor of AMD's has the register IA32_ARCH_CAPABILITIES (MSR 10Ah). KVM offers to emulate it all the same, and QEMU before
/// 10.1 takes the offer; where KVM then refuses the value, as one in a virtual machine may, QEMU aborts.
fn host_model(vendor: &str) -> &'static str {
    match vendor {
        "AuthenticAMD" | "HygonGenuine" => "host,-arch-capabilities",
        _ => "host",
    }
}

/// The vendor of this machine's processor, as CPUID spells it.
fn vendor() -> String {
    let info = raw_cpuid::CpuId::new().get_vendor_info();
    info.map(|info| info.as_str().to_string()).unwrap_or_default()
}

/// `QEMU emulator version 7.2.22 (Debian …)`
fn version_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("QEMU emulator version ")?;
    rest.split_whitespace().next().map(|version| format!("QEMU {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_it_says() {
        let text =
            "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\nCopyright (c) 2003-2022\n";
        assert_eq!(version_in(text).as_deref(), Some("QEMU 7.2.22"));
        for other in ["QEMU emulator version ", "bash, version 5.2", ""] {
            assert_eq!(version_in(other), None, "{other}");
        }
    }

    #[test]
    fn a_program_that_tells_no_version_was_told_as_a_guest_that_hangs() {
        let limits = Limits { time: VERSION_TIME, output: 1, interrupt: process::Interrupt::default() };
        let said = |program: &str| {
            let qemu = Qemu { program: program.into(), ..Qemu::new(Accelerator::Tcg, None) };
            qemu.version(&limits).unwrap_err().to_string()
        };
        assert_eq!(said("false"), "`false --version` failed, exit status: 1");
        let folder = tempfile::tempdir().unwrap();
        let floods = folder.path().join("floods").to_str().unwrap().to_string();
        // By another process: a file that this one writes can be open for writing in a child of another test (ETXTBSY).
        let mut write = std::process::Command::new("/bin/sh");
        write.args(["-c", "printf '#!/bin/sh\nwhile :; do echo flood; done' >$0; chmod 755 $0", &floods]);
        assert!(write.status().unwrap().success());
        assert_eq!(said(&floods), format!("`{floods} --version` wrote more than 65536 bytes"));
    }

    #[test]
    fn qemu_is_pinned_as_it_is_asked_to_be() {
        let pinned = |cpu| Qemu { cpu, ..Qemu::new(Accelerator::Kvm, None) }.command(b"").unwrap().cpu;
        assert_eq!([pinned(None), pinned(Some(3))], [None, Some(3)]);
    }

    #[test]
    fn qemu_aborted_on_amds_processors_for_a_register_that_these_do_not_have() {
        let models = ["GenuineIntel", "AuthenticAMD", "HygonGenuine", ""].map(host_model);
        assert_eq!(models, ["host", "host,-arch-capabilities", "host,-arch-capabilities", "host"]);
        assert_eq!(Qemu::new(Accelerator::Kvm, None).cpu_model, host_model(&vendor()));
        assert_eq!(Qemu::new(Accelerator::Kvm, Some("host")).cpu_model, "host", "as it was asked for");
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

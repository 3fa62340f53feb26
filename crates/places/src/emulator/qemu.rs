//! QEMU's program: what it is called, which processor it gives to a guest, and which version it has.

use crate::emulator::trouble::told;
use crate::emulator::{Command, Trouble};
use process::Limits;
use std::ffi::{OsStr, OsString};
use std::time::Duration;

/// The program, by Debian's name.
pub const PROGRAM: &str = "qemu-system-x86_64";

/// The Debian package that contains it.
pub const PACKAGES: &str = "qemu-system-x86";

/// The longest that it may take to print its version; it takes milliseconds.
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

impl Accelerator {
    /// The processor that a guest has unless another is named, as QEMU's `-cpu` has it. Plain `max` would be an AMD under TCG.
    pub fn usual_model(self) -> &'static str {
        match self {
            Accelerator::Tcg => "max,vendor=GenuineIntel",
            Accelerator::Kvm => host_model(&vendor()),
        }
    }
}

/// The name and version of this QEMU, `QEMU 7.2.22`.
///
/// # Errors
/// When it cannot be started, or does not answer: there is no guest yet.
pub fn version(program: &OsStr, limits: &Limits) -> Result<String, Trouble> {
    let limits = Limits { time: VERSION_TIME, output: VERSION_BYTES, ..limits.clone() };
    let unanswered = |why: String| Trouble::Version { program: program.to_string_lossy().into(), why };
    let ended = command(program, vec!["--version".into()]).run(&limits).map_err(|trouble| match trouble {
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

/// How this QEMU is started with these arguments; it inherits no files, writes its records to its standard output, and is not pinned.
pub fn command(program: &OsStr, arguments: Vec<OsString>) -> Command {
    Command {
        program: program.to_os_string(),
        packages: PACKAGES,
        arguments,
        files: Vec::new(),
        records: None,
        cpu: None,
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
        let said = |program: &str| version(program.as_ref(), &limits).unwrap_err().to_string();
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
    fn qemu_aborted_on_amds_processors_for_a_register_that_these_do_not_have() {
        let models = ["GenuineIntel", "AuthenticAMD", "HygonGenuine", ""].map(host_model);
        assert_eq!(models, ["host", "host,-arch-capabilities", "host,-arch-capabilities", "host"]);
        assert_eq!(Accelerator::Kvm.usual_model(), host_model(&vendor()));
    }
}

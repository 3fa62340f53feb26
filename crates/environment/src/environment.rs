//! All facts together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::container::Container;
use crate::cpu::Cpu;
use crate::cpuid::Leaves;
use crate::cpus::Cpus;
use crate::frequency::Frequency;
use crate::guest::Guest;
use crate::hypervisor::Hypervisor;
use crate::kernel::RunningKernel;
use crate::lab::Lab;
use crate::libc::Libc;
use crate::load::LoadDuring;
use crate::reader::{Reader, Unseen};
use crate::restrictions::Restrictions;
use crate::roots::Roots;
use crate::tsc::Tsc;
use crate::{cpuinfo, identity, libc, mitigations, sysctls, vsyscall};

/// The machine as it was when a run was made. `None` means unknown or absent; [`Environment::unseen`] tells which.
///
/// Documents of other versions load, too: unknown fields are ignored, missing ones are empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// The kernel that ran the probes: `linux` or `lab`.
    pub host: String,
    /// Tells this machine from others that look the same: a digest of `/etc/machine-id`, which it does not tell.
    pub machine_id: Option<String>,
    /// Tells this boot from the others: a digest of `/proc/sys/kernel/random/boot_id`.
    pub boot_id: Option<String>,
    /// The virtual machine that was started for the measurement; not there on a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
    /// What kentry's own kernel found; not there where another kernel was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lab: Option<Lab>,
    /// The processor.
    pub cpu: Cpu,
    /// The time stamp counter.
    pub tsc: Tsc,
    /// What runs below the kernel.
    pub hypervisor: Hypervisor,
    /// The kernel.
    pub kernel: RunningKernel,
    /// Faults of the processor → what the kernel does about each. `/sys/devices/system/cpu/vulnerabilities`.
    pub mitigations: BTreeMap<String, String>,
    /// The kernel's clock.
    pub clock: Clock,
    /// Permissions of the vsyscall page: `r-xp`, `--xp` or `absent`. `/proc/self/maps`.
    pub vsyscall_page: Option<String>,
    /// The vsyscall page's true mode: `none`, `emulate`, `xonly`, `native`. The map does not tell the last ones apart,
    /// so the caller fills this in from what the probe found.
    pub vsyscall: Option<String>,
    /// Whether the kernel runs 32-bit programs. The caller fills this in from what became of a 32-bit probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ia32_emulation: Option<bool>,
    /// Whether the kernel has system calls of the x32 ABI. kentry asks in its guests alone: elsewhere a filter may end whoever asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x32: Option<bool>,
    /// Whether the kernel audits system calls (`audit=1`); asked in guests alone, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<bool>,
    /// Whether the kernel writes an event for each system call (`raw_syscalls`); asked in guests alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<bool>,
    /// Whether the kernel chose its address at random when it unpacked itself; asked in guests alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kaslr: Option<bool>,
    /// The system's C library, not the one in this command.
    pub libc: Option<Libc>,
    /// Credentials, filters, priority and limits of this process.
    pub limits: Restrictions,
    /// Control groups and containers.
    pub container: Container,
    /// Which CPUs there are, and which may be used.
    pub cpus: Cpus,
    /// Frequency scaling of the measured CPU.
    pub frequency: Frequency,
    /// Switches of the running kernel, name → value. `/proc/sys`.
    pub sysctls: BTreeMap<String, String>,
    /// The load on the machine while it measured: the caller fills this in with [`LoadDuring`].
    pub load: Option<LoadDuring>,
    /// Everything that could not be read, and why.
    pub unseen: Vec<Unseen>,
}

impl Environment {
    /// Of a measurement in a guest that booted the lab's kernel. Where that ran on this machine's processor, the facts about it
    /// hold; those about the kernel around it say nothing of the figures.
    pub fn of_lab(
        guest: Guest,
        lab: Lab,
        kernel: RunningKernel,
        machine: Option<Environment>,
    ) -> Environment {
        let machine = machine.unwrap_or_default();
        Environment {
            host: "lab".to_owned(),
            machine_id: machine.machine_id,
            boot_id: machine.boot_id,
            guest: Some(guest),
            lab: Some(lab),
            kernel,
            cpu: machine.cpu,
            tsc: machine.tsc,
            hypervisor: machine.hypervisor,
            cpus: machine.cpus,
            frequency: machine.frequency,
            load: machine.load,
            ..Environment::default()
        }
    }
}

/// Reads all facts about the machine, for measurements on `cpu` (a CPU's number as Linux counts).
///
/// Never fails, and reads a bounded amount of regular files. It waits for nothing but `cpu` to run one short-lived
/// thread, which executes CPUID there. Call it before pinning the calling thread, or `cpus.allowed` is the one CPU.
pub fn capture(roots: &Roots, cpu: usize) -> Environment {
    let mut reader = Reader::new(roots);
    let leaves = Leaves::read_on(cpu, &mut reader);
    let cpuinfo = reader.text("/proc/cpuinfo");
    let info = cpuinfo.as_deref().and_then(|text| cpuinfo::parse(text, cpu));
    if cpuinfo.is_some() && info.is_none() {
        reader.miss(&format!("/proc/cpuinfo, processor {cpu}"), "there is no such part");
    }
    let status = reader.text("/proc/self/status");
    let mitigations = mitigations::capture(&mut reader);
    let meltdown = mitigations.get("meltdown").map(String::as_str);
    let mut environment = Environment {
        host: "linux".to_owned(),
        machine_id: identity::machine(&mut reader),
        boot_id: identity::boot(&mut reader),
        guest: None,
        lab: None,
        cpu: Cpu::capture(&mut reader, cpu, &leaves, info.as_ref()),
        tsc: Tsc::from(&leaves, info.as_ref()),
        hypervisor: Hypervisor::capture(&mut reader, &leaves),
        kernel: RunningKernel::capture(&mut reader, info.as_ref(), meltdown),
        mitigations,
        clock: Clock::capture(&mut reader),
        vsyscall_page: vsyscall::capture(&mut reader),
        vsyscall: None,
        ia32_emulation: None,
        x32: None,
        audit: None,
        trace: None,
        kaslr: None,
        libc: libc::capture(&mut reader),
        limits: Restrictions::capture(&mut reader, status.as_deref()),
        container: Container::capture(&mut reader),
        cpus: Cpus::capture(&mut reader, status.as_deref()),
        frequency: Frequency::capture(&mut reader, cpu),
        sysctls: sysctls::capture(&mut reader),
        load: None,
        unseen: Vec::new(),
    };
    if environment.tsc.frequency_hz.is_none() {
        reader.miss_expected("the TSC's frequency", "neither CPUID 15h nor 16h nor the hypervisor tells");
    }
    environment.unseen = reader.into_unseen();
    environment
}

//! Facts about the machine, in words; not yet made harmless.

use crate::figure::ABSENT;
use document::{Machine, Name};
use environment::{Environment, RunningKernel};

/// Faults of processors whose remedies are on the path of an entry or of its return.
/// Kernel, Documentation/admin-guide/hw-vuln.
const ON_THE_PATH: [&str; 10] = [
    "indirect_target_selection",
    "mds",
    "mmio_stale_data",
    "reg_file_data_sampling",
    "retbleed",
    "spec_rstack_overflow",
    "spectre_v2",
    "tsa",
    "tsx_async_abort",
    "vmscape",
];

/// Where something was measured.
pub(crate) fn place(machine: &Name<Machine>) -> &str {
    match machine {
        Name::Known(Machine::Host) => "on this machine",
        Name::Known(Machine::QemuTcg) => "in QEMU's emulation",
        Name::Known(Machine::QemuKvm) => "in QEMU with KVM",
        Name::Known(Machine::Bochs) => "in Bochs",
        Name::Other(other) => other,
    }
}

pub(crate) fn text(value: &Option<String>) -> String {
    value.clone().unwrap_or_else(|| ABSENT.to_owned())
}

pub(crate) fn cpu(environment: &Environment) -> String {
    let cpu = &environment.cpu;
    let number = |value: Option<u32>| value.map_or(ABSENT.to_owned(), |value| value.to_string());
    format!(
        "{} (family {}, model {}, stepping {})",
        text(&cpu.brand),
        number(cpu.family),
        number(cpu.model),
        number(cpu.stepping)
    )
}

pub(crate) fn kernel(kernel: &RunningKernel) -> String {
    let name = kernel.sysname.as_deref().unwrap_or_default();
    let mode = kernel.preemption_mode.as_ref().map(|mode| format!(", preemption {mode}"));
    let name = format!("{name} {}", text(&kernel.release));
    format!("{}{}", name.trim_start(), mode.unwrap_or_default())
}

pub(crate) fn hypervisor(environment: &Environment) -> String {
    let hypervisor = &environment.hypervisor;
    let kind = match (hypervisor.present, hypervisor.name()) {
        (false, None) => "none, or it hides",
        (true, None) => "one without a name",
        (_, Some(name)) => name,
    };
    let machine = [&hypervisor.system_vendor, &hypervisor.product_name];
    let machine: Vec<&str> = machine.into_iter().flatten().map(String::as_str).collect();
    match machine[..] {
        [] => kind.to_owned(),
        _ => format!("{kind}, on {}", machine.join(" ")),
    }
}

pub(crate) fn vsyscall(environment: &Environment) -> String {
    match (&environment.vsyscall, &environment.vsyscall_page) {
        (Some(mode), _) => mode.clone(),
        (None, Some(page)) if page == "absent" => "no page".to_owned(),
        (None, Some(page)) => format!("mode unknown, page {page}"),
        (None, None) => ABSENT.to_owned(),
    }
}

/// PTI first, then every fault on the path of an entry that this processor has, in the kernel's words.
pub(crate) fn mitigations(environment: &Environment, verbose: bool) -> String {
    let faults = environment.mitigations.iter().filter(|(name, state)| {
        verbose || (ON_THE_PATH.contains(&name.as_str()) && state.as_str() != "Not affected")
    });
    let faults = faults.map(|(name, state)| format!("{name}: {}", remedy(state, verbose)));
    let all: Vec<String> = std::iter::once(pti(environment)).chain(faults).collect();
    all.join("; ")
}

fn pti(environment: &Environment) -> String {
    let meltdown = environment.mitigations.get("meltdown").map(String::as_str);
    let state = match (environment.kernel.pti, meltdown) {
        (Some(true), _) => "on",
        (Some(false), Some("Not affected")) => "off, not needed",
        (Some(false), Some(text)) if text.starts_with("Vulnerable") => "off, vulnerable to meltdown",
        (Some(false), _) => "off",
        (None, _) => ABSENT,
    };
    format!("PTI {state}")
}

/// The kernel's line; in short without what it says about other things than the path: its first clause, and those
/// on the clearing of the branch history.
fn remedy(state: &str, verbose: bool) -> String {
    let state = state.strip_prefix("Mitigation: ").unwrap_or(state);
    if verbose {
        return state.replace("; ", ", ");
    }
    let mut clauses = state.split("; ");
    let first = clauses.next().unwrap_or_default();
    let history = clauses.filter(|clause| clause.starts_with("BHI") && !clause.ends_with("Not affected"));
    std::iter::once(first).chain(history).collect::<Vec<_>>().join(", ")
}

/// What makes every system call of this process dearer.
pub(crate) fn taxes(environment: &Environment) -> Option<String> {
    let limits = &environment.limits;
    let seccomp = limits.seccomp.as_deref().filter(|mode| *mode != "off").map(|mode| {
        let filters = limits.seccomp_filters.map(|count| format!(", filters: {count}"));
        format!("seccomp {mode}{}", filters.unwrap_or_default())
    });
    let tracer = limits.tracer_pid.filter(|pid| *pid != 0);
    let tracer = tracer.map(|pid| format!("traced by process {pid}"));
    let taxes: Vec<String> = seccomp.into_iter().chain(tracer).collect();
    (!taxes.is_empty()).then(|| taxes.join("; "))
}

pub(crate) fn libc(environment: &Environment) -> String {
    let Some(libc) = &environment.libc else { return ABSENT.to_owned() };
    let version = libc.version.as_ref().map(|version| format!(" {version}"));
    let package = libc.package.as_ref().map(|package| format!(" ({package})"));
    format!("{}{}{}", libc.name, version.unwrap_or_default(), package.unwrap_or_default())
}

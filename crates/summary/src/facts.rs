//! Which facts of a run can be the reason for a difference of figures.

use crate::Run;

/// A fact of a run.
#[derive(Debug, Clone, Copy)]
pub struct Fact {
    /// Names it for programs, as a comparison of runs does.
    pub id: &'static str,
    /// Names it for readers.
    pub what: &'static str,
    /// Its value; none where nobody knows.
    pub value: fn(&Run) -> Option<String>,
}

/// Every fact but mitigations, which have names of their own, in the order in which they are told.
pub const FACTS: [Fact; 22] = [
    Fact { id: "cpu-model", what: "processor", value: processor },
    Fact { id: "core-type", what: "kind of core", value: |run| run.core_type.clone() },
    Fact { id: "microcode", what: "microcode", value: |run| run.cohort.microcode.clone() },
    Fact { id: "hypervisor", what: "hypervisor", value: |run| run.cohort.hypervisor.clone() },
    Fact { id: "product", what: "machine's product name", value: |run| run.product.clone() },
    Fact { id: "smt", what: "hyperthreads", value: |run| switch(run.cohort.smt) },
    Fact { id: "kernel", what: "kernel", value: |run| run.cohort.kernel_release.clone() },
    Fact { id: "kernel-version", what: "build of the kernel", value: |run| run.kernel_version.clone() },
    Fact { id: "command-line", what: "kernel's command line", value: |run| run.command_line.clone() },
    Fact { id: "pti", what: "page-table isolation", value: |run| switch(run.pti) },
    Fact {
        id: "kstack-offset",
        what: "random stack offset",
        value: |run| switch(run.randomize_kstack_offset),
    },
    Fact { id: "clocksource", what: "clocksource", value: |run| run.cohort.clocksource.clone() },
    Fact { id: "preemption", what: "preemption model", value: |run| run.cohort.preemption.clone() },
    Fact { id: "vsyscall", what: "vsyscall page", value: |run| run.vsyscall.clone() },
    Fact { id: "c-library", what: "C library", value: |run| run.cohort.libc.clone() },
    Fact {
        id: "seccomp",
        what: "seccomp filters",
        value: |run| run.seccomp_filters.map(|count| count.to_string()),
    },
    Fact { id: "tracer", what: "tracing", value: |run| switch(run.traced) },
    Fact {
        id: "speculation",
        what: "speculative store bypass of the process",
        value: |run| run.speculation_store_bypass.clone(),
    },
    Fact { id: "cpu-quota", what: "CPU quota", value: quota },
    Fact { id: "governor", what: "frequency governor", value: |run| run.governor.clone() },
    Fact { id: "probe", what: "code of the probes", value: |run| run.probes_sha256.clone() },
    Fact { id: "kentry", what: "version of kentry", value: |run| Some(run.kentry.clone()) },
];

fn processor(run: &Run) -> Option<String> {
    let cohort = &run.cohort;
    let number = |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let vendor = cohort.cpu_vendor.as_ref()?;
    let (family, model, stepping) = (cohort.cpu_family, cohort.cpu_model, cohort.cpu_stepping);
    Some(format!("{vendor} {}.{}.{}", number(family), number(model), number(stepping)))
}

/// No quota is a value: on a machine whose groups have one, this process's has none.
fn quota(run: &Run) -> Option<String> {
    Some(run.cpu_quota.map_or_else(|| "none".to_owned(), |cpus| format!("{cpus} CPUs")))
}

fn switch(is_on: Option<bool>) -> Option<String> {
    is_on.map(|on| if on { "on" } else { "off" }.to_owned())
}

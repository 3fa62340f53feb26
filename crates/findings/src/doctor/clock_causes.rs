//! Why a clock enters the kernel, and what to do about it here.

use crate::doctor::CheckupFacts;
use document::{Confidence, Path};
use environment::Environment;
use table::special::{LIBC, VDSO};

/// Why, what to do, and how sure that is.
pub(crate) struct Cause {
    pub cause: String,
    pub remedy: String,
    pub confidence: Confidence,
}

/// Where the kernel is told its clocksource.
const SWITCH: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// The clocksource that user space reads without anybody's help.
const TSC: &str = "tsc";

/// Clocksources of hypervisors. Whether user space may read one is what was measured.
const OF_HYPERVISORS: [(&str, &str); 3] = [
    (
        "kvm-clock",
        "the host does not promise that it is stable across CPUs (PVCLOCK_TSC_STABLE_BIT), as when its own clocksource is not the TSC",
    ),
    ("xen", "Xen does not promise that it is stable across CPUs"),
    ("hyperv_clocksource_msr", "it is a register of the hypervisor's, and the hypervisor offers no TSC page"),
];

pub(crate) fn cause_of(facts: &CheckupFacts, way: &str) -> Cause {
    if way == LIBC {
        return of_libc(facts);
    }
    let coarse = facts.run.works(VDSO, "clock_gettime-monotonic-coarse").and_then(|row| row.path);
    match coarse {
        Some(Path::Kernel) => replaced(facts),
        _ => of_clocksource(facts, coarse.is_some()),
    }
}

/// The vDSO serves the clock, and the C library does not ask it.
fn of_libc(facts: &CheckupFacts) -> Cause {
    let libc = facts.environment().libc.as_ref();
    let name = libc.map(|libc| match &libc.version {
        Some(version) => format!("{} {version}", libc.name),
        None => libc.name.clone(),
    });
    let name = name.unwrap_or_else(|| "the C library".to_owned());
    Cause {
        cause: format!("The vDSO serves these clocks, and {name} does not ask it for them."),
        remedy: "Let the program call the vDSO's own function, to which AT_SYSINFO_EHDR leads, or run it with a C library that does: \
                 `kentry doctor --check clocks` in its container tells which one does."
            .to_owned(),
        confidence: Confidence::Inferred,
    }
}

/// Not even what needs no clocksource is served: this is not the kernel's own vDSO, or it is kept from its work.
fn replaced(facts: &CheckupFacts) -> Cause {
    let environment = facts.environment();
    let tracer = environment.limits.tracer_pid.filter(|pid| *pid != 0);
    let what = match tracer {
        Some(pid) => format!("process {pid} traces this one, and record-and-replay debuggers replace the vDSO"),
        None => "something has replaced the vDSO, as sandboxes with a kernel of their own and record-and-replay debuggers do".to_owned(),
    };
    let remedy = match tracer {
        Some(pid) => format!("Let process {pid} trace without replacing the vDSO, or run without it."),
        None => "Measure outside of the sandbox: `kentry doctor --check clocks` there tells whether it is the sandbox.".to_owned(),
    };
    Cause {
        cause: format!(
            "Not even the coarse clocks, which need no clocksource, are read in user space: {what}."
        ),
        remedy,
        confidence: Confidence::Likely,
    }
}

/// The vDSO is at work, and cannot read what the kernel counts with.
fn of_clocksource(facts: &CheckupFacts, is_coarse_served: bool) -> Cause {
    let clock = &facts.environment().clock;
    let Some(source) = clock.current_clocksource.as_deref() else {
        return Cause {
            cause: "Which clocksource the kernel has cannot be read here.".to_owned(),
            remedy: format!("Read {SWITCH} outside of this container."),
            confidence: Confidence::Likely,
        };
    };
    let shown = if is_coarse_served { "the coarse clocks are served, which need no clocksource" } else { "" };
    let why = OF_HYPERVISORS.iter().find(|(name, _)| *name == source).map(|(_, why)| format!("; {why}"));
    let because = match (source, shown.is_empty()) {
        (TSC, false) => {
            format!("The clocksource is tsc, which user space could read, and the vDSO does not: {shown}")
        }
        (TSC, true) => {
            "The clocksource is tsc, which user space could read, and the vDSO does not".to_owned()
        }
        (_, false) => format!("The clocksource is {source}, which user space cannot read here: {shown}"),
        (_, true) => format!("The clocksource is {source}, which user space cannot read here"),
    };
    Cause {
        cause: format!("{because}{}. {}", why.unwrap_or_default(), history(facts, source)),
        remedy: remedy(facts, source),
        confidence: if source == TSC { Confidence::Likely } else { Confidence::Inferred },
    }
}

/// What made the kernel take this one: its own line, or why that cannot be told.
fn history(facts: &CheckupFacts, source: &str) -> String {
    if let Some(word) = parameter(facts.environment()) {
        return format!("The kernel was booted with {word}.");
    }
    let Some(log) = facts.clock_health().map(|health| &health.log) else {
        return "Why the kernel took it was not looked for.".to_owned();
    };
    let switched = format!("Switched to clocksource {source}");
    let line = log.demotion().or_else(|| log.lines.iter().rev().find(|line| line.text.ends_with(&switched)));
    match (line, log.unseen.as_deref()) {
        (Some(line), _) => {
            format!("The kernel's log says, {:.1} s after it began: \"{}\".", line.at, line.text.trim())
        }
        (None, Some(unseen)) => format!("What demoted the others is not known: {unseen}."),
        (None, None) => "The kernel's log does not say that it left another one.".to_owned(),
    }
}

/// What of this kernel's command line keeps it from the time stamp counter.
fn parameter(environment: &Environment) -> Option<&str> {
    let line = environment.kernel.command_line.as_deref()?;
    let keeps = |word: &&str| {
        *word == "notsc"
            || *word == "tsc=unstable"
            || word.strip_prefix("clocksource=").is_some_and(|source| source != TSC)
    };
    line.split_whitespace().rev().find(keeps)
}

fn remedy(facts: &CheckupFacts, source: &str) -> String {
    let environment = facts.environment();
    let available = environment.clock.available_clocksources.as_deref().unwrap_or_default();
    if source != TSC && available.iter().any(|name| name == TSC) {
        let lasting = match parameter(environment) {
            Some(word) => format!("; for good, boot without {word}"),
            None => "; for good, boot with clocksource=tsc".to_owned(),
        };
        return format!("As root: echo tsc > {SWITCH}{lasting}.");
    }
    if let Some(word) = parameter(environment) {
        return format!("Boot without {word}.");
    }
    if source == TSC {
        return "Compare with a program outside of this container or sandbox.".to_owned();
    }
    let guest = environment.hypervisor.present;
    let offer = if guest {
        "The kernel offers no tsc: have the host give this guest an invariant time stamp counter (QEMU: -cpu host,+invtsc; libvirt: \
         feature invtsc, policy require)"
    } else {
        "The kernel offers no tsc"
    };
    match agreement(facts) {
        Some(words) => format!("{offer}. {words}"),
        None => format!("{offer}."),
    }
}

/// Whether the counters agree, which is what the kernel doubted.
fn agreement(facts: &CheckupFacts) -> Option<String> {
    let apart = &facts.clock_health()?.apart;
    let of_tsc: Vec<_> = apart.iter().filter(|apart| apart.counter == TSC).collect();
    let least = of_tsc.iter().map(|apart| apart.uncertainty_ns).reduce(f64::max)?;
    if of_tsc.iter().any(|apart| apart.warp_ns > 0.0) {
        return Some(
            "The counters of its CPUs do not agree (`clock-apart`): tsc=reliable would be wrong here."
                .to_owned(),
        );
    }
    Some(format!(
        "The counters of all CPUs that were looked at agree to {least:.0} ns now: if the kernel took them for unstable by mistake, boot with \
         tsc=reliable."
    ))
}

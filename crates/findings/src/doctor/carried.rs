//! What a process carries into its calls, each thing apart.

use crate::doctor::CheckupFacts;
use crate::facts::{cost, count, list};
use crate::id::Id;
use document::{Confidence, Figure, Finding, Level, Unit};
use examine::{Carried, SeccompMode, StoreBypass};
use std::collections::BTreeMap;
use table::special::{BARE_SYSCALL, GETPPID, RowName};

/// The findings that are made here.
#[cfg(test)]
pub(crate) const IDS: [Id; 9] = [
    Id::Carried,
    Id::Filters,
    Id::StoreBypass,
    Id::IndirectBranches,
    Id::Tracer,
    Id::UserDispatch,
    Id::Audit,
    Id::CallPrograms,
    Id::Landlock,
];

/// Whether a process carries something; how it is called stands beside it.
type Thing = fn(&CheckupFacts, &Carried, &str) -> Option<Finding>;

/// The rows that tell what a filter costs at least.
pub(super) const ROWS: [RowName; 2] = [BARE_SYSCALL, GETPPID];

/// The most that is told of a filter, in core cycles: what takes longer cannot be told from a stop for a tracer, or a signal.
const FILTER_AT_MOST: f64 = 5000.0;

/// The command that measures filters.
const MEASURES_FILTERS: &str = "kentry tax --layer seccomp-1 --layer seccomp-1-arguments";

pub(crate) fn findings(facts: &CheckupFacts) -> Vec<Finding> {
    let Some(carried) = facts.carried() else { return Vec::new() };
    let who = who(carried);
    let things: &[Thing] =
        &[tracer, store_bypass, call_programs, audit, user_dispatch, filters, indirect_branches, landlock];
    let found: Vec<Finding> = things.iter().filter_map(|thing| thing(facts, carried, &who)).collect();
    if found.is_empty() { nothing(carried, &who).into_iter().collect() } else { found }
}

/// `This process`, `Process 7 (redis)`.
fn who(carried: &Carried) -> String {
    let process = &carried.process;
    match process.is_own {
        true => "This process".to_owned(),
        false => format!("Process {} ({})", process.pid, process.name),
    }
}

/// Nothing that can be seen. Nothing is said of a process of which nothing is known.
fn nothing(carried: &Carried, who: &str) -> Option<Finding> {
    carried.seccomp.mode?;
    let seen = [
        Some("filter"),
        Some("tracer"),
        carried.store_bypass.map(|_| "SSBD"),
        carried.programs.as_ref().map(|_| "program on system calls"),
        carried.audit.enabled.map(|_| "audit"),
        carried.user_dispatch.map(|_| "user dispatch"),
        carried.landlock.map(|_| "Landlock"),
    ];
    let seen: Vec<&str> = seen.into_iter().flatten().collect();
    let unseen: Vec<String> =
        carried.unseen.iter().map(|unseen| format!("{}: {}", unseen.what, unseen.why)).collect();
    let verdict = format!("{who} carries nothing into its system calls: no {}.", seen.join(", no "));
    let evidence = (!unseen.is_empty()).then(|| format!("Not known: {}", unseen.join("; ")));
    Some(Finding { evidence, ..Id::Carried.finding(Level::Ok, verdict) })
}

fn tracer(_: &CheckupFacts, carried: &Carried, who: &str) -> Option<Finding> {
    let tracer = carried.tracer.as_ref()?;
    let name = tracer.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let verdict = format!(
        "{who} is traced by process {}{name}: each of its calls and signals may stop for that.",
        tracer.pid
    );
    Some(Finding {
        cause: Some("strace, a debugger, or a sandbox that uses ptrace.".into()),
        remedy: Some(format!(
            "End process {}, or have it follow fewer calls (strace --seccomp-bpf -e trace=…).",
            tracer.pid
        )),
        next: Some("kentry tax --layer ptrace".into()),
        ..Id::Tracer.finding(Level::Warning, verdict)
    })
}

/// SSBD has nothing to do with the cost of a call, and everything with the code between calls.
fn store_bypass(_: &CheckupFacts, carried: &Carried, who: &str) -> Option<Finding> {
    let state = carried.store_bypass.filter(|state| state.is_off_for_thread())?;
    let (how, undo) = match state {
        StoreBypass::ThreadForcedOff => {
            let how = "It was forced on (PR_SPEC_FORCE_DISABLE, or a seccomp filter before Linux 5.16), which neither this process nor \
                       those that it starts can undo.";
            (
                how,
                "Start it without: a filter with SECCOMP_FILTER_FLAG_SPEC_ALLOW, a container runtime that sets that flag, or Linux \
                   5.16 or newer, where filters leave it off.",
            )
        }
        StoreBypass::OffUntilExec => (
            "It was switched on until a program is executed (PR_SPEC_DISABLE_NOEXEC).",
            "Execute the program anew.",
        ),
        _ => (
            "It was switched on by prctl (PR_SET_SPECULATION_CTRL).",
            "The process can switch it off: prctl with PR_SPEC_ENABLE.",
        ),
    };
    let verdict = format!(
        "{who} runs with SSBD: each load waits until the addresses of all earlier stores are known, so that a program can be slow with \
         hardly a system call."
    );
    Some(Finding {
        cause: Some(how.into()),
        remedy: Some(format!(
            "{undo} That gives up the protection against Spectre v4 (CVE-2018-3639), which programs need that run foreign code beside \
             secrets."
        )),
        next: Some("kentry tax --layer ssbd".into()),
        ..Id::StoreBypass.finding(Level::Warning, verdict)
    })
}

fn indirect_branches(_: &CheckupFacts, carried: &Carried, who: &str) -> Option<Finding> {
    carried.indirect_branch.filter(|state| state.is_off_for_thread())?;
    let verdict = format!(
        "{who} runs with indirect branch speculation off: the predictor is flushed at switches to it (IBPB), and not shared with the \
         other thread of the core (STIBP)."
    );
    Some(Finding {
        cause: Some("prctl (PR_SPEC_INDIRECT_BRANCH), or a seccomp filter before Linux 5.16.".into()),
        next: Some("kentry explain ibpb".into()),
        ..Id::IndirectBranches.finding(Level::Note, verdict)
    })
}

fn filters(facts: &CheckupFacts, carried: &Carried, who: &str) -> Option<Finding> {
    let mode =
        carried.seccomp.mode.filter(|mode| matches!(mode, SeccompMode::Filter | SeccompMode::Strict))?;
    let what = match (mode, carried.seccomp.filters) {
        (SeccompMode::Strict, _) => "the strict mode of seccomp".to_owned(),
        (_, Some(filters)) if filters > 0 => count(filters as usize, "seccomp filter", "seccomp filters"),
        _ => "seccomp filters".to_owned(),
    };
    let verdict = format!("{who} carries {what} into each of its system calls.");
    let own = carried.process.is_own && mode == SeccompMode::Filter;
    let least = own.then(|| at_least(facts, carried)).flatten();
    let costs = match least {
        Some(cycles) => format!(
            "A call that the kernel asks the filter for (one of a number that no call has) costs at least {cycles:.0} cycles more than \
             getppid, which its bitmap of allowed calls answers."
        ),
        None => format!("- ({MEASURES_FILTERS} tells what a filter adds here)."),
    };
    let figure =
        |value| Figure { name: "filter_at_least".into(), labels: BTreeMap::new(), unit: Unit::Cycles, value };
    Some(Finding {
        costs: Some(costs),
        cause: Some(
            "A container runtime, a service manager (SystemCallFilter=), or the program itself.".into(),
        ),
        remedy: Some(format!(
            "{MEASURES_FILTERS} tells what a filter adds here; let hot calls be decided by number alone."
        )),
        next: Some(MEASURES_FILTERS.into()),
        figures: least.map(figure).into_iter().collect(),
        ..Id::Filters.finding(Level::Note, verdict)
    })
}

/// What a filter takes at least, in core cycles, by one run: a call that no kernel has goes through the filter and has no service behind
/// it; getppid has a service, and the bitmap. So the filter takes at least the difference. None where the intervals do not tell, where a
/// tracer may stop at either call (the filter may be its own), and above [`FILTER_AT_MOST`].
fn at_least(facts: &CheckupFacts, carried: &Carried) -> Option<f64> {
    let of = |name: RowName| {
        let row = facts.run.timed(name.entry, name.operation)?;
        cost(row).filter(|(_, unit)| *unit == "cycles").map(|(cost, _)| cost)
    };
    let (none, getppid) = (of(BARE_SYSCALL)?, of(GETPPID)?);
    let is_traced =
        carried.tracer.is_some() || facts.environment().limits.tracer_pid.is_some_and(|pid| pid > 0);
    let least = Some(none.ci_low? - getppid.ci_high?).filter(|_| !is_traced);
    least.filter(|least| (1.0..=FILTER_AT_MOST).contains(least))
}

fn user_dispatch(_: &CheckupFacts, carried: &Carried, who: &str) -> Option<Finding> {
    carried.user_dispatch.filter(|on| *on)?;
    let verdict = format!(
        "{who} has syscall user dispatch: the kernel looks at a byte of the program at each call, and may send a signal instead."
    );
    Some(Finding {
        cause: Some("prctl (PR_SET_SYSCALL_USER_DISPATCH), as Wine does for programs of Windows.".into()),
        next: Some("kentry tax --layer user-dispatch".into()),
        ..Id::UserDispatch.finding(Level::Note, verdict)
    })
}

fn audit(_: &CheckupFacts, carried: &Carried, _: &str) -> Option<Finding> {
    carried.audit.enabled.filter(|on| *on)?;
    let verdict = "The kernel audits system calls: each call takes the slow way in and out, unless a rule exempts its process.";
    Some(Finding {
        cause: Some("auditd, or audit=1 on the kernel's command line.".into()),
        remedy: Some(
            "Where nobody reads the log: auditctl -a task,never exempts processes that are started then; audit=0 at boot ends it. The log is \
             given up."
                .into(),
        ),
        next: Some("kentry explain audit".into()),
        ..Id::Audit.finding(Level::Note, verdict)
    })
}

fn call_programs(_: &CheckupFacts, carried: &Carried, _: &str) -> Option<Finding> {
    let programs = carried.programs.as_deref().filter(|programs| !programs.is_empty())?;
    let name = |program: &examine::KernelProgram| {
        let id = program.id.map(|id| format!(" (program {id})")).unwrap_or_default();
        format!(
            "{}{id} on {}",
            program.name.as_deref().unwrap_or("a program without a name"),
            program.tracepoint
        )
    };
    let names: Vec<String> = programs.iter().map(name).collect();
    let is_for_all = programs.iter().any(examine::KernelProgram::is_for_every_call);
    let level = if is_for_all { Level::Warning } else { Level::Note };
    let verdict = match is_for_all {
        true => format!("Each system call of each process runs {}.", list(&names)),
        false => format!("Some system calls run {}; all calls take the slow way in and out.", list(&names)),
    };
    Some(Finding {
        cause: Some("Somebody watches system calls: bpftrace, perf trace, a security agent.".into()),
        remedy: Some("End the program that has it open: bpftool link names it.".into()),
        next: Some("kentry tax --layer bpf".into()),
        figures: vec![Figure {
            name: "call_programs".into(),
            labels: BTreeMap::new(),
            unit: Unit::Count,
            value: programs.len() as f64,
        }],
        ..Id::CallPrograms.finding(level, verdict)
    })
}

fn landlock(_: &CheckupFacts, carried: &Carried, who: &str) -> Option<Finding> {
    let layers = carried.landlock.filter(|layers| *layers > 0)?;
    let layers = count(layers as usize, "rule set", "rule sets");
    let verdict = format!(
        "{who} is under {layers} of Landlock: calls that open files or connect are checked, others cost the same."
    );
    Some(Finding {
        next: Some("kentry tax --layer landlock".into()),
        confidence: Confidence::Inferred,
        evidence: Some("The kernel takes 16 in all; a child was refused that many earlier.".into()),
        ..Id::Landlock.finding(Level::Note, verdict)
    })
}

#[cfg(test)]
pub(super) mod tests;

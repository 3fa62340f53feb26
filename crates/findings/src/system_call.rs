//! What a bare system call costs, and what makes it dearer than it need be.

use crate::doctor::{InForce, PROTECTED_FAULTS};
use crate::facts::{Facts, cost, list, price};
use crate::id::Id;
use document::{Confidence, Document, Finding, Level};
use environment::Environment;
use table::special::{BARE_SYSCALL, GETPPID, RowName, SYSCALL};

/// The rows that tell what a system call costs by itself.
const ROWS: [RowName; 2] = [BARE_SYSCALL, GETPPID];

/// More than any crossing into a native kernel takes, in core cycles: the slowest, with page-table isolation and every
/// mitigation, stay below 2000.
const IMPLAUSIBLE: f64 = 5000.0;

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    if !facts.are_of_one_linux() {
        return Vec::new();
    }
    let finding = traced(facts.document).or_else(|| implausible(facts)).or_else(|| bare(facts));
    let next = Some(format!("kentry explain {SYSCALL}"));
    finding.map(|finding| Finding { evidence: evidence(facts), next, ..finding }).into_iter().collect()
}

/// A tracer stops this process at every call.
fn traced(document: &Document) -> Option<Finding> {
    let tracer = document.environment.limits.tracer()?;
    let verdict =
        format!("Process {tracer} traces this one: every system call and every signal may stop for it.");
    Some(Finding {
        cause: Some("strace, a debugger, or a sandbox that uses ptrace.".to_owned()),
        remedy: Some("Measure without it.".to_owned()),
        ..Id::SystemCall.finding(Level::Warning, verdict)
    })
}

fn implausible(facts: &Facts) -> Option<Finding> {
    let row = ROWS.iter().find_map(|name| {
        let row = facts.timed(name.entry, name.operation)?;
        cost(row).filter(|(cost, unit)| *unit == "cycles" && cost.estimate > IMPLAUSIBLE).map(|_| row)
    })?;
    let verdict =
        format!("A system call takes {}, more than any crossing into a native kernel.", price(row)?);
    Some(Finding {
        cause: Some(
            "Something takes part in every system call: tracing (perf, tracefs), a syscall filter, or an emulated ring 0."
                .to_owned(),
        ),
        remedy: Some(
            "Look for a tracer (cat /sys/kernel/tracing/events/raw_syscalls/enable, running perf or bpftrace), and \
             measure again without it."
                .to_owned(),
        ),
        confidence: Confidence::Likely,
        ..Id::SystemCall.finding(Level::Warning, verdict)
    })
}

fn bare(facts: &Facts) -> Option<Finding> {
    let [nothing, getppid] = ROWS.map(|name| facts.timed(name.entry, name.operation).and_then(price));
    let costs = match (nothing, getppid) {
        (Some(nothing), Some(getppid)) => {
            format!("A bare system call takes {nothing}, getppid {getppid}")
        }
        (Some(nothing), None) => format!("A bare system call takes {nothing}"),
        (None, Some(getppid)) => format!("A system call (getppid) takes {getppid}"),
        (None, None) => return None,
    };
    let environment = &facts.document.environment;
    let own = own_taxes(environment);
    let taxes = [own.clone(), kernel_taxes(environment)].concat();
    let verdict = match taxes.is_empty() {
        true => format!("{costs}."),
        false => format!("{costs}; this includes {}.", list(&taxes)),
    };
    let level = if own.is_empty() { Level::Ok } else { Level::Note };
    let cause = (!own.is_empty()).then(|| format!("Only processes like this one pay for {}.", list(&own)));
    let remedy = (!own.is_empty()).then(|| {
        "Measure outside of the container or service for the bare kernel. The kernel remembers a filter's answer for most \
         calls, but not for invalid ones."
            .to_owned()
    });
    Some(Finding { cause, remedy, ..Id::SystemCall.finding(level, verdict) })
}

/// What only processes like this one pay.
fn own_taxes(environment: &Environment) -> Vec<String> {
    let limits = &environment.limits;
    let filters = limits.is_filtered().then(|| match limits.seccomp_filters {
        Some(1) => "a seccomp filter".to_owned(),
        Some(filters) => format!("{filters} seccomp filters"),
        None => "seccomp filters".to_owned(),
    });
    let ssbd = limits.has_ssbd().then(|| "loads that wait for earlier stores (SSBD)".to_owned());
    filters.into_iter().chain(ssbd).collect()
}

/// What every process pays at each call, in words: protections on the path, a random stack offset, audit.
pub fn kernel_taxes(environment: &Environment) -> Vec<String> {
    let kernel = &environment.kernel;
    let mut taxes = Vec::new();
    let mut add = |tax: &str| {
        if !taxes.iter().any(|known| known == tax) {
            taxes.push(tax.to_owned());
        }
    };
    if kernel.pti == Some(true) {
        add("page-table isolation (PTI)");
    }
    let force = InForce::of(environment);
    let doings = PROTECTED_FAULTS.iter().flat_map(|fault| force.doings(fault));
    doings.filter(|doing| doing.is_in_a_call()).for_each(|doing| add(doing.named));
    if kernel.randomize_kstack_offset == Some(true) {
        add("a random stack offset");
    }
    let line = kernel.command_line.as_deref().unwrap_or_default();
    if line.split_whitespace().any(|word| word == "audit=1") {
        add("audit (audit=1)");
    }
    taxes
}

/// Both figures with their intervals.
fn evidence(facts: &Facts) -> Option<String> {
    let each = ROWS.iter().filter_map(|name| {
        let (cost, unit) = cost(facts.timed(name.entry, name.operation)?)?;
        let interval = cost.ci_low.zip(cost.ci_high).map(|(low, high)| format!(", {low:.1} to {high:.1}"));
        Some(format!("{name}: {:.1} {unit}{}", cost.estimate, interval.unwrap_or_default()))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join("; "))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::testing::{Maker, found};
    use document::{Confidence, Level};

    fn calls(nothing: f64) -> Maker {
        Maker::host().cost("syscall-x86_64", "none", nothing).cost(
            "syscall-x86_64",
            "getppid",
            nothing + 23.0,
        )
    }

    #[test]
    fn an_untaxed_call_is_as_it_should_be() {
        let finding = found(&calls(288.0), "system-call").unwrap();
        assert_eq!(
            (finding.level, finding.verdict.as_str()),
            (Level::Ok, "A bare system call takes 288 cycles (74.9 ns), getppid 311 cycles (80.9 ns).")
        );
        assert_eq!(finding.cause, None);
    }

    #[test]
    fn taxes_are_named() {
        let mut maker = calls(900.0);
        let environment = &mut maker.document.environment;
        environment.limits.seccomp = Some("filter".into());
        environment.limits.seccomp_filters = Some(2);
        environment.limits.speculation_store_bypass = Some("thread force mitigated".into());
        environment.kernel.pti = Some(true);
        environment.mitigations = [
            ("mds", "Mitigation: Clear CPU buffers; SMT vulnerable"),
            ("spectre_v2", "Mitigation: IBRS; IBPB: always-on"),
        ]
        .map(|(name, state)| (name.to_owned(), state.to_owned()))
        .into();
        let finding = found(&maker, "system-call").unwrap();
        assert_eq!(finding.level, Level::Note);
        assert_eq!(
            finding.verdict,
            "A bare system call takes 900 cycles (234.0 ns), getppid 923 cycles (240.0 ns); this includes 2 seccomp \
             filters, loads that wait for earlier stores (SSBD), page-table isolation (PTI), IBRS on every entry and exit \
             and cleared buffers (VERW)."
        );
        let cause = finding.cause.unwrap();
        assert!(cause.contains("seccomp") && !cause.contains("PTI"), "{cause}");
    }

    #[test]
    fn what_lies_on_guests_alone_is_no_tax_and_half_a_remedy_is_one() {
        let taxes = |fault: &str, state: &str| {
            let mut maker = calls(288.0);
            maker.document.environment.mitigations = [(fault.to_owned(), state.to_owned())].into();
            super::kernel_taxes(&maker.document.environment)
        };
        assert_eq!(taxes("spec_rstack_overflow", "Vulnerable: Safe RET, no microcode"), ["safe returns"]);
        assert_eq!(taxes("spec_rstack_overflow", "Mitigation: IBPB"), ["a barrier on every entry (IBPB)"]);
        for (fault, state) in [
            ("tsa", "Mitigation: Clear CPU buffers: VM"),
            ("mmio_stale_data", "Mitigation: Clear CPU buffers; SMT vulnerable"),
            ("spec_rstack_overflow", "Mitigation: IBPB on VMEXIT only"),
            ("spec_rstack_overflow", "Mitigation: Reduced Speculation"),
        ] {
            assert!(taxes(fault, state).is_empty(), "{state}");
        }
    }

    #[test]
    fn enhanced_ibrs_is_no_tax() {
        let mut maker = calls(288.0);
        let state = "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; BHI: BHI_DIS_S".to_owned();
        maker.document.environment.mitigations = [("spectre_v2".to_owned(), state)].into();
        assert!(!found(&maker, "system-call").unwrap().verdict.contains("IBRS"));
    }

    #[test]
    fn what_every_process_pays_is_as_it_should_be() {
        let mut maker = calls(600.0);
        maker.document.environment.kernel.pti = Some(true);
        maker.document.environment.kernel.randomize_kstack_offset = Some(true);
        maker.document.environment.kernel.command_line = Some("quiet audit=1".into());
        let finding = found(&maker, "system-call").unwrap();
        assert_eq!(finding.level, Level::Ok);
        let taxes = "this includes page-table isolation (PTI), a random stack offset and audit (audit=1).";
        assert!(finding.verdict.ends_with(taxes), "{}", finding.verdict);
    }

    #[test]
    fn an_implausible_cost_is_a_warning() {
        let finding = found(&calls(9417.0), "system-call").unwrap();
        assert_eq!((finding.level, finding.confidence), (Level::Warning, Confidence::Likely));
        assert!(finding.cause.unwrap().contains("tracing (perf, tracefs)"));
        assert_eq!(found(&calls(4900.0), "system-call").unwrap().level, Level::Ok);
    }

    #[test]
    fn a_tracer_is_named_even_without_figures() {
        let mut maker = Maker::host();
        maker.document.environment.limits.tracer_pid = Some(77);
        let finding = found(&maker, "system-call").unwrap();
        assert_eq!(finding.level, Level::Warning);
        assert!(finding.verdict.starts_with("Process 77 traces this one"));
    }
}

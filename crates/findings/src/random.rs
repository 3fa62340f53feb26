//! Random bytes: whether the vDSO gives them, which saves a system call.

use crate::facts::{Facts, price};
use crate::id::Id;
use document::{Confidence, Finding, Level, Outcome};
use environment::version;
use table::special::{CLOCK_READS, SYSCALL, VDSO};

const GETRANDOM: &str = "getrandom";

/// The first version of Linux whose 64-bit vDSO has it.
const SINCE: (u32, u32) = (6, 11);

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    if !facts.are_of_one_linux() || !facts.are_times() {
        return Vec::new();
    }
    missing(facts).into_iter().collect()
}

/// The vDSO is there, since it has clocks, and has no such function.
fn missing(facts: &Facts) -> Option<Finding> {
    let has_clock = CLOCK_READS.iter().any(|read| facts.works(VDSO, read).is_some());
    let row = facts.row(VDSO, GETRANDOM).filter(|row| row.outcome == Outcome::Unsupported && has_clock)?;
    let call = facts.timed(SYSCALL, GETRANDOM).and_then(price);
    let each = call.map(|price| format!(", {price} each time")).unwrap_or_default();
    let verdict =
        format!("Drawing random bytes enters the kernel{each}: the vDSO has clocks, but no {GETRANDOM}.");
    let release = facts.document.environment.kernel.release.as_deref().unwrap_or_default();
    let since = format!("{}.{}", SINCE.0, SINCE.1);
    let (cause, remedy, confidence) = match version(release) {
        Some(known) if known < SINCE => (
            format!("The kernel is Linux {release}; the vDSO has it since Linux {since}."),
            format!(
                "Boot Linux {since} or newer. Programs that call the C library also need glibc 2.41 or newer."
            ),
            Confidence::Seen,
        ),
        _ => (
            format!(
                "Linux has it in the vDSO since {since}, so something may have replaced the vDSO, as record-and-replay \
                 debuggers and sandboxes do."
            ),
            "Measure outside of the debugger or sandbox.".to_owned(),
            Confidence::Likely,
        ),
    };
    Some(Finding {
        evidence: row.reason.clone(),
        cause: Some(cause),
        remedy: Some(remedy),
        next: Some(format!("kentry explain {VDSO}")),
        confidence,
        ..Id::RandomPath.finding(Level::Note, verdict)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::testing::{Maker, found};
    use document::{Confidence, Level, Outcome, Path};

    const REASON: &str = "this kernel's 64-bit vDSO does not export it";

    fn machine(release: &str) -> Maker {
        let mut maker = Maker::host().served("vdso-x86_64", "gettimeofday", 87.0, Path::User);
        maker.document.environment.kernel.release = Some(release.into());
        maker.cost("syscall-x86_64", "getrandom", 1270.0)
    }

    fn without(release: &str) -> Maker {
        machine(release).closed("vdso-x86_64", "getrandom", Outcome::Unsupported, REASON)
    }

    #[test]
    fn a_vdso_without_the_function_is_noted_with_the_version_that_has_it() {
        let finding = found(&without("6.1.0-56-cloud-amd64"), "random-path").unwrap();
        assert_eq!((finding.level, finding.confidence), (Level::Note, Confidence::Seen));
        assert_eq!(
            finding.verdict,
            "Drawing random bytes enters the kernel, 1270 cycles (330.2 ns) each time: the vDSO has clocks, but no getrandom."
        );
        assert_eq!(finding.evidence.as_deref(), Some(REASON));
        let cause = "The kernel is Linux 6.1.0-56-cloud-amd64; the vDSO has it since Linux 6.11.";
        assert_eq!(finding.cause.as_deref(), Some(cause));
        assert!(finding.remedy.unwrap().contains("glibc 2.41"));
    }

    #[test]
    fn a_kernel_that_should_have_it_is_not_blamed() {
        for release in ["6.11.2", "6.18-rc1", "unknown"] {
            let finding = found(&without(release), "random-path").unwrap();
            assert_eq!(finding.confidence, Confidence::Likely, "{release}");
            assert!(finding.cause.unwrap().contains("replaced"), "{release}");
        }
    }

    #[test]
    fn where_the_vdso_gives_them_or_is_missing_or_was_not_asked_there_is_nothing_to_say() {
        let served = machine("6.12.1").served("vdso-x86_64", "getrandom", 182.0, Path::User);
        let no_vdso = Maker::host()
            .closed("vdso-x86_64", "gettimeofday", Outcome::Unsupported, "booted with vdso=0")
            .closed("vdso-x86_64", "getrandom", Outcome::Unsupported, "booted with vdso=0")
            .cost("syscall-x86_64", "getrandom", 1270.0);
        for maker in [served, no_vdso, machine("6.1.0")] {
            assert_eq!(found(&maker, "random-path"), None);
        }
    }

    #[test]
    fn an_emulator_pays_nothing() {
        let mut maker = without("6.1.0");
        maker.document.results.iter_mut().for_each(|row| row.timing = document::Timing::Emulated);
        assert_eq!(found(&maker, "random-path"), None);
    }
}

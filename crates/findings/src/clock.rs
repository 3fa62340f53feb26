//! The clock: whether programs read it in user space, what that costs, and how steadily the core itself ticked.

use crate::facts::{Facts, list, price};
use crate::id::Id;
use document::{Confidence, Document, Finding, Level, Outcome, Path, Row};
use table::special::{CLOCK_READS, SYSCALL, VDSO};

/// Clocksources that are devices or counters which only the kernel reads.
const KERNEL_ONLY: [&str; 6] =
    ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "hyperv_clocksource_msr"];

/// Clocksources that user space may read only where the hypervisor promises that all CPUs tell the same time.
const IF_STABLE: [&str; 2] = ["kvm-clock", "xen"];

/// Where the kernel is told its clocksource.
const SWITCH: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// A clock that wandered further than this share of itself is worth a note.
const WIDE: f64 = 0.03;

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    let document = facts.document;
    let path = facts.are_of_one_linux().then(|| clock_path(facts)).flatten();
    path.into_iter().chain(range(document)).chain(time_namespace(document)).collect()
}

fn clock_path(facts: &Facts) -> Option<Finding> {
    let rows: Vec<&Row> = CLOCK_READS.iter().filter_map(|read| facts.works(VDSO, read)).collect();
    let served = |path: Path| rows.iter().copied().filter(move |row| row.path == Some(path));
    let evidence = evidence(facts, &rows);
    let (kernel, user) = (served(Path::Kernel).next(), served(Path::User).next());
    let finding = match (kernel, user) {
        (Some(_), _) => in_kernel(facts.document, served(Path::Kernel).collect()),
        (None, Some(row)) => in_user(facts, row),
        (None, None) => without_vdso(facts)?,
    };
    Some(Finding { evidence, next: Some(format!("kentry explain {VDSO}")), ..finding })
}

fn in_user(facts: &Facts, row: &Row) -> Finding {
    let call = facts.timed(SYSCALL, &row.operation).and_then(price);
    let (level, verdict) = match (price(row), call) {
        (Some(vdso), Some(call)) => {
            (Level::Ok, format!("The clock is read in user space: {vdso}, by system call {call}."))
        }
        (Some(vdso), None) => (Level::Ok, format!("The clock is read in user space: {vdso}.")),
        (None, _) => (
            Level::Note,
            "The clock is read in user space. What that costs has no figure in this run.".to_owned(),
        ),
    };
    Id::ClockPath.finding(level, verdict)
}

fn in_kernel(document: &Document, rows: Vec<&Row>) -> Finding {
    let names: Vec<String> = rows.iter().map(|row| row.operation.clone()).collect();
    let each = rows.first().and_then(|row| price(row)).map(|price| format!(", {price} each time"));
    let verdict = format!(
        "Reading the clock enters the kernel{}, in spite of the vDSO: {}.",
        each.unwrap_or_default(),
        list(&names)
    );
    let (cause, remedy, confidence) = cause(document);
    let (cause, remedy) = (Some(cause), Some(remedy));
    Finding { cause, remedy, confidence, ..Id::ClockPath.finding(Level::Warning, verdict) }
}

/// Why a vDSO's clock makes a system call, what to do about it, and how sure that is.
fn cause(document: &Document) -> (String, String, Confidence) {
    let clock = &document.environment.clock;
    let source = clock.current_clocksource.as_deref().unwrap_or("unknown");
    let available = clock.available_clocksources.as_deref().unwrap_or_default();
    let to_tsc = if available.iter().any(|name| name == "tsc") {
        format!("Switch to the time stamp counter: echo tsc > {SWITCH}.")
    } else {
        "The kernel does not offer the time stamp counter; `dmesg | grep -i -e tsc -e clocksource` says why it gave it up."
            .to_owned()
    };
    if KERNEL_ONLY.contains(&source) {
        let cause = format!("The clocksource is {source}, which only the kernel can read.");
        return (cause, to_tsc, Confidence::Inferred);
    }
    if IF_STABLE.contains(&source) {
        let cause = format!(
            "The clocksource is {source}, and the hypervisor does not promise that it is stable across CPUs, without which \
             user space may not read it."
        );
        return (cause, to_tsc, Confidence::Inferred);
    }
    if has_time_namespace(document) {
        let cause = format!(
            "The clocksource is {source}, which user space can read; this process is in a time namespace, which changes the \
             vDSO's path."
        );
        return (cause, "Measure outside of the time namespace.".to_owned(), Confidence::Likely);
    }
    let cause = format!(
        "The clocksource is {source}. User space can read it on most machines, so something else may have replaced the \
         vDSO, as record-and-replay debuggers and sandboxes do."
    );
    (cause, "Measure outside of the debugger or sandbox.".to_owned(), Confidence::Likely)
}

/// There is a vDSO row for the clock, and it is closed.
fn without_vdso(facts: &Facts) -> Option<Finding> {
    let row = CLOCK_READS.iter().find_map(|read| facts.row(VDSO, read))?;
    let is_closed = matches!(row.outcome, Outcome::Unsupported | Outcome::Refused);
    let call = facts.timed(SYSCALL, &row.operation).and_then(price).map(|price| format!(": {price}"));
    let verdict = format!(
        "There is no vDSO clock here, so that every reading is a system call{}.",
        call.unwrap_or_default()
    );
    is_closed.then(|| Finding { cause: row.reason.clone(), ..Id::ClockPath.finding(Level::Warning, verdict) })
}

/// `gettimeofday: vDSO 87 cycles (22 ns), system call 387 cycles (100 ns)`
fn evidence(facts: &Facts, rows: &[&Row]) -> Option<String> {
    let each = rows.iter().filter_map(|row| {
        let vdso = format!("vDSO {}", price(row)?);
        let call = facts.timed(SYSCALL, &row.operation).and_then(price);
        let call = call.map(|call| format!(", system call {call}")).unwrap_or_default();
        Some(format!("{}: {vdso}{call}", row.operation))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join("; "))
}

fn range(document: &Document) -> Option<Finding> {
    let measurement = &document.measurement;
    let (middle, [low, high]) = measurement.cycles_per_tick.zip(measurement.cycles_per_tick_range)?;
    if (high - low) / middle <= WIDE {
        return None;
    }
    let verdict = match measurement.tsc_hz {
        Some(hertz) => format!(
            "The core ran at {:.2} to {:.2} GHz: nanoseconds depend on that, core cycles do not.",
            hertz * low / 1e9,
            hertz * high / 1e9
        ),
        None => "The core's clock wandered: ticks depend on that, core cycles do not.".to_owned(),
    };
    Some(Finding {
        evidence: Some(format!("{low:.4} to {high:.4} core cycles in a tick, 5th to 95th percentile of the rounds")),
        cause: Some("Frequency scaling, turbo, or the power that other cores use.".to_owned()),
        remedy: Some(
            "Quote core cycles. For steady nanoseconds, fix the frequency (cpupower frequency-set -g performance) and \
             switch turbo off."
                .to_owned(),
        ),
        ..Id::ClockRange.finding(Level::Note, verdict)
    })
}

fn has_time_namespace(document: &Document) -> bool {
    document.environment.clock.time_namespace.as_ref().is_some_and(|offsets| !offsets.is_empty())
}

fn time_namespace(document: &Document) -> Option<Finding> {
    let offsets = document.environment.clock.time_namespace.as_ref().filter(|offsets| !offsets.is_empty())?;
    let each = offsets.iter().map(|(clock, offset)| format!("{clock} by {} s", offset.seconds));
    let verdict =
        "This process is in a time namespace with offset clocks, where the vDSO does more work than outside.";
    Some(Finding {
        evidence: Some(format!("offset: {}", list(&each.collect::<Vec<_>>()))),
        remedy: Some("Measure outside of the container for the cost without the offset.".to_owned()),
        ..Id::TimeNamespace.finding(Level::Warning, verdict)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::testing::{Maker, found};
    use document::{Confidence, Level, Outcome, Path};

    fn clocks(path: Path, cycles: f64) -> Maker {
        let mut maker = Maker::host().cost("syscall-x86_64", "clock_gettime-monotonic", 387.0);
        for operation in super::CLOCK_READS {
            maker = maker.served("vdso-x86_64", operation, cycles, path);
        }
        maker
    }

    #[test]
    fn a_clock_in_user_space_is_as_it_should_be() {
        let finding = found(&clocks(Path::User, 87.0), "clock-path").unwrap();
        assert_eq!(finding.level, Level::Ok);
        assert_eq!(
            finding.verdict,
            "The clock is read in user space: 87 cycles (22.6 ns), by system call 387 cycles (100.6 ns)."
        );
        assert!(finding.evidence.unwrap().starts_with("clock_gettime-monotonic: vDSO 87 cycles"));
    }

    #[test]
    fn a_clock_that_enters_the_kernel_is_a_warning_that_names_the_clocksource() {
        let mut maker = clocks(Path::Kernel, 420.0);
        for (source, available, remedy) in [
            ("hpet", vec!["hpet", "tsc"], "echo tsc > /sys"),
            ("acpi_pm", vec!["acpi_pm"], "dmesg"),
            ("kvm-clock", vec!["kvm-clock", "tsc"], "echo tsc"),
        ] {
            let clock = &mut maker.document.environment.clock;
            clock.current_clocksource = Some(source.into());
            clock.available_clocksources = Some(available.into_iter().map(str::to_owned).collect());
            let finding = found(&maker, "clock-path").unwrap();
            assert_eq!((finding.level, finding.confidence), (Level::Warning, Confidence::Inferred));
            assert!(finding.verdict.contains("420 cycles"), "{}", finding.verdict);
            assert!(finding.cause.unwrap().contains(source));
            assert!(finding.remedy.as_ref().unwrap().contains(remedy), "{:?}", finding.remedy);
        }
    }

    #[test]
    fn a_readable_clocksource_is_not_blamed() {
        let mut maker = clocks(Path::Kernel, 420.0);
        maker.document.environment.clock.current_clocksource = Some("tsc".into());
        let finding = found(&maker, "clock-path").unwrap();
        assert_eq!((finding.level, finding.confidence), (Level::Warning, Confidence::Likely));
    }

    #[test]
    fn one_clock_in_the_kernel_is_enough_for_the_warning() {
        let mut maker = clocks(Path::User, 87.0);
        maker.row("vdso-x86_64", "gettimeofday").path = Some(Path::Kernel);
        let finding = found(&maker, "clock-path").unwrap();
        assert_eq!(finding.level, Level::Warning);
        assert!(finding.verdict.ends_with("vDSO: gettimeofday."), "{}", finding.verdict);
    }

    #[test]
    fn the_path_is_known_without_a_figure() {
        let mut maker = clocks(Path::User, 87.0);
        maker.document.results.iter_mut().for_each(crate::testing::make_noisy);
        let finding = found(&maker, "clock-path").unwrap();
        assert_eq!((finding.level, finding.evidence), (Level::Note, None), "an ok line has its number");
        assert_eq!(
            finding.verdict,
            "The clock is read in user space. What that costs has no figure in this run."
        );
    }

    #[test]
    fn a_missing_vdso_is_a_warning_with_its_reason() {
        let maker = Maker::host().closed(
            "vdso-x86_64",
            "clock_gettime-monotonic",
            Outcome::Unsupported,
            "booted with vdso=0",
        );
        let finding = found(&maker, "clock-path").unwrap();
        assert_eq!((finding.level, finding.cause.as_deref()), (Level::Warning, Some("booted with vdso=0")));
        assert_eq!(found(&Maker::host(), "clock-path"), None);
    }

    #[test]
    fn a_wide_clock_range_is_noted_and_a_narrow_one_is_not() {
        let mut maker = Maker::host();
        for (range, level) in [([1.47, 1.49], None), ([1.40, 1.49], Some(Level::Note))] {
            maker.document.measurement.cycles_per_tick = Some(1.48);
            maker.document.measurement.cycles_per_tick_range = Some(range);
            assert_eq!(found(&maker, "clock-range").map(|finding| finding.level), level);
        }
    }

    #[test]
    fn a_time_namespace_is_named() {
        let mut maker = Maker::host();
        let offset = environment::ClockOffset { seconds: 86_400, nanoseconds: 0 };
        maker.document.environment.clock.time_namespace = Some([("monotonic".to_owned(), offset)].into());
        let finding = found(&maker, "time-namespace").unwrap();
        assert_eq!(finding.evidence.as_deref(), Some("offset: monotonic by 86400 s"));
    }
}

//! Whether each clock is read in user space, and what a read costs: measured for each clock and each way, not told from the name of a
//! clocksource. That name, the kernel's log and what the process carries only explain what was measured.

use crate::doctor::CheckupFacts;
use crate::doctor::clock_causes::{Cause, cause_of};
use crate::facts::{Facts, cost, list, price};
use crate::id::Id;
use document::{Figure, Finding, Level, Outcome, Path, Row, Timing, Unit};
use table::special::{LIBC, SYSCALL, VDSO};
use table::{Entry, Kernel, Operation, Table};

/// The vDSO of 32-bit programs, and the way into the kernel that it takes itself.
const VDSO_32: &str = "vdso-i386";
const SYSCALL_32: &str = "gateway-i386";

/// Reads the counter that clocks go by: with a coarse read, all that a read in user space consists of.
const COUNTER: (&str, &str) = ("rdtsc", "none");

/// The clocks that need the clocksource. The first stands for all: programs read it most.
const PRECISE: [&str; 6] = [
    "clock_gettime-monotonic",
    "clock_gettime-realtime",
    "gettimeofday",
    "clock_gettime-monotonic-raw",
    "clock_gettime-boottime",
    "clock_gettime-tai",
];

/// Those that any vDSO of x86 has served since there were clocks in it.
const ALWAYS: usize = 3;

/// What needs no clocksource: the time of the last tick, and a constant.
const COARSE: [&str; 3] =
    ["clock_gettime-monotonic-coarse", "clock_gettime-realtime-coarse", "clock_getres-monotonic"];

/// What only the kernel knows.
const BY_NATURE: [&str; 2] = ["clock_gettime-thread-cputime", "clock_gettime-process-cputime"];

/// The ways that programs take, and those that they are set beside.
const WAYS: [&str; 3] = [VDSO, LIBC, VDSO_32];
const CALLS: [&str; 2] = [SYSCALL, SYSCALL_32];

/// The rows that this check needs, in the table's order.
pub(crate) fn rows(table: &Table) -> Vec<(&Entry, &Operation)> {
    let operations = || PRECISE.iter().chain(&COARSE).chain(&BY_NATURE);
    let is_needed = |entry: &str, operation: &str| {
        let is_way = WAYS.contains(&entry) || entry == SYSCALL;
        let is_beside = entry == SYSCALL_32 && [PRECISE[0], COARSE[0]].contains(&operation);
        (is_way && operations().any(|name| *name == operation)) || is_beside || (entry, operation) == COUNTER
    };
    let rows = table.rows(Kernel::Linux);
    rows.filter(|(entry, operation)| is_needed(&entry.name, &operation.name)).collect()
}

pub(crate) fn findings(facts: &CheckupFacts) -> Vec<Finding> {
    let run = &facts.run;
    let is_tried = WAYS.iter().any(|way| PRECISE.iter().any(|clock| run.row(way, clock).is_some()));
    if !is_tried || !run.are_of_one_linux() {
        return Vec::new();
    }
    let finding = without_vdso(run)
        .or_else(|| in_kernel(facts, VDSO))
        .or_else(|| in_kernel(facts, LIBC))
        .or_else(|| slow_counter(run))
        .unwrap_or_else(|| served(run));
    vec![Finding {
        evidence: evidence(run),
        next: Some(format!("kentry explain {VDSO}")),
        figures: figures(run),
        ..finding
    }]
}

/// By whom a clock is served, by a way that works.
fn path(run: &Facts, way: &str, clock: &str) -> Option<Path> {
    run.works(way, clock)?.path
}

fn all_by<'a>(run: &Facts, way: &str, clocks: &[&'a str], by: Path) -> Vec<&'a str> {
    clocks.iter().copied().filter(|clock| path(run, way, clock) == Some(by)).collect()
}

/// There is no vDSO for 64-bit programs at all.
fn without_vdso(run: &Facts) -> Option<Finding> {
    let row = PRECISE.iter().find_map(|clock| run.row(VDSO, clock))?;
    let is_absent = |clock: &str| {
        run.row(VDSO, clock).is_none_or(|row| row.outcome == Outcome::Unsupported && row.path.is_none())
    };
    if !PRECISE.iter().all(|clock| is_absent(clock)) {
        return None;
    }
    // Where nothing works, as in a guest that could not be booted so, nobody knows.
    run.works(SYSCALL, &row.operation)?;
    let call = run.timed(SYSCALL, &row.operation).and_then(price);
    let verdict = "There is no vDSO here, so that every reading of a clock is a system call.";
    Some(Finding {
        cause: Some(sentence(row.reason.as_deref().unwrap_or("the kernel gives programs none"))),
        costs: call.map(|call| format!("Each read costs {call}.")),
        remedy: Some(
            "Boot without vdso=0. In a sandbox with a kernel of its own, ask its makers for a vDSO."
                .to_owned(),
        ),
        ..Id::ClockServed.finding(Level::Warning, verdict)
    })
}

/// Clocks that should be served by this way, and enter the kernel: those that every vDSO serves by the vDSO, those that the vDSO serves
/// by the C library.
fn in_kernel(facts: &CheckupFacts, way: &str) -> Option<Finding> {
    let run = &facts.run;
    let should = |clock: &&str| way == VDSO || path(run, VDSO, clock) == Some(Path::User);
    let lost: Vec<&str> = PRECISE
        .iter()
        .take(ALWAYS)
        .copied()
        .filter(should)
        .filter(|clock| path(run, way, clock) == Some(Path::Kernel))
        .collect();
    let first = lost.first()?;
    let row = run.works(way, first)?;
    let each = price(row).map(|price| format!(", {price} each time")).unwrap_or_default();
    let through = if way == VDSO { "in spite of the vDSO" } else { "through the C library" };
    let verdict = format!("Reading the clock enters the kernel{each}, {through}: {}.", names(&lost));
    let Cause { cause, remedy, confidence } = cause_of(facts, way);
    Some(Finding {
        cause: Some(cause),
        remedy: Some(remedy),
        confidence,
        costs: costs(run, way, row),
        ..Id::ClockServed.finding(Level::Warning, verdict)
    })
}

/// What a read costs, and what it would: by the vDSO, where that serves the clock; otherwise what a read in user space consists of.
fn costs(run: &Facts, way: &str, row: &Row) -> Option<String> {
    let now = nanos(row)?;
    if way == LIBC {
        let vdso = nanos(run.timed(VDSO, &row.operation)?)?;
        return (vdso < now).then(|| format!("Each read costs {now:.0} ns instead of the vDSO's {vdso:.0}."));
    }
    let coarse = run.timed(VDSO, COARSE[0]).filter(|row| row.path == Some(Path::User)).and_then(nanos);
    let counter = run.timed(COUNTER.0, COUNTER.1).and_then(nanos);
    match coarse.zip(counter).map(|(coarse, counter)| coarse + counter).filter(|parts| *parts < now) {
        Some(parts) => Some(format!(
            "Each read costs {now:.0} ns; what a read in user space consists of, the vDSO's coarse read and a reading of the time stamp \
             counter, costs {parts:.0} ns here together."
        )),
        None => Some(format!("Each read costs {now:.0} ns.")),
    }
}

/// The vDSO serves the clock, and that costs more than a system call that reads no counter.
fn slow_counter(run: &Facts) -> Option<Finding> {
    let clock = PRECISE.first()?;
    let row = run.timed(VDSO, clock).filter(|row| row.path == Some(Path::User))?;
    let call = run.timed(SYSCALL, COARSE.first()?)?;
    let ((read, unit), (entered, other)) = (cost(row)?, cost(call)?);
    let is_dear = unit == other && read.ci_low? > entered.ci_high? && read.estimate > entered.estimate;
    let verdict = format!(
        "Reading the clock costs {}, although it is read in user space: more than a system call that reads no counter ({}).",
        price(row)?,
        price(call)?
    );
    let hypervisor = run.document.environment.hypervisor.present;
    let cause = if hypervisor {
        "The time stamp counter itself is slow: the hypervisor intercepts rdtsc."
    } else {
        "The time stamp counter itself is slow."
    };
    let remedy = if hypervisor {
        "Have the hypervisor give its guests the counter without intercepting it: with TSC scaling or offsetting, and without nested \
         emulation."
    } else {
        "Compare with `kentry measure --entry rdtsc`."
    };
    let costs = nanos(row)
        .zip(nanos(call))
        .map(|(read, call)| format!("Each read costs {read:.0} ns; that call costs {call:.0}."));
    is_dear.then(|| Finding {
        costs,
        cause: Some(cause.to_owned()),
        remedy: Some(remedy.to_owned()),
        confidence: document::Confidence::Likely,
        ..Id::ClockServed.finding(Level::Warning, verdict)
    })
}

/// Nothing is lost: what is served how, and what this kernel or this C library was not made to serve.
fn served(run: &Facts) -> Finding {
    let by_user = all_by(run, VDSO, &PRECISE, Path::User);
    let Some(row) = by_user.first().and_then(|clock| run.works(VDSO, clock)) else { return untold(run) };
    let call = run.timed(SYSCALL, &row.operation).and_then(price);
    let prices = match (price(row), call) {
        (Some(read), Some(call)) => format!(": {read}, by system call {call}"),
        (Some(read), None) => format!(": {read}"),
        _ => String::new(),
    };
    let all: Vec<&str> = PRECISE.iter().chain(&COARSE).copied().collect();
    let others = WAYS.map(|way| (way, all_by(run, way, &all, Path::Kernel)));
    let lacking = others.iter().filter(|(_, clocks)| !clocks.is_empty());
    let lacking: Vec<String> =
        lacking.map(|(way, clocks)| format!("{} by {}", names(clocks), in_words(way))).collect();
    if lacking.is_empty() {
        let verdict = format!("The clock is read in user space{prices}.");
        return Id::ClockServed.finding(Level::Ok, verdict);
    }
    let verdict =
        format!("The clock is read in user space{prices}; what enters the kernel: {}.", list(&lacking));
    let cause =
        "This kernel's vDSO, or this C library, was made before it served them; the others are served.";
    Finding { cause: Some(cause.to_owned()), ..Id::ClockServed.finding(Level::Note, verdict) }
}

/// No row of the vDSO says by whom it is served.
fn untold(run: &Facts) -> Finding {
    let row = PRECISE.iter().find_map(|clock| run.row(VDSO, clock));
    let failed = row.filter(|row| row.outcome != Outcome::Ok).and_then(|row| row.reason.as_deref());
    let is_filtered = run.document.environment.limits.seccomp.as_deref() == Some("filter");
    let cause = match failed {
        Some(why) if is_filtered => {
            format!(
                "A seccomp filter lies on this process, by whose clock_gettime answers are checked; the probe's end: {why}"
            )
        }
        Some(why) => why.to_owned(),
        None => "No child could be made that seccomp keeps from system calls".to_owned(),
    };
    Finding {
        cause: Some(sentence(&cause)),
        remedy: is_filtered.then(|| {
            "Look without that filter; the vDSO, which no filter sees, is the same there.".to_owned()
        }),
        ..Id::ClockServed.finding(Level::Note, "Whether clocks are read in user space could not be told.")
    }
}

fn in_words(way: &str) -> &'static str {
    match way {
        VDSO => "the vDSO",
        VDSO_32 => "the 32-bit vDSO",
        _ => "the C library",
    }
}

/// `monotonic`, of the operation `clock_gettime-monotonic`.
fn short(clock: &str) -> String {
    match clock.strip_prefix("clock_gettime-") {
        Some(name) => name.to_owned(),
        None => clock.to_owned(),
    }
}

fn names(clocks: &[&str]) -> String {
    list(&clocks.iter().map(|clock| short(clock)).collect::<Vec<_>>())
}

/// What is a time on a processor.
fn nanos(row: &Row) -> Option<f64> {
    let nanos = row.ns.filter(|_| row.timing == Timing::Hardware)?.estimate.0;
    (nanos.is_finite() && nanos >= 0.0).then_some(nanos)
}

/// `monotonic: vDSO 20.4 ns, C library 21.0 ns, 32-bit vDSO 23.3 ns, system call 138.1 ns`
fn evidence(run: &Facts) -> Option<String> {
    let by = |clock: &str, way: &str, called: &str| {
        let row = run.works(way, clock)?;
        let kernel = if row.path == Some(Path::Kernel) { " (enters the kernel)" } else { "" };
        let nanos = nanos(row).map(|nanos| format!("{nanos:.1} ns"));
        match (nanos, row.path) {
            (Some(nanos), _) => Some(format!("{called} {nanos}{kernel}")),
            (None, Some(path)) => {
                Some(format!("{called} in {}", if path == Path::User { "user space" } else { "the kernel" }))
            }
            (None, None) => None,
        }
    };
    let of = |clock: &&str| {
        let ways = [(VDSO, "vDSO"), (LIBC, "C library"), (VDSO_32, "32-bit vDSO"), (SYSCALL, "system call")];
        let each: Vec<String> = ways.iter().filter_map(|(way, called)| by(clock, way, called)).collect();
        (!each.is_empty()).then(|| format!("{}: {}", short(clock), each.join(", ")))
    };
    let clocks = PRECISE.iter().chain(&COARSE).chain(&BY_NATURE);
    let each: Vec<String> = clocks.filter_map(of).collect();
    (!each.is_empty()).then(|| each.join("; "))
}

fn figures(run: &Facts) -> Vec<Figure> {
    let ways = WAYS.iter().chain(&CALLS);
    let of = |way: &str, clock: &str| {
        let row = run.timed(way, clock)?;
        let labels = [("clock", short(clock)), ("way", way.to_owned())];
        let labels = labels.map(|(name, value)| (name.to_owned(), value)).into();
        Some(Figure { name: "clock_read".to_owned(), labels, unit: Unit::Seconds, value: nanos(row)? / 1e9 })
    };
    ways.flat_map(|way| {
        PRECISE.iter().chain(&COARSE).chain(&BY_NATURE).filter_map(move |clock| of(way, clock))
    })
    .collect()
}

/// With its full stop.
fn sentence(words: &str) -> String {
    let words = words.trim().trim_end_matches('.');
    let mut letters = words.chars();
    let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
pub(crate) mod tests {
    use super::*;
    use crate::doctor::CheckupFacts;
    use crate::testing::Maker;
    use document::{Checkup, Confidence};
    use examine::{Apart, ClockHealth, KernelLog, LogLine};

    /// A machine whose vDSO serves what it should.
    fn healthy() -> Maker {
        let mut maker = Maker::host().cost("rdtsc", "none", 24.0);
        for clock in PRECISE {
            maker = maker.cost(SYSCALL, clock, 560.0);
            for (way, cycles) in [(VDSO, 88.0), (LIBC, 91.0), (VDSO_32, 100.0)] {
                maker = maker.served(way, clock, cycles, Path::User);
            }
        }
        for clock in COARSE {
            maker = maker.cost(SYSCALL, clock, 470.0);
            for way in WAYS {
                maker = maker.served(way, clock, 11.0, Path::User);
            }
        }
        for clock in BY_NATURE {
            maker = maker.cost(SYSCALL, clock, 1500.0);
            for way in WAYS {
                maker = maker.served(way, clock, 1600.0, Path::Kernel);
            }
        }
        maker
    }

    fn with_source(mut maker: Maker, source: &str, available: &[&str]) -> Maker {
        let clock = &mut maker.document.environment.clock;
        clock.current_clocksource = Some(source.to_owned());
        clock.available_clocksources = Some(available.iter().map(|name| (*name).to_owned()).collect());
        maker
    }

    /// The same with a clocksource that user space cannot read.
    fn lost(source: &str, available: &[&str]) -> Maker {
        let mut maker = with_source(healthy(), source, available);
        for way in [VDSO, LIBC, VDSO_32] {
            for clock in PRECISE {
                maker.row(way, clock).path = Some(Path::Kernel);
            }
        }
        maker
    }

    fn checkup(maker: Maker) -> Checkup {
        Checkup::of(maker.document)
    }

    fn found(checkup: &Checkup) -> Finding {
        let run = Facts { document: &checkup.run, table: Table::get() };
        let [finding] = findings(&CheckupFacts { run, checkup: Some(checkup) }).try_into().unwrap();
        finding
    }

    pub(crate) fn checkups() -> Vec<Checkup> {
        vec![checkup(healthy()), checkup(lost("hpet", &["hpet", "acpi_pm"]))]
    }

    #[test]
    fn the_rows_are_of_the_table_and_few() {
        let rows = rows(Table::get());
        let ways = |entry: &str| rows.iter().filter(|(of, _)| of.name == entry).count();
        assert_eq!([VDSO, LIBC, VDSO_32, SYSCALL].map(ways), [11; 4], "every clock by every way");
        assert_eq!([SYSCALL_32, "rdtsc"].map(ways), [2, 1]);
    }

    #[test]
    fn clocks_that_are_served_are_ok_whatever_the_clocksource_is_called() {
        for source in ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "xen", "hpet"] {
            let mut maker = with_source(healthy(), source, &[source]);
            let offset = environment::ClockOffset { seconds: 5, nanoseconds: 0 };
            maker.document.environment.clock.time_namespace = Some([("monotonic".to_owned(), offset)].into());
            maker.document.environment.limits.seccomp_filters = Some(3);
            let finding = found(&checkup(maker));
            assert_eq!(finding.level, Level::Ok, "{source}: {finding:?}");
            assert!(finding.verdict.starts_with("The clock is read in user space: "), "{}", finding.verdict);
            assert!(
                finding.verdict.contains("88 cycles (22.9 ns), by system call 560 cycles"),
                "{}",
                finding.verdict
            );
        }
    }

    #[test]
    fn figures_have_every_clock_by_every_way_in_seconds() {
        let finding = found(&checkup(healthy()));
        assert_eq!(finding.figures.len(), 4 * 11);
        let read = finding.figures.first().unwrap();
        assert_eq!((read.labels["clock"].as_str(), read.labels["way"].as_str()), ("monotonic", VDSO));
        assert!(read.value > 2e-8 && read.value < 3e-8, "{read:?}");
    }

    #[test]
    fn a_lost_clock_is_a_warning_with_its_cause_its_cost_and_the_command() {
        let finding = found(&checkup(lost("hpet", &["tsc", "hpet", "acpi_pm"])));
        assert_eq!((finding.level, finding.confidence), (Level::Warning, Confidence::Inferred));
        assert!(
            finding.verdict.ends_with("in spite of the vDSO: monotonic, realtime and gettimeofday."),
            "{}",
            finding.verdict
        );
        assert!(
            finding
                .cause
                .unwrap()
                .contains("hpet, which user space cannot read here: the coarse clocks are served")
        );
        assert!(finding.remedy.unwrap().starts_with("As root: echo tsc > /sys/devices"));
        let costs = finding.costs.unwrap();
        assert!(costs.starts_with("Each read costs 23 ns; what a read in user space consists of"), "{costs}");
        assert!(costs.ends_with("costs 9 ns here together."), "{costs}");
    }

    #[test]
    fn what_the_kernel_says_and_what_it_was_told_is_the_cause() {
        let line = LogLine {
            at: 9.25,
            text: "clocksource: timekeeping watchdog: Marking clocksource 'tsc' as unstable".into(),
        };
        let log = KernelLog { is_readable: true, lines: vec![line], ..KernelLog::default() };
        let mut of = checkup(lost("hpet", &["hpet"]));
        assert!(found(&of).cause.unwrap().ends_with("was not looked for."));
        of.clock_health = Some(ClockHealth { log, ..ClockHealth::default() });
        assert!(
            found(&of).cause.unwrap().contains("9.2 s after it began: \"clocksource: timekeeping watchdog")
        );
        let log = KernelLog {
            unseen: Some("the kernel's log cannot be read by this user".into()),
            ..KernelLog::default()
        };
        let apart = Apart { counter: "tsc".into(), exchanges: 90, uncertainty_ns: 47.0, ..Apart::default() };
        of.clock_health = Some(ClockHealth { log, apart: vec![apart], ..ClockHealth::default() });
        let finding = found(&of);
        assert!(finding.cause.unwrap().ends_with("not known: the kernel's log cannot be read by this user."));
        let remedy = finding.remedy.unwrap();
        assert!(remedy.contains("agree to 47 ns now") && remedy.ends_with("tsc=reliable."), "{remedy}");
        of.clock_health.as_mut().unwrap().apart[0].warp_ns = 300.0;
        assert!(found(&of).remedy.unwrap().ends_with("tsc=reliable would be wrong here."));
        of.run.environment.kernel.command_line = Some("quiet clocksource=hpet".into());
        let finding = found(&of);
        assert!(finding.cause.unwrap().ends_with("The kernel was booted with clocksource=hpet."));
        assert_eq!(finding.remedy.unwrap(), "Boot without clocksource=hpet.");
    }

    #[test]
    fn a_hypervisors_clock_is_explained_only_where_it_is_not_served() {
        let mut maker = lost("kvm-clock", &["kvm-clock"]);
        maker.document.environment.hypervisor.present = true;
        let finding = found(&checkup(maker));
        assert!(finding.cause.unwrap().contains("PVCLOCK_TSC_STABLE_BIT"));
        assert!(finding.remedy.unwrap().contains("invtsc"));
    }

    #[test]
    fn a_replaced_vdso_serves_not_even_coarse_clocks() {
        let mut maker = lost("tsc", &["tsc"]);
        for clock in COARSE {
            maker.row(VDSO, clock).path = Some(Path::Kernel);
        }
        maker.document.environment.limits.tracer_pid = Some(77);
        let finding = found(&checkup(maker));
        assert_eq!((finding.level, finding.confidence), (Level::Warning, Confidence::Likely));
        assert!(finding.cause.unwrap().contains("process 77 traces this one"));
    }

    #[test]
    fn a_c_library_that_does_not_ask_is_a_warning_with_the_difference() {
        let mut maker = healthy();
        maker.row(LIBC, "clock_gettime-monotonic").path = Some(Path::Kernel);
        maker.row(LIBC, "clock_gettime-monotonic").ns = Some(stats::Cost::single(stats::Nanos(560.0)));
        maker.document.environment.libc =
            Some(environment::Libc { name: "musl".into(), ..Default::default() });
        let finding = found(&checkup(maker));
        assert_eq!(finding.level, Level::Warning);
        assert_eq!(finding.costs.unwrap(), "Each read costs 560 ns instead of the vDSO's 23.");
        assert!(finding.cause.unwrap().contains("musl does not ask it"));
    }

    #[test]
    fn what_an_old_kernel_does_not_serve_is_a_note() {
        let mut maker = healthy();
        for clock in ["clock_gettime-boottime", "clock_gettime-tai"] {
            maker.row(VDSO, clock).path = Some(Path::Kernel);
        }
        maker.row(VDSO_32, "clock_gettime-monotonic").path = Some(Path::Kernel);
        let finding = found(&checkup(maker));
        assert_eq!(finding.level, Level::Note);
        assert!(
            finding.verdict.contains("boottime and tai by the vDSO and monotonic by the 32-bit vDSO"),
            "{}",
            finding.verdict
        );
    }

    #[test]
    fn a_counter_that_costs_more_than_a_call_is_a_warning() {
        let mut maker = Maker::host().cost(SYSCALL, COARSE[0], 470.0);
        for clock in PRECISE {
            maker = maker.served(VDSO, clock, 1900.0, Path::User);
        }
        maker.document.environment.hypervisor.present = true;
        let finding = found(&checkup(maker));
        assert_eq!(finding.level, Level::Warning);
        assert!(finding.cause.unwrap().contains("intercepts rdtsc"));
    }

    #[test]
    fn a_kernel_without_a_vdso_is_a_warning_and_one_without_32_bit_programs_is_not() {
        let mut maker = Maker::host().cost(SYSCALL, PRECISE[0], 560.0);
        for clock in PRECISE {
            maker = maker.closed(VDSO, clock, Outcome::Unsupported, "kernel booted with vdso=0");
        }
        let finding = found(&checkup(maker));
        assert_eq!(
            (finding.level, finding.cause.as_deref()),
            (Level::Warning, Some("Kernel booted with vdso=0."))
        );
        let mut maker = healthy();
        for clock in PRECISE {
            let row = maker.row(VDSO_32, clock);
            (row.outcome, row.path) = (Outcome::Unsupported, None);
        }
        assert_eq!(found(&checkup(maker)).level, Level::Ok);
    }

    #[test]
    fn a_path_that_nobody_could_decide_is_a_note() {
        let mut maker = healthy();
        maker.document.results.iter_mut().for_each(|row| row.path = None);
        assert_eq!(found(&checkup(maker)).level, Level::Note);
        let checkup = checkup(Maker::host());
        let run = Facts { document: &checkup.run, table: Table::get() };
        assert!(findings(&CheckupFacts { run, checkup: Some(&checkup) }).is_empty(), "nothing was tried");
    }
}

//! An impact in words, for text and Markdown alike.

use crate::figure::{ABSENT, beside};
use attribution::impact::{Impact, Interval, Method, PartKind, Remedy, SubjectKind};

/// A share in percent, with as many digits as tell small ones apart.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        from_ten if from_ten >= 9.995 => format!("{percent:.1}"),
        _ => format!("{percent:.2}"),
    }
}

/// Whether nothing but a lower bound is known of a share.
fn is_open(share: &Interval) -> bool {
    share.estimate.is_none() && share.high >= 1.0
}

/// `8.1 % (7.9 to 8.4 %)`; where only bounds are known `5.0 to 9.0 %`, or `At least 5.0 %`.
pub(super) fn share(share: &Interval) -> String {
    if is_open(share) {
        return format!("At least {} %", percent(share.low));
    }
    let bounds = format!("{} to {} %", percent(share.low), percent(share.high));
    share.estimate.map_or_else(|| bounds.clone(), |estimate| format!("{} % ({bounds})", percent(estimate)))
}

/// A share in a column.
pub(super) fn short_share(share: Option<&Interval>) -> String {
    match share {
        Some(open) if is_open(open) => format!("≥ {}", percent(open.low)),
        other => short(other, percent),
    }
}

/// The estimate or the bounds, for a column.
pub(super) fn short(value: Option<&Interval>, of: impl Fn(f64) -> String) -> String {
    value.map_or_else(
        || ABSENT.into(),
        |value| value.estimate.map_or_else(|| format!("{} to {}", of(value.low), of(value.high)), &of),
    )
}

/// The interval beside its estimate, for a column: `±0.2`, or its ends where one half is much longer.
pub(super) fn error(share: Option<&Interval>) -> String {
    let of = |share: &Interval| {
        let [low, high] = [share.low, share.high].map(|end| end * 100.0);
        Some(beside(share.estimate? * 100.0, [low, high], |value| percent(value / 100.0)))
    };
    share.and_then(of).unwrap_or_default()
}

/// What a remedy gives back, for a column; or costs.
pub(super) fn saving(remedy: &Remedy) -> String {
    let Some(share) = &remedy.share else { return ABSENT.into() };
    let costs = |share: f64| percent(-share);
    match (remedy.at_most, share.estimate) {
        (true, _) if share.high < 0.0 => format!("costs ≥ {} more", costs(share.high)),
        (true, _) => format!("≤ {}", percent(share.high)),
        (false, Some(estimate)) if estimate < 0.0 => format!("costs {} more", costs(estimate)),
        (false, None) if share.high < 0.0 => {
            format!("costs {} to {} more", costs(share.high), costs(share.low))
        }
        (false, _) => short_share(Some(share)),
    }
}

/// The interval beside what a remedy gives back; none beside a bound.
pub(super) fn saving_error(remedy: &Remedy) -> String {
    let share = remedy.share.filter(|_| !remedy.at_most);
    // Where it costs, the ends are of what it costs.
    let turned = share.map(|share| match share.estimate {
        Some(estimate) if estimate < 0.0 => {
            Interval { estimate: Some(-estimate), low: -share.high, high: -share.low }
        }
        _ => share,
    });
    error(turned.as_ref())
}

/// Nanoseconds, or cycles.
pub(super) fn amount(value: f64) -> String {
    if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// A number with its thousands apart.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Whose calls, for how long.
pub(super) fn subject(impact: &Impact) -> String {
    let subject = &impact.subject;
    let whose = match (subject.kind, subject.pid) {
        (SubjectKind::Process, Some(pid)) => format!("{} (process {pid})", subject.name),
        (SubjectKind::Process, None) | (SubjectKind::Command, _) => subject.name.clone(),
        (SubjectKind::Cgroup, _) => format!("cgroup {}", subject.name),
        (SubjectKind::System, _) => "all processes of this machine".into(),
    };
    let rate = if impact.seconds > 0.0 { impact.total as f64 / impact.seconds } else { 0.0 };
    format!(
        "{whose}, {:.2} s: {} system calls, {} in a second",
        impact.seconds,
        grouped(impact.total),
        grouped(rate.round() as u64)
    )
}

/// What a crossing is.
const CROSSINGS: &str = "crossings: entry and exit, dispatch and the least service";

/// The answer.
pub(super) fn answer(impact: &Impact) -> String {
    let Some(found) = &impact.share else {
        return "It is not known what share of the CPU time goes into crossings: no way into the kernel that these calls took has a figure \
                here."
            .into();
    };
    if impact.method == Method::Notification {
        return format!(
            "Not known ({} % or more): counting by a filter slows the command too much for an estimate; with the permission for the \
             tracepoint there is one (CAP_PERFMON, or kernel.perf_event_paranoid at most 1 and a tracefs that may be read).{}",
            percent(found.low),
            unpriced(impact)
        );
    }
    let cpus = impact.cpus.as_ref().map(|cpus| {
        let cpu = |cpus: f64| format!("{cpus:.3}");
        match impact.unpriced {
            0 => format!(", {} of a CPU", short(Some(cpus), cpu)),
            _ => format!(", at least {} of a CPU", cpu(cpus.low)),
        }
    });
    format!(
        "{} of the CPU time that they use goes into {CROSSINGS}{}{}. What calls do beyond that is not in it.{}",
        share(found),
        cpus.unwrap_or_default(),
        carried(impact, found),
        unpriced(impact)
    )
}

/// Calls whose way has no price, in a sentence.
fn unpriced(impact: &Impact) -> String {
    let have = if impact.unpriced == 1 { "has" } else { "have" };
    match impact.unpriced {
        0 => String::new(),
        count => format!(" {} of {} calls {have} no price.", grouped(count), grouped(impact.total)),
    }
}

/// The share with what the processes carry beyond it, where all of that has a price.
fn carried(impact: &Impact, found: &Interval) -> String {
    let layers: Vec<_> = impact.parts.iter().filter(|part| part.kind == PartKind::Layer).collect();
    let added = layers.iter().map(|part| part.share).collect::<Option<Vec<Interval>>>();
    let Some(added) = added.filter(|added| !added.is_empty()) else { return String::new() };
    let all = added.into_iter().fold(*found, std::ops::Add::add).within(0.0, 1.0);
    let names: Vec<&str> = layers.iter().map(|part| part.what.as_str()).collect();
    let amount = match (all.estimate, is_open(&all)) {
        (_, true) => format!("at least {} %", percent(all.low)),
        _ => format!("{} %", short(Some(&all), percent)),
    };
    format!("; with what they carry ({}): {amount}", names.join(", "))
}

/// The CPU time, what tells it, what of it counting took, and what shares are of.
pub(super) fn cpu(impact: &Impact) -> String {
    let cpu = &impact.cpu;
    let seconds = |seconds: f64| format!("{seconds:.3}");
    let parts = cpu.user.zip(cpu.system);
    let parts =
        parts.map(|(user, system)| format!(" (user {user:.3} s, system {system:.3} s)")).unwrap_or_default();
    let of = match impact.observing() {
        Some(took) => format!(
            "; of it by counting {} s, so that shares are of {} s",
            short(Some(&took), seconds),
            short(Some(&impact.uncounted), seconds)
        ),
        None => "; how much of it counting took is not known, so that shares are of at most all of it".into(),
    };
    format!("{:.3} s{parts}, by {}{of}", cpu.seconds, cpu.by)
}

/// What a crossing costs.
pub(super) fn crossings(impact: &Impact) -> Vec<String> {
    let one = |crossing: &attribution::impact::Crossing| {
        let cost = match (&crossing.cycles, &crossing.ns) {
            (Some(cycles), Some(ns)) => format!("{} core cycles ({} ns)", bounded(cycles), bounded(ns)),
            (None, Some(ns)) => format!("{} ns", bounded(ns)),
            _ => format!("{ABSENT} (it has no figure here: kentry -e {} -o getppid)", crossing.entry),
        };
        format!("{} getppid {cost}, {} calls", crossing.entry, grouped(crossing.calls))
    };
    impact.crossings.iter().map(one).collect()
}

fn bounded(value: &Interval) -> String {
    let bounds = format!("{} to {}", amount(value.low), amount(value.high));
    value.estimate.map_or_else(|| bounds.clone(), |estimate| format!("{}, {bounds}", amount(estimate)))
}

/// What else the tracepoint does, and what a program does without it.
const MEANWHILE: &str = "While kentry counts, every system call of every process takes the kernel's slow path; without it the program would make \
                         more calls in a second";

/// What counting costs.
pub(super) fn observing(impact: &Impact) -> String {
    match (impact.method, &impact.observing_ns) {
        (Method::Tracepoint, Some(ns)) => format!(
            "the tracepoint raw_syscalls:sys_enter added {} ns to a call, measured here in a loop; in a program it is taken for up to 15 % \
             less or more. {MEANWHILE}",
            bounded(ns)
        ),
        (Method::Tracepoint, None) => format!(
            "by the tracepoint raw_syscalls:sys_enter; what it adds to a call could not be measured, so there is only a lower bound. {MEANWHILE}"
        ),
        (Method::Notification, _) => {
            "a seccomp filter asked kentry at each call. Counts are exact; the CPU time is more than that of a run without it, in user space, \
             too, so there is only a lower bound"
                .into()
        }
    }
}

/// How figures are to be read.
pub(super) const LEGEND: &str = "share: of the CPU time without counting, calls × what a crossing costs in a loop. The interval holds the error of the \
                                 two measurements alone, not that a call or its counting costs something else in the program; caches that the work in \
                                 between leaves cold make a crossing dearer. ≤: it saves less, as a rule. -: not measured, or not known.";

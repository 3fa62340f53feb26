//! An impact in words, for text and Markdown alike.

use crate::figure::ABSENT;
use attribution::impact::{Impact, Interval, Method, SubjectKind};

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

/// Half of the interval's width, for a column.
pub(super) fn error(value: Option<&Interval>, of: impl Fn(f64) -> String) -> String {
    let known = value.filter(|value| value.estimate.is_some());
    known.map_or_else(String::new, |value| format!("±{}", of((value.high - value.low) / 2.0)))
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

/// The one sentence.
pub(super) fn answer(impact: &Impact) -> String {
    let Some(found) = &impact.share else {
        return "It is not known what share of the CPU time goes into entry and exit: a way into the kernel that these calls took has no \
                figure here."
            .into();
    };
    let cpus = impact.cpus.as_ref().map(|cpus| {
        let cpu = |cpus: f64| format!("{cpus:.3}");
        format!(", {} of a CPU", short(Some(cpus), cpu))
    });
    format!(
        "{} of the CPU time that they use goes into entry and exit{}; the service behind it is not in it.",
        share(found),
        cpus.unwrap_or_default()
    )
}

/// The CPU time, and what tells it.
pub(super) fn cpu(impact: &Impact) -> String {
    let cpu = &impact.cpu;
    let parts = cpu.user.zip(cpu.system);
    let parts =
        parts.map(|(user, system)| format!(" (user {user:.3} s, system {system:.3} s)")).unwrap_or_default();
    format!("{:.3} s{parts}, by {}", cpu.seconds, cpu.by)
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

/// What counting costs.
pub(super) fn observing(impact: &Impact) -> String {
    match (impact.method, &impact.observing_ns, impact.observing()) {
        (Method::Tracepoint, Some(ns), Some(seconds)) => format!(
            "the tracepoint raw_syscalls:sys_enter added {} ns to a call, measured here, so {} s of CPU time, which are subtracted",
            bounded(ns),
            short(Some(&seconds), |seconds| format!("{seconds:.3}"))
        ),
        (Method::Tracepoint, ..) => {
            "by the tracepoint raw_syscalls:sys_enter; what it adds to a call could not be measured, so there is only a lower bound".into()
        }
        (Method::Notification, ..) => {
            "a seccomp filter asked kentry at each call. Counts are exact; the CPU time is more than that of a run without it, in user space, \
             too, so there is only a lower bound. Where the tracepoint is permitted, there is an estimate"
                .into()
        }
    }
}

/// How figures are to be read.
pub(super) const LEGEND: &str = "share: of the CPU time without counting, calls × what a crossing costs in a loop, with 95 % confidence; caches that the \
                                 work in between leaves cold make a crossing dearer. -: not measured.";

//! From counts and costs to shares.

use crate::impact::{
    Costs, Counted, CpuTime, Crossing, Impact, Interval, Line, Method, Part, PartKind, Process, Remedy,
    SCHEMA, Subject, entries, replaced,
};
use observe::{Call, Observed, Way};
use std::collections::BTreeMap;
use table::special::{GETPPID, SYSCALL};
use table::{Operation, Table};

/// What was counted, and of whom.
#[derive(Debug)]
pub struct Seen<'a> {
    /// Whose calls.
    pub subject: Subject,
    /// How they were counted.
    pub method: Method,
    /// The counts.
    pub observed: &'a Observed,
    /// When that began.
    pub started: String,
    /// What the processes carry, and what the kernel does on every call: without shares, which are added here.
    pub parts: Vec<Part>,
    /// Remarks, in words.
    pub remarks: Vec<String>,
}

/// If no more calls than this share went unseen, what counting took of them does not matter. If there are no more switches and new threads
/// than this share of the calls, what their events took does not.
const FEW: f64 = 0.01;

/// What counting takes of a call in a program is not what it takes in a loop: so much of it, more or less.
const ELSEWHERE: f64 = 0.15;

/// Where counting takes more of the CPU time than this share, the little that is left has no estimate.
const MOST: f64 = 0.5;

/// Where a crossing may cost so many times what it costs at least, it has no estimate.
const UNSTEADY: f64 = 1.2;

/// Calls that have an operation in io_uring (include/uapi/linux/io_uring.h, IORING_OP_*).
const BATCHED: [&str; 33] = [
    "accept",
    "accept4",
    "bind",
    "close",
    "connect",
    "epoll_ctl",
    "epoll_wait",
    "fallocate",
    "fdatasync",
    "fsync",
    "ftruncate",
    "futex",
    "linkat",
    "listen",
    "mkdirat",
    "openat",
    "openat2",
    "poll",
    "pread64",
    "preadv",
    "pwrite64",
    "pwritev",
    "read",
    "readv",
    "recvfrom",
    "recvmsg",
    "renameat2",
    "sendmsg",
    "sendto",
    "statx",
    "unlinkat",
    "write",
    "writev",
];

impl Impact {
    /// Of calls that were counted, by costs of crossings on the same machine.
    pub fn of(table: &Table, seen: Seen, costs: &Costs) -> Impact {
        let observed = seen.observed;
        let calls = observed.counts.calls();
        let known = observed.counts.seen();
        // Nobody saw which they were: they are taken to be as the others.
        let scale = if known == 0 { 1.0 } else { observed.total.max(known) as f64 / known as f64 };
        let crossings = crossings(&calls, costs);
        let priced = crossing_time(&crossings).map(|ns| steady(ns * (scale * 1e-9)));
        let unpriced = crossings.iter().filter(|way| way.ns.is_none()).map(|way| way.calls).sum();
        let counting = costs.counting().filter(|_| seen.method == Method::Tracepoint);
        let counting = counting.map(|ns| ns.within(0.0, f64::INFINITY));
        let total = observed.total.max(known);
        let (whole, why) = Whole::of(observed, total, known, counting);
        // Nobody knows what these take.
        let open = |part: Interval, most: f64| match unpriced {
            0 => part,
            _ => Interval { estimate: None, low: part.low, high: most.max(part.low) },
        };
        let share = |seconds: Option<Interval>| whole.share(seconds?);
        let lines = lines(&calls, observed, scale, costs, &share);
        let shared = |part: Part| Part { share: share(part.ns.map(|ns| ns * (total as f64 * 1e-9))), ..part };
        let own = own_parts(&calls, costs).into_iter().map(|(part, count)| {
            let seconds = part.ns.map(|ns| ns * (count as f64 * scale * 1e-9));
            Part { share: share(seconds), ..part }
        });
        Impact {
            schema: SCHEMA.into(),
            kentry: env!("CARGO_PKG_VERSION").into(),
            started: seen.started,
            processor: costs.plain.environment.cpu.brand.clone(),
            kernel: costs.plain.environment.kernel.release.clone(),
            method: seen.method,
            seconds: observed.seconds,
            total,
            unseen: total - known,
            cpu: CpuTime {
                seconds: observed.cpu.seconds,
                user: observed.cpu.parts.map(|parts| parts[0]),
                system: observed.cpu.parts.map(|parts| parts[1]),
                by: observed.cpu.by.into(),
            },
            share: share(priced).map(|share| open(share, 1.0)),
            cpus: priced
                .filter(|_| observed.seconds > 0.0)
                .map(|time| open(time, observed.cpu.seconds) * (1.0 / observed.seconds)),
            unpriced,
            uncounted: whole.0,
            observing_ns: counting,
            crossings,
            processes: processes(observed, costs),
            parts: own.chain(seen.parts.into_iter().map(shared)).collect(),
            remedies: remedies(table, &calls, scale, costs, &share),
            calls: lines,
            remarks: seen.remarks.into_iter().chain(unseen(total, known)).chain(why).collect(),
            subject: seen.subject,
        }
    }

    /// What counting took of the CPU time, in seconds: none where nobody knows how much.
    pub fn observing(&self) -> Option<Interval> {
        let used =
            Interval { estimate: Some(self.cpu.seconds), low: self.cpu.seconds, high: self.cpu.seconds };
        (self.uncounted.low > 0.0).then(|| used.less(self.uncounted).within(0.0, self.cpu.seconds))
    }
}

/// A crossing's time, without an estimate where its bounds are too far apart for one.
fn steady(time: Interval) -> Interval {
    Interval { estimate: time.estimate.filter(|_| time.high <= time.low * UNSTEADY), ..time }
}

/// What is to be said of calls that found no room.
fn unseen(total: u64, seen: u64) -> Option<String> {
    (total > seen).then(|| {
        format!(
            "{} of {total} calls were counted, but came faster than kentry read which they were: they are taken to be as the others",
            total - seen
        )
    })
}

/// The CPU time that shares are of: what it would be if nobody counted, in seconds.
struct Whole(Interval);

impl Whole {
    /// What counting takes of calls that were seen is known: it is subtracted. One that found no room took less, and nobody knows how much.
    /// Where nothing is known of it, the CPU time is not more than what was used. How much less it is, nobody knows: a filter that asks makes
    /// user space slower, too, which `tests/impact.rs` has seen by a factor of two. Also why there is no estimate, in words.
    fn of(observed: &Observed, total: u64, seen: u64, counting: Option<Interval>) -> (Whole, Option<String>) {
        let cpu = &observed.cpu;
        let at_most = Whole(Interval { estimate: None, low: 0.0, high: cpu.seconds });
        let Some(ns) = counting else { return (at_most, None) };
        if let Some(why) = beyond_clock(observed).or_else(|| switched(observed, total)) {
            return (at_most, Some(why));
        }
        let took = |calls: u64, ns: f64| calls as f64 * ns * 1e-9;
        let low = (cpu.sure - took(total, ns.high * (1.0 + ELSEWHERE))).max(0.0);
        let high = (cpu.seconds - took(seen, ns.low * (1.0 - ELSEWHERE))).max(0.0);
        let is_seen = (total - seen) as f64 <= total as f64 * FEW;
        let estimate = ns.estimate.map(|ns| cpu.seconds - took(seen, ns));
        let why = if cpu.sure < cpu.seconds {
            Some("two clocks do not agree on the CPU time")
        } else if estimate.is_some_and(|left| left < cpu.seconds * (1.0 - MOST)) {
            Some("counting took more than half of the CPU time")
        } else {
            None
        };
        let estimate = estimate.filter(|left| is_seen && why.is_none() && (low..=high).contains(left));
        (Whole(Interval { estimate, low, high }), why.map(|why| format!("no estimate, but bounds: {why}")))
    }

    /// None where a part that is less than nothing may be of as little as nothing.
    fn share(&self, part: Interval) -> Option<Interval> {
        let Whole(whole) = self;
        if part.low < 0.0 && whole.low <= 0.0 {
            return None;
        }
        // No part is more than the whole: where the bounds would have it so, it may be all.
        let of = |part: f64, whole: f64| if whole > part.max(0.0) { part / whole } else { 1.0 };
        // Less than nothing is most of the least.
        let low = of(part.low, if part.low < 0.0 { whole.low } else { whole.high });
        let high = of(part.high, if part.high < 0.0 { whole.high } else { whole.low });
        let estimate = part.estimate.zip(whole.estimate).map(|(part, whole)| of(part, whole));
        Some(Interval { estimate, low, high })
    }
}

/// What is left where nobody knows what counting took, or which calls are missing.
const LOWER: &str = "there is only a lower bound, by all of the CPU time";

/// Why calls may be missing, where the task clock did not run for as long as the command.
fn beyond_clock(observed: &Observed) -> Option<String> {
    let cpu = &observed.cpu;
    cpu.is_beyond_clock().then(|| {
        format!(
            "of {:.3} s of CPU time, calls were counted for {:.3} s: not while the kernel ends threads and processes, and not in programs that gain rights (set-user-ID): {LOWER}",
            cpu.seconds, cpu.sure
        )
    })
}

/// Why switches and new threads hide what counting took, where there are too many: their events cost what was not measured.
fn switched(observed: &Observed, total: u64) -> Option<String> {
    let Some(switches) = observed.switches else {
        return Some(format!(
            "nobody tells how often these threads were switched, and what counting added to that is not known: {LOWER}"
        ));
    };
    let count = switches.saturating_add(observed.forks);
    (count as f64 > total as f64 * FEW).then(|| {
        format!(
            "threads were switched {switches} times and {} were made, in {total} calls; what counting added to that was not measured: {LOWER}",
            observed.forks
        )
    })
}

fn crossings(calls: &BTreeMap<Call, u64>, costs: &Costs) -> Vec<Crossing> {
    let mut ways: BTreeMap<Way, u64> = BTreeMap::new();
    calls.iter().for_each(|(call, count)| *ways.entry(call.way).or_default() += count);
    let each = ways.into_iter().map(|(way, calls)| {
        let (ns, cycles) = costs.crossing(way);
        Crossing { entry: entries(way).join(" or "), calls, ns, cycles }
    });
    let mut all: Vec<Crossing> = each.collect();
    all.sort_by_key(|crossing| std::cmp::Reverse(crossing.calls));
    all
}

/// In nanoseconds, of the ways that have a cost; none where no way has.
fn crossing_time(crossings: &[Crossing]) -> Option<Interval> {
    let each = crossings.iter().filter_map(|crossing| Some(crossing.ns? * crossing.calls as f64));
    each.reduce(std::ops::Add::add)
}

impl std::iter::Sum for Interval {
    fn sum<I: Iterator<Item = Interval>>(all: I) -> Interval {
        all.fold(Interval::ZERO, std::ops::Add::add)
    }
}

fn lines(
    calls: &BTreeMap<Call, u64>,
    observed: &Observed,
    scale: f64,
    costs: &Costs,
    share: &dyn Fn(Option<Interval>) -> Option<Interval>,
) -> Vec<Line> {
    // A call that came by several ways, or read several clocks, is one line.
    let mut named: BTreeMap<(u32, &str), Vec<(&Call, u64)>> = BTreeMap::new();
    for (call, count) in calls {
        named.entry((call.number, call.way.numbers())).or_default().push((call, *count));
    }
    let line = |((number, numbers), of): ((u32, &str), Vec<(&Call, u64)>)| {
        let time = of.iter().map(|(call, count)| Some(costs.crossing(call.way).0? * *count as f64));
        let time = time.sum::<Option<Interval>>().map(|ns| steady(ns * (scale * 1e-9)));
        let count = of.iter().map(|(_, count)| count).sum();
        let per_second = if observed.seconds > 0.0 { count as f64 * scale / observed.seconds } else { 0.0 };
        let name = of.first().map(|(call, _)| call.in_words()).unwrap_or_default();
        Line { name, number, numbers: numbers.into(), count, per_second, share: share(time) }
    };
    let mut all: Vec<Line> = named.into_iter().map(line).collect();
    all.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.name.cmp(&other.name)));
    all
}

fn processes(observed: &Observed, costs: &Costs) -> Vec<Process> {
    let mut all = Vec::new();
    for (pid, programs) in observed.counts.processes() {
        for program in programs {
            let mut calls: BTreeMap<String, (u64, Option<f64>)> = BTreeMap::new();
            for (call, count) in &program.calls {
                let ns = costs.crossing(call.way).0.and_then(|ns| ns.estimate).map(|ns| ns * *count as f64);
                let known = calls.entry(call.in_words()).or_insert((0, Some(0.0)));
                *known = (known.0 + count, known.1.zip(ns).map(|(sum, ns)| sum + ns));
            }
            let counted = |(name, (count, ns))| Counted { name, count, ns };
            let mut calls: Vec<Counted> = calls.into_iter().map(counted).collect();
            calls.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.name.cmp(&other.name)));
            all.push(Process { pid, name: program.name, calls });
        }
    }
    let sum = |process: &Process| process.calls.iter().map(|call| call.count).sum::<u64>();
    all.sort_by(|one, other| sum(other).cmp(&sum(one)).then_with(|| one.pid.cmp(&other.pid)));
    all
}

/// What the crossing by `syscall` is made of, each with the calls that it is of.
fn own_parts(calls: &BTreeMap<Call, u64>, costs: &Costs) -> Vec<(Part, u64)> {
    let count = calls.iter().filter(|(call, _)| call.way == Way::Syscall).map(|(_, count)| count).sum();
    if count == 0 {
        return Vec::new();
    }
    let (whole, bare) = (costs.crossing(Way::Syscall).0, costs.bare());
    let part = |what: &str, ns, note: &str| {
        let part = Part { kind: PartKind::Crossing, what: what.into(), ns, share: None, note: note.into() };
        (part, count)
    };
    let rest = whole.zip(bare).map(|(whole, bare)| whole.less(bare));
    vec![
        part("entry and exit", bare, "a call that no kernel has: syscall-x86_64 none"),
        part(
            "dispatch and the least service",
            rest,
            "what syscall-x86_64 getppid costs beyond that; no call of a kernel costs less than getppid",
        ),
    ]
}

fn remedies(
    table: &Table,
    calls: &BTreeMap<Call, u64>,
    scale: f64,
    costs: &Costs,
    share: &dyn Fn(Option<Interval>) -> Option<Interval>,
) -> Vec<Remedy> {
    let seconds = |ns: Option<Interval>, calls: u64| share(ns.map(|ns| ns * (calls as f64 * scale * 1e-9)));
    let mut all = Vec::new();
    for (call, count) in calls {
        let Some(replaced) = replaced(table, call) else { continue };
        let name = &replaced.operation.name;
        let (real, served) = (costs.ns(replaced.entry, name), costs.ns(replaced.vdso, name));
        let ns = real.zip(served).map(|(real, served)| real.less(served));
        let note = match served {
            None => format!("the vDSO does not serve it here: {}", costs.why(replaced.vdso, name)),
            Some(_) => "by the C library's function, where that uses the vDSO (kentry explain libc)".into(),
        };
        let what = format!("{name} by the vDSO, without a call");
        all.push(Remedy { what, calls: *count, at_most: false, ns, share: seconds(ns, *count), note });
    }
    all.extend(batches(table, calls, costs, &seconds));
    all
}

/// What io_uring would save of calls that it has operations for, by how many are submitted together.
fn batches(
    table: &Table,
    calls: &BTreeMap<Call, u64>,
    costs: &Costs,
    seconds: &dyn Fn(Option<Interval>, u64) -> Option<Interval>,
) -> Vec<Remedy> {
    let can_be =
        |call: &Call| call.way == Way::Syscall && call.name().is_some_and(|name| BATCHED.contains(&name));
    let count: u64 = calls.iter().filter(|(call, _)| can_be(call)).map(|(_, count)| count).sum();
    if count == 0 {
        return Vec::new();
    }
    let each = table.batches().map(|(Operation { name: operation, .. }, size)| {
        let one = costs.ns(SYSCALL, operation).map(|ns| ns * (1.0 / f64::from(size)));
        let ns = costs.ns(GETPPID.entry, GETPPID.operation).zip(one).map(|(call, one)| call.less(one));
        let note = match one {
            None => costs.why(SYSCALL, operation),
            Some(_) => "of the crossing alone, measured with NOPs, which take no file, buffer or poll".into(),
        };
        let what = format!("io_uring in batches of {size}");
        // The least of what is at most so much says nothing.
        let share = seconds(ns, count).filter(|share| share.high < 1.0);
        Remedy { what, calls: count, at_most: true, ns, share, note }
    });
    each.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::impact::SubjectKind;
    use document::{Document, Row};
    use observe::{Counts, CpuTime};
    use stats::{Cost, Nanos};

    fn row(entry: &str, operation: &str, [estimate, low, high]: [f64; 3]) -> Row {
        let cost = Cost::single(Nanos(estimate)).within(Nanos(low), Nanos(high));
        Row { ns: Some(cost), ..Row::unmeasured(entry, operation, 64) }
    }

    fn run(rows: Vec<Row>) -> Document {
        let mut document = Document::empty();
        document.results = rows;
        document
    }

    /// So many calls by `syscall`, and as many reads of a clock, in two seconds with this CPU time.
    fn observed(count: u64, total: u64, seconds: f64, parts: Option<[f64; 2]>) -> Observed {
        let mut counts = Counts::default();
        for _ in 0..count {
            counts.count(7, Call::new(Way::Syscall, 1, 0));
            counts.count(7, Call::new(Way::Syscall, 228, 1));
        }
        let cpu = CpuTime { seconds, sure: seconds, parts, by: "a test" };
        Observed { counts, total, seconds: 2.0, cpu, switches: Some(0), forks: 0 }
    }

    fn impact(observed: &Observed, method: Method, counted: Option<f64>) -> Impact {
        let plain = run(vec![
            row("syscall-x86_64", "none", [60.0, 59.0, 61.0]),
            row("syscall-x86_64", "getppid", [100.0, 98.0, 102.0]),
            row("syscall-x86_64", "clock_gettime-monotonic", [200.0, 199.0, 201.0]),
            row("vdso-x86_64", "clock_gettime-monotonic", [20.0, 19.0, 21.0]),
            row("syscall-x86_64", "io_uring-nop-64", [6400.0, 6336.0, 6464.0]),
        ]);
        let counted = counted.map(|ns| run(vec![row("syscall-x86_64", "getppid", [ns, ns - 1.0, ns + 1.0])]));
        let seen = Seen {
            subject: Subject { kind: SubjectKind::Process, name: "x".into(), pid: Some(7) },
            method,
            observed,
            started: String::new(),
            parts: Vec::new(),
            remarks: Vec::new(),
        };
        Impact::of(Table::get(), seen, &Costs { plain: &plain, counted: counted.as_ref() })
    }

    fn near(found: Interval, wanted: [f64; 3]) {
        let all = [found.estimate.unwrap_or(f64::NAN), found.low, found.high];
        for (found, wanted) in all.iter().zip(wanted) {
            assert!(
                (found - wanted).abs() < 1e-6 || (found.is_nan() && wanted.is_nan()),
                "{all:?}, not {wanted:?}"
            );
        }
    }

    /// What counting takes at least and at most, where it takes so much in a loop: 15 % less and more.
    const LEAST: f64 = 994e-6 * 0.85;
    const MOST_OF_ALL: f64 = 1006e-6 * 1.15;

    /// 2,000 calls of 100 ns in 4 ms, of which counting took 2,000 × 500 ns.
    #[test]
    fn the_share_is_of_the_time_without_counting() {
        let found = impact(&observed(1000, 2000, 4e-3, None), Method::Tracepoint, Some(600.0));
        near(found.observing_ns.unwrap(), [500.0, 497.0, 503.0]);
        near(found.uncounted, [3e-3, 4e-3 - MOST_OF_ALL, 4e-3 - LEAST]);
        near(found.observing().unwrap(), [1e-3, LEAST, MOST_OF_ALL]);
        near(found.share.unwrap(), [0.2 / 3.0, 196e-6 / (4e-3 - LEAST), 204e-6 / (4e-3 - MOST_OF_ALL)]);
        near(found.cpus.unwrap(), [1e-4, 0.98e-4, 1.02e-4]);
        assert_eq!((found.total, found.unseen, found.remarks.len()), (2000, 0, 0));
        let vdso = &found.remedies[0];
        assert_eq!((vdso.calls, vdso.ns.unwrap().estimate), (1000, Some(180.0)));
        near(vdso.share.unwrap(), [0.06, 178e-6 / (4e-3 - LEAST), 182e-6 / (4e-3 - MOST_OF_ALL)]);
    }

    /// Of eight runs of a loop of getppid, the interval around an estimate held the truth in two to four.
    #[test]
    fn where_counting_takes_more_than_half_there_is_no_estimate() {
        let found = impact(&observed(1000, 2000, 1.9e-3, None), Method::Tracepoint, Some(600.0));
        near(found.share.unwrap(), [f64::NAN, 196e-6 / (1.9e-3 - LEAST), 204e-6 / (1.9e-3 - MOST_OF_ALL)]);
        assert!(found.remarks[0].contains("more than half"), "{:?}", found.remarks);
    }

    /// A price of a call alone made of a ping-pong's 0.9 s of CPU time 1.2 s.
    #[test]
    fn switches_and_forks_leave_a_lower_bound() {
        for (switches, forks) in [(Some(21), 0), (Some(0), 21), (None, 0)] {
            let observed = Observed { switches, forks, ..observed(1000, 2000, 4e-3, None) };
            let found = impact(&observed, Method::Tracepoint, Some(600.0));
            near(found.share.unwrap(), [f64::NAN, 196e-6 / 4e-3, 1.0]);
            assert!(found.remarks[0].contains("switched"), "{:?}", found.remarks);
            assert_eq!(found.observing(), None);
            let batches = found.remedies.iter().filter(|remedy| remedy.at_most);
            assert!(batches.into_iter().all(|batch| batch.share.is_none()), "{:?}", found.remedies);
        }
        let few = Observed { switches: Some(15), forks: 5, ..observed(1000, 2000, 4e-3, None) };
        assert!(impact(&few, Method::Tracepoint, Some(600.0)).share.unwrap().estimate.is_some());
    }

    #[test]
    fn two_clocks_that_do_not_agree_leave_bounds() {
        let mut observed = observed(1000, 2000, 4e-3, None);
        observed.cpu.sure = 3e-3;
        let found = impact(&observed, Method::Tracepoint, Some(600.0));
        near(found.share.unwrap(), [f64::NAN, 196e-6 / (4e-3 - LEAST), 204e-6 / (3e-3 - MOST_OF_ALL)]);
        assert!(found.remarks[0].contains("two clocks"), "{:?}", found.remarks);
    }

    /// 300,000 calls of a set-user-ID program were not counted, and the share had an upper bound.
    #[test]
    fn where_calls_may_be_missing_there_is_no_upper_bound() {
        let mut observed = observed(1000, 2000, 4e-3, Some([1e-3, 3e-3]));
        observed.cpu.sure = 3e-3;
        let found = impact(&observed, Method::Tracepoint, Some(600.0));
        near(found.share.unwrap(), [f64::NAN, 196e-6 / 4e-3, 1.0]);
        assert!(found.remarks[0].contains("set-user-ID"), "{:?}", found.remarks);
    }

    #[test]
    fn a_crossing_that_is_hardly_known_has_no_estimate() {
        let of = |estimate, low, high| steady(Interval { estimate: Some(estimate), low, high }).estimate;
        assert_eq!((of(100.0, 95.0, 113.0), of(100.0, 95.0, 115.0)), (Some(100.0), None));
    }

    /// Bounds of a saving that was negative stood the wrong way round.
    #[test]
    fn no_bound_is_beyond_the_other() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut wrong = Vec::new();
        for _ in 0..20_000 {
            let mut three = |from: f64, to: f64| {
                let mut values = [next(), next(), next()].map(|part| from + part * (to - from));
                values.sort_by(f64::total_cmp);
                Interval { estimate: Some(values[1]), low: values[0], high: values[2] }
            };
            let (part, whole) = (three(-2.0, 2.0), three(-0.1, 1.5).within(0.0, 2.0));
            let found = Whole(whole).share(part);
            assert_eq!(found.is_none(), part.low < 0.0 && whole.low == 0.0);
            wrong.extend(found.filter(|found| {
                let estimate = found.estimate.unwrap();
                !(found.low <= estimate && estimate <= found.high && found.high <= 1.0)
            }));
        }
        assert_eq!(wrong, []);
    }

    #[test]
    fn calls_that_nobody_saw_widen_the_bounds_and_are_said() {
        let found = impact(&observed(500, 2000, 4e-3, None), Method::Tracepoint, Some(600.0));
        near(found.share.unwrap(), [f64::NAN, 196e-6 / (4e-3 - LEAST / 2.0), 204e-6 / (4e-3 - MOST_OF_ALL)]);
        assert_eq!((found.total, found.unseen), (2000, 1000));
        assert!(found.remarks[0].contains("1000 of 2000 calls"), "{:?}", found.remarks);
        assert_eq!(found.calls[0].per_second, 500.0, "half of all");
    }

    #[test]
    fn without_the_price_of_counting_there_is_a_lower_bound() {
        let found = impact(&observed(1000, 2000, 2e-3, Some([0.2e-3, 1.8e-3])), Method::Notification, None);
        near(found.share.unwrap(), [f64::NAN, 196e-6 / 2e-3, 1.0]);
        assert_eq!(found.observing_ns, None);
        let unknown = impact(&observed(1000, 2000, 2e-3, None), Method::Tracepoint, None);
        near(unknown.share.unwrap(), [f64::NAN, 196e-6 / 2e-3, 1.0]);
    }

    #[test]
    fn batches_save_of_calls_that_io_uring_has() {
        let found = impact(&observed(1000, 2000, 2e-3, None), Method::Tracepoint, Some(600.0));
        let batch = |size: u32| {
            found.remedies.iter().find(|remedy| remedy.what.ends_with(&format!("of {size}"))).unwrap()
        };
        assert_eq!((batch(64).calls, batch(64).ns.unwrap().estimate), (1000, Some(0.0)));
        assert_eq!((batch(4).ns, batch(4).share), (None, None), "what was not measured has no figure");
    }

    #[test]
    fn a_way_without_a_cost_leaves_a_lower_bound() {
        let mut observed = observed(1000, 2001, 4e-3, None);
        observed.counts.count(7, Call::new(Way::Int80, 64, 0));
        let found = impact(&observed, Method::Tracepoint, Some(600.0));
        assert_eq!(found.unpriced, 1);
        near(found.share.unwrap(), [f64::NAN, 196e-6 / (4e-3 - 2001.0 * 497e-9 * 0.85), 1.0]);
        near(found.cpus.unwrap(), [f64::NAN, 0.98e-4, 2e-3]);
        assert!(found.calls.iter().any(|call| call.numbers == "32" && call.share.is_none()));
    }

    #[test]
    fn no_share_is_more_than_all() {
        let found = impact(&observed(1000, 2000, 1e-3, None), Method::Tracepoint, Some(600.0));
        let share = found.share.unwrap();
        assert!(share.low > 0.0 && share.high == 1.0 && share.estimate.is_none(), "{share:?}");
    }
}

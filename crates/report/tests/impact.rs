//! Impacts in every format; and `docs/impact.schema.json` accepts what this crate writes, and refuses what breaks the contract.

#![allow(clippy::unwrap_used, reason = "a test")]

mod judged;

use attribution::impact::{
    Counted, CpuTime, Crossing, Impact, Interval, Line, Method, Part, PartKind, Process, Remedy, SCHEMA,
    Subject, SubjectKind,
};
use report::{Format, Selection, Style};
use serde_json::{Value, json};

const OF_JSON: &str = include_str!("../../../docs/impact.schema.json");

fn within(estimate: f64, low: f64, high: f64) -> Option<Interval> {
    Some(Interval { estimate: Some(estimate), low, high })
}

fn line(name: &str, number: u32, count: u64, share: Option<Interval>) -> Line {
    Line { name: name.into(), number, numbers: "64".into(), count, per_second: count as f64 / 2.0, share }
}

fn sample() -> Impact {
    let price = within(100.0, 95.0, 105.0);
    Impact {
        schema: SCHEMA.into(),
        kentry: "0.1.0".into(),
        started: "2026-11-26T04:00:00.000Z".into(),
        processor: None,
        kernel: Some("6.18".into()),
        subject: Subject { kind: SubjectKind::Process, name: "re\u{1b}[2Jdis".into(), pid: Some(7) },
        method: Method::Tracepoint,
        seconds: 2.0,
        total: 1_000_000,
        unseen: 0,
        cpu: CpuTime {
            seconds: 1.6,
            user: Some(0.4),
            system: Some(1.2),
            by: "the kernel's task clock".into(),
        },
        share: within(0.1, 0.095, 0.105),
        cpus: within(0.05, 0.0475, 0.0525),
        unpriced: 0,
        uncounted: within(1.0, 0.9, 1.1).unwrap(),
        observing_ns: within(600.0, 590.0, 610.0),
        crossings: vec![Crossing {
            entry: "syscall-x86_64".into(),
            calls: 1_000_000,
            ns: price,
            cycles: within(300.0, 285.0, 315.0),
        }],
        calls: vec![
            line("write", 1, 900_000, within(0.09, 0.085, 0.095)),
            line("number -1", u32::MAX, 100_000, None),
        ],
        processes: vec![
            Process {
                pid: 7,
                name: "re;dis".into(),
                calls: vec![Counted { name: "write".into(), count: 900_000, ns: Some(9e7) }],
            },
            Process {
                pid: 8,
                name: String::new(),
                calls: vec![Counted { name: "number -1".into(), count: 100_000, ns: Some(1e7) }],
            },
        ],
        parts: vec![Part {
            kind: PartKind::Layer,
            what: "a seccomp filter".into(),
            ns: None,
            share: None,
            note: "measured by: kentry compare".into(),
        }],
        remedies: vec![Remedy {
            what: "io_uring in batches of 64".into(),
            calls: 900_000,
            at_most: false,
            ns: within(30.0, 28.0, 32.0),
            share: within(0.027, 0.025, 0.029),
            note: "of the crossing alone".into(),
        }],
        remarks: vec!["interrupted".into()],
    }
}

/// Of a command that a filter counted: bounds, and nothing of what counting cost.
fn bounded() -> Impact {
    let share = Some(Interval { estimate: None, low: 0.04, high: 1.0 });
    Impact {
        subject: Subject { kind: SubjectKind::Command, name: "true".into(), pid: Some(7) },
        method: Method::Notification,
        share,
        uncounted: Interval { estimate: None, low: 0.0, high: 1.6 },
        observing_ns: None,
        ..sample()
    }
}

fn unpriced() -> Impact {
    let mut impact = sample();
    impact.share = None;
    impact.cpus = None;
    impact.crossings[0].ns = None;
    impact.crossings[0].cycles = None;
    impact.processes[0].calls[0].ns = None;
    impact
}

fn written(impact: &Impact, format: Format) -> String {
    let style = Style { color: false, width: 100, verbose: false, selection: Selection::All };
    String::from_utf8(report::impact(impact, format, &style).unwrap()).unwrap()
}

fn json_of(impact: &Impact) -> Value {
    serde_json::from_str(&written(impact, Format::Json)).unwrap()
}

#[test]
fn impacts_are_accepted_and_come_back() {
    for impact in [sample(), bounded(), unpriced()] {
        let value = json_of(&impact);
        assert_eq!(judged::objections(OF_JSON, &value), Vec::<String>::new());
        assert_eq!(serde_json::from_value::<Impact>(value).unwrap(), impact);
    }
}

#[test]
fn a_wrong_value_is_refused() {
    let good = json_of(&sample());
    judged::refuses_values(
        OF_JSON,
        &good,
        [
            ("/schema", json!("kentry.impact/2")),
            ("/subject/kind", json!("thread")),
            ("/subject/pid", json!(0)),
            ("/method", json!("guess")),
            ("/total", json!(-1)),
            ("/share", json!(0.1)),
            ("/share/low", Value::Null),
            ("/cpu/by", Value::Null),
            ("/calls/0/numbers", json!("16")),
            ("/uncounted", Value::Null),
            ("/unpriced", json!(-1)),
            ("/remedies/0/at_most", Value::Null),
            ("/parts/0/kind", json!("magic")),
            ("/remedies/0/ns", json!(30)),
        ],
    );
    let places = [
        "",
        "/subject",
        "/cpu",
        "/share",
        "/crossings/0",
        "/calls/0",
        "/processes/0",
        "/processes/0/calls/0",
        "/parts/0",
        "/remedies/0",
    ];
    judged::refuses_other_fields(OF_JSON, &good, &places);
}

#[test]
fn text_says_the_share_in_one_sentence_and_what_is_not_known_with_a_dash() {
    let text = written(&sample(), Format::Text);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "10.0 % (9.50 to 10.5 %) of the CPU time that they use goes into crossings: entry and exit, dispatch and the least service, 0.050 of a CPU. What calls do beyond that is not in it.",
        "1,000,000 system calls, 500,000 in a second",
        "added 600.0, 590.0 to 610.0 ns to a call, measured here in a loop",
        "of it by counting 0.600 s, so that shares are of 1.000 s",
        "a seccomp filter - - measured by: kentry compare",
        "io_uring in batches of 64 900,000 30.0 2.70 ±0.20",
    ] {
        assert!(words.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "a program's name steers no terminal");
    let bounds = written(&bounded(), Format::Text);
    assert!(
        bounds.contains("Not known (4.00 % or more)") && bounds.contains("asked kentry at each call"),
        "{bounds}"
    );
    let unknown = written(&unpriced(), Format::Text);
    assert!(
        unknown.contains("It is not known what share")
            && unknown.contains("kentry -e syscall-x86_64 -o getppid"),
        "{unknown}"
    );
}

/// A filter's share, and one call of two million without a price.
#[test]
fn the_answer_says_what_is_carried_and_what_has_no_price() {
    let words =
        |impact: &Impact| written(impact, Format::Text).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut impact = sample();
    impact.parts[0].share = within(0.12, 0.11, 0.13);
    assert!(
        words(&impact).contains("; with what they carry (a seccomp filter): 22.0 %."),
        "{}",
        words(&impact)
    );
    impact.parts[0].kind = PartKind::Shared;
    assert!(!words(&impact).contains("with what they carry"), "it is in the share");
    let share = Some(Interval { estimate: None, low: 0.095, high: 1.0 });
    let impact = Impact { unpriced: 1, share, ..sample() };
    let text = words(&impact);
    assert!(
        text.contains("At least 9.50 % of") && text.contains("1 of 1,000,000 calls has no price."),
        "{text}"
    );
}

/// `gives back -69.6`, and `31.7 ±8.72` beside `26.3 to 43.7 %`.
#[test]
fn a_saving_that_is_none_costs_and_a_lopsided_interval_has_two_ends() {
    let of = |at_most, share: Option<Interval>| {
        let mut impact = sample();
        impact.remedies[0].at_most = at_most;
        impact.remedies[0].share = share;
        let text = written(&impact, Format::Text);
        text.lines()
            .find(|line| line.contains("io_uring"))
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (at_most, share, told) in [
        (false, within(-0.696, -0.72, -0.67), "costs 69.6 more ±2.60"),
        (true, within(-0.696, -0.72, -0.67), "costs ≥ 67.0 more"),
        (true, within(0.027, 0.025, 0.029), "≤ 2.90"),
        (false, within(0.317, 0.263, 0.437), "31.7 26 to 44"),
        (true, None, "30.0 -"),
    ] {
        let line = of(at_most, share);
        assert!(line.contains(told), "{told}: {line}");
    }
}

#[test]
fn the_bar_has_what_is_sure_and_what_may_be() {
    let bar = |impact: &Impact| {
        written(impact, Format::Text).lines().find(|line| line.contains('█')).unwrap().trim().to_owned()
    };
    let count = |bar: &str, what: char| bar.chars().filter(|drawn| *drawn == what).count();
    let bar = bar(&bounded());
    assert_eq!([count(&bar, '█'), count(&bar, '░'), count(&bar, '·')], [2, 58, 0], "{bar}");
}

#[test]
fn stacks_are_of_times_where_all_are_known_and_else_of_counts() {
    assert_eq!(written(&sample(), Format::Folded), "re_dis-7;write 90000000\n?-8;number_-1 10000000\n");
    assert_eq!(written(&unpriced(), Format::Folded), "re_dis-7;write 900000\n?-8;number_-1 100000\n");
}

#[test]
fn markdown_has_the_tables() {
    let text = written(&sample(), Format::Markdown);
    for part in ["# kentry impact: ", "\n## calls\n", "\n## processes\n", "\n## remedies\n", "| write"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

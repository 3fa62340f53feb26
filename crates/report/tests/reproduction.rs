//! What a reproduction looks like. `INSTA_UPDATE=always cargo test -p report` writes the snapshots anew; read the diff.

#![allow(clippy::unwrap_used, reason = "a test")]

mod color;
#[path = "../../compare/src/published/reproduction/sample.rs"]
mod sample;

use compare::published::{Loop, Parts, Publications, Reproduction, Timed, Took};
use document::{Document, Machine, Outcome, Place, Row};
use insta::assert_snapshot;
use report::{Format, Kind, Selection, Style, publications, reproduction};
use stats::Instructions;
use table::{Kernel, Table};
use unicode_width::UnicodeWidthStr;

const PLAIN: Style = Style { color: false, width: 100, verbose: false, selection: Selection::All };

/// Publications of every kind: two conditions, a known way, cycles of an unknown clock, nothing that is measured; with text that
/// must be made harmless.
const TABLE: &str = r##"
    [[publication]]
    name = "two-conditions"
    title = "a call by entry, \u001b[2Jwith | and without <isolation>"
    source = "Somebody, \u202esomewhere"
    cpu = "Example 9000"
    unit = "ns"
    about = "What a call cost. It was measured twice. Isolation made it dearer."
    base = "syscall"
    [[publication.column]]
    name = "PTI on"
    needs = { pti = "on" }
    set = { pti = "on" }
    [[publication.column]]
    name = "PTI off"
    needs = { pti = "off" }
    [[publication.row]]
    name = "syscall"
    published = [200, 100]
    entry = "syscall-x86_64"
    operation = "getppid"
    [[publication.row]]
    name = "int 80h"
    published = [400.5, 300]
    entry = "int80-i386"
    operation = "getppid"
    remark = "from 32-bit code"
    [[publication.row]]
    name = "sysenter"
    published = ["-", 150]
    entry = "sysenter-i386"
    operation = "getppid"
    [[publication.row]]
    name = "call gate"
    published = [300, 250]
    lab = "call-gate-i386"
    operation = "getppid"
    absent = "Linux has none"

    [[publication]]
    name = "known-way"
    title = "a null call in cycles"
    source = "Somebody else"
    cpu = "Example 9000"
    kernel = "Example OS 1.0"
    unit = "cycles"
    about = "What a null call cost."
    way = "a hundred calls"
    loop = { calls = 100, repetitions = 1, take = "mean" }
    [[publication.column]]
    name = "figure"
    [[publication.row]]
    name = "null call"
    published = [160]
    entry = "syscall-x86_64"
    operation = "getppid"

    [[publication]]
    name = "nothing"
    title = "what kentry does not measure"
    source = "A third"
    unit = "index"
    about = "An index."
    [[publication.column]]
    name = "index"
    [[publication.row]]
    name = "whole suite"
    published = [1150.4]
    absent = "it is a suite"

    [[publication]]
    name = "changes"
    title = "what isolation took"
    source = "A fourth"
    unit = "index"
    about = "An index."
    base = "off"
    [[publication.column]]
    name = "index"
    [[publication.row]]
    name = "off"
    published = [400]
    lab = "syscall-x86_64"
    operation = "getppid"
    set = { pti = "off" }
    absent = "only the lab can tell"
    [[publication.row]]
    name = "on"
    published = [300]
    lab = "syscall-x86_64"
    operation = "getppid"
    set = { pti = "on" }
    absent = "only the lab can tell"
    [[publication.row]]
    name = "on, gate"
    published = [200]
    lab = "int80-x86_64"
    operation = "getppid"
    set = { pti = "on" }
    absent = "only the lab can tell"
    [[publication.ratio]]
    name = "<isolation>"
    of = "on"
    to = "off"
    [[publication.ratio]]
    name = "gate"
    of = "on, gate"
    to = "on"
"##;

fn all() -> Publications {
    Publications::parse(&[TABLE, sample::UNIXBENCH].concat(), Table::get()).unwrap()
}

/// So far do intervals reach.
const REACH: sample::Reach = [0.4, 0.3];

fn timed(entry: &str, way: Loop, took: u64) -> Timed {
    let preemptions = u64::from(entry == "int80-i386");
    Timed { took: Ok(Took { loops: vec![took], preemptions }), ..sample::timed(entry, way, Vec::new()) }
}

fn row(entry: &str, ns: f64) -> Row {
    sample::row(entry, ns, REACH)
}

fn document(results: Vec<Row>) -> Document {
    let mut document = sample::document(results);
    let environment = &mut document.environment;
    (environment.kernel.sysname, environment.kernel.release) = (Some("Linux".into()), Some("6.1.0".into()));
    environment.vsyscall = Some("xonly".into());
    environment.hypervisor.present = true;
    let measurement = &mut document.measurement;
    (measurement.tsc_hz, measurement.cycles_per_tick) = (Some(2e9), Some(1.5));
    measurement.quiet_share = Some(0.88);
    document
}

fn in_lab() -> Document {
    let row = |entry: &str, pti: &str, count: f64| {
        let mut row = Row::unmeasured(entry, "getppid", 64);
        row.configuration = [("pti".to_string(), pti.to_string())].into();
        row.instructions = sample::cost::<Instructions>(count, REACH);
        row
    };
    let mut run = document(vec![
        row("syscall-x86_64", "off", 100.0),
        row("syscall-x86_64", "on", 110.0),
        row("int80-i386", "off", 90.0),
        row("call-gate-i386", "on", 95.0),
    ]);
    run.measurement.place = Place::new(Machine::QemuTcg, Kernel::Lab);
    run
}

fn made(name: &str, lab: bool) -> Reproduction {
    let mut closed = Row::unmeasured("sysenter-i386", "getppid", 32);
    (closed.outcome, closed.reason) = (Outcome::Unsupported, Some("SIGILL: no \u{1b}sysenter".into()));
    let run = document(vec![row("syscall-x86_64", 51.2), row("int80-i386", 1812.8), closed]);
    let known = Loop { calls: 100, repetitions: 1, take: compare::published::Take::Mean };
    let mut loops = vec![
        timed("syscall-x86_64", Loop::PLAIN, 55_250),
        timed("syscall-x86_64", Loop::SINGLE, 90),
        timed("int80-i386", Loop::PLAIN, 1_900_000),
        timed("int80-i386", Loop::SINGLE, 1_950),
        timed("syscall-x86_64", known, 11_000),
    ];
    for way in [Loop::PLAIN, Loop::SINGLE] {
        loops.push(Timed { took: Err("SIGILL: no \u{1b}sysenter".into()), ..timed("sysenter-i386", way, 0) });
    }
    let lab = lab.then(in_lab);
    let parts =
        Parts { here: &run.environment, run: Some(&run), timed: &loops, lab: lab.as_ref(), guests: None };
    Reproduction::of(all().find(name).unwrap(), &parts, Table::get())
}

fn rendered(name: &str, lab: bool, format: Format, style: Style) -> String {
    let found = made(name, lab);
    let found = if name == "nothing" { Reproduction { ways: Vec::new(), ..found } } else { found };
    String::from_utf8(reproduction(&found, format, &style).unwrap()).unwrap()
}

/// What only the lab tells, in cycles or in instructions.
fn changes(counted: bool, format: Format, style: Style) -> String {
    let mut run = in_lab();
    if !counted {
        run.measurement.place = Place::new(Machine::QemuKvm, Kernel::Lab);
        for row in &mut run.results {
            let instructions = row.instructions.take();
            row.core_cycles = instructions.and_then(|count| sample::cost(count.estimate.0, REACH));
        }
    }
    let here = environment::Environment::default();
    let parts = Parts { here: &here, run: None, timed: &[], lab: Some(&run), guests: None };
    let found = Reproduction::of(all().find("changes").unwrap(), &parts, Table::get());
    String::from_utf8(reproduction(&found, format, &style).unwrap()).unwrap()
}

#[test]
fn what_an_author_concluded() {
    assert_snapshot!("changes", changes(false, Format::Text, PLAIN));
    assert_snapshot!("changes-markdown", changes(false, Format::Markdown, PLAIN));
    assert_snapshot!("changes-csv", changes(false, Format::Csv, PLAIN));
    assert_snapshot!("changes-json", changes(false, Format::Json, PLAIN));
    assert_snapshot!("changes-counted", changes(true, Format::Text, PLAIN));
    for width in 60..=100 {
        let text = changes(false, Format::Text, Style { width, ..PLAIN });
        assert!(text.lines().all(|line| line.width() <= width), "{width}: {text}");
    }
}

#[test]
fn a_part_has_no_sign_and_says_what_it_is_of() {
    let here = environment::Environment::default();
    let run = in_lab();
    let parts = Parts { here: &here, run: None, timed: &[], lab: Some(&run), guests: None };
    let mut publication = all().find("changes").unwrap().clone();
    publication.ratios.iter_mut().for_each(|ratio| ratio.get_mut().share = true);
    let found = Reproduction::of(&publication, &parts, Table::get());
    let render = |format| String::from_utf8(reproduction(&found, format, &PLAIN).unwrap()).unwrap();
    let text = render(Format::Text);
    let first = found.ratios.first().unwrap();
    let told = format!("{:.0} %", 100.0 * first.published);
    assert!(text.contains(&told) && !text.contains(&format!("+{told}")), "{told}: {text}");
    for words in ["part ", "of instructions executed in an emulator, not times", "parts, percent"] {
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{words}: {text}");
    }
    assert!(found.ratios.iter().any(|one| one.here.is_some()), "counts tell parts");
    assert!(render(Format::Markdown).contains("\n## parts\n"));
    assert!(render(Format::Csv).contains(",part,") && !render(Format::Csv).contains(",change,"));
}

#[test]
fn an_index_that_is_measured() {
    let operation = "unixbench-syscall";
    let mut turn = Row { operation: operation.into(), ..row("libc", 236.0) };
    turn.rate = document::Rate::of(operation, turn.ns.as_ref());
    let run = document(vec![turn]);
    let way = Loop { calls: 1000, repetitions: 2, take: compare::published::Take::Mean };
    let took = Timed { operation: operation.into(), ..timed("libc", way, 270_000) };
    let (timed, guests) = ([took], sample::in_guests());
    let parts =
        Parts { here: &run.environment, run: Some(&run), timed: &timed, lab: None, guests: Some(&guests) };
    let found = Reproduction::of(all().find("loops").unwrap(), &parts, Table::get());
    let render = |format| String::from_utf8(reproduction(&found, format, &PLAIN).unwrap()).unwrap();
    assert_snapshot!("loops", render(Format::Text));
    assert_snapshot!("loops-markdown", render(Format::Markdown));
    assert_snapshot!("loops-csv", render(Format::Csv));
    assert_snapshot!("loops-json", render(Format::Json));
}

#[test]
fn as_text() {
    assert_snapshot!("two-conditions", rendered("two-conditions", true, Format::Text, PLAIN));
    let narrow = Style { width: 60, ..PLAIN };
    assert_snapshot!("two-conditions-60", rendered("two-conditions", true, Format::Text, narrow));
    let verbose = Style { verbose: true, width: 120, ..PLAIN };
    assert_snapshot!("two-conditions-verbose", rendered("two-conditions", false, Format::Text, verbose));
    assert_snapshot!("known-way", rendered("known-way", false, Format::Text, PLAIN));
    assert_snapshot!("nothing", rendered("nothing", false, Format::Text, PLAIN));
    let colored = rendered("known-way", false, Format::Text, Style { color: true, ..PLAIN });
    assert_snapshot!("known-way-color", colored.replace('\u{1b}', "␛"));
    assert_eq!(color::without(&colored), rendered("known-way", false, Format::Text, PLAIN));
}

#[test]
fn for_programs_and_pull_requests() {
    assert_snapshot!("two-conditions-markdown", rendered("two-conditions", true, Format::Markdown, PLAIN));
    assert_snapshot!("two-conditions-csv", rendered("two-conditions", true, Format::Csv, PLAIN));
    assert_snapshot!("known-way-json", rendered("known-way", true, Format::Json, PLAIN));
}

fn picture(found: &Reproduction) -> String {
    String::from_utf8(reproduction(found, Format::Svg, &PLAIN).unwrap()).unwrap()
}

#[test]
fn as_a_picture() {
    assert_snapshot!("two-conditions-svg", picture(&made("two-conditions", true)));
    for name in ["two-conditions", "known-way", "nothing"] {
        let drawn = picture(&made(name, true));
        assert!(
            quick_xml::Reader::from_str(&drawn).read_event().is_ok() && !drawn.contains("<script"),
            "{name}"
        );
        assert!(!drawn.contains(['\u{1b}', '\u{202e}']) && !drawn.contains("<isolation>"), "{name}");
    }
}

/// The charts of a picture, and what is drawn in each.
fn panels(drawn: &str) -> Vec<&str> {
    drawn.split("<g class=\"panel\">").skip(1).collect()
}

#[test]
fn counts_are_on_no_scale_with_times_and_what_is_unknown_has_no_bar() {
    let found = made("two-conditions", true);
    let drawn = picture(&found);
    let bars = |panel: &str, class: &str| panel.matches(&format!("<rect class=\"bar {class}\"")).count();
    let [times, counts] = panels(&drawn)[..] else { panic!("{drawn}") };
    let published = found.figures.iter().filter(|figure| figure.published.is_some()).count();
    let measured = |way: &str| {
        let all = found.figures.iter().flat_map(|figure| &figure.measured);
        all.filter(|one| one.way == way && one.to_published.is_some()).count()
    };
    assert_eq!((bars(times, "published"), bars(times, "counted")), (published, 0));
    assert_eq!((bars(times, "loop"), bars(times, "kentry")), (measured("loop"), measured("kentry")));
    let counted = found.lab.as_ref().unwrap().figures.iter().filter(|one| one.value.is_some()).count();
    assert_eq!((bars(counts, "counted"), bars(counts, "published"), bars(counts, "kentry")), (counted, 0, 0));
    assert!(counts.contains("instructions, emulated") && counted > 0);
    // In text too, each figure has its bar, and `-` none.
    let text = rendered("two-conditions", true, Format::Text, PLAIN);
    assert_eq!(
        text.lines().filter(|line| line.contains(" publ. ") && line.ends_with('░')).count(),
        published
    );
    let unknown = text.lines().filter(|line| line.contains("  here  ") && line.ends_with(" -"));
    assert!(unknown.count() >= 2, "{text}");
    for line in text.lines().filter(|line| line.contains('░') && !line.contains("published")) {
        assert!(!line.contains('█'), "{line}");
    }
}

#[test]
fn a_chart_in_which_nothing_was_measured_here_has_published_bars_alone() {
    let found = made("two-conditions", true);
    let text = rendered("two-conditions", true, Format::Text, PLAIN);
    let chart = |title: &str| {
        let lines = text.lines().skip_while(|line| *line != title).skip(1);
        lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>()
    };
    let [none, some] = ["PTI on, ns", "PTI off, ns"].map(chart);
    assert!(!none.is_empty() && none.iter().all(|line| line.contains(" publ. ")), "{none:?}");
    assert!(some.iter().any(|line| line.contains("  here  ") && line.ends_with(" -")), "{some:?}");
    assert!(some.iter().any(|line| line.contains("  kentry  ")), "{some:?}");
    let drawn = picture(&found);
    let labels = panels(&drawn)[0].matches(">here</text>").count();
    let missing = some.iter().filter(|line| line.contains("  here  ")).count();
    assert_eq!(labels, missing, "the picture has the lines of the text");
    assert!(!picture(&made("nothing", true)).contains(">here</text>"));
}

#[test]
fn bars_are_as_long_as_their_figures_and_stay_within_the_scale() {
    for found in [made("two-conditions", true), made("known-way", false), made("nothing", false)] {
        for panel in panels(&picture(&found)) {
            let number = |text: &str, before: &str| -> f64 {
                text.split(before).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
            };
            let groups = panel.split("<g><title>").skip(1).filter(|group| group.contains("<rect"));
            let bars = groups.map(|group| {
                let figure =
                    group.split("class=\"number\"").nth(1).unwrap().split(['>', '<']).nth(1).unwrap();
                let rect = group.split("<rect ").nth(1).unwrap();
                (number(rect, " x=\""), number(rect, " width=\""), figure.parse::<f64>().unwrap())
            });
            let bars: Vec<(f64, f64, f64)> = bars.collect();
            let scale = bars[0].1 / bars[0].2;
            for (x, width, figure) in bars {
                assert!(x >= 250.0 && x + width <= 790.01, "{x} {width}");
                assert!((width / scale - figure).abs() <= 0.06 + 0.02 / scale, "{figure}: {width}");
            }
        }
    }
}

#[test]
fn the_list_in_every_format() {
    for format in Kind::LIST.formats.iter().copied() {
        let listed = publications(&all(), format, &PLAIN).unwrap();
        assert_snapshot!(format!("publications-{format}"), String::from_utf8(listed).unwrap());
    }
}

#[test]
fn every_line_fits_and_nothing_steers_a_terminal() {
    let is_harmless = |text: &str| assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    for width in 60..=140 {
        for verbose in [false, true] {
            let style = Style { width, verbose, ..PLAIN };
            for name in ["two-conditions", "known-way", "nothing"] {
                let text = rendered(name, true, Format::Text, style);
                is_harmless(&text);
                for line in text.lines() {
                    assert!(line.width() <= width, "{} > {width}: {line}", line.width());
                    assert_eq!(line, line.trim_end(), "blanks at the end");
                }
            }
        }
    }
    for format in Kind::LIST.formats.iter().copied() {
        is_harmless(&rendered("two-conditions", true, format, PLAIN));
        is_harmless(&String::from_utf8(publications(&all(), format, &PLAIN).unwrap()).unwrap());
    }
}

#[test]
fn the_built_tables_fit_a_terminal_before_anything_is_measured() {
    let run = document(Vec::new());
    for publication in Publications::get().iter() {
        let parts = Parts { here: &run.environment, run: None, timed: &[], lab: None, guests: None };
        let found = Reproduction::of(publication, &parts, Table::get());
        for width in [60, 80, 100] {
            let text = reproduction(&found, Format::Text, &Style { width, ..PLAIN }).unwrap();
            for line in String::from_utf8(text).unwrap().lines() {
                assert!(line.width() <= width, "{}: {} > {width}: {line}", publication.name, line.width());
            }
        }
    }
}

#[test]
fn an_absent_number_is_never_0() {
    let value: serde_json::Value =
        serde_json::from_str(&rendered("two-conditions", true, Format::Json, PLAIN)).unwrap();
    for figure in value["figures"].as_array().unwrap().iter().filter(|figure| figure["row"] == "sysenter") {
        assert!(figure["measured"].as_array().unwrap().iter().all(|one| one["value"].is_null()), "{figure}");
        assert_eq!(figure["reason"], "SIGILL: no \u{1b}sysenter");
    }
    let text = rendered("two-conditions", true, Format::Text, PLAIN);
    let line = text.lines().find(|line| line.starts_with("sysenter ")).unwrap();
    assert_eq!(line.matches(" -").count(), 7, "{line}");
}

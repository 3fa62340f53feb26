//! What reports look like, held fast. `INSTA_UPDATE=always cargo test -p report` writes them anew; read the diff.

#![allow(clippy::unwrap_used, reason = "a test")]

mod sample;

use document::Document;
use insta::assert_snapshot;
use report::{Format, Kind, Selection, Style, list, render, summary_of_row};
use table::Kernel;

const PLAIN: Style = Style { color: false, width: 100, verbose: false, selection: Selection::All };
const FIRST: Style = Style { selection: Selection::FirstScreen, ..PLAIN };

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn rendered(document: &Document, format: Format, style: Style) -> String {
    text_of(render(document, sample::table(), format, &style).unwrap())
}

fn text(document: &Document, style: Style) -> String {
    rendered(document, Format::Text, style)
}

fn listed(format: Format, style: Style) -> String {
    text_of(list(sample::table(), Kernel::Lab, format, &style).unwrap())
}

/// Escapes made visible.
fn visible(text: &str) -> String {
    text.replace('\u{1b}', "␛")
}

#[test]
fn first_screens() {
    let documents = [
        ("ordinary", sample::ordinary()),
        ("noisy", sample::noisy()),
        ("closed", sample::partly_closed()),
        ("hybrid", sample::hybrid()),
        ("emulated", sample::emulated_host()),
    ];
    for (name, document) in documents {
        assert_snapshot!(format!("first-{name}"), text(&document, FIRST));
    }
    assert_snapshot!("first-closed-60", text(&sample::partly_closed(), Style { width: 60, ..FIRST }));
    let color = Style { color: true, ..FIRST };
    assert_snapshot!("first-closed-color", visible(&text(&sample::partly_closed(), color)));
    assert_snapshot!("first-markdown", rendered(&sample::ordinary(), Format::Markdown, FIRST));
}

#[test]
fn ordinary_text() {
    assert_snapshot!("ordinary", text(&sample::ordinary(), PLAIN));
}

#[test]
fn unixbenchs_loops_have_a_table_of_turns_in_a_second() {
    let document = sample::loops();
    assert_snapshot!("unixbench", text(&document, PLAIN));
    assert_snapshot!("unixbench-markdown", rendered(&document, Format::Markdown, PLAIN));
    let csv = rendered(&document, Format::Csv, PLAIN);
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.rsplit(',').take(6).collect()).collect();
    assert_eq!(
        lines[0].iter().rev().copied().collect::<Vec<_>>()[..2],
        ["loops_per_second", "loops_per_second_ci_low"]
    );
    let filled = |line: &[&str]| line.iter().filter(|cell| !cell.is_empty()).count();
    let of = |operation: &str| {
        let place = document.results.iter().rposition(|row| row.operation == operation).unwrap();
        filled(&lines[place + 1])
    };
    assert_eq!(["unixbench-syscall", "unixbench-close", "getppid"].map(of), [6, 3, 0], "{csv}");
    let without = text(&sample::ordinary(), PLAIN);
    assert!(!without.contains("UnixBench"), "{without}");
}

const CURVE: [&str; 12] = ["0", "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"];

#[test]
fn a_curve_has_a_line_for_each_number_of_pages() {
    let mut document = sample::among(&CURVE);
    assert_snapshot!("curve", text(&document, PLAIN));
    sample::make_noisy(&mut document.results[3], stats::NoiseKind::Shared);
    document.results[4].outcome = document::Outcome::Timeout;
    document.results[4].reason = Some("it did not end within 20 s".into());
    assert_snapshot!("curve-gaps", text(&document, PLAIN));
}

#[test]
fn few_footprints_stand_side_by_side_and_no_row_is_lost() {
    for footprints in
        [&["0", "64", "1024"][..], &["0", "64", "128", "8,512"], &["64"], &["0", "1", "many", "4"]]
    {
        let document = if footprints.contains(&"many") {
            let mut document = sample::among(&["0", "1", "2", "4"]);
            document.results[2].configuration.insert("footprint".into(), "many".into());
            document
        } else {
            sample::among(footprints)
        };
        let text = text(&document, PLAIN);
        assert!(
            text.contains("footprint") && text.contains("logarithmic") == (footprints.len() == 1),
            "{text}"
        );
        for row in &document.results {
            let cost = row.core_cycles.unwrap().estimate.0;
            assert!(text.contains(&format!("{cost:.1}")), "{footprints:?}: {cost} is not in {text}");
        }
    }
    assert_snapshot!("footprints", text(&sample::among(&["0", "64", "8,512"]), PLAIN));
}

#[test]
fn odd_text() {
    assert_snapshot!("odd", text(&sample::odd(), PLAIN));
    assert_snapshot!("odd-60", text(&sample::odd(), Style { width: 60, ..PLAIN }));
    let color = Style { color: true, ..PLAIN };
    assert_snapshot!("odd-color", visible(&text(&sample::odd(), color)));
}

#[test]
fn verbose_text() {
    assert_snapshot!("odd-verbose", text(&sample::odd(), Style { verbose: true, ..PLAIN }));
}

#[test]
fn emulated_text() {
    let mut document = sample::odd();
    document.results.retain(|row| row.instructions.is_some());
    document.environment.host = "lab".to_owned();
    assert_snapshot!("emulated", text(&document, PLAIN));
}

#[test]
fn lab_text() {
    assert_snapshot!("lab", text(&sample::lab(), PLAIN));
    assert_snapshot!("lab-verbose", text(&sample::lab(), Style { verbose: true, ..PLAIN }));
    assert_snapshot!("lab-one", text(&sample::lab_of_one(), PLAIN));
    assert_snapshot!("lab-hardware", text(&sample::lab_on_hardware(), PLAIN));
    assert_snapshot!("lab-markdown", rendered(&sample::lab(), Format::Markdown, PLAIN));
}

/// With `stack=minimum` the lab refuses an unknown number before it saves a register, so `none` is no floor.
#[test]
fn the_smallest_call_stands_before_a_number_that_is_refused_early() {
    let order = |stack: &str| {
        let mut document = sample::lab();
        for row in &mut document.results {
            row.configuration.insert("stack".into(), stack.into());
        }
        let text = text(&document, PLAIN);
        let at = |name: &str| text.lines().position(|line| line.trim_start().starts_with(name)).unwrap();
        at("getppid ").cmp(&at("none "))
    };
    assert_eq!(order("minimum"), std::cmp::Ordering::Less);
    assert_eq!(order("frame"), std::cmp::Ordering::Greater);
}

#[test]
fn nothing_measured() {
    let mut document = sample::ordinary();
    document.results.clear();
    assert_snapshot!("empty", text(&document, PLAIN));
    assert_snapshot!("empty-markdown", rendered(&document, Format::Markdown, PLAIN));
}

#[test]
fn markdown() {
    assert_snapshot!("odd-markdown", rendered(&sample::odd(), Format::Markdown, PLAIN));
    let verbose = Style { verbose: true, ..PLAIN };
    assert_snapshot!("odd-markdown-verbose", rendered(&sample::odd(), Format::Markdown, verbose));
}

#[test]
fn data_formats() {
    assert_snapshot!("odd-csv", rendered(&sample::odd(), Format::Csv, PLAIN).replace("\r\n", "\n"));
    let mut small = sample::odd();
    small
        .results
        .retain(|row| row.entry == "rdtscp" || row.entry == "lcall7-i386" || row.entry.contains("fred"));
    assert_snapshot!("small-json", rendered(&small, Format::Json, PLAIN));
}

#[test]
fn lists() {
    for format in Kind::LIST.formats.iter().copied() {
        assert_snapshot!(format!("list-{format}"), listed(format, PLAIN).replace("\r\n", "\n"));
    }
}

#[test]
fn summaries() {
    let odd = sample::odd();
    let lines: Vec<String> = odd.results.iter().map(|row| summary_of_row(&odd, row)).collect();
    assert_snapshot!("summaries", lines.join("\n"));
}

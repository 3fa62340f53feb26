//! What holds for every report, whatever the document and the terminal.

#![allow(clippy::unwrap_used, reason = "a test")]

mod color;
mod sample;

use document::{Document, FOOTPRINT, Outcome, Row};
use report::{Format, Kind, Selection, Style, list, render};
use table::special::is_on_first_screen;
use table::{Entry, Kernel, Table};
use unicode_width::UnicodeWidthStr;

fn rendered(document: &Document, format: Format, style: &Style) -> String {
    String::from_utf8(render(document, sample::table(), format, style).unwrap()).unwrap()
}

fn style(width: usize, verbose: bool) -> Style {
    Style { color: false, width, verbose, selection: Selection::All }
}

fn assert_fits(text: &str, width: usize) {
    for line in text.lines() {
        assert!(line.width() <= width, "{} > {width}: {line}", line.width());
        assert_eq!(line, line.trim_end(), "blanks at the end");
    }
}

/// Something of everything that a document can have.
fn documents() -> [Document; 7] {
    let curve = sample::among(&["0", "1", "2", "4", "8", "16", "32", "64"]);
    [
        sample::ordinary(),
        sample::odd(),
        sample::lab(),
        sample::lab_of_one(),
        sample::lab_on_hardware(),
        sample::loops(),
        curve,
    ]
}

/// Those that the first screen is of.
fn whole_runs() -> [Document; 5] {
    [sample::ordinary(), sample::noisy(), sample::partly_closed(), sample::hybrid(), sample::emulated_host()]
}

#[test]
fn every_line_fits_the_terminal() {
    let documents = documents();
    for width in (60..=120).chain((121..=200).step_by(8)) {
        for verbose in [false, true] {
            let style = style(width, verbose);
            for document in &documents {
                assert_fits(&rendered(document, Format::Text, &style), width);
            }
        }
        let listed = list(sample::table(), Kernel::Lab, Format::Text, &style(width, false)).unwrap();
        assert_fits(&String::from_utf8(listed).unwrap(), width);
    }
}

/// Whether a list has an entry. Its name may be a word of a title, too, or that of a switch.
fn has_entry(list: &str, format: Format, entry: &Entry) -> bool {
    let number = entry.id.to_string();
    let is_row = |line: &str| {
        let words: Vec<&str> =
            line.split([' ', ',', '|', '`']).filter(|word| !word.is_empty()).take(2).collect();
        words == [number.as_str(), entry.name.as_str()]
    };
    match format {
        Format::Json => {
            let list: serde_json::Value = serde_json::from_str(list).unwrap();
            list["entries"].as_array().unwrap().iter().any(|one| one["name"] == entry.name.as_str())
        }
        _ => list.lines().any(is_row),
    }
}

#[test]
fn the_real_table_fits_too() {
    for (format, kernel) in
        Kind::LIST.formats.iter().flat_map(|format| Kernel::ALL.map(|kernel| (*format, kernel)))
    {
        let bytes = list(Table::get(), kernel, format, &style(60, false)).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        for entry in &Table::get().entries {
            let is_there = has_entry(&text, format, entry);
            assert_eq!(is_there, entry.kernels.contains(&kernel), "{format}: {}", entry.name);
        }
        if format == Format::Text {
            assert_fits(&text, 60);
        }
    }
}

#[test]
fn a_narrower_terminal_gets_sixty_columns() {
    let document = sample::odd();
    let narrow = rendered(&document, Format::Text, &style(0, false));
    assert_eq!(narrow, rendered(&document, Format::Text, &style(60, false)));
}

#[test]
fn names_of_any_length_fit() {
    let mut document = sample::odd();
    for length in 1..=70 {
        let row = &mut document.results[0];
        row.entry = "e".repeat(length);
        row.operation = "o".repeat(71 - length);
        document.results[1].entry = "核".repeat(length);
        assert_fits(&rendered(&document, Format::Text, &style(60, false)), 60);
    }
}

/// Wide, combining, joining, invisible, right-to-left and control characters, and blanks.
const HARD: [char; 24] = [
    'a',
    ' ',
    '核',
    '한',
    '\u{301}',
    '\u{200d}',
    '\u{fe0f}',
    '👍',
    '🏽',
    '🇩',
    '🇪',
    'ل',
    'ا',
    '\u{202e}',
    '\u{1b}',
    '\t',
    '\n',
    '\u{9b}',
    '\u{e0041}',
    '\u{1100}',
    '\u{1161}',
    '|',
    '\u{a0}',
    '\u{3000}',
];

#[test]
fn text_of_any_characters_fits() {
    let mut state = 1_u64;
    let mut text = |length: usize| -> String {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            HARD[(state >> 33) as usize % HARD.len()]
        };
        (0..length).map(|_| next()).collect()
    };
    let mut document = sample::odd();
    for length in 0..80 {
        for row in &mut document.results {
            (row.entry, row.operation) = (text(length % 40), text(80 - length));
            row.reason = row.reason.as_ref().map(|_| text(length * 3));
            row.remarks = vec![text(length * 3)];
        }
        for finding in &mut document.findings {
            finding.verdict = text(length * 3);
            finding.next = Some(text(length * 2));
        }
        document.environment.cpu.brand = Some(text(length));
        for width in [60, 77] {
            assert_fits(&rendered(&document, Format::Text, &style(width, length % 2 == 0)), width);
        }
    }
}

#[test]
fn configurations_stand_side_by_side_where_there_is_room_and_are_all_shown_anywhere() {
    let mut document = sample::lab();
    for width in [60, 80, 100] {
        let text = rendered(&document, Format::Text, &style(width, false));
        assert_eq!(text.matches("syscall-x86_64  ").count(), 1, "{width}: one title for all configurations");
    }
    // Thirty configurations more than any line holds.
    let rows = document.results.clone();
    for number in 0..30 {
        document.results.extend(rows.iter().cloned().map(|mut row| {
            row.configuration.insert("smap".into(), number.to_string());
            row
        }));
    }
    let text = rendered(&document, Format::Text, &style(100, false));
    assert_fits(&text, 100);
    assert!(text.matches("syscall-x86_64  ").count() > 30, "each configuration has its own rows");
}

#[test]
fn nothing_from_outside_steers_a_terminal() {
    for format in Kind::RUN.formats.iter().copied() {
        for verbose in [false, true] {
            let text = rendered(&sample::odd(), format, &style(100, verbose));
            let steering = |c: &char| c.is_control() && !matches!(c, '\n' | '\r') || *c == '\u{202e}';
            assert_eq!(text.chars().find(steering), None, "{format}");
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{format}");
        }
    }
}

#[test]
fn color_changes_nothing_but_color() {
    for document in documents().iter().chain(&whole_runs()) {
        for selection in [Selection::All, Selection::FirstScreen] {
            let plain = Style { selection, ..style(80, false) };
            let colored = rendered(document, Format::Text, &Style { color: true, ..plain });
            assert_ne!(colored, color::without(&colored));
            assert_eq!(color::without(&colored), rendered(document, Format::Text, &plain));
        }
    }
}

#[test]
fn every_word_of_a_reason_is_there() {
    let document = sample::odd();
    for width in [60, 100] {
        let text = rendered(&document, Format::Text, &style(width, false));
        let squeezed: String = text.split_whitespace().collect();
        for row in &document.results {
            let reason: String = row.reason.iter().flat_map(|reason| reason.split_whitespace()).collect();
            assert!(squeezed.contains(&reason), "{width}: {reason}");
        }
    }
}

#[test]
fn csv_reads_back_and_is_empty_where_nothing_was_measured() {
    let document = sample::odd();
    let text = rendered(&document, Format::Csv, &style(100, false));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|column| column == name).unwrap();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), document.results.len());
    for (record, row) in records.iter().zip(&document.results) {
        let cycles = record[column("core_cycles_estimate")].parse::<f64>().ok();
        let figure = row.core_cycles.filter(|cost| document::is_figure(&cost.unitless()));
        assert_eq!(cycles, figure.map(|cost| cost.estimate.0));
        if row.outcome != Outcome::Ok {
            let costs = column("core_cycles_estimate")..column("throughput_max");
            assert!(costs.into_iter().all(|column| record[column].is_empty()));
        }
    }
    assert!(text.lines().count() == document.results.len() + 1 && text.contains("pcid=off;pti=on"));
}

#[test]
fn json_is_the_document() {
    let document = sample::odd();
    let text = rendered(&document, Format::Json, &style(100, false));
    assert_eq!(document::load(&text).unwrap(), document);
}

#[test]
fn a_screen_of_forty_lines_of_a_hundred_columns_holds_the_first_screen() {
    for document in whole_runs().into_iter().chain([sample::run_of(Table::get())]) {
        let style = Style { selection: Selection::FirstScreen, ..style(100, false) };
        let (rows, screen) = (document.results.len(), rendered(&document, Format::Text, &style));
        assert!(rows >= 135, "{rows} rows");
        assert!(screen.lines().count() <= 40, "{screen}");
        assert!(screen.contains(&format!("of {rows} rows. --all shows every row")), "{screen}");
        assert_fits(&screen, 100);
    }
}

#[test]
fn a_run_of_the_first_screens_rows_says_how_to_measure_the_others() {
    let mut document = sample::ordinary();
    document.results.retain(|row| is_on_first_screen(&row.entry, &row.operation));
    let style = Style { selection: Selection::FirstScreen, ..style(100, false) };
    let screen = rendered(&document, Format::Text, &style);
    assert!(
        screen.contains("kentry --all measures every row") && !screen.contains(" rows. --all"),
        "{screen}"
    );
    document.results.truncate(2);
    assert!(!rendered(&document, Format::Text, &style).contains("--all"), "two rows were asked for");
}

#[test]
fn first_screens_fit_every_terminal() {
    for document in whole_runs().into_iter().chain([sample::odd()]) {
        for width in (60..=140).step_by(5) {
            let style = Style { selection: Selection::FirstScreen, ..style(width, false) };
            assert_fits(&rendered(&document, Format::Text, &style), width);
        }
    }
}

#[test]
fn everything_is_shown_when_it_is_asked_for_or_there_is_little() {
    let all = style(100, false);
    let first = Style { selection: Selection::FirstScreen, ..all };
    let full = sample::ordinary();
    assert_ne!(rendered(&full, Format::Text, &first), rendered(&full, Format::Text, &all));
    let mut few = sample::ordinary();
    few.results.truncate(20);
    for document in [few, sample::lab(), sample::lab_of_one()] {
        assert_eq!(rendered(&document, Format::Text, &first), rendered(&document, Format::Text, &all));
    }
}

#[test]
fn a_saved_document_looks_like_the_one_that_was_measured() {
    let style = Style { selection: Selection::FirstScreen, ..style(100, false) };
    for document in [sample::ordinary(), sample::noisy(), sample::odd(), sample::lab()] {
        let loaded = document::load(&rendered(&document, Format::Json, &style)).unwrap();
        for format in Kind::RUN.formats.iter().copied() {
            assert_eq!(rendered(&loaded, format, &style), rendered(&document, format, &style), "{format}");
        }
    }
}

#[test]
fn only_the_switches_that_rows_differ_in_are_told() {
    let text = rendered(&sample::lab(), Format::Text, &style(100, false));
    assert!(text.contains("pcid=off pti=on") && !text.contains("pti=on smap"), "{text}");
    let head = |text: &str| text.lines().find(|line| line.starts_with("switches")).unwrap().to_owned();
    assert!(head(&text).ends_with("  the defaults, but for what is compared"), "{text}");
    // A reader who wants all of them gets them.
    let verbose = rendered(&sample::lab(), Format::Text, &style(100, true));
    assert!(head(&verbose).ends_with(" smap=on"), "{verbose}");
}

#[test]
fn what_all_rows_have_and_is_not_by_default_stands_in_the_head() {
    let mut document = sample::lab_of_one();
    let head = |document: &document::Document| {
        let text = rendered(document, Format::Text, &style(200, false));
        text.lines()
            .find(|line| line.starts_with("switches"))
            .unwrap()
            .trim_start_matches("switches")
            .trim()
            .to_owned()
    };
    let lab = document.environment.lab.as_mut().unwrap();
    let mut whole = lab.switches.clone();
    assert!(whole.insert("pti".into(), "on".into()).is_some_and(|before| before == "off"));
    document.results.iter_mut().for_each(|row| row.configuration = whole.clone());
    assert_eq!(head(&document), "pti=on, otherwise the defaults");
    let rows: Vec<String> =
        document.results.iter().map(|row| report::summary_of_row(&document, row)).collect();
    assert!(rows.iter().all(|row| row.contains(" (pti=on)")), "{rows:?}");
    whole.insert("pti".into(), "off".into());
    document.results.iter_mut().for_each(|row| row.configuration = whole.clone());
    assert_eq!(head(&document), "the defaults");
}

#[test]
fn a_switch_that_an_entry_fixes_compares_nothing() {
    let mut document = sample::lab_of_one();
    for row in &mut document.results {
        let gate = if row.entry == "lcall7-i386" { "trap" } else { "interrupt" };
        row.configuration.insert("gate".into(), gate.into());
    }
    let text = rendered(&document, Format::Text, &style(100, false));
    assert!(!text.contains("gate="), "{text}");
}

/// One row that always runs with one type of gate kept the head from saying that all others had another than by default.
#[test]
fn a_switch_that_an_entry_fixes_does_not_speak_for_the_other_rows() {
    let mut document = sample::lab_of_one();
    let mut whole = document.environment.lab.as_ref().unwrap().switches.clone();
    whole.insert("gate".into(), "trap".into());
    document.environment.lab.as_mut().unwrap().switches.insert("gate".into(), "interrupt".into());
    let mut fixed = document.results[0].clone();
    (fixed.entry, fixed.configuration) = ("intgate-i386".into(), whole.clone());
    fixed.configuration.insert("gate".into(), "interrupt".into());
    document.results.iter_mut().for_each(|row| row.configuration = whole.clone());
    document.results.insert(0, fixed);
    let head = |document: &document::Document, verbose| {
        let text = rendered(document, Format::Text, &style(400, verbose));
        text.lines().find(|line| line.starts_with("switches")).unwrap().to_owned()
    };
    assert!(head(&document, false).ends_with("  gate=trap, otherwise the defaults"));
    assert!(head(&document, true).contains(" gate=trap"));
    // Where all rows have a value of their own, that is what they have in common.
    document.results.truncate(1);
    assert!(head(&document, false).ends_with("  the defaults"));
    assert!(head(&document, true).contains(" gate=interrupt"));
}

#[test]
fn counts_of_any_size_are_shown() {
    let mut document = sample::odd();
    document.measurement.counts.rounds = u64::MAX;
    let text = rendered(&document, Format::Text, &style(100, true));
    assert!(text.contains("18446744073709551615"), "{text}");
}

/// What makes one row of many, by its number.
type Shape = (&'static str, fn(&mut Row, usize));

/// Documents of so many rows that each differ from the others in one way.
const SHAPES: [Shape; 7] = [
    ("alike", |_, _| ()),
    ("configurations", |row, number| drop(row.configuration.insert("set".into(), number.to_string()))),
    ("entries", |row, number| row.entry = format!("entry-{number}")),
    ("operations", |row, number| row.operation = format!("operation-{number}")),
    ("footprints", |row, number| drop(row.configuration.insert(FOOTPRINT.into(), number.to_string()))),
    ("two configurations", |row, number| {
        row.operation = format!("operation-{}", number / 2);
        row.configuration.insert("pti".into(), ["on", "off"][number % 2].into());
    }),
    ("reasons", |row, number| {
        (row.outcome, row.reason) = (Outcome::Error, Some(format!("reason {number}")));
        (row.core_cycles, row.ticks, row.ns) = (None, None, None);
        row.operation = format!("operation-{}", number / 2);
        row.configuration.insert("pti".into(), ["on", "off"][number % 2].into());
    }),
];

/// How long this thread has computed: others' load is not in it.
fn own_time() -> std::time::Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// With 8,000 rows `kentry show` took 17 s: each line looked at all rows.
#[test]
fn a_row_takes_as_long_as_one_of_few() {
    const FEW: usize = 100;
    const TIMES: usize = 10;
    let first = |document: &Document| document.results.iter().find(|row| row.core_cycles.is_some()).cloned();
    let row = first(&sample::ordinary()).unwrap();
    let takes = |(_, change): Shape, rows: usize, style: &Style| {
        let mut document = sample::ordinary();
        let numbered = (0..rows).map(|number| {
            let mut row = row.clone();
            change(&mut row, number);
            row
        });
        document.results = numbered.collect();
        let once = |_| {
            let begin = own_time();
            rendered(&document, Format::Text, style);
            own_time() - begin
        };
        (0..3).map(once).min().unwrap()
    };
    for selection in [Selection::All, Selection::FirstScreen] {
        for (shape, verbose) in SHAPES.iter().flat_map(|shape| [(*shape, false), (*shape, true)]) {
            let style = Style { selection, ..style(100, verbose) };
            let [few, many] = [FEW, FEW * TIMES].map(|rows| takes(shape, rows, &style));
            // In proportion to the rows it would be 10 times as long, and in proportion to their square, 100 times.
            let ratio = many.as_secs_f64() / few.as_secs_f64();
            assert!(ratio < 35.0, "{}, {style:?}: {few:?}, {many:?}", shape.0);
        }
    }
}

//! Comparisons in every format: what they look like, held fast, and what no document's text can do to them.
//! `INSTA_UPDATE=always cargo test -p report` writes the snapshots anew; read the diff.

#![allow(clippy::unwrap_used, reason = "a test")]

mod color;
mod compared;

use compare::Comparison;
use insta::assert_snapshot;
use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};
use report::{Format, Kind, Selection, Style, comparison};
use unicode_width::UnicodeWidthStr;

const FIRST: Style = Style { color: false, width: 100, verbose: false, selection: Selection::FirstScreen };
const ALL: Style = Style { selection: Selection::All, ..FIRST };

fn rendered(compared: &Comparison, format: Format, style: Style) -> String {
    String::from_utf8(comparison(compared, format, &style).unwrap()).unwrap()
}

fn text(compared: &Comparison, style: Style) -> String {
    rendered(compared, Format::Text, style)
}

/// Everything that the samples hold.
fn samples() -> [(&'static str, Comparison); 6] {
    [
        ("update", compared::update()),
        ("calm", compared::calm()),
        ("noisy", compared::noisy()),
        ("counted", compared::counted()),
        ("live", compared::live()),
        ("refused", compared::refused()),
    ]
}

#[test]
fn first_screens() {
    for (name, compared) in samples() {
        assert_snapshot!(format!("compare-{name}"), text(&compared, FIRST));
    }
    assert_snapshot!("compare-update-60", text(&compared::update(), Style { width: 60, ..FIRST }));
    let color = text(&compared::update(), Style { color: true, ..FIRST });
    assert_snapshot!("compare-update-color", color.replace('\u{1b}', "␛"));
}

#[test]
fn everything() {
    assert_snapshot!("compare-update-all", text(&compared::update(), ALL));
    assert_snapshot!("compare-live-verbose", text(&compared::live(), Style { verbose: true, ..ALL }));
    assert_snapshot!("compare-calm-verbose", text(&compared::calm(), Style { verbose: true, ..ALL }));
}

#[test]
fn other_formats() {
    let mut short = compared::update();
    short.rows.truncate(12);
    for format in [Format::Csv, Format::Markdown, Format::Junit, Format::Ktap] {
        assert_snapshot!(format!("compare-update-{format}"), rendered(&short, format, FIRST));
        assert_snapshot!(format!("compare-refused-{format}"), rendered(&compared::refused(), format, FIRST));
    }
    short.rows.truncate(1);
    let json = rendered(&short, Format::Json, FIRST);
    assert_eq!(serde_json::from_str::<Comparison>(&json).unwrap(), short, "JSON is the comparison, whole");
}

#[test]
fn csv_has_every_row_and_every_digit() {
    for (name, compared) in samples() {
        let csv = rendered(&compared, Format::Csv, FIRST);
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let columns = reader.headers().unwrap().clone();
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), compared.rows.len(), "{name}");
        for (record, row) in records.iter().zip(&compared.rows) {
            let cell = |column: &str| &record[columns.iter().position(|name| name == column).unwrap()];
            let number = |column: &str| cell(column).parse::<f64>().ok();
            let verdict = serde_json::to_value(row.verdict).unwrap();
            assert_eq!((cell("entry"), cell("operation")), (&*row.entry, &*row.operation));
            assert_eq!(serde_json::json!(cell("verdict")), verdict);
            let change = row.change.as_ref();
            assert_eq!(number("change"), change.map(|change| change.estimate));
            assert_eq!(number("percent_ci_high"), change.and_then(|change| change.percent_high));
            assert_eq!(number("new_estimate"), row.new.as_ref().and_then(|side| side.estimate));
            let reason = row.base.as_ref().and_then(|side| side.reason.as_deref());
            assert_eq!(cell("base_reason"), reason.unwrap_or_default());
        }
    }
}

#[test]
fn a_first_screen_fits_a_screen() {
    for (name, compared) in samples() {
        let text = text(&compared, FIRST);
        assert!(text.lines().count() <= 40, "{name}: {} lines", text.lines().count());
    }
    for (name, compared) in samples() {
        for width in (60..=140).chain([200]) {
            for selection in [Selection::FirstScreen, Selection::All] {
                let style = Style { width, selection, verbose: width % 2 == 0, ..FIRST };
                assert_fits(&text(&compared, style), width, name);
            }
        }
    }
}

/// Bars took the place of the interval in percent, and left a quarter of the line empty.
#[test]
fn an_interval_in_percent_comes_before_a_bar() {
    let compared = compared::update();
    let has = |width: usize| {
        let text = text(&compared, Style { width, ..FIRST });
        let heading = text.lines().find(|line| line.starts_with("slower: ")).unwrap().to_owned();
        (heading.matches('±').count(), heading.contains("log"))
    };
    let found: Vec<(usize, bool)> = (80..=120).map(has).collect();
    assert!(found.contains(&(2, false)) && found.contains(&(2, true)), "{found:?}");
    let first = found.iter().position(|found| *found == (2, false)).unwrap();
    assert!(found[first..].iter().all(|(intervals, _)| *intervals == 2), "{found:?}");
}

/// All but the command, which is to be copied.
fn assert_fits(text: &str, width: usize, name: &str) {
    for line in
        text.lines().filter(|line| !line.starts_with("  for i in ") && !line.starts_with("  kentry compare "))
    {
        assert!(line.width() <= width, "{name}: {} > {width}: {line}", line.width());
        assert_eq!(line, line.trim_end(), "{name}: blanks at the end");
    }
}

#[test]
fn what_differs_stands_before_any_number_and_the_answer_before_the_rows() {
    let text = text(&compared::update(), FIRST);
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    let order =
        ["base  ", "caution", "slower?", "gate", "closed: 1", "slower: 3", "1435.2", "figures:", "Not shown"];
    let places = order.map(place);
    assert!(places.is_sorted(), "{places:?}");
}

/// A row that is slower for sure was "skipped" where the gate left open by how much, and everything that is open was green.
#[test]
fn what_a_gate_leaves_open_is_never_green_and_what_is_slower_is_never_skipped() {
    let mut compared = compared::noisy();
    compared.settings.gate.above = vec!["3%".parse().unwrap()];
    let open = |row: &mut compare::Row| {
        row.gate = Some(compare::RowGate {
            rule: "3%".into(),
            answer: compare::GateAnswer::Inconclusive,
            why: "it costs between 1.00 % and 9.00 % more".into(),
            interval: Some(compare::GateInterval { low: 1.0, high: 9.0, limit: 3.0, unit: None }),
            more_runs: Some(4),
        });
    };
    compared.rows.iter_mut().for_each(open);
    compared.rows[0].verdict = compare::Verdict::Slower;
    let ktap = |compared: &Comparison| rendered(compared, Format::Ktap, FIRST);
    let lines = |text: &str, what: &str| text.lines().filter(|line| line.contains(what)).count();
    let rows = compared.rows.len();
    let skipping = ktap(&compared);
    assert_eq!((lines(&skipping, "not ok "), lines(&skipping, "# SKIP ")), (1, rows - 1), "{skipping}");
    compared.settings.gate.inconclusive = compare::Inconclusive::Fail;
    let decided_by = vec!["syscall-x86_64 none".to_owned()];
    compared.gate =
        Some(compare::GateResult { answer: compare::GateAnswer::Inconclusive, decided_by, missing: [2, 1] });
    let lacks =
        "A gate fails by three runs a side or more: it lacks 2 more runs of the base and 1 of the new side.";
    assert!(ktap(&compared).contains(lacks));
    assert_eq!(lines(&ktap(&compared), "not ok "), rows);
}

/// `none`, whose number no kernel has, stood in the headline with +124 % where getppid had +30 %.
#[test]
fn the_headline_names_a_call_that_programs_make() {
    let mut compared = compared::update();
    let slower = |row: &&mut compare::Row| row.verdict == compare::Verdict::Slower && !row.within_margin;
    let first = compared.rows.iter_mut().find(slower).unwrap();
    (first.entry, first.operation) = ("syscall-x86_64".into(), "none".into());
    first.change.as_mut().unwrap().percent = Some(1000.0);
    let answer = report::answer(&compared);
    assert!(
        answer.starts_with("Yes: ") && !answer.contains("1000") && !answer.contains("syscall-x86_64 none"),
        "{answer}"
    );
    compared.rows.retain(|row| {
        row.verdict != compare::Verdict::Slower || row.operation == "none" && row.entry != "call"
    });
    let answer = report::answer(&compared);
    assert!(answer.contains("syscall-x86_64 none (+1000.0 %; a call number that no kernel has"), "{answer}");
}

/// A comparison whose gate these rows leave open, by what is said of each: the interval in percent, or no figure, and how many more runs
/// would decide it.
fn left_open(mut compared: Comparison, limit: f64, open: &[(usize, Option<u64>)]) -> Comparison {
    compared.settings.gate.above = vec![format!("{limit}%").parse().unwrap()];
    compared.settings.gate.on.clear();
    for row in &mut compared.rows {
        row.gate = None;
    }
    for (place, more_runs) in open {
        let row = &mut compared.rows[*place];
        let ends = row.change.as_ref().and_then(|change| change.percent_low.zip(change.percent_high));
        row.gate = Some(compare::RowGate {
            rule: format!("{limit}%"),
            answer: compare::GateAnswer::Inconclusive,
            why: "why".into(),
            interval: ends.map(|(low, high)| compare::GateInterval { low, high, limit, unit: None }),
            more_runs: *more_runs,
        });
    }
    let decided_by = open.iter().map(|(place, _)| compared.rows[*place].in_words()).collect();
    let answer = compare::GateAnswer::Inconclusive;
    compared.gate = Some(compare::GateResult { answer, decided_by, missing: [0, 0] });
    compared
}

/// Words that a line's end separates belong together.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

fn place(compared: &Comparison, verdict: compare::Verdict) -> usize {
    compared.rows.iter().position(|row| row.verdict == verdict).unwrap()
}

/// The advice was for rows whose verdict is inconclusive, and these were others than those that left the gate open: a row may be
/// slower for sure, and by how much may be open.
#[test]
fn what_is_advised_decides_the_gate_that_is_open() {
    let update = compared::update();
    let (slower, same) = (place(&update, compare::Verdict::Slower), place(&update, compare::Verdict::Same));
    let compared = left_open(update, 4.5, &[(slower, Some(7)), (same, Some(3))]);
    let first = text(&compared, FIRST);
    let words = joined(&first);
    assert!(
        words.contains("gate Inconclusive: open by int80-i386 getppid (+3.82 to +5.50 %, limit 4.5 %), "),
        "{first}"
    );
    assert!(words.contains("About 7 more runs a side decide it."), "{first}");
    assert!(words.contains("For the gate, 7 more runs on each side; then give all runs by"), "{first}");
    // The same rows as those of the sides: what runs between the rounds of a row is in its figure.
    let command = first.lines().find(|line| line.starts_with("  for i in ")).unwrap();
    assert_eq!(command, "  for i in $(seq 7); do kentry --all --budget 5 --tag more=before; done");
    let row = &compared.rows[same];
    // What is the same is not shown on a first screen, unless a gate needs it.
    let is_row = |line: &&str| line.starts_with('=') && line.contains(&row.operation);
    assert_eq!(first.lines().filter(is_row).count(), 1, "{first}");
}

#[test]
fn every_row_that_leaves_a_gate_open_is_shown() {
    let noisy = compared::noisy();
    let all: Vec<(usize, Option<u64>)> = (0..noisy.rows.len()).map(|place| (place, None)).collect();
    let compared = left_open(noisy, 5.0, &all);
    let first = text(&compared, FIRST);
    assert_eq!(first.lines().filter(|line| line.starts_with("? ")).count(), compared.rows.len(), "{first}");
    assert!(joined(&first).contains("More than 100 more runs a side would be needed"), "{first}");
    assert!(!first.contains("for i in"), "{first}");
}

/// It was told as ok on both sides, and no number of runs would have settled it.
#[test]
fn a_row_without_a_figure_that_leaves_a_gate_open_is_named_with_what_to_do() {
    let update = compared::update();
    let noisy = place(&update, compare::Verdict::NoFigure);
    let compared = left_open(update, 10.0, &[(noisy, None)]);
    let (first, name) = (text(&compared, FIRST), compared.rows[noisy].in_words());
    let wanted = format!(
        "open by {name} (no figure on the new side, limit 10 %). {name} has no figure on the new side: measure it longer (--budget), or \
         leave it out (-e, -o)."
    );
    assert!(joined(&first).contains(&wanted), "{first}");
    assert!(!first.contains("for i in"), "no number of runs: {first}");
    let ktap = rendered(&compared, Format::Ktap, FIRST);
    let line = ktap.lines().find(|line| line.contains(&format!(" {name} # "))).unwrap();
    assert!(line.ends_with("# SKIP no figure on the new side; the gate stays open"), "{line}");
}

/// "It costs between 3.8% and 5.5% more" did not say that the row is slower for sure.
#[test]
fn a_row_that_is_slower_says_so_where_the_gate_stays_open() {
    let update = compared::update();
    let slower = place(&update, compare::Verdict::Slower);
    let compared = left_open(update, 4.5, &[(slower, Some(7))]);
    for format in [Format::Ktap, Format::Junit] {
        let said = rendered(&compared, format, FIRST);
        let wanted = "slower for sure, and the gate stays open: it costs between +3.82 and +5.50 % more (limit 4.5 %); slower: 1435.2";
        assert!(said.contains(wanted), "{said}");
    }
}

/// With a run a side a gate lacks two, and one more was advised.
#[test]
fn no_fewer_runs_are_advised_than_a_gate_lacks() {
    let mut compared = left_open(compared::noisy(), 5.0, &[(0, Some(1))]);
    compared.gate.as_mut().unwrap().missing = [2, 2];
    let first = text(&compared, FIRST);
    assert!(joined(&first).contains("About 2 more runs a side decide it."), "{first}");
    assert!(first.contains("$(seq 2); do kentry --all --budget 5"), "{first}");
}

/// A plain `kentry` measures no arm, whose command it does not have.
#[test]
fn arms_are_not_measured_again_without_their_command() {
    let mut kept = left_open(compared::noisy(), 5.0, &[(0, Some(4))]);
    kept.base.runs[0].arm = Some("A".into());
    let mut open = compared::noisy();
    open.new.runs[0].command = Some("strace -f".into());
    for compared in [compared::live(), kept, open] {
        let text = text(&compared, FIRST);
        assert!(!text.contains("for i in") && !text.contains("more run"), "{text}");
        assert!(joined(&text).contains("measure both arms again, with a greater --budget than 5."), "{text}");
    }
}

/// 100 and 140 beside +12: of a row with two costs, the arms had not equally many rounds of each.
#[test]
fn figures_of_turns_that_do_not_add_up_are_explained() {
    let mut compared = compared::live();
    let explained =
        |compared: &Comparison| joined(&text(compared, FIRST)).contains("where a row has two costs");
    assert!(!explained(&compared));
    compared.rows[0].new.as_mut().unwrap().estimate = Some(390.0);
    assert!(explained(&compared));
    assert!(rendered(&compared, Format::Markdown, FIRST).contains("where a row has two costs"));
    compared.rows[0].variation.as_mut().unwrap().source = compare::Source::Runs;
    assert!(!explained(&compared), "only rounds in turns have a change of their own");
}

/// The head named 21 kept runs, and the foot 18.
#[test]
fn kept_runs_that_lack_a_row_are_told() {
    let mut compared = compared::noisy();
    compared.history = vec![compared.base.runs[0].clone(); 15];
    let foot = |compared: &Comparison| joined(&text(compared, FIRST));
    assert!(foot(&compared).contains("known by 15 kept runs of this machine, of which 12 have the rows"));
    compared.rows[0].variation.as_mut().unwrap().kept_runs = 15;
    assert!(foot(&compared).contains("15 kept runs of this machine, of which 12 to 15 have a row"));
    compared.history.truncate(12);
    compared.rows[0].variation.as_mut().unwrap().kept_runs = 12;
    assert!(foot(&compared).contains("known by 12 kept runs of this machine. "));
}

#[test]
fn every_row_is_shown_or_counted() {
    for (name, compared) in samples() {
        let whole = text(&compared, ALL);
        let entries = compared.rows.iter().filter(|row| whole.contains(&row.operation)).count();
        assert_eq!(entries, compared.rows.len(), "{name}");
        let first = text(&compared, FIRST);
        let marks = ['×', '○', '≠', '▲', '△', '▼', '▽', '?', '=', '-'];
        let is_row = |line: &&str| marks.iter().any(|mark| line.starts_with(&format!("{mark} ")));
        let shown = first.lines().filter(is_row).count();
        let counted =
            first.split_once("Not shown: ").map_or("", |(_, rest)| rest.split_once(". --all").unwrap().0);
        let counted: usize = counted
            .split(", ")
            .filter_map(|part| part.split_whitespace().next()?.parse::<usize>().ok())
            .sum();
        assert_eq!(shown + counted, compared.rows.len(), "{name}: {first}");
    }
}

#[test]
fn color_changes_nothing_but_color() {
    for (name, compared) in samples() {
        let colored = text(&compared, Style { color: true, ..FIRST });
        assert_ne!(colored, color::without(&colored), "{name}");
        assert_eq!(color::without(&colored), text(&compared, FIRST), "{name}");
    }
}

/// Texts that want out of the place where they stand.
const HOSTILE: [&str; 8] = [
    "\u{1b}[2J\u{9b}31m\u{7}\0",
    "a\nok 1 forged\r\n# SKIP\tb",
    "# SKIP not run",
    "]]></failure><!-- --><x y=\"'&amp;&#0;",
    "\u{fffe}\u{ffff}\u{202e}\u{2028}",
    "|`**b** [l](http://x.example) <img src=x onerror=y> </details> @someone #1 ~~s~~ www.x.example a@b.example $m$",
    "```\n# heading\n---\n| a | b |",
    "\u{85}\u{b}\u{c}",
];

#[test]
fn no_text_of_a_document_steers_a_terminal() {
    for hostile in HOSTILE {
        let compared = compared::hostile(hostile);
        for format in Kind::COMPARISON.formats.iter().copied() {
            for style in [FIRST, Style { verbose: true, ..ALL }] {
                // Lines of CSV end with both.
                let text = rendered(&compared, format, style).replace("\r\n", "\n");
                let steers =
                    |c: &char| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{2028}');
                assert_eq!(text.chars().find(steers), None, "{format}: {hostile:?}");
            }
        }
        assert_fits(&text(&compared, Style { width: 71, ..ALL }), 71, hostile);
    }
}

#[test]
fn no_text_of_a_document_is_xml() {
    for hostile in HOSTILE {
        let xml = rendered(&compared::hostile(hostile), Format::Junit, FIRST);
        let is_allowed = |c: char| c == '\n' || (c >= ' ' && c != '\u{fffe}' && c != '\u{ffff}');
        assert!(xml.chars().all(is_allowed), "{hostile:?}");
        let known = [
            "testsuites",
            "testsuite",
            "properties",
            "property",
            "testcase",
            "system-out",
            "skipped",
            "failure",
        ];
        let (mut reader, mut cases) = (Reader::from_str(&xml), 0);
        reader.config_mut().check_end_names = true;
        loop {
            match reader.read_event().unwrap() {
                Event::Eof => break,
                Event::Start(tag) | Event::Empty(tag) => {
                    let name = tag.name().as_ref().to_owned();
                    assert!(known.contains(&name.as_str()), "{name}");
                    cases += usize::from(name == "testcase");
                    for attribute in tag.attributes() {
                        let value = attribute.unwrap();
                        assert!(value.normalized_value(XmlVersion::Implicit1_0).is_ok(), "{value:?}");
                    }
                }
                Event::Comment(comment) => panic!("{comment:?}"),
                _ => {}
            }
        }
        assert_eq!(cases, compared::update().rows.len());
    }
}

/// Hashes without an odd number of backslashes before them.
fn directives(line: &str) -> usize {
    let is_escaped = |(at, _): &(usize, &str)| {
        line[..*at].chars().rev().take_while(|before| *before == '\\').count() % 2 == 1
    };
    line.match_indices('#').filter(|hash| !is_escaped(hash)).count()
}

#[test]
fn a_measurement_that_was_cut_short_is_called_partial_in_every_format() {
    let mut compared = compared::calm();
    let formats = [Format::Text, Format::Markdown, Format::Ktap, Format::Junit];
    for format in formats {
        assert!(!rendered(&compared, format, FIRST).contains("PARTIAL"));
    }
    compared.new.runs[0].partial = true;
    for format in formats {
        let text = rendered(&compared, format, FIRST);
        assert!(text.contains("PARTIAL: the measurement of the new side was cut short"), "{text}");
    }
}

#[test]
fn a_gate_that_passes_says_how_many_rows_it_checked() {
    let mut compared = compared::calm();
    compared.settings.gate.above = vec!["5%".parse().unwrap()];
    compared.settings.gate.on = vec!["closed".parse().unwrap()];
    let gate = |answer| compare::RowGate {
        rule: "5%".into(),
        answer,
        why: "x".into(),
        interval: None,
        more_runs: None,
    };
    compared.rows[0].gate = Some(gate(compare::GateAnswer::Pass));
    compared.rows[1].gate = Some(gate(compare::GateAnswer::Pass));
    compared.gate = Some(compare::GateResult {
        answer: compare::GateAnswer::Pass,
        decided_by: Vec::new(),
        missing: [0, 0],
    });
    let passed = text(&compared, FIRST);
    assert!(
        passed.contains("Passed: 2 rows within the limit, none of 3 rows closed (--fail-above 5%"),
        "{passed}"
    );
    compared.rows[0].gate = Some(gate(compare::GateAnswer::Inconclusive));
    let open = vec![compared.rows[0].in_words()];
    compared.gate = Some(compare::GateResult {
        answer: compare::GateAnswer::Inconclusive,
        decided_by: open,
        missing: [1, 1],
    });
    assert!(!text(&compared, FIRST).contains("5%,5cycles"));
    compared.rows[0].base.as_mut().unwrap().estimate = Some(4.0);
    let open = text(&compared, FIRST);
    assert!(open.contains("5%,5cycles"), "{open}");
}

#[test]
fn no_text_of_a_document_is_a_test() {
    for hostile in HOSTILE {
        let compared = compared::hostile(hostile);
        let ktap = rendered(&compared, Format::Ktap, FIRST);
        let mut lines = ktap.lines();
        assert_eq!(lines.next(), Some("KTAP version 1"));
        assert_eq!(lines.next(), Some(format!("1..{}", compared.rows.len()).as_str()));
        let (notes, tests): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("# "));
        assert!(notes.len() > 5 && tests.len() == compared.rows.len());
        for (number, (line, row)) in (1..).zip(tests.iter().zip(&compared.rows)) {
            let failed = row.gate.as_ref().is_some_and(|gate| gate.answer == compare::GateAnswer::Regression);
            let result = if failed { "not ok" } else { "ok" };
            assert!(line.starts_with(&format!("{result} {number} ")), "{line}");
            assert_eq!(directives(line), 1, "{line}");
        }
    }
}

#[test]
fn no_text_of_a_document_is_markup() {
    use pulldown_cmark::{Event, Options, Parser, Tag};
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_MATH
        | Options::ENABLE_TASKLISTS;
    let structure = |compared: &Comparison| {
        let text = rendered(compared, Format::Markdown, FIRST);
        for forbidden in ["@someone", "http://", "www.x", "a@b"] {
            assert!(!text.contains(forbidden), "{forbidden}: GitHub makes a link of it");
        }
        let (mut tables, mut cells, mut folded) = (0, 0, 0);
        for event in Parser::new_ext(&text, options) {
            match event {
                Event::Start(Tag::Table(_)) => tables += 1,
                Event::Start(Tag::TableCell) => cells += 1,
                Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::Strikethrough | Tag::Emphasis) => {
                    panic!("{text}")
                }
                Event::InlineHtml(html) => assert_eq!(&*html, "<!-- -->", "{text}"),
                Event::Html(html) => {
                    let own = html.starts_with("<details><summary>") || html.starts_with("</details>");
                    assert!(own, "{html}");
                    folded += 1;
                }
                Event::InlineMath(_) | Event::DisplayMath(_) => panic!("{text}"),
                _ => {}
            }
        }
        (tables, cells, folded)
    };
    let harmless = structure(&compared::hostile("harmless"));
    assert!(harmless.0 > 5 && harmless.2 > 4, "{harmless:?}");
    for hostile in HOSTILE {
        assert_eq!(structure(&compared::hostile(hostile)), harmless, "{hostile:?}");
    }
}

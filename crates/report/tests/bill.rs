//! What a bill looks like. `INSTA_UPDATE=always cargo test -p report` writes the snapshots anew; read the diff.

#![allow(clippy::unwrap_used, reason = "a test")]

mod bills;
mod color;
mod markup;

use attribution::bill::Bill;
use insta::assert_snapshot;
use markup::tags;
use report::{Format, Kind, Selection, Style, bill as rendered_bill};
use unicode_width::UnicodeWidthStr;

const PLAIN: Style = Style { color: false, width: 100, verbose: false, selection: Selection::All };

const VERBOSE: Style = Style { verbose: true, ..PLAIN };

fn rendered(bill: &Bill, format: Format, style: &Style) -> String {
    String::from_utf8(rendered_bill(bill, format, style).unwrap()).unwrap()
}

fn text(bill: &Bill, style: &Style) -> String {
    rendered(bill, Format::Text, style)
}

fn all() -> [Bill; 8] {
    [
        bills::counted(),
        bills::followed(),
        bills::in_cycles(),
        bills::shrinking(),
        bills::nothing(),
        bills::many(),
        bills::in_ring3(),
        bills::filled("text"),
    ]
}

#[test]
fn as_text() {
    assert_snapshot!("bill-counted", text(&bills::counted(), &PLAIN));
    assert_snapshot!("bill-followed", text(&bills::followed(), &PLAIN));
    assert_snapshot!("bill-counted-60", text(&bills::counted(), &Style { width: 60, ..PLAIN }));
    let color = text(&bills::counted(), &Style { color: true, ..PLAIN });
    assert_snapshot!("bill-counted-color", color.replace('\u{1b}', "␛"));
    assert_snapshot!("bill-cycles-verbose", text(&bills::in_cycles(), &VERBOSE));
    assert_snapshot!("bill-shrinking", text(&bills::shrinking(), &PLAIN));
    assert_snapshot!("bill-nothing", text(&bills::nothing(), &PLAIN));
    assert_snapshot!("bill-ring-3", text(&bills::in_ring3(), &PLAIN));
    assert_snapshot!("bill-many-180", text(&bills::many(), &Style { width: 180, ..PLAIN }));
}

#[test]
fn for_pull_requests_and_programs() {
    assert_snapshot!("bill-counted-markdown", rendered(&bills::counted(), Format::Markdown, &VERBOSE));
    assert_snapshot!("bill-ring-3-markdown", rendered(&bills::in_ring3(), Format::Markdown, &PLAIN));
    assert_snapshot!("bill-ring-3-csv", rendered(&bills::in_ring3(), Format::Csv, &PLAIN));
    assert_snapshot!("bill-cycles-csv", rendered(&bills::in_cycles(), Format::Csv, &PLAIN));
    assert_snapshot!("bill-shrinking-json", rendered(&bills::shrinking(), Format::Json, &PLAIN));
}

#[test]
fn as_a_picture() {
    assert_snapshot!("bill-counted-svg", rendered(&bills::counted(), Format::Svg, &PLAIN));
    assert_snapshot!("bill-cycles-svg", rendered(&bills::in_cycles(), Format::Svg, &PLAIN));
}

#[test]
fn every_line_fits_the_terminal() {
    for width in 60..=140 {
        for style in [Style { width, ..PLAIN }, Style { width, ..VERBOSE }] {
            for bill in all().into_iter().chain([bills::filled(bills::HOSTILE)]) {
                for line in text(&bill, &style).lines() {
                    assert!(line.width() <= width, "{} > {width}: {line}", line.width());
                    assert_eq!(line, line.trim_end(), "blanks at the end");
                }
            }
        }
    }
}

#[test]
fn color_changes_nothing_but_color() {
    for bill in all() {
        let colored = text(&bill, &Style { color: true, ..PLAIN });
        assert_ne!(colored, color::without(&colored));
        assert_eq!(color::without(&colored), text(&bill, &PLAIN));
    }
}

/// The letters of a bar, in their order.
fn letters(line: &str) -> String {
    let mut letters: Vec<char> = line.chars().filter(|c| c.is_ascii_alphabetic()).collect();
    letters.dedup();
    letters.into_iter().collect()
}

#[test]
fn the_bar_of_the_path_has_every_step_in_the_order_and_the_proportions_of_the_table() {
    let bill = bills::counted();
    let shown = text(&bill, &PLAIN);
    let bar = shown.lines().find(|line| line.starts_with("lab ") && line.contains('█')).unwrap();
    let bar = bar.strip_prefix("lab").unwrap();
    assert_eq!(letters(bar), "abcdefg");
    let linux = shown.lines().find(|line| line.starts_with("Linux ") && line.contains('█')).unwrap();
    let columns = linux.chars().filter(|c| "█·".contains(*c)).count() as f64;
    for (letter, cost) in [('a', 6.0), ('d', 23.0), ('f', 139.0)] {
        let expected = cost / 322.0 * columns;
        let drawn = bar.chars().filter(|c| *c == letter).count() as f64;
        assert!((drawn - expected).abs() <= 1.0, "{letter}: {drawn} columns, not {expected}: {bar}");
        let row = format!("{letter} ");
        assert!(shown.lines().any(|line| line.starts_with(&row)), "{letter} has a row");
    }
}

#[test]
fn what_makes_a_path_shorter_is_drawn_back_from_its_end() {
    let shown = text(&bills::shrinking(), &PLAIN);
    let less: Vec<&str> = shown.lines().filter(|line| line.starts_with("less  ")).collect();
    assert_eq!(less.len(), 2, "{shown}");
    assert_eq!(letters(less[0].strip_prefix("less").unwrap()), "hf", "the first stands at the right");
    assert!(less[0].contains('~') && less[0].ends_with(" 55"), "{}", less[0]);
    assert!(less[1].contains('·') && less[1].ends_with(" 40"), "{}", less[1]);
}

#[test]
fn a_count_is_called_one_in_every_format_and_what_it_cannot_see_is_no_zero() {
    let bill = bills::counted();
    for format in [Format::Text, Format::Markdown, Format::Svg] {
        let shown = rendered(&bill, format, &PLAIN).replace('\n', " ").replace("             ", "");
        assert!(shown.contains("a count ranks no cost"), "{format}: {shown}");
        assert!(!rendered(&bills::in_cycles(), format, &PLAIN).contains("ranks no cost"), "{format}");
    }
    let shown = text(&bill, &PLAIN);
    for step in ["pcid=keep", "smap=on", "audit=on"] {
        let row = shown.lines().find(|line| line.trim_start().starts_with(step)).unwrap();
        assert_eq!(row.split_whitespace().skip(1).take(3).collect::<Vec<_>>(), ["-"; 3], "{row}");
    }
    let value: serde_json::Value = serde_json::from_str(&rendered(&bill, Format::Json, &PLAIN)).unwrap();
    assert!(value["lines"][3]["alone"].is_null() && value["lines"][3]["share"].is_null());
    for bill in [bills::counted(), bills::nothing()] {
        let csv = rendered(&bill, Format::Csv, &PLAIN);
        let row = csv.lines().find(|line| line.starts_with("step,") && line.contains(",audit=on,")).unwrap();
        assert!(row.contains(",,,,,,,,,,,,,failed,"), "{row}");
    }
}

#[test]
fn a_step_that_cannot_be_told_from_nothing_says_so() {
    let shown = text(&bills::in_cycles(), &Style { width: 140, ..PLAIN });
    let row = |step: &str| shown.lines().find(|line| line.contains(step)).unwrap().to_owned();
    assert!(row("smap=on").contains("no different from 0"), "{}", row("smap=on"));
    assert!(!row("ibrs=on").contains("no different from 0"), "{}", row("ibrs=on"));
    assert!(!shown.contains("-0.0") && shown.contains("±"), "{shown}");
}

/// The shares of the table's rows in percent, by name; `None` where a row has none.
fn shares(bill: &Bill) -> std::collections::BTreeMap<String, Option<f64>> {
    let markdown = rendered(bill, Format::Markdown, &PLAIN);
    let rows: Vec<Vec<&str>> = markdown
        .lines()
        .skip_while(|line| !line.starts_with("## steps"))
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with('|'))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let column = rows[0].iter().position(|cell| *cell == "share").unwrap();
    let share = |row: &Vec<&str>| {
        let percent =
            row[column].trim_matches('*').strip_suffix('%').map(|share| share.trim().parse().unwrap());
        (row[1].trim_matches(['*', '`']).to_owned(), percent)
    };
    rows[2..].iter().map(share).collect()
}

#[test]
fn shares_add_up_to_the_whole_with_orders_and_without() {
    let without = bills::counted();
    let mut with = bills::counted();
    with.orders = 12;
    let (whole, bare) = (with.whole.unwrap().estimate, with.bare.unwrap().estimate);
    let billed = with.lines.iter().filter(|line| line.alone.is_some()).count() as f64;
    for line in with.lines.iter_mut().filter(|line| line.alone.is_some()) {
        line.in_orders = Some(attribution::bill::Figure::count((whole - bare) / billed));
        line.share = line.in_orders.map(|figure| figure.estimate / whole);
    }
    for bill in [&without, &with] {
        let shares = shares(bill);
        assert_eq!(shares["whole"], Some(100.0));
        let sum: f64 =
            shares.iter().filter(|(name, _)| *name != "whole").filter_map(|(_, share)| *share).sum();
        // The sum of the steps is of those that stand above it.
        let counted_twice = shares["sum of the steps"].unwrap_or(0.0);
        assert!((sum - counted_twice - 100.0).abs() < 0.5, "{sum} {shares:?}");
        let has_share = |name: &str| shares[name].is_some();
        assert_eq!(
            (has_share("sum of the steps"), has_share("interactions")),
            (bill.orders == 0, bill.orders == 0)
        );
    }
}

#[test]
fn a_bill_comes_back_from_its_json() {
    for bill in all().into_iter().chain([bills::filled(bills::HOSTILE)]) {
        assert_eq!(attribution::bill::load(&rendered(&bill, Format::Json, &PLAIN)).unwrap(), bill);
    }
}

#[test]
fn no_text_becomes_markup_or_steers_a_terminal() {
    let (hostile, harmless) = (bills::filled(bills::HOSTILE), bills::filled("harmless"));
    let steers = |c: char| c.is_control() && c != '\n' && c != '\r';
    let hides = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
    for format in Kind::BILL.formats.iter().copied() {
        let shown = rendered(&hostile, format, &VERBOSE);
        assert!(!shown.contains(|c| steers(c) || hides(c)), "{format}");
    }
    let picture = |bill: &Bill| rendered(bill, Format::Svg, &PLAIN);
    let names = |svg: &str| tags(svg).into_iter().filter(|tag| !tag.starts_with("text")).collect::<Vec<_>>();
    assert_eq!(names(&picture(&hostile)), names(&picture(&harmless)), "but for lines of text");
    assert!(!picture(&hostile).contains(['\u{fffe}', '\u{ffff}']), "XML forbids them");
    let markdown = rendered(&hostile, Format::Markdown, &VERBOSE);
    let unescaped = markdown.replace("\\<", "").replace("\\]", "");
    for word in ["<script", "<img", "](http"] {
        assert!(!unescaped.contains(word), "{word}");
    }
    let cells = |markdown: &str| markdown.lines().filter(|line| line.starts_with('|')).count();
    assert_eq!(cells(&markdown), cells(&rendered(&harmless, Format::Markdown, &VERBOSE)));
}

#[test]
fn a_picture_loads_nothing_runs_nothing_and_is_the_same_every_time() {
    for bill in all() {
        let picture = rendered(&bill, Format::Svg, &PLAIN);
        assert_eq!(picture, rendered(&bill, Format::Svg, &Style { color: true, width: 60, ..VERBOSE }));
        let body = picture.split_once("xmlns=\"http://www.w3.org/2000/svg\"").unwrap().1;
        for word in ["http", "<script", "href", "@import", "url(h", "javascript", "NaN", "inf\""] {
            assert!(!body.contains(word), "{word}");
        }
        assert!(picture.contains("prefers-color-scheme: dark") && picture.contains("role=\"img\""));
        assert_eq!(tags(&picture).iter().filter(|tag| tag.starts_with("desc")).count(), 1);
    }
}

#[test]
fn steps_without_a_figure_are_one_line_of_the_picture() {
    let picture = rendered(&bills::counted(), Format::Svg, &PLAIN);
    assert!(picture.contains(">3 steps without a figure</text>"), "{picture}");
    assert!(picture.contains(">pcid=keep; smap=on; audit=on</text>"));
    assert!(picture.contains("<g><title>pcid=keep: left out: "), "why is in the title of the line");
    assert_eq!(picture.matches("class=\"said\"").count(), 1);
    // A single one has room for its reason.
    let alone = rendered(&bills::in_cycles(), Format::Svg, &PLAIN);
    assert!(
        alone.contains(">not measured: the guest ended</text>") && !alone.contains("without a figure"),
        "{alone}"
    );
}

#[test]
fn the_description_of_a_picture_has_every_figure() {
    let bill = bills::counted();
    let picture = rendered(&bill, Format::Svg, &PLAIN);
    let description =
        picture.split_once("<desc id=\"description\">").unwrap().1.split_once("</desc>").unwrap().0;
    for line in &bill.lines {
        assert!(description.contains(&line.step.name()), "{description}");
    }
    assert!(
        description.contains("bhb=loop: 139.") && description.contains("pcid=keep: - (left out"),
        "{description}"
    );
    assert!(description.contains("measured there 322, explained here 226, rest 96"), "{description}");
}

/// Fragments of texts that try something.
const FRAGMENTS: [&str; 14] = [
    "<b>",
    "</text>",
    "]]>",
    "&#0;",
    "\u{1b}[31m",
    "\u{9b}",
    "\u{202e}",
    "|",
    "`",
    "\n\n# x",
    "\"",
    "'",
    "\u{ffff}",
    "核 ",
];

/// What numbers of a document are replaced by: what any document may have that loads.
const NUMBERS: [&str; 9] =
    ["0", "-1", "0.5", "-0.0", "1e-300", "18446744073709551615", "-1.8e19", "1.8e19", "255"];

/// A generator of numbers that is the same everywhere (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// Replaces some of the texts and numbers of a value; what is left may not be a bill any more.
fn mutate(value: &mut serde_json::Value, random: &mut Random) {
    match value {
        serde_json::Value::String(text) if random.below(3) == 0 => {
            *text = (0..random.below(6)).map(|_| FRAGMENTS[random.below(FRAGMENTS.len())]).collect();
        }
        number @ serde_json::Value::Number(_) if random.below(3) == 0 => {
            // Places and counts are whole numbers.
            *number = match number.is_f64() {
                true => serde_json::from_str(NUMBERS[random.below(NUMBERS.len())]).unwrap(),
                false => random.below(300).into(),
            };
        }
        serde_json::Value::Array(all) => all.iter_mut().for_each(|one| mutate(one, random)),
        serde_json::Value::Object(all) => {
            let enums = ["schema", "unit", "state", "kind", "machine", "kernel"];
            all.iter_mut()
                .filter(|(name, value)| !enums.contains(&name.as_str()) || value.is_object())
                .for_each(|(_, value)| mutate(value, random));
        }
        _ => {}
    }
}

#[test]
fn whatever_a_bill_says_no_report_of_it_is_steered_or_malformed() {
    let mut shown = 0;
    for seed in 0..400 {
        let mut random = Random(seed);
        let samples = all();
        let mut value = serde_json::to_value(&samples[random.below(samples.len())]).unwrap();
        mutate(&mut value, &mut random);
        let Ok(bill) = attribution::bill::load(&value.to_string()) else { continue };
        shown += 1;
        let width = 60 + random.below(100);
        for format in Kind::BILL.formats.iter().copied() {
            let text = rendered(&bill, format, &Style { width, ..VERBOSE });
            let steers = |c: char| (c.is_control() && c != '\n' && c != '\r') || c == '\u{202e}';
            assert!(!text.contains(steers), "{seed} {format}");
            assert!(text.ends_with('\n'), "{seed} {format}");
            match format {
                Format::Text => {
                    let widest = text.lines().map(UnicodeWidthStr::width).max().unwrap();
                    let wide = text.lines().find(|line| line.width() > width);
                    assert!(wide.is_none(), "{seed}: {widest} > {width}: {wide:?}");
                }
                Format::Svg => {
                    let tags = tags(&text);
                    let known = [
                        "svg", "title", "desc", "style", "defs", "pattern", "path", "circle", "rect", "text",
                        "line", "g",
                    ];
                    let is_known = |tag: &String| known.contains(&tag.split(' ').next().unwrap());
                    assert!(tags.iter().all(is_known), "{seed}");
                    assert!(!text.contains("NaN") && !text.contains("\"inf"), "{seed}");
                }
                Format::Json => assert!(attribution::bill::load(&text).unwrap() == bill, "{seed}"),
                _ => {}
            }
        }
    }
    assert!(shown > 200, "only {shown} of 400 were bills");
}

//! What is said of fleets, in every format. What a browser makes of the page, `tests/page.sh` shows.

#![allow(clippy::unwrap_used, reason = "a test")]

mod fleets;

use fleets::{HOSTILE, judgement, rollout};
use report::{Format, Kind, Selection, Style, fleet, roll_out};

fn style(verbose: bool) -> Style {
    Style { color: false, width: 100, verbose, selection: Selection::All }
}

fn judged(format: Format, verbose: bool) -> String {
    String::from_utf8(fleet(&judgement(60, 5, ""), format, &style(verbose)).unwrap()).unwrap()
}

fn rolled(format: Format, verbose: bool) -> String {
    String::from_utf8(roll_out(&rollout(""), format, &style(verbose)).unwrap()).unwrap()
}

#[test]
fn a_fleet_in_every_format() {
    insta::assert_snapshot!("fleet", judged(Format::Text, false));
    insta::assert_snapshot!("fleet-verbose", judged(Format::Text, true));
    insta::assert_snapshot!("fleet-markdown", judged(Format::Markdown, false));
    insta::assert_snapshot!("fleet-csv", judged(Format::Csv, false));
    let back: fleet::Judgement = serde_json::from_str(&judged(Format::Json, false)).unwrap();
    assert_eq!(back, judgement(60, 5, ""));
}

#[test]
fn a_roll_out_in_every_format() {
    insta::assert_snapshot!("rollout", rolled(Format::Text, false));
    insta::assert_snapshot!("rollout-verbose", rolled(Format::Text, true));
    insta::assert_snapshot!("rollout-markdown", rolled(Format::Markdown, false));
    insta::assert_snapshot!("rollout-csv", rolled(Format::Csv, false));
    let back: fleet::Rollout = serde_json::from_str(&rolled(Format::Json, false)).unwrap();
    assert_eq!(back, rollout(""));
}

#[test]
fn text_is_as_wide_as_its_terminal() {
    for width in [60, 80, 140] {
        let style = Style { width, ..style(true) };
        for text in [
            fleet(&judgement(60, 5, HOSTILE), Format::Text, &style),
            roll_out(&rollout(HOSTILE), Format::Text, &style),
        ] {
            let text = String::from_utf8(text.unwrap()).unwrap();
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width, "{longest} of {width}: {text}");
            assert!(!text.contains(['\u{1b}', '\u{202e}']));
        }
    }
}

#[test]
fn more_odd_hosts_than_are_told_are_counted() {
    let mut many = judgement(60, 5, "");
    many.odd = std::iter::repeat_n(many.odd[0].clone(), 33).collect();
    let text = String::from_utf8(fleet(&many, Format::Text, &style(false)).unwrap()).unwrap();
    assert!(text.contains("3 hosts more are in the other formats"), "{text}");
    let markdown =
        |verbose| String::from_utf8(fleet(&many, Format::Markdown, &style(verbose)).unwrap()).unwrap();
    assert!(markdown(false).contains("3 hosts more") && !markdown(true).contains("hosts more"));
}

#[test]
fn a_fleet_in_which_nothing_is_odd_says_so() {
    let mut calm = judgement(60, 5, "");
    calm.odd.clear();
    let text = String::from_utf8(fleet(&calm, Format::Text, &style(false)).unwrap()).unwrap();
    assert!(
        text.starts_with("63 hosts in 2 cohorts, by 64 runs; 60 could be judged, and none is odd.\n"),
        "{text}"
    );
    assert!(!text.contains("at most 1 %") && !text.contains("Odd hosts"));
}

#[test]
fn rows_that_are_the_same_are_not_said_to_be_unknown() {
    let mut gated = rollout("");
    let text =
        |of: &fleet::Rollout| String::from_utf8(roll_out(of, Format::Text, &style(false)).unwrap()).unwrap();
    assert!(text(&gated).contains("Besides, 1 row is the same.\n"), "{}", text(&gated));
    assert!(text(&gated).contains("inconclusive"), "a row that the gate does not pass is shown");
    let rows = &mut gated.strata[0].rows;
    rows.remove(0);
    rows.iter_mut().for_each(|row| row.gate = None);
    assert!(text(&gated).contains("\n1 row is the same, 1 row is unknown.\n"), "{}", text(&gated));
}

/// The page without what is the same in every one, and without its data.
fn own(page: &str) -> &str {
    let body = page.split_once("<body>").unwrap().1;
    body.split_once("<script").unwrap().0
}

/// Text that became markup would add a `<` somewhere.
#[test]
fn no_text_becomes_markup() {
    let pages = |text: &str| {
        [
            fleet(&judgement(60, 5, text), Format::Html, &style(false)),
            roll_out(&rollout(text), Format::Html, &style(false)),
        ]
        .map(|page| String::from_utf8(page.unwrap()).unwrap())
    };
    let counts = |text: &str| {
        pages(text).map(|page| (own(&page).matches('<').count(), page.matches("</script").count()))
    };
    assert_eq!(counts(HOSTILE), counts("harmless"));
    for page in pages(HOSTILE) {
        assert!(!page.contains("onerror=\"") && !own(&page).contains(['\u{1b}', '\u{202e}']));
        assert!(page.contains("default-src 'none'") || page.contains("default-src &#39;none&#39;"));
    }
}

#[test]
fn odd_hosts_lead_to_their_own_pages() {
    let page = judged(Format::Html, false);
    assert!(
        page.contains("<a href=\"#host-0.1\">host-00001</a>")
            && page.contains("<a href=\"#host-0.2\">host-00002</a>")
    );
    assert!(!rolled(Format::Html, false).contains("id=\"data\""), "a roll-out has tables alone");
}

#[test]
fn a_format_that_a_fleet_is_not_written_in_is_refused() {
    let why = fleet(&judgement(6, 1, ""), Format::Svg, &style(false)).unwrap_err().to_string();
    assert_eq!(why, format!("a fleet is written as {}, and not as svg", Kind::FLEET.in_words()));
}

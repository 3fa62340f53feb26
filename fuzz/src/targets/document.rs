//! Any text as a run document: what loads becomes a report in every format, and JSON that loads as the same.

use compare::{Run, Settings, SideRuns, compare};
use document::Document;
use report::{Format, PageRun, Selection, Style, names_kernels, page, render, summary_of_row};
use table::Table;

/// The narrowest, an ordinary, a wide one; the first is below the least.
const WIDTHS: [usize; 4] = [0, 80, 131, 250];

/// What numbers of a document are replaced by.
const NUMBERS: [&str; 12] = [
    "0",
    "1",
    "-1",
    "255",
    "4294967296",
    "18446744073709551615",
    "0.1",
    "-0.0",
    "5e-324",
    "1.7976931348623157e308",
    "-1e308",
    "null",
];

/// The text with the first number behind some place replaced; none when there is none. Bytes alone seldom make one number of another and
/// leave a document that loads.
pub fn with_other_number(text: &[u8], choice: usize) -> Option<Vec<u8>> {
    let place = choice.checked_rem(text.len())?;
    let start =
        place + text[place..].windows(2).position(|pair| pair[0] == b':' && pair[1].is_ascii_digit())? + 1;
    let is_end = |byte: &u8| !byte.is_ascii_digit() && !b"+-.eE".contains(byte);
    let end = start + text[start..].iter().position(is_end)?;
    let number = NUMBERS[choice / text.len() % NUMBERS.len()];
    Some([&text[..start], number.as_bytes(), &text[end..]].concat())
}

pub fn run(text: &str) {
    let Ok(document) = document::load(text) else {
        return;
    };
    for width in WIDTHS {
        for (verbose, selection) in
            [(false, Selection::FirstScreen), (false, Selection::All), (true, Selection::All)]
        {
            let style = Style { color: width == 131, width, verbose, selection };
            rendered(&document, Format::Text, &style);
        }
    }
    let style = |verbose| Style {
        color: false,
        width: 80,
        verbose,
        selection: if verbose { Selection::All } else { Selection::FirstScreen },
    };
    rendered(&document, Format::Markdown, &style(false));
    rendered(&document, Format::Markdown, &style(true));
    rendered(&document, Format::Csv, &style(false));
    if names_kernels(&document) {
        rendered(&document, Format::Svg, &style(false));
        rendered(&document, Format::Svg, &style(true));
    }
    paged(&document);
    document.results.iter().map(|row| summary_of_row(&document, row)).for_each(drop);
    document.results.iter().map(|row| document.identity(Table::get(), row)).for_each(drop);

    let json = rendered(&document, Format::Json, &style(false));
    let again = document::load(&json).expect("JSON that was written loads");
    // Not assert_eq, which would print both.
    assert!(again == document, "JSON that was written is another document");
}

fn rendered(document: &Document, format: Format, style: &Style) -> String {
    let bytes =
        render(document, Table::get(), format, style).expect("a document that loads becomes a report");
    let text = String::from_utf8(bytes).expect("a report is text");
    let steering = |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\u{1b}');
    assert_eq!(text.chars().find(steering), None, "{format}");
    assert!(style.color || !text.contains('\u{1b}'), "{format}: an escape");
    assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{format}: the end");
    text
}

/// Alone, and compared with itself.
fn paged(document: &Document) {
    let run = || PageRun { name: "run".into(), document: document.clone(), compared: None };
    let side = || SideRuns { label: "run".into(), runs: vec![Run::of(Table::get(), document, None)] };
    let compared = compare(Table::get(), &side(), &side(), &[], &Settings::default());
    let second = PageRun { compared: Some(compared), ..run() };
    for runs in [vec![run()], vec![run(), run()], vec![run(), second]] {
        let bytes = page(&runs, Table::get(), None).expect("a document that loads becomes a page");
        let text = String::from_utf8(bytes).expect("a page is text");
        let steering = |c: &char| c.is_control() && !matches!(c, '\n' | '\t');
        assert_eq!(text.chars().find(steering), None, "a page");
        // The data, the library's, what pages have in common and the page's own; where no row works there are no charts.
        let scripts = text.matches("</script").count();
        assert!(matches!(scripts, 2 | 4), "{scripts} scripts: one ends early");
        assert!(text.ends_with("</html>\n"), "the end of a page");
    }
}

//! Any text as a run document: what loads becomes a report in every format, and JSON that loads as the same.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use report::{Format, Style, render, summary_of_row};
use run::Document;
use table::Table;

/// The narrowest, an ordinary, a wide one; the first is below the least.
const WIDTHS: [usize; 4] = [0, 80, 131, 250];

fuzz_target!(|text: &str| -> Corpus {
    let Ok(document) = run::load(text) else {
        return Corpus::Keep;
    };
    for width in WIDTHS {
        for verbose in [false, true] {
            let style = Style {
                color: width == 131,
                width,
                verbose,
            };
            rendered(&document, Format::Text, &style);
        }
    }
    let style = |verbose| Style {
        color: false,
        width: 80,
        verbose,
    };
    rendered(&document, Format::Markdown, &style(false));
    rendered(&document, Format::Markdown, &style(true));
    rendered(&document, Format::Csv, &style(false));
    document.results.iter().map(summary_of_row).for_each(drop);

    let json = rendered(&document, Format::Json, &style(false));
    let again = run::load(&json).expect("JSON that was written loads");
    assert_eq!(again, document, "JSON that was written is the same document");
    Corpus::Keep
});

fn rendered(document: &Document, format: Format, style: &Style) -> String {
    let bytes =
        render(document, Table::get(), format, style).expect("a document that loads becomes a report");
    let text = String::from_utf8(bytes).expect("a report is text");
    let steering = |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\u{1b}');
    assert_eq!(text.chars().find(steering), None, "{format}");
    assert!(style.color || !text.contains('\u{1b}'), "{format}: an escape");
    assert!(
        text.ends_with('\n') && !text.ends_with("\n\n"),
        "{format}: the end"
    );
    text
}

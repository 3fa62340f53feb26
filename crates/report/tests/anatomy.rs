//! What followed paths look like. `INSTA_UPDATE=always cargo test -p report` writes the snapshots anew; read the diff.

#![allow(clippy::unwrap_used, reason = "a test")]

mod followed;
#[allow(dead_code, reason = "what other tests need")]
#[path = "../../anatomy/tests/common/mod.rs"]
mod recorded;

use anatomy::Document;
use insta::assert_snapshot;
use report::{AnatomyFormat, Selection, Style, anatomy as rendered_anatomy, ascii};
use unicode_width::UnicodeWidthStr;

const PLAIN: Style = Style { color: false, width: 100, verbose: false, selection: Selection::All };

fn rendered(document: &Document, format: AnatomyFormat, style: &Style) -> String {
    String::from_utf8(rendered_anatomy(document, format, style).unwrap()).unwrap()
}

#[test]
fn as_text() {
    let two = followed::two();
    assert_snapshot!("anatomy-text-100", rendered(&two, AnatomyFormat::Text, &PLAIN));
    assert_snapshot!("anatomy-text-60", rendered(&two, AnatomyFormat::Text, &Style { width: 60, ..PLAIN }));
    assert_snapshot!(
        "anatomy-parts-140",
        rendered(&followed::one(), AnatomyFormat::Parts, &Style { width: 140, ..PLAIN })
    );
    let color = rendered(&two, AnatomyFormat::Text, &Style { color: true, ..PLAIN });
    assert!(color.contains("\u{1b}["));
    let bare = ascii(&rendered(&two, AnatomyFormat::Text, &PLAIN));
    assert!(bare.is_ascii(), "{:?}", bare.chars().find(|c| !c.is_ascii()));
}

#[test]
fn as_tree_and_listing() {
    assert_snapshot!("anatomy-tree", rendered(&followed::two(), AnatomyFormat::Tree, &PLAIN));
    assert_snapshot!("anatomy-listing", rendered(&followed::one(), AnatomyFormat::Listing, &PLAIN));
    let verbose = rendered(&followed::one(), AnatomyFormat::Listing, &Style { verbose: true, ..PLAIN });
    assert!(verbose.contains("0f01f8"), "swapgs");
}

#[test]
fn for_tools_and_pull_requests() {
    assert_snapshot!("anatomy-folded", rendered(&followed::one(), AnatomyFormat::Folded, &PLAIN));
    assert_snapshot!("anatomy-markdown", rendered(&followed::two(), AnatomyFormat::Markdown, &PLAIN));
    let csv = rendered(&followed::two(), AnatomyFormat::Csv, &PLAIN);
    let beginning: Vec<&str> = csv.lines().take(8).collect();
    assert_snapshot!("anatomy-csv", beginning.join("\n"));
    let all: usize = followed::two().paths.iter().map(|path| path.anatomy.instructions.len()).sum();
    assert_eq!(csv.lines().count(), all + 1);
}

#[test]
fn as_a_flame_graph() {
    let picture = rendered(&followed::one(), AnatomyFormat::Svg, &PLAIN);
    assert_snapshot!("anatomy-svg", picture);
    assert!(!picture.contains("<script") && !picture.contains("href"));
}

/// Every folded stack's count is what its box has of its own.
#[test]
fn stacks_add_up_to_the_path() {
    let document = followed::one();
    let folded = rendered(&document, AnatomyFormat::Folded, &PLAIN);
    let sum: usize =
        folded.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(sum, document.paths[0].anatomy.instructions.len());
}

const HOSTILE: &str = "\u{1b}[2J<script>&\"'\n\t\u{202e}`|* très long un mot après l'autre abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";

#[test]
fn nothing_steers_a_terminal_or_a_browser() {
    let document = followed::filled(HOSTILE);
    for format in AnatomyFormat::ALL {
        let text = rendered(&document, format, &PLAIN);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{format}");
        assert!(format != AnatomyFormat::Svg || !text.contains("<script"), "{format}");
    }
}

#[test]
fn every_line_of_text_fits_the_terminal() {
    for width in 60..=140 {
        for document in [followed::two(), followed::one()] {
            for line in rendered(&document, AnatomyFormat::Text, &Style { width, ..PLAIN }).lines() {
                assert_eq!(line, line.trim_end(), "blanks at the end");
                // Names of functions are not broken; what stands behind them is left out.
                assert!(
                    line.width() <= width || line.starts_with(['+', '-', ' ']),
                    "{} > {width}: {line}",
                    line.width()
                );
            }
        }
    }
}

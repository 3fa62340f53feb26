//! What followed paths look like. `INSTA_UPDATE=always cargo test -p report` writes the snapshots anew; read the diff.

#![allow(clippy::unwrap_used, reason = "a test")]

mod color;
mod followed;
#[allow(dead_code, reason = "what other tests need")]
#[path = "../../attribution/tests/anatomy/common/mod.rs"]
mod recorded;

use attribution::anatomy::Document;
use insta::assert_snapshot;
use report::{Format, Kind, Selection, Style, anatomy as rendered_anatomy, ascii};
use unicode_width::UnicodeWidthStr;

const PLAIN: Style = Style { color: false, width: 100, verbose: false, selection: Selection::All };

fn rendered(document: &Document, format: Format, style: &Style) -> String {
    String::from_utf8(rendered_anatomy(document, format, style).unwrap()).unwrap()
}

#[test]
fn as_text() {
    let two = followed::two();
    assert_snapshot!("anatomy-text", rendered(&two, Format::Text, &PLAIN));
    let narrow = rendered(&two, Format::Text, &Style { width: 60, ..PLAIN });
    assert_snapshot!("anatomy-text-60", narrow);
    assert_snapshot!("anatomy-kernels", rendered(&followed::kernels(), Format::Text, &PLAIN));
    assert_snapshot!(
        "anatomy-parts-140",
        rendered(&followed::one(), Format::Parts, &Style { width: 140, ..PLAIN })
    );
    let colored = rendered(&two, Format::Text, &Style { color: true, ..PLAIN });
    assert!(colored.contains("\u{1b}["));
    assert_eq!(color::without(&colored), rendered(&two, Format::Text, &PLAIN));
    let bare = ascii(&rendered(&two, Format::Text, &PLAIN));
    assert!(bare.is_ascii(), "{:?}", bare.chars().find(|c| !c.is_ascii()));
}

#[test]
fn as_tree_and_listing() {
    assert_snapshot!("anatomy-tree", rendered(&followed::two(), Format::Tree, &PLAIN));
    let one = followed::one();
    assert_snapshot!("anatomy-listing", rendered(&one, Format::Listing, &PLAIN));
    let narrow = Style { width: 40, ..PLAIN };
    let listed = rendered(&one, Format::Listing, &narrow);
    assert_snapshot!("anatomy-listing-40", listed.lines().take(40).collect::<Vec<_>>().join("\n"));
    let verbose = rendered(&followed::one(), Format::Listing, &Style { verbose: true, ..PLAIN });
    assert!(verbose.contains("0f01f8"), "swapgs");
}

#[test]
fn for_tools_and_pull_requests() {
    assert_snapshot!("anatomy-folded", rendered(&followed::one(), Format::Folded, &PLAIN));
    assert_snapshot!("anatomy-markdown", rendered(&followed::two(), Format::Markdown, &PLAIN));
    let csv = rendered(&followed::two(), Format::Csv, &PLAIN);
    let beginning: Vec<&str> = csv.lines().take(8).collect();
    assert_snapshot!("anatomy-csv", beginning.join("\n"));
    let all: usize = followed::two().paths.iter().map(|path| path.anatomy.instructions.len()).sum();
    assert_eq!(csv.lines().count(), all + 1);
}

#[test]
fn as_a_flame_graph() {
    let picture = rendered(&followed::one(), Format::Svg, &PLAIN);
    assert_snapshot!("anatomy-svg", picture);
    assert!(!picture.contains("<script") && !picture.contains("href"));
}

#[test]
fn more_than_two_paths_are_a_line_each() {
    let history = rendered(&followed::history(), Format::Text, &PLAIN);
    assert_snapshot!("anatomy-history", history);
    assert!(!history.contains("\ndifference"));
    let verbose = rendered(&followed::history(), Format::Text, &Style { verbose: true, ..PLAIN });
    assert!(verbose.contains("6.12.117+deb12-cloud-amd64 → 6.13-made-up"), "{verbose}");
    assert_snapshot!("anatomy-each", rendered(&followed::each(), Format::Text, &PLAIN));
    assert_snapshot!("anatomy-each-timed", rendered(&followed::each_timed(), Format::Text, &PLAIN));
    assert_snapshot!(
        "anatomy-each-40",
        rendered(&followed::each(), Format::Text, &Style { width: 40, ..PLAIN })
    );
    assert_snapshot!("anatomy-history-markdown", rendered(&followed::history(), Format::Markdown, &PLAIN));
}

/// Else what a script reads would have another form where only two kernels are there.
#[test]
fn a_history_of_two_kernels_is_one_like_any_other() {
    let mut document = followed::history();
    document.paths.truncate(2);
    let text = rendered(&document, Format::Text, &PLAIN);
    assert!(
        text.contains("\nkernel ") && text.contains("\npaths        2\n") && !text.contains("\ndifference"),
        "{text}"
    );
    document.is_history = false;
    assert!(rendered(&document, Format::Text, &PLAIN).contains("\ndifference"));
}

#[test]
fn many_paths_are_drawn_as_rows_of_parts() {
    let document = followed::history();
    let picture = rendered(&document, Format::Svg, &PLAIN);
    let widths = |picture: &str| -> f64 {
        let path = picture.split("<g class=\"path\">").nth(1).unwrap();
        values(path, "width=\"").iter().map(|width| width.parse::<f64>().unwrap()).sum()
    };
    let longest = document.paths.iter().map(|path| path.anatomy.instructions.len()).max().unwrap();
    let expected = 920.0 * document.paths[0].anatomy.instructions.len() as f64 / longest as f64;
    assert!((widths(&picture) - expected).abs() < 5.0, "{} of {expected}", widths(&picture));
}

/// The values of an attribute, in their order.
fn values<'a>(text: &'a str, before: &str) -> Vec<&'a str> {
    text.split(before).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn a_pictures_legend_has_the_parts_that_it_draws_and_no_others() {
    for document in [followed::one(), followed::two(), followed::kernels()] {
        let picture = rendered(&document, Format::Svg, &PLAIN);
        let (legend, drawn) = picture.split_once("<g class=\"path\">").unwrap();
        let sorted = |mut parts: Vec<&str>| {
            parts.sort_unstable();
            parts.dedup();
            parts.join(" ")
        };
        let (entries, parts) = (values(legend, "class=\"box part-"), values(drawn, "class=\"box part-"));
        assert_eq!(sorted(entries), sorted(parts));
        let executed = document.paths.iter().flat_map(|path| &path.anatomy.instructions);
        let executed = executed.map(|one| one.part.name()).collect();
        assert_eq!(sorted(values(legend, "class=\"box part-")), sorted(executed));
        for part in values(legend, "class=\"box part-") {
            assert!(picture.contains(&format!("\n.part-{part} {{ fill: ")), "{part}");
        }
    }
}

#[test]
fn two_paths_have_one_scale_and_boxes_stay_within_it() {
    let document = followed::two();
    let picture = rendered(&document, Format::Svg, &PLAIN);
    let longest = document.paths.iter().map(|path| path.anatomy.instructions.len()).max().unwrap() as f64;
    for (drawn, path) in picture.split("<g class=\"path\">").skip(1).zip(&document.paths) {
        let drawn = drawn.split("\n</g>").next().unwrap();
        let numbers = |before: &str| -> Vec<f64> {
            drawn.split("<rect ").skip(1).map(|rect| values(rect, before)[0].parse().unwrap()).collect()
        };
        let ends = numbers(" x=\"").into_iter().zip(numbers(" width=\"")).map(|(x, width)| x + width);
        let end = ends.fold(0.0, f64::max);
        let wanted = 20.0 + 920.0 * path.anatomy.instructions.len() as f64 / longest;
        assert!((end - wanted).abs() < 0.2, "{end}, not {wanted}");
    }
}

/// Every folded stack's count is what its box has of its own.
#[test]
fn stacks_add_up_to_the_path() {
    let document = followed::one();
    let folded = rendered(&document, Format::Folded, &PLAIN);
    let sum: usize =
        folded.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(sum, document.paths[0].anatomy.instructions.len());
}

const HOSTILE: &str = "\u{1b}[2J<script>&\"'\n\t\u{202e}`|* très long un mot après l'autre abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";

#[test]
fn nothing_steers_a_terminal_or_a_browser() {
    let document = followed::filled(HOSTILE);
    for format in Kind::ANATOMY.formats.iter().copied() {
        let text = rendered(&document, format, &PLAIN);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{format}");
        assert!(format != Format::Svg || !text.contains("<script"), "{format}");
    }
}

#[test]
fn every_line_of_text_fits_the_terminal() {
    use Format::{Listing, Parts, Text, Tree};
    let documents = [followed::two(), followed::one(), followed::kernels(), followed::filled(HOSTILE)];
    for (width, document) in
        (40..=140).step_by(5).flat_map(|width| documents.iter().map(move |one| (width, one)))
    {
        for format in [Text, Parts, Tree, Listing] {
            for line in rendered(document, format, &Style { width, ..PLAIN }).lines() {
                assert_eq!(line, line.trim_end(), "blanks at the end");
                assert!(line.width() <= width, "{format}: {} > {width}: {line}", line.width());
            }
        }
    }
}

/// What is too long for a column is broken or stands below, and is there.
#[test]
fn a_narrow_terminal_loses_no_instruction() {
    let document = followed::kernels();
    let text = rendered(&document, Format::Listing, &Style { width: 40, ..PLAIN });
    let words = text.split_whitespace().collect::<String>();
    for one in document.paths.iter().flat_map(|path| &path.anatomy.instructions) {
        let wanted = format!("{}{}", one.text, one.part.name()).split_whitespace().collect::<String>();
        assert!(words.contains(&wanted), "{wanted}");
    }
}

#[test]
fn share_and_idle_were_those_of_the_first_path_and_nothing_said_so() {
    let two = followed::two();
    let markdown = rendered(&two, Format::Markdown, &PLAIN);
    for heading in ["pti=on: count", "pti=off: share", "pti=off: idle"] {
        assert!(markdown.contains(&format!("| {heading} |")), "{heading}");
    }
    // Off, one of the four instructions is a jump over what is not done.
    let parts = rendered(&two, Format::Parts, &PLAIN);
    let pti: Vec<&str> =
        parts.lines().find(|line| line.starts_with("pti ")).unwrap().split_whitespace().collect();
    let idle = |place: usize| {
        let instructions = &two.paths[place].anatomy.instructions;
        instructions.iter().filter(|one| one.part.name() == "pti" && one.idle).count().to_string()
    };
    assert_eq!(pti[1..5], ["10", "2.9", "%", &idle(0)], "{pti:?}");
    assert_eq!(pti[5..9], ["4", "1.2", "%", &idle(1)], "{pti:?}");
    let csv = rendered(&two, Format::Csv, &PLAIN);
    assert!(
        csv.lines()
            .any(|line| line.contains(",pti=off,") && line.ends_with(",true,\"max,vendor=GenuineIntel\""))
    );
}

#[test]
fn two_kernels_are_called_by_what_sets_them_apart() {
    let mut document = followed::kernels();
    let of = |document: &Document| rendered(document, Format::Text, &PLAIN);
    let title = |text: &str| text.lines().find(|line| line.starts_with("difference ")).unwrap().to_owned();
    let text = of(&document);
    let [old, new] = [0, 1].map(|place| document.paths[place].configuration.release.clone());
    assert!(text.contains(&format!("Linux {old}, ")) && text.contains(&format!("Linux {new}, ")), "{text}");
    assert!(title(&text).contains("6.1.0-56 → 6.12.117+deb12: "), "{text}");
    document.paths[1].configuration.cpu = "EPYC".into();
    document.paths[1].configuration.parameters = "quiet".into();
    document.paths[1].configuration.settings.clear();
    assert!(title(&of(&document)).contains("→ 6.12.117+deb12 quiet EPYC: "), "{}", title(&of(&document)));
    document.paths[1].configuration.release = old;
    assert!(
        title(&of(&document)).contains("vmlinuz pti=on max,vendor=GenuineIntel → vmlinuz-6.12 "),
        "files"
    );
}

#[test]
fn the_timer_asks_for_nothing() {
    let mut document = followed::one();
    (document.paths[0].anatomy.entry, document.paths[0].anatomy.operation) =
        (attribution::anatomy::Event::TimerInterrupt.name().into(), "none".into());
    let text = rendered(&document, Format::Text, &PLAIN);
    assert!(text.starts_with("anatomy      timer-interrupt\n"), "{text}");
}

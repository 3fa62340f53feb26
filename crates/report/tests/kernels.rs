//! What kernels beside each other look like. `INSTA_UPDATE=always cargo test -p report` writes the snapshot anew; read the diff.

#![allow(clippy::unwrap_used, reason = "a test")]

mod markup;
mod sample;

use document::{Document, KERNEL, Outcome, Row, Timing};
use insta::assert_snapshot;
use markup::tags;
use report::{Error, Format, Selection, Style, names_kernels, render};
use stats::{Cost, Cycles, Instructions, Ticks};

const PLAIN: Style = Style { color: false, width: 100, verbose: false, selection: Selection::All };

fn picture(document: &Document) -> String {
    String::from_utf8(render(document, sample::table(), Format::Svg, &PLAIN).unwrap()).unwrap()
}

/// The rows of a picture, by what stands above each.
fn panels(picture: &str) -> Vec<(&str, &str)> {
    let panels = picture.split("<g class=\"panel\">").skip(1);
    panels
        .map(|panel| (between(panel, "class=\"chart\" x=\"20\" y=\"", "<").split_once('>').unwrap().1, panel))
        .collect()
}

fn panel<'p>(picture: &'p str, title: &str) -> &'p str {
    panels(picture).into_iter().find(|(of, _)| *of == title).unwrap_or_else(|| panic!("{title}: {picture}")).1
}

/// What stands behind the one and before the other.
fn between<'t>(text: &'t str, before: &str, behind: &str) -> &'t str {
    text.split_once(before).unwrap_or_else(|| panic!("{before}: {text}")).1.split(behind).next().unwrap()
}

/// A kernel's line in a panel.
#[derive(Debug, PartialEq)]
struct Line<'p> {
    name: &'p str,
    /// Class, and where each begins and how long it is.
    pieces: Vec<(&'p str, f64, f64)>,
    said: Option<&'p str>,
    /// Figure, change, and ring 0 where there is such a column.
    numbers: Vec<&'p str>,
    title: &'p str,
}

fn lines(panel: &str) -> Vec<Line<'_>> {
    let number = |text: &str, before: &str| -> f64 { between(text, before, "\"").parse().unwrap() };
    let line = |text| Line {
        name: between(text, "class=\"name\"", "<").split_once('>').unwrap().1,
        pieces: {
            let pieces = str::split(text, "<rect class=\"bar ").skip(1);
            pieces
                .map(|rect| {
                    (rect.split('"').next().unwrap(), number(rect, " x=\""), number(rect, " width=\""))
                })
                .collect()
        },
        said: text
            .contains("class=\"said\"")
            .then(|| between(text, "class=\"said\"", "<").split_once('>').unwrap().1),
        numbers: text.split("<text class=\"number").skip(1).map(|rest| between(rest, ">", "<")).collect(),
        title: between(text, "<title>", "<"),
    };
    panel.split("<g class=\"kernel\">").skip(1).map(line).collect()
}

fn columns<'p>(lines: &[Line<'p>], column: usize) -> Vec<&'p str> {
    lines.iter().map(|line| line.numbers[column]).collect()
}

#[test]
fn as_a_picture() {
    assert_snapshot!("kernels-svg", picture(&sample::kernels()));
}

#[test]
fn each_row_has_a_bar_for_each_kernel_with_what_changed() {
    let picture = picture(&sample::kernels());
    let titles: Vec<&str> = panels(&picture).into_iter().map(|(title, _)| title).collect();
    let calls = ["none", "getppid", "getrandom"].map(|operation| format!("syscall-x86_64 {operation}"));
    assert_eq!(titles, [&calls[0], &calls[1], &calls[2], "lcall7-i386 none"]);
    let getppid = lines(panel(&picture, &calls[1]));
    assert_eq!(getppid.iter().map(|line| line.name).collect::<Vec<_>>(), sample::KERNELS);
    assert_eq!(columns(&getppid, 0), ["341", "335", "-", "361"]);
    assert_eq!(
        columns(&getppid, 1),
        ["-", "-6", "-", "-"],
        "nothing is above the first, and no figure above the last"
    );
    assert_eq!(columns(&getppid, 2), ["337", "331", "-", "357"]);
    assert_eq!(
        getppid[1].title,
        "6.12.117+deb12-cloud-amd64: 335 instructions, 331 in ring 0; -6 against 6.1.0-56-cloud-amd64 (341 → 335), in ring 0 -6"
    );
    assert_eq!(columns(&lines(panel(&picture, &calls[0])), 1), ["-", "+8", "-", "-"]);
    for fact in [
        "QEMU 7.2.22 with TCG, CPU model max,vendor=GenuineIntel",
        "instructions executed in an emulator; no times",
    ] {
        assert!(
            picture.matches(fact).count() == 2,
            "above the bars and in the description: {fact}: {picture}"
        );
    }
    assert_eq!(picture.matches(">instructions, emulated</text>").count(), 3, "beside each axis");
}

#[test]
fn kernels_stand_in_the_order_in_which_they_were_booted_whatever_that_of_the_rows_is() {
    let mut document = sample::kernels();
    document.results.reverse();
    let picture = picture(&document);
    let lines = lines(panel(&picture, "syscall-x86_64 getppid"));
    assert_eq!(lines.iter().map(|line| line.name).collect::<Vec<_>>(), sample::KERNELS);
    assert_eq!(columns(&lines, 1), ["-", "-6", "-", "-"]);
}

#[test]
fn what_has_no_figure_is_no_bar_and_says_why() {
    let document = sample::kernels();
    let picture = picture(&document);
    for (title, panel) in panels(&picture) {
        let lines = lines(panel);
        for line in &lines {
            let is_known = line.numbers[0] != "-";
            assert_eq!(
                (line.pieces.is_empty(), line.said.is_some()),
                (!is_known, !is_known),
                "{title}: {line:?}"
            );
        }
        let panicked = format!("error: {}", sample::PANICKED);
        assert_eq!((lines[2].name, lines[2].said), (sample::KERNELS[2], Some(panicked.as_str())), "{title}");
    }
    let closed = panel(&picture, "lcall7-i386 none");
    assert_eq!(lines(closed)[0].said, Some("fault: SIGSEGV: selector 7 holds no gate"));
    assert!(
        !closed.contains("<line") && closed.contains(">no figure</text>"),
        "an axis of nothing: {closed}"
    );
    // A kernel that was not booted any more, because the user ended it, has no rows.
    let mut ended = document;
    ended.results.retain(|row| row.configuration[KERNEL] != sample::KERNELS[3]);
    assert!(self::picture(&ended).contains(">not measured: 6.14-made-up</text>"));
}

/// As where the user has ended the measurement before that kernel's rows: the table compares nothing across it, either.
#[test]
fn a_kernel_that_lacks_a_row_is_not_looked_past() {
    let mut document = sample::kernels();
    document.results.retain(|row| row.configuration[KERNEL] != sample::KERNELS[2]);
    let picture = picture(&document);
    let none = lines(panel(&picture, "syscall-x86_64 none"));
    let names: Vec<&str> = none.iter().map(|line| line.name).collect();
    assert_eq!(names, [sample::KERNELS[0], sample::KERNELS[1], sample::KERNELS[3]]);
    assert_eq!((columns(&none, 0), columns(&none, 1)), (vec!["213", "221", "221"], vec!["-", "+8", "-"]));
}

/// Rings are told apart in instructions, which are no part of a time.
#[test]
fn a_time_has_no_rings() {
    let mut document = sample::kernels();
    document.results.retain(|row| row.rings.is_some() && row.operation == "none");
    for row in &mut document.results {
        let (rings, instructions, configuration) = (row.rings, row.instructions, row.configuration.clone());
        *row = Row { rings, instructions, configuration, ..timed(true, 500.0) };
    }
    let picture = picture(&document);
    assert!(
        !picture.contains("class=\"bar ring-0\"") && picture.contains("class=\"bar timed\""),
        "{picture}"
    );
}

#[test]
fn bars_are_as_long_as_their_figures_from_zero_on() {
    let document = sample::kernels();
    let picture = picture(&document);
    let mut drawn = 0;
    for (title, panel) in panels(&picture) {
        let known: Vec<Line> = lines(panel).into_iter().filter(|line| !line.pieces.is_empty()).collect();
        let Some(first) = known.first() else { continue };
        let figure = |line: &Line| -> f64 { line.numbers[0].trim_start_matches('~').parse().unwrap() };
        let length = |line: &Line| -> f64 { line.pieces.iter().map(|(.., width)| width).sum() };
        let scale = length(first) / figure(first);
        for line in &known {
            drawn += 1;
            assert!((length(line) - scale * figure(line)).abs() < 0.05, "{title}: {line:?}");
            assert!(line.pieces[0].1 == 250.0 && 250.0 + length(line) <= 790.01, "{title}: {line:?}");
            match line.pieces.as_slice() {
                [("counted", ..)] => assert_eq!(line.numbers[2], "-", "{title}"),
                [("ring-0", _, kernels), ("ring-3", from, _)] => {
                    let count: f64 = line.numbers[2].parse().unwrap();
                    assert!(
                        (kernels - scale * count).abs() < 0.05 && (from - 250.0 - kernels).abs() < 0.02,
                        "{title}: {line:?}"
                    );
                }
                others => panic!("{title}: {others:?}"),
            }
        }
    }
    assert_eq!(drawn, 9);
}

/// A verdict that the table refuses is none in the picture.
#[test]
fn counts_that_samples_share_have_no_change() {
    let picture = picture(&sample::kernels());
    let panel = panel(&picture, "syscall-x86_64 getrandom");
    let lines = lines(panel);
    assert_eq!((columns(&lines, 0), columns(&lines, 1)), (vec!["~1506", "1513", "-", "1600"], vec!["-"; 4]));
    assert!(
        lines[1].title.contains(
            "no verdict against 6.1.0-56-cloud-amd64, because samples overlap: 1506 to 1513 and 1513"
        ),
        "{}",
        lines[1].title
    );
    assert_eq!(panel.matches("class=\"interval\"").count(), 1, "samples of the first differ");
    assert!(lines[0].title.ends_with(": ~1506 instructions (samples 1506 to 1513)"), "{}", lines[0].title);
    assert!(picture.contains(
        ">thin line: from the least sample of a count to the greatest, as far as the axis reaches</text>"
    ));
}

/// A timer ticked in one of the samples, and the bars were too short to tell them apart.
#[test]
fn an_outlier_leaves_room_for_the_bars() {
    let mut document = sample::kernels();
    let row = document.results.iter_mut().find(|row| row.operation == "getrandom").unwrap();
    row.instructions.as_mut().unwrap().max = Instructions(15_130.0);
    let picture = picture(&document);
    let panel = panel(&picture, "syscall-x86_64 getrandom");
    let lines = lines(panel);
    assert_eq!(lines[3].pieces, [("counted", 250.0, 540.0)], "1600 of an axis to 1600");
    assert!(panel.contains("<line class=\"interval\"") && panel.contains("x2=\"790\" y2"), "{panel}");
    assert!(lines[0].title.ends_with("(samples 1506 to 15130)"), "{}", lines[0].title);
}

fn timed(unit_is_cycles: bool, estimate: f64) -> Row {
    let row = Row { timing: Timing::Hardware, ..Row::unmeasured("syscall-x86_64", "none", 64) };
    match unit_is_cycles {
        true => Row {
            core_cycles: Some(
                Cost::single(Cycles(estimate)).within(Cycles(estimate - 1.0), Cycles(estimate + 1.0)),
            ),
            ..row
        },
        false => Row {
            ticks: Some(Cost::single(Ticks(estimate)).within(Ticks(estimate - 1.0), Ticks(estimate + 1.0))),
            ..row
        },
    }
}

#[test]
fn figures_of_another_unit_are_on_no_scale_with_others() {
    let mut document = sample::kernels();
    let rows = [timed(true, 100.0), timed(true, 110.0), timed(false, 80.0), timed(true, 90.0)];
    let of = |(kernel, row): (&str, Row)| Row {
        configuration: [(KERNEL.to_owned(), kernel.to_owned())].into(),
        ..row
    };
    document.results = sample::KERNELS.into_iter().zip(rows).map(of).collect();
    let picture = picture(&document);
    let lines = lines(panel(&picture, "syscall-x86_64 none"));
    assert_eq!(
        (columns(&lines, 0), columns(&lines, 1)),
        (vec!["100.0", "110.0", "80.0t", "90.0"], vec!["-", "+10.0", "-", "-"])
    );
    assert_eq!((lines[2].pieces.len(), lines[2].said), (0, Some("TSC ticks: on no scale with the others")));
    assert!(
        lines[0].pieces[0].0 == "timed"
            && picture.contains(">core cycles</text>")
            && !picture.contains("emulated</text>")
    );
    assert!(picture.contains(">thin line: the 95 % interval of a time</text>"));
    assert!(
        lines[3].title.ends_with("not compared with 6.13-made-up: another unit, or no interval"),
        "{}",
        lines[3].title
    );
}

#[test]
fn rows_of_other_settings_are_charts_of_their_own() {
    let mut document = sample::kernels();
    document.results.retain(|row| row.operation == "getppid");
    let of = |value: &str, more: f64| {
        let set = |row: &Row| {
            let mut row = row.clone();
            row.configuration.insert("pti".into(), value.into());
            row.instructions =
                row.instructions.map(|cost| Cost { estimate: Instructions(cost.estimate.0 + more), ..cost });
            (row.rings, row.instructions) = (None, row.instructions.map(|cost| Cost::single(cost.estimate)));
            row
        };
        document.results.iter().map(set).collect::<Vec<_>>()
    };
    document.results = [of("off", 0.0), of("on", 8.0)].concat();
    let picture = picture(&document);
    for (setting, counts) in [("off", ["341", "335", "-", "361"]), ("on", ["349", "343", "-", "369"])] {
        let lines = lines(panel(&picture, &format!("syscall-x86_64 getppid pti={setting}")));
        assert_eq!((columns(&lines, 0), columns(&lines, 1)), (counts.to_vec(), vec!["-", "-6", "-", "-"]));
        assert!(
            lines.iter().all(|line| line.numbers.len() == 2),
            "no column of a ring that is not told apart"
        );
    }
}

#[test]
fn the_first_screen_of_many_rows_says_how_many_there_are() {
    let mut document = sample::run_of(table::Table::get());
    let kernels = sample::kernels();
    document.environment.guest = kernels.environment.guest;
    let of = |kernel: &str| {
        let named =
            |row: &Row| Row { configuration: [(KERNEL.to_owned(), kernel.to_owned())].into(), ..row.clone() };
        document.results.iter().map(named).collect::<Vec<_>>()
    };
    let all = document.results.len();
    document.results = sample::KERNELS.into_iter().flat_map(of).collect();
    let drawn = |selection| {
        let style = Style { selection, ..PLAIN };
        String::from_utf8(render(&document, table::Table::get(), Format::Svg, &style).unwrap()).unwrap()
    };
    let (first, whole) = (drawn(Selection::FirstScreen), drawn(Selection::All));
    assert_eq!(panels(&whole).len(), all);
    let shown = panels(&first).len();
    assert!(
        shown > 5
            && shown < all
            && first.contains(&format!(">rows: {shown} of {all}; --all shows every one</text>"))
    );
    assert!(!whole.contains(">rows: "), "all of them");
}

#[test]
fn there_is_no_picture_of_a_run_that_names_no_kernels() {
    let refused = |document: &Document| render(document, sample::table(), Format::Svg, &PLAIN).unwrap_err();
    let mut unnamed = sample::kernels();
    let guest = unnamed.environment.guest.as_mut().unwrap();
    guest.kernels.iter_mut().for_each(|kernel| kernel.settings.clear());
    unnamed.results.iter_mut().for_each(|row| row.configuration.clear());
    for document in [sample::ordinary(), sample::lab(), unnamed] {
        assert!(
            !names_kernels(&document)
                && matches!(refused(&document), Error::Format { format: Format::Svg, .. })
        );
    }
    assert!(names_kernels(&sample::kernels()));
}

#[test]
fn no_text_becomes_markup_or_is_wider_than_its_place() {
    let (hostile, harmless) =
        (picture(&sample::kernels_called(sample::HOSTILE)), picture(&sample::kernels_called("harmless")));
    // Lines above the bars are as many as the texts need.
    let but_texts =
        |picture: &str| tags(picture).into_iter().filter(|tag| !tag.starts_with("text")).collect::<Vec<_>>();
    assert_eq!(but_texts(&hostile), but_texts(&harmless));
    let steers = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!hostile.contains(steers), "{hostile}");
    let wide = picture(&sample::kernels_called(&"核/".repeat(300)));
    for (picture, mark) in [(&hostile, ""), (&wide, "…")] {
        for (_, panel) in panels(picture) {
            for line in lines(panel) {
                let unescaped = line
                    .name
                    .replace("&#60;", "<")
                    .replace("&#62;", ">")
                    .replace("&#34;", "\"")
                    .replace("&#39;", "'")
                    .replace("&#38;", "&");
                let columns = unicode_width::UnicodeWidthStr::width(unescaped.as_str());
                assert!(columns <= 31 && line.name.starts_with(mark), "{columns}: {}", line.name);
            }
        }
    }
}

#[test]
fn a_picture_loads_nothing_runs_nothing_and_describes_every_figure() {
    let document = sample::kernels();
    let picture = picture(&document);
    let body = picture.split_once("xmlns=\"http://www.w3.org/2000/svg\"").unwrap().1;
    for word in ["http", "<script", "href", "@import", "url(h", "javascript", "NaN", "inf\""] {
        assert!(!body.contains(word), "{word}");
    }
    assert!(picture.contains("prefers-color-scheme: dark") && picture.contains("role=\"img\""));
    let description = between(&picture, "<desc id=\"description\">", "</desc>");
    for row in document.results.iter().filter(|row| row.outcome == Outcome::Ok) {
        let count = row.instructions.unwrap().estimate.0;
        assert!(
            description.contains(&format!("{}: ", row.configuration[KERNEL]))
                && description.contains(&format!("{count} instructions")),
            "{description}"
        );
    }
    assert!(description.contains(&format!("6.13-made-up: - (error: {})", sample::PANICKED)), "{description}");
}

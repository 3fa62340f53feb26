//! The runs that are kept.

use crate::figure::ABSENT;
use crate::line::{Line, look};
use crate::{Error, Format, Kind, Style, csv, json, markdown, plain};
use document::Machine;
use runs::{Head, Listed};
use serde::Serialize;

/// How many digits of an id are shown: enough to name a run.
const DIGITS: usize = 8;

/// The kept runs, the newest first, in `format`.
///
/// # Errors
/// [`Error`] when a serializer refuses.
pub fn runs(listed: &Listed, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    #[derive(Serialize)]
    struct Runs<'a> {
        runs: &'a [Head],
    }
    match format {
        Format::Text => Ok(text(&listed.heads, style)),
        Format::Json => json::render(&Runs { runs: &listed.heads }),
        Format::Csv => csv::records(std::iter::once(titles()).chain(listed.heads.iter().map(cells))),
        Format::Markdown => Ok(table(&listed.heads)),
        _ => Err(Error::unfit(Kind::LIST, format)),
    }
}

const TITLES: [&str; 9] = ["run", "name", "began", "place", "covers", "figures", "quiet", "tags", ARM];

/// What readers are not shown where no run has it.
const OPTIONAL: [&str; 4] = ["name", "quiet", "tags", ARM];

/// The place of the title that says when.
const BEGAN: usize = 2;

/// The last title: which arm of a comparison in turns, and its command.
const ARM: &str = "arm of --live";

fn titles() -> Vec<String> {
    TITLES.map(str::to_string).into()
}

/// The titles and the cells of all runs, for readers: to the minute, and without the columns that no run fills.
fn lines(heads: &[Head]) -> Vec<Vec<String>> {
    let rows: Vec<Vec<String>> = heads.iter().map(|head| to_the_minute(head, cells(head))).collect();
    let is_shown = |place: &usize| {
        let is_filled = |row: &Vec<String>| row.get(*place).is_some_and(|cell| cell != ABSENT);
        TITLES.get(*place).is_some_and(|title| !OPTIONAL.contains(title)) || rows.iter().any(is_filled)
    };
    let shown: Vec<usize> = (0..TITLES.len()).filter(is_shown).collect();
    let plain = |cells: Vec<String>| {
        shown.iter().filter_map(|place| cells.get(*place)).map(|cell| plain(cell)).collect()
    };
    std::iter::once(titles()).chain(rows.iter().cloned()).map(plain).collect()
}

/// `2026-11-22T10:00:00.123Z` as `2026-11-22 10:00`; what is no such time stays as it is.
fn to_the_minute(head: &Head, mut cells: Vec<String>) -> Vec<String> {
    let minute = head.started.get(..16).filter(|_| head.started.ends_with('Z') && head.started.is_ascii());
    if let Some((minute, cell)) = minute.zip(cells.get_mut(BEGAN)) {
        *cell = minute.replace('T', " ");
    }
    cells
}

/// `A: no command`, `B: strace -f`.
fn arm(head: &Head) -> Option<String> {
    let command = head.command.as_deref();
    match &head.arm {
        Some(arm) => Some(format!("{arm}: {}", command.unwrap_or("no command"))),
        None => command.map(str::to_owned),
    }
}

fn cells(head: &Head) -> Vec<String> {
    let tags: Vec<String> = head.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let partial = if head.partial { ", partial" } else { "" };
    vec![
        short(&head.id).to_string(),
        head.name.clone().unwrap_or_else(|| "-".into()),
        head.started.clone(),
        place(head),
        head.covers.clone().unwrap_or_else(|| "-".into()),
        format!("{} of {}{partial}", head.figures, head.ok),
        head.quiet_share.map_or("-".into(), |share| format!("{:.0} %", 100.0 * share)),
        if tags.is_empty() { "-".into() } else { tags.join(" ") },
        arm(head).unwrap_or_else(|| "-".into()),
    ]
}

/// The first digits of an id.
pub fn short(id: &str) -> &str {
    id.get(..DIGITS).unwrap_or(id)
}

/// The kernel, and the machine unless that is the one that the command ran on.
fn place(head: &Head) -> String {
    let names = serde_json::to_value(&head.place).unwrap_or_default();
    let name = |part: &str| names[part].as_str().unwrap_or("-");
    match head.place.machine.known() {
        Some(Machine::Host) => name("kernel").to_string(),
        _ => format!("{} on {}", name("kernel"), name("machine")),
    }
}

fn text(heads: &[Head], style: &Style) -> Vec<u8> {
    let rows = lines(heads);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| Line::new(look::PLAIN, cell).width()).max()
    };
    let widths: Vec<usize> = (0..TITLES.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for (number, row) in rows.iter().enumerate() {
        let mut line = Line::default();
        let mut column = 0;
        for (cell, width) in row.iter().zip(&widths) {
            line.blank_to(column);
            line.push(if number == 0 { look::FAINT } else { look::PLAIN }, cell);
            column += width + 2;
        }
        line.write(style.color, &mut out);
    }
    out.into_bytes()
}

fn table(heads: &[Head]) -> Vec<u8> {
    let mut out = String::new();
    for (number, cells) in lines(heads).iter().enumerate() {
        let escaped: Vec<String> = cells.iter().map(|cell| markdown::escaped(cell)).collect();
        out.push_str(&format!("| {} |\n", escaped.join(" | ")));
        if number == 0 {
            out.push_str(&format!("|{}\n", "---|".repeat(cells.len())));
        }
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Selection;
    use document::Place;
    use table::Kernel;

    fn listed() -> Listed {
        let head = Head {
            head: 1,
            id: "5cf91bd6ba4b2af7dc3a138cd1862017".into(),
            name: Some("before".into()),
            tags: [("commit".to_string(), "1a|\u{1b}[2J".to_string())].into(),
            started: "2026-11-22T10:00:00Z".into(),
            arm: None,
            command: None,
            place: Place::new(Machine::Host, Kernel::Linux),
            machine_id: None,
            cpu: None,
            release: None,
            covers: Some("first screen".into()),
            ok: 106,
            figures: 104,
            quiet_share: Some(0.256),
            canary: std::collections::BTreeMap::new(),
            partial: false,
        };
        let lab = Head {
            name: None,
            tags: [].into(),
            place: Place::new(Machine::QemuTcg, Kernel::Lab),
            quiet_share: None,
            partial: true,
            ..head.clone()
        };
        Listed { heads: vec![head, lab], skipped: Vec::new() }
    }

    fn rendered(format: Format) -> String {
        let style = Style { color: false, width: 100, verbose: false, selection: Selection::All };
        String::from_utf8(runs(&listed(), format, &style).unwrap()).unwrap()
    }

    #[test]
    fn a_line_a_run_and_nothing_steers_a_terminal() {
        assert_eq!(
            rendered(Format::Text),
            "run       name    began             place            covers        figures              quiet  tags\n\
             5cf91bd6  before  2026-11-22 10:00  linux            first screen  104 of 106           26 %   commit=1a|\\u{1b}[2J\n\
             5cf91bd6  -       2026-11-22 10:00  lab on qemu-tcg  first screen  104 of 106, partial  -      -\n"
        );
    }

    #[test]
    fn a_list_without_names_and_tags_was_wider_than_80_columns() {
        let mut listed = listed();
        for head in &mut listed.heads {
            (head.tags, head.name, head.partial) = ([].into(), None, false);
        }
        let style = Style { color: false, width: 80, verbose: false, selection: Selection::All };
        let text = String::from_utf8(runs(&listed, Format::Text, &style).unwrap()).unwrap();
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert!(!text.contains("name") && !text.contains("tags") && text.contains("covers"), "{text}");
        let csv = String::from_utf8(runs(&listed, Format::Csv, &style).unwrap()).unwrap();
        assert!(csv.starts_with("run,name,began,place,covers,figures,quiet,tags,"), "{csv}");
    }

    /// Nothing told the arms of a live comparison from other runs, and from each other.
    #[test]
    fn an_arm_is_told_to_be_one_with_its_command() {
        let mut listed = listed();
        listed.heads[0].arm = Some("A".into());
        let of_arm =
            Head { arm: Some("B".into()), command: Some("strace -f".into()), ..listed.heads[0].clone() };
        listed.heads.push(of_arm);
        let style = Style { color: false, width: 100, verbose: false, selection: Selection::All };
        for format in [Format::Text, Format::Csv, Format::Markdown] {
            let text = String::from_utf8(runs(&listed, format, &style).unwrap()).unwrap();
            for what in ["arm of --live", "A: no command", "B: strace -f"] {
                assert!(text.contains(what), "{text}");
            }
        }
    }

    #[test]
    fn programs_get_everything() {
        let value: serde_json::Value = serde_json::from_str(&rendered(Format::Json)).unwrap();
        assert_eq!(value["runs"][0]["id"], "5cf91bd6ba4b2af7dc3a138cd1862017");
        assert!(value["runs"][1]["quiet_share"].is_null());
        assert_eq!(rendered(Format::Csv).lines().count(), 3);
        let markdown = rendered(Format::Markdown);
        assert_eq!(markdown.lines().count(), 4);
        assert!(markdown.contains("commit=1a\\|"), "{markdown}");
    }
}

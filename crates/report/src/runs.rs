//! The runs that are kept.

use crate::line::{Line, look};
use crate::{Error, Format, Style, csv, json, markdown, plain};
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
    }
}

const TITLES: [&str; 7] = ["run", "name", "began", "place", "figures", "quiet", "tags"];

fn titles() -> Vec<String> {
    TITLES.map(str::to_string).into()
}

fn cells(head: &Head) -> Vec<String> {
    let tags: Vec<String> = head.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let partial = if head.partial { ", partial" } else { "" };
    vec![
        short(&head.id).to_string(),
        head.name.clone().unwrap_or_else(|| "-".into()),
        head.started.clone(),
        place(head),
        format!("{} of {}{partial}", head.figures, head.ok),
        head.quiet_share.map_or("-".into(), |share| format!("{:.0} %", 100.0 * share)),
        if tags.is_empty() { "-".into() } else { tags.join(" ") },
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
    let rows: Vec<Vec<String>> = std::iter::once(titles())
        .chain(heads.iter().map(|head| cells(head).iter().map(|cell| plain(cell)).collect()))
        .collect();
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
    let line = |cells: Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| markdown::escaped(&plain(cell))).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut out = line(titles());
    out.push_str(&format!("|{}\n", "---|".repeat(TITLES.len())));
    out.extend(heads.iter().map(|head| line(cells(head))));
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
            place: Place::new(Machine::Host, Kernel::Linux),
            machine_id: None,
            cpu: None,
            release: None,
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
            "run       name    began                 place            figures              quiet  tags\n\
             5cf91bd6  before  2026-11-22T10:00:00Z  linux            104 of 106           26 %   commit=1a|\\u{1b}[2J\n\
             5cf91bd6  -       2026-11-22T10:00:00Z  lab on qemu-tcg  104 of 106, partial  -      -\n"
        );
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

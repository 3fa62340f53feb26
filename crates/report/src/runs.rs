//! The runs that are kept.

use crate::grid::{Column, Grid, Words, Writer};
use crate::line::written;
use crate::{Error, Format, Kind, Style, json};
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
        Format::Text => Ok(written(&grid(&listed.heads, Writer::Text).lines(style.columns()), style)),
        Format::Json => json::render(&Runs { runs: &listed.heads }),
        Format::Csv => grid(&listed.heads, Writer::Csv).csv(),
        Format::Markdown => Ok(grid(&listed.heads, Writer::Markdown).markdown().into_bytes()),
        _ => Err(Error::unfit(Kind::LIST, format)),
    }
}

/// Behind the cells of a terminal, or below them where there is less room than this: tags and commands may be of any length.
const ROOM_OF_WORDS: usize = 30;

/// A row a run. Readers are shown when it began to the minute, and no column that no run fills.
fn grid(heads: &[Head], writer: Writer) -> Grid {
    let began = |head: &Head| if writer == Writer::Csv { head.started.clone() } else { to_the_minute(head) };
    let is_text = writer == Writer::Text;
    let filled = |column: Column, is_filled: fn(&Head) -> bool| {
        if heads.iter().any(is_filled) { column } else { column.only(Writer::Csv) }
    };
    let beside = |heading: &str, is_filled| (!is_text).then(|| filled(Column::word(heading), is_filled));
    let grid = Grid::of(heads)
        .column(Column::word("run"), |head| short(&head.id))
        .column(filled(Column::text("name"), |head| head.name.is_some()), |head| head.name.as_ref())
        .column(Column::word("began"), began)
        .column(Column::word("place"), place)
        .column(Column::word("covers").spare(2), |head| head.covers.as_ref())
        .column(Column::word("figures").spare(1), figures)
        .column(filled(Column::word("quiet").spare(3), |head| head.quiet_share.is_some()), |head| {
            head.quiet_share.map(|share| format!("{:.0} %", 100.0 * share))
        })
        .maybe(beside("tags", |head| !head.tags.is_empty()), tags)
        .maybe(beside("arm of --live", |head| arm(head).is_some()), arm);
    if !is_text {
        return grid.grid();
    }
    let heading = if heads.iter().any(|head| !head.tags.is_empty()) { "tags" } else { "" };
    grid.words(Words { heading, least: ROOM_OF_WORDS, ..Words::BEHIND }, words).grid()
}

/// What may be of any length: tags, and the arm of a live comparison.
fn words(head: &Head) -> String {
    let arm = arm(head).map(|arm| format!("arm of --live {arm}"));
    tags(head).into_iter().chain(arm).collect::<Vec<_>>().join("; ")
}

/// `2026-11-22T10:00:00.123Z` as `2026-11-22 10:00`; what is no such time stays as it is.
fn to_the_minute(head: &Head) -> String {
    let minute = head.started.get(..16).filter(|_| head.started.ends_with('Z') && head.started.is_ascii());
    minute.map_or_else(|| head.started.clone(), |minute| minute.replace('T', " "))
}

/// `A: no command`, `B: strace -f`.
fn arm(head: &Head) -> Option<String> {
    let command = head.command.as_deref();
    match &head.arm {
        Some(arm) => Some(format!("{arm}: {}", command.unwrap_or("no command"))),
        None => command.map(str::to_owned),
    }
}

fn figures(head: &Head) -> String {
    let partial = if head.partial { ", partial" } else { "" };
    format!("{} of {}{partial}", head.figures, head.ok)
}

fn tags(head: &Head) -> Option<String> {
    let tags: Vec<String> = head.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    (!tags.is_empty()).then(|| tags.join(" "))
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
    fn a_row_a_run_and_nothing_steers_a_terminal() {
        assert_eq!(
            rendered(Format::Text),
            "run       name    began             place            covers        figures              quiet\n\
             5cf91bd6  before  2026-11-22 10:00  linux            first screen  104 of 106           26 %\n        commit=1a|\\u{1b}[2J\n\
             5cf91bd6  -       2026-11-22 10:00  lab on qemu-tcg  first screen  104 of 106, partial  -\n"
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

    #[test]
    fn a_list_with_tags_and_commands_was_152_columns_wide() {
        let mut listed = listed();
        listed.heads[0].name = Some("a-name-that-is-longer-than-most-names-are-and-longer".into());
        listed.heads[0].tags.insert("kernel".into(), "6.1 with a patch of which much is to be said".into());
        listed.heads[1].arm = Some("B".into());
        listed.heads[1].command =
            Some("taskset 1 strace -f -o /dev/null -e trace=getppid,getpid --seccomp-bpf".into());
        for width in [60, 80, 100, 152, 200] {
            let style = Style { color: false, width, verbose: false, selection: Selection::All };
            let text = String::from_utf8(runs(&listed, Format::Text, &style).unwrap()).unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            for words in ["kernel=6.1 with a patch", "arm of --live B: taskset 1 strace", "--seccomp-bpf"] {
                assert!(letters(&text).contains(&letters(words)), "{width}: {text}");
            }
            assert_eq!(text.contains("quiet"), width >= 152, "{width}: {text}");
        }
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

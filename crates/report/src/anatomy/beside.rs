//! The lab's profile beside a path.

use super::grid::{Column, Grid, Row};
use super::words::{instructions, of_lab};
use crate::figure::ABSENT;
use anatomy::{Beside, BesideLine, Verdict};

/// The columns, in words.
pub(super) const LEGEND: &str = "lab: what the profile's steps of the switch add there, each alone. Linux: instructions of the first path that do the same, \
                                 of which idle ones do nothing, or jump over what is switched off.";

/// Switch by switch.
pub(super) fn grid(beside: &Beside) -> Grid {
    let columns = vec![
        Column::text("switch"),
        Column::number("lab"),
        Column::number("Linux"),
        Column::number("idle"),
        Column::text("steps of the profile"),
    ];
    let row = |line: &BesideLine| {
        Row::new(vec![
            line.switch.clone(),
            of_lab(line.lab),
            line.linux.to_string(),
            if line.idle == 0 { String::new() } else { line.idle.to_string() },
            if line.steps.is_empty() { ABSENT.to_owned() } else { line.steps.join(" ") },
        ])
    };
    Grid { columns, rows: beside.lines.iter().map(row).collect() }
}

/// Where the profile and Linux do not have the same, a sentence each.
pub(super) fn findings(beside: &Beside) -> Vec<String> {
    beside.lines.iter().filter_map(|line| finding(beside, line)).collect()
}

fn finding(beside: &Beside, line: &BesideLine) -> Option<String> {
    let BesideLine { switch, linux, idle, .. } = line;
    let (profile, steps) = (&beside.profile, line.steps.join(" "));
    Some(match line.verdict() {
        Verdict::Agrees => return None,
        Verdict::ProfileLacks => {
            let executed = linux - idle;
            format!(
                "{switch}: Linux executes {} of it, and the profile {profile} has no step of it",
                instructions(executed)
            )
        }
        Verdict::LinuxLacks => {
            format!(
                "{switch}: the profile {profile} has {steps}, and nothing that Linux executes here belongs to it"
            )
        }
        Verdict::OffInLinux => {
            format!(
                "{switch}: the profile {profile} has {steps}; in this boot it is off: nops or jumps stand in its place, {linux} in number"
            )
        }
    })
}

/// What stands above the table; `names` are those of the paths, of which the first has the profile beside it.
pub(super) fn title(beside: &Beside, names: &[String]) -> String {
    let cpu = beside.cpu.as_ref().map(|cpu| format!(", CPU {cpu}")).unwrap_or_default();
    let whose = match names {
        [first, _, ..] => format!(" beside {first}"),
        _ => String::new(),
    };
    format!(
        "profile {} of the lab{whose}{cpu}: {} bare, {} with all of its steps",
        beside.profile,
        of_lab(beside.bare),
        of_lab(beside.whole)
    )
}

//! The lab's profile beside a path.

use super::parts::{Grid, Row};
use super::words::of_lab;
use crate::figure::ABSENT;
use anatomy::{Beside, BesideLine, Verdict};

/// The columns, in words.
pub(super) const LEGEND: &str = "lab: what the profile's steps of the switch add there, each alone. Linux: instructions of the first path that do the same, \
                                 of which idle ones do nothing, or jump over what is switched off.";

/// Switch by switch.
pub(super) fn grid(beside: &Beside) -> Grid {
    let headings = ["switch", "lab", "Linux", "idle", "steps of the profile"].map(str::to_owned).into();
    let row = |line: &BesideLine| Row {
        cells: vec![
            line.switch.clone(),
            of_lab(line.lab),
            line.linux.to_string(),
            if line.idle == 0 { String::new() } else { line.idle.to_string() },
            if line.steps.is_empty() { ABSENT.to_owned() } else { line.steps.join(" ") },
        ],
        is_sum: false,
        what: String::new(),
    };
    Grid {
        headings,
        numbers: vec![false, true, true, true, false],
        rows: beside.lines.iter().map(row).collect(),
    }
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
                "{switch}: Linux executes {executed} instructions of it, and the profile {profile} has no step of it"
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

/// What stands above the table.
pub(super) fn title(beside: &Beside) -> String {
    let cpu = beside.cpu.as_ref().map(|cpu| format!(", CPU {cpu}")).unwrap_or_default();
    format!(
        "profile {} of the lab{cpu}: {} bare, {} with all of its steps",
        beside.profile,
        of_lab(beside.bare),
        of_lab(beside.whole)
    )
}

//! The lab's profile beside a path.

use super::words::{instructions, of_lab};
use crate::grid::{Cell, Column, Grid};
use attribution::anatomy::{Beside, BesideLine, Verdict};

/// The columns, in words.
pub(super) const LEGEND: &str = "lab: what the profile's steps for the switch add, each alone. Linux: the first path's instructions for the same \
                                 purpose. idle: of these, how many do nothing or jump over code that is switched off. -: the profile has no step for it, or \
                                 the step has no count here.";

/// Switch by switch.
pub(super) fn grid(beside: &Beside) -> Grid {
    let steps = |line: &BesideLine| Some(line.steps.join(" ")).filter(|steps| !steps.is_empty());
    Grid::of(&beside.lines)
        .column(Column::text("switch"), |line| &line.switch)
        .column(Column::number("lab"), |line| of_lab(line.lab))
        .column(Column::number("Linux"), |line| line.linux)
        .column(Column::number("idle"), |line| Cell::unless_0(line.idle))
        .column(Column::text("steps of the profile"), steps)
        .grid()
}

/// Where the profile and Linux do not have the same, a sentence each.
pub(super) fn findings(beside: &Beside) -> Vec<String> {
    beside.lines.iter().filter_map(|line| finding(beside, line)).collect()
}

fn finding(beside: &Beside, line: &BesideLine) -> Option<String> {
    let BesideLine { switch, linux, idle, .. } = line;
    let (profile, steps) = (&beside.profile, line.steps.join(" "));
    let executed = instructions(linux.saturating_sub(*idle));
    Some(match line.verdict() {
        Verdict::Agrees => return None,
        Verdict::ProfileLacks => {
            format!("{switch}: Linux executes {executed} for it; the profile {profile} has no step for it")
        }
        Verdict::LinuxLacks => {
            format!("{switch}: the profile {profile} has {steps}; Linux executes nothing for it here")
        }
        Verdict::LabLacks => format!(
            "{switch}: the profile {profile} has {steps}, but the lab executes no additional instruction for it on this entry; Linux \
             executes {executed}"
        ),
        Verdict::NotCounted => format!(
            "{switch}: the profile {profile} has {steps}, but the lab has no count for it on this entry: the lab's CPU lacks what it \
             needs, or it adds no instruction; Linux executes {executed}"
        ),
        Verdict::OffInLinux => {
            format!(
                "{switch}: the profile {profile} has {steps}; this boot has it off and executes only nops or jumps in its place ({})",
                instructions(*linux)
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
        "profile {} of the lab{whose}{cpu}: {} instructions bare, {} with all steps",
        beside.profile,
        of_lab(beside.bare),
        of_lab(beside.whole)
    )
}

//! What is against an attack, or a fault of a processor: settings of the lab, and parts of a Linux.

use crate::anatomy::Part;
use table::Table;

/// Of the groups below, what protects nothing; and of other groups, what does; by switch or by setting. docs/bill.md says what each is for,
/// and a test of the command compares.
const NO_PROTECTION: [&str; 5] = ["cr3-writes", "pcid", "asids", "global", "flush-by"];
const PROTECTION: [&str; 5] = ["clear-registers", "stack-offset", "canary", "return-checks", "swapgs=fence"];

/// Whether a setting is against an attack.
pub fn is_protection(table: &Table, switch: &str, value: &str) -> bool {
    use table::Group::{Isolation, Speculation, Supervisor};
    let setting = format!("{switch}={value}");
    let is_named = |names: &[&str]| names.iter().any(|name| *name == switch || *name == setting);
    let group = table.switch(switch).map(|switch| switch.group);
    is_named(&PROTECTION)
        || matches!(group, Some(Isolation | Speculation | Supervisor)) && !is_named(&NO_PROTECTION)
}

/// Whether a part of a Linux is: what the lab has as a setting that is one, and the divider. A path that a retpoline is on has its dispatch all
/// the same, and one with a fence has swapgs.
pub fn part_protects(table: &Table, part: Part) -> bool {
    let protects = |name: &str| {
        // One of a range has no list of values.
        let values =
            table.switch(name).into_iter().flat_map(|switch| switch.values.iter().chain([&switch.default]));
        values.into_iter().any(|value| is_protection(table, name, value))
    };
    match part {
        Part::Dispatch | Part::Swapgs => false,
        Part::Divider => true,
        part => part.switches().iter().any(|name| protects(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_protect() {
        let names: Vec<&str> = Part::ALL
            .iter()
            .filter(|part| part_protects(Table::get(), **part))
            .map(|part| part.name())
            .collect();
        let expected = "smap pti clear-registers copy-frame ibrs returns bhb rsb ibpb stack-offset index-mask retpoline canary ibt return-checks \
                        verw divider";
        assert_eq!(names.join(" "), expected);
    }
}

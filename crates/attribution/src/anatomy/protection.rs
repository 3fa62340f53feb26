//! Which parts of a Linux are against an attack, or a fault of a processor.

use crate::anatomy::Part;
use crate::bill::is_protection;
use table::Table;

/// Whether a part is against an attack, or a fault of a processor: what the lab has as a setting that is one, and the divider. A path that
/// a retpoline is on has its dispatch all the same, and one with a fence has swapgs.
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

//! What the explanation of a fault of the processor opens with, from the table of faults that `kentry doctor` uses.

use crate::prices::{self, LabRuns};
use findings::doctor::{Lies, PROTECTED_FAULTS, ProtectedFault};
use table::{Setting, Table, is_same_name};

/// The fault of which Linux's file has this name.
pub fn of(name: &str) -> Option<&'static ProtectedFault> {
    PROTECTED_FAULTS.iter().find(|fault| is_same_name(fault.name, name))
}

/// Attack, processors, Linux's remedy, and its price here: an item each.
pub fn opening(table: &Table, fault: &ProtectedFault, runs: &LabRuns) -> String {
    let ProtectedFault { called, attack, processors, .. } = fault;
    let mut does: Vec<&str> = fault.doings.iter().map(|doing| doing.what).collect();
    does.dedup();
    format!(
        "- **Attack**: {called}. {attack}\n- **Processors**: {processors}.\n- **Remedy**: the kernel {}.\n{}",
        does.join(", or "),
        price(table, fault, runs)
    )
}

/// The price of each setting of the lab that does what the kernel may do; where none does, that no entry pays.
fn price(table: &Table, fault: &ProtectedFault, runs: &LabRuns) -> String {
    let mut settings: Vec<Setting> = Vec::new();
    for (name, value) in
        fault.doings.iter().flat_map(|doing| doing.settings).filter_map(|setting| setting.split_once('='))
    {
        let setting = Setting::new(name, value);
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    if !settings.is_empty() {
        return prices::line(table, &settings, runs);
    }
    let mut places: Vec<&str> =
        fault.doings.iter().flat_map(|doing| doing.lies).map(|place| Lies::words(*place)).collect();
    places.dedup();
    format!("- **Price**: `-`; it lies on {}, and no entry pays.\n", places.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::super::subject::meaning;
    use super::*;

    #[test]
    fn every_fault_is_explained_by_its_name_and_opens_with_four_lines() {
        let (table, none) = (Table::get(), LabRuns::of(Vec::new()));
        for fault in PROTECTED_FAULTS {
            assert!(meaning(table, fault.name).is_ok(), "{}", fault.name);
            let opening = opening(table, fault, &none);
            let words: Vec<&str> = opening
                .lines()
                .filter_map(|line| Some(line.strip_prefix("- **")?.split_once("**")?.0))
                .collect();
            assert_eq!(words, ["Attack", "Processors", "Remedy", "Price"], "{opening}");
        }
    }

    #[test]
    fn what_no_entry_pays_has_no_price() {
        let (table, none) = (Table::get(), LabRuns::of(Vec::new()));
        let opening = |name| opening(table, of(name).unwrap(), &none);
        assert!(opening("srbds").contains("**Price**: `-`; it lies on the programs themselves"));
        assert!(opening("retbleed").contains("`returns=untrain`: "), "{}", opening("retbleed"));
    }
}

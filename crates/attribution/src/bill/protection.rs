//! Which settings of the lab are against an attack, or a fault of a processor.

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

//! What the kernel says that it does about a fault.

use super::state::{Stands, State};
use super::table::{Doing, PROTECTED_FAULTS, ProtectedFault, When};
use std::collections::BTreeMap;

/// The setting of the lab that clears buffers on returns to programs.
const BUFFERS: &str = "verw=on";

/// What says that buffers are cleared on each return to a program: `mds: Mitigation: Clear CPU buffers; …`. None where they are not, or
/// before guests alone.
pub(crate) fn buffers_on_exits(states: &BTreeMap<String, String>) -> Option<String> {
    PROTECTED_FAULTS.iter().find_map(|fault| {
        let line = states.get(fault.name)?;
        let clears = |doing: &&Doing| doing.when == When::Said && doing.settings.contains(&BUFFERS);
        said(fault, line).find(clears).map(|_| format!("{}: {line}", fault.name))
    })
}

/// Those of which the kernel writes the clause.
pub(crate) fn said(fault: &ProtectedFault, line: &str) -> impl Iterator<Item = &'static Doing> + use<> {
    let state = State::of(line);
    let is_said = |doing: &&Doing| state.stands != Stands::NotAffected && state.says(doing.says);
    let said: Vec<&'static Doing> = fault.doings.iter().filter(is_said).collect();
    said.into_iter()
}

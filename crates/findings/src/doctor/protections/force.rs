//! Which doings are in force here: by the kernel's clauses, and where those do not tell, by what else is known of it.

use super::faults::{Doing, PROTECTED_FAULTS, ProtectedFault, When};
use super::state::{Stands, State};
use environment::Environment;
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

/// What the kernel of these facts does.
pub(crate) struct InForce<'a> {
    environment: &'a Environment,
    /// The settings of the lab that it is like.
    settings: Vec<String>,
    clears_on_exits: bool,
}

impl<'a> InForce<'a> {
    pub(crate) fn of(environment: &'a Environment) -> InForce<'a> {
        let settings = super::here::settings_here(environment).iter().map(ToString::to_string).collect();
        let clears_on_exits = buffers_on_exits(&environment.mitigations).is_some();
        InForce { environment, settings, clears_on_exits }
    }

    /// What is done about a fault.
    pub(crate) fn doings(&self, fault: &ProtectedFault) -> Vec<&'static Doing> {
        let Some(line) = self.environment.mitigations.get(fault.name) else { return Vec::new() };
        said(fault, line).filter(|doing| self.is_so(doing)).collect()
    }

    fn is_so(&self, doing: &Doing) -> bool {
        match doing.when {
            When::Said | When::BuiltIn => true,
            When::LikeIt => doing.settings.iter().all(|setting| self.is_like(setting)),
            When::BuffersOnExits => self.clears_on_exits,
            When::NoBuffersOnExits => !self.clears_on_exits,
        }
    }

    /// Whether the kernel is taken to be like a setting of the lab.
    pub(super) fn is_like(&self, setting: &str) -> bool {
        self.settings.iter().any(|known| known == setting)
    }
}

/// Those of which the kernel writes the clause.
fn said(fault: &ProtectedFault, line: &str) -> impl Iterator<Item = &'static Doing> + use<> {
    let state = State::of(line);
    let is_said = |doing: &&Doing| state.stands != Stands::NotAffected && state.says(doing.says);
    let said: Vec<&'static Doing> = fault.doings.iter().filter(is_said).collect();
    said.into_iter()
}

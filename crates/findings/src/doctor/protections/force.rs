//! Which doings are in force here: by the kernel's clauses, and where those do not tell, by what else is known of it.

use crate::faults::{Doing, ProtectedFault, When, buffers_on_exits, said};
use environment::Environment;
use table::Setting;

/// What the kernel of these facts does.
pub(crate) struct InForce<'a> {
    environment: &'a Environment,
    /// The settings of the lab that it is like.
    settings: Vec<String>,
    clears_on_exits: bool,
}

impl<'a> InForce<'a> {
    pub(crate) fn of(environment: &'a Environment) -> InForce<'a> {
        let settings = settings_here(environment).iter().map(ToString::to_string).collect();
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

/// The settings of the lab that a kernel is like.
pub(super) fn settings_here(environment: &Environment) -> Vec<Setting> {
    crate::like_here(environment).steps.into_iter().map(|step| step.setting).collect()
}

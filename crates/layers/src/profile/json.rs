//! The JSON of a profile: its keys, and nothing of what they mean.

use super::ProfileError;
use serde::Deserialize;

/// The document. Keys that are not here change nothing about a filter: comments, and where a runtime's agent listens.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Source {
    pub default_action: Action,
    pub default_errno_ret: Option<u32>,
    /// Of OCI: ABIs whose calls the filter knows.
    #[serde(default)]
    pub architectures: Option<Vec<String>>,
    /// Of Docker, in place of that.
    #[serde(default)]
    pub arch_map: Option<Vec<Architecture>>,
    #[serde(default)]
    pub flags: Option<Vec<String>>,
    #[serde(default)]
    pub syscalls: Option<Vec<Calls>>,
}

/// An ABI, and what is known together with it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Architecture {
    pub architecture: String,
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Action {
    #[serde(rename = "SCMP_ACT_KILL")]
    Kill,
    #[serde(rename = "SCMP_ACT_KILL_THREAD")]
    KillThread,
    #[serde(rename = "SCMP_ACT_KILL_PROCESS")]
    KillProcess,
    #[serde(rename = "SCMP_ACT_TRAP")]
    Trap,
    #[serde(rename = "SCMP_ACT_ERRNO")]
    Errno,
    #[serde(rename = "SCMP_ACT_TRACE")]
    Trace,
    #[serde(rename = "SCMP_ACT_NOTIFY")]
    Notify,
    #[serde(rename = "SCMP_ACT_LOG")]
    Log,
    #[serde(rename = "SCMP_ACT_ALLOW")]
    Allow,
}

/// Rules of several calls.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Calls {
    /// As Docker wrote it before it had several.
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub names: Option<Vec<String>>,
    pub action: Action,
    pub errno_ret: Option<u32>,
    #[serde(default)]
    pub args: Option<Vec<Argument>>,
    /// Of Docker: where they hold, and where they do not.
    #[serde(default)]
    pub includes: Option<Conditions>,
    #[serde(default)]
    pub excludes: Option<Conditions>,
}

/// What an argument must be.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Argument {
    pub index: u64,
    pub value: u64,
    #[serde(default)]
    pub value_two: Option<u64>,
    pub op: Comparison,
}

/// How it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Comparison {
    #[serde(rename = "SCMP_CMP_NE")]
    Ne,
    #[serde(rename = "SCMP_CMP_LT")]
    Lt,
    #[serde(rename = "SCMP_CMP_LE")]
    Le,
    #[serde(rename = "SCMP_CMP_EQ")]
    Eq,
    #[serde(rename = "SCMP_CMP_GE")]
    Ge,
    #[serde(rename = "SCMP_CMP_GT")]
    Gt,
    #[serde(rename = "SCMP_CMP_MASKED_EQ")]
    MaskedEq,
}

/// Where rules hold. What is not known here could change which do, and is refused.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Conditions {
    #[serde(default)]
    pub caps: Option<Vec<String>>,
    #[serde(default)]
    pub arches: Option<Vec<String>>,
    #[serde(default)]
    pub min_kernel: Option<String>,
}

/// Flags of seccomp(2) that change no cost of a call.
const OF_NO_COST: [&str; 3] =
    ["SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"];

const SPEC_ALLOW: &str = "SECCOMP_FILTER_FLAG_SPEC_ALLOW";

impl Source {
    /// Whether it leaves speculation alone.
    pub fn allows_speculation(&self) -> Result<bool, ProfileError> {
        let Some(flags) = &self.flags else { return Ok(true) };
        let unknown = flags.iter().find(|flag| *flag != SPEC_ALLOW && !OF_NO_COST.contains(&flag.as_str()));
        match unknown {
            Some(flag) => Err(ProfileError::Rule {
                place: "flags".into(),
                why: format!("{flag} is no flag of seccomp(2) that kentry knows"),
            }),
            None => Ok(flags.iter().any(|flag| flag == SPEC_ALLOW)),
        }
    }
}

//! A seccomp profile as container runtimes publish it: the JSON of OCI's runtime specification (`linux.seccomp` of a `config.json`), and of
//! Docker, whose rules may also be of some architectures, capabilities and kernels only. Hostile until parsed. What comes of it is one filter
//! for 64-bit calls.

mod compile;
mod json;
mod rules;

use crate::bpf::Program;
use json::Source;
use rules::Ruled;

/// The most bytes that a profile has. Docker's has 13,000.
pub const MOST_BYTES: u64 = 4 << 20;

/// kentry's own profile.
const OWN: &str = include_str!("profile.json");

/// What a container's process may have, of capabilities(7): what Docker and Podman leave to it. Rules of a profile are chosen by them.
const CAPABILITIES: [&str; 14] = [
    "CAP_AUDIT_WRITE",
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_MKNOD",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_RAW",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];

/// Why a profile is none, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// It is no such JSON.
    #[error("{0}")]
    Json(String),
    /// It has more than [`MOST_BYTES`].
    #[error("it has more than {MOST_BYTES} bytes, which no profile has")]
    Long,
    /// Something in it means nothing, or cannot be had without a container runtime.
    #[error("{place}: {why}")]
    Rule {
        /// Where, as `syscalls[3].args[0]`.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// Its filter is longer than a kernel takes.
    #[error("its filter is not one that a kernel takes: {0}")]
    Filter(String),
}

/// A profile.
#[derive(Debug, Clone)]
pub struct Profile(Source);

/// The filter of a profile, and what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// The filter.
    pub program: Program,
    /// Whether it is installed with `SECCOMP_FILTER_FLAG_SPEC_ALLOW`: where the profile has no flags, as runc does.
    pub allows_speculation: bool,
    /// How many 64-bit calls have a rule.
    pub calls: usize,
    /// Names that no architecture has, in the profile's order: mistakes, or calls that are newer than this kentry.
    pub unknown: Vec<String>,
}

impl Profile {
    /// Parses a profile.
    ///
    /// # Errors
    /// [`ProfileError`].
    pub fn parse(bytes: &[u8]) -> Result<Profile, ProfileError> {
        if bytes.len() as u64 > MOST_BYTES {
            return Err(ProfileError::Long);
        }
        serde_json::from_slice(bytes).map(Profile).map_err(|error| ProfileError::Json(error.to_string()))
    }

    /// kentry's own, which allows what programs in containers usually need, and is of the usual size.
    ///
    /// # Errors
    /// None that a test does not find.
    pub fn own() -> Result<Profile, ProfileError> {
        Profile::parse(OWN.as_bytes())
    }

    /// Makes a filter of it, as for a container with the usual capabilities on a kernel of this version (its first two numbers).
    ///
    /// # Errors
    /// [`ProfileError`].
    pub fn compile(&self, kernel: [u32; 2]) -> Result<Compiled, ProfileError> {
        let Ruled { rules, default, calls, unknown } = rules::of(&self.0, kernel)?;
        let program = compile::program(rules, default)?;
        Ok(Compiled { program, allows_speculation: self.0.allows_speculation()?, calls, unknown })
    }
}

#[cfg(test)]
mod tests;

//! The probes that were run, as documents name them.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use table::Probe;

/// What is known of the probes that were run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probes {
    /// The version of kentry that they are part of.
    pub kentry: String,
    /// The C compiler that made them, and its version; none if it is not known.
    pub compiler: Option<String>,
    /// SHA-256 of each, by its name.
    pub hashes: BTreeMap<String, String>,
}

impl Probes {
    /// Those that this program has in it.
    pub fn embedded() -> Probes {
        let hash = |probe: Probe| (probe.name().to_string(), Probes::hash(places::probes::image(probe)));
        Probes {
            kentry: env!("CARGO_PKG_VERSION").to_string(),
            compiler: Some(places::probes::COMPILER.to_string()),
            hashes: Probe::ALL.into_iter().map(hash).collect(),
        }
    }

    /// SHA-256 of a probe, hexadecimal.
    pub fn hash(image: &[u8]) -> String {
        Sha256::digest(image).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

//! What a list shows of a run.

use crate::covers::covers;
use document::{CpuUse, Document, Outcome, Place};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Not;
use std::time::{Duration, SystemTime};

/// The version of [`Head`] that this version of kentry writes.
pub(crate) const VERSION: u32 = 1;

/// Clocks of machines that share a folder may differ by this, and one that is set right goes back by no more.
const CLOCKS_DIFFER: Duration = Duration::from_secs(60);

/// What a list shows of a run, and what its user calls it. All but name and tags follows from the document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The version of these fields.
    pub head: u32,
    /// The run's id: 32 hexadecimal digits.
    pub id: String,
    /// What its user calls it.
    pub name: Option<String>,
    /// What its user wants to remember of it.
    pub tags: BTreeMap<String, String>,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// Which arm of a comparison in turns it is, `A` or `B`; null where it is none, and in runs of older versions.
    #[serde(default)]
    pub arm: Option<String>,
    /// The command that its probes ran under; null where they ran as they are, and in runs of older versions.
    #[serde(default)]
    pub command: Option<String>,
    /// Where its rounds come from.
    pub place: Place,
    /// Which machine it was; null in runs of older versions.
    #[serde(default)]
    pub machine_id: Option<String>,
    /// The processor's model.
    pub cpu: Option<String>,
    /// The release of the host's kernel.
    pub release: Option<String>,
    /// What it is of, in few words: `first screen`; null in runs of older versions, and without rows.
    #[serde(default)]
    pub covers: Option<String>,
    /// Rows that work.
    pub ok: u64,
    /// Of these, with a figure.
    pub figures: u64,
    /// Share of the canaries that found the core alone, 0 to 1.
    pub quiet_share: Option<f64>,
    /// Independent instructions in a core cycle when the core was alone, by kind of core; nothing where no time was measured.
    #[serde(default)]
    pub canary: BTreeMap<String, f64>,
    /// Whether it was cut short.
    pub partial: bool,
}

impl Head {
    /// The head of a document; none of a document without an id.
    pub fn of(document: &Document, name: Option<&str>, tags: &BTreeMap<String, String>) -> Option<Head> {
        let ok = || document.results.iter().filter(|row| row.outcome == Outcome::Ok);
        let (measurement, environment) = (&document.measurement, &document.environment);
        Some(Head {
            head: VERSION,
            id: document.id.clone().filter(|id| is_id(id))?,
            name: name.map(str::to_string),
            tags: tags.clone(),
            started: measurement.started.clone(),
            arm: measurement.arm.clone(),
            command: measurement.command.clone(),
            place: measurement.place.clone(),
            machine_id: environment.machine_id.clone(),
            cpu: environment.cpu.brand.clone(),
            release: environment.kernel.release.clone(),
            covers: covers(document),
            ok: ok().count() as u64,
            figures: ok().filter(|row| row.figure().is_some()).count() as u64,
            quiet_share: measurement.quiet_share,
            canary: canary(&measurement.cpus),
            partial: measurement.partial,
        })
    }

    /// When it began; none where that cannot be told, or has yet to come: a clock was wrong then, or is now.
    pub fn began(&self, now: SystemTime) -> Option<SystemTime> {
        let began = humantime::parse_rfc3339_weak(&self.started).ok()?;
        began.duration_since(now).is_ok_and(|ahead| ahead > CLOCKS_DIFFER).not().then_some(began)
    }

    /// What orders runs by age: when they began, and of arms that were measured together, the second as the newer one. A run whose
    /// time cannot be believed is older than all others, or it would be the newest for ever.
    pub(crate) fn age(&self, now: SystemTime) -> (Option<SystemTime>, &str, Option<&str>, &str) {
        (self.began(now), &self.started, self.arm.as_deref(), &self.id)
    }

    /// As versions wrote it that did not know of arms, or not what a run covers, where the other head does not.
    pub(crate) fn told_as_by(self, other: &Head) -> Head {
        let covers = self.covers.filter(|_| other.covers.is_some());
        match (&other.arm, &other.command) {
            (None, None) => Head { arm: None, command: None, covers, ..self },
            _ => Head { covers, ..self },
        }
    }
}

/// All probes have the same canary: the fastest of a kind of core.
fn canary(cpus: &[CpuUse]) -> BTreeMap<String, f64> {
    let mut fastest = BTreeMap::<String, f64>::new();
    for used in cpus.iter().filter(|used| !used.is_unvouched()) {
        let of_kind = fastest.entry(used.core.clone()).or_default();
        *of_kind = used.canary.values().fold(*of_kind, |fastest, rate| fastest.max(*rate));
    }
    fastest
}

/// Whether this is an id as kentry makes them.
pub(crate) fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

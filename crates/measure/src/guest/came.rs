//! What the boots of one configuration came to: their answers, or what stands in the place of figures.

use super::configuration::Configuration;
use super::merge::Answered;
use super::{evidence, merge};
use crate::TableRow;
use ::guest::{Booted, Kind, Trouble};
use document::{Counter, Document, Outcome, Row};
use environment::GuestBoot;
use std::collections::BTreeMap;
use std::time::Duration;

/// The lines of a guest's console that a document keeps where something went wrong.
const LAST_LINES: usize = 10;

/// The longest line of these, in characters.
const LONGEST_LINE: usize = 200;

/// A boot in its turn.
pub struct Turn {
    /// What its order of rounds was drawn from.
    pub seed: u64,
    /// When it began, since the measurement did.
    pub began: Duration,
    /// What became of it.
    pub booted: Booted,
}

impl Turn {
    /// The time from starting the emulator to the guest's first record.
    pub fn came_up(&self) -> Duration {
        self.booted.first_frame.unwrap_or_default()
    }

    /// As a document has it.
    pub fn described(&self) -> GuestBoot {
        GuestBoot { at_ms: milliseconds(self.began + self.came_up()), seed: self.seed, cpu: None }
    }
}

pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// What the boots of one configuration came to.
pub struct Came<'b> {
    /// The answers of those that came to their end; none where something else stands in the place of figures.
    answered: Vec<Answered<'b>>,
    /// All that have measured, also without what was asked for.
    pub measured: Vec<&'b Turn>,
    /// The first of the others.
    troubled: Option<&'b Turn>,
    /// What went wrong first: neither that the user ended it, nor that a guest lacks something, which is a result.
    pub failed: Option<Trouble>,
    /// The outcome that stands in the place of figures, in words. It is none, too, if no boot was begun, or the user ended them all.
    instead: Option<(Outcome, String)>,
}

impl<'b> Came<'b> {
    /// Judges them.
    pub fn of(configuration: &Configuration, boots: &[&'b Turn]) -> Came<'b> {
        let (mut answered, mut measured) = (Vec::new(), Vec::new());
        let (mut troubled, mut failed, mut lacking) = (None, None, None);
        for boot in boots {
            let trouble = match answer(configuration, boot) {
                Ok(answer) => {
                    answered.push(answer);
                    measured.push(*boot);
                    continue;
                }
                Err(trouble) => trouble,
            };
            let kind = trouble.kind();
            // Its document says that it lacks what was asked for.
            if kind == Kind::Unsupported && boot.booted.trouble.is_none() {
                measured.push(*boot);
            } else {
                troubled = troubled.or(Some(*boot));
            }
            match kind {
                Kind::Interrupted => {}
                Kind::Unsupported => lacking = lacking.or(Some(trouble)),
                Kind::Timeout | Kind::Environment | Kind::Failed => failed = failed.or(Some(trouble)),
            }
        }
        let instead = lacking.as_ref().or(failed.as_ref().filter(|_| answered.is_empty()));
        let instead = instead.map(|trouble| (outcome(trouble.kind()), trouble.to_string()));
        if instead.is_some() {
            answered.clear();
        }
        Came { answered, measured, troubled, failed, instead }
    }

    /// The rows of this configuration; none if nobody came to them.
    pub fn rows(
        &self,
        wanted: &[TableRow],
        counter: Counter,
        settings: &BTreeMap<String, String>,
    ) -> Vec<Row> {
        match &self.instead {
            Some((outcome, why)) => merge::without_figures(wanted, counter, settings, (*outcome, why)),
            None if self.answered.is_empty() => Vec::new(),
            None => merge::rows(wanted, counter, &self.answered, settings),
        }
    }

    /// Why it has no figures, as an outcome in words; none if it has.
    pub fn verdict(&self) -> Option<(Outcome, String)> {
        let interrupted = || (Outcome::Error, "the user interrupted it".to_string());
        self.instead.clone().or_else(|| self.answered.is_empty().then(interrupted))
    }

    /// The kernel's release, by its own word; none if it has no figures.
    pub fn release(&self) -> Option<String> {
        self.answered.first()?.document.environment.kernel.release.clone()
    }

    /// The last lines of the console of the first boot that has not measured.
    pub fn console(&self) -> Vec<String> {
        self.troubled.map(|boot| last_lines(&boot.booted.console)).unwrap_or_default()
    }

    /// The first document of a guest that has what was asked for; none if the configuration has no figures.
    pub fn into_document(self) -> Option<Document> {
        self.answered.into_iter().next().map(|one| one.document)
    }
}

fn outcome(kind: Kind) -> Outcome {
    match kind {
        Kind::Timeout => Outcome::Timeout,
        Kind::Unsupported => Outcome::Unsupported,
        Kind::Interrupted | Kind::Environment | Kind::Failed => Outcome::Error,
    }
}

/// What a guest has measured, if it has what it was booted with.
///
/// # Errors
/// What went wrong, or what the guest lacks.
fn answer<'b>(configuration: &Configuration, boot: &'b Turn) -> Result<Answered<'b>, Trouble> {
    let booted = &boot.booted;
    if let Some(trouble) = &booted.trouble {
        return Err(trouble.clone());
    }
    let unusable = |why: String| Trouble::Unusable { why, console: booted.console.clone() };
    let bytes = booted.document.as_deref();
    let bytes = bytes.ok_or_else(|| unusable("the guest ended without a word".into()))?;
    let text = std::str::from_utf8(bytes).map_err(|_| unusable("the guest's document is no text".into()))?;
    let loaded = document::load(text);
    let document =
        loaded.map_err(|error| unusable(format!("the guest's document cannot be read: {error}")))?;
    // It was read as a document, so it is JSON.
    let facts = serde_json::from_str(text).unwrap_or_default();
    let unknown = booted.hello.as_ref().map(|hello| hello.unknown.as_slice()).unwrap_or_default();
    evidence::judge(configuration, unknown, &facts).map_err(Trouble::Unsupported)?;
    Ok(Answered { document, booted, at_ms: milliseconds(boot.began) })
}

/// The last lines of a console that say something.
fn last_lines(console: &str) -> Vec<String> {
    let said = console.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let all: Vec<&str> = said.collect();
    let last = all.get(all.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
    last.iter().map(|line| line.chars().take(LONGEST_LINE).collect()).collect()
}

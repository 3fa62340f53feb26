//! What the boots of one configuration came to: their answers, or what stands in the place of figures.

use super::configuration::Configuration;
use super::merge::Answered;
use super::turn::Turn;
use super::{evidence, merge};
use crate::TableRow;
use document::{Counter, Document, Outcome, Row};
use places::guest::{Kind, Trouble};
use std::collections::BTreeMap;

/// The lines of a guest's console that a document keeps where something went wrong.
const LAST_LINES: usize = 10;

/// The longest line of these, in characters.
const LONGEST_LINE: usize = 200;

/// What the boots of one configuration came to.
pub struct BootOutcomes<'b> {
    /// What its rows have.
    figures: Figures<'b>,
    /// The boots that have measured, also those without what was asked for.
    pub measured: Vec<&'b Turn>,
    /// The first boot with which something went wrong, be it after it had measured.
    troubled: Option<&'b Turn>,
    /// What went wrong first: neither that the user ended it, nor that a guest lacks something, which is a result.
    pub failed: Option<Trouble>,
}

/// What the rows of a configuration have.
enum Figures<'b> {
    /// Those of these answers, one at least.
    Of(Vec<Answered<'b>>),
    /// None, but this outcome, for this reason.
    Not(Outcome, String),
    /// None, and there are no rows: the user ended every boot, or none was begun.
    Interrupted,
}

/// What one boot says of its configuration.
enum Judged<'b> {
    /// Figures.
    Answer(Box<Answered<'b>>),
    /// That it lacks what was asked for, by its document and in words.
    Lacks(String),
    /// Nothing, for this reason.
    Nothing(Trouble),
}

impl<'b> BootOutcomes<'b> {
    /// Judges them.
    pub fn of(configuration: &Configuration, boots: &[&'b Turn]) -> BootOutcomes<'b> {
        let (mut answered, mut measured) = (Vec::new(), Vec::new());
        let (mut troubled, mut failed, mut lacking) = (None, None, None);
        for boot in boots {
            let mut trouble = boot.booted.trouble.clone();
            match judge(configuration, boot) {
                Judged::Answer(answer) => {
                    answered.push(*answer);
                    measured.push(*boot);
                }
                Judged::Lacks(why) => {
                    lacking = lacking.or(Some(why));
                    measured.push(*boot);
                    // Whatever happened then, this is the result.
                    trouble = None;
                }
                // How it ended tells why what it wrote is not whole.
                Judged::Nothing(why) => trouble = trouble.or(Some(why)),
            }
            let Some(trouble) = trouble else { continue };
            troubled = troubled.or(Some(*boot));
            match trouble.kind() {
                Kind::Interrupted => {}
                Kind::Unsupported => lacking = lacking.or(Some(trouble.to_string())),
                Kind::Timeout | Kind::Environment | Kind::Failed => failed = failed.or(Some(trouble)),
            }
        }
        let figures = match (lacking, &failed) {
            (Some(why), _) => Figures::Not(Outcome::Unsupported, why),
            _ if !answered.is_empty() => Figures::Of(answered),
            (None, Some(trouble)) => Figures::Not(outcome(trouble.kind()), trouble.to_string()),
            (None, None) => Figures::Interrupted,
        };
        BootOutcomes { figures, measured, troubled, failed }
    }

    /// The rows of this configuration; none if nobody came to them.
    pub fn rows(
        &self,
        wanted: &[TableRow],
        counter: Counter,
        settings: &BTreeMap<String, String>,
    ) -> Vec<Row> {
        match &self.figures {
            Figures::Of(answered) => merge::rows(wanted, counter, answered, settings),
            Figures::Not(outcome, why) => merge::without_figures(wanted, counter, settings, (*outcome, why)),
            Figures::Interrupted => Vec::new(),
        }
    }

    /// Why it has no figures, as an outcome in words; none if it has.
    pub fn verdict(&self) -> Option<(Outcome, String)> {
        match &self.figures {
            Figures::Of(_) => None,
            Figures::Not(outcome, why) => Some((*outcome, why.clone())),
            Figures::Interrupted => Some((Outcome::Error, "the user interrupted it".into())),
        }
    }

    /// The settings that nothing in these guests confirms, in words.
    pub fn unverified(&self) -> Vec<String> {
        self.answered().first().map(|one| one.unverified.clone()).unwrap_or_default()
    }

    /// The kernel's release, by its own word; none if it has no figures.
    pub fn release(&self) -> Option<String> {
        self.answered().first()?.document.environment.kernel.release.clone()
    }

    /// The command line of a boot that has measured, or else of the first with which something went wrong; empty if none was begun.
    pub fn parameters(&self) -> String {
        let boot = self.measured.first().or(self.troubled.as_ref());
        boot.map(|boot| boot.booted.parameters.clone()).unwrap_or_default()
    }

    /// The last lines of the console of the first boot with which something went wrong.
    pub fn console(&self) -> Vec<String> {
        self.troubled.map(|boot| last_lines(&boot.booted.console)).unwrap_or_default()
    }

    /// The first document of a guest that has what was asked for; none if the configuration has no figures.
    pub fn into_document(self) -> Option<Document> {
        match self.figures {
            Figures::Of(answered) => answered.into_iter().next().map(|one| one.document),
            Figures::Not(..) | Figures::Interrupted => None,
        }
    }

    fn answered(&self) -> &[Answered<'b>] {
        match &self.figures {
            Figures::Of(answered) => answered,
            Figures::Not(..) | Figures::Interrupted => &[],
        }
    }
}

fn outcome(kind: Kind) -> Outcome {
    match kind {
        Kind::Timeout => Outcome::Timeout,
        Kind::Unsupported => Outcome::Unsupported,
        Kind::Interrupted | Kind::Environment | Kind::Failed => Outcome::Error,
    }
}

/// What a guest has measured, if it has what it was booted with. Its document has all rows, and comes before anything is followed: what
/// went wrong later does not concern them.
fn judge<'b>(configuration: &Configuration, boot: &'b Turn) -> Judged<'b> {
    let booted = &boot.booted;
    let unusable = |why: String| Trouble::Unusable { why, console: booted.console.clone() };
    let bytes = booted.document.as_deref().ok_or_else(|| "the guest ended without a word".to_string());
    let (document, facts) = match bytes.and_then(read) {
        Ok(read) => read,
        Err(why) => return Judged::Nothing(unusable(why)),
    };
    let unknown = booted.hello.as_ref().map(|hello| hello.unknown.as_slice()).unwrap_or_default();
    match evidence::judge(configuration, unknown, &facts) {
        Ok(unverified) => Judged::Answer(Box::new(Answered { document, unverified, turn: boot })),
        Err(why) => Judged::Lacks(why),
    }
}

/// A guest's document, and the same as plain JSON.
///
/// # Errors
/// In words, when it is none.
fn read(bytes: &[u8]) -> Result<(Document, serde_json::Value), String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "the guest's document is no text".to_string())?;
    let document =
        document::load(text).map_err(|error| format!("the guest's document cannot be read: {error}"))?;
    // It was read as a document, so it is JSON.
    Ok((document, serde_json::from_str(text).unwrap_or_default()))
}

/// The last lines of a console that say something.
fn last_lines(console: &str) -> Vec<String> {
    let said = console.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let all: Vec<&str> = said.collect();
    let last = all.get(all.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
    last.iter().map(|line| line.chars().take(LONGEST_LINE).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use places::guest::Booted;
    use std::time::Duration;

    #[test]
    fn rounds_of_a_guest_stood_before_its_boot_was_over() {
        let booted = Booted { first_frame: Some(Duration::from_millis(4000)), ..Booted::default() };
        let turn = Turn { number: 1, seed: 7, began: Duration::from_millis(500), booted };
        assert_eq!((turn.at_ms(), turn.described().at_ms), (4500.0, 4500.0));
    }
}

//! The document: paths of one entry in one or more configurations. What is absent is `null`, never 0.

use crate::anatomy::{Anatomy, Beside, Instruction};
use document::{LoadError, Machine, Name};
use record::trace::{Event, MOST};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use table::Table;

/// The schema that this version writes.
pub const SCHEMA: &str = "kentry.anatomy/1";

/// No instruction of x86 has more bytes (SDM vol. 2A, 2.3.11).
const LONGEST: usize = 15;

/// Paths of one entry and operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of kentry that followed them.
    pub kentry: String,
    /// When that began, RFC 3339, UTC.
    pub started: String,
    /// One for each configuration, in the order in which they were asked for; at least one, and all of one entry and operation.
    pub paths: Vec<Followed>,
    /// What the lab's profile of that kernel has; null where it was not counted.
    pub beside: Option<Beside>,
    /// Whether the paths are of kernels in the order of their versions, so that each is compared with the one before it.
    #[serde(default, rename = "history", skip_serializing_if = "std::ops::Not::not")]
    pub is_history: bool,
    /// What was asked for beside these paths and could not be followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Of features: where the same boots were timed, or why they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed: Option<Timed>,
}

/// Where boots were timed that have been followed in an emulator, which has no times.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    /// The processor that executed the guests' ring 0 itself; null where none did.
    pub cpu: Option<String>,
    /// Why there are no times, in words; null where there are.
    pub why: Option<String>,
}

/// What one use of the entry takes, in core cycles; the ends are those of a 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cycles {
    /// The estimate.
    pub estimate: f64,
    /// Null where there were too few rounds for an interval.
    pub low: Option<f64>,
    /// Likewise.
    pub high: Option<f64>,
}

/// A boot that was asked for and has no path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// What was to be booted: the kernel, and what sets it apart.
    pub boot: String,
    /// Why there is no path, in words.
    pub why: String,
}

/// What was followed in one boot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Followed {
    /// What was booted.
    pub configuration: BootedConfiguration,
    /// What the row costs by the counter, in instructions: the entry less its control. Null where it was not counted.
    pub counted: Option<u64>,
    /// How many more instructions the path has than the row counts: as many as the control has in their place, and those that faulted,
    /// which began but did not complete.
    pub control: u64,
    /// Whether the path less the control is what was counted; null where nothing was.
    pub agrees: Option<bool>,
    /// What the row takes in a boot like this, where such boots were timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<Cycles>,
    /// The path.
    pub anatomy: Anatomy,
}

/// What was booted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootedConfiguration {
    /// Release of the kernel: `6.1.0-56-cloud-amd64`.
    pub release: String,
    /// The file that it was read from.
    pub file: String,
    /// The parameters that it was booted with beyond those that every boot has.
    pub parameters: String,
    /// Names of settings that stand for parameters or features of the processor, with their values: `pti` `on`.
    pub settings: BTreeMap<String, String>,
    /// What executed it.
    pub machine: Name<Machine>,
    /// The emulator's processor.
    pub cpu: String,
    /// What everything random in the boot was drawn from.
    pub seed: u64,
}

impl BootedConfiguration {
    /// Whether another is of the same kernel.
    pub fn has_kernel_of(&self, other: &BootedConfiguration) -> bool {
        (&self.release, &self.file) == (&other.release, &other.file)
    }

    /// What sets it apart from another of the same kernel, in words: `pti=on`, `as it boots`. Words of the command line that a setting
    /// stands for (`audit=on`: `audit=1`) are not said beside it.
    pub fn name(&self) -> String {
        let settings = self.settings.iter().map(|(name, value)| format!("{name}={value}"));
        let known: Vec<String> = settings.collect();
        let meant: Vec<&str> =
            self.settings.iter().flat_map(|(name, value)| words_of(name, value).split_whitespace()).collect();
        let is_said = |word: &&str| meant.contains(word) || known.iter().any(|setting| setting == word);
        let words = self.parameters.split_whitespace().filter(|word| !is_said(word));
        let all: Vec<&str> = known.iter().map(String::as_str).chain(words).collect();
        if all.is_empty() { "as it boots".into() } else { all.join(" ") }
    }
}

/// The words of the command line that a setting stands for.
fn words_of(name: &str, value: &str) -> &'static str {
    let values = Table::get().parameter(name).map_or(&[][..], |parameter| &parameter.values);
    values.iter().find(|known| known.name == value).map_or("", |known| &known.append)
}

impl Followed {
    /// A path with what the counter says of the same row.
    pub fn new(
        configuration: BootedConfiguration,
        counted: Option<u64>,
        control: u64,
        anatomy: Anatomy,
    ) -> Followed {
        Followed { configuration, counted, control, agrees: None, cycles: None, anatomy }.judged()
    }

    /// The path less the control: what the row costs by it.
    pub fn cost(&self) -> i64 {
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        signed(self.anatomy.instructions.len() as u64).saturating_sub(signed(self.control))
    }

    fn judged(mut self) -> Followed {
        self.agrees = self.counted.map(|counted| i64::try_from(counted) == Ok(self.cost()));
        self
    }
}

impl Document {
    /// Which path one is compared with: in a history, the one before it; otherwise the first. None for the first.
    pub fn base_of(&self, place: usize) -> Option<usize> {
        let before = place.checked_sub(1)?;
        Some(if self.is_history { before } else { 0 })
    }

    /// The first path, which others are compared with. Every document that was loaded or made has one.
    pub fn first(&self) -> Option<&Followed> {
        self.paths.first()
    }
}

/// Reads a saved document. Whether figures agree is computed again, and not believed.
///
/// # Errors
/// [`LoadError`], with place, line and column where the text stops making sense.
pub fn load(text: &str) -> Result<Document, LoadError> {
    const WHAT: &str = "an anatomy";
    let mut document: Document = document::read(text, SCHEMA, WHAT)?;
    let shape = |place: &str, what: &str| LoadError::Shape {
        kind: WHAT,
        place: place.into(),
        line: 1,
        column: 1,
        what: what.into(),
    };
    let Some(first) = document.paths.first() else { return Err(shape("paths", "there is none")) };
    let row = (first.anatomy.entry.clone(), first.anatomy.operation.clone());
    for (place, path) in document.paths.iter().enumerate() {
        if (&path.anatomy.entry, &path.anatomy.operation) != (&row.0, &row.1) {
            return Err(shape(
                &format!("paths[{place}].anatomy"),
                "it is of another entry or operation than the first",
            ));
        }
        path.check().map_err(|(field, what)| shape(&format!("paths[{place}].{field}"), &what))?;
    }
    document.paths = document.paths.into_iter().map(Followed::judged).collect();
    Ok(document)
}

impl Followed {
    /// Whether what was saved can be a path; otherwise the field that cannot, and what is true of it in every path.
    fn check(&self) -> Result<(), (String, String)> {
        let instructions = &self.anatomy.instructions;
        let refused = |field: &str, what: &str| Err((field.to_owned(), what.to_owned()));
        let most = Event::named(&self.anatomy.entry).map_or(MOST, Event::most);
        if instructions.len() > most {
            let what = format!("a path has at most {most} instructions");
            return refused("anatomy.instructions", &what);
        }
        if self.control > instructions.len() as u64 {
            return refused("control", "the control has at most the path's instructions");
        }
        let wrong = |is_wrong: &dyn Fn(&Instruction) -> bool| instructions.iter().position(is_wrong);
        if let Some(place) = wrong(&|one| one.ring > 3) {
            return refused(&format!("anatomy.instructions[{place}].ring"), "a ring is 0 to 3");
        }
        if let Some(place) = wrong(&|one| !are_bytes(&one.bytes)) {
            let what = format!("bytes are pairs of hexadecimal digits, at most {LONGEST}, in lower case");
            return refused(&format!("anatomy.instructions[{place}].bytes"), &what);
        }
        Ok(())
    }
}

fn are_bytes(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len().is_multiple_of(2) && text.len() <= 2 * LONGEST && text.bytes().all(is_digit)
}

//! The document: paths of one entry in one or more configurations. What is absent is `null`, never 0.

use crate::{Anatomy, Beside};
use document::{LoadError, Machine, Name};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema that this version writes.
pub const SCHEMA: &str = "kentry.anatomy/1";

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
}

/// What was followed in one boot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Followed {
    /// What was booted.
    pub configuration: Configuration,
    /// What the row costs by the counter, in instructions: the entry less its control. Null where it was not counted.
    pub counted: Option<u64>,
    /// How many more instructions the path has than the row counts: those that the control has in its place, and those that faulted,
    /// which were begun and not executed.
    pub control: u64,
    /// Whether the path less the control is what was counted; null where nothing was.
    pub agrees: Option<bool>,
    /// The path.
    pub anatomy: Anatomy,
}

/// What was booted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
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

impl Configuration {
    /// Whether another is of the same kernel.
    pub fn has_kernel_of(&self, other: &Configuration) -> bool {
        (&self.release, &self.file) == (&other.release, &other.file)
    }

    /// What sets it apart from another of the same kernel, in words: `pti=on`, `parameters as they are`.
    pub fn name(&self) -> String {
        let settings = self.settings.iter().map(|(name, value)| format!("{name}={value}"));
        let known: Vec<String> = settings.collect();
        let words =
            self.parameters.split_whitespace().filter(|word| !known.iter().any(|setting| setting == word));
        let all: Vec<&str> = known.iter().map(String::as_str).chain(words).collect();
        if all.is_empty() { "as it boots".into() } else { all.join(" ") }
    }
}

impl Followed {
    /// A path with what the counter says of the same row.
    pub fn new(
        configuration: Configuration,
        counted: Option<u64>,
        control: u64,
        anatomy: Anatomy,
    ) -> Followed {
        Followed { configuration, counted, control, agrees: None, anatomy }.judged()
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
        if let Some(wrong) = path.anatomy.instructions.iter().position(|one| one.ring > 3) {
            let place = format!("paths[{place}].anatomy.instructions[{wrong}].ring");
            return Err(shape(&place, "a ring is 0 to 3"));
        }
    }
    document.paths = document.paths.into_iter().map(Followed::judged).collect();
    Ok(document)
}

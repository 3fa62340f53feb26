//! Figures that others have published: `published.toml`, parsed and checked against the table of entries; and beside them what
//! comes out here ([`Reproduction`]).
//!
//! Nothing here measures. How a publication's author measured is said by its [`Loop`]s, which the caller has timed.

mod check;
mod loops;
mod reproduction;

pub use loops::{Loop, Take, Timed};
pub use reproduction::{Figure, Here, InLab, LabFigure, Measured, Parts, Reproduction, Way};

use environment::Environment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use table::Table;
use toml::Spanned;

/// The text of `published.toml` as it was when this crate was built.
pub const SOURCE: &str = include_str!("../../../published.toml");

/// What can be wrong with the text.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not TOML, or has unknown keys or wrong types; with line and column.
    #[error("published.toml: {0}")]
    Syntax(#[from] toml::de::Error),
    /// It contradicts itself or the table of entries.
    #[error("published.toml: line {line}: {what}")]
    Content {
        /// Where the offending publication, column or row begins, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

/// What published figures count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Cycles of a clock that the source does not name.
    Cycles,
    /// Ticks of the time stamp counter.
    Ticks,
    /// Cycles of the core.
    CoreCycles,
    /// UnixBench's index: the more, the faster. Nothing here measures it.
    Index,
}

impl Unit {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            Unit::Cycles => "cycles",
            Unit::Ticks => "TSC ticks",
            Unit::CoreCycles => "core cycles",
            Unit::Index => "index",
        }
    }

    /// What a loop's clock counts for figures of this unit. Only the probe's own samples tell the core's cycles.
    pub fn of_loops(self) -> Unit {
        if self == Unit::Ns { Unit::Ns } else { Unit::Ticks }
    }

    /// What kentry's own figures are in beside figures of this unit.
    pub fn of_kentry(self) -> Unit {
        match self {
            Unit::Ns | Unit::Ticks => self,
            Unit::Cycles | Unit::CoreCycles | Unit::Index => Unit::CoreCycles,
        }
    }

    /// Whether a published figure can be divided by one of `other`. Cycles of an unknown clock can be of either.
    pub fn compares_with(self, other: Unit) -> bool {
        self == other || (self == Unit::Cycles && matches!(other, Unit::Ticks | Unit::CoreCycles))
    }
}

/// A published figure; none where the author gave none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct Published(pub Option<f64>);

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Number(f64),
    Text(String),
}

impl TryFrom<Value> for Published {
    type Error = String;

    fn try_from(value: Value) -> Result<Published, String> {
        match value {
            Value::Number(number) if number.is_finite() && number > 0.0 => Ok(Published(Some(number))),
            Value::Number(number) => Err(format!("{number} is no cost")),
            Value::Text(text) if text == "-" => Ok(Published(None)),
            Value::Text(text) => Err(format!("{text:?} is neither a number nor \"-\"")),
        }
    }
}

/// Whether something is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnOff {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// How the vsyscall page is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vsyscall {
    /// By a page fault.
    Emulated,
    /// By code in the page.
    Native,
}

/// What a kernel must have, so that figures can be measured on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// Page-table isolation, or none.
    pub pti: Option<OnOff>,
    /// The vsyscall page.
    pub vsyscall: Option<Vsyscall>,
}

impl Needs {
    /// Why this machine does not fulfil them, in words; none if it does. What is not known is not there.
    pub fn missing(&self, here: &Environment) -> Option<String> {
        let pti = match (self.pti, here.kernel.pti) {
            (None, _) | (Some(OnOff::On), Some(true)) | (Some(OnOff::Off), Some(false)) => None,
            (_, None) => Some("this kernel does not tell whether page-table isolation is on".to_string()),
            (Some(OnOff::On), Some(false)) => {
                Some(format!("page-table isolation is off here{}", why_off(here)))
            }
            (Some(OnOff::Off), Some(true)) => Some("page-table isolation is on here".to_string()),
        };
        pti.or_else(|| self.vsyscall?.missing(here.vsyscall.as_deref()))
    }
}

fn why_off(here: &Environment) -> &'static str {
    match here.mitigations.get("meltdown").map(String::as_str) {
        Some("Not affected") => " (this processor does not need it)",
        _ => "",
    }
}

impl Vsyscall {
    fn missing(self, mode: Option<&str>) -> Option<String> {
        match (self, mode) {
            (Vsyscall::Emulated, Some("emulate" | "xonly")) | (Vsyscall::Native, Some("native")) => None,
            (_, Some("none")) => Some("this kernel has no vsyscall page".into()),
            (Vsyscall::Native, Some(_)) => {
                Some("the vsyscall page is emulated here, as on every Linux since 5.3".into())
            }
            (Vsyscall::Emulated, Some(mode)) => {
                Some(format!("the vsyscall page is {mode} here, not emulated"))
            }
            (_, None) => Some("how the vsyscall page is served here is not known".into()),
        }
    }
}

/// Figures for one machine or configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// What this kernel must have for it.
    #[serde(default)]
    pub needs: Needs,
    /// The lab's switches that stand for it.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its heading.
    pub name: String,
    /// A figure for each column.
    pub published: Vec<Published>,
    /// The entry that it is measured by on this Linux; none where it cannot be.
    pub entry: Option<String>,
    /// The operation.
    pub operation: Option<String>,
    /// What this kernel must have for it.
    #[serde(default)]
    pub needs: Needs,
    /// The entry that stands for it in the lab, if that is another.
    pub lab: Option<String>,
    /// The lab's switches that stand for it.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// What else there is to know.
    pub remark: Option<String>,
    /// Why it cannot be measured on this Linux.
    pub absent: Option<String>,
}

impl Row {
    /// Entry and operation on this Linux.
    pub fn on_linux(&self) -> Option<(&str, &str)> {
        Some((self.entry.as_deref()?, self.operation.as_deref()?))
    }

    /// Entry and operation in the lab, if it has them.
    pub fn in_lab<'a>(&'a self, table: &Table) -> Option<(&'a str, &'a str)> {
        let (entry, operation) = (self.lab.as_deref().or(self.entry.as_deref())?, self.operation.as_deref()?);
        let served = table.entry(entry)?.operations_on(table::Kernel::Lab);
        served.iter().any(|name| name == operation).then_some((entry, operation))
    }
}

/// One published table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// As on the command line; it never changes.
    pub name: String,
    /// What was measured, in a few words.
    pub title: String,
    /// Who published it, and where.
    pub source: String,
    /// The processor that it was measured on.
    pub cpu: String,
    /// The kernel.
    pub kernel: String,
    /// What the figures count.
    pub unit: Unit,
    /// What was published, and what it showed, in sentences.
    pub about: String,
    /// How the author measured, in words; none where that is not known.
    pub way: Option<String>,
    /// The same for the probe.
    #[serde(rename = "loop")]
    pub way_here: Option<Loop>,
    /// Name of the row that others are compared with.
    pub base: Option<String>,
    /// Machines or configurations.
    #[serde(rename = "column")]
    pub columns: Vec<Spanned<Column>>,
    /// What was measured.
    #[serde(rename = "row")]
    pub rows: Vec<Spanned<Row>>,
}

impl Publication {
    /// The loops that its rows are timed with here, each with its heading: as the author did or, where that is not known, in two
    /// plain ways. None where nothing of it can be measured.
    pub fn loops(&self) -> Vec<(&'static str, Loop)> {
        match self.way_here {
            _ if self.on_linux().is_empty() => Vec::new(),
            Some(way) => vec![("loop", way)],
            None => vec![("loop", Loop::PLAIN), ("single", Loop::SINGLE)],
        }
    }

    /// The entries and operations that are measured on this Linux, each once, in the order of the rows.
    pub fn on_linux(&self) -> Vec<(&str, &str)> {
        let mut all = Vec::new();
        for name in self.rows.iter().filter_map(|row| row.get_ref().on_linux()) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }

    /// The lab's switches that stand for a row in a column.
    pub fn set(&self, row: &Row, column: &Column) -> BTreeMap<String, String> {
        column.set.iter().chain(&row.set).map(|(switch, value)| (switch.clone(), value.clone())).collect()
    }
}

/// All published tables, in the order of the file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publications {
    #[serde(rename = "publication")]
    all: Vec<Spanned<Publication>>,
}

static PUBLICATIONS: LazyLock<Publications> = LazyLock::new(|| {
    // A test parses it, so this cannot happen in a command that was tested.
    Publications::parse(SOURCE, Table::get()).unwrap_or_else(|error| panic!("{error}"))
});

impl Publications {
    /// Those that this program was built with.
    pub fn get() -> &'static Publications {
        &PUBLICATIONS
    }

    /// Parses and checks a text.
    ///
    /// # Errors
    /// [`Error::Syntax`], or [`Error::Content`] where it contradicts itself or the table.
    pub fn parse(text: &str, table: &Table) -> Result<Publications, Error> {
        let parsed: Publications = toml::from_str(text)?;
        let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        check::check(&parsed, table)
            .map_err(|wrong| Error::Content { line: line(wrong.at), what: wrong.what })?;
        Ok(parsed)
    }

    /// All, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Publication> {
        self.all.iter().map(Spanned::get_ref)
    }

    /// The one of that name.
    pub fn find(&self, name: &str) -> Option<&Publication> {
        self.iter().find(|publication| publication.name == name)
    }
}

//! What a comparison is judged by: the margin within which costs count as the same, and the rules of a gate.

use glob::Pattern;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a comparison is judged by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What counts as the same.
    pub same: Same,
    /// Whether sides are compared that make no sense together.
    pub force: bool,
    /// The rules of a gate; without any there is none.
    pub gate: Gate,
}

/// Within what costs count as the same: the greater of both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Same {
    /// Percent of the cheaper side.
    pub percent: f64,
    /// Core cycles; or instructions, where these are counted.
    pub cycles: f64,
}

impl Default for Same {
    fn default() -> Same {
        Same { percent: 2.0, cycles: 5.0 }
    }
}

/// The rules of a gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// How much a row may cost more; of the rules that concern a row, the last one counts.
    pub above: Vec<Above>,
    /// What else must not happen to a row.
    pub on: Vec<On>,
}

impl Gate {
    /// Whether there is a rule.
    pub fn is_asked_for(&self) -> bool {
        !self.above.is_empty() || !self.on.is_empty()
    }
}

/// How much a row may cost more: `3%`, `10cycles`, `int80-*=5%`, `vdso-* getcpu=4cycles`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Above {
    /// Which rows, by entry, or by entry and operation with a space between them; all without one.
    pub rows: Option<Rows>,
    /// How much.
    pub limit: Limit,
}

/// A glob for rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    entry: Pattern,
    operation: Option<Pattern>,
}

/// How much more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Percent of the base.
    Percent(f64),
    /// Core cycles; or instructions, where these are counted.
    Cycles(f64),
}

/// What must not happen to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum On {
    /// It did not work, and does now.
    Opened,
    /// It worked, and does not any more.
    Closed,
    /// It works on neither side, for different reasons.
    Changed,
}

/// Why a flag's text is no setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSetting {
    /// No number with a unit.
    #[error("\"{0}\" is no limit: write a number with its unit, such as 3% or 10cycles")]
    Limit(String),
    /// A number that limits nothing.
    #[error("\"{0}\" is no limit: it must be zero or more, and finite")]
    Range(String),
    /// No glob.
    #[error("\"{0}\" is not a glob: a [ needs its ], and ** stands alone")]
    Glob(String),
    /// Two limits of one kind.
    #[error("\"{0}\" sets the same unit twice")]
    Twice(String),
    /// No event.
    #[error(
        "\"{0}\" is nothing that a gate can fail on: write opened, closed or changed, with commas between several"
    )]
    On(String),
}

impl Rows {
    /// Whether it means this row.
    pub fn matches(&self, entry: &str, operation: &str) -> bool {
        self.entry.matches(entry) && self.operation.as_ref().is_none_or(|glob| glob.matches(operation))
    }
}

impl FromStr for Rows {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Rows, InvalidSetting> {
        let glob = |text: &str| Pattern::new(text).map_err(|_| InvalidSetting::Glob(text.into()));
        let mut words = text.split_whitespace();
        let (entry, operation) = (words.next(), words.next());
        match (entry, words.next()) {
            (Some(entry), None) => {
                Ok(Rows { entry: glob(entry)?, operation: operation.map(glob).transpose()? })
            }
            _ => Err(InvalidSetting::Glob(text.into())),
        }
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}", self.entry)?;
        self.operation.as_ref().map_or(Ok(()), |operation| write!(out, " {operation}"))
    }
}

impl FromStr for Limit {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Limit, InvalidSetting> {
        let (number, unit): (&str, fn(f64) -> Limit) = match text.trim().strip_suffix('%') {
            Some(number) => (number, Limit::Percent),
            None => {
                let number = ["cycles", "cycle"].into_iter().find_map(|unit| text.trim().strip_suffix(unit));
                (number.ok_or_else(|| InvalidSetting::Limit(text.into()))?, Limit::Cycles)
            }
        };
        let number: f64 = number.trim().parse().map_err(|_| InvalidSetting::Limit(text.into()))?;
        let is_limit = number.is_finite() && number >= 0.0;
        if is_limit { Ok(unit(number)) } else { Err(InvalidSetting::Range(text.into())) }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Limit::Percent(percent) => write!(out, "{percent}%"),
            Limit::Cycles(cycles) => write!(out, "{cycles}cycles"),
        }
    }
}

impl FromStr for Above {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Above, InvalidSetting> {
        match text.rsplit_once('=') {
            Some((rows, limit)) => Ok(Above { rows: Some(rows.parse()?), limit: limit.parse()? }),
            None => Ok(Above { rows: None, limit: text.parse()? }),
        }
    }
}

impl fmt::Display for Above {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.rows.as_ref().map_or(Ok(()), |rows| write!(out, "{rows}="))?;
        write!(out, "{}", self.limit)
    }
}

impl From<Above> for String {
    fn from(above: Above) -> String {
        above.to_string()
    }
}

impl TryFrom<String> for Above {
    type Error = InvalidSetting;

    fn try_from(text: String) -> Result<Above, InvalidSetting> {
        text.parse()
    }
}

impl FromStr for Same {
    type Err = InvalidSetting;

    /// `1%`, `3cycles`, or both with a comma between them. A unit that is not named counts for nothing.
    fn from_str(text: &str) -> Result<Same, InvalidSetting> {
        let (mut percent, mut cycles) = (None, None);
        for part in text.split(',') {
            let before = match part.parse()? {
                Limit::Percent(limit) => percent.replace(limit),
                Limit::Cycles(limit) => cycles.replace(limit),
            };
            if before.is_some() {
                return Err(InvalidSetting::Twice(text.into()));
            }
        }
        Ok(Same { percent: percent.unwrap_or(0.0), cycles: cycles.unwrap_or(0.0) })
    }
}

impl On {
    /// Every one.
    pub const ALL: [On; 3] = [On::Opened, On::Closed, On::Changed];

    /// As a flag names it.
    pub fn name(self) -> &'static str {
        match self {
            On::Opened => "opened",
            On::Closed => "closed",
            On::Changed => "changed",
        }
    }
}

impl FromStr for On {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<On, InvalidSetting> {
        let named = On::ALL.into_iter().find(|on| on.name() == text.trim());
        named.ok_or_else(|| InvalidSetting::On(text.into()))
    }
}

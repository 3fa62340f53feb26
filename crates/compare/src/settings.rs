//! What a comparison is judged by: the margin within which costs count as the same, and the rules of a gate.

use glob::Pattern;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use table::{Kernel, Table};

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
    /// How much a row may cost more; of the rules that name a row, the last one counts, and one for all rows where none names it.
    pub above: Vec<Above>,
    /// What else must not happen to a row.
    pub on: Vec<On>,
    /// What test reports (JUnit, KTAP) say of a row that the gate leaves open.
    #[serde(default)]
    pub inconclusive: Inconclusive,
}

impl Gate {
    /// Whether there is a rule.
    pub fn is_asked_for(&self) -> bool {
        !self.above.is_empty() || !self.on.is_empty()
    }

    /// Two rules for the same rows, of which one would be idle.
    pub fn contradiction(&self) -> Option<[&Above; 2]> {
        let of_same = |(place, rule): (usize, &'_ Above)| {
            self.above.iter().take(place).position(|earlier| earlier.rows == rule.rows).map(|at| [at, place])
        };
        let [one, other] = self.above.iter().enumerate().find_map(of_same)?;
        Some([self.above.get(one)?, self.above.get(other)?])
    }

    /// A rule that names none of these rows, which are of entry and operation each.
    pub fn idle<'a>(
        &self,
        table: &Table,
        kernel: Option<Kernel>,
        rows: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    ) -> Option<(&Above, &Rows)> {
        let named = self.above.iter().filter_map(|above| Some((above, above.rows.as_ref()?)));
        let mut idle = named.filter(|(_, named)| {
            !rows.clone().any(|(entry, operation)| named.matches(table, kernel, entry, operation))
        });
        idle.next()
    }

    /// The rule for a row.
    pub(crate) fn of_row(
        &self,
        table: &Table,
        kernel: Option<Kernel>,
        entry: &str,
        operation: &str,
    ) -> Option<&Above> {
        let names = |rows: &Rows| rows.matches(table, kernel, entry, operation);
        let named = self.above.iter().rev().find(|above| above.rows.as_ref().is_some_and(names));
        named.or_else(|| self.above.iter().rev().find(|above| above.rows.is_none()))
    }
}

/// How much a row may cost more: `3%`, `5%,5cycles`, `int80-*=5%`, `syscall clock_gettime=4cycles`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Above {
    /// Which rows, by entry, or by entry and operation with a space between them; all without one that names a row itself.
    pub rows: Option<Rows>,
    /// How much.
    pub limit: Limit,
}

/// Names of rows: each is a name, a short name, a C function or a glob, as `--entry` and `--operation` take them.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    entry: Pattern,
    operation: Option<Pattern>,
}

/// How much more: where both units are set, the greater counts. One of them is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Percent of the base.
    pub percent: Option<f64>,
    /// Core cycles; or instructions, where these are counted.
    pub cycles: Option<f64>,
}

/// A number with its unit.
enum Amount {
    Percent(f64),
    Cycles(f64),
}

/// What test reports say of a row that a gate leaves open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inconclusive {
    /// That it was skipped, with the reason.
    #[default]
    Skip,
    /// That it failed.
    Fail,
}

impl Inconclusive {
    /// Both.
    pub const ALL: [Inconclusive; 2] = [Inconclusive::Skip, Inconclusive::Fail];

    /// As an option names it.
    pub fn name(self) -> &'static str {
        match self {
            Inconclusive::Skip => "skip",
            Inconclusive::Fail => "fail",
        }
    }
}

impl FromStr for Inconclusive {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Inconclusive, InvalidSetting> {
        let named = Inconclusive::ALL.into_iter().find(|named| named.name() == text.trim());
        named.ok_or_else(|| InvalidSetting::Inconclusive(text.into()))
    }
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
    #[error("\"{0}\" is no limit: write a number with its unit, such as 3%, 10cycles or 3%,5cycles")]
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
    /// Neither of both.
    #[error("\"{0}\" is nothing that a test report can say of what is inconclusive: write skip or fail")]
    Inconclusive(String),
    /// No event.
    #[error(
        "\"{0}\" is nothing that a gate can fail on: write opened, closed or changed, with commas between several"
    )]
    On(String),
}

impl Rows {
    /// Whether it means this row. A short name means what it means on the kernel that was measured; on an unknown one, nothing.
    pub fn matches(&self, table: &Table, kernel: Option<Kernel>, entry: &str, operation: &str) -> bool {
        let named = kernel.and_then(|kernel| table.entry_of(self.entry.as_str(), kernel));
        let is_entry = named.map_or_else(|| self.entry.matches(entry), |named| named.name == entry);
        let is_operation = |glob: &Pattern| {
            let named = table.operations_of(glob.as_str());
            glob.matches(operation) || named.iter().any(|named| named.name == operation)
        };
        is_entry && self.operation.as_ref().is_none_or(is_operation)
    }

    /// The words for the entry and the operation.
    pub fn words(&self) -> (&str, Option<&str>) {
        (self.entry.as_str(), self.operation.as_ref().map(Pattern::as_str))
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

impl FromStr for Amount {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Amount, InvalidSetting> {
        let (number, unit): (&str, fn(f64) -> Amount) = match text.trim().strip_suffix('%') {
            Some(number) => (number, Amount::Percent),
            None => {
                let number = ["cycles", "cycle"].into_iter().find_map(|unit| text.trim().strip_suffix(unit));
                (number.ok_or_else(|| InvalidSetting::Limit(text.into()))?, Amount::Cycles)
            }
        };
        let number: f64 = number.trim().parse().map_err(|_| InvalidSetting::Limit(text.into()))?;
        let is_limit = number.is_finite() && number >= 0.0;
        if is_limit { Ok(unit(number)) } else { Err(InvalidSetting::Range(text.into())) }
    }
}

impl FromStr for Limit {
    type Err = InvalidSetting;

    /// `1%`, `3cycles`, or both with a comma between them.
    fn from_str(text: &str) -> Result<Limit, InvalidSetting> {
        let mut limit = Limit { percent: None, cycles: None };
        for part in text.split(',') {
            let before = match part.parse()? {
                Amount::Percent(percent) => limit.percent.replace(percent),
                Amount::Cycles(cycles) => limit.cycles.replace(cycles),
            };
            if before.is_some() {
                return Err(InvalidSetting::Twice(text.into()));
            }
        }
        Ok(limit)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let percent = self.percent.map(|percent| format!("{percent}%"));
        let cycles = self.cycles.map(|cycles| format!("{cycles}cycles"));
        out.write_str(&percent.into_iter().chain(cycles).collect::<Vec<_>>().join(","))
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

    /// As [`Limit`]. A unit that is not named counts for nothing.
    fn from_str(text: &str) -> Result<Same, InvalidSetting> {
        let Limit { percent, cycles } = text.parse()?;
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

//! Lines of JSON: one for the run, then one for each row. A row's line has the facts of its machine, so that programs need no other line for
//! it. Many runs may stand behind each other in a file; lines that are no summary's are refused, since a file of something else may be read
//! by mistake.

use crate::{Cohort, Row, Run, SCHEMA, Summary};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use std::io::{self, BufRead, Read};

/// No line is longer, in bytes: what kernels say of themselves is bounded, too.
pub const LONGEST_LINE: u64 = 1 << 18;

/// No run has more rows.
pub const MOST_ROWS: usize = 1 << 16;

/// Why a line is none of a summary's.
#[derive(Debug, thiserror::Error)]
pub enum Wrong {
    /// The file could not be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// No JSON, or JSON of another shape.
    #[error("line {line} is no line of a summary: {why}")]
    Shape {
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        why: String,
    },
    /// A schema that this version does not know.
    #[error("line {line} has the schema {found:?}; this version of kentry reads {SCHEMA:?}")]
    Schema {
        /// The line, from 1.
        line: u64,
        /// What it says.
        found: String,
    },
    /// A line that is too long.
    #[error("line {line} has more than {LONGEST_LINE} bytes")]
    TooLong {
        /// The line, from 1.
        line: u64,
    },
    /// A run of too many rows.
    #[error("line {line} is one row more than the {MOST_ROWS} that a run may have")]
    TooMany {
        /// The line, from 1.
        line: u64,
    },
    /// A run without all of its rows.
    #[error(
        "the file was cut, or lines are lost: the run {run_id:?} has {rows} rows, and {found} of them are there"
    )]
    Cut {
        /// The run.
        run_id: String,
        /// How many rows its first line promises.
        rows: usize,
        /// How many are there.
        found: usize,
    },
    /// A row of another run than the line before it, or of none.
    #[error("line {line} is a row of the run {run_id:?}, but no line of that run stands before it")]
    Stray {
        /// The line, from 1.
        line: u64,
        /// The run that it says that it is of.
        run_id: String,
    },
}

#[derive(Serialize)]
struct RunLine<'a> {
    schema: &'static str,
    kind: &'static str,
    rows: usize,
    #[serde(flatten)]
    run: &'a Run,
}

#[derive(Serialize)]
struct RowLine<'a> {
    schema: &'static str,
    kind: &'static str,
    run_id: &'a str,
    started: &'a str,
    #[serde(flatten)]
    cohort: &'a Cohort,
    #[serde(flatten)]
    row: &'a Row,
}

/// A summary's lines.
pub fn write(summary: &Summary) -> Vec<u8> {
    let mut lines =
        line(&RunLine { schema: SCHEMA, kind: "run", rows: summary.rows.len(), run: &summary.run });
    for row in &summary.rows {
        let (run_id, started, cohort) = (&summary.run.run_id, &summary.run.started, &summary.run.cohort);
        lines.extend(line(&RowLine { schema: SCHEMA, kind: "row", run_id, started, cohort, row }));
    }
    lines
}

/// Strings, numbers and maps of strings always are JSON. It is ASCII, so that no text from outside steers a terminal: JSON's own escapes
/// change no value.
fn line(line: &impl Serialize) -> Vec<u8> {
    let text = serde_json::to_string(line).unwrap_or_default();
    let mut out = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if c.is_ascii() && !c.is_ascii_control() {
            out.push(c);
        } else {
            // Writing to a String cannot fail.
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| _ = write!(out, "\\u{unit:04x}"));
        }
    }
    out.push('\n');
    out.into_bytes()
}

/// What every line says first.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    schema: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    run_id: Cow<'a, str>,
    /// Of a run: how many lines of rows are behind it.
    #[serde(default)]
    rows: Option<usize>,
}

/// Reads summaries, one after the other. It ends at the first line that is wrong.
pub struct Reader<R> {
    from: R,
    line: u64,
    begun: Option<Begun>,
    is_done: bool,
}

/// A run whose rows are being read.
struct Begun {
    summary: Summary,
    /// How many there must be.
    rows: Option<usize>,
    /// What tells those apart that were read.
    known: HashSet<[String; 4]>,
}

impl Begun {
    fn of(run: Run, rows: Option<usize>) -> Begun {
        Begun { summary: Summary { run, rows: Vec::new() }, rows, known: HashSet::new() }
    }

    fn add(&mut self, row: Row) -> Result<(), String> {
        row.check()?;
        let configuration = row.configuration.clone().unwrap_or_default();
        if !self.known.insert([row.entry.clone(), row.operation.clone(), row.bits.to_string(), configuration])
        {
            return Err("its run has this row already".to_owned());
        }
        self.summary.rows.push(row);
        Ok(())
    }

    fn whole(self) -> Result<Summary, Wrong> {
        let (run_id, found) = (self.summary.run.run_id.clone(), self.summary.rows.len());
        match self.rows {
            Some(rows) if rows != found => Err(Wrong::Cut { run_id, rows, found }),
            _ => Ok(self.summary),
        }
    }
}

impl<R: BufRead> Reader<R> {
    /// Of lines as [`write()`] makes them.
    pub fn new(from: R) -> Reader<R> {
        Reader { from, line: 0, begun: None, is_done: false }
    }

    /// The next line without its end; none at the end of the file.
    fn line(&mut self) -> Result<Option<Vec<u8>>, Wrong> {
        let mut bytes = Vec::new();
        self.line += 1;
        self.from.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes)?;
        if bytes.len() as u64 > LONGEST_LINE {
            return Err(Wrong::TooLong { line: self.line });
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }

    /// Adds a line to what was begun; returns the summary that it ends.
    fn add(&mut self, bytes: &[u8]) -> Result<Option<Summary>, Wrong> {
        let line = self.line;
        let shape = |error: serde_json::Error| Wrong::Shape { line, why: told(&error) };
        let head: Head = serde_json::from_slice(bytes).map_err(shape)?;
        if head.schema != SCHEMA {
            return Err(Wrong::Schema { line, found: head.schema.into_owned() });
        }
        match &*head.kind {
            "run" => {
                let run = serde_json::from_slice(bytes).map_err(shape)?;
                self.begun.replace(Begun::of(run, head.rows)).map(Begun::whole).transpose()
            }
            "row" => {
                let of_run = self.begun.as_mut().filter(|begun| begun.summary.run.run_id == head.run_id);
                let begun = of_run.ok_or_else(|| Wrong::Stray { line, run_id: head.run_id.into_owned() })?;
                if begun.summary.rows.len() == MOST_ROWS {
                    return Err(Wrong::TooMany { line });
                }
                let row = serde_json::from_slice(bytes).map_err(shape)?;
                begun.add(row).map_err(|why| Wrong::Shape { line, why })?;
                Ok(None)
            }
            other => Err(Wrong::Shape { line, why: format!("its kind is {other:?}, neither run nor row") }),
        }
    }

    fn read(&mut self) -> Result<Option<Summary>, Wrong> {
        while let Some(bytes) = self.line()? {
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            if let Some(ended) = self.add(&bytes)? {
                return Ok(Some(ended));
            }
        }
        self.begun.take().map(Begun::whole).transpose()
    }
}

/// serde_json counts lines of what it was given, which was one.
fn told(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Summary, Wrong>;

    fn next(&mut self) -> Option<Result<Summary, Wrong>> {
        if self.is_done {
            return None;
        }
        let read = self.read().transpose();
        self.is_done = !matches!(read, Some(Ok(_)));
        read
    }
}

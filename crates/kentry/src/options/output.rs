//! What a result is written as, and where.

use crate::options::values::one_of;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use report::Format;
use std::path::PathBuf;

/// What a result is written as, and where.
#[derive(Debug, Clone, Args)]
pub struct OutputArgs {
    /// How to show the result [default: what the ending of --output says, .json, .csv, .md or .markdown; otherwise text]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(Format::ALL, Format::name))]
    pub format: Option<Format>,
    /// Write the result to this file, whole or not at all, instead of standard output (-)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = PathBufValueParser::new().try_map(of_result))]
    pub output: Option<PathBuf>,
    /// When to use color; NO_COLOR is respected too
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// How to show rows, and where.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// What they are written as
    #[command(flatten)]
    pub to: OutputArgs,
    /// Show every row, not only those of the first screen; rows that --entry or --operation name are always shown
    #[arg(short, long)]
    pub all: bool,
    /// Show more columns, the evidence for findings, and every row on a line of its own
    #[arg(short, long)]
    pub verbose: bool,
}

/// Commands that make what the ending of a file says and these do not.
const OTHERS: [(&str, &str); 6] = [
    ("html", "`kentry report RUN --output FILE.html` makes a page"),
    ("htm", "`kentry report RUN --output FILE.html` makes a page"),
    ("svg", "`kentry bill`, `kentry anatomy` and `kentry reproduce` make pictures"),
    ("folded", "`kentry anatomy` makes folded stacks"),
    ("xml", "`kentry compare` makes JUnit"),
    ("ktap", "`kentry compare` makes KTAP"),
];

/// A file for a result. Text under an ending that promises something else would be read as that.
fn of_result(file: PathBuf) -> Result<PathBuf, String> {
    let ending = file.extension().map(|ending| ending.to_ascii_lowercase());
    let other = OTHERS.iter().find(|(known, _)| ending.as_deref() == Some(known.as_ref()));
    match other {
        Some((_, command)) => Err(format!("text, .json, .csv and .md are made here; {command}")),
        None => Ok(file),
    }
}

/// The same of a result that can be a picture.
pub fn of_picture(file: PathBuf) -> Result<PathBuf, String> {
    let is_picture = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
    if is_picture { Ok(file) } else { of_result(file) }
}

impl OutputArgs {
    /// The format that was asked for, or else what the name of the output file says, or else text.
    pub fn format(&self) -> Format {
        let of_file = || self.output.as_deref().and_then(Format::of_file);
        self.format.or_else(of_file).unwrap_or(Format::Text)
    }
}

/// When to use color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

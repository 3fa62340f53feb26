//! `kentry export`: runs for other programs.

#[cfg(feature = "parquet")]
mod tables;

use crate::error::Error;
use crate::options::values::one_of;
use crate::output::Target;
use crate::summaries::whole;
use clap::{Args, ValueHint};
use report::{Format, Selection};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Options of `export`.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// Runs by name, id, latest or latest~1, files of runs or of summaries, and folders of such files
    #[arg(value_name = "RUN", required = true, value_hint = ValueHint::AnyPath)]
    pub runs: Vec<PathBuf>,
    /// What they are written as: ndjson (lines of JSON, docs/summary.schema.json), csv (a line for each row of each run), parquet (two tables in a
    /// folder), prometheus (metrics of one run, for node_exporter's textfile collector)
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&To::ALL, To::name))]
    pub to: To,
    /// Write it to this file, whole or not at all, instead of standard output (-); packed if the name ends in .gz. With parquet, the folder that
    /// gets runs.parquet and rows.parquet
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// With prometheus: every row, not only those of the first screen
    #[arg(short, long)]
    pub all: bool,
}

/// What runs are exported to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// What is bytes.
    File(Format),
    /// Two tables in a folder.
    Tables,
}

impl To {
    const ALL: [To; 4] =
        [To::File(Format::Ndjson), To::File(Format::Csv), To::Tables, To::File(Format::Prometheus)];

    fn name(self) -> &'static str {
        match self {
            To::File(format) => format.name(),
            To::Tables => "parquet",
        }
    }
}

/// Writes runs without their rounds.
pub fn run(args: &ExportArgs) -> Result<ExitCode, Error> {
    match args.to {
        To::File(format) => file(args, format),
        To::Tables => tables(args),
    }
}

#[cfg(feature = "parquet")]
fn tables(args: &ExportArgs) -> Result<ExitCode, Error> {
    let why = "--to parquet: name a folder for the tables: --output FOLDER";
    let folder = args.output.as_deref().filter(|path| *path != Path::new("-"));
    tables::write(folder.ok_or_else(|| Error::Usage(why.into()))?, &whole(&args.runs)?)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(feature = "parquet"))]
fn tables(_: &ExportArgs) -> Result<ExitCode, Error> {
    Err(Error::Usage("--to parquet: this kentry was built without Parquet".into()))
}

fn file(args: &ExportArgs, format: Format) -> Result<ExitCode, Error> {
    let target = Target::open(args.output.as_deref())?;
    let found = whole(&args.runs)?;
    if format == Format::Prometheus && found.len() != 1 {
        let why = "metrics are of one run: a file for node_exporter is of the machine that it stands on";
        return Err(Error::Usage(format!("--to prometheus: {} runs are named, and {why}", found.len())));
    }
    let selection = if args.all { Selection::All } else { Selection::FirstScreen };
    target.write_packed(&report::exported(&found, format, selection)?)?;
    Ok(ExitCode::SUCCESS)
}

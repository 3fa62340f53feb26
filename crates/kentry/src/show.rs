//! `kentry show`: saved runs, bills and anatomies, in any format.

use crate::error::Error;
use crate::input::{KeptRuns, Saved};
use crate::options::output::{OutputArgs, Outputs, ShowArgs, formats};
use crate::options::rows::RowArgs;
use clap::{Args, ValueHint};
use report::{Format, Kind, Style};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Table;

/// `--all` and `--verbose` of whatever was saved.
const ALL_SAVED: &str = "Show every row, not only those of the first screen; of an anatomy every instruction";
const VERBOSE: &str = "Show more columns, the evidence for findings, and every row on a line of its own; of an anatomy its tree, \
                       and in a listing addresses and bytes";

/// Options of `show`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", formats(Kind::SAVED)), mut_arg("all", |arg| arg.help(ALL_SAVED)), mut_arg("verbose", |arg| arg.help(VERBOSE)))]
pub struct ShowFileArgs {
    /// Runs by name, id, latest or latest~1 (the one before), or files that were saved with --output FILE.json, of `kentry bill`
    /// and `kentry anatomy` too; - is standard input
    #[arg(value_name = "RUN", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Which rows
    #[command(flatten)]
    pub rows: RowArgs,
    /// Compute every figure and finding again, from the rounds and the facts in the document
    #[arg(long, hide_short_help = true)]
    pub recompute: bool,
    /// Print the run's summary, as `kentry --summary` writes it: short for --format ndjson
    #[arg(long, conflicts_with = "format")]
    pub summary: bool,
    /// How to show it, and where
    #[command(flatten)]
    pub show: ShowArgs,
}

impl ShowFileArgs {
    /// Opens what it is written to.
    fn outputs(&self) -> Result<Outputs, Error> {
        let format = if self.summary { Some(Format::Ndjson) } else { self.show.to.format };
        OutputArgs { format, ..self.show.to.clone() }.open(Kind::SAVED)
    }
}

/// Renders saved documents, one after the other; what is no text for a person one at a time.
pub fn run(args: &ShowFileArgs) -> Result<ExitCode, Error> {
    let outputs = args.outputs()?;
    let is_of_several = |format: &Format| format.is_text() || *format == Format::Ndjson;
    if let Some(format) = outputs.formats().find(|format| args.files.len() > 1 && !is_of_several(format)) {
        let what = if format == Format::Svg { "a picture" } else { format.name() };
        return Err(Error::Usage(format!("several documents can be shown as text or ndjson, not as {what}")));
    }
    let kept = KeptRuns::default();
    let styles = outputs.styles(args.show.look(args.rows.are_named()));
    let mut texts = vec![Vec::new(); styles.len()];
    // One document at a time is in memory.
    for file in &args.files {
        let saved = prepared(kept.saved(file)?, file, args)?;
        for (text, (format, style)) in texts.iter_mut().zip(&styles) {
            if format.is_text() {
                text.extend(heading(file, args.files.len(), text.is_empty()));
            }
            text.extend(rendered(&saved, file, args, *format, style)?);
        }
    }
    outputs.write_each(&texts)?;
    Ok(ExitCode::SUCCESS)
}

/// What stands above a document: of several, its name, and a blank line above all but the first.
fn heading(file: &Path, documents: usize, is_first: bool) -> Vec<u8> {
    if documents < 2 {
        return Vec::new();
    }
    let blank = if is_first { "" } else { "\n" };
    format!("{blank}{}:\n\n", report::plain_os(file.as_os_str())).into_bytes()
}

/// What was saved, as it is to be shown: recomputed, and with the rows that are named. Bills and anatomies have no such choice.
fn prepared(saved: Saved, file: &Path, args: &ShowFileArgs) -> Result<Saved, Error> {
    let is_chosen = args.rows.are_named() || args.recompute;
    let whole = |what| {
        Err(Error::Usage(format!("{what} is shown whole: leave out --entry, --operation and --recompute")))
    };
    match saved {
        Saved::Run(mut found) => {
            if args.recompute {
                let wrong =
                    |error: document::Recomputed| Error::Input { file: file.into(), why: error.to_string() };
                found.document = measure::recompute(&found.document).map_err(wrong)?;
            }
            measure::select::keep(Table::get(), &mut found.document, &args.rows.entry, &args.rows.operation)?;
            Ok(Saved::Run(found))
        }
        Saved::Bill(_) if is_chosen => whole("a bill"),
        Saved::Anatomy(_) if is_chosen => whole("an anatomy"),
        other => Ok(other),
    }
}

fn rendered(
    saved: &Saved,
    file: &Path,
    args: &ShowFileArgs,
    format: Format,
    style: &Style,
) -> Result<Vec<u8>, Error> {
    let kind = match saved {
        Saved::Run(found) if report::names_kernels(&found.document) => Kind::KERNELS,
        Saved::Run(_) => Kind::RUN,
        Saved::Bill(_) => Kind::BILL,
        Saved::Anatomy(_) => Kind::ANATOMY,
    };
    if !kind.is_written_in(format) {
        let (file, others) = (report::plain_os(file.as_os_str()), kind.in_words());
        let why = format!("{file} is {}, which is written as {others}, and not as {format}", kind.name);
        return Err(Error::Usage(format!("{why}; {}", format.made_by())));
    }
    Ok(match saved {
        Saved::Run(found) => report::render(&found.document, Table::get(), format, style)?,
        Saved::Bill(bill) => report::bill(bill, format, style)?,
        Saved::Anatomy(anatomy) => {
            // What is text for any document is, of this one, a listing with --all, and its tree with --verbose.
            let format = match format {
                Format::Text if args.show.to.format.is_none() && args.show.all => Format::Listing,
                Format::Text if args.show.to.format.is_none() && args.show.verbose => Format::Tree,
                other => other,
            };
            report::anatomy(anatomy, format, style)?
        }
    })
}

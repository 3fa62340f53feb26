//! `kentry show`: saved runs, bills and anatomies, in any format.

use crate::error::Error;
use crate::input::{KeptRuns, Saved};
use crate::options::output::{Look, OutputArgs, formats};
use crate::options::rows::RowArgs;
use clap::{Args, ValueHint};
use report::{Format, Kind, Selection, Style};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Table;

/// Options of `show`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", formats(Kind::SAVED)))]
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
    /// How to show it, and where
    #[command(flatten)]
    pub to: OutputArgs,
    /// Show every row, not only those of the first screen; of an anatomy every instruction
    #[arg(short, long)]
    pub all: bool,
    /// Show more columns, the evidence for findings, and every row on a line of its own; of an anatomy its tree, and in a listing
    /// addresses and bytes
    #[arg(short, long)]
    pub verbose: bool,
}

/// Renders saved documents, one after the other; what is no text for a person one at a time.
pub fn run(args: &ShowFileArgs) -> Result<ExitCode, Error> {
    let outputs = args.to.open(Kind::SAVED)?;
    if let Some(format) = outputs.formats().find(|format| args.files.len() > 1 && !format.is_text()) {
        let what = if format == Format::Svg { "a picture" } else { format.name() };
        return Err(Error::Usage(format!("several documents can be shown as text alone, not as {what}")));
    }
    let kept = KeptRuns::default();
    let saved = args.files.iter().map(|file| prepared(kept.saved(file)?, file, args));
    let saved = saved.collect::<Result<Vec<_>, Error>>()?;
    let look = args.look();
    outputs.write(look, |format, style| {
        let mut out = Vec::new();
        for (file, saved) in args.files.iter().zip(&saved) {
            if !out.is_empty() {
                out.push(b'\n');
            }
            if args.files.len() > 1 {
                out.extend(format!("{}:\n\n", report::plain_os(file.as_os_str())).into_bytes());
            }
            out.extend(rendered(saved, file, args, format, style)?);
        }
        Ok::<_, Error>(out)
    })?;
    Ok(ExitCode::SUCCESS)
}

impl ShowFileArgs {
    fn look(&self) -> Look {
        let is_whole = self.rows.are_named() || self.all || self.verbose;
        let selection = if is_whole { Selection::All } else { Selection::FirstScreen };
        Look { verbose: self.verbose, selection }
    }
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
                Format::Text if args.to.format.is_none() && args.all => Format::Listing,
                Format::Text if args.to.format.is_none() && args.verbose => Format::Tree,
                other => other,
            };
            report::anatomy(anatomy, format, style)?
        }
    })
}

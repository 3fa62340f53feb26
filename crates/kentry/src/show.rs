//! `kentry show`: saved runs, bills and anatomies, in any format.

use crate::anatomy::args::AnatomyOutputArgs;
use crate::error::Error;
use crate::input::{Kept, Saved};
use crate::options::rows::RowArgs;
use crate::output::Target;
use crate::style::{is_colored, width};
use attribution::bill::Bill;
use clap::{Args, ValueHint};
use document::Document;
use report::{AnatomyFormat, BillFormat, Selection, Style};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Table;

/// `--format` of `show`.
const SAVED_FORMAT: &str = "How to show it: svg is of bills and anatomies, and parts, tree, listing and folded are of anatomies alone \
                            [default: what the ending of --output says, .json, .csv, .md, .markdown, .svg or .folded; otherwise text]";

/// Options of `show`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.help(SAVED_FORMAT)))]
pub struct ShowFileArgs {
    /// Runs by name, id, latest or latest~1 (the one before), or files that were saved with --output FILE.json, of `kentry bill`
    /// and `kentry anatomy` too; - is standard input
    #[arg(value_name = "RUN", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Which rows
    #[command(flatten)]
    pub rows: RowArgs,
    /// Compute every figure and finding again, from the rounds and the facts in the document
    #[arg(long)]
    pub recompute: bool,
    /// How to show it, and where
    #[command(flatten)]
    pub to: AnatomyOutputArgs,
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
    let format = args.to.format();
    if args.files.len() > 1 && !format.is_text() {
        let what = if format == AnatomyFormat::Svg { "a picture" } else { format.name() };
        return Err(Error::Usage(format!("several documents can be shown as text alone, not as {what}")));
    }
    let target = Target::open(args.to.output.as_deref())?;
    let style = style(args, &target);
    let kept = Kept::default();
    let mut out = Vec::new();
    for file in &args.files {
        let saved = kept.saved(file)?;
        if !out.is_empty() {
            out.push(b'\n');
        }
        if args.files.len() > 1 {
            out.extend(format!("{}:\n\n", report::plain_os(file.as_os_str())).into_bytes());
        }
        out.extend(match saved {
            Saved::Run(found) => of_run(file, found.document, args, &style)?,
            Saved::Bill(bill) => of_bill(file, &bill, args, &style)?,
            Saved::Anatomy(anatomy) => of_anatomy(&anatomy, args, &style)?,
        });
    }
    if format.is_text() {
        target.write_text(&out)?
    } else {
        target.write(&out)?
    }
    Ok(ExitCode::SUCCESS)
}

fn style(args: &ShowFileArgs, target: &Target) -> Style {
    let is_whole = args.rows.are_named() || args.all || args.verbose;
    Style {
        selection: if is_whole { Selection::All } else { Selection::FirstScreen },
        color: is_colored(args.to.color, target),
        width: width(target),
        verbose: args.verbose,
    }
}

fn of_run(file: &Path, document: Document, args: &ShowFileArgs, style: &Style) -> Result<Vec<u8>, Error> {
    let format = match args.to.format() {
        AnatomyFormat::Svg => {
            let why =
                "a picture (.svg) is of a bill or an anatomy; `kentry report` writes a page about a run";
            return Err(Error::Usage(why.into()));
        }
        format => format.of_any().ok_or_else(|| of_anatomies(format, file, "a run"))?,
    };
    let wrong = |error: &dyn std::fmt::Display| Error::Input { file: file.into(), why: error.to_string() };
    let recomputed = args.recompute.then(|| measure::recompute(&document));
    let mut document = recomputed.transpose().map_err(|error| wrong(&error))?.unwrap_or(document);
    measure::select::keep(Table::get(), &mut document, &args.rows.entry, &args.rows.operation)?;
    Ok(report::render(&document, Table::get(), format, style)?)
}

/// Why a format does not fit.
fn of_anatomies(format: AnatomyFormat, file: &Path, what: &str) -> Error {
    let file = report::plain_os(file.as_os_str());
    Error::Usage(format!(
        "--format {format} is of an anatomy (`kentry anatomy`), and {file} is {what}: text, json, csv and markdown are of all"
    ))
}

fn of_anatomy(
    anatomy: &attribution::anatomy::Document,
    args: &ShowFileArgs,
    style: &Style,
) -> Result<Vec<u8>, Error> {
    if args.rows.are_named() || args.recompute {
        let why = "an anatomy is shown whole: leave out --entry, --operation and --recompute";
        return Err(Error::Usage(why.into()));
    }
    // What is text for any document is, of this one, a listing with --all, and its tree with --verbose.
    let format = match args.to.format() {
        AnatomyFormat::Text if args.to.format.is_none() && args.all => AnatomyFormat::Listing,
        AnatomyFormat::Text if args.to.format.is_none() && args.verbose => AnatomyFormat::Tree,
        other => other,
    };
    Ok(report::anatomy(anatomy, format, style)?)
}

fn of_bill(file: &Path, bill: &Bill, args: &ShowFileArgs, style: &Style) -> Result<Vec<u8>, Error> {
    if args.rows.are_named() || args.recompute {
        let why = "a bill is shown whole: leave out --entry, --operation and --recompute";
        return Err(Error::Usage(why.into()));
    }
    let format = match args.to.format() {
        AnatomyFormat::Svg => BillFormat::Svg,
        format => format.of_any().ok_or_else(|| of_anatomies(format, file, "a bill"))?.into(),
    };
    Ok(report::bill(bill, format, style)?)
}

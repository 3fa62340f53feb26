//! `kentry show`: saved runs, bills and anatomies, in any format.

use crate::style;
use bill::Bill;
use document::Document;
use kentry::cli::ShowFileArgs;
use kentry::error::Error;
use kentry::input::{Kept, Saved};
use kentry::output::Target;
use report::{AnatomyFormat, BillFormat, Format, Style};
use std::path::Path;
use std::process::ExitCode;
use table::Table;

/// Renders saved documents, one after the other; in JSON, CSV and Markdown one at a time.
pub fn run(args: &ShowFileArgs) -> Result<ExitCode, Error> {
    let format = args.show.to.format();
    if args.files.len() > 1 && (format != Format::Text || is_picture(args)) {
        let what = if is_picture(args) { "a picture".to_owned() } else { format.to_string() };
        return Err(Error::Usage(format!("several documents can be shown as text alone, not as {what}")));
    }
    let target = Target::open(args.show.to.output.as_deref())?;
    let style = style(&args.show, args.rows.are_named(), &target);
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
            Saved::Bill(bill) => of_bill(&bill, args, &style)?,
            Saved::Anatomy(anatomy) => of_anatomy(&anatomy, args, &style)?,
        });
    }
    if is_picture(args) {
        target.write(&out)?;
    } else {
        target.write_report(format, &out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the name of the file that is to be written asks for a picture.
fn is_picture(args: &ShowFileArgs) -> bool {
    let of_file = args.show.to.output.as_deref().and_then(BillFormat::of_file);
    args.show.to.format.is_none() && of_file == Some(BillFormat::Svg)
}

fn of_run(file: &Path, document: Document, args: &ShowFileArgs, style: &Style) -> Result<Vec<u8>, Error> {
    if is_picture(args) {
        let why = "a picture (.svg) is of a bill or an anatomy; `kentry report` writes a page about a run";
        return Err(Error::Usage(why.into()));
    }
    let wrong = |error: &dyn std::fmt::Display| Error::Input { file: file.into(), why: error.to_string() };
    let recomputed = args.recompute.then(|| measure::recompute(&document));
    let mut document = recomputed.transpose().map_err(|error| wrong(&error))?.unwrap_or(document);
    measure::select::keep(Table::get(), &mut document, &args.rows.entry, &args.rows.operation)?;
    Ok(report::render(&document, Table::get(), args.show.to.format(), style)?)
}

fn of_anatomy(anatomy: &anatomy::Document, args: &ShowFileArgs, style: &Style) -> Result<Vec<u8>, Error> {
    if args.rows.are_named() || args.recompute {
        let why = "an anatomy is shown whole: leave out --entry, --operation and --recompute";
        return Err(Error::Usage(why.into()));
    }
    let of_file = || args.show.to.output.as_deref().and_then(AnatomyFormat::of_file);
    let asked = args.show.to.format.map(AnatomyFormat::from).or_else(of_file);
    // What is text for any document is, of this one, a listing with --all, and its tree with --verbose.
    let format = match asked.unwrap_or(AnatomyFormat::Text) {
        AnatomyFormat::Text if args.show.all => AnatomyFormat::Listing,
        AnatomyFormat::Text if args.show.verbose => AnatomyFormat::Tree,
        other => other,
    };
    Ok(report::anatomy(anatomy, format, style)?)
}

fn of_bill(bill: &Bill, args: &ShowFileArgs, style: &Style) -> Result<Vec<u8>, Error> {
    if args.rows.are_named() || args.recompute {
        let why = "a bill is shown whole: leave out --entry, --operation and --recompute";
        return Err(Error::Usage(why.into()));
    }
    let format = if is_picture(args) { BillFormat::Svg } else { args.show.to.format().into() };
    Ok(report::bill(bill, format, style)?)
}

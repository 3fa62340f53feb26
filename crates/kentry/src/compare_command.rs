//! `kentry compare`.

use crate::{is_colored, note, width};
use compare::{Comparison, GateAnswer};
use kentry::compare_args::{CompareArgs, Ended};
use kentry::compare_sides::Sides;
use kentry::error::Error;
use kentry::output::Target;
use report::{CompareFormat, Selection, Style};
use std::path::PathBuf;
use std::process::ExitCode;
use table::Table;

/// The exit code where a result cannot be written.
const UNWRITTEN: u8 = 5;

/// Compares, and ends with the gate's answer.
#[inline(never)]
pub fn run(args: &CompareArgs) -> ExitCode {
    let ended = compare_runs(args).unwrap_or_else(|error| {
        note(&error.to_string());
        Ended::Failed(match error {
            Error::Output { .. } | Error::Report(_) => UNWRITTEN,
            // A store that cannot be read has no such run.
            _ => 2,
        })
    });
    ExitCode::from(ended.exit_code(args.show.git_bisect))
}

fn compare_runs(args: &CompareArgs) -> Result<Ended, Error> {
    let outputs = outputs(args)?;
    let sides = Sides::read(args)?;
    let history = sides.history(&mut note);
    let compared = compare::compare(Table::get(), &sides.base, &sides.new, &history, &args.settings());
    for (target, format) in outputs {
        write(&compared, args, target, format)?;
    }
    if let Some(why) = report::refusal(&compared) {
        note(&format!("{why}; --force compares them all the same"));
        return Ok(Ended::NotComparable);
    }
    Ok(Ended::Answered(compared.gate.map_or(GateAnswer::Pass, |gate| gate.answer)))
}

/// Where the comparison goes, and in which format.
fn outputs(args: &CompareArgs) -> Result<Vec<(Target, CompareFormat)>, Error> {
    let show = &args.show;
    if show.output.len() > 1 && show.format.is_some() {
        let why = "several --output have the format that the ending of each says; leave out --format";
        return Err(Error::Usage(why.into()));
    }
    let standard = [PathBuf::from("-")];
    let paths = if show.output.is_empty() { &standard } else { show.output.as_slice() };
    let output = |path: &PathBuf| {
        let format = show.format.or_else(|| CompareFormat::of_file(path)).unwrap_or(CompareFormat::Text);
        Ok((Target::open(Some(path))?, format))
    };
    paths.iter().map(output).collect()
}

fn write(
    compared: &Comparison,
    args: &CompareArgs,
    target: Target,
    format: CompareFormat,
) -> Result<(), Error> {
    let show = &args.show;
    let selection = if show.all || show.verbose { Selection::All } else { Selection::FirstScreen };
    let (color, width) = (is_colored(show.color, &target), width(&target));
    let style = Style { color, width, verbose: show.verbose, selection };
    let bytes = report::comparison(compared, format, &style)?;
    if format == CompareFormat::Text { target.write_text(&bytes) } else { target.write(&bytes) }
}

//! `kentry measure`: from arguments to the exit code.

pub mod args;
pub mod too_noisy;

use crate::dry_run;
use crate::error::Error;
use crate::exit::{INTERRUPTED, NOISY, UNFINISHED};
use crate::measure::args::MeasureArgs;
use crate::messages::note;
use crate::options::output::{Look, Outputs, ShowArgs};
use crate::os::interrupts;
use crate::saving::Saving;
use crate::this_machine::{drawn_seed, measure_host, need_counter};
use document::Outcome;
use places::host::Interrupt;
use report::{Format, Kind, Style};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use table::{Kernel, Table};

/// Measures this Linux, or prints the plan.
pub fn run(args: &MeasureArgs) -> Result<ExitCode, Error> {
    need_counter()?;
    let plan = args.plan(Table::get(), drawn_seed())?;
    args.rows.note_short_names(Table::get(), Kernel::Linux);
    if args.dry_run {
        Saving::check(&args.save)?;
        let write = |format, _: &Style| dry_run::plan(&plan, format);
        args.show.to.open(Kind::PLAN)?.write(Look::WHOLE, write)?;
        return Ok(ExitCode::SUCCESS);
    }
    let outputs = results(args)?;
    let saving = Saving::prepare(&args.save, &mut note)?;
    let interrupt = interrupts::noted();
    let document = measure_host(&plan, &interrupt)?;
    let shown = show(&document, &args.show, args.rows.are_named(), (outputs, saving), &interrupt)?;
    if args.exit_zero {
        return Ok(ExitCode::SUCCESS);
    }
    let noisy = args.fail_if_noisy.and_then(|share| too_noisy::why(&document, share));
    if let Some(why) = noisy.filter(|_| shown == ExitCode::SUCCESS) {
        note(&why);
        return Ok(ExitCode::from(NOISY));
    }
    Ok(shown)
}

/// Where the table and the summary go: two places, so that neither overwrites the other.
fn results(args: &MeasureArgs) -> Result<Outputs, Error> {
    let (to, Some(summary)) = (&args.show.to, args.summary.as_deref()) else {
        return args.show.to.open(Kind::RUN);
    };
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if let Some(path) = to.output.iter().find(|path| place(path) == place(summary)) {
        let path = report::plain_os(path.as_os_str());
        return Err(Error::Usage(format!("--summary and --output: both would be written to {path}")));
    }
    let is_alone = summary == Path::new("-") && to.output.is_empty();
    let outputs = if is_alone { Outputs::none() } else { to.open(Kind::RUN)? };
    outputs.and(summary, Format::Ndjson)
}

/// Writes the report of a measurement that is over, keeps the run, and says how it went.
pub fn show(
    document: &document::Document,
    args: &ShowArgs,
    all: bool,
    (outputs, saving): (Outputs, Saving),
    interrupt: &Interrupt,
) -> Result<ExitCode, Error> {
    // A file that is there may hold a measurement; nothing is worth more than nothing.
    if interrupt.load(Ordering::Relaxed) && !document.results.iter().any(document::Row::has_outcome) {
        return Err(Error::Interrupted);
    }
    let interrupted = interrupt.load(Ordering::Relaxed);
    let files: Vec<PathBuf> = outputs.files().map(Path::to_path_buf).collect();
    // Kept before it is shown: a reader may close the pipe, and a disk that is full of runs still shows this one.
    let kept = saving.keep(document);
    outputs.write(args.look(all), |format, style| report::render(document, Table::get(), format, style))?;
    kept?;
    for file in files.iter().filter(|_| interrupted) {
        note(&format!("interrupted; {} is partial", report::plain_os(file.as_os_str())));
    }
    match all_failed(document) {
        _ if interrupted => Ok(ExitCode::from(INTERRUPTED)),
        _ if document.measurement.partial => Ok(ExitCode::from(UNFINISHED)),
        Some(why) => Err(Error::Environment(format!("nothing could be measured: {why}"))),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// If every row failed for a reason that has nothing to do with the kernel: the first row's reason.
fn all_failed(document: &document::Document) -> Option<&str> {
    let failed = |row: &document::Row| matches!(row.outcome, Outcome::Error | Outcome::Timeout);
    let first = document.results.first().filter(|_| document.results.iter().all(failed))?;
    Some(first.reason.as_deref().unwrap_or(first.outcome.name()))
}

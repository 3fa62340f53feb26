//! `kentry report`.

use kentry::cli::ReportArgs;
use kentry::error::Error;
use kentry::input;
use kentry::output::Target;
use report::{MOST_RUNS, PageRun, Verdicts};
use std::process::ExitCode;
use table::Table;

/// Writes a page about runs.
pub fn run(args: &ReportArgs) -> Result<ExitCode, Error> {
    if args.files.len() > MOST_RUNS {
        return Err(Error::Usage(format!("a page shows at most {MOST_RUNS} runs, not {}", args.files.len())));
    }
    let target = Target::open(args.output.as_deref())?;
    if target.is_terminal() {
        let why = "a page of HTML is not for a terminal: name a file for it, such as -o report.html";
        return Err(Error::Usage(why.into()));
    }
    let runs = args.files.iter().map(|file| {
        let name = file.to_string_lossy().into_owned();
        Ok(PageRun { name, document: input::document(file)?, verdicts: Verdicts::new() })
    });
    let runs = runs.collect::<Result<Vec<PageRun>, Error>>()?;
    target.write(&report::page(&runs, Table::get(), args.title.as_deref())?)?;
    Ok(ExitCode::SUCCESS)
}

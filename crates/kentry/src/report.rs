//! `kentry report`.

use crate::error::Error;
use crate::history::{Compared, History};
use crate::input::{KeptRuns, NamedRun};
use crate::messages::note;
use crate::options::output::{Look, OutputArgs, formats};
use clap::{Args, ValueHint};
use compare::{Comparison, Run, Settings, SideRuns};
use report::{Kind, MOST_RUNS, PageRun};
use std::path::PathBuf;
use std::process::ExitCode;
use table::Table;

/// Options of `report`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", formats(Kind::PAGE)), mut_arg("output", |arg| arg.short('o')), mut_arg("color", |arg| arg.hide(true)))]
pub struct ReportArgs {
    /// Runs by name, id, latest or latest~1 (the one before), or files that were saved with --output FILE.json; - is standard
    /// input. With several, each of the others is compared with the first
    #[arg(value_name = "RUN", default_value = "latest", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Where the page goes; standard output must then not be a terminal
    #[command(flatten)]
    pub to: OutputArgs,
    /// The page's title [default: what was measured]
    #[arg(long, value_name = "TEXT", value_hint = ValueHint::Other)]
    pub title: Option<String>,
}

/// Writes a page about runs.
pub fn run(args: &ReportArgs) -> Result<ExitCode, Error> {
    if args.files.len() > MOST_RUNS {
        return Err(Error::Usage(format!("a page shows at most {MOST_RUNS} runs, not {}", args.files.len())));
    }
    let outputs = args.to.open(Kind::PAGE)?;
    if outputs.is_terminal() {
        let why = "a page of HTML is not for a terminal: name a file for it, such as -o report.html";
        return Err(Error::Usage(why.into()));
    }
    let kept = KeptRuns::default();
    let found = args.files.iter().map(|file| kept.run(file)).collect::<Result<Vec<NamedRun>, Error>>()?;
    let comparisons = comparisons(&args.files, &found, &kept);
    let runs = args.files.iter().zip(found).zip(comparisons);
    let runs = runs.map(|((file, found), compared)| {
        let name = file.to_string_lossy().into_owned();
        PageRun { name, document: found.document, compared }
    });
    let runs: Vec<PageRun> = runs.collect();
    outputs.write(Look::WHOLE, |_, _| report::page(&runs, Table::get(), args.title.as_deref()))?;
    Ok(ExitCode::SUCCESS)
}

/// Of each run with the first, as `kentry compare` makes it by itself of the two; none of the first.
fn comparisons(files: &[PathBuf], found: &[NamedRun], kept: &KeptRuns) -> Vec<Option<Comparison>> {
    let mut history = History::new(kept);
    let given = files.iter().zip(found).map(|(file, found)| SideRuns {
        label: report::plain_os(file.as_os_str()),
        runs: vec![Run::of(Table::get(), &found.document, found.name.as_deref())],
    });
    let given: Vec<SideRuns> = given.collect();
    let with_first = |number: usize| {
        let mut compared = Compared::default();
        compared.add(&found[0].document);
        compared.add(&found[number].document);
        let history = history.of(&compared, &mut note);
        compare::compare(Table::get(), &given[0], &given[number], &history, &Settings::default())
    };
    let others = (1..found.len()).map(with_first).map(Some);
    std::iter::once(None).chain(others).take(found.len()).collect()
}

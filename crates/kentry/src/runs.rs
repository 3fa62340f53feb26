//! `kentry runs`.

use crate::error::Error;
use crate::messages::note;
use crate::options::output::{Look, OutputArgs, WIDTH};
use crate::output::print;
use crate::saving::store;
use crate::show::{self, ShowFileArgs};
use clap::{Args, Subcommand, ValueHint};
use report::{Format, Kind, Selection, Style};
use runs::{Head, Keep, Listed, Of, Store, Tag};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// Options of `runs`.
#[derive(Debug, Clone, Args)]
pub struct RunsArgs {
    /// What to do with them
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    /// What the list is written as, and where
    #[command(flatten)]
    pub to: OutputArgs,
}

/// What to do with kept runs.
#[derive(Debug, Clone, Subcommand)]
pub enum RunsCommand {
    /// List all, the newest first (the default)
    List(OutputArgs),
    /// Print how runs can be called, for completion
    #[command(hide = true)]
    Names,
    /// Show runs, as `kentry show`
    Show(ShowFileArgs),
    /// Give a run a name, instead of the one that it has; or take its name away
    #[command(override_usage = "kentry runs rename RUN NAME\n       kentry runs rename RUN --no-name")]
    Rename {
        /// The run: name, id, latest or latest~1
        #[arg(value_name = "RUN", value_hint = ValueHint::Other)]
        run: String,
        /// What it is to be called
        #[arg(value_name = "NAME", required_unless_present = "no_name", value_hint = ValueHint::Other)]
        name: Option<String>,
        /// Take its name away
        #[arg(long, conflicts_with = "name")]
        no_name: bool,
    },
    /// Tag a run
    Tag {
        /// The run: name, id, latest or latest~1
        #[arg(value_name = "RUN", value_hint = ValueHint::Other)]
        run: String,
        /// What to remember of it; KEY= forgets it
        #[arg(value_name = "KEY=VALUE", required = true, value_hint = ValueHint::Other)]
        tags: Vec<Tag>,
    },
    /// Remove runs
    Remove {
        /// The runs: name, id, latest or latest~1
        #[arg(value_name = "RUN", required = true, value_hint = ValueHint::Other)]
        runs: Vec<String>,
    },
    /// Remove the runs that neither --keep nor --within keeps, of which one is needed; a run with a name or a tag always stays, and
    /// so does one whose time has yet to come
    #[command(
        override_usage = "kentry runs prune [OPTIONS] --keep NUMBER\n       kentry runs prune [OPTIONS] --within TIME"
    )]
    Prune {
        /// Keep so many of the newest
        #[arg(long, value_name = "NUMBER", required_unless_present = "within")]
        keep: Option<usize>,
        /// Keep those that began within this time, such as 30d or 12h
        #[arg(long, value_name = "TIME", value_parser = within)]
        within: Option<Duration>,
        /// List what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Read every run whole, and name those that are damaged; there are some if this ends with 1
    Verify,
}

fn within(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "this is not a time, such as 30d or 12h".to_string())
}

/// The exit code of `verify` where it finds damage.
const DAMAGED: u8 = 1;

/// Lists, shows or changes what is kept.
pub fn run(args: &RunsArgs) -> Result<ExitCode, Error> {
    match &args.command {
        None => list(&args.to),
        Some(RunsCommand::List(to)) => list(to),
        Some(RunsCommand::Names) => names(),
        Some(RunsCommand::Show(args)) => show::run(args),
        Some(RunsCommand::Rename { run, name, .. }) => rename(run, name.as_deref()),
        Some(RunsCommand::Tag { run, tags }) => tag(run, tags),
        Some(RunsCommand::Remove { runs }) => remove(runs),
        Some(RunsCommand::Prune { keep, within, dry_run }) => {
            prune(&Keep { newest: *keep, within: *within }, *dry_run)
        }
        Some(RunsCommand::Verify) => verify(),
    }
}

fn list(args: &OutputArgs) -> Result<ExitCode, Error> {
    let outputs = args.open(Kind::LIST)?;
    let listed = store()?.list()?;
    for skipped in &listed.skipped {
        note(&format!("{} is left out: {}", report::plain_os(skipped.file.as_os_str()), skipped.why));
    }
    note_misdated(&listed.heads);
    if listed.heads.is_empty() && outputs.formats().all(Format::is_text) {
        note("no run is kept yet; every measurement is, unless --no-save says otherwise");
        return Ok(ExitCode::SUCCESS);
    }
    outputs.write(Look::WHOLE, |format, style| report::runs(&listed, format, style))?;
    Ok(ExitCode::SUCCESS)
}

/// Names the runs whose time cannot be believed.
fn note_misdated(heads: &[Head]) {
    let now = SystemTime::now();
    for head in heads.iter().filter(|head| head.began(now).is_none()) {
        let (id, started) = (report::short(&head.id), &head.started);
        note(&format!(
            "the run {id} began, it says, at {started}, which has yet to come or is no time: a clock was wrong, then or now. It counts as \
             older than all others, and `runs prune` leaves it; `kentry runs remove {id}` removes it"
        ));
    }
}

/// The names of runs, the newest first, a line each; and `latest` and its like, where there is one.
fn names() -> Result<ExitCode, Error> {
    let heads = store()?.list()?.heads;
    let latest = [("latest", Of::Host), ("latest:linux", Of::Linux), ("latest:lab", Of::Lab)];
    let is_there = |(_, of): &(&str, Of)| heads.iter().any(|head| of.is(&head.place));
    let latest = latest.into_iter().filter(is_there).map(|(word, _)| word);
    let names =
        heads.iter().filter_map(|head| head.name.as_deref()).filter(|name| runs::is_name(name).is_ok());
    print(names.chain(latest).map(|name| format!("{name}\n")).collect::<String>().as_bytes())
}

/// The run that a word names.
fn named(store: &Store, word: &str) -> Result<Head, Error> {
    let name = word.parse().map_err(|()| {
        measure::Error::Usage(format!(
            "\"{}\" names no kept run: that is a name, an id or latest",
            report::plain(word)
        ))
    })?;
    Ok(store.find(&name)?)
}

fn rename(word: &str, name: Option<&str>) -> Result<ExitCode, Error> {
    let store = store()?;
    let head = named(&store, word)?;
    store.rename(&head.id, name)?;
    Ok(ExitCode::SUCCESS)
}

fn tag(word: &str, tags: &[Tag]) -> Result<ExitCode, Error> {
    let store = store()?;
    let head = named(&store, word)?;
    store.label(&head.id, |head| {
        for tag in tags {
            if tag.value.is_empty() {
                head.tags.remove(&tag.key);
            } else {
                head.tags.insert(tag.key.clone(), tag.value.clone());
            }
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// All of them, or none if one is not there.
fn remove(words: &[String]) -> Result<ExitCode, Error> {
    let store = store()?;
    let mut ids = words.iter().map(|word| Ok(named(&store, word)?.id)).collect::<Result<Vec<_>, Error>>()?;
    ids.sort();
    ids.dedup();
    for id in ids {
        store.remove(&id)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn prune(keep: &Keep, dry_run: bool) -> Result<ExitCode, Error> {
    let store = store()?;
    let (heads, goes) = store.prune(keep, SystemTime::now(), dry_run)?;
    note_misdated(&heads);
    note(&format!(
        "{} of {} runs {}",
        goes.len(),
        heads.len(),
        if dry_run { "would be removed" } else { "were removed" }
    ));
    if !dry_run || goes.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let style = Style { color: false, width: WIDTH, verbose: false, selection: Selection::All };
    let listed = Listed { heads: goes, skipped: Vec::new() };
    print(&report::runs(&listed, Format::Text, &style)?)
}

fn verify() -> Result<ExitCode, Error> {
    let verified = store()?.verify()?;
    for skipped in &verified.skipped {
        note(&format!("{}: {}", report::plain_os(skipped.file.as_os_str()), skipped.why));
    }
    let (whole, damaged) = (verified.heads.len(), verified.skipped.len());
    note(&format!("{whole} of {} files are whole runs", whole + damaged));
    Ok(if damaged == 0 { ExitCode::SUCCESS } else { ExitCode::from(DAMAGED) })
}

//! `kentry fleet`: the summaries of many machines, judged. Nothing here uses the network, and nothing is measured.

use crate::error::Error;
use crate::exit::{DAMAGED, INCONCLUSIVE, REGRESSION};
use crate::input::KeptRuns;
use crate::messages::note;
use crate::options::output::{ShowArgs, formats};
use crate::summaries::{Damaged, each};
use clap::{Args, ValueHint};
use fleet::{Answer, Fleet, Settings, UnknownFact};
use report::Kind;
use std::path::PathBuf;
use std::process::ExitCode;

/// `--all` and `--verbose` of a fleet.
const ALL: &str = "The same as --verbose";
const VERBOSE: &str = "Show every odd host, every row and every cohort";

/// Options of `fleet`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", formats(Kind::FLEET)), mut_arg("all", |arg| arg.help(ALL).hide(true)), mut_arg("verbose", |arg| arg.help(VERBOSE)))]
pub struct FleetArgs {
    /// Summaries (kentry --summary FILE), saved runs (--output FILE.json), kept runs, packed by gzip or not; tables of Parquet; of folders every file that
    /// ends in .ndjson, .jsonl, .json, .gz or .parquet
    #[arg(value_name = "PATH", required_unless_present_all = ["before", "after"], value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// What a roll-out changed: its hosts before; may be given several times
    #[arg(long, value_name = "PATH", requires = "after", conflicts_with = "paths", value_hint = ValueHint::AnyPath)]
    pub before: Vec<PathBuf>,
    /// The same hosts after; may be given several times
    #[arg(long, value_name = "PATH", requires = "before", conflicts_with = "paths", value_hint = ValueHint::AnyPath)]
    pub after: Vec<PathBuf>,
    /// Also split cohorts by this fact: kernel, microcode, smt, c-library, ...; may be given several times
    #[arg(long, value_name = "FACT", value_hint = ValueHint::Other)]
    pub by: Vec<String>,
    /// Of a roll-out: end with 1 if a row of a stratum costs more by this for sure, as 3%
    #[arg(long, value_name = "LIMIT", value_parser = percent)]
    pub fail_above: Option<f64>,
    /// End with 0 wherever a result was written
    #[arg(long, hide_short_help = true)]
    pub exit_zero: bool,
    /// How to show it, and where
    #[command(flatten)]
    pub show: ShowArgs,
}

impl FleetArgs {
    fn settings(&self) -> Settings {
        Settings { by: self.by.clone(), fail_above_percent: self.fail_above }
    }
}

/// `3%`
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let limit = number.filter(|limit| limit.is_finite() && *limit > 0.0);
    limit.ok_or_else(|| "a limit is a percentage above 0, as 3%".to_owned())
}

/// Judges hosts, or a roll-out.
pub fn run(args: &FleetArgs) -> Result<ExitCode, Error> {
    if args.fail_above.is_some() && args.before.is_empty() {
        let why = "--fail-above: there is nothing that may regress without --before and --after";
        return Err(Error::Usage(why.into()));
    }
    let outputs = args.show.to.open(Kind::FLEET)?;
    let look = args.show.look(true);
    let settings = args.settings();
    let mut read = Read::default();
    let ended = if args.before.is_empty() {
        let judgement = read.fleet(&args.paths)?.judge(&settings).map_err(unknown)?;
        outputs.write(look, |format, style| report::fleet(&judgement, format, style))?;
        ExitCode::SUCCESS
    } else {
        let before = read.fleet(&args.before)?;
        let rollout = before.roll_out(&read.fleet(&args.after)?, &settings).map_err(unknown)?;
        outputs.write(look, |format, style| report::roll_out(&rollout, format, style))?;
        rollout.gate.as_ref().map_or(ExitCode::SUCCESS, |gate| code(gate.answer))
    };
    let is_whole = read.say_damaged();
    Ok(match ended {
        _ if args.exit_zero => ExitCode::SUCCESS,
        ended if ended != ExitCode::SUCCESS || is_whole => ended,
        _ => ExitCode::from(DAMAGED),
    })
}

/// As `compare`'s gate.
fn code(answer: Answer) -> ExitCode {
    match answer {
        Answer::Pass => ExitCode::SUCCESS,
        Answer::Regression => ExitCode::from(REGRESSION),
        Answer::Inconclusive => ExitCode::from(INCONCLUSIVE),
    }
}

fn unknown(error: UnknownFact) -> Error {
    Error::Usage(format!("--by: {error}"))
}

/// What was read.
#[derive(Default)]
struct Read {
    damaged: Vec<Damaged>,
}

/// No more damaged files are named each by itself.
const MOST_NAMED: usize = 20;

impl Read {
    /// The hosts in files.
    fn fleet(&mut self, paths: &[PathBuf]) -> Result<Fleet, Error> {
        let mut fleet = Fleet::new();
        let mut runs = 0;
        let damaged = each(paths, &KeptRuns::default(), &mut |one| {
            runs += 1;
            fleet.add(&one.label, &one.summary);
        })?;
        self.damaged.extend(damaged);
        if runs == 0 {
            self.say_damaged();
            return Err(Error::Usage("there is nothing to judge: no run could be read".into()));
        }
        Ok(fleet)
    }

    /// Names what was left out; returns whether that is nothing.
    fn say_damaged(&self) -> bool {
        for Damaged { file, why, runs } in self.damaged.iter().take(MOST_NAMED) {
            let left_out = match runs {
                0 => "left out".to_owned(),
                1 => "left out behind its first run".to_owned(),
                runs => format!("left out behind its first {runs} runs"),
            };
            note(&format!("{}: {left_out}: {why}", report::plain_os(file.as_os_str())));
        }
        if self.damaged.len() > MOST_NAMED {
            note(&format!("{} more files are damaged and were left out", self.damaged.len() - MOST_NAMED));
        }
        self.damaged.is_empty()
    }
}

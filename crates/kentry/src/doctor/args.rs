//! The command line of `kentry doctor`.

use crate::error::Error;
use crate::exit::{DOCTOR_STATUS, NAGIOS, codes};
use crate::options::output::{OutputArgs, formats};
use crate::options::time::{TimeArgs, of_one_kind};
use crate::options::values::one_of;
use clap::{Args, ValueHint};
use document::Level;
use findings::doctor::Check;
use report::{Format, Kind};
use std::ffi::OsString;

/// The time for rows, in seconds: with all that is looked at besides, a checkup then takes less than ten.
const DOCTOR_BUDGET: u32 = 5;

/// The same where a process is looked at: two rows tell what its filters may cost.
const PID_BUDGET: u32 = 1;

/// `--budget` of `doctor`.
const TIME: &str = "How long to measure rows [default: 5; 1 with --pid]";

/// `--cpu` of `doctor`.
const ONE_CPU: &str = "Measure on this CPU alone [default: whichever CPU is quiet, among fast cores]";

/// From which level on the exit status is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailOn {
    /// From this one.
    Level(Level),
    /// From none.
    Never,
}

impl FailOn {
    const ALL: [FailOn; 4] = [
        FailOn::Level(Level::Note),
        FailOn::Level(Level::Warning),
        FailOn::Level(Level::Critical),
        FailOn::Never,
    ];

    fn name(self) -> &'static str {
        match self {
            FailOn::Level(level) => level.name(),
            FailOn::Never => "never",
        }
    }

    /// The level, unless it is never.
    pub fn level(self) -> Option<Level> {
        match self {
            FailOn::Level(level) => Some(level),
            FailOn::Never => None,
        }
    }
}

/// What to look at, and how to say it.
#[derive(Debug, Clone, Args)]
#[command(
    mut_arg("format", formats(Kind::CHECKUP)),
    mut_arg("budget", |arg| arg.help(TIME)),
    mut_arg("strict_budget", |arg| arg.hide(true)),
    mut_arg("cpu", of_one_kind(ONE_CPU))
)]
pub struct DoctorArgs {
    /// Make this check alone; may be given several times (--list shows all)
    #[arg(long, value_name = "NAME", value_parser = one_of(Check::ALL, Check::name))]
    pub check: Vec<Check>,
    /// List the checks
    #[arg(long, conflicts_with_all = ["check", "fail_on", "pid", "cpu", "budget", "strict_budget", "seed", "realtime", "verbose", "command"])]
    pub list: bool,
    /// End with 1 if a finding is at this level or worse [default: warning]
    #[arg(long, value_name = "LEVEL", value_parser = one_of(&FailOn::ALL, FailOn::name))]
    pub fail_on: Option<FailOn>,
    /// Look at what this process carries into its calls, instead of this machine
    #[arg(long, value_name = "PID", value_hint = ValueHint::Other, conflicts_with_all = ["check", "command"], value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: Option<u32>,
    /// How to measure
    #[command(flatten)]
    pub time: TimeArgs,
    /// How to show it, and where
    #[command(flatten)]
    pub to: OutputArgs,
    /// Show the evidence of all findings
    #[arg(short, long)]
    pub verbose: bool,
    /// Look at what programs find behind this command (a container, setpriv, unshare), and what it adds: kentry runs behind it
    #[arg(last = true, value_name = "COMMAND", value_hint = ValueHint::CommandName)]
    pub command: Vec<OsString>,
}

impl DoctorArgs {
    /// The level from which on it fails; none if never.
    pub fn fails_on(&self) -> Option<Level> {
        self.fail_on.map_or(Some(Level::Warning), FailOn::level)
    }

    /// The checks to make.
    pub fn checks(&self) -> Vec<Check> {
        match (self.pid, self.check.is_empty()) {
            (Some(_), _) => vec![Check::Carried],
            (None, true) => Check::ALL.to_vec(),
            (None, false) => Check::ALL.iter().copied().filter(|check| self.check.contains(check)).collect(),
        }
    }

    /// The time for rows, in seconds, unless it is asked for.
    pub fn usual_budget(&self) -> u32 {
        if self.pid.is_some() { PID_BUDGET } else { DOCTOR_BUDGET }
    }

    /// Whether it answers Nagios, which knows exit statuses of its own.
    pub fn is_for_nagios(&self) -> bool {
        self.to.format == Some(Format::Nrpe)
    }

    /// Refuses what cannot be measured.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub fn validate(&self) -> Result<(), Error> {
        self.time.one_kind("a checkup is")
    }
}

/// What stands below the long help.
pub fn doctor_help() -> String {
    format!("Exit status:\n{}\n{NAGIOS}\n", codes(DOCTOR_STATUS))
}

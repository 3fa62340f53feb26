//! The command line of `kentry impact`.

use crate::error::Error;
use crate::exit::{IMPACT_STATUS, codes, exit_status};
use crate::options::output::{OutputArgs, formats};
use crate::options::time::{TimeArgs, of_one_kind, with_default};
use crate::options::values::{budget, one_of};
use clap::{Args, ValueHint};
use observe::Target;
use report::Kind;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How long a target is watched, in seconds, unless the command line says so.
pub const WATCHED: u64 = 5;

/// The budget of each of the two measurements, in seconds.
pub const IMPACT_BUDGET: u32 = 2;

/// `--cpu` of `impact`.
const ONE_CPU: &str =
    "Measure crossings on this CPU alone [default: whichever CPU is quiet, among fast cores]";

/// What counts calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The tracepoint where it is permitted; of a command, otherwise the filter.
    Auto,
    /// The tracepoint raw_syscalls:sys_enter.
    Tracepoint,
    /// A seccomp filter that asks kentry at each call.
    Filter,
}

impl By {
    const ALL: &'static [By] = &[By::Auto, By::Tracepoint, By::Filter];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            By::Auto => "auto",
            By::Tracepoint => "tracepoint",
            By::Filter => "filter",
        }
    }
}

/// Whose calls to count, and how to show what they cost.
#[derive(Debug, Clone, Args)]
#[command(
    mut_arg("format", formats(Kind::IMPACT)),
    mut_arg("budget", with_default(IMPACT_BUDGET)),
    mut_arg("cpu", of_one_kind(ONE_CPU))
)]
pub struct ImpactArgs {
    /// Count the calls of this process: of all its threads, and of what they make meanwhile
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true, conflicts_with_all = ["cgroup", "system", "command"])]
    pub pid: Option<u32>,
    /// Count the calls of a cgroup of version 2, by the path of its folder
    #[arg(long, value_name = "PATH", value_hint = ValueHint::DirPath, conflicts_with_all = ["system", "command"])]
    pub cgroup: Option<PathBuf>,
    /// Count the calls of all processes
    #[arg(long, conflicts_with = "command")]
    pub system: bool,
    /// Start this command and count its calls and those of its children, until it ends
    #[arg(last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
    /// How long to count [default: 5]; a command is ended then [default: until it ends]
    #[arg(long, value_name = "SECONDS", value_parser = budget, allow_negative_numbers = true)]
    pub seconds: Option<Duration>,
    /// What counts: the tracepoint raw_syscalls:sys_enter, a seccomp filter (of a command only, and without privileges), or, with auto, the
    /// first of them that is permitted
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = one_of(By::ALL, By::name), hide_short_help = true)]
    pub method: By,
    /// How crossings are measured
    #[command(flatten)]
    pub time: TimeArgs,
    /// What the result is written as, and where
    #[command(flatten)]
    pub to: OutputArgs,
    /// Show every call and every process
    #[arg(short, long)]
    pub verbose: bool,
}

impl ImpactArgs {
    /// Whose calls are counted; none for those of a command.
    ///
    /// # Errors
    /// [`Error::Usage`] where only a command's can be counted so.
    pub fn target(&self) -> Result<Option<Target>, Error> {
        let target = match (self.pid, &self.cgroup, self.system) {
            (Some(pid), ..) => Some(Target::Process(pid)),
            (None, Some(path), _) => Some(Target::Cgroup(path.clone())),
            (None, None, true) => Some(Target::System),
            (None, None, false) => None,
        };
        if target.is_none() && self.command.is_empty() {
            return Err(Error::Usage("say whose calls: --pid, --cgroup, --system or -- COMMAND".into()));
        }
        match target {
            Some(_) if self.method == By::Filter => {
                let why = "--method filter: a filter is put on when a program starts; use it with -- COMMAND";
                Err(Error::Usage(why.into()))
            }
            other => Ok(other),
        }
    }
}

/// The exit codes.
pub(crate) fn impact_help() -> String {
    format!(
        "{}\nWith -- COMMAND, the exit status is the command's (0 where --seconds ended it), or one of these:\n{}",
        exit_status(&[]),
        codes(IMPACT_STATUS)
    )
}

#[cfg(test)]
mod tests {
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn parsed(line: &str) -> Result<super::ImpactArgs, String> {
        match Cli::try_parse_from(line.split(' ')).map_err(|error| error.to_string())?.command {
            Some(Command::Impact(args)) => Ok(*args),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn one_thing_is_watched() {
        for line in
            ["--pid 3", "--cgroup /sys/fs/cgroup", "--system --seconds 2", "-- true", "-- ls -l --all"]
        {
            assert!(parsed(&format!("kentry impact {line}")).is_ok(), "{line}");
        }
        for line in [
            "--pid 0",
            "--pid -1",
            "--pid x",
            "--pid 3 --system",
            "--system -- true",
            "--seconds 0 -- true",
            "true",
        ] {
            assert!(parsed(&format!("kentry impact {line}")).is_err(), "{line}");
        }
        assert_eq!(parsed("kentry impact -- ls -l").unwrap().command, ["ls", "-l"]);
        let of = |line: &str| parsed(line).unwrap().target();
        assert!(of("kentry impact --method filter --pid 3").is_err());
        assert!(of("kentry impact").is_err_and(|error| error.to_string().contains("whose calls")));
        assert!(of("kentry impact --method filter -- true").unwrap().is_none());
    }
}

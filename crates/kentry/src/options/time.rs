//! How this Linux is measured: options of every command that does, and the plan that they make.

use crate::error::Error;
use crate::options::values::{budget, cpus, seed};
use clap::{Arg, Args};
use measure::{CpuChoice, HostPlan, TableRow};
use std::time::Duration;

/// Where, how long and in which order to measure.
#[derive(Debug, Clone, Default, Args)]
pub struct TimeArgs {
    /// Measure on this CPU alone, or on each kind of core (all) [default: whichever CPU is quiet, among fast cores]
    #[arg(long, value_name = "NUMBER|all", value_parser = cpus, allow_negative_numbers = true)]
    pub cpu: Option<CpuChoice>,
    /// How long to measure; for rows that then lack quiet rounds, kentry goes on for up to three times as long
    #[arg(long, value_name = "SECONDS", value_parser = budget, allow_negative_numbers = true)]
    pub budget: Option<Duration>,
    /// Stop when the budget is used up, though not before one round of every row
    #[arg(long, hide_short_help = true)]
    pub strict_budget: bool,
    /// Draw the order of the rounds from this number (at most 2^53) instead of a random one
    #[arg(long, value_name = "NUMBER", value_parser = seed, allow_negative_numbers = true, hide_short_help = true)]
    pub seed: Option<u64>,
    /// Run the probes with real-time priority (SCHED_FIFO), where permitted
    #[arg(long, hide_short_help = true)]
    pub realtime: bool,
}

impl TimeArgs {
    /// The plan for these rows; `usual` is the command's budget in seconds, and `drawn` the seed, unless the command line names them.
    pub fn plan<'a>(&self, rows: Vec<TableRow<'a>>, usual: u32, drawn: u32) -> HostPlan<'a> {
        HostPlan {
            rows,
            footprints: Vec::new(),
            cpus: self.cpus(),
            budget: self.budget.unwrap_or(Duration::from_secs(usual.into())),
            strict_budget: self.strict_budget,
            seed: self.seed.unwrap_or(u64::from(drawn)),
            realtime: self.realtime,
        }
    }

    /// The CPUs to choose from.
    pub fn cpus(&self) -> CpuChoice {
        self.cpu.unwrap_or(CpuChoice::Quiet)
    }

    /// Refuses `--cpu all` where the figures have room for one kind of core; `why` says what they are.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub fn one_kind(&self, why: &str) -> Result<(), Error> {
        match self.cpus() {
            CpuChoice::EveryKind => {
                Err(Error::Usage(format!("--cpu all: {why} of one kind of core; name a CPU")))
            }
            CpuChoice::Only(_) | CpuChoice::Quiet => Ok(()),
        }
    }

    /// The options that were given, as they are written.
    pub fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--cpu", self.cpu.is_some()),
            ("--budget", self.budget.is_some()),
            ("--strict-budget", self.strict_budget),
            ("--seed", self.seed.is_some()),
            ("--realtime", self.realtime),
        ];
        all.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }
}

/// The option with its help, to which the command's default is added.
pub(crate) fn with_default(seconds: u32) -> impl FnOnce(Arg) -> Arg {
    move |arg| {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        arg.help(format!("{help} [default: {seconds}]"))
    }
}

/// `--cpu` of a command that measures one kind of core.
pub(crate) fn of_one_kind(help: &'static str) -> impl FnOnce(Arg) -> Arg {
    move |arg| arg.value_name("NUMBER").help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_that_measures_has_these_options_and_tells_its_own_default() {
        let mut command = Cli::command();
        let option = |command: &clap::Command, name: &str| {
            let found = command.get_arguments().find(|arg| arg.get_id() == name);
            found.map(|arg| arg.get_help().unwrap().to_string())
        };
        assert!(option(&command, "budget").unwrap().ends_with("as long [default: 4]"));
        for (name, default) in [("measure", 4), ("impact", 2), ("compare", 10), ("reproduce", 2)] {
            let found = command.find_subcommand_mut(name).unwrap();
            let budget = option(found, "budget").unwrap();
            assert!(budget.ends_with(&format!(" [default: {default}]")), "{name}: {budget}");
            assert_eq!(budget.matches("default").count(), 1, "{name}: {budget}");
            for other in ["cpu", "strict_budget", "seed", "realtime"] {
                assert!(option(found, other).is_some(), "{name} --{other}");
            }
            assert_eq!(option(found, "cpu").unwrap().contains("(all)"), name == "measure");
        }
    }

    #[test]
    fn a_plan_has_what_was_asked_for_or_the_commands_own() {
        let plan = TimeArgs::default().plan(Vec::new(), 7, 9);
        assert_eq!((plan.budget, plan.seed, plan.cpus), (Duration::from_secs(7), 9, CpuChoice::Quiet));
        let asked = TimeArgs {
            cpu: Some(CpuChoice::Only(3)),
            seed: Some(1),
            strict_budget: true,
            ..TimeArgs::default()
        };
        let plan = asked.plan(Vec::new(), 7, 9);
        assert_eq!((plan.seed, plan.cpus, plan.strict_budget), (1, CpuChoice::Only(3), true));
        assert_eq!(asked.given(), ["--cpu", "--strict-budget", "--seed"]);
        assert!(asked.one_kind("it is").is_ok());
        let all = TimeArgs { cpu: Some(CpuChoice::EveryKind), ..TimeArgs::default() };
        let error = all.one_kind("arms are").unwrap_err().to_string();
        assert_eq!(error, "--cpu all: arms are of one kind of core; name a CPU");
    }
}

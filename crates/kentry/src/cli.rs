//! The command line.

use crate::anatomy::args::{AnatomyArgs, anatomy_help};
use crate::bill::args::{BillArgs, bill_help, bill_timeout};
use crate::catalogue::CatalogueArgs;
use crate::compare::args::{COMPARE_USAGE, CompareArgs, compare_help};
use crate::doctor::args::{DoctorArgs, doctor_help};
use crate::exit::{NOISY_STATUS, exit_status, fleet_status};
use crate::explain::ExplainArgs;
use crate::export::ExportArgs;
use crate::fleet::FleetArgs;
use crate::impact::args::{ImpactArgs, impact_help};
use crate::lab::args::{LabArgs, lab_help};
use crate::linux::args::{LinuxArgs, linux_help};
use crate::list::ListArgs;
use crate::measure::args::MeasureArgs;
use crate::report::ReportArgs;
use crate::reproduce::ReproduceArgs;
use crate::runs::RunsArgs;
use crate::show::ShowFileArgs;
use crate::tax::args::{TaxArgs, tax_help};
use clap::{Parser, Subcommand, ValueHint};
use std::path::PathBuf;

/// What stands below the short help.
const MORE: &str = "--help shows all options, and more.";

/// Measures every way into an x86 kernel: what each entry costs, and why.
///
/// Without a subcommand, kentry measures this machine, like `kentry measure`.
#[derive(Debug, Parser)]
#[command(name = "kentry", version, after_help = MORE, after_long_help = exit_status(&[NOISY_STATUS]), args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of `measure`.
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure the Linux that this runs on (the default)
    #[command(after_help = MORE, after_long_help = exit_status(&[NOISY_STATUS]))]
    Measure(MeasureArgs),
    /// Say what is wrong with this machine's clocks, entries and protections, what that costs, and what to do
    #[command(after_help = MORE, after_long_help = doctor_help())]
    Doctor(DoctorArgs),
    /// Tell what share of a program's CPU time goes into the entries of its system calls, and what would give it back
    #[command(after_help = MORE, after_long_help = impact_help())]
    Impact(Box<ImpactArgs>),
    /// Measure kentry's own kernel in a virtual machine: it has every entry, and protections that can be switched
    #[command(after_help = MORE, after_long_help = lab_help())]
    Lab(LabArgs),
    /// Measure a Linux in a virtual machine: kernels, parameters and processors side by side
    #[command(after_help = MORE, after_long_help = linux_help())]
    Linux(Box<LinuxArgs>),
    /// Show what each protection adds to an entry, by name: alone and beside the others, until the path adds up
    #[command(after_help = MORE, after_long_help = bill_help(), mut_arg("timeout", bill_timeout))]
    Bill(BillArgs),
    /// Follow one use of an entry through a Linux in a virtual machine, and name every instruction
    #[command(after_help = MORE, after_long_help = anatomy_help())]
    Anatomy(AnatomyArgs),
    /// List the runs that are kept, the newest first; or show, rename, tag, remove, prune or verify them
    #[command(args_conflicts_with_subcommands = true, after_help = MORE, after_long_help = exit_status(&[]))]
    Runs(RunsArgs),
    /// Show kept runs, saved documents, bills or anatomies, in any format
    #[command(after_help = MORE, after_long_help = exit_status(&[]))]
    Show(ShowFileArgs),
    /// Measure here what somebody has published, as its author did and as kentry does, side by side
    #[command(after_help = MORE, after_long_help = exit_status(&[]))]
    Reproduce(ReproduceArgs),
    /// Measure what a seccomp filter, a tracer and other layers between a program and the kernel would add to its calls here
    #[command(after_help = MORE, after_long_help = tax_help())]
    Tax(TaxArgs),
    /// Compare runs: which entries got slower or faster, opened or closed, and whether that can be told
    #[command(after_help = MORE, after_long_help = compare_help(), override_usage = COMPARE_USAGE)]
    Compare(CompareArgs),
    /// Write a page of HTML about a run, or about several side by side; it holds all it needs, and opens offline
    #[command(after_help = MORE, after_long_help = exit_status(&[]))]
    Report(ReportArgs),
    /// Tell which machines of a fleet are odd, and why; or what a roll-out changed, by generation
    #[command(after_help = MORE, after_long_help = fleet_status())]
    Fleet(FleetArgs),
    /// Write runs for other programs, without their rounds: lines of JSON, CSV, Parquet, metrics for Prometheus
    #[command(after_help = MORE, after_long_help = exit_status(&[]))]
    Export(ExportArgs),
    /// Write a site of HTML about many runs, machines by entries, that any web server can publish and that opens offline
    #[command(after_help = MORE, after_long_help = exit_status(&[]))]
    Catalogue(CatalogueArgs),
    /// List the entries of Linux and their operations; with --lab those of the lab, its switches and its profiles
    #[command(after_help = MORE, after_long_help = exit_status(&[]))]
    List(ListArgs),
    /// Explain an entry (history, hardware, Linux, registers, return), an operation, a protection by its own or by its attack's name
    /// (pti, KAISER, Meltdown), a profile, a finding or a part of an anatomy
    #[command(after_help = MORE, after_long_help = exit_status(&[]))]
    Explain(ExplainArgs),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the probes to a folder, for another kentry that compares them with its own
    #[command(hide = true)]
    Probes {
        /// A folder that is there
        #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Print the manual page, or that of a subcommand; `kentry man | man -l -` shows it
    Man {
        /// Which subcommand, or which of its own: lab, runs, runs prune
        #[arg(value_name = "SUBCOMMAND")]
        subcommand: Vec<String>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_is_always_shown_whole_has_no_option_for_more_rows() {
        let parses = |line: &str| Cli::try_parse_from(line.split(' ')).is_ok();
        for command in ["list", "runs", "runs list", "reproduce example", "reproduce --list"] {
            assert!(parses(&format!("kentry {command} --color never --format csv")), "{command}");
            assert!(!parses(&format!("kentry {command} --all")), "{command}");
        }
        assert!(parses("kentry reproduce example --verbose") && !parses("kentry reproduce --list --verbose"));
        assert!(!parses("kentry list --verbose") && !parses("kentry runs --verbose"));
        assert!(parses("kentry show latest --all --verbose"));
    }

    #[test]
    fn every_short_help_is_shorter_than_the_long_one() {
        let command = Cli::command();
        for mut command in
            command.get_subcommands().filter(|one| one.get_after_long_help().is_some()).cloned()
        {
            let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
            let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
            assert!(lines(&short) < lines(&long), "{}: {short}", command.get_name());
        }
    }
}

//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use report::Format;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "\
Exit status:
  0    done
  1    a result could not be written
  2    wrong usage
  3    the environment does not allow measuring
  130  interrupted (SIGINT, SIGTERM); what was measured so far is still printed, marked partial";

const LAB_UNFINISHED: &str =
    "  4    the guest did not come to the plan's end; what was measured is still printed, marked partial";

const LAB_EXIT_CODES: &str = "\
With --exec, the exit status is the program's, or
  125      kentry itself failed, or --timeout passed
  126      the program cannot be loaded
  127      there is no such program
  128 + n  signal n ended the program";

/// Measures every way into an x86 kernel: what each entry costs, and why.
///
/// Without a subcommand, measures: the same as `kentry measure`.
#[derive(Debug, Parser)]
#[command(name = "kentry", version, after_help = EXIT_CODES, args_conflicts_with_subcommands = true)]
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
    #[command(after_help = EXIT_CODES)]
    Measure(MeasureArgs),
    /// Measure kentry's own kernel, in which every entry and protection is there, in a virtual machine
    #[command(after_help = lab_help())]
    Lab(LabArgs),
    /// List every entry, its operations and what it is
    List(ListArgs),
    /// Explain an entry: history, hardware, Linux, registers, return
    Explain(ExplainArgs),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or that of a subcommand
    Man {
        /// Which subcommand
        subcommand: Option<String>,
    },
}

/// What to measure, and how to show it.
#[derive(Debug, Clone, Args)]
pub struct MeasureArgs {
    /// Only entries of this name or glob (*, ?, [...]); may be given several times
    #[arg(short, long, value_name = "GLOB", value_hint = ValueHint::Other)]
    pub entry: Vec<String>,
    /// Only operations of this name or glob (*, ?, [...]); may be given several times
    #[arg(short, long, value_name = "GLOB", value_hint = ValueHint::Other)]
    pub operation: Vec<String>,
    /// Measure on this CPU instead of the last that this process may use
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub cpu: Option<usize>,
    /// How long to measure; more time, narrower intervals
    #[arg(long, value_name = "SECONDS", default_value = "4", value_parser = budget, allow_negative_numbers = true)]
    pub budget: Duration,
    /// Draw the order of the rounds from this number (at most 2^53) instead of a random one
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(..=1 << 53))]
    pub seed: Option<u64>,
    /// Run the probes with real-time priority (SCHED_FIFO), where permitted
    #[arg(long)]
    pub realtime: bool,
    /// Print what would be measured, and measure nothing
    #[arg(long)]
    pub dry_run: bool,
    /// How to show it, and where
    #[command(flatten)]
    pub show: ShowArgs,
}

/// What to measure in the lab, on what, and how to show it.
#[derive(Debug, Clone, Args)]
pub struct LabArgs {
    /// Only entries of this name or glob (*, ?, [...]); may be given several times
    #[arg(short, long, value_name = "GLOB", value_hint = ValueHint::Other)]
    pub entry: Vec<String>,
    /// Only operations of this name or glob (*, ?, [...]); may be given several times
    #[arg(short, long, value_name = "GLOB", value_hint = ValueHint::Other)]
    pub operation: Vec<String>,
    /// Measure with these switches of the kernel; each time it is given is one configuration, and all are compared
    #[arg(short, long, value_name = "SWITCH=VALUE,...", value_hint = ValueHint::Other)]
    pub set: Vec<String>,
    /// What executes the kernel's instructions
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub accel: Accel,
    /// The processor, as the emulator names it (qemu-system-x86_64 -cpu help, bochs -help cpu), with a 64-bit mode;
    /// `auto` is `tcg` then [default: max,vendor=GenuineIntel; with --bochs tigerlake]
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other, value_parser = cpu_model)]
    pub cpu_model: Option<String>,
    /// How long the guest may take [default: 60; with --bochs, which takes some 20 seconds for each --set, 600]
    #[arg(long, value_name = "SECONDS", value_parser = budget, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
    /// Draw order, address layout and random bytes from this number (at most 2^53)
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = clap::value_parser!(u64).range(..=1 << 53))]
    pub seed: u64,
    /// Run in Bochs, which is slow, but has what QEMU's emulation lacks: PCID
    #[arg(long, conflicts_with = "accel")]
    pub bochs: bool,
    /// Measure nothing here, but write a bootable image, for hardware; it shows its results on screen and serial line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["accel", "cpu_model", "timeout", "bochs", "exec", "dry_run", "format", "output"])]
    pub iso: Option<PathBuf>,
    /// Run this statically linked Linux program in the lab instead; everything behind belongs to it
    #[arg(
        long,
        value_names = ["PROGRAM", "ARGUMENT"],
        num_args = 1..,
        allow_hyphen_values = true,
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["entry", "operation", "dry_run", "format", "output", "color", "verbose"]
    )]
    pub exec: Vec<OsString>,
    /// Print what would be measured, and measure nothing
    #[arg(long)]
    pub dry_run: bool,
    /// How to show it, and where
    #[command(flatten)]
    pub show: ShowArgs,
}

impl LabArgs {
    /// The longest that a guest may take.
    pub fn time(&self) -> Duration {
        let usual = if self.bochs { 600 } else { 60 };
        self.timeout.unwrap_or(Duration::from_secs(usual))
    }
}

/// What executes the lab kernel's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Accel {
    /// KVM where it runs ring 0 natively, otherwise TCG
    Auto,
    /// The processor, by KVM: times
    Kvm,
    /// QEMU's own emulation: instructions are counted
    Tcg,
}

/// How to show a result, and where.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = format())]
    pub format: Format,
    /// Write the result to this file, whole or not at all, instead of standard output (-)
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// When to use color; NO_COLOR is respected too
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Show more columns, and rows that have the same outcome one by one
    #[arg(short, long)]
    pub verbose: bool,
}

/// Options of `list`.
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// How to show it, and where
    #[command(flatten)]
    pub show: ShowArgs,
}

/// Options of `explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// Which entry; `kentry list` has them all
    pub entry: String,
    /// Print a complete small program that says hello through this entry
    #[arg(long)]
    pub example: bool,
    /// A run saved with --format json --output FILE, to take this machine's numbers from; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "example")]
    pub run: Option<PathBuf>,
}

/// When to use color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What `--set` can name, and the exit codes.
fn lab_help() -> String {
    let mut text = String::from("Switches (--set):\n");
    for switch in &table::Table::get().switches {
        let (values, default) = (switch.values.join("|"), &switch.default);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {}={values}, by default {default}\n    {}", switch.name, switch.what);
    }
    format!("{text}\n{EXIT_CODES}\n{LAB_UNFINISHED}\n\n{LAB_EXIT_CODES}")
}

/// The most that a duration argument may be: a week.
const LONGEST: f64 = 7.0 * 24.0 * 3600.0;

fn budget(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_string())?;
    if !(seconds > 0.0 && seconds <= LONGEST) {
        return Err(format!("must be more than 0 and at most {LONGEST} seconds"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// What QEMU takes for a question is no name.
fn cpu_model(text: &str) -> Result<String, String> {
    if text.is_empty() || text == "help" || text == "?" {
        return Err("not the name of a processor; `qemu-system-x86_64 -cpu help` lists them".into());
    }
    Ok(text.to_string())
}

fn format() -> impl clap::builder::TypedValueParser<Value = Format> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(["text", "json", "csv", "markdown"])
        .try_map(|name: String| name.parse::<Format>().map_err(|error| error.to_string()))
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
    fn a_budget_is_a_positive_number_of_seconds() {
        assert_eq!(budget("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["0", "-1", "nan", "inf", "1e300", "", "4s"] {
            assert!(budget(bad).is_err(), "{bad}");
        }
    }
}

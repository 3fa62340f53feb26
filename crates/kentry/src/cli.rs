//! The command line.

use crate::anatomy_args::{AnatomyArgs, AnatomyOutputArgs, anatomy_help};
use crate::bill_args::{BillArgs, bill_help, bill_timeout};
use crate::compare_args::{BISECT_STATUS, COMPARE_STATUS, CompareArgs};
use crate::error::Error;
use crate::footprint_args::FootprintArgs;
pub use crate::guest_args::Accel;
use crate::guest_args::{GuestArgs, LAB_SECONDS};
use crate::linux_args::{LinuxArgs, linux_help};
use crate::row_args::RowArgs;
use crate::time_args::{TimeArgs, of_one_kind, with_default};
use crate::too_noisy::{Share, USUAL};
use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use measure::lab::Options;
use measure::{CpuChoice, HostPlan};
use report::Format;
use runs::Tag;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;
use table::Table;

/// Exit codes, and what they mean.
pub const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "done"),
    ("1", "a result could not be written, or a run not kept, or not with its --name"),
    ("2", "wrong usage"),
    ("3", "the environment does not allow measuring"),
    ("130", "interrupted (SIGINT, SIGTERM, SIGHUP, SIGQUIT); what was measured is printed, marked partial"),
];

/// One more for `measure`.
pub const NOISY_STATUS: (&str, &str) = ("6", "too few figures (--fail-if-noisy)");

/// The code of [`NOISY_STATUS`].
pub const NOISY: u8 = 6;

/// One more for `lab`.
pub const LAB_STATUS: &[(&str, &str)] =
    &[("4", "the guest did not finish its plan; what was measured is printed, marked partial")];

/// Exit codes with `--exec`.
pub const EXEC_STATUS: &[(&str, &str)] = &[
    ("125", "kentry itself failed, or the time (--timeout) was up"),
    ("126", "the program cannot be loaded"),
    ("127", "there is no such program"),
    ("128 + n", "signal n ended the program"),
];

/// The budget of `measure`, in seconds.
const MEASURE_BUDGET: u32 = 4;

/// The budget of `reproduce`, in seconds, for kentry's way.
pub const REPRODUCE_BUDGET: u32 = 2;

/// `--cpu` of `reproduce`.
const ONE_CPU: &str = "Measure on this CPU alone [default: whichever CPU is quiet, among fast cores]";

/// Measures every way into an x86 kernel: what each entry costs, and why.
///
/// Without a subcommand, kentry measures this machine, like `kentry measure`.
#[derive(Debug, Parser)]
#[command(name = "kentry", version, after_help = exit_status(&[NOISY_STATUS]), args_conflicts_with_subcommands = true)]
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
    #[command(after_help = exit_status(&[NOISY_STATUS]))]
    Measure(MeasureArgs),
    /// Measure kentry's own kernel in a virtual machine: it has every entry, and protections that can be switched
    #[command(after_help = lab_help())]
    Lab(LabArgs),
    /// Measure a Linux in a virtual machine: kernels, parameters and processors side by side
    #[command(after_help = linux_help())]
    Linux(Box<LinuxArgs>),
    /// Show what each protection adds to an entry, by name: alone and beside the others, until the path adds up
    #[command(after_help = bill_help(), mut_arg("timeout", bill_timeout))]
    Bill(BillArgs),
    /// Follow one use of an entry through a Linux in a virtual machine, and name every instruction
    #[command(after_help = anatomy_help())]
    Anatomy(AnatomyArgs),
    /// List the runs that are kept, the newest first; or show, name, tag, remove or verify them
    #[command(args_conflicts_with_subcommands = true, after_help = exit_status(&[]))]
    Runs(RunsArgs),
    /// Show kept runs, saved documents, bills or anatomies, in any format
    Show(ShowFileArgs),
    /// Measure here what somebody has published, as its author did and as kentry does, side by side
    #[command(after_help = exit_status(&[]))]
    Reproduce(ReproduceArgs),
    /// Compare runs: which entries got slower or faster, opened or closed, and whether that can be told
    #[command(after_help = compare_help(), override_usage = COMPARE_USAGE)]
    Compare(CompareArgs),
    /// Write a page of HTML about a run, or about several side by side; it holds all it needs, and opens offline
    #[command(after_help = exit_status(&[]))]
    Report(ReportArgs),
    /// List the entries of Linux and their operations; with --lab those of the lab, its switches and its profiles
    List(ListArgs),
    /// Explain an entry (history, hardware, Linux, registers, return), an operation, a switch of the lab, a profile or a part of
    /// an anatomy
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
        /// Which subcommand
        subcommand: Option<String>,
    },
}

/// `--all` of commands that measure this Linux.
pub(crate) const ALL_ROWS: &str = "Measure and show every row, not only those of the first screen";

/// What to measure, and how to show it.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("budget", with_default(MEASURE_BUDGET)), mut_arg("all", |arg| arg.help(ALL_ROWS)))]
pub struct MeasureArgs {
    /// Which rows
    #[command(flatten)]
    pub rows: RowArgs,
    /// What is touched behind every use
    #[command(flatten)]
    pub footprint: FootprintArgs,
    /// How to measure
    #[command(flatten)]
    pub time: TimeArgs,
    /// End with 6 if more than this share of the rows that work have no figure, or none has one [default share: 10%]
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = USUAL, value_hint = ValueHint::Other)]
    pub fail_if_noisy: Option<Share>,
    /// Print what would be measured, and measure nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Whether to keep it
    #[command(flatten)]
    pub save: SaveArgs,
    /// How to show it, and where
    #[command(flatten)]
    pub show: ShowArgs,
}

/// Whether and how a run is kept.
#[derive(Debug, Clone, Default, Args)]
pub struct SaveArgs {
    /// Do not keep this run; otherwise `kentry runs` lists it
    #[arg(long, conflicts_with_all = ["name", "tag"])]
    pub no_save: bool,
    /// Keep this run under a name, for `kentry show NAME`
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub name: Option<String>,
    /// Keep this run with a remark, such as commit=1a2b3c; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_hint = ValueHint::Other)]
    pub tag: Vec<Tag>,
}

/// What to measure in the lab, on what, and how to show it.
#[derive(Debug, Clone, Args)]
pub struct LabArgs {
    /// Which rows
    #[command(flatten)]
    pub rows: RowArgs,
    /// Measure with these switches of the kernel; each --set is a configuration, and all are shown side by side; --set default sets none
    #[arg(short, long, value_name = "SWITCH=VALUE,...", value_hint = ValueHint::Other)]
    pub set: Vec<String>,
    /// What is touched behind every use
    #[command(flatten)]
    pub footprint: FootprintArgs,
    /// What runs the kernel
    #[command(flatten)]
    pub guest: GuestArgs,
    /// Write a bootable image instead of measuring here; it measures a PC, shows the table on screen and serial line and,
    /// by UEFI, leaves it in a file on the stick
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["footprint", "accel", "cpu_model", "timeout", "bochs", "exec", "dry_run", "format", "output", "no_save", "name", "tag"])]
    pub iso: Option<PathBuf>,
    /// Print the path by which this entry runs through the kernel, as it is built: each step and its instructions; with two
    /// --set, side by side
    #[arg(long, value_name = "ENTRY", value_hint = ValueHint::Other, conflicts_with_all = ["entry", "operation", "footprint", "iso", "exec", "dry_run", "format", "verbose", "all", "no_save", "name", "tag"])]
    pub listing: Option<String>,
    /// Run a static, single-threaded Linux program without files in the lab instead; all words after it are its arguments,
    /// and it reads this command's standard input, up to 64 MiB, unless that is a terminal
    #[arg(
        long,
        value_names = ["PROGRAM", "ARGUMENT"],
        num_args = 1..,
        allow_hyphen_values = true,
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["entry", "operation", "footprint", "dry_run", "format", "output", "color", "verbose", "all", "no_save", "name", "tag"]
    )]
    pub exec: Vec<OsString>,
    /// With --exec: ud2, lock nop, int3 and div are system calls of the program, as for probes; stands before --exec
    #[arg(long, requires = "exec")]
    pub serve_exceptions: bool,
    /// Print what would be measured, and measure nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Whether to keep it
    #[command(flatten)]
    pub save: SaveArgs,
    /// How to show it, and where
    #[command(flatten)]
    pub show: ShowArgs,
}

impl LabArgs {
    /// The options of the lab.
    ///
    /// # Errors
    /// [`Error::Usage`] when a curve is asked for, of rows that are not named.
    pub fn options(&self) -> Result<Options, Error> {
        Ok(Options {
            entry: self.rows.entry.clone(),
            operation: self.rows.operation.clone(),
            set: self.set.clone(),
            footprints: self.footprint.all(self.rows.are_named())?,
            ..self.guest.options(LAB_SECONDS)
        })
    }
}

impl MeasureArgs {
    /// The plan of the measurement; `drawn` is the seed unless the command line names one.
    ///
    /// # Errors
    /// [`Error::Usage`] when a name matches no row, or a curve is asked for without names.
    pub fn plan<'a>(&self, table: &'a Table, drawn: u32) -> Result<HostPlan<'a>, Error> {
        let rows = self.rows.of_linux(table, self.show.all)?;
        let footprints = self.footprint.all(self.rows.are_named())?;
        Ok(HostPlan { footprints, ..self.time.plan(rows, MEASURE_BUDGET, drawn) })
    }
}

/// What a result is written as, and where.
#[derive(Debug, Clone, Args)]
pub struct OutputArgs {
    /// How to show the result [default: what the ending of --output says, .json, .csv, .md or .markdown; otherwise text]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(Format::ALL, Format::name))]
    pub format: Option<Format>,
    /// Write the result to this file, whole or not at all, instead of standard output (-)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = PathBufValueParser::new().try_map(of_result))]
    pub output: Option<PathBuf>,
    /// When to use color; NO_COLOR is respected too
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// How to show rows, and where.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// What they are written as
    #[command(flatten)]
    pub to: OutputArgs,
    /// Show every row, not only those of the first screen; rows that --entry or --operation name are always shown
    #[arg(short, long)]
    pub all: bool,
    /// Show more columns, the evidence for findings, and every row on a line of its own
    #[arg(short, long)]
    pub verbose: bool,
}

/// Commands that make what the ending of a file says and these do not.
const OTHERS: [(&str, &str); 6] = [
    ("html", "`kentry report RUN --output FILE.html` makes a page"),
    ("htm", "`kentry report RUN --output FILE.html` makes a page"),
    ("svg", "`kentry bill` and `kentry anatomy` make pictures"),
    ("folded", "`kentry anatomy` makes folded stacks"),
    ("xml", "`kentry compare` makes JUnit"),
    ("ktap", "`kentry compare` makes KTAP"),
];

/// A file for a result. Text under an ending that promises something else would be read as that.
fn of_result(file: PathBuf) -> Result<PathBuf, String> {
    let ending = file.extension().map(|ending| ending.to_ascii_lowercase());
    let other = OTHERS.iter().find(|(known, _)| ending.as_deref() == Some(known.as_ref()));
    match other {
        Some((_, command)) => Err(format!("text, .json, .csv and .md are made here; {command}")),
        None => Ok(file),
    }
}

impl OutputArgs {
    /// The format that was asked for, or else what the name of the output file says, or else text.
    pub fn format(&self) -> Format {
        let of_file = || self.output.as_deref().and_then(Format::of_file);
        self.format.or_else(of_file).unwrap_or(Format::Text)
    }
}

/// `--format` of `show`.
const SAVED_FORMAT: &str = "How to show it: svg is of bills and anatomies, and parts, tree, listing and folded are of anatomies alone \
                            [default: what the ending of --output says, .json, .csv, .md, .markdown, .svg or .folded; otherwise text]";

/// Options of `show`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.help(SAVED_FORMAT)))]
pub struct ShowFileArgs {
    /// Runs by name, id, latest or latest~1 (the one before), or files that were saved with --output FILE.json, of `kentry bill`
    /// and `kentry anatomy` too; - is standard input
    #[arg(value_name = "RUN", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Which rows
    #[command(flatten)]
    pub rows: RowArgs,
    /// Compute every figure and finding again, from the rounds and the facts in the document
    #[arg(long)]
    pub recompute: bool,
    /// How to show it, and where
    #[command(flatten)]
    pub to: AnatomyOutputArgs,
    /// Show every row, not only those of the first screen; of an anatomy every instruction
    #[arg(short, long)]
    pub all: bool,
    /// Show more columns, the evidence for findings, and every row on a line of its own; of an anatomy its tree, and in a listing
    /// addresses and bytes
    #[arg(short, long)]
    pub verbose: bool,
}

/// Options of `report`.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// Runs by name, id, latest or latest~1 (the one before), or files that were saved with --output FILE.json; - is standard
    /// input. With several, each of the others is compared with the first
    #[arg(value_name = "RUN", default_value = "latest", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Write the page to this file, whole or not at all, instead of standard output (-), which must then not be a terminal
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// The page's title [default: what was measured]
    #[arg(long, value_name = "TEXT", value_hint = ValueHint::Other)]
    pub title: Option<String>,
}

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
    /// Give a run a name, instead of the one that it has
    Rename {
        /// The run: name, id, latest or latest~1
        #[arg(value_name = "RUN", value_hint = ValueHint::Other)]
        run: String,
        /// What it is to be called; nothing to take its name away
        #[arg(value_name = "NAME", value_hint = ValueHint::Other)]
        name: Option<String>,
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

/// Options of `reproduce`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("budget", with_default(REPRODUCE_BUDGET)), mut_arg("cpu", of_one_kind(ONE_CPU)))]
pub struct ReproduceArgs {
    /// Which published table; --list shows all
    #[arg(value_name = "NAME", required_unless_present = "list", value_hint = ValueHint::Other)]
    pub table: Option<String>,
    /// List the published tables
    #[arg(long, conflicts_with_all = ["table", "lab", "guest", "cpu", "budget", "strict_budget", "seed", "realtime", "no_save", "name", "tag", "verbose"])]
    pub list: bool,
    /// Add what it takes in the lab, kentry's own kernel, which has entries and protections that this Linux lacks
    #[arg(long)]
    pub lab: bool,
    /// Add what it takes in guests that boot this Linux, where the table has rows for such: a kernel's file, or auto, as `kentry linux`
    /// finds one
    #[arg(long, value_name = "FILE|auto", value_hint = ValueHint::FilePath)]
    pub guest: Option<String>,
    /// How to measure kentry's way
    #[command(flatten)]
    pub time: TimeArgs,
    /// Whether to keep the run
    #[command(flatten)]
    pub save: SaveArgs,
    /// What the result is written as, and where
    #[command(flatten)]
    pub to: OutputArgs,
    /// Show the intervals of kentry's figures as well
    #[arg(short, long)]
    pub verbose: bool,
}

/// Options of `list`.
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// List the entries, switches and profiles of the lab instead
    #[arg(long)]
    pub lab: bool,
    /// What the list is written as, and where
    #[command(flatten)]
    pub to: OutputArgs,
}

/// Options of `explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// An entry, an operation, a short name (syscall, clock_gettime), a switch of the lab or one of its values (pti=on), a profile
    /// (linux-6.1), a parameter of guests (seccomp), a part of an anatomy (kernel-stack), or a glob; `kentry list`, `kentry linux --help`
    /// and `kentry anatomy --help` show all names
    #[arg(value_name = "NAME", value_hint = ValueHint::Other)]
    pub name: String,
    /// Print a complete small program that says hello through this entry
    #[arg(long)]
    pub example: bool,
    /// Show the figures of this run, and not those of the latest that has them: its name, id, latest, or a file that was saved with
    /// --output FILE.json; - is standard input
    #[arg(long, value_name = "RUN", value_hint = ValueHint::FilePath, conflicts_with = "example")]
    pub run: Option<PathBuf>,
    /// Add the parts of a path through this entry: of a file that `kentry anatomy` has saved with --output FILE.json, or, without FILE,
    /// of one that is followed now, as `kentry anatomy NAME` follows it; stands behind NAME then
    #[arg(long, value_name = "FILE", num_args = 0..=1, value_hint = ValueHint::FilePath, conflicts_with = "example")]
    pub anatomy: Option<Option<PathBuf>>,
    /// When to use color; NO_COLOR is respected too
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
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

/// The exit codes of every command, and those of this one.
pub(crate) fn exit_status(more: &[(&str, &str)]) -> String {
    format!("Exit status:\n{}", codes(EXIT_STATUS.iter().chain(more)))
}

pub(crate) fn codes<'a>(all: impl IntoIterator<Item = &'a (&'a str, &'a str)>) -> String {
    all.into_iter().map(|(code, what)| format!("  {code:<7}  {what}\n")).collect()
}

/// The two ways to name runs.
const COMPARE_USAGE: &str = "kentry compare [OPTIONS] BASE NEW\n       kentry compare [OPTIONS] --base RUN [--base RUN]... --new RUN [--new RUN]...\n       kentry compare [OPTIONS] --live COMMAND-A COMMAND-B";

/// In which order rows are shown.
const COMPARED_ROWS: &str = "Order of the rows:
  By verdict: closed, opened, cause changed, slower, faster, inconclusive, same. Slower and faster rows that clear the
  margin come before those within it; of each, the greatest change in margins comes first (docs/compare.md).";

/// The exit codes, which are not those of other commands.
fn compare_help() -> String {
    let (own, bisect) = (codes(COMPARE_STATUS), codes(BISECT_STATUS));
    format!("{COMPARED_ROWS}\n\nExit status:\n{own}\nWith --git-bisect:\n{bisect}")
}

/// The switches by group, a line for each with its values; the default is in brackets. What each is for, `explain` tells.
fn switches_help(table: &table::Table) -> String {
    let mut text = String::from(
        "Switches (--set), with the default in brackets; `kentry explain SWITCH` tells what each is for:\n",
    );
    let widest = table.switches.iter().map(|switch| switch.name.len()).max().unwrap_or(0);
    for group in table::Group::ALL {
        let _ = writeln!(text, "  {}", group.heading());
        for switch in table.switches.iter().filter(|switch| switch.group == group) {
            let bracketed = |value: &String| match *value == switch.default {
                true => format!("[{value}]"),
                false => value.clone(),
            };
            let values = match switch.range {
                Some((least, most)) => format!("{least} to {most} [{}]", switch.default),
                None => switch.values.iter().map(bracketed).collect::<Vec<_>>().join(" "),
            };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "    {:widest$}  {values}", switch.name);
        }
    }
    text
}

/// What `--set` can name, and the exit codes.
fn lab_help() -> String {
    let text = switches_help(table::Table::get());
    format!(
        "{text}\n{}\nWith --exec, the exit status is the program's, or\n{}",
        exit_status(LAB_STATUS),
        codes(EXEC_STATUS)
    )
}

/// The most that a duration argument may be: a week.
const LONGEST: f64 = 7.0 * 24.0 * 3600.0;

pub(crate) fn budget(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.parse().map_err(|_| "this is not a number of seconds, such as 4 or 0.5".to_string())?;
    if !(seconds > 0.0 && seconds <= LONGEST) {
        return Err(format!("it must be more than 0 and at most {LONGEST} seconds (a week)"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

fn within(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "this is not a time, such as 30d or 12h".to_string())
}

pub(crate) fn cpus(text: &str) -> Result<CpuChoice, String> {
    if text == "all" {
        return Ok(CpuChoice::EveryKind);
    }
    text.parse().map(CpuChoice::Only).map_err(|_| {
        "this is neither the number of a CPU nor \"all\"; CPUs count from 0, and `lscpu -e` lists them".into()
    })
}

/// The greatest seed: JSON readers keep every whole number up to this one.
const GREATEST_SEED: u64 = 1 << 53;

pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok().filter(|seed| *seed <= GREATEST_SEED);
    seed.ok_or_else(|| format!("a seed is a whole number from 0 to {GREATEST_SEED}"))
}

/// Words that make QEMU print a list are not names.
pub(crate) fn cpu_model(text: &str) -> Result<String, String> {
    if text.is_empty() || text == "help" || text == "?" || text.contains(char::is_control) {
        return Err("this is not the name of a processor; `qemu-system-x86_64 -cpu help` lists them".into());
    }
    Ok(text.to_string())
}

/// One of some, by its name; the others are offered.
pub(crate) fn one_of<T, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name)).try_map(move |word: String| {
        let found = all.into_iter().find(|one| name(*one) == word);
        found.ok_or_else(|| format!("there is no {word:?}"))
    })
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
    fn the_format_is_what_was_asked_for_or_what_the_file_is_called() {
        let format = |arguments: &[&str]| {
            let words = [&["kentry"], arguments].concat();
            Cli::try_parse_from(words).unwrap().measure.show.to.format()
        };
        assert_eq!(format(&[]), Format::Text);
        assert_eq!(format(&["--output", "run.json"]), Format::Json);
        assert_eq!(format(&["--output", "run.MD"]), Format::Markdown);
        assert_eq!(format(&["--output", "run.json", "--format", "csv"]), Format::Csv);
        assert_eq!(format(&["--output", "run.txt"]), Format::Text);
        assert_eq!(format(&["--output", "-"]), Format::Text);
    }

    #[test]
    fn a_budget_is_a_positive_number_of_seconds() {
        assert_eq!(budget("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["0", "-1", "nan", "inf", "1e300", "", "4s"] {
            assert!(budget(bad).is_err(), "{bad}");
        }
    }
}

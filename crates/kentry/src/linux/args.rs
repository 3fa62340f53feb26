//! The command line of `kentry linux`.

use crate::exit::{EXEC_STATUS, LAB_STATUS, codes, exit_status};
use crate::options::guest::Accel;
use crate::options::output::{ShowArgs, formats};
use crate::options::rows::RowArgs;
use crate::options::save::SaveArgs;
use crate::options::values::{budget, cpu_model, seed};
use clap::{Args, ValueHint};
use measure::guest::Options;
use report::Kind;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;
use table::Table;

/// How long a boot may take, in seconds.
pub const LINUX_SECONDS: u64 = 120;

/// Which Linux to boot, on what, and what to measure in it.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", formats(Kind::KERNELS)))]
pub struct LinuxArgs {
    /// Which rows
    #[command(flatten)]
    pub rows: RowArgs,
    /// Boot this kernel: a file (vmlinuz, vmlinux), a package or folder that contains one, or auto, which is this machine's own if it is
    /// readable, otherwise the newest installed one; several are shown side by side [default: auto]
    #[arg(long, value_name = "FILE|auto", value_hint = ValueHint::FilePath)]
    pub kernel: Vec<String>,
    /// Boot each of these kernels, in the order of their versions, and show from one to the next what changes, with --format svg as a
    /// picture; a file that holds none is left out, and the exit status is 4
    #[arg(long, value_name = "KERNEL", num_args = 1.., conflicts_with = "kernel", value_hint = ValueHint::FilePath)]
    pub history: Vec<String>,
    /// Pass these parameters to the kernel unchanged; those that kentry knows by name are verified in the guest, as with --set; each
    /// --append is a configuration, and all are shown side by side
    #[arg(long, value_name = "PARAMETERS", value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub append: Vec<String>,
    /// Boot on this 64-bit processor, by QEMU's name (qemu-system-x86_64 -cpu help lists them); each is a configuration; --accel auto then
    /// means tcg [default: max,vendor=GenuineIntel; with KVM this machine's]
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other, value_parser = cpu_model)]
    pub cpu_model: Vec<String>,
    /// Boot with these parameters, which kentry knows by name and verifies in the guest; each --set is a configuration, and all are
    /// shown side by side; --set default sets none
    #[arg(short, long, value_name = "NAME=VALUE,...", value_hint = ValueHint::Other)]
    pub set: Vec<String>,
    /// What executes the guest's instructions
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub accel: Accel,
    /// Boot each configuration this many times; when instructions are counted, the estimate is the most frequent count [default: 1]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=1000), allow_negative_numbers = true, hide_short_help = true)]
    pub boots: Option<u64>,
    /// Follow one use of each row, instruction by instruction, to tell the kernel's instructions from the program's; 5,000 instructions
    /// take about a second [default: only if --entry or --operation names rows]
    #[arg(long, hide_short_help = true)]
    pub rings: bool,
    /// How long one boot may take [default: 120; with --exec and --shell until the program ends]
    #[arg(long, value_name = "SECONDS", value_parser = budget, allow_negative_numbers = true, hide_short_help = true)]
    pub timeout: Option<Duration>,
    /// Draw order, address layout and random bytes from this number (at most 2^53) [default: 0 when instructions are counted, so that
    /// every run is the same; a new number each time when time is measured]
    #[arg(long, value_name = "NUMBER", value_parser = seed, allow_negative_numbers = true, hide_short_help = true)]
    pub seed: Option<u64>,
    /// The guest's memory
    #[arg(long, value_name = "MIB", default_value_t = places::guest::MEMORY_MIB, value_parser = clap::value_parser!(u64).range(64..=1 << 20), allow_negative_numbers = true, hide_short_help = true)]
    pub memory: u64,
    /// Run a program of this machine in the guest, with its libraries, instead of measuring, and exit with its status; all words after it
    /// are its arguments, and it reads this command's standard input, up to 64 MiB, unless that is a terminal
    #[arg(
        long,
        value_names = ["PROGRAM", "ARGUMENT"],
        num_args = 1..,
        allow_hyphen_values = true,
        value_hint = ValueHint::FilePath,
        group = "program",
        conflicts_with_all = ["entry", "operation", "history", "boots", "rings", "dry_run", "format", "output", "color", "verbose", "all", "no_save", "name", "tag"]
    )]
    pub exec: Vec<OsString>,
    /// With --exec or --shell: copy this folder into the guest, under the same path; must precede --exec
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, requires = "program", hide_short_help = true)]
    pub share: Option<PathBuf>,
    /// Run a shell of this machine in the guest, on this terminal, instead of measuring
    #[arg(long, group = "program", conflicts_with_all = ["exec", "entry", "operation", "history", "boots", "rings", "dry_run", "format", "output", "color", "verbose", "all", "no_save", "name", "tag"])]
    pub shell: bool,
    /// Print what would be booted and measured, and boot nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Whether to keep it
    #[command(flatten)]
    pub save: SaveArgs,
    /// How to show it, and where
    #[command(flatten)]
    pub show: ShowArgs,
}

impl LinuxArgs {
    /// What it is written in. There is a picture of kernels that were named: it is those that it has beside each other.
    pub fn kind(&self) -> Kind {
        if self.kernel.is_empty() && self.history.is_empty() { Kind::RUN } else { Kind::KERNELS }
    }

    /// The options of the plan.
    pub fn options(&self) -> Options {
        Options {
            entry: self.rows.entry.clone(),
            operation: self.rows.operation.clone(),
            kernels: if self.history.is_empty() { self.kernel.clone() } else { self.history.clone() },
            append: self.append.clone(),
            cpu_models: self.cpu_model.clone(),
            set: self.set.clone(),
            accel: self.accel.into(),
            boots: self.boots,
            follows: self.rings || self.rows.are_named(),
            seed: self.seed.unwrap_or(0),
            memory_mib: self.memory,
            time: self.timeout.unwrap_or(Duration::from_secs(LINUX_SECONDS)),
        }
    }

    /// Whether a program is run instead of a measurement.
    pub fn runs_a_program(&self) -> bool {
        self.shell || !self.exec.is_empty()
    }
}

/// What `--set` can name, and the exit codes.
pub fn linux_help() -> String {
    let text = parameters_help(Table::get());
    let exec = codes(EXEC_STATUS);
    let status = exit_status(LAB_STATUS);
    format!("{text}\n{status}\nWith --exec, the exit status is the program's, or\n{exec}")
}

/// The parameters, a line for each with its values.
pub(crate) fn parameters_help(table: &Table) -> String {
    let mut text = String::from(
        "Parameters (--set, or the kernel's own words for them in --append). A configuration has no figures if its kernel does not know a \
         parameter or ignores it:\n",
    );
    let widest = table.parameters.iter().map(|parameter| parameter.name.len()).max().unwrap_or(0);
    for parameter in &table.parameters {
        let values: Vec<&str> = parameter.values.iter().map(|value| value.name.as_str()).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {:widest$}  {}", parameter.name, values.join(" "));
    }
    text
}

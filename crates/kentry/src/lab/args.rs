//! The command line of `kentry lab`.

use crate::error::Error;
use crate::exit::{EXEC_STATUS, LAB_STATUS, codes, exit_status};
use crate::options::footprint::FootprintArgs;
use crate::options::guest::{GuestArgs, LAB_SECONDS};
use crate::options::output::ShowArgs;
use crate::options::rows::RowArgs;
use crate::options::save::SaveArgs;
use clap::{Args, ValueEnum, ValueHint};
use measure::lab::Options;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use table::{Kernel, MACH, PERSONALITY, Table, Whose};

/// What to measure in the lab, on what, and how to show it.
#[derive(Debug, Clone, Args)]
pub struct LabArgs {
    /// Which rows
    #[command(flatten)]
    pub rows: RowArgs,
    /// Measure with these switches of the kernel; each --set is a configuration, and all are shown side by side; --set default sets none
    #[arg(short, long, value_name = "SWITCH=VALUE,...", value_hint = ValueHint::Other)]
    pub set: Vec<String>,
    /// Which of the lab's kernels: for long mode, or for the protected mode of 32 bits that came before it (docs/lab-i386.md)
    #[arg(long, value_name = "NAME", default_value = "x86_64")]
    pub lab_kernel: LabKernel,
    /// Whose calls are measured, and whose a program of --exec makes: those of Linux, or those of GNU Mach (docs/mach.md)
    #[arg(long, value_name = "NAME", default_value = "linux")]
    pub personality: Personality,
    /// What is touched behind every use
    #[command(flatten)]
    pub footprint: FootprintArgs,
    /// What runs the kernel
    #[command(flatten)]
    pub guest: GuestArgs,
    /// Write a bootable image instead of measuring here; it measures a PC, shows the table on screen and serial line and,
    /// by UEFI and with the kernel for long mode, leaves it in a file on the stick
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["footprint", "accel", "cpu_model", "timeout", "bochs", "exec", "dry_run", "format", "output", "no_save", "name", "tag"], hide_short_help = true)]
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
    /// With --exec: an exception that an entry is made of (ud2, int3, div and others) is a system call of the program, as it is of probes;
    /// stands before --exec
    #[arg(long, requires = "exec", hide_short_help = true)]
    pub serve_exceptions: bool,
    /// Print what would be measured, and measure nothing
    #[arg(long, hide_short_help = true)]
    pub dry_run: bool,
    /// Whether to keep it
    #[command(flatten)]
    pub save: SaveArgs,
    /// How to show it, and where
    #[command(flatten)]
    pub show: ShowArgs,
}

/// A kernel of the lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabKernel {
    /// For long mode: programs of 64 and of 32 bits.
    #[value(name = "x86_64")]
    X86_64,
    /// For protected mode of 32 bits.
    I386,
}

impl LabKernel {
    /// Its name in the table.
    pub fn kernel(self) -> Kernel {
        match self {
            LabKernel::X86_64 => Kernel::Lab,
            LabKernel::I386 => Kernel::LabI386,
        }
    }
}

/// Whose calls a program makes besides those of Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Personality {
    /// Calls of Linux alone.
    Linux,
    /// Calls of GNU Mach: its rows are measured, and no others. (--set personality=mach measures calls of Linux in a kernel that has both.)
    Mach,
}

impl LabArgs {
    /// The `--set`s of what is no row, and so has no personality of its own: with the one that is asked for.
    ///
    /// # Errors
    /// [`Error::Usage`] when one of them names the other, or is none.
    pub fn sets(&self) -> Result<Vec<String>, Error> {
        if self.personality == Personality::Linux {
            return Ok(self.set.clone());
        }
        let machs = format!("{PERSONALITY}={MACH}");
        if self.set.is_empty() {
            return Ok(vec![machs]);
        }
        let of = |set: &String| {
            let settings = Table::get().set(self.lab_kernel.kernel(), set)?;
            match settings.value(PERSONALITY) {
                Some(MACH) => Ok(set.clone()),
                Some(other) => Err(Error::Usage(format!(
                    "--personality mach and --set {PERSONALITY}={other} contradict each other"
                ))),
                None if settings.pairs().next().is_none() => Ok(machs.clone()),
                None => Ok(format!("{set},{machs}")),
            }
        };
        self.set.iter().map(of).collect()
    }

    /// Whose rows are measured.
    pub fn whose(&self) -> Whose {
        let kernel = self.lab_kernel.kernel();
        let machs = Whose::machs(kernel).filter(|_| self.personality == Personality::Mach);
        machs.unwrap_or(kernel.into())
    }

    /// The options of the lab.
    ///
    /// # Errors
    /// [`Error::Usage`] when there are no such rows, or when a curve is asked for, of rows that are not named; and as of [`LabArgs::sets`].
    pub fn options(&self) -> Result<Options, Error> {
        let sets = self.sets()?;
        if self.personality == Personality::Mach {
            Table::get().sets(self.lab_kernel.kernel(), &sets)?;
        }
        Ok(Options {
            entry: self.rows.entry.clone(),
            operation: self.rows.operation.clone(),
            whose: self.whose(),
            set: self.set.clone(),
            footprints: self.footprint.all(self.rows.are_named())?,
            ..self.guest.options(LAB_SECONDS)
        })
    }
}

/// The switches by group, a line for each with its values; the default is in brackets. What each is for, `explain` tells.
fn switches_help(table: &table::Table) -> String {
    let mut text = String::from(
        "Switches (--set), with the default in brackets; some are of one --lab-kernel only; `kentry explain SWITCH` tells what each is for:\n",
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
            let only = match switch.only_kernel() {
                Some(Kernel::LabI386) => "  (i386 only)",
                Some(_) => "  (x86_64 only)",
                None => "",
            };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "    {:widest$}  {values}{only}", switch.name);
        }
    }
    text
}

/// What `--set` can name, and the exit codes.
pub fn lab_help() -> String {
    let text = switches_help(table::Table::get());
    format!(
        "{text}\n{}\nWith --exec, the exit status is the program's, or\n{}",
        exit_status(LAB_STATUS),
        codes(EXEC_STATUS)
    )
}

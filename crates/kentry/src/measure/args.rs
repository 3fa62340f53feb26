//! The command line of `kentry measure`.

use crate::error::Error;
use crate::measure::too_noisy::{Share, USUAL};
use crate::options::footprint::FootprintArgs;
use crate::options::output::ShowArgs;
use crate::options::rows::RowArgs;
use crate::options::save::SaveArgs;
use crate::options::time::{TimeArgs, with_default};
use clap::{Args, ValueHint};
use measure::HostPlan;
use std::path::PathBuf;
use table::Table;

/// The budget of `measure`, in seconds.
const MEASURE_BUDGET: u32 = 4;

/// `--all` of commands that measure this Linux.
pub const ALL_ROWS: &str = "Measure and show every row, not only those of the first screen";

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
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = USUAL, value_hint = ValueHint::Other, hide_short_help = true)]
    pub fail_if_noisy: Option<Share>,
    /// End with 0 wherever a result was written, also if rows have no figure or time was up: for launchers that take every other end for a failed host
    #[arg(long, hide_short_help = true)]
    pub exit_zero: bool,
    /// Also write a summary, a few kilobytes without rounds, to this file; packed if its name ends in .gz; - is standard output, instead of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub summary: Option<PathBuf>,
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

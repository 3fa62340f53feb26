//! Arguments of `kentry tax`.

use crate::error::Error;
use crate::exit::exit_status;
use crate::options::output::{OutputArgs, formats};
use crate::options::time::{TimeArgs, of_one_kind};
use clap::{Args, ValueHint};
use layers::{Kind, LAYERS, Layer};
use measure::{HostPlan, TableRow};
use std::path::PathBuf;
use table::Table;
use table::special::SYSCALL;

/// How long it takes, in seconds, and how much longer for each layer: half a minute for all of them.
const BUDGET: u32 = 6;
const OF_LAYER: u32 = 1;

/// The calls that layers are measured by, all of which do something.
const OPERATIONS: [&str; 3] = ["getppid", "read-zero", "futex-wake"];

/// `--cpu` of `tax`.
const ONE_CPU: &str = "Measure on this CPU alone [default: whichever CPU is quiet, among fast cores]";

/// `--budget` of `tax`.
const ALL: &str = "How long to measure; layers are tried before, and each has a round of each call [default: 6, and 1 for each layer]";

/// Options of `tax`.
#[derive(Debug, Clone, Args)]
#[command(
    mut_arg("format", formats(report::Kind::TAX)),
    mut_arg("budget", |arg| arg.help(ALL)),
    mut_arg("strict_budget", |arg| arg.hide(true)),
    mut_arg("cpu", of_one_kind(ONE_CPU))
)]
pub struct TaxArgs {
    /// Measure this layer; may be given several times. --list shows all [default: all]
    #[arg(short, long, value_name = "LAYER", value_parser = layer)]
    pub layer: Vec<&'static Layer>,
    /// The profile of the layer seccomp-profile: a file in the JSON format of OCI's runtimes, of Docker or of Podman
    /// [default: kentry's own]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub seccomp_profile: Option<PathBuf>,
    /// List the layers
    #[arg(long, conflicts_with_all = ["layer", "seccomp_profile", "cpu", "budget", "strict_budget", "seed", "realtime", "verbose"])]
    pub list: bool,
    /// How to measure
    #[command(flatten)]
    pub time: TimeArgs,
    /// What the result is written as, and where
    #[command(flatten)]
    pub to: OutputArgs,
    /// Show both ends of each interval, and in how many turns a layer was measured
    #[arg(short, long)]
    pub verbose: bool,
}

fn layer(name: &str) -> Result<&'static Layer, String> {
    Layer::named(name).ok_or_else(|| {
        let hint = table::nearest(name, LAYERS.iter().map(|layer| layer.name));
        format!("there is no such layer{hint} (`kentry tax --list` shows what there is)")
    })
}

impl TaxArgs {
    /// Whether a layer is to be measured: one that is named, all if none is, and `seccomp-profile` whenever a profile is given.
    pub fn is_asked(&self, layer: &Layer) -> bool {
        let is_of_file = self.seccomp_profile.is_some() && layer.kind == Kind::Profile;
        self.layer.is_empty() || self.layer.contains(&layer) || is_of_file
    }

    /// What is measured of each layer.
    ///
    /// # Errors
    /// [`Error::Usage`] where the table lacks a row that layers are measured by; the one that is built in has them all.
    pub fn plan(&self, drawn: u32) -> Result<HostPlan<'static>, Error> {
        let table = Table::get();
        let row = |operation| Some((table.entry(SYSCALL)?, table.operation(operation)?));
        let rows: Option<Vec<TableRow>> = OPERATIONS.into_iter().map(row).collect();
        let rows = rows.ok_or_else(|| Error::Usage("the table lacks what layers are measured by".into()))?;
        let layers = LAYERS.iter().filter(|layer| self.is_asked(layer)).count();
        let usual = BUDGET + OF_LAYER * u32::try_from(layers).unwrap_or(0);
        Ok(HostPlan { strict_budget: true, ..self.time.plan(rows, usual, drawn) })
    }
}

/// What stands below the help.
pub fn tax_help() -> String {
    let names = LAYERS.map(|layer| format!("  {:<22}  {}\n", layer.name, layer.what)).concat();
    format!("Layers:\n{names}\n{}", exit_status(&[]))
}

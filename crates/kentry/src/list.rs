//! `kentry list`.

use crate::error::Error;
use crate::options::output::OutputArgs;
use crate::output::Target;
use crate::style::whole;
use clap::Args;
use std::process::ExitCode;
use table::{Kernel, Table};

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

pub fn run(args: &ListArgs) -> Result<ExitCode, Error> {
    let target = Target::open(args.to.output.as_deref())?;
    let style = whole(&args.to, false, &target);
    let format = args.to.format();
    let kernel = if args.lab { Kernel::Lab } else { Kernel::Linux };
    target.write_report(format, &report::list(Table::get(), kernel, format, &style)?)?;
    Ok(ExitCode::SUCCESS)
}

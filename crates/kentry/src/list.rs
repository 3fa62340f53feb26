//! `kentry list`.

use crate::error::Error;
use crate::lab::args::LabKernel;
use crate::options::output::{Look, OutputArgs, formats};
use clap::Args;
use report::{Kind, Style};
use std::process::ExitCode;
use table::{Kernel, Table};

/// Options of `list`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", formats(Kind::LIST)))]
pub struct ListArgs {
    /// List the entries, switches and profiles of the lab instead
    #[arg(long)]
    pub lab: bool,
    /// With --lab: of which of its kernels
    #[arg(long, value_name = "NAME", default_value = "x86_64", requires = "lab")]
    pub lab_kernel: LabKernel,
    /// What the list is written as, and where
    #[command(flatten)]
    pub to: OutputArgs,
}

pub fn run(args: &ListArgs) -> Result<ExitCode, Error> {
    let kernel = if args.lab { args.lab_kernel.kernel() } else { Kernel::Linux };
    let write = |format, style: &Style| report::list(Table::get(), kernel, format, style);
    args.to.open(Kind::LIST)?.write(Look::WHOLE, write)?;
    Ok(ExitCode::SUCCESS)
}

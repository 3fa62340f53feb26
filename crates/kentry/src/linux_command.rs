//! `kentry linux`: from arguments to the exit code.

use kentry::cli::Accel;
use kentry::dry_run;
use kentry::error::Error;
use kentry::linux_args::LinuxArgs;
use kentry::output::Target;
use measure::Counter;
use measure::guest::GuestPlan;
use std::process::ExitCode;
use table::Table;

/// Measures, or prints the plan.
pub fn run(args: &LinuxArgs) -> Result<ExitCode, Error> {
    let options = args.options();
    let plan = GuestPlan::new(Table::get(), &options)?;
    if args.dry_run {
        let target = Target::open(args.show.to.output.as_deref())?;
        let (accelerator, counter) = match args.accel {
            Accel::Kvm => (lab::Accelerator::Kvm, Counter::Time),
            Accel::Auto | Accel::Tcg => (lab::Accelerator::Tcg, Counter::Instructions),
        };
        let usual = lab::Qemu::new(accelerator, None).cpu_model;
        let format = args.show.to.format();
        target.write_report(format, &dry_run::linux_plan(&plan, &usual, counter, format)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    Err(Error::Environment("this build cannot boot a Linux yet; --dry-run shows what it would boot".into()))
}

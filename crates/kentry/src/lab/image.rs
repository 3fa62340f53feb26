//! `kentry lab --iso`: a bootable image of a measurement.

use super::LabPlan;
use crate::error::Error;
use lab::{Limits, Step, Trouble};

/// An image that boots from GRUB on a machine with a BIOS, measures what the plan asks for, and shows it on the screen.
///
/// # Errors
/// [`Error::Environment`] when the programs that make it are not here, or fail.
pub fn image(plan: &LabPlan, limits: &Limits) -> Result<Vec<u8>, Error> {
    let mut steps = super::clock_steps(None);
    let work = plan.work_for_a_reader();
    // The kernel's header lines come first, and then anything in any order.
    let first = work.plan.steps.iter().position(|step| !matches!(step, Step::Seed(_)));
    let (header, rest) = work.plan.steps.split_at(first.unwrap_or(0));
    steps.extend(header.iter().cloned().chain([Step::Screen]).chain(rest.iter().cloned()));
    let archive = lab::pack(&lab::Plan { steps }, &lab::probes()).map_err(Trouble::from)?;
    Ok(lab::image(&archive, limits)?)
}

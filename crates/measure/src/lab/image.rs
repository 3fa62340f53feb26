//! `kentry lab --iso`: a bootable image of a measurement.

use super::LabPlan;
use crate::Error;
use places::lab::{Limits, Line, Trouble};

/// An image that boots from GRUB, by BIOS or UEFI, measures what the plan asks for, and shows it on the screen.
///
/// # Errors
/// [`Error::Environment`] when the programs that make it are missing, or fail.
pub fn image(plan: &LabPlan, limits: &Limits) -> Result<Vec<u8>, Error> {
    let mut lines = super::clock_lines(None, None);
    let work = plan.work_for_a_reader();
    // The kernel reads its header lines first; the others may be in any order.
    let first = work.plan.lines.iter().position(|line| !matches!(line, Line::Seed(_)));
    let (header, rest) = work.plan.lines.split_at(first.unwrap_or(0));
    lines.extend(header.iter().cloned().chain([Line::Screen]).chain(rest.iter().cloned()));
    let archive =
        places::lab::pack(&places::lab::Plan { lines }, &places::lab::probes()).map_err(Trouble::from)?;
    Ok(places::lab::image(plan.mode, &archive, limits)?)
}

//! A line for each row of each run, with the facts that tell machines apart.

use crate::Error;
use crate::grid::{Column, Grid};
use document::Path;
use summary::{Cohort, Row, Run, Summary};

/// A row and its run.
struct Line<'a> {
    run: &'a Run,
    row: &'a Row,
}

impl<'a> Line<'a> {
    fn cohort(&self) -> &'a Cohort {
        &self.run.cohort
    }
}

pub(super) fn render(summaries: &[Summary]) -> Result<Vec<u8>, Error> {
    let lines = summaries.iter().flat_map(|one| one.rows.iter().map(|row| Line { run: &one.run, row }));
    let lines: Vec<Line> = lines.collect();
    let of_run = Grid::of(&lines)
        .column(Column::text("run_id"), |line| &line.run.run_id)
        .column(Column::text("started"), |line| &line.run.started)
        .column(Column::text("machine_id"), |line| line.cohort().machine_id.as_ref())
        .column(Column::text("cpu_vendor"), |line| line.cohort().cpu_vendor.as_ref())
        .column(Column::number("cpu_family"), |line| line.cohort().cpu_family)
        .column(Column::number("cpu_model"), |line| line.cohort().cpu_model)
        .column(Column::number("cpu_stepping"), |line| line.cohort().cpu_stepping)
        .column(Column::text("microcode"), |line| line.cohort().microcode.as_ref())
        .column(Column::text("hypervisor"), |line| line.cohort().hypervisor.as_ref())
        .column(Column::text("smt"), |line| line.cohort().smt.map(|is_on| is_on.to_string()))
        .column(Column::text("kernel_release"), |line| line.cohort().kernel_release.as_ref())
        .column(Column::text("command_line_sha256"), |line| line.cohort().command_line_sha256.as_ref())
        .column(Column::text("clocksource"), |line| line.cohort().clocksource.as_ref())
        .column(Column::text("preemption"), |line| line.cohort().preemption.as_ref())
        .column(Column::text("mitigations_sha256"), |line| line.cohort().mitigations_sha256.as_ref())
        .column(Column::text("libc"), |line| line.cohort().libc.as_ref());
    of_run
        .column(Column::text("entry"), |line| &line.row.entry)
        .column(Column::text("operation"), |line| &line.row.operation)
        .column(Column::number("bits"), |line| line.row.bits)
        .column(Column::text("configuration"), |line| line.row.configuration.as_ref())
        .column(Column::text("timing"), |line| line.row.timing.name())
        .column(Column::text("outcome"), |line| line.row.outcome.name())
        .column(Column::text("reason"), |line| line.row.reason.as_ref())
        .column(Column::text("path"), |line| line.row.path.map(Path::name))
        .column(Column::text("noise"), |line| line.row.noise.as_ref())
        .column(Column::number("core_cycles"), |line| line.row.core_cycles)
        .column(Column::number("core_cycles_ci_low"), |line| line.row.core_cycles_ci_low)
        .column(Column::number("core_cycles_ci_high"), |line| line.row.core_cycles_ci_high)
        .column(Column::number("nanoseconds"), |line| line.row.nanoseconds)
        .column(Column::number("nanoseconds_ci_low"), |line| line.row.nanoseconds_ci_low)
        .column(Column::number("nanoseconds_ci_high"), |line| line.row.nanoseconds_ci_high)
        .column(Column::number("instructions"), |line| line.row.instructions)
        .column(Column::number("kept_rounds"), |line| line.row.kept_rounds)
        .grid()
        .csv()
}

//! How the lab measures a bill: its plan, its processor, and a bill that is counted in an emulator.

use crate::error::Error;
use crate::lab;
use crate::messages::note_no_times;
use attribution::bill::{Bill, Plan, Processor, Question};
use measure::Counter;
use measure::lab::{Accel, Emulator, LabPlan, Options, choose, features};
use places::host::Interrupt;
use std::time::Duration;
use table::{Table, Whose};

/// How long the guest may take, in seconds; and in Bochs.
pub const BILL_SECONDS: [u64; 2] = [300, 3600];

/// The lab's plan for the configurations of a bill; of so much time.
pub fn lab_plan<'a>(table: &'a Table, plan: &attribution::bill::Plan, time: Duration) -> LabPlan<'a> {
    let wanted = plan.configurations.iter().filter_map(|configuration| {
        let entry = table.entry(&plan.question.entry)?;
        Some(((entry, table.operation(&configuration.operation)?), &configuration.values))
    });
    LabPlan::of(table, &wanted.collect::<Vec<_>>(), plan.question.seed, time)
}

/// What the emulator makes, or this machine's processor.
///
/// # Errors
/// Those of booting it to ask.
pub fn processor(emulator: &Emulator, limits: &places::lab::Limits) -> Result<Processor, Error> {
    let counts = emulator.machine().counter() == Counter::Instructions;
    Ok(Processor { features: features(emulator, limits)?, counts, forgives: emulator.forgives() })
}

/// What the steps of a profile add to an entry, in instructions, on this model of QEMU's; and neither shown nor kept.
pub fn counted(question: Question, cpu_model: Option<&str>, interrupt: &Interrupt) -> Result<Bill, Error> {
    let table = Table::get();
    let options = Options {
        entry: Vec::new(),
        operation: Vec::new(),
        whose: Whose::Lab,
        set: Vec::new(),
        footprints: Vec::new(),
        accel: Accel::Tcg,
        cpu_model: cpu_model.map(str::to_string),
        bochs: false,
        seed: question.seed,
        time: Duration::from_secs(BILL_SECONDS[0]),
    };
    let limits = lab::limits(&options, interrupt);
    let emulator = choose(&options, &limits, &mut note_no_times)?;
    let processor = processor(&emulator, &limits)?;
    let plan = Plan::new(table, question, processor)?;
    let document = lab::on(emulator, lab_plan(table, &plan, options.time), limits, None, interrupt)?;
    Ok(plan.bill(&document, None))
}

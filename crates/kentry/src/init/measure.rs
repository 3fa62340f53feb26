//! What a guest measures: its own kernel, as the command measures any Linux that it runs on.

use super::follow::{self, Awaited};
use super::{PARENT, ROUND_TIME, facts, port, symbols};
use crate::this_machine::{ThisMachine, executor, here};
use document::Document;
use measure::{CountedPlan, CountedSetup, CpuChoice, HostPlan, Setup, TableRow};
use places::guest::{Frame, Work};
use places::host::{Interrupt, Priority};
use record::trace::Event;
use std::cell::LazyCell;
use std::time::Duration;
use table::{Kernel, Table};

/// What the kernel executes first when its timer interrupts (arch/x86/include/asm/idtentry.h).
const TIMER: &str = "asm_sysvec_apic_timer_interrupt";

/// Does the work.
///
/// # Errors
/// In words, when nothing could be measured.
pub fn run(work: &Work) -> Result<(), String> {
    let rows = rows(work);
    let measured = if work.counts { count(work, rows.clone()) } else { time(work, rows.clone()) };
    let mut document = measured.map_err(|error| error.to_string())?;
    facts::add_to(&mut document.environment);
    let text = serde_json::to_vec(&document).map_err(|error| error.to_string())?;
    port::send(&Frame::Document(text));
    if work.follows {
        let symbols = LazyCell::new(symbols::all);
        let timer = || symbols.iter().find(|symbol| symbol.name == TIMER);
        let awaited = work.event.and_then(|event| match event {
            Event::TimerInterrupt => timer().map(|symbol| Awaited::Timer(symbol.address)),
            Event::Execve => Some(Awaited::Execve),
        });
        let place = follow::run(&rows, &document, awaited)?;
        if work.symbols {
            place.tell(&symbols);
        }
        place.end();
    }
    Ok(())
}

/// The rows of the table that are wanted; of ids that this table lacks there is none.
fn rows(work: &Work) -> Vec<TableRow<'static>> {
    let is_wanted = |(entry, operation): &TableRow| work.rows.contains(&(entry.id, operation.id));
    Table::get().rows(Kernel::Linux).filter(is_wanted).collect()
}

fn count(work: &Work, rows: Vec<TableRow>) -> Result<Document, crate::error::Error> {
    let interrupt = Interrupt::default();
    let ThisMachine { environment, cpus } = ThisMachine::capture(None)?;
    let mut host = executor(Priority::Inherited, ROUND_TIME, &interrupt)?;
    let cpu = cpus.keys().next().copied().unwrap_or(0);
    let setup = CountedSetup { executor: &mut host, cpu, parent: PARENT, interrupt, environment };
    let plan = CountedPlan { rows, seed: work.seed };
    Ok(measure::count(&plan, setup, &mut |_| ())?)
}

fn time(work: &Work, rows: Vec<TableRow>) -> Result<Document, crate::error::Error> {
    let interrupt = Interrupt::default();
    let plan = HostPlan {
        rows,
        footprints: Vec::new(),
        cpus: CpuChoice::Quiet,
        budget: Duration::try_from_secs_f64(work.budget).unwrap_or_default(),
        strict_budget: false,
        seed: work.seed,
        realtime: true,
    };
    let (here, priority) = here(&plan, &interrupt)?;
    let mut host = executor(priority, ROUND_TIME, &interrupt)?;
    let setup = Setup { executor: &mut host, parent: PARENT, here };
    Ok(measure::measure(&plan, setup, &mut |_| ())?)
}

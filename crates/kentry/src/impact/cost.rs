//! What crossings cost here: measured right after the calls were counted, once as they are and once while they are counted.

use crate::error::Error;
use crate::impact::args::IMPACT_BUDGET;
use crate::options::time::TimeArgs;
use crate::this_machine::{drawn_seed, measure_host};
use attribution::impact::{entries, replaced};
use document::Document;
use measure::TableRow;
use observe::{Call, Watch, Way};
use places::host::Interrupt;
use table::special::{BARE_SYSCALL, GETPPID, SYSCALL};
use table::{Kernel, Table};

/// The rows that these calls are priced by, each once.
pub fn rows<'t>(table: &'t Table, calls: &[Call]) -> Vec<TableRow<'t>> {
    let mut wanted: Vec<(&str, &str)> =
        vec![(BARE_SYSCALL.entry, BARE_SYSCALL.operation), (GETPPID.entry, GETPPID.operation)];
    let ways = calls.iter().flat_map(|call| entries(call.way));
    wanted.extend(ways.map(|entry| (*entry, GETPPID.operation)));
    for served in calls.iter().filter_map(|call| replaced(table, call)) {
        wanted.push((served.entry, &served.operation.name));
        wanted.push((served.vdso, &served.operation.name));
    }
    if calls.iter().any(|call| call.way == Way::Syscall) {
        wanted.extend(table.batches().map(|(operation, _)| (SYSCALL, operation.name.as_str())));
    }
    let is_wanted =
        |(entry, operation): &TableRow| wanted.contains(&(entry.name.as_str(), operation.name.as_str()));
    table.rows(Kernel::Linux).filter(is_wanted).collect()
}

/// As they are.
pub fn plain(rows: Vec<TableRow>, time: &TimeArgs, interrupt: &Interrupt) -> Result<Document, Error> {
    measure_host(&time.plan(rows, IMPACT_BUDGET, drawn_seed()), interrupt)
}

/// The plainest call while the tracepoint counts it, as it counted the workload's; none where that cannot be measured.
pub fn counted(table: &Table, time: &TimeArgs, interrupt: &Interrupt) -> Option<Document> {
    let row = table.entry(GETPPID.entry).zip(table.operation(GETPPID.operation))?;
    let watch = Watch::of_children().ok()?;
    let measured = measure_host(&time.plan(vec![row], IMPACT_BUDGET, drawn_seed()), interrupt).ok();
    drop(watch);
    measured
}

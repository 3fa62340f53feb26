//! Stacks for flame graph tools: a process, a call, and how many nanoseconds its crossings take; or how often it was made, where no cost is
//! known of any.

use crate::plain::plain;
use attribution::impact::{Counted, Impact, Process};

pub(super) fn render(impact: &Impact) -> Vec<u8> {
    let calls = || impact.processes.iter().flat_map(|process| &process.calls);
    let have_times = calls().all(|call| call.ns.is_some());
    let mut out = String::new();
    for process in &impact.processes {
        for call in &process.calls {
            let value = call.ns.filter(|_| have_times).map_or(call.count, |ns| ns.round().max(0.0) as u64);
            out.push_str(&plain(&format!("{} {value}", stack(process, call))));
            out.push('\n');
        }
    }
    out.into_bytes()
}

/// What is between stacks and frames must not be in their names.
fn stack(process: &Process, call: &Counted) -> String {
    let name = if process.name.is_empty() { "?" } else { &process.name };
    format!("{}-{};{}", name.replace([';', ' '], "_"), process.pid, call.name.replace([';', ' '], "_"))
}

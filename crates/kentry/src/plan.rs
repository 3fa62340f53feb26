//! What a command line asks to be measured. Made without touching the system.

use crate::cli::MeasureArgs;
use crate::error::Error;
use crate::select::{self, Row};
use report::Format;
use std::fmt::Write;
use std::time::Duration;
use table::{Kernel, Table};

/// Blocks of samples in a round, where the entry is quick enough.
const BLOCKS: u64 = 16;
/// The longest that a round's samples may take, in ticks: about two milliseconds.
const TICKS: u64 = 5_000_000;
/// Bursts of calls back to back in a round.
const BURSTS: u64 = 16;

/// What to measure.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The rows, in the table's order.
    pub rows: Vec<Row<'a>>,
    /// The CPU, unless any will do.
    pub cpu: Option<usize>,
    /// For how long; one whole round of every row is always taken.
    pub budget: Duration,
    /// What the order of the rounds is drawn from.
    pub seed: u64,
    /// Whether real-time priority is asked for.
    pub realtime: bool,
    /// Blocks of samples in a round, at most.
    pub blocks: u64,
    /// Ticks that a round's samples may take.
    pub ticks: u64,
    /// Bursts in a round, at most.
    pub bursts: u64,
}

impl<'a> Plan<'a> {
    /// The plan for a command line; `drawn` is its seed unless it names one.
    ///
    /// # Errors
    /// [`Error::Usage`] when it asks for rows that there are not.
    pub fn new(table: &'a Table, args: &MeasureArgs, drawn: u32) -> Result<Plan<'a>, Error> {
        Ok(Plan {
            rows: select::rows(table, Kernel::Linux, &args.entry, &args.operation)?,
            cpu: args.cpu,
            budget: args.budget,
            seed: args.seed.unwrap_or(u64::from(drawn)),
            realtime: args.realtime,
            blocks: BLOCKS,
            ticks: TICKS,
            bursts: BURSTS,
        })
    }

    /// The plan for a reader: text, or JSON.
    ///
    /// # Errors
    /// [`Error::Usage`] for the formats that are for measurements only.
    pub fn render(&self, format: Format) -> Result<Vec<u8>, Error> {
        match format {
            Format::Text => Ok(self.text().into_bytes()),
            Format::Json => Ok(self.json().into_bytes()),
            other => {
                Err(Error::Usage(format!("a plan (--dry-run) can be shown as text or json, not as {other}")))
            }
        }
    }

    fn text(&self) -> String {
        let cpu = self.cpu.map_or("the last that this process may use".into(), |cpu| cpu.to_string());
        let mut text = format!(
            "{} rows for {} s on CPU {cpu}, seed {}, {} priority\n\
             a round: at most {} blocks of {} samples, {} bursts, {} ticks\n\n",
            self.rows.len(),
            self.budget.as_secs_f64(),
            self.seed,
            if self.realtime { "real-time" } else { "normal" },
            self.blocks,
            record::abi::BLOCK_SAMPLES,
            self.bursts,
            self.ticks,
        );
        for (entry, operation) in &self.rows {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{:10}  {:20}  {}", entry.probe.name(), entry.name, operation.name);
        }
        text
    }

    fn json(&self) -> String {
        let row = |(entry, operation): &Row| serde_json::json!({"probe": entry.probe.name(), "entry": entry.name, "operation": operation.name});
        let plan = serde_json::json!({
            "schema": "kentry.plan/1",
            "cpu": self.cpu,
            "budget_seconds": self.budget.as_secs_f64(),
            "seed": self.seed,
            "realtime": self.realtime,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        });
        format!("{plan:#}\n")
    }
}

//! What tests make reproductions of, here and in `crates/report`: a machine of the model that the tables name, rows and loops.

use super::{Loop, Timed, Took};
use document::{Document, Measurement, Row};
use environment::Environment;
use stats::{Cost, Cycles, Nanos, Ticks};
use std::collections::BTreeMap;

/// So far reach intervals below and above an estimate.
pub type Reach = [f64; 2];

pub fn cost<U: From<f64> + Copy>(estimate: f64, [below, above]: Reach) -> Option<Cost<U>> {
    let (low, high) = (U::from(estimate - below), U::from(estimate + above));
    let (ci_low, ci_high, p99, p999) = (Some(low), Some(high), None, None);
    let estimate = U::from(estimate);
    Some(Cost { estimate, ci_low, ci_high, min: low, p50: estimate, p99, p999, max: high })
}

/// A row of getppid, at three cycles and two ticks in a nanosecond.
pub fn row(entry: &str, ns: f64, reach: Reach) -> Row {
    Row {
        ns: cost::<Nanos>(ns, reach),
        core_cycles: cost::<Cycles>(ns * 3.0, reach),
        ticks: cost::<Ticks>(ns * 2.0, reach),
        ..Row::unmeasured(entry, "getppid", 64)
    }
}

/// Loops of getppid, by what each took in nanoseconds.
pub fn timed(entry: &str, way: Loop, loops: Vec<u64>) -> Timed {
    let took = Ok(Took { loops, preemptions: 0 });
    Timed { entry: entry.into(), operation: "getppid".into(), way, took }
}

/// The machine.
pub fn here(pti: bool) -> Environment {
    let mut here = Environment::default();
    here.cpu.brand = Some("Example(R) 9000 CPU @ 2 GHz".into());
    here.kernel.pti = Some(pti);
    here
}

/// A run there, without page-table isolation.
pub fn document(results: Vec<Row>) -> Document {
    Document {
        schema: document::SCHEMA.into(),
        id: Some("0123456789abcdef".into()),
        measurement: Measurement::default(),
        environment: here(false),
        vdso: BTreeMap::new(),
        results,
        findings: Vec::new(),
    }
}

//! What tests make reproductions of, here and in `crates/report`: a machine of the model that the tables name, rows and loops.

use super::{Loop, Timed, Took};
use document::{Document, Outcome, Row, Timing};
use environment::Environment;
use stats::{Cost, Cycles, Instructions, Nanos, Ticks};

/// So far reach intervals below and above an estimate.
pub type Reach = [f64; 2];

pub fn cost<U: From<f64> + Copy>(estimate: f64, [below, above]: Reach) -> Option<Cost<U>> {
    let (low, high) = (U::from(estimate - below), U::from(estimate + above));
    Some(Cost { min: low, max: high, ..Cost::single(U::from(estimate)).within(low, high) })
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
    Document { id: Some("0123456789abcdef".into()), environment: here(false), results, ..Document::empty() }
}

/// A publication of UnixBench's index, on a host and in guests.
pub const UNIXBENCH: &str = r#"
    [[publication]]
    name = "loops"
    title = "a benchmark's loop"
    source = "A fifth"
    unit = "index"
    about = "An index of a loop."
    way = "turns"
    loop = { calls = 1000, repetitions = 2, take = "mean" }
    base = "host"
    [[publication.column]]
    name = "PTI on"
    needs = { pti = "on" }
    boot = { pti = "on" }
    [[publication.column]]
    name = "PTI off"
    needs = { pti = "off" }
    boot = { pti = "off" }
    [[publication.row]]
    name = "host"
    published = [374, 689]
    entry = "libc"
    operation = "unixbench-syscall"
    [[publication.row]]
    name = "guest, no PCID"
    published = [200, 679]
    guest = "syscall-x86_64"
    operation = "unixbench-syscall"
    boot = { pcid = "off" }
    absent = "it takes a guest"
    [[publication.row]]
    name = "guest, PCID"
    published = [354, 679]
    guest = "syscall-x86_64"
    operation = "unixbench-syscall"
    boot = { pcid = "on" }
    absent = "it takes a guest"
"#;

/// What an emulator counts for it: its processors have no PCID.
pub fn in_guests() -> Document {
    let row = |pti: &str, count: Option<f64>| Row {
        configuration: [("pti", pti), ("pcid", if count.is_some() { "off" } else { "on" })]
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .into(),
        timing: Timing::Emulated,
        instructions: count.and_then(|count| cost::<Instructions>(count, [0.0, 0.0])),
        outcome: if count.is_some() { Outcome::Ok } else { Outcome::Unsupported },
        reason: count.is_none().then(|| "the guest's processor has no pcid".to_string()),
        ..Row::unmeasured("syscall-x86_64", "unixbench-syscall", 64)
    };
    let rows = [("on", Some(1835.0)), ("off", Some(1795.0)), ("on", None), ("off", None)];
    let mut run = document(rows.map(|(pti, count)| row(pti, count)).into());
    run.measurement.place = document::Place::new(document::Machine::QemuTcg, table::Kernel::Linux);
    run
}

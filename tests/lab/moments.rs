//! What a clock costs does not depend on the moment: not on what is left of the second that the time page was last brought
//! forward in.

use crate::guest::{Answer, Ran, Script};
use crate::monitor::{is_missing, wrapped};
use places::lab::Limits;
use record::{Payload, Sample};
use std::collections::BTreeSet;
use table::Table;

/// Ticks, and so instructions, in a second: as few as the kernel's clocks can do.
const SECOND: u64 = 4_000_000;

/// Entries that read the time page, in the kernel or in the program.
const ROWS: &[(&str, &str)] = &[
    ("vdso-x86_64", "clock_gettime-monotonic"),
    ("vdso-x86_64", "gettimeofday"),
    ("vdso-i386", "clock_gettime-monotonic"),
    ("syscall-x86_64", "clock_gettime-monotonic"),
    ("int80-i386", "clock_gettime-monotonic"),
    ("mapped-time-vvar", "clock_gettime-monotonic"),
];

fn samples(ran: &Ran) -> Vec<Sample> {
    let records = record::parse(&ran.output).unwrap();
    let samples = records.into_iter().filter_map(|record| match record.payload {
        Payload::Samples(samples) => Some(samples),
        _ => None,
    });
    samples.flatten().collect()
}

#[test]
fn a_clock_costs_the_same_before_and_behind_the_end_of_a_second() {
    if is_missing() {
        return;
    }
    let mut script = Script::new();
    // The tick brings the page forward, and would hide the end of the second: with no limit it comes every 10^7.
    script.limit(0);
    for (entry, operation) in ROWS {
        let table = Table::get();
        script.long_row(table.entry(entry).unwrap(), table.operation(operation).unwrap(), SECOND * 3 / 2);
    }
    let folder = tempfile::tempdir().unwrap();
    let qemu = wrapped(folder.path(), "exec qemu-system-x86_64 \"$@\"");
    let boot = |archive: &[u8], programs, limits: &Limits| qemu.boot(archive, programs, limits);
    let session = script.boot_in(&boot, SECOND).unwrap();
    for ran in &session.ran {
        assert_eq!(ran.answer(), Answer::Ok, "{}", ran.label);
        let samples = samples(ran);
        let (first, last) = (samples.first().unwrap().stamps[0], samples.last().unwrap().stamps[3]);
        // The program's page is of its start, so a second ends among the samples, wherever in a second that was.
        assert!(last - first > SECOND, "{}: {} ticks", ran.label, last - first);
        assert!(last - first < 2 * SECOND, "{}: {} ticks", ran.label, last - first);
        let costs: BTreeSet<u64> = samples.iter().map(|sample| sample.interval(2)).collect();
        assert_eq!(costs.len(), 1, "{}: {costs:?}", ran.label);
    }
}

//! Plain loops of calls (MODE_LOOP) by the real probe: they count what they were asked for, agree with the probe's own samples
//! within what any noise allows, and check before they time.

use crate::asked::{cpu, host, request, verdict};
use crate::skipped::skipped;
use places::host::Executor;
use record::{Failure, LoopRequest, Payload, Request, Sample, abi};
use table::Probe;

/// The row, and so many loops of calls through it.
fn loops(entry: &str, operation: &str) -> (Probe, LoopRequest) {
    let (probe, Request { entry, operation, parent, cpu, .. }) = request(entry, operation);
    let (calls, repetitions, clock) = (100, 200, abi::LOOP_CLOCK_TSC);
    (probe, LoopRequest { entry, operation, calls, repetitions, clock, parent, cpu })
}

/// What each loop took; nothing, and a remark, where this kernel executes no such program or does not have the entry.
fn took(probe: Probe, request: &LoopRequest) -> Option<Vec<u64>> {
    let records = match host().run(probe, cpu(), &request.arguments()) {
        Err(Failure::Process(process::Error::NotStarted { phase: process::Phase::Execute, .. })) => {
            skipped("this kernel does not execute the probe");
            return None;
        }
        records => records.unwrap(),
    };
    if verdict(&records).outcome == abi::OUTCOME_UNSUPPORTED {
        skipped("this kernel does not have the entry");
        return None;
    }
    assert_eq!(verdict(&records).outcome, abi::OUTCOME_OK, "{:?}", verdict(&records));
    let loops = records.iter().find_map(|record| match &record.payload {
        Payload::Loops(loops) => Some(loops),
        _ => None,
    });
    let took = loops.unwrap().iter().map(|[before, behind]| behind.checked_sub(*before).unwrap());
    let took: Vec<u64> = took.collect();
    assert_eq!(took.len() as u64, request.repetitions);
    assert!(took.iter().any(|took| *took > 0), "a clock that stands");
    Some(took)
}

/// Of the shortest loop: the one that was disturbed least.
fn per_call(took: &[u64], request: &LoopRequest) -> f64 {
    *took.iter().min().unwrap() as f64 / request.calls as f64
}

/// The least that the probe's own samples show: entry less control.
fn by_samples(probe: Probe, of: &LoopRequest) -> f64 {
    let request = Request {
        entry: of.entry,
        operation: of.operation,
        blocks: 16,
        ticks: u64::from(u32::MAX),
        bursts: 1,
        parent: of.parent,
        cpu: of.cpu,
        path: false,
        samples: abi::BLOCK_SAMPLES,
        footprint: record::Footprint::NONE,
        uses: 1,
    };
    let records = host().measure(probe, cpu(), &request).unwrap();
    let samples: Vec<Sample> = records
        .iter()
        .filter_map(|record| match &record.payload {
            Payload::Samples(samples) => Some(samples.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    let median = |from: usize| {
        let mut all: Vec<u64> = samples.iter().map(|sample| sample.interval(from)).collect();
        all.sort_unstable();
        all[all.len() / 2] as f64
    };
    median(2) - median(1)
}

#[test]
fn a_loop_and_the_probes_samples_are_of_the_same_order() {
    for (entry, operation) in [
        ("syscall-x86_64", "getppid"),
        ("int80-i386", "getppid"),
        ("vdso-x86_64", "gettimeofday"),
        ("libc", "gettimeofday"),
    ] {
        let (probe, request) = loops(entry, operation);
        let Some(took) = took(probe, &request) else { continue };
        let ratio = per_call(&took, &request) / by_samples(probe, &request);
        assert!((0.1..10.0).contains(&ratio), "{entry} {operation}: {ratio}");
    }
}

#[test]
fn ten_times_the_calls_take_about_ten_times_as_long() {
    let (probe, request) = loops("syscall-x86_64", "getppid");
    let shortest = |calls| {
        let request = LoopRequest { calls, ..request };
        per_call(&took(probe, &request).unwrap(), &request) * calls as f64
    };
    let ratio = shortest(2000) / shortest(200);
    assert!((3.0..30.0).contains(&ratio), "{ratio}");
}

#[test]
fn a_turn_of_unixbench_costs_more_than_its_parts_and_not_much_more_than_five_calls() {
    for entry in ["syscall-x86_64", "libc"] {
        // The shortest of several runs: noise only adds.
        let ticks = |operation: &str| {
            let (probe, request) = loops(entry, operation);
            let runs = (0..5).map(|_| per_call(&took(probe, &request).unwrap(), &request));
            runs.fold(f64::INFINITY, f64::min)
        };
        let [mix, close, getpid, getppid] =
            ["unixbench-syscall", "unixbench-close", "unixbench-getpid", "getppid"].map(ticks);
        assert!(
            (3.0..30.0).contains(&(mix / getppid)),
            "{entry}: {mix} ticks for five calls, {getppid} for one"
        );
        assert!((1.2..15.0).contains(&(close / getppid)), "{entry}: {close} for two, {getppid} for one");
        assert!((0.3..3.0).contains(&(getpid / getppid)), "{entry}: {getpid} and {getppid}");
        assert!(mix > close, "{entry}: {mix}, {close}");
        let (probe, request) = loops(entry, "unixbench-exec");
        let request = LoopRequest { calls: 2, repetitions: 20, ..request };
        let exec = per_call(&took(probe, &request).unwrap(), &request);
        assert!(exec > 20.0 * getppid, "{entry}: a process takes {exec} ticks, a call {getppid}");
    }
}

#[test]
fn the_systems_clock_counts_nanoseconds() {
    for entry in ["syscall-x86_64", "int80-i386"] {
        let (probe, request) = loops(entry, "getppid");
        let request = LoopRequest { calls: 1000, ..request };
        let in_ns = LoopRequest { clock: abi::LOOP_CLOCK_SYSTEM, ..request };
        let Some((ticks, ns)) = took(probe, &request).zip(took(probe, &in_ns)) else { continue };
        // A counter of 0.2 to 20 GHz, whatever else differs between the two runs.
        let rate = per_call(&ticks, &request) / per_call(&ns, &in_ns);
        assert!((0.2..20.0).contains(&rate), "{entry}: {rate} ticks in a nanosecond");
    }
}

#[test]
fn what_is_wrong_is_not_timed() {
    let ask = |entry: &str, operation: &str, change: &dyn Fn(&mut LoopRequest)| {
        let (probe, mut request) = loops(entry, operation);
        change(&mut request);
        let records = host().run(probe, cpu(), &request.arguments()).unwrap();
        assert!(
            !records.iter().any(|record| matches!(record.payload, Payload::Loops(_))),
            "{entry} {operation}"
        );
        verdict(&records)
    };
    let wrong = ask("syscall-x86_64", "getppid", &|request| request.parent += 1);
    assert_eq!((wrong.outcome, wrong.cause), (abi::OUTCOME_MISMATCH, abi::CAUSE_ANSWER));
    let refused = |place: u64, change: &dyn Fn(&mut LoopRequest)| {
        let found = ask("syscall-x86_64", "getppid", change);
        assert_eq!(
            (found.outcome, found.cause, found.detail[0]),
            (abi::OUTCOME_ERROR, abi::CAUSE_REQUEST, place)
        );
    };
    refused(abi::REQUEST_CALLS, &|request| request.calls = 0);
    refused(abi::REQUEST_CALLS, &|request| request.calls = abi::MAX_CALLS + 1);
    refused(abi::REQUEST_REPETITIONS, &|request| request.repetitions = 0);
    refused(abi::REQUEST_REPETITIONS, &|request| request.repetitions = abi::MAX_REPETITIONS + 1);
    refused(abi::REQUEST_CLOCK, &|request| request.clock = 0);
    refused(abi::REQUEST_CLOCK, &|request| request.clock = 3);
    refused(abi::REQUEST_ENTRY, &|request| request.entry = 4242);
    let fault = ask("page-fault", "minor-fault", &|_| {});
    let place = abi::REQUEST_OPERATION;
    assert_eq!(
        (fault.outcome, fault.cause, fault.detail[0]),
        (abi::OUTCOME_ERROR, abi::CAUSE_REQUEST, place)
    );
}

#[test]
fn as_many_loops_as_the_probe_allows_are_read_whole() {
    let (probe, request) = loops("call", "none");
    let request = LoopRequest { calls: 1, repetitions: abi::MAX_REPETITIONS, ..request };
    assert_eq!(took(probe, &request).unwrap().len() as u64, abi::MAX_REPETITIONS);
}

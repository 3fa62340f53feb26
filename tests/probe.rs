//! The real probe, asked what it must not answer well: its checks can fail.

use crate::asked::{cpu, host, request, verdict, with_time};
use crate::skipped::skipped;
use places::host::Executor;
use record::{Failure, Footprint, Payload, Record, Request, Sample, Verdict, abi};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use table::{Kernel, Probe, Table};

fn ask(entry: &str, operation: &str, change: impl Fn(&mut Request)) -> Verdict {
    let (probe, mut request) = request(entry, operation);
    change(&mut request);
    verdict(&host().measure(probe, cpu(), &request).unwrap())
}

#[test]
fn a_right_answer_is_ok_and_a_wrong_one_is_not() {
    assert_eq!(ask("syscall-x86_64", "getppid", |_| {}).outcome, abi::OUTCOME_OK);
    let wrong = ask("syscall-x86_64", "getppid", |request| request.parent += 1);
    assert_eq!((wrong.outcome, wrong.cause), (abi::OUTCOME_MISMATCH, abi::CAUSE_ANSWER));
    assert_eq!(wrong.detail[0], u64::from(std::process::id()));

    let wrong = ask("syscall-x86_64", "getcpu", |request| request.cpu += 1);
    assert_eq!((wrong.outcome, wrong.cause), (abi::OUTCOME_MISMATCH, abi::CAUSE_ANSWER));
}

#[test]
fn where_nobody_knows_parent_and_cpu_the_probe_asks_the_kernel_itself() {
    for (entry, operation) in [
        ("syscall-x86_64", "getppid"),
        ("int80-i386", "getppid"),
        ("libc", "getppid"),
        ("syscall-x86_64", "getcpu"),
        ("vdso-x86_64", "getcpu"),
        ("int80-i386", "getcpu"),
        ("rdpid", "none"),
        ("rseq", "none"),
    ] {
        let unknown = |request: &mut Request| {
            (request.parent, request.cpu) = (abi::REQUEST_ASK, abi::REQUEST_ASK);
        };
        let found = ask(entry, operation, unknown);
        // A processor may lack rdpid.
        let is_right =
            found.outcome == abi::OUTCOME_OK || entry == "rdpid" && found.cause == abi::CAUSE_SIGNAL;
        assert!(is_right, "{entry} {operation}: {found:?}");
    }
}

#[test]
fn a_call_number_of_the_other_abi_does_not_pass_for_the_operation() {
    // Number 96 is gettimeofday by x86-64 numbers, and something else by i386 ones: the entry and the operation of a
    // request decide the number, so the nearest that can be asked is an operation that the entry's ABI lacks.
    let (probe, mut request) = request("syscall-x86_64", "gettimeofday");
    request.operation = Table::get().operation("clock_gettime64-monotonic").unwrap().id;
    // It has no x86-64 number: 0, read(2), with a clock's arguments. Number 1 of that clock is the probe's standard output, a
    // pipe that can only be written to.
    let found = verdict(&host().measure(probe, cpu(), &request).unwrap());
    let refused = (abi::OUTCOME_REFUSED, abi::CAUSE_ERRNO, process::Errno::EBADF as u64);
    assert_eq!((found.outcome, found.cause, found.detail[0]), refused);
}

#[test]
fn a_request_that_does_not_parse_names_the_argument() {
    let refused = |place: u64, text: &str| {
        let (probe, request) = request("call", "none");
        let mut arguments = request.arguments();
        arguments[place as usize - 1] = text.into();
        let found = verdict(&host().run(probe, cpu(), &arguments).unwrap());
        assert_eq!((found.outcome, found.cause), (abi::OUTCOME_ERROR, abi::CAUSE_REQUEST), "{text:?}");
        assert_eq!(found.detail[0], place, "{text:?}");
    };
    for text in ["", "x", "-1", "1x", "99999999999999999999999"] {
        refused(abi::REQUEST_BLOCKS, text);
    }
    refused(abi::REQUEST_ENTRY, "4242");
    refused(abi::REQUEST_OPERATION, "4242");
    refused(abi::REQUEST_BLOCKS, &(abi::MAX_BLOCKS + 1).to_string());
    refused(abi::REQUEST_SAMPLES, "0");
    refused(abi::REQUEST_SAMPLES, &(abi::BLOCK_SAMPLES + 1).to_string());
    let nothing = host().run(Probe::Probe64, cpu(), &[]).unwrap();
    assert_eq!(verdict(&nothing).cause, abi::CAUSE_REQUEST);
}

#[test]
fn the_greatest_number_was_refused() {
    for (entry, greatest, above) in
        [("call", "18446744073709551615", "18446744073709551616"), ("int80-i386", "4294967295", "4294967296")]
    {
        let (probe, request) = request(entry, if entry == "call" { "none" } else { "getppid" });
        let ask = |ticks: &str| {
            let mut arguments = request.arguments();
            arguments[abi::REQUEST_TICKS as usize - 1] = ticks.into();
            host().run(probe, cpu(), &arguments).map(|records| verdict(&records))
        };
        match ask(greatest) {
            Err(failure) if is_not_executed(probe, &failure) => return skipped(NO_32_BIT),
            found => assert_eq!(found.unwrap().outcome, abi::OUTCOME_OK, "{entry}"),
        }
        assert_eq!(ask(above).unwrap().cause, abi::CAUSE_REQUEST, "{entry}");
    }
}

/// Lengths of the blocks of samples.
fn blocks(records: &[Record]) -> Vec<u64> {
    let length = |record: &Record| match &record.payload {
        Payload::Samples(samples) => Some(samples.len() as u64),
        _ => None,
    };
    records.iter().filter_map(length).collect()
}

#[test]
fn a_measurement_has_the_samples_it_was_asked_for() {
    let (probe, request) = request("call", "none");
    // Enough for two blocks however busy the machine is.
    let request = Request { ticks: u64::from(u32::MAX), ..request };
    let records = host().measure(probe, cpu(), &request).unwrap();
    let canaries = records.iter().filter(|record| matches!(record.payload, Payload::Canary(_))).count();
    assert_eq!(
        (blocks(&records), canaries),
        (vec![abi::BLOCK_SAMPLES; 2], 4),
        "before each, after the last, and after the bursts"
    );
    let path = records.iter().find_map(|record| match record.payload {
        Payload::Fact { fact: abi::FACT_PATH, value } => Some(value),
        _ => None,
    });
    assert_eq!(path, Some(abi::PATH_USER), "a call to a function that does nothing");
}

/// The shortest of the intervals from that stamp to the next, which had no interrupt in it.
fn shortest(samples: &[Sample], from: usize) -> u64 {
    samples.iter().map(|sample| sample.interval(from)).min().unwrap()
}

#[test]
fn a_measurement_tells_whether_stamps_wait_for_what_is_before_them() {
    for (entry, operation) in [("call", "none"), ("int80-i386", "getppid")] {
        let (probe, request) = request(entry, operation);
        let records = match host().measure(probe, cpu(), &request) {
            Ok(records) => records,
            Err(failure) if is_not_executed(probe, &failure) => {
                skipped(NO_32_BIT);
                continue;
            }
            Err(failure) => panic!("{entry}: {failure}"),
        };
        let chains = records.iter().find_map(|record| match record.payload {
            Payload::Begin(lengths) => Some(lengths.chains),
            _ => None,
        });
        let orders: Vec<&Vec<Sample>> = records
            .iter()
            .filter_map(|record| match &record.payload {
                Payload::Order(samples) => Some(samples),
                _ => None,
            })
            .collect();
        assert_eq!((orders.len(), chains), (1, Some(8)), "{entry}");
        let [nothing, one, several] = [0, 1, 2].map(|from| shortest(orders[0], from));
        assert!(nothing < one && 4 * one < several, "{entry}: {:?}", orders[0]);
    }
}

/// Keeps a CPU busy from another thread until it is dropped.
struct Competitor {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Competitor {
    fn on(cpu: usize) -> Competitor {
        let end = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&end);
        let thread = std::thread::spawn(move || {
            process::pin_this_thread(cpu).unwrap();
            while !seen.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        Competitor { end, thread: Some(thread) }
    }
}

impl Drop for Competitor {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// The counts that the canaries before and after the blocks have, and the whole run's.
fn preemptions(records: &[Record]) -> (Vec<u64>, u64) {
    let count = |record: &Record| match record.payload {
        Payload::Canary(canary) => Some(canary.preemptions),
        _ => None,
    };
    let counts = records.iter().filter_map(count).collect();
    match records.last().map(|record| &record.payload) {
        Some(Payload::End { preemptions, .. }) => (counts, *preemptions),
        last => panic!("{last:?}"),
    }
}

#[test]
fn a_canary_counts_the_preemptions_before_it() {
    let cpu = cpu();
    let _competitor = Competitor::on(cpu);
    // Some 20 ms: the scheduler takes the CPU away several times. It may be late; a hundred runs do not all escape it.
    let (probe, request) = request("ud", "signal");
    let request = Request { blocks: abi::MAX_BLOCKS, ticks: u64::from(u32::MAX), ..request };
    for _ in 0..100 {
        let (counts, whole) = preemptions(&host().measure(probe, cpu, &request).unwrap());
        assert!(counts.is_sorted(), "{counts:?}");
        let between = counts[counts.len() - 1] - counts[0];
        assert!(between <= whole, "{counts:?} in a run that had {whole}");
        if between > 0 {
            return;
        }
    }
    panic!("no canary counted a preemption, although two threads share the CPU");
}

#[test]
fn a_block_is_as_short_as_was_asked_for() {
    for (entry, operation) in [("syscall-x86_64", "getppid"), ("page-fault", "minor-fault")] {
        let (probe, request) = request(entry, operation);
        let request = Request { samples: 3, ticks: u64::from(u32::MAX), ..request };
        let records = host().measure(probe, cpu(), &request).unwrap();
        assert_eq!(verdict(&records).outcome, abi::OUTCOME_OK, "{entry}");
        assert_eq!(blocks(&records), [3, 3], "{entry}");
    }
}

#[test]
fn a_trap_of_gnu_mach_is_no_call_of_linux() {
    for (entry, operation) in [
        ("syscall-x86_64", "mach_print"),
        ("trapgate-x86_64", "mach_msg-null"),
        ("syscall-x86_64", "mach_msg-send-receive"),
        ("syscall-x86_64", "mach_msg-rpc"),
        ("syscall-x86_64", "mach_msg-rpc-4096"),
        ("syscall-x86_64", "mach_msg-rpc-right"),
        ("stub-gate-x86_64", "mach_print"),
        ("entry-page-x86_64", "mach_msg-rpc"),
        ("mapped-time-mach", "mapped-time"),
        ("trapgate-i386", "mach_print"),
        ("sysenter-i386", "mach_msg-rpc"),
        ("stub-gate-i386", "mach_msg-null"),
        ("stub-sysenter-i386", "mach_print"),
        ("entry-page-i386", "mach_print"),
        ("mapped-time-mach-i386", "mapped-time"),
    ] {
        let Some(found) = ask_if_executed(entry, operation) else { continue };
        let refused = (abi::OUTCOME_REFUSED, abi::CAUSE_ERRNO, process::Errno::ENOSYS as u64);
        let found = (found.outcome, found.cause, found.detail[0]);
        // A kernel or a processor may lack the entry.
        let is_closed = found.1 == abi::CAUSE_SIGNAL || found.0 == abi::OUTCOME_UNSUPPORTED;
        assert!(found == refused || is_closed, "{entry} {operation}: {found:?}");
    }
    // What the timed code has no form for is no request.
    let none = ask("int80-x86_64", "mach_print", |_| {});
    assert_eq!(
        (none.outcome, none.cause, none.detail[0]),
        (abi::OUTCOME_ERROR, abi::CAUSE_REQUEST, abi::REQUEST_OPERATION)
    );
}

const SIGILL: u64 = 4;
const SIGTRAP: u64 = 5;
const SIGFPE: u64 = 8;
const SIGSEGV: u64 = 11;

#[test]
fn an_exception_that_is_asked_for_a_call_is_a_fault_on_linux() {
    for (entry, signal) in [("ud", SIGILL), ("lock-nop", SIGILL), ("int3", SIGTRAP), ("div0", SIGFPE)] {
        assert_eq!(ask(entry, "signal", |_| {}).outcome, abi::OUTCOME_OK, "{entry}");
        let found = ask(entry, "getppid", |_| {});
        assert_eq!((found.outcome, found.cause), (abi::OUTCOME_FAULT, abi::CAUSE_SIGNAL), "{entry}");
        assert_eq!(found.detail[0], signal, "{entry}");
    }
}

#[test]
fn the_labs_entries_lead_where_their_texts_say_on_linux() {
    for bits in ["x86_64", "i386"] {
        let ask = |entry: &str| ask_if_executed(&format!("{entry}-{bits}"), "getppid");
        assert_eq!(ask("intgate"), ask("int80"), "{bits}: Linux has one gate for all three");
        assert_eq!(ask("trapgate"), ask("int80"), "{bits}: Linux has one gate for all three");
    }
    for gate in ["call-gate-x86_64", "call-gate-i386"] {
        let Some(found) = ask_if_executed(gate, "getppid") else { continue };
        assert_eq!((found.outcome, found.cause), (abi::OUTCOME_FAULT, abi::CAUSE_SIGNAL), "{gate}");
        assert_eq!(found.detail[0], SIGSEGV, "{gate}");
    }
}

const NO_32_BIT: &str = "this kernel executes no 32-bit programs";

fn is_not_executed(probe: Probe, failure: &Failure) -> bool {
    let is_refused = matches!(
        failure,
        Failure::Process(process::Error::NotStarted { phase: process::Phase::Execute, .. })
    );
    is_refused && probe == Probe::Probe32
}

/// Nothing where this kernel does not execute 32-bit programs.
fn ask_if_executed(entry: &str, operation: &str) -> Option<Verdict> {
    let (probe, request) = request(entry, operation);
    match host().measure(probe, cpu(), &request) {
        Ok(records) => Some(verdict(&records)),
        Err(failure) if is_not_executed(probe, &failure) => {
            skipped(NO_32_BIT);
            None
        }
        Err(failure) => panic!("{entry}: {failure}"),
    }
}

#[test]
fn a_probe_that_takes_too_long_is_ended() {
    let time = Duration::from_millis(1);
    let mut host = with_time(time);
    let (probe, mut request) = request("cpuid", "none");
    request.blocks = abi::MAX_BLOCKS;
    request.ticks = u64::from(u32::MAX);
    assert_eq!(host.measure(probe, cpu(), &request), Err(Failure::Process(process::Error::Timeout(time))));
}

#[test]
fn the_first_sample_of_a_block_was_slow() {
    // In 32-bit code the canary's own system call made the predictors forget: one sample in 64, which is p99.
    let (probe, request) = request("vdso-i386", "clock_gettime-monotonic");
    let request = Request { blocks: abi::MAX_BLOCKS, ticks: u64::from(u32::MAX), ..request };
    let records = match host().measure(probe, cpu(), &request) {
        Err(failure) if is_not_executed(probe, &failure) => return skipped(NO_32_BIT),
        records => records.unwrap(),
    };
    let found = verdict(&records);
    if found.outcome == abi::OUTCOME_UNSUPPORTED {
        return skipped(format!("there is no such function in the 32-bit vDSO: {found:?}"));
    }
    assert_eq!(found.outcome, abi::OUTCOME_OK, "{found:?}");
    let blocks = records.iter().filter_map(|record| match &record.payload {
        Payload::Samples(samples) => Some(samples),
        _ => None,
    });
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for samples in blocks {
        first.push(samples[0].interval(2));
        later.push(samples[32].interval(2));
    }
    // Of the middle half: neither what interrupts did, nor single steps of a coarse counter.
    let usual = |mut ticks: Vec<u64>| {
        ticks.sort_unstable();
        let middle = &ticks[ticks.len() / 4..ticks.len() * 3 / 4];
        middle.iter().sum::<u64>() as f64 / middle.len() as f64
    };
    let (first, later) = (usual(first), usual(later));
    assert!(first < later * 1.25, "the first samples took {first}, later ones {later}");
}

/// A request for a footprint.
fn among(entry: &str, operation: &str, footprint: Footprint) -> (Probe, Request) {
    let (probe, request) = request(entry, operation);
    (probe, Request { footprint, bursts: 0, path: false, ..request })
}

#[test]
fn an_entry_is_measured_among_pages_and_lines() {
    let most = Footprint { pages: abi::MAX_PAGES, lines: abi::MAX_LINES };
    let footprints =
        [Footprint::pages(1), Footprint { pages: 0, lines: 1 }, Footprint { pages: 3, lines: 70 }, most];
    for (entry, operation) in [
        ("syscall-x86_64", "getppid"),
        ("page-fault", "minor-fault"),
        ("ud", "signal"),
        ("int80-i386", "getppid"),
    ] {
        let mut controls = Vec::new();
        for footprint in footprints {
            let (probe, request) = among(entry, operation, footprint);
            let records = match host().measure(probe, cpu(), &request) {
                Ok(records) => records,
                Err(failure) if is_not_executed(probe, &failure) => return skipped(NO_32_BIT),
                Err(failure) => panic!("{entry}: {failure}"),
            };
            assert_eq!(verdict(&records).outcome, abi::OUTCOME_OK, "{entry} among {footprint}");
            let samples = records.iter().filter_map(|record| match &record.payload {
                Payload::Samples(samples) => Some(samples),
                _ => None,
            });
            let samples: Vec<Sample> = samples.flatten().copied().collect();
            controls.push(shortest(&samples, 1));
        }
        // All loads are made: each waits for the one before it, and takes some cycles at least.
        let [first, .., last] = controls.as_slice() else { unreachable!() };
        let loads = most.pages + most.lines;
        assert!(last - first > loads, "{entry}: {loads} loads take {last} ticks, one takes {first}");
    }
}

#[test]
fn a_footprint_beyond_its_bounds_or_between_bursts_is_refused() {
    let refused = |place: u64, request: Request| {
        let found = verdict(&host().run(Probe::Probe64, cpu(), &request.arguments()).unwrap());
        assert_eq!((found.outcome, found.cause), (abi::OUTCOME_ERROR, abi::CAUSE_REQUEST), "{request:?}");
        assert_eq!(found.detail[0], place, "{request:?}");
    };
    let (_, request) = among("call", "none", Footprint::NONE);
    let with = |pages, lines| Request { footprint: Footprint { pages, lines }, ..request };
    refused(abi::REQUEST_PAGES, with(abi::MAX_PAGES + 1, 0));
    refused(abi::REQUEST_LINES, with(0, abi::MAX_LINES + 1));
    refused(abi::REQUEST_BURSTS, Request { bursts: 1, ..with(0, 1) });
}

/// What a probe says of the uses in a sample.
fn uses_said(records: &[Record]) -> Option<u64> {
    records.iter().find_map(|record| match record.payload {
        Payload::Fact { fact: abi::FACT_USES, value } => Some(value),
        _ => None,
    })
}

#[test]
fn a_sample_of_several_uses_is_as_many_times_as_long() {
    for name in ["call none", "rdtsc none", "vdso-x86_64 time"] {
        let (entry, operation) = name.split_once(' ').unwrap();
        let uses = Table::get().entry(entry).unwrap().uses;
        let control = |uses: u64| {
            let (probe, request) = request(entry, operation);
            let records = host().measure(probe, cpu(), &Request { uses, path: false, ..request }).unwrap();
            let found = verdict(&records);
            if found.outcome != abi::OUTCOME_OK {
                return None;
            }
            assert_eq!(uses_said(&records), (uses > 1).then_some(uses), "{name}");
            let samples = records.iter().filter_map(|record| match &record.payload {
                Payload::Samples(samples) => Some(samples.iter()),
                _ => None,
            });
            let mut controls: Vec<u64> = samples.flatten().map(|sample| sample.interval(1)).collect();
            controls.sort_unstable();
            let middle = &controls[controls.len() / 4..controls.len() * 3 / 4];
            Some(middle.iter().sum::<u64>() as f64 / middle.len() as f64)
        };
        // A kernel without a vDSO has no such function.
        let Some((one, several)) = control(1).zip(control(uses)) else { continue };
        let part = several / one / uses as f64;
        assert!((0.5..2.0).contains(&part), "{name}: {uses} controls take {several} ticks, one takes {one}");
    }
}

#[test]
fn a_function_that_enters_the_kernel_has_one_use_in_a_sample() {
    let ask = |operation, path| {
        let (probe, request) = request("vdso-x86_64", operation);
        let records = host().measure(probe, cpu(), &Request { uses: 16, path, ..request }).unwrap();
        let path = records.iter().find_map(|record| match record.payload {
            Payload::Fact { fact: abi::FACT_PATH, value } => Some(value),
            _ => None,
        });
        (verdict(&records).outcome, path, uses_said(&records))
    };
    // A thread's own time is known to the kernel alone.
    let (outcome, path, uses) = ask("clock_gettime-thread-cputime", true);
    if outcome != abi::OUTCOME_OK {
        return skipped("this kernel has no 64-bit vDSO");
    }
    assert_eq!((path, uses), (Some(abi::PATH_KERNEL), None));
    // Who does not ask, knows.
    assert_eq!(ask("clock_gettime-thread-cputime", false).2, Some(16));
    let (_, path, uses) = ask("clock_gettime-monotonic-coarse", true);
    assert_eq!(uses, (path == Some(abi::PATH_USER)).then_some(16));
}

#[test]
fn uses_that_no_code_takes_are_refused() {
    let refused = |probe: Probe, request: Request| {
        let found = verdict(&host().run(probe, cpu(), &request.arguments()).unwrap());
        assert_eq!((found.outcome, found.cause), (abi::OUTCOME_ERROR, abi::CAUSE_REQUEST), "{request:?}");
        assert_eq!(found.detail[0], abi::REQUEST_USES, "{request:?}");
    };
    let (call, request_of_call) = request("call", "none");
    for uses in [0, 2, 15, abi::MAX_USES + 1] {
        refused(call, Request { uses, ..request_of_call });
    }
    let (_, touched) = among("call", "none", Footprint::pages(1));
    refused(call, Request { uses: 16, ..touched });
    for (entry, operation) in [("syscall-x86_64", "none"), ("libc", "getppid")] {
        let (probe, request) = request(entry, operation);
        refused(probe, Request { uses: 16, ..request });
    }
}

/// Runs a probe by a shell that does something before.
fn after(setup: &str, entry: &str, operation: &str) -> Verdict {
    let (probe, request) = request(entry, operation);
    run_file(places::probes::image(probe), setup, &request)
}

/// Runs the file of a probe by a shell that does something before.
fn run_file(image: &[u8], setup: &str, request: &Request) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("probe");
    std::fs::write(&file, image).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    // The shell becomes the probe, so that this process is the parent that getppid must answer.
    let script = format!("{setup}; exec \"$0\" \"$@\"");
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .arg(&file)
        .args(request.arguments())
        .output()
        .unwrap();
    verdict(&record::parse(&output.stdout).unwrap())
}

/// Runs the entry's probe with other code in place of each of these instructions.
fn with_code(entry: &str, instruction: &[u8], code: &[u8]) -> Verdict {
    let (probe, request) = request(entry, "none");
    let mut image = places::probes::image(probe).to_vec();
    let is_there = |at: &usize| image[*at..].starts_with(instruction);
    let places: Vec<usize> = (0..image.len()).filter(is_there).collect();
    assert!(!places.is_empty() && code.len() == instruction.len());
    places.iter().for_each(|at| image[*at..at + code.len()].copy_from_slice(code));
    run_file(&image, ":", &request)
}

const UNIXBENCH: [&str; 4] = ["unixbench-syscall", "unixbench-close", "unixbench-getpid", "unixbench-exec"];

#[test]
fn unixbenchs_loops_are_answered_through_every_entry_that_serves_them() {
    for (entry, operation) in Table::get().rows(Kernel::Linux).filter(|(_, one)| one.loops.is_some()) {
        let Some(found) = ask_if_executed(&entry.name, &operation.name) else { continue };
        let is_closed = found.outcome == abi::OUTCOME_UNSUPPORTED || found.outcome == abi::OUTCOME_REFUSED;
        let is_fault = found.cause == abi::CAUSE_SIGNAL && found.detail[0] == SIGILL;
        assert!(
            found.outcome == abi::OUTCOME_OK || is_closed || is_fault,
            "{} {}: {found:?}",
            entry.name,
            operation.name
        );
        let must = ["syscall-x86_64", "libc"].contains(&entry.name.as_str());
        assert!(!must || found.outcome == abi::OUTCOME_OK, "{} {}: {found:?}", entry.name, operation.name);
    }
}

#[test]
fn a_turn_of_unixbench_that_does_not_do_its_work_is_not_timed() {
    let errno = |found: Verdict| {
        assert_eq!((found.outcome, found.cause), (abi::OUTCOME_REFUSED, abi::CAUSE_ERRNO), "{found:?}");
        found.detail[0]
    };
    for entry in ["syscall-x86_64", "libc"] {
        for operation in UNIXBENCH {
            assert_eq!(after(":", entry, operation).outcome, abi::OUTCOME_OK, "{entry} {operation}");
        }
        for operation in ["unixbench-syscall", "unixbench-close"] {
            let closed = after("exec 0<&-", entry, operation);
            assert_eq!(errno(closed), process::Errno::EBADF as u64, "{entry}: there is nothing to dup");
        }
        assert_eq!(after("exec 0<&-", entry, "unixbench-getpid").outcome, abi::OUTCOME_OK, "{entry}");
    }
    let full = after("ulimit -n 3", "syscall-x86_64", "unixbench-syscall");
    assert_eq!(errno(full), process::Errno::EMFILE as u64, "no descriptor is left");
}

#[test]
fn a_batch_of_io_uring_is_timed_where_all_of_it_completes() {
    let operations = Table::get().operations.iter().filter(|operation| operation.nops.is_some());
    for operation in operations.map(|operation| operation.name.as_str()) {
        let found = after(":", "syscall-x86_64", operation);
        let is_closed = found.outcome == abi::OUTCOME_REFUSED && found.cause == abi::CAUSE_NO_RING;
        assert!(found.outcome == abi::OUTCOME_OK || is_closed, "{operation}: {found:?}");
        let full = after("ulimit -n 3", "syscall-x86_64", operation);
        assert_eq!((full.outcome, full.cause), (abi::OUTCOME_REFUSED, abi::CAUSE_NO_RING), "{operation}");
        let no_descriptor = process::Errno::EMFILE as u64;
        assert!(is_closed || full.detail[0] == no_descriptor, "{operation}: {full:?}");
    }
}

/// Asks the C library for the operation, some of whose functions another library has.
fn preloaded(source: &str, operation: &str) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    let (file, library) = (folder.path().join("lie.c"), folder.path().join("lie.so"));
    std::fs::write(&file, source).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut compile = std::process::Command::new(compiler);
    compile.args(["-shared", "-fPIC", "-nostdlib", "-fno-builtin", "-w", "-o"]);
    assert!(compile.arg(&library).arg(&file).status().unwrap().success());
    after(&format!("export LD_PRELOAD='{}'", library.display()), "libc", operation)
}

#[test]
fn a_c_library_that_answers_otherwise_is_a_mismatch() {
    // As a preloaded library may: each call of a turn is checked, not the first alone.
    for (function, answer) in [
        ("dup", 77),
        ("close", 1),
        ("getpid", 1),
        ("getuid", 4242),
        ("umask", 0),
        ("fork", 1),
        ("execv", 0),
        ("waitpid", 1),
    ] {
        let lie = format!("int {function}(int a) {{ (void)a; return {answer}; }}\n");
        let makes_process = ["fork", "execv", "waitpid"].contains(&function);
        let operation = if makes_process { "unixbench-exec" } else { "unixbench-syscall" };
        let found = preloaded(&lie, operation);
        assert_eq!((found.outcome, found.cause), (abi::OUTCOME_MISMATCH, abi::CAUSE_ANSWER), "{function}");
        assert!(makes_process || found.detail[0] as u32 == answer, "{function}: {found:?}");
    }
}

#[test]
fn bytes_that_are_not_random_are_a_mismatch_in_words_of_their_own() {
    let lie = |body: &str| {
        let source = format!("long getrandom(char *to, long bytes, int flags) {{ {body} return bytes; }}\n");
        let found = preloaded(&source, "getrandom");
        assert_eq!((found.outcome, found.cause), (abi::OUTCOME_MISMATCH, abi::CAUSE_NOT_RANDOM), "{body}");
        (found.detail[0], found.detail[1])
    };
    assert_eq!(lie("").0, 0, "nothing was written");
    let constant = "for (long at = 0; at < bytes; at++) to[at] = 7;";
    assert_eq!(lie(constant), (2, 0x0707_0707_0707_0707));
}

#[test]
fn a_generator_that_gives_no_number_or_one_for_ever_is_a_mismatch() {
    const RDRAND: [u8; 4] = [0x48, 0x0f, 0xc7, 0xf0];
    let found = ask("rdrand", "none", |_| {});
    let is_missing = (found.cause, found.detail[0]) == (abi::CAUSE_SIGNAL, SIGILL);
    assert!(found.outcome == abi::OUTCOME_OK || is_missing, "{found:?}");

    let broken = |code| {
        let found = with_code("rdrand", &RDRAND, code);
        assert_eq!((found.outcome, found.cause), (abi::OUTCOME_MISMATCH, abi::CAUSE_NOT_RANDOM), "{found:?}");
        (found.detail[0], found.detail[1])
    };
    // xor %eax, %eax; clc: CF is 0, and so is the number.
    assert_eq!(broken(&[0x31, 0xc0, 0xf8, 0x90]), (0, 0));
    // stc; sbb %rax, %rax: all ones each time, and CF is 1, as on AMD's processors behind a suspend.
    assert_eq!(broken(&[0xf9, 0x48, 0x19, 0xc0]), (2, u64::MAX));
}

#[test]
fn a_far_transfer_that_tells_another_segment_is_a_mismatch() {
    // mov %cs, %eax, where it has gone; and xor %eax, %eax in its place, before the same way back.
    for (entry, way_back) in [
        ("far-call-x86_64", &[0xcb][..]),
        ("far-jump-x86_64", &[0x2e, 0xff, 0x29]),
        ("far-call-i386", &[0xcb]),
        ("far-jump-i386", &[0x67, 0xff, 0x29]),
    ] {
        let Some(found) = ask_if_executed(entry, "none") else { continue };
        if (found.cause, found.detail[0]) == (abi::CAUSE_SIGNAL, SIGSEGV) {
            continue;
        }
        assert_eq!(found.outcome, abi::OUTCOME_OK, "{entry}: {found:?}");
        let code = |first: [u8; 2]| [&first[..], way_back].concat();
        let found = with_code(entry, &code([0x8c, 0xc8]), &code([0x31, 0xc0]));
        assert_eq!((found.outcome, found.cause), (abi::OUTCOME_MISMATCH, abi::CAUSE_ANSWER), "{entry}");
    }
}

#[test]
fn an_operation_of_several_calls_needs_timed_code_for_them() {
    let (probe, mut request) = request("call", "none");
    request.operation = Table::get().operation("unixbench-syscall").unwrap().id;
    let found = verdict(&host().measure(probe, cpu(), &request).unwrap());
    let refused = (abi::OUTCOME_ERROR, abi::CAUSE_REQUEST, abi::REQUEST_OPERATION);
    assert_eq!((found.outcome, found.cause, found.detail[0]), refused);
}

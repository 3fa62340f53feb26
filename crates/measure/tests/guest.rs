//! `kentry linux` on guests that are made up: what is booted, what becomes of their answers, and what of guests that lie, hang or say
//! nothing.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use document::{Document, Outcome, Row, Timing};
use environment::Environment;
use measure::guest::{GuestPlan, Kernel, Machine, Options, Request, Setup, measure};
use measure::lab::Accel;
use places::guest::{Booted, Hello, Trouble};
use places::host::Interrupt;
use stats::{Cost, Instructions};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use table::Table;

/// A machine whose guests answer by this function, and what it was asked for.
struct MadeUp<F> {
    answer: F,
    asked: Mutex<Vec<Request>>,
    running: AtomicUsize,
    most: AtomicUsize,
}

impl<F: Fn(&Request) -> Booted + Sync> MadeUp<F> {
    fn new(answer: F) -> MadeUp<F> {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        MadeUp { answer, asked: Mutex::new(Vec::new()), running, most }
    }
}

impl<F: Fn(&Request) -> Booted + Sync> Machine for MadeUp<F> {
    fn boot(&self, request: &Request) -> Booted {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(20));
        self.asked.lock().unwrap().push(request.clone());
        let ended = (self.answer)(request);
        self.running.fetch_sub(1, Ordering::SeqCst);
        ended
    }
}

fn options() -> Options {
    Options {
        entry: vec!["syscall".into(), "int80-i386".into()],
        operation: vec!["none".into(), "getppid".into()],
        kernels: Vec::new(),
        append: Vec::new(),
        cpu_models: Vec::new(),
        set: Vec::new(),
        accel: Accel::Tcg,
        boots: None,
        follows: false,
        seed: 3,
        memory_mib: 512,
        time: Duration::from_secs(60),
    }
}

fn interrupted() -> Trouble {
    Trouble::Machine(places::emulator::Trouble::Interrupted)
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| text.to_string()).collect()
}

/// What comes of a plan on such a machine.
fn measured(options: &Options, machine: &dyn Machine) -> Result<Document, measure::Error> {
    on(options, machine, document::Machine::QemuTcg, &Interrupt::default())
}

fn on(
    options: &Options,
    machine: &dyn Machine,
    place: document::Machine,
    interrupt: &Interrupt,
) -> Result<Document, measure::Error> {
    let plan = GuestPlan::new(Table::get(), options)?;
    let kernel = |word: &String| Kernel { file: format!("/boot/{word}"), release: format!("{word}.0") };
    let setup = Setup {
        machine,
        place,
        version: "QEMU 7.2.22".into(),
        cpu_model: "max".into(),
        kernels: plan.kernels.iter().map(kernel).collect(),
        at_once: 3,
        interrupt: interrupt.clone(),
    };
    measure(&plan, &setup, &mut |_, _| ())
}

fn cost(estimate: f64) -> Cost<Instructions> {
    Cost::single(Instructions(estimate))
}

/// A guest's document: every row of the request costs this.
fn document(request: &Request, estimate: f64, pti: bool) -> Document {
    let table = Table::get();
    let row = |(entry, operation): &(u16, u16)| {
        let entry = table.entries.iter().find(|one| one.id == *entry).unwrap();
        let operation = table.operations.iter().find(|one| one.id == *operation).unwrap();
        Row {
            timing: Timing::Emulated,
            instructions: Some(cost(estimate)),
            ..Row::unmeasured(&entry.name, &operation.name, entry.bits())
        }
    };
    let mut environment = Environment { host: "linux".into(), ..Environment::default() };
    environment.kernel.pti = Some(pti);
    environment.kernel.release = Some("6.1.0-made-up".into());
    environment.mitigations = [("mds".to_string(), "Vulnerable".to_string())].into();
    Document {
        id: Some("0".repeat(32)),
        environment,
        vdso: [("64".to_string(), Vec::new())].into(),
        results: request.rows.iter().map(row).collect(),
        ..Document::empty()
    }
}

fn ended(document: &Document) -> Booted {
    Booted {
        hello: Some(Hello::default()),
        document: Some(serde_json::to_vec(document).unwrap()),
        parameters: "console=ttyS0".into(),
        first_frame: Some(Duration::from_millis(5)),
        ..Booted::default()
    }
}

/// Isolation costs 20 instructions, if the kernel is asked for it.
fn honest(request: &Request) -> Booted {
    let pti = request.parameters.contains("pti=on");
    ended(&document(request, if pti { 360.0 } else { 340.0 }, pti))
}

fn estimates(document: &Document, value: &str) -> Vec<Option<f64>> {
    let rows = document.results.iter().filter(|row| row.configuration.values().any(|of| of == value));
    rows.map(|row| row.instructions.map(|cost| cost.estimate.0)).collect()
}

#[test]
fn configurations_stand_side_by_side_in_the_tables_order() {
    let options = Options { set: texts(&["pti=on", "pti=off"]), ..options() };
    let document = measured(&options, &MadeUp::new(honest)).unwrap();
    let rows: Vec<String> = document.results.iter().map(Row::in_words).collect();
    assert_eq!(
        rows,
        [
            "syscall-x86_64 none pti=on",
            "syscall-x86_64 getppid pti=on",
            "syscall-x86_64 none pti=off",
            "syscall-x86_64 getppid pti=off",
            "int80-i386 none pti=on",
            "int80-i386 getppid pti=on",
            "int80-i386 none pti=off",
            "int80-i386 getppid pti=off",
        ]
    );
    assert_eq!(estimates(&document, "on"), [Some(360.0); 4]);
    assert_eq!(estimates(&document, "off"), [Some(340.0); 4]);
    assert!(document.is_of_linux() && !document.is_of_host());
    assert_eq!(document.counter(), document::Counter::Instructions);
    let guest = document.environment.guest.as_ref().unwrap();
    assert_eq!((guest.emulator.as_str(), guest.accelerator.as_str()), ("QEMU 7.2.22", "tcg"));
    assert_eq!((guest.icount, guest.kernels.len()), (true, 2));
    assert_eq!(guest.kernels[1].settings, [("pti".to_string(), "off".to_string())].into());
    assert_eq!((guest.kernels[0].release.as_str(), guest.kernels[0].boots[0].seed), ("6.1.0-made-up", 3));
    assert!(guest.kernels.iter().all(|kernel| kernel.outcome == "ok" && kernel.reason.is_none()));
    assert!(!document.measurement.partial && document.measurement.ended.is_none());
    assert!(document.findings.is_empty(), "a guest is advised: {:?}", document.findings);
    let text = serde_json::to_string(&document).unwrap();
    assert_eq!(document::load(&text).unwrap(), document);
}

#[test]
fn the_budget_is_the_one_that_guests_measured_with_and_not_the_longest_boot() {
    let measuring = |request: &Request| {
        let mut document = document(request, 340.0, false);
        (document.measurement.budget_seconds, document.measurement.strict_budget) = (4.0, false);
        ended(&document)
    };
    let found = measured(&options(), &MadeUp::new(measuring)).unwrap().measurement;
    assert_eq!((found.budget_seconds, found.strict_budget), (4.0, false));
}

#[test]
fn counted_guests_run_side_by_side_and_timed_ones_one_after_the_other() {
    let options = Options { boots: Some(6), ..options() };
    let machine = MadeUp::new(honest);
    measured(&options, &machine).unwrap();
    assert_eq!(machine.most.load(Ordering::SeqCst), 3);
    let mut seeds: Vec<u64> = machine.asked.lock().unwrap().iter().map(|request| request.seed).collect();
    seeds.sort_unstable();
    assert_eq!(seeds, [3, 4, 5, 6, 7, 8]);
    let machine = MadeUp::new(honest);
    on(&options, &machine, document::Machine::QemuKvm, &Interrupt::default()).unwrap();
    assert_eq!(machine.most.load(Ordering::SeqCst), 1);
}

#[test]
fn a_parameter_that_was_ignored_has_no_figures_and_the_others_have_theirs() {
    let deaf = |request: &Request| ended(&document(request, 340.0, false));
    let asked = Options { set: texts(&["pti=on", "pti=off"]), append: texts(&["quiet"]), ..options() };
    let found = measured(&asked, &MadeUp::new(deaf)).unwrap();
    assert_eq!(estimates(&found, "on"), [None; 4]);
    assert_eq!(estimates(&found, "off"), [Some(340.0); 4]);
    let row = &found.results[0];
    assert_eq!(row.outcome, Outcome::Unsupported);
    assert!(row.reason.as_ref().unwrap().starts_with("pti=on: the guest contradicts it"));
    assert_eq!(found.environment.guest.unwrap().kernels[0].outcome, "unsupported");
    assert!(!found.measurement.partial, "it is a result");

    let passed_on = |request: &Request| Booted {
        hello: Some(Hello { unknown: texts(&["foo=bar"]), tick: None }),
        ..honest(request)
    };
    let asked = Options { append: texts(&["foo=bar", "quiet"]), ..options() };
    let found = measured(&asked, &MadeUp::new(passed_on)).unwrap();
    assert_eq!(estimates(&found, "foo=bar"), [None; 4]);
    assert!(found.results[0].reason.as_ref().unwrap().starts_with("foo=bar: this kernel does not know it"));
    assert_eq!(estimates(&found, "quiet"), [Some(340.0); 4]);
}

#[test]
fn a_guest_that_fails_costs_its_own_configuration() {
    let troubles = [
        (
            Trouble::Hung { time: Duration::from_secs(60), began: false, console: String::new() },
            Outcome::Timeout,
        ),
        (Trouble::Panicked { why: "no init".into(), console: String::new() }, Outcome::Error),
        (Trouble::Unsupported("it is an ELF file".into()), Outcome::Unsupported),
    ];
    for (trouble, outcome) in troubles {
        let (trouble, console) = (Some(trouble), "one\n\nlast words\n".to_string());
        let failing = |request: &Request| match request.parameters.contains("pti=on") {
            true => Booted { trouble: trouble.clone(), console: console.clone(), ..Booted::default() },
            false => honest(request),
        };
        let options = Options { set: texts(&["pti=on", "pti=off"]), ..options() };
        let document = measured(&options, &MadeUp::new(failing)).unwrap();
        let failed = &document.results[0];
        assert_eq!((failed.outcome, failed.instructions), (outcome, None));
        assert_eq!(estimates(&document, "off"), [Some(340.0); 4]);
        assert_eq!(document.measurement.partial, outcome != Outcome::Unsupported);
        assert_eq!(document.measurement.out_of_time, outcome == Outcome::Timeout);
        let kernel = &document.environment.guest.as_ref().unwrap().kernels[0];
        let last = kernel.console.last().unwrap();
        assert_eq!((kernel.outcome.as_str(), last.as_str()), (outcome.name(), "last words"));
    }
}

#[test]
fn what_this_machine_refuses_every_guest_ends_the_command_and_otherwise_has_its_rows() {
    let refused = || Trouble::Memory { mib: 512, said: "QEMU was killed".into() };
    let refusing = |all: bool| {
        MadeUp::new(move |request: &Request| match all || request.parameters.contains("pti=on") {
            true => Booted { trouble: Some(refused()), ..Booted::default() },
            false => honest(request),
        })
    };
    let options = Options { set: texts(&["pti=on", "pti=off"]), ..options() };
    let error = measured(&options, &refusing(true)).unwrap_err();
    assert!(matches!(&error, measure::Error::Environment(why) if *why == refused().to_string()), "{error}");
    let some = measured(&options, &refusing(false)).unwrap();
    assert_eq!((some.results[0].outcome, estimates(&some, "off")), (Outcome::Error, vec![Some(340.0); 4]));
    assert!(some.measurement.partial);
}

#[test]
fn a_guest_may_write_anything() {
    let bytes = |bytes: &[u8]| Booted { document: Some(bytes.to_vec()), ..Booted::default() };
    for strange in [&b""[..], b"\xff\xfe", b"{", b"{}", b"[]", b"{\"schema\": \"kentry.run/9\"}", b"null"] {
        let document = measured(&options(), &MadeUp::new(|_: &Request| bytes(strange))).unwrap();
        assert!(document.measurement.partial && document.measurement.ended.is_some(), "{strange:?}");
        let has_failed = |row: &Row| row.outcome == Outcome::Error && row.instructions.is_none();
        assert!(document.results.iter().all(has_failed), "{strange:?}");
        assert!(document.results[0].reason.as_ref().unwrap().starts_with("the guest's document"));
    }
    let silent = measured(&options(), &MadeUp::new(|_: &Request| Booted::default())).unwrap();
    assert_eq!(silent.results[0].reason.as_deref(), Some("the guest ended without a word"));
    assert_eq!(silent.measurement.ended.as_deref(), Some("the guest ended without a word"));
    assert_eq!(silent.environment.guest.unwrap().kernels[0].outcome, "error");
}

#[test]
fn one_guest_that_writes_nonsense_makes_the_run_partial() {
    let console = || "the last\n".to_string();
    let bytes = || Booted { document: Some(b"{".to_vec()), console: console(), ..Booted::default() };
    let answer = |request: &Request| if request.parameters == "pti=on" { bytes() } else { honest(request) };
    let options = Options { set: texts(&["default", "pti=on"]), ..options() };
    let document = measured(&options, &MadeUp::new(answer)).unwrap();
    assert!(document.measurement.partial);
    let ended = document.measurement.ended.unwrap();
    let wanted = "1 of 2 configurations failed; pti=on: the guest's document cannot be read";
    assert!(ended.starts_with(wanted), "{ended}");
    let kernels = document.environment.guest.unwrap().kernels;
    assert_eq!(
        kernels.iter().map(|one| (one.boots.len(), one.console.len())).collect::<Vec<_>>(),
        [(1, 0), (0, 1)]
    );
    let of_good = document.results.iter().filter(|row| row.instructions.is_some());
    assert_eq!((of_good.count(), document.results.len()), (4, 8));
}

#[test]
fn what_went_wrong_after_all_was_counted_cost_the_figures() {
    let time = Duration::from_secs(60);
    let hung = Trouble::Hung { time, began: true, console: String::new() };
    let followed = Trouble::Followed("it closed the connection".into());
    for (trouble, out_of_time) in [(hung, true), (followed, false)] {
        let ending = |request: &Request| Booted { trouble: Some(trouble.clone()), ..honest(request) };
        let document = measured(&options(), &MadeUp::new(ending)).unwrap();
        let figures: Vec<_> =
            document.results.iter().map(|row| row.instructions.map(|cost| cost.estimate.0)).collect();
        assert_eq!(figures, [Some(340.0); 4]);
        let measurement = &document.measurement;
        assert_eq!((measurement.partial, measurement.out_of_time), (true, out_of_time));
        assert_eq!(measurement.ended, Some(trouble.to_string()));
        assert!(
            document.results[0].remarks[0].contains("rings are not told apart: "),
            "{:?}",
            document.results[0].remarks
        );
        let kernel = &document.environment.guest.as_ref().unwrap().kernels[0];
        assert_eq!((kernel.outcome.as_str(), kernel.boots.len()), ("ok", 1));
    }
    // What the guest lacks is a result, whatever happens then.
    let lacking = |request: &Request| Booted {
        trouble: Some(Trouble::Followed("it closed the connection".into())),
        ..ended(&document(request, 340.0, false))
    };
    let asked = Options { set: texts(&["pti=on"]), ..options() };
    let found = measured(&asked, &MadeUp::new(lacking)).unwrap();
    assert_eq!((found.results[0].outcome, estimates(&found, "on")), (Outcome::Unsupported, vec![None; 4]));
    assert!(!found.measurement.partial, "it is a result");
    // A document that is not whole is no cause: the end of its guest is.
    let cut_off = |_: &Request| Booted {
        document: Some(b"{".to_vec()),
        trouble: Some(Trouble::Panicked { why: "no init".into(), console: String::new() }),
        ..Booted::default()
    };
    let found = measured(&options(), &MadeUp::new(cut_off)).unwrap();
    assert_eq!(found.measurement.ended.as_deref(), Some("the guest's kernel panicked: no init"));
}

#[test]
fn one_boot_of_several_that_fails_is_no_configuration_that_failed() {
    let failing = |request: &Request| {
        let is_second = request.seed == 4 && request.parameters.contains("pti=on");
        let panicked = Trouble::Panicked { why: "no init".into(), console: String::new() };
        if is_second {
            Booted { trouble: Some(panicked), parameters: "pti=on".into(), ..Booted::default() }
        } else if request.seed == 5 {
            let mut document = document(request, 340.0, request.parameters.contains("pti=on"));
            document.results[0].outcome = Outcome::Fault;
            document.results[0].reason = Some("SIGSEGV".into());
            ended(&document)
        } else {
            honest(request)
        }
    };
    let options = Options { set: texts(&["default", "pti=on"]), boots: Some(3), ..options() };
    let document = measured(&options, &MadeUp::new(failing)).unwrap();
    let ended = document.measurement.ended.as_deref().unwrap();
    let wanted = "1 of 2 configurations did not come to their end in every boot, but have figures; pti=on: ";
    assert!(ended.starts_with(wanted), "{ended}");
    let on = |row: &&Row| row.configuration["pti"] == "on";
    let row = document.results.iter().find(on).unwrap();
    // The second boot has no rows, and the third is the third all the same.
    let told = row.remarks.iter().any(|remark| remark.starts_with("boot 3 ended otherwise, fault: SIGSEGV"));
    assert!(told, "{:?}", row.remarks);
    let kernels = document.environment.guest.unwrap().kernels;
    assert_eq!((kernels[1].outcome.as_str(), kernels[1].boots.len()), ("ok", 2));
    assert_eq!(kernels[1].command_line, "console=ttyS0", "that of a boot that has measured");
}

#[test]
fn a_setting_that_nothing_confirms_is_told() {
    let options = Options { set: texts(&["l1tf=off", "audit=on,pti=on", "mitigations=auto"]), ..options() };
    let document = measured(&options, &MadeUp::new(honest)).unwrap();
    let kernels = document.environment.guest.unwrap().kernels;
    let unverified: Vec<_> = kernels.iter().map(|kernel| kernel.unverified.join(" ")).collect();
    assert_eq!(unverified, ["l1tf=off", "audit=on", ""]);
}

#[test]
fn a_guest_tells_only_what_it_was_asked_for() {
    let lying = |request: &Request| {
        let mut document = document(request, 340.0, false);
        document.measurement.place = document::Place::new(document::Machine::Bochs, table::Kernel::Lab);
        document.environment.lab = Some(environment::Lab::default());
        document.environment.guest = Some(environment::Guest::default());
        document.results[0].timing = Timing::Hardware;
        document.results[1].configuration = [("pti".to_string(), "on".to_string())].into();
        document.results.pop();
        document.results.push(Row::unmeasured("made-up", "none", 64));
        document.results.push(document.results[0].clone());
        ended(&document)
    };
    let document = measured(&options(), &MadeUp::new(lying)).unwrap();
    assert_eq!(document.results.len(), 4);
    let is_plain = |row: &Row| row.configuration.is_empty() && row.timing == Timing::Emulated;
    assert!(document.results.iter().all(is_plain));
    let last = &document.results[3];
    assert_eq!((last.outcome, last.instructions), (Outcome::Error, None));
    assert!(document.is_of_linux() && document.environment.lab.is_none());
}

#[test]
fn boots_of_one_configuration_are_told_apart() {
    let drifting = |request: &Request| {
        let estimate = if request.seed == 4 { 352.0 } else { 341.0 };
        ended(&document(request, estimate, false))
    };
    let options = Options { boots: Some(3), ..options() };
    let found = measured(&options, &MadeUp::new(drifting)).unwrap();
    let row = &found.results[0];
    assert_eq!(row.boots, [341.0, 352.0, 341.0].map(Instructions));
    let cost = row.instructions.unwrap();
    assert_eq!((cost.estimate.0, cost.min.0, cost.p50.0, cost.max.0), (341.0, 341.0, 341.0, 352.0));
    assert_eq!(row.remarks, ["boots differ: 341 in 2, 352 in 1"]);
    assert_eq!(found.environment.guest.unwrap().boots.len(), 3);
}

#[test]
fn runs_with_one_seed_differ_in_times_and_ids_alone() {
    let options = Options { set: texts(&["default", "pti=on"]), boots: Some(2), ..options() };
    let [one, other] = [(); 2].map(|()| {
        let mut document = measured(&options, &MadeUp::new(honest)).unwrap();
        document.id = None;
        (document.measurement.started, document.measurement.seconds) = (String::new(), 0.0);
        let guest = document.environment.guest.as_mut().unwrap();
        let kernels = guest.kernels.iter_mut().flat_map(|kernel| &mut kernel.boots);
        guest.boots.iter_mut().chain(kernels).for_each(|boot| boot.at_ms = 0.0);
        serde_json::to_string(&document).unwrap()
    });
    assert_eq!(one, other);
}

#[test]
fn kernels_are_called_by_their_release_or_by_their_file() {
    let options = Options { kernels: texts(&["a", "b"]), ..options() };
    let document = measured(&options, &MadeUp::new(honest)).unwrap();
    assert_eq!(document.results[0].configuration["kernel"], "a.0");
    assert_eq!(document.results[2].configuration["kernel"], "b.0");
    assert_eq!(document.environment.guest.unwrap().kernels[1].file, "/boot/b");
}

#[test]
fn an_interruption_before_anything_came_is_one_and_later_there_is_what_was_measured() {
    let interrupt = Interrupt::default();
    interrupt.store(true, Ordering::Relaxed);
    let never = MadeUp::new(|_: &Request| panic!("it is not booted"));
    let ended = on(&options(), &never, document::Machine::QemuTcg, &interrupt);
    assert!(matches!(ended, Err(measure::Error::Interrupted)));

    let interrupt = Interrupt::default();
    let stopping = MadeUp::new(|request: &Request| match request.seed {
        3 => honest(request),
        _ => {
            interrupt.store(true, Ordering::Relaxed);
            Booted { trouble: Some(interrupted()), ..Booted::default() }
        }
    });
    let options = Options { boots: Some(9), ..options() };
    let document = on(&options, &stopping, document::Machine::QemuTcg, &interrupt).unwrap();
    assert!(document.measurement.partial);
    assert_eq!(document.results[0].instructions.map(|cost| cost.estimate.0), Some(340.0));
}

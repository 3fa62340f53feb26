//! `kentry bill`, run as users run it: in QEMU's emulation, where instructions are counted.

use crate::qemu;
use attribution::bill::{Bill, State};
use std::process::{Command, Output};
use table::Table;

fn kentry(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.args(["bill", "--accel", "tcg", "--no-save"]).args(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The bill as JSON; none where QEMU is not installed.
fn counted(words: &[&str]) -> Option<Bill> {
    let output = kentry(&[&["--format", "json"], words].concat());
    let said = text(&output.stderr);
    if !qemu::is_here() {
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{words:?}: {said}");
    Some(attribution::bill::load(&text(&output.stdout)).unwrap())
}

/// What a configuration of these steps takes.
fn count(bill: &Bill, steps: &[usize]) -> f64 {
    let is_it = |known: &&attribution::bill::MeasuredConfiguration| {
        known.operation == bill.operation && known.steps == steps
    };
    let found = bill.configurations.iter().find(is_it);
    found.unwrap_or_else(|| panic!("{steps:?} was not measured")).figure.unwrap().estimate
}

/// The places of the steps that are in configurations.
fn kept(bill: &Bill) -> Vec<usize> {
    let is_kept = |place: &usize| !matches!(bill.lines[*place].state, State::LeftOut(_));
    (0..bill.lines.len()).filter(is_kept).collect()
}

/// Each figure against the configurations that it is of, by the contract's words.
fn adds_up(bill: &Bill) {
    let (every, estimate) =
        (kept(bill), |figure: Option<attribution::bill::Figure>| figure.unwrap().estimate);
    let (mut sum, mut is_apart) = (0.0, true);
    for place in &every {
        let line = &bill.lines[*place];
        let with = |others: &[usize]| {
            let mut all = [others, &[*place]].concat();
            all.sort_unstable();
            count(bill, &all) - count(bill, others)
        };
        let alone = with(&line.step.requires);
        let requires_it = |other: &&usize| bill.lines[**other].step.requires.contains(place);
        let others = every.iter().filter(|other| *other != place && !requires_it(other));
        let in_company = with(&others.copied().collect::<Vec<_>>());
        if alone == 0.0 && in_company == 0.0 && line.in_orders.is_none() {
            assert_eq!((alone, in_company, line.alone, line.share), (0.0, 0.0, None, None), "{line:?}");
            assert_ne!(line.state, State::Measured);
        } else {
            assert_eq!((estimate(line.alone), estimate(line.in_company)), (alone, in_company), "{line:?}");
            let share = line.share.unwrap() * estimate(bill.whole);
            assert!(bill.orders > 0 || (share - alone).abs() < 1e-9, "{line:?}");
        }
        sum += alone;
        is_apart &= alone == in_company;
    }
    let (bare, whole) = (count(bill, &[]), count(bill, &every));
    assert_eq!([bill.bare, bill.whole, bill.added].map(estimate), [bare, whole, whole - bare]);
    assert_eq!([bill.sum, bill.interactions].map(estimate), [sum, whole - bare - sum]);
    // What steps share shows where they are alone and in company.
    assert!(!is_apart || estimate(bill.interactions) == 0.0, "{:?}", bill.interactions);
    if bill.orders > 0 {
        let in_orders: f64 = bill.lines.iter().filter_map(|line| Some(line.in_orders?.estimate)).sum();
        assert!((in_orders - (whole - bare)).abs() < 1e-9, "{in_orders} and not {}", whole - bare);
    }
}

#[test]
fn every_profile_adds_up_by_its_configurations() {
    for profile in &Table::get().profiles {
        for words in [&["--orders", "3"][..], &["--entry", "int80-x86_64"], &["--operation", "none"]] {
            let all = [&["--profile", &profile.name], words].concat();
            let Some(bill) = counted(&all) else { return };
            assert_eq!((bill.lines.len(), &bill.profile), (profile.steps.len(), &profile.name));
            adds_up(&bill);
        }
    }
}

#[test]
fn two_boots_agree_to_the_byte_whatever_the_seed() {
    // The last two map pages, by instructions that must not depend on which configuration came before.
    for row in
        [&[][..], &["--entry", "page-fault", "--operation", "minor-fault"], &["--operation", "map-unmap"]]
    {
        let words =
            [&["--profile", "linux-6.1", "--set", "cr3-writes=1", "--set", "cr3-writes=2,canary=on"], row]
                .concat();
        let Some(first) = counted(&words) else { return };
        let again = |more: &[&str]| Bill {
            started: first.started.clone(),
            run: first.run.clone(),
            ..counted(&[&words, more].concat()).unwrap()
        };
        assert_eq!(again(&[]), first);
        assert_eq!(again(&["--seed", "9"]), first);
        assert_eq!(again(&["--seed", "1"]), first);
    }
}

#[test]
fn what_the_processor_lacks_is_marked_or_left_out() {
    let Some(bill) =
        counted(&["--profile", "bare", "--set", "verw=on,pcid=keep", "--set", "pcid=lazy,smep=on"])
    else {
        return;
    };
    let states: Vec<&State> = bill.lines.iter().map(|line| &line.state).collect();
    let [without, left_out, raised, unseen] = states[..] else { panic!("{states:?}") };
    assert_eq!(without, &State::WithoutEffect("the lab's CPU has no MDCLEAR".into()));
    assert!(bill.lines[0].alone.unwrap().estimate > 0.0);
    for state in [left_out, raised] {
        assert_eq!(state, &State::LeftOut("the lab's CPU has no PCID".into()));
    }
    assert_eq!(unseen, &State::Unseen);
    assert!(bill.lines[1..].iter().all(|line| line.alone.is_none() && line.share.is_none()));
}

#[test]
fn bad_input_is_refused_with_the_names_that_matter() {
    for (words, why) in [
        (
            &["--profile", "linux6.1"][..],
            "there is no profile \"linux6.1\"; did you mean linux-6.1? (there are like-here, bare,",
        ),
        (
            &["--profile", "linux-6.1", "--without", "smpa=on"],
            "has no step \"smpa=on\"; did you mean smap=on?",
        ),
        // Before the kernel is looked for, which is not there.
        (
            &["--follow", "/nonexistent/vmlinuz", "--without", "smpa=on"],
            "has no step \"smpa=on\"; did you mean smap=on?",
        ),
        (&["--follow", "/nonexistent/vmlinuz", "--set", "pti=yes"], "\"yes\" is no value of pti"),
        (&["--set", "smpa=on"], "there is no switch \"smpa\"; did you mean smap?"),
        (&["--set", "pti=yes"], "\"yes\" is no value of pti, which can be off, on, trampoline"),
        (&["--set", "observe=on"], "observe is no step of a bill"),
        (
            &["--profile", "bare", "--set", "pti=on", "--set", "pti=off"],
            "pti=on and pti=off contradict each other",
        ),
        (&["--profile", "bare", "--set", "pti=on", "--set", "pti=on"], "pti=on is set twice; leave one out"),
        (
            &["--profile", "bare", "--set", "copy-frame=on"],
            "copy-frame=on requires pti=on or trampoline, and pti is off",
        ),
        (
            &["--profile", "linux-6.1", "--without", "stack"],
            "--without stack: clear-registers=on requires it; leave these out: --without stack,clear-registers=on",
        ),
        (&["--entry", "syscal"], "there is no entry \"syscal\"; did you mean syscall"),
        (&["--entry", "vdso-x86_64", "--operation", "none"], "vdso-x86_64 serves"),
        (
            &["--entry", "int80*"],
            "a bill is of one entry and operation, and these are several: int80-x86_64 getppid",
        ),
        (&["--orders", "1001"], "1001"),
        (&["--run", "/nonexistent/run.json"], "/nonexistent/run.json: there is no such file"),
    ] {
        let output = kentry(words);
        let said = text(&output.stderr);
        assert!(said.contains(why), "{words:?}: {said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words:?}");
    }
}

#[test]
fn a_user_who_names_nothing_gets_the_bill_of_this_machines_kernel() {
    let Some(bill) = counted(&[]) else { return };
    assert_eq!((&*bill.entry, &*bill.operation, &*bill.profile), ("syscall-x86_64", "getppid", "like-here"));
    assert!(bill.lines.iter().any(|line| line.step.guess.is_some()), "{:?}", bill.lines);
    adds_up(&bill);
}

#[test]
fn a_guest_that_is_not_there_or_takes_too_long_ends_with_3() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    let nowhere =
        command.args(["bill", "--accel", "tcg", "--no-save"]).env("PATH", "/nonexistent").output().unwrap();
    assert_eq!(nowhere.status.code(), Some(3), "{}", text(&nowhere.stderr));
    let slow = kentry(&["--timeout", "0.001"]);
    assert_eq!(slow.status.code(), Some(3), "{}", text(&slow.stderr));
}

#[test]
fn a_run_of_linux_is_explained_only_in_its_own_unit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let mut measure = Command::new(env!("CARGO_BIN_EXE_kentry"));
    let words = [
        "measure",
        "-e",
        "syscall-x86_64",
        "-o",
        "getppid",
        "--budget",
        "0.1",
        "--strict-budget",
        "--no-save",
    ];
    let measured = measure.args(words).arg("--output").arg(&file).output().unwrap();
    assert_eq!(measured.status.code(), Some(0), "{}", text(&measured.stderr));
    let Some(bill) = counted(&["--profile", "bare", "--run", file.to_str().unwrap()]) else { return };
    let there = bill.there.unwrap();
    assert_eq!((there.measured, there.rest, there.rest_share), (None, None, None));
    // In so short a run, a busy machine may have nothing to say at all.
    let timed = "time was measured there, and instructions are counted here";
    let why = there.why.unwrap();
    assert!(why == timed || why == "syscall-x86_64 getppid has no figure in instructions there", "{why}");
    // What is here is shown all the same.
    assert!(there.explained.is_some() && there.parts.iter().any(|part| part.figure.is_some()));
}

/// What is timed depends on the machine: shapes alone.
#[test]
fn the_bytes_of_a_path_are_timed_in_ring_3() {
    let words =
        ["--profile", "bare", "--set", "stack=frame", "--set", "verw=on", "--set", "smep=on", "--ring-3"];
    let Some(bill) = counted(&words) else { return };
    let ring3 = bill.ring3.unwrap();
    assert_eq!((ring3.path.as_str(), ring3.lines.len()), ("syscall_x86_64", 3));
    let sysret = ring3.left_out.iter().find(|left| left.instruction == "sysret").unwrap();
    assert_eq!((sysret.count, sysret.of_protections), (1, 0));
    let smep = &ring3.lines[2];
    assert!(
        smep.in_company.is_none() && smep.why.as_ref().is_some_and(|why| why.contains("ring 3")),
        "{smep:?}"
    );
    let all = ring3.lines.iter().map(|line| line.in_company);
    for figure in all.chain([ring3.bare, ring3.whole, ring3.here, ring3.protections]).flatten() {
        let ends = figure.low.unwrap()..=figure.high.unwrap();
        assert!(figure.estimate.is_finite() && ends.contains(&figure.estimate), "{figure:?}");
    }
    // Where the machine was quiet enough for it: a path of some 28 instructions, and 23 and a VERW more.
    if let (Some(bare), Some(whole)) = (ring3.bare, ring3.whole) {
        assert!(bare.high.unwrap() > 1.0 && whole.high.unwrap() > bare.low.unwrap(), "{bare:?}, {whole:?}");
    }
}

#[test]
fn an_entry_without_the_usual_operation_is_billed_for_its_first() {
    let plan = |words: &[&str]| {
        let output = kentry(&[&["--profile", "bare", "--dry-run"], words].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let named = |entry: &str, operation: &str| plan(&["--entry", entry, "--operation", operation]);
    assert_eq!(plan(&["--entry", "page-fault"]), named("page-fault", "minor-fault"));
    assert_eq!(plan(&[]), named("syscall", "getppid"));
    assert_ne!(plan(&[]), plan(&["--entry", "page-fault"]));
}

#[test]
fn ring_3_has_no_path_of_a_gate() {
    let output = kentry(&["--profile", "bare", "--entry", "int80-x86_64", "--ring-3"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("--ring-3: of int80-x86_64 and getppid no path can be called in ring 3"), "{said}");
}

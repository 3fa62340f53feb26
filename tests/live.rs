//! Arms under real commands, on the machine that runs the tests, however noisy that is: outcomes, words and shapes.

use crate::skipped::skipped;
use document::{Document, Outcome, Row};
use kentry::compare::arm::ArmCommand;
use kentry::compare::live;
use kentry::error::Error;
use measure::arms::Arms;
use measure::{CpuChoice, HostPlan, Probes, select};
use places::host::Interrupt;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use table::{Kernel, Table};

const ROWS: [&str; 6] = ["syscall-x86_64", "int80-i386", "vdso-x86_64", "libc", "rdpid", "call"];

const OPERATIONS: [&str; 3] = ["none", "getppid", "getcpu"];

/// Two arms, for a moment; and what was said meanwhile.
fn compare_for(arms: [&str; 2], budget: f64, timeout: Duration) -> (Result<Arms, Error>, String) {
    let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let rows = select::rows(Table::get(), Kernel::Linux, &words(&ROWS), &words(&OPERATIONS)).unwrap();
    let plan = HostPlan {
        rows,
        footprints: Vec::new(),
        cpus: CpuChoice::Quiet,
        budget: Duration::from_secs_f64(budget),
        strict_budget: true,
        seed: 1,
        realtime: false,
    };
    let arms = arms.map(|arm| ArmCommand::parse(arm).unwrap());
    let mut notes = String::new();
    let mut note = |text: &str| notes.push_str(&format!("{text}\n"));
    let arms = live::measure(&arms, &plan, timeout, &Interrupt::default(), &mut note);
    (arms, notes)
}

fn compare(first: &str, second: &str) -> (Arms, String) {
    let (arms, notes) = compare_for([first, second], 0.05, Duration::from_secs(20));
    (arms.unwrap(), notes)
}

/// Why there is nothing to compare.
fn refused(second: &str) -> String {
    let (arms, _) = compare_for(["", second], 0.05, Duration::from_secs(20));
    let error = arms.map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Environment(_)), "{error:?}");
    error.to_string()
}

fn row<'d>(document: &'d Document, entry: &str, operation: &str) -> &'d Row {
    document.results.iter().find(|row| row.entry == entry && row.operation == operation).unwrap()
}

/// Asserts that these arms work as they do without a command: every row that does.
fn assert_all_work(arms: &Arms) {
    let [plain, under] = [0, 1].map(|arm: usize| &arms.documents[arm]);
    for (plain, under) in plain.results.iter().zip(&under.results) {
        assert_eq!((plain.outcome, &plain.reason), (under.outcome, &under.reason), "{}", plain.in_words());
    }
    assert_eq!(row(under, "syscall-x86_64", "getppid").outcome, Outcome::Ok);
    for turns in &arms.turns {
        assert_eq!(
            turns.places.is_empty(),
            plain.row_alone(Table::get(), &turns.row).unwrap().rounds.is_empty()
        );
    }
}

/// The command, whose runs are not kept: what it prints, what it complains of, and its status.
fn kentry(arguments: &[&str]) -> (String, String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    let output = command.arg("compare").args(arguments).arg("--no-save").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

#[test]
fn the_command_compares_arms_by_rounds_in_turns() {
    let rows = ["-e", "syscall", "-e", "sysenter", "-o", "getppid", "--budget", "0.2"];
    let (out, _, status) = kentry(&[&["--live", "", "env", "--format", "json"][..], &rows].concat());
    assert_eq!(status, 0);
    let compared: serde_json::Value = serde_json::from_str(&out).unwrap();
    let commands = compared["confounders"].as_array().unwrap().iter().find(|one| one["id"] == "command");
    assert!(commands.is_some(), "{out}");
    assert_eq!(compared["rows"].as_array().unwrap().len(), 2);
    let surround = SURROUND.display();
    let closed = format!("{surround} kill x86_64 110");
    let gate = ["--live", "", &closed, "--fail-on", "closed"];
    let (out, _, status) = kentry(&[&gate[..], &rows].concat());
    // A noisy machine gives the plain arm no figure.
    let is_told = ["ok", "ok, without a figure"]
        .iter()
        .any(|before| out.contains(&format!("{before} → refused: surround was ended by SIGSYS")));
    assert!(status == 1 && is_told, "{status}: {out}");
}

/// Both runs began at once, and which one was the newer was drawn with their ids.
#[test]
fn the_latest_run_after_a_live_comparison_is_its_second_arm() {
    let folder = tempfile::tempdir().unwrap();
    let command = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
        command.env("XDG_DATA_HOME", folder.path());
        command
    };
    for _ in 0..4 {
        let live = ["compare", "--live", "", "env", "-e", "call", "--budget", "0.1"];
        assert_eq!(command().args(live).output().unwrap().status.code(), Some(0));
        let output = command().args(["runs", "--format", "json"]).output().unwrap();
        let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let newest = [0, 1].map(|place| listed["runs"][place]["arm"].as_str().unwrap().to_owned());
        assert_eq!(newest, ["B", "A"]);
        assert_eq!(listed["runs"][0]["command"], "env");
    }
}

#[test]
fn the_command_says_what_it_could_not_compare() {
    let (_, why, status) = kentry(&["--live", "", "/nowhere/at-all"]);
    assert_eq!(status, 3, "{why}");
    assert!(why.contains("B, \"/nowhere/at-all\": the command could not be started"), "{why}");
    for wrong in ["a | b", "--budget 3", "sh -c 'x", "--cpu"] {
        let (_, why, status) = kentry(&["--live", "", wrong]);
        assert!(status == 2 && why.contains("--live"), "{wrong}: {why}");
    }
}

#[test]
fn an_interrupt_ends_the_measurement_and_compares_what_there_is() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.args(["compare", "--live", "", "env", "--no-save", "-e", "call", "--budget", "600"]);
    let own = tempfile::tempdir().unwrap();
    let child = command.env("TMPDIR", own.path()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let has_begun = || {
        let mut all = std::fs::read_dir(own.path()).unwrap().flatten();
        all.any(|entry| entry.path().join("probe64").exists())
    };
    let begin = Instant::now();
    while !has_begun() && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(has_begun(), "no probes in {}", own.path().display());
    std::thread::sleep(Duration::from_millis(500));
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    // Not SIGINT, which a shell makes its jobs in the background ignore, and with them this test.
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stdout).contains("call"));
}

fn is_there(program: &str) -> bool {
    let there =
        Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap().status.success();
    if !there {
        skipped(format!("there is no {program}"));
    }
    there
}

/// The program that installs a seccomp filter and executes what follows.
static SURROUND: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = PathBuf::from(concat!(env!("CARGO_TARGET_TMPDIR"), "/surround"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/surround.c");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let made = Command::new(compiler).args(["-O1", "-o"]).arg(&target).arg(source).status().unwrap();
    assert!(made.success());
    target
});

#[test]
fn two_arms_that_are_the_same_work_alike() {
    let (arms, notes) = compare("", "");
    assert_all_work(&arms);
    let (first, more) = notes.split_once('\n').unwrap();
    assert_eq!(first, "the arms are the same: whatever difference is found is chance");
    // On a busy machine starting a probe may take long.
    assert!(more.is_empty() || more.starts_with("starting a probe takes long"), "{more}");
    let measurements = [0, 1].map(|arm: usize| &arms.documents[arm].measurement);
    assert_eq!(measurements[0].seed, measurements[1].seed);
    assert_eq!(measurements[0].command, None);
    assert_eq!(measurements[0].probes, Probes::embedded().hashes);
}

#[test]
fn rows_work_under_commands_that_execute_or_fork() {
    for command in
        ["env", "nice -n 3 {}", "sh -c {}", "sh -c '{}; exit $?'", "sh -c 'exec \"$0\" \"$@\"' {file}"]
    {
        let (arms, _) = compare("", command);
        assert_all_work(&arms);
        assert_eq!(arms.documents[1].measurement.command.as_deref(), Some(command));
    }
}

#[test]
fn a_traced_probe_works_and_its_calls_are_dear() {
    if !is_there("strace") {
        return;
    }
    let (arms, _) = compare("", "strace -f -o /dev/null");
    assert_all_work(&arms);
    let cost = |arm: usize| row(&arms.documents[arm], "syscall-x86_64", "getppid").core_cycles;
    match cost(0).zip(cost(1)) {
        Some((plain, traced)) => assert!(traced.estimate.0 > 5.0 * plain.estimate.0, "{plain:?} {traced:?}"),
        // So short a run on a shared machine.
        None => {
            assert!((0..2).any(|arm| row(&arms.documents[arm], "syscall-x86_64", "getppid").noise.is_some()))
        }
    }
}

#[test]
fn what_a_seccomp_filter_forbids_is_refused_in_that_arm_alone() {
    let surround = SURROUND.display();
    assert_all_work(&compare("", &format!("{surround} allow x86_64 96")).0);
    let (arms, _) = compare("", &format!("{surround} kill x86_64 110"));
    let [plain, under] = [0, 1].map(|arm: usize| row(&arms.documents[arm], "syscall-x86_64", "getppid"));
    assert_eq!((plain.outcome, under.outcome), (Outcome::Ok, Outcome::Refused));
    assert!(
        under.reason.as_ref().unwrap().contains("SIGSYS (a seccomp filter forbids a call)"),
        "{:?}",
        under.reason
    );
    assert_eq!(row(&arms.documents[1], "syscall-x86_64", "none").outcome, Outcome::Ok);
    let (arms, _) = compare("", &format!("{surround} errno=1 x86_64 110"));
    let under = row(&arms.documents[1], "syscall-x86_64", "getppid");
    assert!(
        under.outcome == Outcome::Refused && under.reason.as_ref().unwrap().contains("EPERM"),
        "{:?}",
        under.reason
    );
}

/// The numbers of getcpu and getrusage, by ABI: what a probe asks to know that it was neither moved nor preempted.
const ASKED: [(&str, [u32; 2]); 2] = [("x86_64", [309, 98]), ("i386", [318, 77])];

/// A command with a filter that has one of these calls answered so, through both ABIs.
fn without(call: usize, action: &str) -> String {
    let of =
        |(abi, numbers): (&str, [u32; 2])| format!("{} {action} {abi} {}", SURROUND.display(), numbers[call]);
    ASKED.map(of).join(" ")
}

/// Figures were of "CPU 4294967295".
#[test]
fn a_probe_that_may_not_ask_for_its_cpu_knows_it_all_the_same() {
    for action in ["errno=1", "errno=0"] {
        let (arms, _) = compare("", &without(0, action));
        let document = &arms.documents[1];
        for (entry, operation) in [("syscall-x86_64", "getppid"), ("int80-i386", "none"), ("call", "none")] {
            let row = row(document, entry, operation);
            assert_eq!(row.outcome, Outcome::Ok, "{action} {entry}: {:?}", row.reason);
        }
        let known = process::allowed_cpus().unwrap();
        let used: Vec<usize> = document.measurement.cpus.iter().map(|used| used.cpu).collect();
        assert!(!used.is_empty() && used.iter().all(|cpu| known.contains(cpu)), "{used:?}");
    }
}

/// A count of preemptions that could not be asked for was 0: figures of probes that nobody watched.
#[test]
fn a_probe_that_may_not_ask_for_its_preemptions_has_no_figure() {
    for (action, how) in [("errno=1", "getrusage answers EPERM"), ("errno=0", "getrusage does nothing")] {
        let (arms, _) = compare("", &without(1, action));
        let under = row(&arms.documents[1], "syscall-x86_64", "getppid");
        assert_eq!((under.outcome, under.figure()), (Outcome::Error, None));
        let why = under.reason.as_deref().unwrap();
        assert!(why.contains(how) && why.contains("is not timed"), "{why}");
    }
}

#[test]
fn what_reaches_the_loader_alone_is_said_to() {
    let (arms, notes) = compare("", "LD_PRELOAD=/nowhere/at-all.so");
    assert_all_work(&arms);
    assert!(notes.contains("LD_PRELOAD reaches the rows of libc alone"), "{notes}");
    assert!(notes.contains("B says: ERROR: ld.so: object '/nowhere/at-all.so'"), "{notes}");
}

#[test]
fn a_command_that_runs_no_probe_ends_the_comparison() {
    for (command, why) in [
        (
            "/nowhere/at-all {}",
            "B, \"/nowhere/at-all {}\": the command could not be started: /nowhere/at-all: No such file",
        ),
        ("true", "true ended without starting the probe"),
        (
            "sh -c 'echo no profile >&2; exit 126'",
            "exited with 126 (it could not execute its program) before the probe wrote anything; it said: \"no profile\"",
        ),
        ("sh -c {file}", "sh started the probe with other arguments than it was given: write {} where"),
        ("echo", "to its standard output, where the probe's records belong"),
        ("sh -c 'echo ready; {}'", "sh wrote \"ready\" to its standard output, before the probe's records"),
        ("/nowhere/kentry", "/nowhere/kentry is taken for another kentry, by its name"),
    ] {
        let error = refused(command);
        assert!(error.contains(why), "{command}: {error}");
    }
}

#[test]
fn a_command_that_hangs_is_ended_in_time() {
    let begin = Instant::now();
    let (arms, _) = compare_for(
        ["", "sleep 1000; {}"].map(|_| "sh -c 'sleep 1000 & sleep 1000; {}'"),
        0.05,
        Duration::from_millis(300),
    );
    let error = arms.map(|_| ()).unwrap_err().to_string();
    assert!(
        error.contains("sh and the probe did not end within 300ms, the time for a run with its start-up"),
        "{error}"
    );
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn what_goes_wrong_later_is_an_outcome_of_its_rows() {
    // To describe the vDSO a probe gets one argument, and to measure ten.
    let later = |script: &str| format!("sh -c '[ $# -gt 1 ] && {script}; exec \"$0\" \"$@\"' {{}}");
    let (arms, _) = compare_for(["", &later("sleep 1000")], 0.05, Duration::from_secs(1));
    let arms = arms.unwrap();
    let [plain, under] = [0, 1].map(|arm: usize| row(&arms.documents[arm], "call", "none"));
    assert_eq!((plain.outcome, under.outcome), (Outcome::Ok, Outcome::Timeout));
    for (script, outcome, why) in [
        (
            "echo listening",
            Outcome::Error,
            "sh wrote \"listening\" to its standard output, before the probe's records",
        ),
        ("exit 7", Outcome::Error, "sh exited with 7 before the probe wrote anything"),
        ("kill -KILL $$", Outcome::Error, "sh was ended by SIGKILL before the probe wrote anything"),
        ("exit 159", Outcome::Refused, "sh was ended by SIGSYS"),
    ] {
        let (arms, _) = compare("", &later(script));
        let under = row(&arms.documents[1], "call", "none");
        let reason = under.reason.clone().unwrap();
        assert_eq!(under.outcome, outcome, "{reason}");
        assert!(reason.starts_with(why), "{reason}");
    }
}

#[test]
fn arms_have_cpus_and_a_command_may_choose_its_own() {
    let allowed = places::host::allowed_cpus().unwrap();
    let (first, last) = (allowed[0], *allowed.last().unwrap());
    let (arms, _) = compare(&format!("--cpu {first}"), &format!("kentry --cpu={last}"));
    assert_all_work(&arms);
    for (document, cpu) in arms.documents.iter().zip([first, last]) {
        assert!(
            document.measurement.cpus.iter().all(|used| used.cpu == cpu),
            "{:?}",
            document.measurement.cpus
        );
    }
    let arms = [1000, 4095].map(|cpu| format!("--cpu {cpu}"));
    let (arms, _) = compare_for([&arms[0], &arms[1]], 0.05, Duration::from_secs(20));
    assert!(matches!(arms, Err(Error::Usage(_))));
    if first == last || !is_there("taskset") {
        return;
    }
    let (arms, notes) = compare(&format!("--cpu {last}"), &format!("--cpu {last} taskset -c {first} {{}}"));
    assert_all_work(&arms);
    let expected = format!("B: its probes ran on CPU {first} when they were to run on CPU {last}");
    assert!(notes.contains(&expected), "{notes}");
}

/// Another kentry, whose probes have a byte more at their end, which nothing reads.
fn other_kentry(folder: &Path) -> PathBuf {
    let script = format!(
        r#"#!/bin/sh
manifest=$({} "$@") || exit
for probe in "$2"/*; do
    old=$(sha256sum <"$probe")
    printf x >>"$probe"
    new=$(sha256sum <"$probe")
    manifest=$(printf %s "$manifest" | sed "s/${{old%% *}}/${{new%% *}}/")
done
printf '%s\n' "$manifest"
"#,
        env!("CARGO_BIN_EXE_kentry")
    );
    let file = folder.join("kentry-other");
    std::fs::write(&file, script).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[test]
fn another_kentry_hands_out_its_probes() {
    let folder = tempfile::tempdir().unwrap();
    let (other, ran) = (other_kentry(folder.path()), folder.path().join("ran"));
    let under = format!("{} sh -c 'sha256sum <{{file}} >>{}; exec {{}}'", other.display(), ran.display());
    let (arms, _) = compare("kentry", &under);
    assert_all_work(&arms);
    let [own, foreign] = [0, 1].map(|arm: usize| &arms.documents[arm].measurement.probes);
    assert_eq!(*own, Probes::embedded().hashes);
    assert!(own.iter().all(|(name, hash)| foreign[name] != *hash), "{foreign:?}");
    // Those that were executed.
    let ran = std::fs::read_to_string(ran).unwrap();
    let ran: BTreeSet<&str> = ran.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(ran.len() > 1 && ran.iter().all(|ran| foreign.values().any(|hash| hash == ran)), "{ran:?}");
}

#[test]
fn runs_that_are_not_kept_have_no_id_and_arms_have_their_label() {
    let live = ["--live", "", "--cpu 0 env", "-e", "call", "--budget", "0.1", "--format"];
    let (out, _, _) = kentry(&[&live[..], &["json"]].concat());
    let compared: serde_json::Value = serde_json::from_str(&out).unwrap();
    for (side, label) in [("base", "A: no command"), ("new", "B: --cpu 0 env")] {
        assert_eq!(compared[side]["label"], label);
        assert!(compared[side]["runs"][0]["id"].is_null(), "{out}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.arg("compare").args(live).arg("text").env("XDG_DATA_HOME", "/proc/nowhere");
    let output = command.output().unwrap();
    let [out, said] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(out.contains("A: no command of ") && out.contains("B: --cpu 0 env of "), "{out}");
    assert_eq!(said.matches("will not be kept").count(), 1, "{said}");
}

#[test]
fn what_a_killed_kentry_left_in_tmp_is_removed_by_the_next() {
    let own = tempfile::tempdir().unwrap();
    let left = || -> Vec<PathBuf> {
        std::fs::read_dir(own.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let live = |second: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
        command.args(["compare", "--live", "", second, "-e", "call", "--budget", "0.1", "--no-save"]);
        command.env("TMPDIR", own.path()).stdout(std::process::Stdio::null());
        command
    };
    let mut killed = live("sh -c 'sleep 60'").spawn().unwrap();
    let begin = Instant::now();
    while !left().iter().any(|folder| folder.join("lock").exists() && folder.join("probe64").exists()) {
        assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", left());
        std::thread::sleep(Duration::from_millis(10));
    }
    // Another one leaves it alone while it is there.
    assert!(live("").status().unwrap().success() && left().len() == 1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(left().len(), 1, "nobody can clean up after SIGKILL");
    assert!(live("").status().unwrap().success());
    assert_eq!(left(), Vec::<PathBuf>::new());
}

#[test]
fn another_user_can_execute_the_probes() {
    if !nix::unistd::geteuid().is_root() {
        return skipped("it needs root");
    }
    let (arms, _) = compare("", "chroot --userspec=65534 / {}");
    assert_all_work(&arms);
    assert_eq!(compare("", "chroot / {file}").0.documents.len(), 2);
}

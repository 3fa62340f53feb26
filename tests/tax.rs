//! `kentry tax` on the machine that runs the tests, however noisy that is: that each layer is really on, outcomes, shapes, and ratios that hold
//! by construction.

use crate::skipped::skipped;
use layers::LAYERS;
use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const KENTRY: &str = env!("CARGO_BIN_EXE_kentry");

/// The exit code where a layer cannot be had.
const NOT_HERE: i32 = 77;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A program under a layer.
fn under(layer: &str, program: &[&str]) -> Output {
    Command::new(KENTRY).args(["under", layer, "--"]).args(program).output().unwrap()
}

/// What a program under a layer prints; none, with a word about it, where the layer cannot be had here.
fn printed(layer: &str, program: &[&str]) -> Option<String> {
    let output = under(layer, program);
    if output.status.code() == Some(NOT_HERE) {
        let why = text(&output.stderr);
        assert!(why.lines().count() == 1 && why.len() > 20, "{layer} says why in a line: {why}");
        skipped(format!("{layer}: {}", why.trim()));
        return None;
    }
    assert!(output.status.success(), "{layer}: {}", text(&output.stderr));
    Some(text(&output.stdout))
}

/// A line of /proc/self/status as a program under a layer sees it.
fn status(layer: &str, field: &str) -> Option<String> {
    let all = printed(layer, &["cat", "/proc/self/status"])?;
    let line = all.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    Some(line.unwrap_or_default().trim().to_string())
}

#[test]
fn a_filter_is_on_under_each_layer_that_has_one_and_under_no_other() {
    let Some(none) = status("none", "Seccomp_filters").filter(|count| !count.is_empty()) else { return };
    let none: u32 = none.parse().unwrap();
    for layer in LAYERS.iter().filter(|layer| layer.name != "seccomp-profile") {
        let has_filter = layer.name.contains("seccomp") || layer.name.starts_with("spec-allow");
        let Some(found) = status(layer.name, "Seccomp_filters") else { continue };
        assert_eq!(found.parse(), Ok(none + u32::from(has_filter)), "{}", layer.name);
    }
}

#[test]
fn a_tracer_is_there_under_ptrace_and_has_gone_under_dispatch() {
    for (layer, is_traced) in
        [("none", false), ("ptrace", true), ("ptrace-seccomp", true), ("user-dispatch", false)]
    {
        let Some(tracer) = status(layer, "TracerPid") else { continue };
        assert_eq!(tracer != "0", is_traced, "{layer}: {tracer}");
    }
}

#[test]
fn store_bypass_is_forbidden_or_the_reason_says_why_it_cannot_be() {
    let before = status("none", "Speculation_Store_Bypass").unwrap();
    let Some(found) = status("ssbd", "Speculation_Store_Bypass") else {
        assert!(!before.starts_with("thread vulnerable"), "it could be switched: {before}");
        return;
    };
    assert!(found.contains("mitigated"), "{found}");
}

#[test]
fn a_filter_leaves_speculation_alone_where_it_is_told_to() {
    let [none, allowed] = ["none", "spec-allow"].map(|layer| status(layer, "Speculation_Store_Bypass"));
    assert_eq!(none, allowed);
}

/// How a tracer sees syscall user dispatch: `struct ptrace_sud_config`.
fn dispatch_of(pid: Pid) -> Result<[u64; 4], Errno> {
    const GET: libc::c_uint = 0x4211;
    ptrace::attach(pid)?;
    waitpid(pid, None)?;
    let mut found = [0u64; 4];
    // SAFETY: the kernel writes 32 bytes.
    let got = unsafe { libc::ptrace(GET, pid.as_raw(), size_of_val(&found), found.as_mut_ptr()) };
    let got = Errno::result(got);
    ptrace::detach(pid, None)?;
    got.map(|_| found)
}

#[test]
fn dispatch_is_on_and_lets_all_addresses_through() {
    let waits = ["sh", "-c", "echo $$; read end"];
    let mut child = Command::new(KENTRY)
        .args(["under", "user-dispatch", "--"])
        .args(waits)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let found = line.trim().parse().map(|pid| dispatch_of(Pid::from_raw(pid)));
    drop(child.stdin.take());
    child.wait().unwrap();
    match found {
        Ok(Ok(found)) => assert_eq!(found, [1, 0, 0, u64::MAX]),
        Ok(Err(errno)) => skipped(format!("this process may not trace what it has started: {errno}")),
        Err(_) => drop(printed("user-dispatch", &waits)),
    }
}

#[test]
fn both_tracepoints_count_the_calls_of_the_program() {
    // Which descriptors they are depends on those that this process was given.
    let each = "for file in /proc/$$/fd/*; do case $(readlink $file) in *perf_event*) head -c 8 <&${file##*/} | od -An -tu8;; esac; done";
    let Some(counts) = printed("tracepoint", &["sh", "-c", each]) else { return };
    let counts: Vec<u64> = counts.split_whitespace().map(|count| count.parse().unwrap()).collect();
    assert!(counts.len() == 2 && counts.iter().all(|count| *count > 10), "{counts:?}");
}

#[test]
fn a_program_is_attached_to_both_tracepoints() {
    let Some(found) = printed("bpf", &["sh", "-c", "cat /proc/$$/fdinfo/* 2>/dev/null; true"]) else {
        return;
    };
    for point in ["sys_enter", "sys_exit"] {
        let is_there = found.lines().any(|line| line.starts_with("tp_name:") && line.ends_with(point));
        assert!(is_there, "{point}: {found}");
    }
}

#[test]
fn landlock_is_on_where_links_across_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("a/file"), "").unwrap();
    let [from, to, other] =
        ["a/file", "b/file", "b/other"].map(|name| folder.path().join(name).display().to_string());
    assert!(under("none", &["ln", &from, &other]).status.success());
    if printed("landlock", &["true"]).is_some() {
        assert!(!under("landlock", &["ln", &from, &to]).status.success());
    }
}

#[test]
fn a_supervisor_listens_to_the_program_and_is_its_parent() {
    let look = "ls -l /proc/$PPID/fd";
    let Some(found) = printed("seccomp-notify", &["sh", "-c", look]) else { return };
    assert!(found.contains("seccomp notify"), "{found}");
}

#[test]
fn the_end_of_a_program_is_the_end_of_who_stands_for_it() {
    for layer in ["none", "seccomp-1", "ptrace", "ptrace-seccomp", "seccomp-notify", "user-dispatch"] {
        if printed(layer, &["true"]).is_none() {
            continue;
        }
        assert_eq!(under(layer, &["sh", "-c", "exit 5"]).status.code(), Some(5), "{layer}");
        let ended = under(layer, &["sh", "-c", "kill -TERM $$"]).status;
        let signal = std::os::unix::process::ExitStatusExt::signal(&ended);
        assert!(signal == Some(15) || ended.code() == Some(128 + 15), "{layer}: {ended}");
        assert_eq!(under(layer, &["/nowhere/at/all"]).status.code(), Some(127), "{layer}");
    }
}

#[test]
fn whoever_calls_it_otherwise_is_told() {
    for words in
        [&["under"][..], &["under", "ssbd"], &["under", "nothing", "--", "true"], &["under", "ssbd", "--"]]
    {
        let output = Command::new(KENTRY).args(words).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words:?}");
        assert_eq!(text(&output.stderr).lines().count(), 1, "{words:?}");
    }
}

fn tax(words: &[&str]) -> Output {
    Command::new(KENTRY).arg("tax").args(words).output().unwrap()
}

fn measured(words: &[&str]) -> Value {
    let output = tax(&[words, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn complaint(words: &[&str]) -> String {
    let output = tax(words);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words:?}");
    text(&output.stderr)
}

/// The cycles that a layer adds to getppid.
fn cycles(tax: &Value, layer: &str) -> Option<f64> {
    let layer = tax["layers"].as_array().unwrap().iter().find(|one| one["name"] == layer).unwrap();
    layer["costs"][0]["added"]["cycles"].as_f64()
}

fn objections(tax: &Value) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tax.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(tax).map(|error| error.to_string()).collect()
}

#[test]
fn every_layer_is_measured_or_says_why_not() {
    let found = measured(&["--budget", "2", "--seed", "1"]);
    assert_eq!(objections(&found), [""; 0]);
    let listed: Value = serde_json::from_slice(&tax(&["--list", "--format", "json"]).stdout).unwrap();
    let names = |value: &Value| -> Vec<String> {
        value["layers"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().into()).collect()
    };
    assert_eq!(names(&found), names(&listed));
    assert_eq!(names(&found), LAYERS.map(|layer| layer.name));
    for layer in found["layers"].as_array().unwrap() {
        let costs = layer["costs"].as_array().unwrap();
        assert_eq!(costs.is_empty(), layer["missing"].is_string(), "{layer}");
        assert!(costs.iter().all(|cost| cost["added"].is_null() == cost["why"].is_string()), "{layer}");
    }
}

#[test]
fn a_filter_that_must_run_costs_more_than_one_that_need_not_and_a_tracer_more_than_both() {
    let found = measured(&[
        "--layer",
        "seccomp-300",
        "--layer",
        "seccomp-300-arguments",
        "--layer",
        "ptrace",
        "--budget",
        "8",
    ]);
    let of = |layer| cycles(&found, layer);
    let (Some(number), Some(arguments), Some(tracer)) =
        (of("seccomp-300"), of("seccomp-300-arguments"), of("ptrace"))
    else {
        return skipped("too few quiet rounds");
    };
    assert!(arguments > number, "{arguments} and {number}");
    assert!(tracer > 10.0 * arguments, "{tracer} and {arguments}");
}

#[test]
fn a_layer_that_nobody_knows_is_a_wrong_argument() {
    assert!(complaint(&["--layer", "secomp-10"]).contains("did you mean seccomp-10?"));
    assert!(complaint(&["--list", "--layer", "ssbd"]).contains("cannot be used with"));
    assert!(complaint(&["--cpu", "4000"]).contains("CPU 4000 cannot be used"));
    assert!(complaint(&["--cpu", "all"]).contains("--cpu all: "));
    assert!(
        complaint(&["--layer", "ssbd", "--output", "tax.svg"]).contains("a table of layers is written as")
    );
}

#[test]
fn a_profile_that_is_none_is_refused_in_a_sentence_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    let path = file.to_str().unwrap();
    for (content, why) in [
        ("", "this is no seccomp profile"),
        (
            r#"{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_DANCE"}]}"#,
            "SCMP_ACT_DANCE",
        ),
        (r#"{"defaultAction": "SCMP_ACT_NOTIFY"}"#, "SCMP_ACT_NOTIFY needs a container runtime's agent"),
        ("{\"defaultAction\": \"\u{1b}[2J\"}", "this is no seccomp profile"),
    ] {
        std::fs::write(&file, content).unwrap();
        // Whoever measured first would not come back.
        let said = complaint(&["--seccomp-profile", path, "--budget", "100000"]);
        assert!(said.contains(why) && said.lines().count() == 1 && !said.contains('\u{1b}'), "{said}");
    }
    assert!(complaint(&["--seccomp-profile", "/nowhere/p.json"]).contains("there is no such file"));
    assert!(complaint(&["--seccomp-profile", folder.path().to_str().unwrap()]).contains("it is a folder"));
    let endless = complaint(&["--seccomp-profile", "/dev/zero"]);
    assert!(endless.contains("not a regular file"), "{endless}");
}

#[test]
fn a_profile_of_ones_own_is_used_and_what_it_forbids_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    let forbids = r#"{"defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [{"names": ["getppid", "gettppid"], "action": "SCMP_ACT_ERRNO", "errnoRet": 95}]}"#;
    std::fs::write(&file, forbids).unwrap();
    let found = measured(&[
        "--layer",
        "seccomp-profile",
        "--seccomp-profile",
        file.to_str().unwrap(),
        "--budget",
        "1",
    ]);
    assert_eq!(objections(&found), [""; 0]);
    assert_eq!(found["profile"]["unknown"], serde_json::json!(["gettppid"]));
    assert!(
        found["warnings"].as_array().unwrap().iter().any(|text| text.as_str().unwrap().contains("gettppid"))
    );
    let cost = &found["layers"][0]["costs"][0];
    assert!(cost["added"].is_null(), "{cost}");
    assert!(cost["why"].as_str().unwrap().contains("EOPNOTSUPP"), "{cost}");
}

#[test]
fn a_profile_that_forbids_to_execute_anything_ended_by_a_signal_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    std::fs::write(&file, r#"{"defaultAction": "SCMP_ACT_ERRNO"}"#).unwrap();
    let found = measured(&[
        "--layer",
        "seccomp-profile",
        "--seccomp-profile",
        file.to_str().unwrap(),
        "--budget",
        "0.5",
    ]);
    let why = found["layers"][0]["missing"].as_str().unwrap();
    assert!(why.starts_with("the profile forbids what any program needs"), "{why}");
}

#[test]
fn an_ordinary_user_is_told_which_permission_is_missing() {
    if !nix::unistd::geteuid().is_root() {
        return skipped("this user is an ordinary one");
    }
    // Where everybody may execute it.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("kentry");
    std::fs::copy(KENTRY, &copy).unwrap();
    Command::new("chmod").args(["-R", "a+rx"]).arg(folder.path()).status().unwrap();
    let of = |layer: &str| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy);
        command.args(["under", layer, "--", "true"]).output().unwrap()
    };
    if of("none").status.code() != Some(0) {
        return skipped("nobody may not execute files of this folder");
    }
    for (layer, permission) in [("tracepoint", "CAP_"), ("bpf", "CAP_BPF")] {
        let output = of(layer);
        if output.status.success() {
            skipped(format!("{layer}: everybody may here"));
            continue;
        }
        assert_eq!(output.status.code(), Some(NOT_HERE), "{layer}");
        assert!(text(&output.stderr).contains(permission), "{layer}: {}", text(&output.stderr));
    }
    for layer in ["seccomp-10", "ptrace", "seccomp-notify"] {
        let output = of(layer);
        assert!(
            [Some(0), Some(NOT_HERE)].contains(&output.status.code()),
            "{layer}: {}",
            text(&output.stderr)
        );
    }
}

/// Marks all that a command starts.
const MARK: &str = "KENTRY_TEST_OF_TAX";

fn begin(words: &[&str], mark: &str) -> Child {
    let mut command = Command::new(KENTRY);
    command.arg("tax").args(words).env(MARK, mark).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Processes with this mark in their environment, and what they are called.
fn marked(mark: &str) -> Vec<(i32, String)> {
    let wanted = format!("{MARK}={mark}");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pid = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    let has_mark = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let name = |pid: i32| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    processes.filter_map(pid).filter(has_mark).map(|pid| (pid, name(pid).trim().to_string())).collect()
}

/// Whether it comes true within some seconds.
fn comes(mut is_so: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(20) {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

#[test]
fn nothing_is_left_behind_where_it_is_killed() {
    for layer in ["ptrace", "seccomp-notify", "user-dispatch", "seccomp-300-arguments", "tracepoint", "bpf"] {
        if printed(layer, &["true"]).is_none() {
            continue;
        }
        let mark = format!("{layer}-{}", std::process::id());
        let mut child = begin(&["--layer", layer, "--budget", "60"], &mark);
        assert!(comes(|| marked(&mark).iter().any(|(_, name)| name.starts_with("probe"))), "{layer}");
        kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
        child.wait().unwrap();
        assert!(comes(|| marked(&mark).is_empty()), "{layer}: {:?}", marked(&mark));
    }
}

#[test]
fn an_interrupt_ends_it_and_what_was_measured_is_shown() {
    let mark = format!("interrupt-{}", std::process::id());
    let child = begin(&["--layer", "seccomp-1", "--budget", "60", "--format", "json"], &mark);
    assert!(comes(|| marked(&mark).iter().any(|(_, name)| name.starts_with("probe"))));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    if output.stdout.is_empty() {
        assert!(text(&output.stderr).contains("interrupted before anything was measured"));
    } else {
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&found["partial"], objections(&found)), (&Value::Bool(true), Vec::new()));
    }
    assert!(comes(|| marked(&mark).is_empty()));
}

#[test]
fn a_tracepoints_number_is_the_same_by_whichever_way_it_is_found() {
    let Ok(id) = layers::tracefs::id("raw_syscalls/sys_enter") else {
        return skipped("nobody tells it here");
    };
    assert!(id > 0);
    match layers::tracefs::in_own_namespace("raw_syscalls/sys_enter") {
        Ok(mounted) => assert_eq!(mounted, id),
        Err(why) => skipped(format!("where it is not mounted: {why}")),
    }
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.lines().any(|line| line.contains(" /proc tracefs ")), "{mounts}");
}

//! `kentry impact` of programs whose calls are known: counts are exact, however noisy the machine is.

use crate::skipped::skipped;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const KENTRY: &str = env!("CARGO_BIN_EXE_kentry");

/// Crossings need no figures where counts are tested.
const QUICK: [&str; 3] = ["--budget", "0.05", "--strict-budget"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a program of this folder; none where this compiler cannot, and why.
fn compiled(folder: &Path, source: &str, options: &[&str]) -> Result<PathBuf, String> {
    let program = folder.join(options.concat().replace(['-', '='], ""));
    let source = root().join("tests").join(source);
    let output = Command::new("cc").args(options).arg(source).arg("-o").arg(&program).output().unwrap();
    if output.status.success() {
        Ok(program)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn calls(folder: &Path) -> PathBuf {
    compiled(folder, "calls.c", &["-O1", "-pthread"]).unwrap()
}

const BARE: [&str; 7] =
    ["-O1", "-ffreestanding", "-nostdlib", "-static", "-fno-pic", "-no-pie", "-fno-stack-protector"];

fn bare(folder: &Path, way: &str, bits: &str) -> Result<PathBuf, String> {
    compiled(folder, "calls_bare.c", &[&BARE[..], &[way, bits, "-DCALLS=3000"]].concat())
}

fn run(words: &[&str]) -> Output {
    Command::new(KENTRY).arg("impact").args(words).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The document of a command's calls.
fn of(method: &str, program: &Path, arguments: &[&str]) -> Value {
    let program = program.to_str().unwrap();
    let words = ["--format", "json", "--method", method];
    let output = run(&[&words[..], &QUICK, &["--", program], arguments].concat());
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn count(document: &Value, name: &str, numbers: &str) -> u64 {
    let lines = document["calls"].as_array().unwrap();
    let is_it = |line: &&Value| line["name"] == name && line["numbers"] == numbers;
    lines.iter().filter(is_it).map(|line| line["count"].as_u64().unwrap()).sum()
}

/// What counts on this machine: the filter everywhere that tests can run.
fn methods() -> Vec<&'static str> {
    match observe::permitted() {
        Ok(()) => vec!["tracepoint", "filter"],
        Err(why) => {
            skipped(format!("the tracepoint: {why}"));
            vec!["filter"]
        }
    }
}

#[test]
fn calls_of_threads_and_children_are_counted_each_once() {
    let folder = tempfile::tempdir().unwrap();
    let program = calls(folder.path());
    for method in methods() {
        let document = of(method, &program, &["2000", "3", "4"]);
        let unseen = document["unseen"].as_u64().unwrap();
        assert_eq!(count(&document, "getppid", "64") + unseen, 2000 * (1 + 3 + 4), "{method}: {document}");
        assert_eq!(unseen, 0, "{method}");
        let processes = document["processes"].as_array().unwrap();
        let sums = processes.iter().map(|process| {
            let calls = process["calls"].as_array().unwrap();
            calls
                .iter()
                .filter(|call| call["name"] == "getppid")
                .map(|call| call["count"].as_u64().unwrap())
                .sum::<u64>()
        });
        let mut sums: Vec<u64> = sums.collect();
        sums.sort_unstable();
        assert_eq!(
            sums,
            [2000, 2000, 2000, 2000, 8000],
            "{method}: threads are of their process, children are not"
        );
    }
}

#[test]
fn each_way_into_the_kernel_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    for (way, bits, numbers, entry) in [
        ("-DWAY_SYSCALL", "-m64", "64", "syscall-x86_64"),
        ("-DWAY_INT80", "-m64", "32", "int80-x86_64"),
        ("-DWAY_INT80", "-m32", "32", "int80-i386"),
        ("-DWAY_GATEWAY", "-m32", "32", "gateway-i386"),
    ] {
        let program = bare(folder.path(), way, bits).unwrap();
        // Where a kernel is built without it, the program dies of a signal.
        if !Command::new(&program).status().is_ok_and(|status| status.success()) {
            skipped(format!("{entry}: this kernel does not have it"));
            continue;
        }
        for method in methods() {
            let document = of(method, &program, &[]);
            assert_eq!(count(&document, "getppid", numbers), 3000, "{way} {bits} {method}: {document}");
            assert_eq!(document["total"], 3001, "{way} {bits} {method}: exit is the last");
            let crossings = document["crossings"].as_array().unwrap();
            let is_32_bit_code = bits == "-m32" && method == "filter";
            let wanted = if is_32_bit_code { "gateway-i386 or int80-i386" } else { entry };
            assert!(
                crossings
                    .iter()
                    .any(|crossing| crossing["entry"] == wanted && crossing["calls"].as_u64() >= Some(3000)),
                "{document}"
            );
        }
    }
}

#[test]
fn perf_counts_as_many() {
    let folder = tempfile::tempdir().unwrap();
    let program = bare(folder.path(), "-DWAY_SYSCALL", "-m64").unwrap();
    // perf mounts tracefs where it is not, and leaves it there.
    let words = ["-m", "perf", "stat", "-x", ",", "-e", "raw_syscalls:sys_enter", "--"];
    let output = Command::new("unshare").args(words).arg(&program).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        return skipped("there is no perf here that may count raw_syscalls:sys_enter");
    };
    let told = said(&output);
    let counted = told.lines().find_map(|line| line.split(',').next()?.parse::<u64>().ok());
    let Some(counted) = counted else { return skipped(format!("perf counts nothing: {told}")) };
    assert_eq!(of("tracepoint", &program, &[])["total"], counted, "{told}");
}

/// The share against the same program's CPU time when nobody counts. Both runs are disturbed, each for itself, and by other tests, too: a
/// share that is right is near in one of a few tries, and one that is wrong in none.
#[test]
fn the_share_is_that_of_a_run_without_counting() {
    let folder = tempfile::tempdir().unwrap();
    let program = calls(folder.path());
    for method in methods() {
        let mut far = Vec::new();
        while far.len() < 4 {
            match is_near(method, &program) {
                None => return skipped("this machine is too noisy for the cost of a crossing"),
                Some(Ok(())) => break,
                Some(Err(why)) => far.push(why),
            }
        }
        assert!(far.len() < 4, "{method}: {far:?}");
    }
}

/// Whether the share is near what the counted calls take of the CPU time of a run that nobody counts; the error says how far it is. None
/// where the cost of a crossing is not known.
fn is_near(method: &str, program: &Path) -> Option<Result<(), String>> {
    let arguments = ["300000", "0", "0", "300"];
    let usage = |text: &str| -> f64 {
        let parts = text.split_whitespace().rev().take(2).map(|part| part.parse::<f64>().unwrap());
        parts.sum()
    };
    // The shell's own word on its children alone.
    let line = format!("TIMEFORMAT='%U %S'; time {} {}", program.display(), arguments.join(" "));
    let output = Command::new("bash").args(["-c", &line]).output().unwrap();
    let alone = usage(&said(&output));
    let words = ["--format", "json", "--method", method, "--budget", "1", "--", program.to_str().unwrap()];
    let output = run(&[&words[..], &arguments].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ns = document["crossings"][0]["ns"]["estimate"].as_f64()?;
    let (low, high) = (document["share"]["low"].as_f64()?, document["share"]["high"].as_f64()?);
    assert!(low > 0.0 && high <= 1.0, "{method}: {low} to {high}");
    if method == "filter" {
        assert!(document["share"]["estimate"].is_null());
    }
    let expected = 300_000.0 * ns * 1e-9 / alone;
    let is_near = low <= expected * 1.5 && high >= expected / 1.5;
    Some(if is_near { Ok(()) } else { Err(format!("{expected} is not near {low} to {high}")) })
}

/// The events of a child leave it before it is taken down: a task clock of 0.532 s stood beside 0.750 s of user and system.
#[test]
fn the_cpu_time_of_a_command_is_not_less_than_its_parts() {
    for method in methods() {
        let words = ["--format", "json", "--method", method, "--", "sh", "-c"];
        let line = "i=0; while [ $i -lt 300 ]; do (:); i=$((i + 1)); done";
        let output = run(&[&QUICK[..], &words, &[line]].concat());
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let of = |name: &str| document["cpu"][name].as_f64().unwrap();
        assert!(of("seconds") >= (of("user") + of("system")) * 0.999, "{method}: {}", document["cpu"]);
        // A child for each few calls: what its events cost is not known.
        let share = &document["share"];
        assert!(share["estimate"].is_null(), "{method}: {share} {}", document["remarks"]);
    }
}

#[test]
fn whose_calls_is_to_be_said() {
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("say whose calls: --pid, --cgroup, --system or -- COMMAND"),
        "{}",
        said(&output)
    );
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    assert!(help.contains("125") && !help.contains("--timeout"), "it has no such option: {help}");
}

#[test]
fn a_commands_status_is_kentrys() {
    for (line, status) in [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 137)] {
        let output = run(&[&QUICK[..], &["--", "sh", "-c", line]].concat());
        assert_eq!(output.status.code(), Some(status), "{line}: {}", said(&output));
    }
    let missing = run(&["--", "/no/such/program"]);
    assert_eq!(missing.status.code(), Some(127), "{}", said(&missing));
    let folder = run(&["--", "/"]);
    assert_eq!(folder.status.code(), Some(126), "{}", said(&folder));
    let ended = run(&[&QUICK[..], &["--seconds", "0.2", "--", "sleep", "60"]].concat());
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
}

#[test]
fn a_commands_output_is_not_among_the_result() {
    let words = ["--method", "filter", "--format", "json"];
    let output = run(&[&words[..], &QUICK, &["--", "echo", "said by the command"]].concat());
    assert!(
        serde_json::from_slice::<Value>(&output.stdout).is_ok()
            && said(&output).contains("said by the command")
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("impact.json");
    let output = run(&[&QUICK[..], &["--output", file.to_str().unwrap(), "--", "echo", "said"]].concat());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "said\n");
    assert!(serde_json::from_slice::<Value>(&std::fs::read(file).unwrap()).is_ok());
}

#[test]
fn what_cannot_be_watched_is_one_sentence() {
    let refused = |words: &[&str], status: i32, why: &str| {
        let output = run(words);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {said}");
        assert!(said.contains(why) && said.lines().count() == 1, "{words:?}: {said}");
    };
    refused(&["--pid", "4194304"], 3, "there is no process 4194304");
    refused(&["--cgroup", "/no/such/group"], 3, "there is no such cgroup");
    refused(&["--cgroup", "/"], 3, "no cgroup of version 2");
    refused(&["--method", "filter", "--system"], 2, "use it with -- COMMAND");
    if std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n") {
        refused(&["--pid", "2"], 3, "is a thread of the kernel");
    }
    let mut ended = Command::new("true").spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    refused(&["--pid", &ended.id().to_string()], 3, "has ended");
    ended.wait().unwrap();
    if observe::permitted().is_ok() {
        let mut idle = Command::new("sleep").arg("60").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        refused(&["--pid", &idle.id().to_string(), "--seconds", "0.1"], 3, "made no system call");
        idle.kill().unwrap();
        idle.wait().unwrap();
    }
}

#[test]
fn a_process_that_runs_already_is_counted_with_its_new_threads() {
    if let Err(why) = observe::permitted() {
        return skipped(why);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut running = Command::new(calls(folder.path()));
    let mut running = running.args(["1000000000", "2", "1", "100"]).process_group(0).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let pid = running.id().to_string();
    let output = run(&[&["--pid", &pid, "--seconds", "0.3", "--format", "json"][..], &QUICK].concat());
    killpg(Pid::from_raw(i32::try_from(running.id()).unwrap()), Signal::SIGKILL).unwrap();
    running.wait().unwrap();
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    assert!(count(&document, "getppid", "64") > 100, "{document}");
    assert!(document["cpu"]["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(
        document["processes"].as_array().unwrap().len(),
        1,
        "children from before are others: {document}"
    );
}

/// A cgroup of its own, which is removed when this is dropped.
struct Group(PathBuf);

impl Group {
    fn make() -> Option<Group> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?.split(' ').nth(4)?.to_owned();
        let folder = Path::new(&mount).join(format!("kentry-test-{}", std::process::id()));
        std::fs::create_dir(&folder).ok().map(|()| Group(folder))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = until(|| std::fs::remove_dir(&self.0).ok());
    }
}

#[test]
fn the_calls_of_a_cgroup_are_those_of_its_processes_alone() {
    if let Err(why) = observe::permitted() {
        return skipped(why);
    }
    let Some(group) = Group::make() else { return skipped("no cgroup of version 2 can be made here") };
    let folder = tempfile::tempdir().unwrap();
    let line = format!(
        "echo $$ > {}/cgroup.procs && exec {} 1000000000 0 0 100",
        group.0.display(),
        calls(folder.path()).display()
    );
    let mut inside = Command::new("sh").args(["-c", &line]).spawn().unwrap();
    let mut outside =
        Command::new(calls(folder.path())).args(["1000000000", "0", "0", "100"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let output =
        run(&[&["--cgroup", group.0.to_str().unwrap(), "--seconds", "0.3", "--format", "json"][..], &QUICK]
            .concat());
    let pid = inside.id();
    for process in [&mut inside, &mut outside] {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    let processes = document["processes"].as_array().unwrap();
    assert!(processes.len() == 1 && processes[0]["pid"] == pid, "{document}");
    assert!(
        count(&document, "getppid", "64") > 100 && document["cpu"]["by"] == "cpu.stat of the cgroup",
        "{document}"
    );
}

#[test]
fn the_machines_calls_are_those_of_all_processes() {
    if let Err(why) = observe::permitted() {
        return skipped(why);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut other = Command::new(calls(folder.path())).args(["1000000000", "0", "0", "100"]).spawn().unwrap();
    let output = run(&[&["--system", "--seconds", "0.3", "--format", "json"][..], &QUICK].concat());
    other.kill().unwrap();
    other.wait().unwrap();
    if output.status.code() == Some(3) {
        return skipped(said(&output));
    }
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let processes = document["processes"].as_array().unwrap();
    assert!(processes.iter().any(|process| process["pid"] == other.id()), "{document}");
}

/// This kentry as nobody, where the tests are root's.
fn as_nobody(words: &[&str]) -> Output {
    let mut command = Command::new("setpriv");
    if nix::unistd::geteuid().is_root() {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]);
    }
    command
        .arg(KENTRY)
        .arg("impact")
        .args(words)
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn an_ordinary_user_counts_a_command_and_is_told_what_a_process_takes() {
    let output = as_nobody(&[&["--format", "json"][..], &QUICK, &["--", "true"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_permitted = document["method"] == "tracepoint";
    assert!(
        is_permitted || document["remarks"].to_string().contains("counted by a filter, because"),
        "{document}"
    );
    assert!(count(&document, "exit_group", "64") == 1, "{document}");
    let output = as_nobody(&["--pid", "1", "--seconds", "0.1"]);
    if !is_permitted {
        assert_eq!(output.status.code(), Some(3));
        let said = said(&output);
        assert!(said.contains("run kentry as root, or start the program by it"), "{said}");
        assert!(said.contains("CAP_") && said.lines().count() == 1, "{said}");
    }
}

fn is_running(pid: i32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

fn until<T>(mut found: impl FnMut() -> Option<T>) -> Option<T> {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(20) {
        if let Some(found) = found() {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    None
}

/// The `sleep` that one of this process's threads has started.
fn sleeper(of: u32) -> Option<i32> {
    let threads = std::fs::read_dir(format!("/proc/{of}/task")).ok()?;
    let children =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    let children = children.collect::<String>();
    let sleeps =
        |pid: &i32| std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n");
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).find(sleeps)
}

/// A kentry that watches a command, and the command.
fn begun(method: &str) -> (Child, i32) {
    let words = ["impact", "--method", method, "--budget", "0.05", "--strict-budget", "--", "sleep", "1000"];
    let mut kentry =
        Command::new(KENTRY).args(words).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let Some(child) = until(|| sleeper(kentry.id())) else {
        kentry.kill().unwrap();
        panic!("{method}: the command was not started")
    };
    (kentry, child)
}

#[test]
fn nothing_is_left_behind_where_kentry_is_killed() {
    let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    for method in methods() {
        let (mut kentry, child) = begun(method);
        kentry.kill().unwrap();
        kentry.wait().unwrap();
        assert!(until(|| (!is_running(child)).then_some(())).is_some(), "{method}: the command lives on");
        assert_eq!(mounts(), before, "{method}");
    }
}

#[test]
fn an_interrupt_ends_the_command_and_shows_what_was_counted() {
    for method in methods() {
        let (kentry, child) = begun(method);
        // It has made calls once it is in its last one; before, it may wait for whoever counts the first.
        let call = || std::fs::read_to_string(format!("/proc/{child}/syscall")).unwrap_or_default();
        let is_last = || call().split(' ').next() == Some(&nix::libc::SYS_clock_nanosleep.to_string());
        assert!(until(|| is_last().then_some(())).is_some(), "{method}: {}", call());
        kill(Pid::from_raw(i32::try_from(kentry.id()).unwrap()), Signal::SIGTERM).unwrap();
        let output = kentry.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{method}");
        assert!(!is_running(child), "{method}");
    }
}

/// A command that ends and leaves a process in a session of its own, which makes calls for ever; and that process.
fn leaving(folder: &Path, seconds: &[&str]) -> (Child, i32) {
    let file = folder.join("pid");
    let line = format!(
        "setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; while :; do sleep 0.01; done' > {0}.out 2>&1 &",
        file.display()
    );
    let words = [&["impact", "--method", "filter"][..], &QUICK, seconds, &["--", "sh", "-c", &line]].concat();
    let mut command = Command::new(KENTRY);
    let command = command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut kentry = command.spawn().unwrap();
    let Some(left) = until(|| std::fs::read_to_string(&file).ok()?.trim().parse().ok()) else {
        kentry.kill().unwrap();
        panic!("the command left nobody behind")
    };
    (kentry, left)
}

#[test]
fn a_filter_does_not_outlive_its_run() {
    let send =
        |kentry: &Child, signal| kill(Pid::from_raw(i32::try_from(kentry.id()).unwrap()), signal).unwrap();
    for (signal, seconds, status) in [
        (Some(Signal::SIGTERM), None, Some(130)),
        (Some(Signal::SIGKILL), None, None),
        (None, Some("1"), Some(0)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let time: Vec<&str> = seconds.iter().flat_map(|seconds| ["--seconds", *seconds]).collect();
        let (mut kentry, left) = leaving(folder.path(), &time);
        if let Some(signal) = signal {
            send(&kentry, signal);
        }
        let ended = until(|| kentry.try_wait().unwrap());
        if ended.is_none() {
            kentry.kill().unwrap();
            kentry.wait().unwrap();
        }
        let is_gone = until(|| (!is_running(left)).then_some(())).is_some();
        if !is_gone {
            kill(Pid::from_raw(left), Signal::SIGKILL).unwrap();
        }
        assert_eq!(ended.map(|ended| ended.code()), Some(status), "{signal:?}");
        assert!(is_gone, "{signal:?}: it lives on with a filter that nobody answers for");
    }
}

#[test]
fn what_kentry_is_denied_is_not_the_commands_fault() {
    let folder = tempfile::tempdir().unwrap();
    let surround = compiled(folder.path(), "surround.c", &["-O1"]).unwrap();
    for (number, why) in [("16", "who asks"), ("435", "cannot start a thread"), ("109", "setpgid(2)")] {
        let mut command = Command::new("timeout");
        let command =
            command.args(["-k", "1", "20"]).arg(&surround).args(["errno=1", "x86_64", number, KENTRY]);
        let words = ["impact", "--method", "filter", "--", "sleep", "60"];
        let output = command.args(words).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{number}: {}", said(&output));
        assert!(said(&output).contains(why) && said(&output).lines().count() == 1, "{}", said(&output));
    }
}

#[test]
fn every_format_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = |ending: &str| folder.path().join(format!("impact.{ending}")).to_str().unwrap().to_owned();
    let files = ["txt", "json", "md", "folded"].map(file);
    let outputs: Vec<&str> = files.iter().flat_map(|file| ["--output", file.as_str()]).collect();
    let output = run(&[&outputs[..], &QUICK, &["--", "true"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let [text, json, markdown, folded] = files.map(|file| std::fs::read_to_string(file).unwrap());
    assert!(
        text.starts_with("impact       true, ") && markdown.starts_with("# kentry impact: true, "),
        "{text}{markdown}"
    );
    let schema: Value = serde_json::from_str(include_str!("../docs/impact.schema.json")).unwrap();
    let document: Value = serde_json::from_str(&json).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let objections: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert_eq!(objections, Vec::<String>::new());
    let stack = folded.lines().find(|line| line.contains(";exit_group ")).unwrap();
    assert!(
        stack.starts_with("true-") && stack.rsplit(' ').next().unwrap().parse::<u64>().is_ok(),
        "{stack}"
    );
}

//! `kentry linux` as it is called: what is wrong with a command line or with this machine, in one sentence; and with a real kernel, where
//! there is one (`KENTRY_KERNEL`, or target/guest/vmlinuz*).

use crate::qemu;
use crate::skipped::skipped;
use document::{Document, Outcome, Row};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Runs the command with this folder as the only place for programs.
fn kentry(path: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.arg("linux").args(arguments).env("PATH", path).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The exit code, and what was said.
fn refused(path: &Path, arguments: &[&str]) -> (i32, String) {
    let output = kentry(path, arguments);
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    (output.status.code().unwrap(), text(&output.stderr))
}

fn nowhere() -> PathBuf {
    "/nonexistent".into()
}

#[test]
fn a_plan_is_printed_and_nothing_booted() {
    let line = ["--dry-run", "-e", "syscall", "-o", "none", "--kernel", "b", "--kernel", "a"];
    let sets = ["--set", "pti=on", "--set", "nopcid,clocksource=hpet", "--append", "quiet"];
    let plan = kentry(&nowhere(), &[&line[..], &sets].concat());
    let plan = text(&plan.stdout);
    assert!(
        plan.starts_with("1 row in 4 configurations, one boot of each, seed 0, at most 120 s a boot"),
        "{plan}"
    );
    assert!(
        plan.contains("kernel        b\n  processor   max,vendor=GenuineIntel\n  parameters  quiet pti=on\n")
    );
    assert!(plan.contains("processor   max,vendor=GenuineIntel,-pcid\n  board       pc\n"), "{plan}");
    let json = kentry(&nowhere(), &[&line[..], &sets, &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["schema"], "kentry.linux-plan/1");
    assert_eq!(json["configurations"].as_array().unwrap().len(), 4);
    assert_eq!(json["configurations"][3]["settings"]["pcid"], "off");
    let filtered = ["--set", "seccomp=off", "--set", "seccomp=arguments"];
    let plan = text(&kentry(&nowhere(), &[&line[..], &filtered].concat()).stdout);
    assert_eq!(
        plan.matches("looks at a call's number and its first argument, and allows all").count(),
        2,
        "{plan}"
    );
    let json = kentry(&nowhere(), &[&line[..], &filtered, &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["configurations"][0]["filter"], serde_json::Value::Null);
    assert_eq!(json["configurations"][1]["filter"], "arguments");
    let (code, said) = refused(&nowhere(), &["--dry-run", "--format", "csv"]);
    assert!(code == 2 && said.contains("text or json"), "{said}");
}

#[test]
fn only_kernels_that_are_named_are_drawn() {
    for picture in [&["--format", "svg"][..], &["--output", "x.svg"]] {
        let line =
            [&["-e", "syscall", "-o", "none", "--set", "pti=off", "--set", "pti=on"][..], picture].concat();
        let (code, said) = refused(&nowhere(), &line);
        assert!(code == 2 && said.lines().count() == 1 && !Path::new("x.svg").exists(), "{said}");
        assert!(said.contains(": a run is written as text, "), "{said}");
        assert!(
            said.trim_end().ends_with(", and `kentry linux` with --history or --kernel make pictures"),
            "{said}"
        );
    }
    // Where they are named, it is the kernel's file that is wrong, or here not there.
    for kernels in ["--history", "--kernel"] {
        let (code, said) = refused(&nowhere(), &["--format", "svg", kernels, "/nonexistent/vmlinuz"]);
        assert!(code == 2 && said.contains("/nonexistent/vmlinuz: "), "{said}");
    }
    let (code, said) = refused(&nowhere(), &["--dry-run", "--format", "svg", "--history", "a"]);
    assert!(code == 2 && said.contains("--format svg: a plan is written as text or json"), "{said}");
}

#[test]
fn what_is_misspelt_is_answered_with_the_nearest() {
    let said = |arguments: &[&str]| {
        let (code, said) = refused(&nowhere(), arguments);
        assert_eq!(code, 2, "{said}");
        said
    };
    assert!(said(&["--set", "ptii=on"]).contains("did you mean pti?"));
    assert!(said(&["--set", "pti=maybe"]).contains("which can be on, off"));
    assert!(said(&["--set", "cr3-writes=1"]).contains("only the lab has the switch cr3-writes"));
    assert!(said(&["--set", "pti=on", "--set", "pti=on"]).contains("the same configuration"));
    assert!(said(&["-e", "syscal"]).contains("did you mean syscall?"));
    assert!(said(&["--boots", "0"]).contains("--boots"));
    assert!(said(&["--memory", "1"]).contains("--memory"));
    assert!(said(&["--kernel", ""]).contains("the name is empty"));
}

#[test]
fn what_is_missing_is_said_in_one_sentence() {
    let one_line = |said: &str| assert_eq!(said.lines().count(), 1, "{said}");
    let (code, said) = refused(&nowhere(), &["--accel", "tcg", "--kernel", "/nonexistent/vmlinuz"]);
    one_line(&said);
    assert!(code == 2 && said.contains("/nonexistent/vmlinuz: "), "{said}");
    let folder = tempfile::tempdir().unwrap();
    let corrupt = folder.path().join("vmlinuz");
    for bytes in [&b""[..], b"\x7fELF", &[0; 4096], b"MZ and the rest is missing"] {
        std::fs::write(&corrupt, bytes).unwrap();
        let (code, said) = refused(&nowhere(), &["--accel", "tcg", "--kernel", corrupt.to_str().unwrap()]);
        one_line(&said);
        assert_eq!(code, 2, "{said}");
    }
    let (code, said) = refused(&nowhere(), &["--exec", "/nonexistent/program"]);
    one_line(&said);
    assert!(code == 127 && said.contains("there is no program /nonexistent/program"), "{said}");
    let (code, said) = refused(&nowhere(), &["--share", "/bin/ls", "--exec", "/bin/true"]);
    one_line(&said);
    assert!(code == 126 && said.contains("--share /bin/ls: it is a file, not a folder"), "{said}");
    let (code, said) = refused(&nowhere(), &["--set", "pti=on", "--set", "pti=off", "--exec", "/bin/true"]);
    one_line(&said);
    assert!(code == 125 && said.contains("boot one guest"), "{said}");
}

/// A kernel's file and a folder for kept runs; nothing, with the reason printed, where there is no kernel or no QEMU.
fn real() -> Option<(String, TempDir)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/guest");
    let Ok(kernel) = std::env::var("KENTRY_KERNEL").or_else(|_| {
        let found = linux::find(&folder);
        found.map(|file| file.to_str().unwrap().to_string())
    }) else {
        skipped("no kernels here (scripts/kernels.sh fetches them)");
        return None;
    };
    qemu::is_here().then(|| (kernel, tempfile::tempdir().unwrap()))
}

/// Runs a line of a shell in which `$kentry` is the command on this kernel, one row.
fn limited(kernel: &str, line: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new("bash");
    command.args(["-c", line]).env("kentry", env!("CARGO_BIN_EXE_kentry")).env("kernel", kernel);
    let output = command.output().unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const ONE_ROW: &str = "exec $kentry linux --accel tcg --kernel $kernel --no-save -e syscall -o none";

#[test]
fn what_this_machine_refuses_was_an_outcome_of_rows() {
    let Some((kernel, folder)) = real() else { return };
    let killed = folder.path().join("qemu-system-x86_64");
    std::fs::write(&killed, "#!/bin/sh\n[ $1 = --version ] || kill -9 $$\necho QEMU emulator version 1\n")
        .unwrap();
    std::fs::set_permissions(&killed, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (limit, what) in [
        ("ulimit -n 3;", "this process may open no more files (ulimit -n)"),
        ("ulimit -n 8;", "this process may open no more files (ulimit -n)"),
        ("ulimit -n 12;", "this process may open no more files (ulimit -n)"),
        ("ulimit -v 900000;", "free some, or raise what limits it (ulimit -v;"),
        ("ulimit -f 100;", "(ulimit -f)"),
        ("export PATH=/nonexistent;", "there is no qemu-system-x86_64 here: install it"),
        (&format!("export PATH={}:$PATH;", folder.path().display()), "it was killed, as the kernel does"),
    ] {
        let (code, shown, said) = limited(&kernel, &format!("{limit} {ONE_ROW}"));
        assert_eq!((code, shown.as_str(), said.lines().count()), (Some(3), "", 1), "{limit} {said}");
        assert!(said.contains(what), "{limit} {said}");
    }
    let (code, _, said) =
        limited(&kernel, "ulimit -n 3; exec $kentry linux --kernel $kernel --exec /bin/true");
    assert!(code == Some(125) && said.contains("(ulimit -n)"), "{said}");
    let (code, shown, said) = limited(&kernel, &format!("{ONE_ROW} --memory 64"));
    assert_eq!((code, shown.as_str(), said.lines().count()), (Some(3), "", 1), "{said}");
    assert!(said.contains("too small") && said.contains("--memory"), "{said}");
}

#[test]
fn a_guest_that_has_no_time_is_an_outcome() {
    let Some((kernel, _)) = real() else { return };
    let (code, shown, said) = limited(&kernel, &format!("{ONE_ROW} --timeout 0.001 --format json"));
    assert_eq!(code, Some(4), "{said}");
    let document = document::load(&shown).unwrap();
    assert_eq!(document.results[0].outcome, Outcome::Timeout);
    assert!(document.measurement.out_of_time);
}

#[test]
fn a_shell_reads_its_commands_from_a_pipe_and_ends_with_it() {
    let Some((kernel, _)) = real() else { return };
    let shell = "$kentry linux --accel tcg --kernel $kernel --shell";
    let (code, shown, said) =
        limited(&kernel, &format!("echo 'cat /proc/sys/kernel/ostype; exit 3' | {shell}"));
    assert_eq!((code, shown.as_str(), said.as_str()), (Some(3), "Linux\n", ""));
    let (code, shown, _) = limited(&kernel, &format!("{shell} </dev/null"));
    assert_eq!((code, shown.as_str()), (Some(0), ""));
}

/// Measures on the real kernel.
fn measured(kernel: &str, arguments: &[&str]) -> Document {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.args([
        "linux",
        "--accel",
        "tcg",
        "--kernel",
        kernel,
        "--no-save",
        "--format",
        "json",
        "--timeout",
        "300",
    ]);
    let output = command.args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    document::load(&text(&output.stdout)).unwrap()
}

fn row<'d>(document: &'d Document, operation: &str, value: &str) -> &'d Row {
    let is_of = |row: &&Row| row.operation == operation && row.configuration.values().any(|of| of == value);
    document.results.iter().find(is_of).unwrap()
}

#[test]
fn isolation_executes_more_and_tcg_has_no_pcid() {
    let Some((kernel, _)) = real() else { return };
    let sets = ["--set", "pti=off", "--set", "pti=on", "--set", "pcid=on"];
    let found = measured(&kernel, &[&["-e", "syscall", "-o", "getppid"], &sets[..]].concat());
    let count = |row: &Row| row.instructions.unwrap().estimate.0;
    let row = |name: &str, value: &str| {
        let is_of = |row: &&Row| row.configuration.get(name).is_some_and(|of| of == value);
        found.results.iter().find(is_of).unwrap()
    };
    assert!(count(row("pti", "on")) > count(row("pti", "off")) && count(row("pti", "off")) > 50.0);
    let pcid = row("pcid", "on");
    assert_eq!((pcid.outcome, pcid.instructions), (Outcome::Unsupported, None));
    assert!(pcid.reason.as_ref().unwrap().contains("no pcid: cpu.kernel_flags lacks pcid"));
    for value in ["on", "off"] {
        let rings = row("pti", value).rings.unwrap();
        assert!(rings.ring0.0 > 50.0 && rings.ring3.0 > 0.0, "{value}: {rings:?}");
    }
}

#[test]
fn a_parameter_that_the_kernel_does_not_know_is_named() {
    let Some((kernel, _)) = real() else { return };
    let appends = ["--append", "mispelled=1", "--append", "pti=off"];
    let found = measured(&kernel, &[&["-e", "syscall", "-o", "none"], &appends[..]].concat());
    let unknown = row(&found, "none", "mispelled=1");
    assert_eq!((unknown.outcome, unknown.instructions), (Outcome::Unsupported, None));
    assert!(unknown.reason.as_ref().unwrap().starts_with("mispelled=1: this kernel does not know it"));
    assert_eq!(row(&found, "none", "pti=off").outcome, Outcome::Ok);
}

#[test]
fn two_runs_with_one_seed_are_equal() {
    let Some((kernel, _)) = real() else { return };
    let [one, other] = [(); 2].map(|()| {
        let mut found =
            measured(&kernel, &["-e", "syscall", "-e", "int80-i386", "-o", "getppid", "--seed", "5"]);
        found.id = None;
        (found.measurement.started, found.measurement.seconds) = (String::new(), 0.0);
        let guest = found.environment.guest.as_mut().unwrap();
        guest.boot_to_first_record_ms = 0.0;
        let kernels = guest.kernels.iter_mut().flat_map(|kernel| &mut kernel.boots);
        guest.boots.iter_mut().chain(kernels).for_each(|boot| boot.at_ms = 0.0);
        serde_json::to_string(&found).unwrap()
    });
    assert_eq!(one, other);
}

#[test]
fn a_program_ends_as_it_ends_here() {
    let Some((kernel, folder)) = real() else { return };
    std::fs::write(folder.path().join("said"), "shared\n").unwrap();
    let shared = folder.path().to_str().unwrap();
    let script = format!("read line <{shared}/said; echo $line; echo to errors >&2; exit 7");
    let run = Command::new(env!("CARGO_BIN_EXE_kentry"))
        .args([
            "linux", "--accel", "tcg", "--kernel", &kernel, "--share", shared, "--exec", "sh", "-c", &script,
        ])
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(7), "{}", text(&run.stderr));
    assert_eq!(text(&run.stdout), "shared\n");
    assert!(text(&run.stderr).contains("to errors"));
}

#[test]
fn output_that_cannot_be_written_ends_the_guest() {
    let Some((kernel, _)) = real() else { return };
    let exec = "$kentry linux --accel tcg --kernel $kernel --exec";
    let (code, _, said) = limited(&kernel, &format!("{exec} echo precious >/dev/full"));
    let expected = "kentry linux: its output cannot be written: no space is left on the device\n";
    assert_eq!((code, said.as_str()), (Some(125), expected));
    let read = format!("{exec} yes | head -2; exit ${{PIPESTATUS[0]}}");
    assert_eq!(limited(&kernel, &read), (Some(141), "y\ny\n".into(), String::new()));
}

#[test]
fn a_program_that_the_guest_cannot_execute_is_126() {
    let Some((kernel, folder)) = real() else { return };
    let mut program = std::fs::read("/bin/true").unwrap();
    // Not 64-bit any more, as its header says; the rest is.
    program[4] = 1;
    let file = folder.path().join("true");
    std::fs::write(&file, program).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let exec = format!("$kentry linux --accel tcg --kernel $kernel --exec {}", file.display());
    let (code, shown, said) = limited(&kernel, &exec);
    assert_eq!((code, shown.as_str(), said.lines().count()), (Some(126), "", 1), "{said}");
    assert!(said.contains(&format!("{} cannot be executed: ", file.display())), "{said}");
    assert!(!said.contains("os error"), "{said}");
}

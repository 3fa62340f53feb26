//! The command on the machine that runs the tests, however noisy that is: outcomes and shapes. Figures are checked on simulated
//! machines (`pipeline.rs`).

use crate::skipped::skipped;
use crate::tampered::tampered;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use table::special::FIRST_SCREEN;
use table::{Kernel, Table};

fn kentry(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kentry")).args(arguments).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = kentry(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// One run of everything, shared by the tests.
static RUN: LazyLock<String> = LazyLock::new(|| {
    stdout(&["--all", "--format", "json", "--budget", "1", "--strict-budget", "--seed", "1"])
});
static DOCUMENT: LazyLock<document::Document> = LazyLock::new(|| document::load(&RUN).unwrap());

fn row(entry: &str, operation: &str) -> &'static document::Row {
    let found = DOCUMENT.results.iter().find(|row| row.entry == entry && row.operation == operation);
    found.unwrap_or_else(|| panic!("no row {entry} {operation}"))
}

#[test]
fn the_document_keeps_its_contract() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/run.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let document: serde_json::Value = serde_json::from_str(&RUN).unwrap();
    let errors: Vec<_> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(document["schema"], "kentry.run/2");
    assert_eq!(document["measurement"]["seed"], 1);
}

#[test]
fn every_row_of_the_table_has_an_outcome_and_a_reason_unless_it_is_ok() {
    let expected: Vec<_> =
        Table::get().rows(Kernel::Linux).map(|(e, o)| (e.name.as_str(), o.name.as_str())).collect();
    let found: Vec<_> =
        DOCUMENT.results.iter().map(|row| (row.entry.as_str(), row.operation.as_str())).collect();
    assert_eq!(found, expected);
    for row in &DOCUMENT.results {
        let what = format!("{} {}: {:?} {:?}", row.entry, row.operation, row.outcome, row.reason);
        let unexpected = [document::Outcome::Mismatch, document::Outcome::Timeout, document::Outcome::Error];
        assert!(!unexpected.contains(&row.outcome), "{what}");
        assert!(row.outcome == document::Outcome::Ok || row.reason.is_some(), "{what}");
        let is_ok = row.outcome == document::Outcome::Ok;
        assert_eq!((is_ok, is_ok), (row.counts.samples > 0, !row.rounds.is_empty()), "{what}");
        assert!(row.configuration.is_empty() && row.instructions.is_none(), "{what}");
    }
}

#[test]
fn what_works_has_figures_or_says_why_it_has_none() {
    for row in DOCUMENT.results.iter().filter(|row| row.outcome == document::Outcome::Ok) {
        let what = format!("{} {}: {:?}", row.entry, row.operation, row.noise);
        let is_timed = row.timing == document::Timing::Hardware;
        assert_eq!(row.ticks.is_some() || row.noise.is_some(), is_timed, "{what}");
        assert!(row.ticks.is_none() || row.noise.is_none(), "{what}");
        assert_eq!(row.ticks.is_some(), row.ns.is_some(), "{what}");
        assert!(row.ticks.is_some() || row.core_cycles.is_none(), "{what}");
        // Where no CPU had six quiet rounds of its own, the estimate is of several, and names none.
        assert!(row.ticks.is_some() || row.cpu.is_none(), "{what}");
    }
    let hertz = DOCUMENT.measurement.tsc_hz.unwrap();
    assert!((1e8..1e11).contains(&hertz), "{hertz}");
}

#[test]
fn a_saved_run_gives_its_figures_and_findings_again() {
    assert_eq!(measure::recompute(&DOCUMENT).unwrap(), *DOCUMENT);
    let tampered = tampered(DOCUMENT.clone());
    assert_ne!(tampered, *DOCUMENT);
    assert_eq!(measure::recompute(&tampered).unwrap(), *DOCUMENT);
}

#[test]
fn the_path_of_a_function_is_found_out() {
    let path = |operation| {
        let row = row("vdso-x86_64", operation);
        (row.outcome == document::Outcome::Ok).then_some(row.path).flatten()
    };
    // Only the kernel knows this clock, and no clock is read for the other.
    assert_ne!(path("clock_gettime-thread-cputime"), Some(document::Path::User));
    assert_ne!(path("clock_gettime-monotonic-coarse"), Some(document::Path::Kernel));
    for row in DOCUMENT.results.iter().filter(|row| row.outcome == document::Outcome::Ok) {
        let kind = Table::get().entry(&row.entry).unwrap().kind;
        let has_path = matches!(kind, table::Kind::Function | table::Kind::Memory);
        assert_eq!(row.path.is_some(), has_path, "{} {}", row.entry, row.operation);
    }
}

#[test]
fn what_the_vdso_exports_is_listed_and_agrees_with_what_is_timed() {
    let exports = &DOCUMENT.vdso["64"];
    let timed = row("vdso-x86_64", "clock_gettime-monotonic").outcome == document::Outcome::Ok;
    assert_eq!(exports.iter().any(|export| export.name == "__vdso_clock_gettime"), timed);
    assert!(exports.iter().all(|export| export.version.starts_with("LINUX_")), "{exports:?}");
}

#[test]
fn the_environment_is_this_machines() {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(DOCUMENT.environment.kernel.release.as_deref(), Some(release.trim()));
    assert!(DOCUMENT.environment.vsyscall.is_some());
    assert!(DOCUMENT.environment.load.is_some());
}

#[test]
fn every_format_shows_the_same_rows() {
    let run = ["--entry", "call", "--entry", "rdtsc", "--budget", "0.01", "--strict-budget"];
    let text = stdout(&[&run[..], &["--format", "text"]].concat());
    let markdown = stdout(&[&run[..], &["--format", "markdown"]].concat());
    let csv = stdout(&[&run[..], &["--format", "csv"]].concat());
    for output in [&text, &markdown, &csv] {
        assert!(output.contains("call") && output.contains("rdtsc"), "{output}");
        assert!(!output.contains('\u{1b}'), "no color when nobody asked for it");
    }
    assert_eq!(csv.lines().count(), 3);
    let colored = stdout(&[&run[..], &["--color", "always"]].concat());
    assert!(colored.contains('\u{1b}'));
}

#[test]
fn a_plan_is_printed_and_nothing_measured() {
    let plan = stdout(&["--dry-run", "--entry", "vdso-*", "--operation", "time", "--seed", "5"]);
    assert!(plan.starts_with("2 rows for 4 s"), "{plan}");
    assert!(plan.contains("seed 5"));
    assert!(plan.contains("a round on a quiet CPU: at most 32 blocks"), "{plan}");
}

#[test]
fn the_first_screens_rows_are_measured_unless_all_or_others_are_asked_for() {
    let rows = |words: &[&str]| {
        let plan = stdout(&[&["--dry-run", "--format", "json"], words].concat());
        let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
        plan["rows"].as_array().unwrap().len()
    };
    assert_eq!(rows(&[]), FIRST_SCREEN.len());
    assert_eq!(rows(&["--verbose"]), FIRST_SCREEN.len());
    assert_eq!(rows(&["--all"]), Table::get().rows(Kernel::Linux).count());
    assert_eq!(rows(&["--entry", "rdtsc"]), 1);
}

#[test]
fn footprints_are_rows_of_their_own_in_plan_and_document() {
    let of = ["--entry", "call", "--entry", "rdtsc", "--footprint", "curve", "--footprint", "0,512"];
    let plan = stdout(&[&["--dry-run"], &of[..]].concat());
    assert!(plan.starts_with("26 rows for 4 s"), "{plan}");
    let each = "each with every footprint of these: 0 0,512 1 2 4 8 16 32 64 128 256 512 1024\n";
    assert!(plan.contains(each), "{plan}");

    let asked =
        ["--entry", "call", "--footprint", "64", "--footprint", "0", "--budget", "0.2", "--strict-budget"];
    let json = stdout(&[&asked[..], &["--no-save", "--format", "json"]].concat());
    let document = document::load(&json).unwrap();
    let footprints: Vec<&str> =
        document.results.iter().map(|row| row.configuration[document::FOOTPRINT].as_str()).collect();
    assert_eq!(footprints, ["0", "64"]);
    assert!(document.results.iter().all(|row| row.outcome == document::Outcome::Ok));
    assert!(
        document.results[1].throughput.is_none()
            && document.results[1].rounds.throughput.iter().all(Option::is_none)
    );
    // What is not among anything says nothing of it.
    assert!(DOCUMENT.results.iter().all(|row| !row.configuration.contains_key(document::FOOTPRINT)));
}

#[test]
fn every_entry_is_explained_with_its_example() {
    for entry in &Table::get().entries {
        // What else is called so, such as a parameter of guests, stands behind the entry.
        let all = stdout(&["explain", &entry.name]);
        let text = all.split("\n# ").next().unwrap();
        let headings: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let expected =
            ["History", "What the hardware does", "What Linux does", "Registers", "Return", "Measured"];
        assert_eq!(headings, expected, "{}", entry.name);
        assert!(stdout(&["explain", &entry.name, "--example"]).contains("hello"), "{}", entry.name);
    }
}

#[test]
fn the_ending_of_the_output_file_says_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str, more: &[&str]| {
        let path = folder.path().join(name);
        let run =
            ["--entry", "call", "--budget", "0.01", "--strict-budget", "--output", path.to_str().unwrap()];
        assert_eq!(stdout(&[&run[..], more].concat()), "");
        std::fs::read_to_string(path).unwrap()
    };
    document::load(&written("run.json", &[])).unwrap();
    document::load(&written("run.data", &["--format", "json"])).unwrap();
    assert!(written("run.csv", &[]).starts_with("entry,"));
    assert!(written("run.md", &[]).starts_with("# kentry"));
    assert!(
        written("run", &["--format", "csv"]).starts_with("entry,"),
        "--format says it where no ending does"
    );
    assert!(written("run", &[]).contains("clocksource"), "text");
    for refused in [&["--output", "run.jsn"][..], &["--output", "run.json", "--format", "csv"]] {
        let output = kentry(&[&["--entry", "call"], refused].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{refused:?}");
    }
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name.to_str().unwrap().starts_with("run")), "{left:?}");
}

#[test]
fn what_is_explained_may_be_a_short_name_an_operation_or_a_glob() {
    assert!(stdout(&["explain", "syscall"]).contains("\n# syscall-x86_64\n"));
    assert!(stdout(&["explain", "getppid"]).starts_with("# getppid\n"));
    assert!(stdout(&["explain", "clock_gettime"]).contains("\n# clock_gettime-realtime\n"));
    let two = stdout(&["explain", "rdtsc*"]);
    assert!(two.contains("# rdtsc\n") && two.contains("\n# rdtscp\n"), "{two}");
    for (arguments, why) in [
        (
            &["getpppid"][..],
            "no entry, operation, switch, parameter, profile, finding or part of an anatomy \"getpppid\"; did you mean getppid?",
        ),
        (&["sysentr"], "did you mean sysenter?"),
        (&["nothing*"], "no entry, operation, switch, parameter, profile, finding or part"),
        (&["rdtsc*", "--example"], "names 2 entries; name one"),
        (&["getppid", "--example"], "only an entry has an example"),
        (&["pti=on", "--example"], "only an entry has an example"),
        (&["pti=maybe"], "\"maybe\" is no value of pti, which can be off, on, trampoline"),
        (&["linux-6.19"], "did you mean linux-6.1?"),
    ] {
        let output = kentry(&[&["explain"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
    let plan = stdout(&["--dry-run", "--entry", "syscall", "--operation", "clock_gettime"]);
    assert!(plan.contains("syscall-x86_64        clock_gettime-realtime"), "{plan}");
    assert!(!plan.contains("syscall-i386"), "{plan}");
}

#[test]
fn an_explanation_is_set_only_where_color_is_asked_for() {
    assert!(!stdout(&["explain", "rdtsc"]).contains('\u{1b}'));
    let colored = stdout(&["explain", "rdtsc", "--color", "always"]);
    assert!(colored.contains("\u{1b}[") && !colored.contains("## "), "{colored}");
}

#[test]
fn a_locale_that_is_ascii_gets_ascii() {
    for arguments in [
        &["--entry", "call", "--budget", "0.01", "--strict-budget", "--verbose"][..],
        &["list"],
        &["explain", "*"],
        &["explain", "vdso", "--color", "always"],
        &["--help"],
        &["lab", "--help"],
        &["explain", "é"],
    ] {
        let run = |locale: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
            let output = command.args(arguments).env("LC_ALL", locale).output().unwrap();
            [output.stdout, output.stderr].concat()
        };
        let said = run("C");
        assert!(said.is_ascii() && said.len() > 50, "{arguments:?}: {}", String::from_utf8_lossy(&said));
        assert!(arguments[0] != "explain" || !run("C.UTF-8").is_ascii(), "{arguments:?}");
    }
}

/// What libraries say to programmers.
const JARGON: [&str; 8] = [
    "invalid digit",
    "os error",
    "missing field",
    "line 1 column",
    "expected value",
    "invalid UTF-8",
    "Pattern syntax",
    "invalid type",
];

/// The message of a command that is refused, in which nothing steers a terminal and nothing is for programmers.
fn refused(arguments: &[OsString]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kentry")).args(arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {:?}: {said}", output.status);
    assert!(said.chars().all(|c| c == '\n' || !c.is_control()), "{arguments:?}: {said:?}");
    assert!(JARGON.iter().all(|word| !said.contains(word)), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    said
}

/// A hundredth of a second gives each row a round, which is no figure on any machine.
#[test]
fn a_run_without_figures_fails_where_that_is_asked_for() {
    let short = ["--budget", "0.01", "--strict-budget", "--no-save", "--operation", "none"];
    assert_eq!(kentry(&short).status.code(), Some(0));
    let failed = kentry(&[&short[..], &["--fail-if-noisy", "10%"]].concat());
    assert_eq!(failed.status.code(), Some(6));
    assert!(!failed.stdout.is_empty(), "what was measured is shown all the same");
    let why = String::from_utf8(failed.stderr).unwrap();
    assert!(why.contains("have no figure"), "{why}");
}

#[test]
fn every_bad_value_is_refused_in_plain_words() {
    const STEERS: &[u8] = b"\x1b[2J\x07\xc2\x9b";
    const NO_TEXT: &[u8] = b"\xff\xfe";
    let any: &[&[u8]] = &[b"", b"what", b"-1", b"99999999999999999999999999", STEERS, NO_TEXT];
    let no_name: &[&[u8]] = &[b"", STEERS, NO_TEXT];
    let no_seconds: &[&[u8]] = &[b"", b"4s", b"-1", b"0", b"nan", b"1e300", STEERS, NO_TEXT];
    let no_file: &[&[u8]] =
        &[b"", b"/", b"/nonexistent/run", b"/nonexistent/\x1b[2J", b"/nonexistent/\xff", b"/dev/null/x"];
    let no_run: &[&[u8]] =
        &[b"", b"/", b"/nonexistent", b"/nonexistent/\x1b[2J", b"/\xff", b"/dev/null", b"/proc/self/exe"];
    let lab = &["lab", "--dry-run"][..];
    for (command, option, values, why) in [
        (&["measure"][..], "--entry=", any, "entry"),
        (&["measure"], "--operation=", any, "operation"),
        (&["measure"], "--cpu=", &any[..5], "this is neither the number of a CPU nor"),
        (&["measure"], "--cpu=", &[b"9999"], "this process may run on"),
        (&["measure"], "--budget=", &no_seconds[..7], "seconds"),
        (&["measure"], "--seed=", &any[..5], "a whole number from 0 to 9007199254740992"),
        (&["measure"], "--format=", &any[1..5], "[possible values: text, json, csv, markdown, ndjson]"),
        (&["measure"], "--color=", &any[1..5], "[possible values: auto, always, never]"),
        (&["measure"], "--output=", &no_file[1..], "cannot be written: "),
        (&["measure"], "--output=", &no_file[..1], "a value is required"),
        (lab, "--entry=", any, "entry"),
        (lab, "--set=", any, "--set "),
        (lab, "--set=pti=", any, "pti"),
        (lab, "--accel=", &any[1..5], "[possible values: auto, kvm, tcg]"),
        (lab, "--cpu-model=", no_name, "cpu"),
        (lab, "--timeout=", &no_seconds[..7], "seconds"),
        (lab, "--seed=", &any[..5], "a whole number"),
        (&["lab"], "--iso=", &no_file[1..], "cannot be written: "),
        (
            &["explain"],
            "",
            &[b"", b"what?", b"\x1b*"],
            "there is no entry, operation, switch, parameter, profile, finding or part",
        ),
        (&["explain"], "", &[b"[", STEERS], "is not a glob"),
        (&["explain", "call"], "--run=", &no_run[1..], "/"),
        (&["man"], "", &[b"", b"what", STEERS], "no manual page"),
        (&["completions"], "", &any[1..2], "[possible values: bash, elvish, fish, powershell, zsh]"),
        (&["list"], "--output=", &no_file[1..], "cannot be written: "),
        (&[], "", &[b"--what", b"what", b"--\x1b[2J", b"--\xff"], ""),
    ] {
        for value in values {
            let mut last = OsString::from(option);
            last.push(OsStr::from_bytes(value));
            let arguments: Vec<OsString> = command.iter().map(OsString::from).chain([last]).collect();
            let said = refused(&arguments);
            let why = if value == &NO_TEXT { "UTF-8" } else { why };
            assert!(said.contains(why) || said.contains("a value is required"), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn every_column_is_in_the_manual_page() {
    let page = stdout(&["man"]).replace('\\', "");
    for section in ["COLUMNS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"] {
        assert!(page.contains(section), "{section}");
    }
    let run = ["--entry", "call", "--budget", "0.01", "--strict-budget", "--format", "markdown", "--verbose"];
    let table = stdout(&run);
    let headings = table.lines().find(|line| line.starts_with("| entry |")).unwrap();
    for heading in headings.trim_matches('|').split(" | ").map(str::trim) {
        assert!(page.contains(heading), "{heading}");
    }
}

#[test]
fn completions_and_manual_page_name_every_option() {
    let page = stdout(&["man"]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(stdout(&["completions", shell]).contains("dry-run"), "{shell}");
    }
    for option in
        ["entry", "operation", "cpu", "budget", "format", "output", "seed", "dry\\-run", "color", "verbose"]
    {
        assert!(page.contains(option), "{option}");
    }
    assert!(page.contains("130"), "exit codes are documented");
    assert!(stdout(&["man", "explain"]).contains("example"));
    assert!(stdout(&["man", "runs", "prune"]).contains("within"));
    assert_eq!(kentry(&["man", "teleport"]).status.code(), Some(2));
}

#[test]
fn a_document_comes_from_standard_input_or_a_pipe_with_a_writer() {
    let saved = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(saved.path(), RUN.as_bytes()).unwrap();
    let explained = |file: &str, input: &str| {
        let mut command = Command::new("timeout");
        command.args([
            "60",
            "sh",
            "-c",
            input,
            "sh",
            env!("CARGO_BIN_EXE_kentry"),
            "explain",
            "call",
            "--run",
        ]);
        let output = command.arg(file).env("DOCUMENT", saved.path()).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), errors)
    };
    let (_, expected, _) = explained(saved.path().to_str().unwrap(), "\"$@\"");
    assert!(expected.contains("## Measured") && !expected.contains("No run was given"), "{expected}");
    for file in ["-", "/dev/stdin"] {
        assert_eq!(explained(file, "\"$@\" <\"$DOCUMENT\""), (Some(0), expected.clone(), String::new()));
        let slow = "{ sleep 0.2; cat \"$DOCUMENT\"; } | \"$@\"";
        assert_eq!(explained(file, slow), (Some(0), expected.clone(), String::new()));
    }
    let slow = "{ sleep 0.2; cat \"$DOCUMENT\"; } | \"$@\" 3<&0 </dev/null";
    assert_eq!(explained("/dev/fd/3", slow), (Some(0), expected, String::new()));
    let (code, _, errors) = explained("-", "\"$@\" </dev/null");
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.starts_with("kentry: -: it is empty"), "{errors}");
}

#[test]
fn a_document_in_a_subcommands_place_is_to_be_shown() {
    for arguments in [&["run.json"][..], &["--budget", "1", "run.json"], &["measure", "run.json"]] {
        let output = kentry(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("`kentry show run.json`"), "{arguments:?}: {said}");
    }
    let said = String::from_utf8(kentry(&["shwo"]).stderr).unwrap();
    assert!(!said.contains("kentry show shwo"), "{said}");
}

#[test]
fn an_entry_in_a_subcommands_place_is_to_be_measured() {
    let said = |arguments: &[&str]| {
        let output = kentry(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for (word, command) in [
        ("syscall", "kentry -e syscall"),
        ("vdso-i386", "kentry -e vdso-i386"),
        ("call-gate", "kentry lab -e call-gate"),
    ] {
        let said = said(&[word]);
        assert!(said.contains(&format!("to measure it: {command}\n")), "{said}");
    }
    let unknown = said(&["nonsense"]);
    assert!(!unknown.contains("to measure it"), "{unknown}");
}

#[test]
fn help_that_could_not_be_written_was_a_success() {
    for arguments in [&["--help"][..], &["lab", "--help"], &["--version"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output =
            Command::new(env!("CARGO_BIN_EXE_kentry")).args(arguments).stdout(full).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("standard output cannot be written: no space is left"), "{said}");
    }
}

/// A closed standard output was `/dev/null`, and one that is not open for writing took everything: the result was gone, with status 0.
#[test]
fn a_standard_output_that_takes_nothing_was_a_success() {
    let kentry = |redirected: &str, arguments: &str| {
        let script = format!("exec \"$0\" {arguments} {redirected}");
        Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_kentry")]).output().unwrap()
    };
    let run = "measure -e call --budget 0.05 --no-save";
    for (arguments, status) in [
        ("list", 1),
        ("explain syscall", 1),
        ("man", 1),
        ("completions bash", 1),
        ("--help", 1),
        (run, 1),
        (&format!("{run} --dry-run"), 1),
        ("compare tests/none.json tests/none.json", 5),
        ("lab --exec /bin/true", 125),
        ("linux --exec /bin/true", 125),
    ] {
        for redirected in [">&-", "1</dev/null"] {
            let output = kentry(redirected, arguments);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(status), "{arguments} {redirected}: {said}");
            let why = "standard output cannot be written: it is closed, or not open for writing";
            assert!(said.contains(why), "{arguments} {redirected}: {said}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("list.txt");
    for (redirected, arguments) in
        [(">/dev/null", "list".to_string()), (">&-", format!("list --output {}", file.display()))]
    {
        let output = kentry(redirected, &arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments} {redirected}");
    }
    assert!(std::fs::read_to_string(file).unwrap().contains("syscall"));
}

/// For its first 20 ms it did not know of interrupts, which killed it in the midst of what it had begun.
#[test]
fn interrupts_are_known_before_anything_is_started() {
    let calls = "trace=rt_sigaction,clone,clone3,fork,vfork,mkdir,openat";
    let traced = Command::new("strace")
        .args(["-f", "-e", calls, env!("CARGO_BIN_EXE_kentry"), "--dry-run", "--no-save"])
        .output();
    let traced = match traced {
        Ok(traced) if traced.status.success() => String::from_utf8(traced.stderr).unwrap(),
        Ok(traced) => return skipped(format!("strace does not work here: {traced:?}")),
        Err(error) => return skipped(format!("strace: {error}")),
    };
    let first = |is_it: &dyn Fn(&str) -> bool| traced.lines().position(is_it);
    let started = first(&|line| line.contains("clone") || line.contains("fork(")).unwrap();
    for signal in ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] {
        let set = format!("rt_sigaction({signal}, {{sa_handler=0x");
        let known = first(&|line| {
            line.contains(&set) || line.contains(&format!("{signal}, NULL, {{sa_handler=SIG_IGN"))
        });
        assert!(known.is_some_and(|known| known < started), "{signal}: {traced}");
    }
}

/// Whether a process has a handler for this signal and a thread that is blocked in `read`; where the kernel does not tell what blocks a
/// thread, whether it sleeps.
fn reads_with_handler(pid: nix::unistd::Pid, signal: nix::sys::signal::Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
    let caught = u64::from_str_radix(field("SigCgt:"), 16).unwrap();
    let mut threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let blocks = threads.any(|thread| {
        let call = std::fs::read_to_string(thread.unwrap().path().join("syscall"));
        call.map_or(field("State:").starts_with('S'), |call| call.starts_with("0 "))
    });
    caught >> (signal as u32 - 1) & 1 == 1 && blocks
}

/// The signal was sent before the program had a handler, and nothing of it was tested.
#[test]
fn what_does_not_measure_ends_at_the_first_interrupt() {
    use std::os::unix::process::ExitStatusExt;
    let mut show = Command::new(env!("CARGO_BIN_EXE_kentry"))
        .args(["show", "-"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let pid = nix::unistd::Pid::from_raw(show.id() as i32);
    let until = Instant::now() + Duration::from_secs(60);
    while !reads_with_handler(pid, nix::sys::signal::Signal::SIGTERM) {
        assert!(Instant::now() < until, "it does not read its input");
        std::thread::sleep(Duration::from_millis(2));
    }
    // Not SIGINT, which a shell makes its jobs in the background ignore.
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    let status = show.wait().unwrap();
    assert_eq!(status.signal(), Some(15), "{status}");
}

/// `ulimit -v 20000` ended it with status 134, in the words of a programmer.
#[test]
fn a_limit_of_memory_is_told_in_plain_words() {
    use std::os::unix::process::ExitStatusExt;
    let limited = |limit: u64, arguments: &str| {
        let script = format!("ulimit -v {limit}; exec \"$0\" {arguments}");
        Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_kentry")]).output().unwrap()
    };
    // The kernel kills a program that does not fit before its first instruction.
    let is_executed = |limit: &u64| limited(*limit, "list").status.signal().is_none();
    let least = (1..200).map(|step| step * 2048).find(is_executed).unwrap();
    let mut codes = std::collections::BTreeSet::new();
    for limit in (0..24).map(|step| least + step * 2048) {
        for arguments in ["list", "--help", "measure --budget 0.05 --strict-budget --no-save"] {
            let output = limited(limit, arguments);
            let said = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert!(
                code == Some(0) || code == Some(3),
                "{limit} KiB, {arguments}: {:?} {said}",
                output.status
            );
            assert!(code == Some(0) || said.contains("ulimit -v"), "{limit} KiB: {said}");
            codes.extend(code);
        }
    }
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), [0, 3]);
    assert_eq!(limited(least, "compare --git-bisect a b --fail-above 1%").status.code(), Some(128));
    assert_eq!(limited(least, "lab --exec /bin/true").status.code(), Some(125));
}

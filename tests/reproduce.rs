//! `kentry reproduce` on the machine that runs the tests, however noisy that is: outcomes and shapes, never figures.

use crate::qemu;
use compare::published::Publications;
use serde_json::Value;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The command, with a folder of kept runs of its own.
fn kentry(data: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.env("XDG_DATA_HOME", data.path()).args(arguments).output().unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn stdout(data: &TempDir, arguments: &[&str]) -> String {
    let output = kentry(data, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn complaint(arguments: &[&str]) -> String {
    let output = kentry(&folder(), arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn reproduced(data: &TempDir, arguments: &[&str]) -> Value {
    let all = [&["reproduce"], arguments, &["--budget", "0.1", "--format", "json"]].concat();
    serde_json::from_str(&stdout(data, &all)).unwrap()
}

#[test]
fn every_table_is_listed_and_can_be_asked_for() {
    let data = folder();
    let listed: Value =
        serde_json::from_str(&stdout(&data, &["reproduce", "--list", "--format", "json"])).unwrap();
    let names: Vec<&str> =
        listed["publications"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, Publications::get().iter().map(|one| one.name.as_str()).collect::<Vec<_>>());
    let text = stdout(&data, &["reproduce", "--list"]);
    assert!(
        names.iter().all(|name| text.contains(name)) && text.lines().all(|line| line.len() <= 100),
        "{text}"
    );
    for name in names {
        let found = reproduced(&data, &[name, "--no-save"]);
        assert_eq!((&found["schema"], &found["name"]), (&"kentry.reproduction/1".into(), &name.into()));
        for figure in found["figures"].as_array().unwrap() {
            let measured = figure["measured"].as_array().unwrap();
            let values = || measured.iter().map(|one| &one["value"]);
            assert!(values().all(|value| value.is_null() || value.is_number()), "{figure}");
            let is_whole = !measured.is_empty() && !values().any(Value::is_null);
            assert!(is_whole || figure["reason"].is_string(), "what lacks a figure says why: {figure}");
            assert!(figure["published"].as_f64().unwrap() > 0.0, "{figure}");
        }
    }
}

#[test]
fn a_reproduction_is_kept_as_a_run_and_no_save_keeps_none() {
    let data = folder();
    let found = reproduced(&data, &["l4re-null", "--name", "again", "--tag", "of=l4re"]);
    let id = found["here"]["run"].as_str().unwrap();
    let kept = stdout(&data, &["show", "again", "--format", "json"]);
    let kept = document::load(&kept).unwrap();
    assert_eq!(kept.id.as_deref(), Some(id));
    assert_eq!(kept.results.len(), 1);
    assert!(kept.results[0].entry == "syscall-x86_64" && kept.results[0].operation == "none");
    // The figure is the run's own.
    let of_run = kept.results[0].core_cycles.map(|cost| cost.estimate.0);
    let figure = found["figures"][0]["measured"].as_array().unwrap().last().unwrap();
    assert_eq!((figure["way"].as_str(), figure["value"].as_f64()), (Some("kentry"), of_run));
    let none = reproduced(&data, &["l4re-null", "--no-save"]);
    assert!(none["here"]["run"].is_null());
    assert_eq!(stdout(&data, &["runs", "--format", "csv"]).lines().count(), 2, "a head and one run");
}

#[test]
fn a_reproduction_is_a_picture_too() {
    let drawn =
        stdout(&folder(), &["reproduce", "l4re-null", "--no-save", "--budget", "0.1", "--format", "svg"]);
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"), "{drawn}");
    assert_eq!(
        drawn.matches("<rect class=\"bar published\"").count(),
        2,
        "a published figure of each machine"
    );
}

#[test]
fn the_lab_tells_what_this_linux_lacks_and_its_run_is_kept_too() {
    if !qemu::is_here() {
        return;
    }
    let data = folder();
    let found = reproduced(&data, &["kvm-round-trip", "--lab", "--name", "both"]);
    let figures = found["lab"]["figures"].as_array().unwrap();
    let gate = figures.iter().find(|figure| figure["row"] == "call gate").unwrap();
    assert_eq!(gate["entry"], "call-gate-x86_64");
    assert!(gate["value"].as_f64().unwrap() > 0.0, "{gate}");
    let kept = |run: &str| document::load(&stdout(&data, &["show", run, "--format", "json"])).unwrap();
    assert!(kept(found["lab"]["run"].as_str().unwrap()).is_of_lab());
    assert!(!kept("both").is_of_lab() && kept("latest").id == kept("both").id);
}

#[test]
fn what_only_the_lab_can_tell_is_measured_there_and_a_count_is_no_throughput() {
    if !qemu::is_here() {
        return;
    }
    let found = reproduced(&folder(), &["pti-costs", "--no-save"]);
    let changes = found["ratios"].as_array().unwrap();
    let of = |name: &str| changes.iter().find(|change| change["name"] == name).unwrap();
    let published = |name: &str| (100.0 * of(name)["published"].as_f64().unwrap()).round();
    let names = ["one more write", "the second alone", "both writes", "the trampoline"];
    assert_eq!(names.map(published), [-17.0, -13.0, -28.0, -4.0]);
    let lab = &found["lab"];
    assert!(lab["figures"].as_array().unwrap().iter().any(|figure| figure["value"].is_number()), "{lab}");
    for change in changes {
        assert_ne!(change["here"].is_null(), change["reason"].is_null(), "{change}");
        let is_counted = lab["unit"] == "instructions";
        assert!(!is_counted || change["here"].is_null(), "a count is no throughput: {change}");
    }
}

#[test]
fn unixbenchs_index_is_measured_for_the_column_that_is_this_kernels() {
    let found = reproduced(&folder(), &["pti-unixbench", "--no-save"]);
    let ways: Vec<_> =
        found["ways"].as_array().unwrap().iter().map(|way| (&way["name"], &way["unit"])).collect();
    let names: [Value; 3] = ["loop", "kentry", "index"].map(Into::into);
    assert_eq!(ways, [(&names[0], &names[2]), (&names[1], &names[2])]);
    assert_eq!(found["guests"], Value::Null, "nobody asked for them");
    let figures = found["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 8, "four rows in two columns");
    for figure in figures {
        let by_loop = &figure["measured"][0]["value"];
        let is_here = match found["here"]["pti"].as_bool() {
            Some(on) => figure["row"] == "host" && figure["column"] == if on { "PTI on" } else { "PTI off" },
            None => false,
        };
        assert_eq!(by_loop.is_number(), is_here, "{figure}");
        // Between a thousandth and a thousand times what was published.
        assert!(by_loop.as_f64().is_none_or(|index| (1.0..1e6).contains(&index)), "{figure}");
        let is_guest = figure["row"].as_str().unwrap().starts_with("guest");
        assert!(!is_guest || figure["reason"].as_str().unwrap().contains("--guest"), "{figure}");
    }
}

#[test]
fn loops_are_timed_as_the_author_did_or_in_two_plain_ways() {
    let ways = |name: &str| {
        let found = reproduced(&folder(), &[name, "--no-save"]);
        let ways = found["ways"].as_array().unwrap();
        ways.iter().map(|way| way["name"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ways("kvm-round-trip"), ["loop", "kentry"]);
    assert_eq!(ways("gettimeofday-i7-8550u"), ["loop", "single", "kentry"]);
    assert!(ways("pti-costs").is_empty());
}

#[test]
fn every_format_shows_the_same_rows() {
    let data = folder();
    let run = ["reproduce", "gettimeofday-i7-8550u", "--no-save", "--budget", "0.1"];
    for format in ["text", "markdown", "csv"] {
        let shown = stdout(&data, &[&run[..], &["--format", format]].concat());
        for word in ["vDSO", "1280", "481", "vsyscall", "a Skylake"] {
            assert!(shown.contains(word), "{format}: {word}: {shown}");
        }
    }
    let file = data.path().join("table.md");
    stdout(&data, &[&run[..], &["--output", file.to_str().unwrap()]].concat());
    assert!(std::fs::read_to_string(file).unwrap().starts_with("# gettimeofday-i7-8550u"));
}

#[test]
fn what_does_not_exist_is_said_with_the_nearest_name() {
    let error = complaint(&["reproduce", "getimeofday-4.14"]);
    assert!(error.contains("did you mean gettimeofday-4.14?") && error.contains("--list"), "{error}");
    assert!(!complaint(&["reproduce", "zzz"]).contains("did you mean"));
    assert!(complaint(&["reproduce"]).contains("<NAME>"));
    let no_picture = "--format svg: a list is written as text, json, csv or markdown";
    assert!(complaint(&["reproduce", "--list", "--format", "svg"]).contains(no_picture));
    assert!(complaint(&["reproduce", "l4re-null", "--output", "r.html"]).contains("kentry report"));
    assert!(complaint(&["reproduce", "--list", "l4re-null"]).contains("cannot be used with"));
    assert!(
        complaint(&["reproduce", "l4re-null", "--cpu", "all"])
            .contains("are of one kind of core; name a CPU")
    );
    assert!(complaint(&["reproduce", "l4re-null", "--cpu", "4000"]).contains("CPU 4000 cannot be used"));
    let steering = complaint(&["reproduce", "\u{1b}[2J"]);
    assert!(!steering.contains('\u{1b}'), "{steering:?}");
}

//! Many machines, as users ask for them: what a host writes, what becomes of it elsewhere, and what the judge makes of files.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use summary::{Summary, simulated};
use tempfile::TempDir;

/// Hosts of each of the four kinds.
const EACH: usize = 12;

fn kentry(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.args(words).current_dir(folder).env("XDG_DATA_HOME", folder.join("home")).output().unwrap()
}

fn status(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", status(output).1))
}

/// A file for each host of a day, in a folder of that name.
fn write_day(folder: &Path, name: &str, day: u32) -> PathBuf {
    let folder = folder.join(name);
    std::fs::create_dir(&folder).unwrap();
    for (number, host) in simulated::fleet(7, EACH * simulated::KINDS.len(), day).enumerate() {
        std::fs::write(folder.join(format!("host-{number:02}.ndjson")), summary::write(&host)).unwrap();
    }
    folder
}

fn hosts(judgement: &Value) -> (u64, u64) {
    (judgement["hosts"].as_u64().unwrap(), judgement["cohorts"].as_array().unwrap().len() as u64)
}

#[test]
fn a_folder_is_judged_and_what_is_damaged_there_is_named() {
    let folder = TempDir::new().unwrap();
    let day = write_day(folder.path(), "day", 0);
    let all = (EACH * 4) as u64;
    let judge =
        |more: &[&str]| kentry(folder.path(), &[&["fleet", "day", "--format", "json"], more].concat());
    let whole = judge(&[]);
    assert_eq!((status(&whole), hosts(&json(&whole))), ((Some(0), String::new()), (all, 4)));
    let lines = std::fs::read(day.join("host-03.ndjson")).unwrap();
    std::fs::write(day.join("host-03.ndjson"), &lines[..lines.len() / 2]).unwrap();
    let cut = judge(&[]);
    let (code, said) = status(&cut);
    assert!(said.contains("day/host-03.ndjson: left out: line "), "{said}");
    assert_eq!((code, hosts(&json(&cut)).0), (Some(7), all - 1));
    assert_eq!(judge(&["--exit-zero"]).status.code(), Some(0));
    let by = judge(&["--by", "phase-of-the-moon"]);
    assert_eq!((by.status.code(), by.stdout.is_empty()), (Some(2), true));
}

#[test]
fn a_roll_out_fails_its_gate_where_the_new_kernel_is_slower() {
    let folder = TempDir::new().unwrap();
    write_day(folder.path(), "before", simulated::ROLL_OUT - 1);
    write_day(folder.path(), "after", simulated::ROLL_OUT);
    let words = ["fleet", "--before", "before", "--after", "after", "--fail-above", "3%", "--format", "json"];
    let output = kentry(folder.path(), &words);
    let rollout = json(&output);
    assert_eq!((output.status.code(), &rollout["gate"]["answer"]), (Some(1), &Value::from("regression")));
    let kind = &simulated::KINDS[simulated::SLOWED];
    for stratum in rollout["strata"].as_array().unwrap() {
        let is_slowed = stratum["facts"][0]["value"].as_str().unwrap().contains(&format!(
            "{} {}.{}.{}",
            kind.vendor, kind.processor.0, kind.processor.1, kind.processor.2
        ));
        let slower = stratum["rows"].as_array().unwrap().iter().filter(|row| row["verdict"] == "slower");
        assert_eq!(slower.count() > 0, is_slowed, "{}", stratum["facts"][0]);
    }
    // A limit without a roll-out was passed over.
    let output = kentry(folder.path(), &["fleet", "before", "--fail-above", "3%"]);
    assert!(output.status.code() == Some(2) && status(&output).1.contains("--before"), "{output:?}");
}

#[test]
fn what_is_exported_is_judged_alike() {
    let folder = TempDir::new().unwrap();
    write_day(folder.path(), "day", 1);
    // Hosts are called as their files, and their order is that of their names.
    let of = |path: &str| {
        let judgement = json(&kentry(folder.path(), &["fleet", path, "--format", "json"]));
        let cohorts = judgement["cohorts"].as_array().unwrap().iter();
        let medians = |cohort: &Value| {
            let rows = cohort["rows"].as_array().unwrap().iter().map(|row| row["median"].to_string());
            (cohort["facts"][0]["value"].to_string(), cohort["odd"].to_string(), rows.collect::<Vec<_>>())
        };
        let mut all: Vec<_> = cohorts.map(medians).collect();
        all.sort();
        all
    };
    let files = of("day");
    for (to, output, read) in [("ndjson", "all.ndjson.gz", "all.ndjson.gz"), ("parquet", "tables", "tables")]
    {
        let exported = kentry(folder.path(), &["export", "day", "--to", to, "--output", output]);
        assert_eq!(status(&exported), (Some(0), String::new()), "{to}");
        assert!(of(read) == files, "{to}");
    }
    let csv = kentry(folder.path(), &["export", "day", "--to", "csv"]);
    assert_eq!(String::from_utf8(csv.stdout).unwrap().lines().count(), 1 + EACH * 4 * 14);
    let metrics = kentry(folder.path(), &["export", "day", "--to", "prometheus"]);
    assert!(
        metrics.status.code() == Some(2) && status(&metrics).1.contains("48 runs are named"),
        "{metrics:?}"
    );
}

#[test]
fn a_host_measures_and_writes_its_summary_beside_its_table() {
    let folder = TempDir::new().unwrap();
    let short = ["--budget", "0.05", "--strict-budget", "--entry", "call", "--exit-zero", "--no-save"];
    let run = |more: &[&str]| kentry(folder.path(), &[&short, more].concat());
    let output = run(&["--summary", "run.ndjson", "--output", "run.json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lines = std::fs::read(folder.path().join("run.ndjson")).unwrap();
    let read: Vec<Summary> = summary::Reader::new(lines.as_slice()).map(Result::unwrap).collect();
    let document = document::load(&std::fs::read_to_string(folder.path().join("run.json")).unwrap()).unwrap();
    assert_eq!(read, [Summary::of(&document)]);
    assert_eq!(kentry(folder.path(), &["show", "run.json", "--summary"]).stdout, lines);
    let shown = kentry(folder.path(), &["show", "run.ndjson"]);
    assert!(status(&shown).1.contains("it is a summary, which has no rounds"), "{shown:?}");
    let both = run(&["--summary", "same", "--output", "same"]);
    assert!(
        both.status.code() == Some(2) && status(&both).1.contains("both would be written to same"),
        "{both:?}"
    );
}

//! Lines of JSON: what is written is read, what is no line of a summary is refused with its place, and `docs/summary.schema.json` says the same
//! of a line as the reader.

#![allow(clippy::unwrap_used, reason = "a test")]

use flate2::Compression;
use flate2::write::GzEncoder;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use summary::{LONGEST_LINE, MOST_ROWS, Reader, Summary, Wrong, simulated, write};

fn fleet(hosts: usize) -> Vec<Summary> {
    simulated::fleet(1, hosts, 2).collect()
}

fn lines(summaries: &[Summary]) -> Vec<u8> {
    summaries.iter().flat_map(write).collect()
}

fn read(bytes: &[u8]) -> Result<Vec<Summary>, Wrong> {
    Reader::new(bytes).collect()
}

fn complaint(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

/// The lines of one run, as JSON.
fn parsed(summary: &Summary) -> Vec<Value> {
    let text = String::from_utf8(write(summary)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_is_read_is_what_was_written() {
    let mut summaries = fleet(120);
    summaries[0].rows.clear();
    summaries[1].run.product = Some("Ünïcode \u{0} \" ' \r\n".to_owned());
    assert_eq!(read(&lines(&summaries)).unwrap(), summaries);
    // A byte at a time, as a slow pipe gives them.
    let bytes = lines(&summaries[..3]);
    let slow: Result<Vec<Summary>, Wrong> = Reader::new(BufReader::with_capacity(1, &*bytes)).collect();
    assert_eq!(slow.unwrap(), summaries[..3]);
}

#[test]
fn ends_of_lines_are_as_they_come() {
    let summaries = fleet(2);
    let good = String::from_utf8(lines(&summaries)).unwrap();
    for other in [
        good.replace('\n', "\r\n"),
        good.trim_end().to_owned(),
        format!("\n\n{}\n \t\r\n", good.replace('\n', "\n\n")),
    ] {
        assert_eq!(read(other.as_bytes()).unwrap(), summaries);
    }
    assert_eq!(read(b"").unwrap(), []);
    assert_eq!(read(b"\n\r\n").unwrap(), []);
}

#[test]
fn what_is_no_line_of_a_summary_is_refused_with_its_number() {
    let summary = fleet(1).remove(0);
    let text = String::from_utf8(write(&summary)).unwrap();
    let (run, row) = (text.lines().next().unwrap(), text.lines().nth(1).unwrap());
    let run_id = &summary.run.run_id;
    let cases: [(Vec<u8>, String); 10] = [
        (b"{}\n".to_vec(), "line 1 is no line of a summary: missing field `schema`".to_owned()),
        (b"\xff\xfe\x00\x01".to_vec(), "line 1 is no line of a summary: expected value".to_owned()),
        (b"\x1f\x8b\x08\x00\x00".to_vec(), "line 1 is no line of a summary: expected value".to_owned()),
        (
            format!("{run}\n{}\n", &row[..row.len() - 1]).into_bytes(),
            "line 2 is no line of a summary: EOF while parsing".to_owned(),
        ),
        (
            format!("{run}{row}\n").into_bytes(),
            "line 1 is no line of a summary: trailing characters".to_owned(),
        ),
        (
            run.replace("kentry.summary/1", "kentry.summary/2").into_bytes(),
            "line 1 has the schema \"kentry.summary/2\"; this version of kentry reads \"kentry.summary/1\""
                .to_owned(),
        ),
        (
            format!("\n{}", run.replace("\"kind\":\"run\"", "\"kind\":\"host\"")).into_bytes(),
            "line 2 is no line of a summary: its kind is \"host\", neither run nor row".to_owned(),
        ),
        (
            format!("{row}\n{run}\n").into_bytes(),
            format!("line 1 is a row of the run {run_id:?}, but no line of that run stands before it"),
        ),
        (
            format!("{run}\n{}\n", row.replace(run_id.as_str(), "another")).into_bytes(),
            "line 2 is a row of the run \"another\", but no line of that run stands before it".to_owned(),
        ),
        (
            format!("{run}\n{}\n", row.replace("\"bits\":64", "\"bits\":640")).into_bytes(),
            "line 2 is no line of a summary: invalid value: integer `640`, expected u8".to_owned(),
        ),
    ];
    for (bytes, expected) in cases {
        let found = complaint(&bytes);
        assert!(found.starts_with(&expected), "{found}\n{expected}");
    }
}

#[test]
fn a_row_must_follow_its_own_run_at_once() {
    let two = fleet(2);
    let (first, second) =
        (String::from_utf8(write(&two[0])).unwrap(), String::from_utf8(write(&two[1])).unwrap());
    let late = format!("{first}{second}{}\n", first.lines().nth(1).unwrap());
    let line = first.lines().count() + second.lines().count() + 1;
    assert!(complaint(late.as_bytes()).starts_with(&format!("line {line} is a row of the run ")));
}

#[test]
fn nothing_is_read_behind_a_line_that_is_wrong() {
    let two = fleet(2);
    let bytes = [write(&two[0]), b"garbage\n".to_vec(), write(&two[1])].concat();
    let mut reader = Reader::new(&*bytes);
    // What stood before it was not whole: its rows may have been there.
    assert!(matches!(reader.next(), Some(Err(Wrong::Shape { line: 16, .. }))));
    assert!(reader.next().is_none());
}

#[test]
fn a_line_that_is_too_long_is_refused_and_not_gathered() {
    /// Never ends, and has no line's end.
    struct Endless(u64);
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b' ');
            self.0 += buffer.len() as u64;
            assert!(self.0 < 2 * LONGEST_LINE, "more was read than a line may have");
            Ok(buffer.len())
        }
    }
    let mut reader = Reader::new(BufReader::new(Endless(0)));
    assert_eq!(reader.next().unwrap().unwrap_err().to_string(), "line 1 has more than 262144 bytes");
    assert!(reader.next().is_none());
    let mut longest = fleet(1).remove(0);
    longest.rows.clear();
    let room = LONGEST_LINE as usize - write(&longest).len();
    longest.run.kernel_version.as_mut().unwrap().push_str(&"x".repeat(room));
    assert_eq!(read(&write(&longest)).unwrap(), [longest.clone()]);
    longest.run.kernel_version.as_mut().unwrap().push('x');
    assert_eq!(complaint(&write(&longest)), "line 1 has more than 262144 bytes");
}

#[test]
fn a_run_of_too_many_rows_is_refused() {
    let mut summary = fleet(1).remove(0);
    summary.rows.truncate(1);
    let text = String::from_utf8(write(&summary)).unwrap();
    let (run, row) = text.split_once('\n').unwrap();
    let row = |number| row.replace("\"operation\":\"", &format!("\"operation\":\"{number}"));
    let bytes = format!("{run}\n{}", (0..=MOST_ROWS).map(row).collect::<String>());
    assert_eq!(complaint(bytes.as_bytes()), "line 65538 is one row more than the 65536 that a run may have");
}

/// A file that was cut at the end of a line was taken for a whole one.
#[test]
fn a_run_without_all_of_its_rows_is_refused() {
    let summary = fleet(1).remove(0);
    let text = String::from_utf8(write(&summary)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let cut = format!("{}\n", lines[..5].join("\n"));
    let (rows, run_id) = (summary.rows.len(), &summary.run.run_id);
    let why = format!(
        "the file was cut, or lines are lost: the run {run_id:?} has {rows} rows, and 4 of them are there"
    );
    assert_eq!(complaint(cut.as_bytes()), why);
    // Another run stands behind it.
    assert_eq!(complaint(format!("{cut}{text}").as_bytes()), why);
}

/// Of two the last counted, whatever it said.
#[test]
fn a_row_that_comes_twice_and_an_estimate_outside_of_its_interval_are_refused() {
    let mut twice = fleet(1).remove(0);
    twice.rows.push(twice.rows[0].clone());
    assert!(
        complaint(&write(&twice)).ends_with("its run has this row already"),
        "{}",
        complaint(&write(&twice))
    );
    let mut outside = fleet(1).remove(0);
    outside.rows[0].core_cycles = Some(9.0);
    for (low, high) in [(Some(10.0), None), (None, Some(8.0)), (Some(10.0), Some(8.0))] {
        (outside.rows[0].core_cycles_ci_low, outside.rows[0].core_cycles_ci_high) = (low, high);
        let why = "line 2 is no line of a summary: core_cycles is outside of its own interval";
        assert_eq!(complaint(&write(&outside)), why);
    }
    (outside.rows[0].core_cycles_ci_low, outside.rows[0].core_cycles_ci_high) = (Some(9.0), Some(9.0));
    assert_eq!(read(&write(&outside)).unwrap(), [outside]);
}

#[test]
fn what_cannot_be_read_is_told() {
    let error = read(b"").map(|_| Reader::new(BufReader::new(std::fs::File::open("/").unwrap())).next());
    let error = error.unwrap().unwrap().unwrap_err().to_string();
    assert!(error.starts_with("it cannot be read: Is a directory"), "{error}");
}

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../docs/summary.schema.json")).unwrap()
}

fn validator() -> Validator {
    let schema = schema();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// One run line, and one of its rows.
fn samples() -> [Value; 2] {
    let mut summary = fleet(1).remove(0);
    summary.rows.truncate(1);
    let lines = parsed(&summary);
    [lines[0].clone(), lines[1].clone()]
}

/// Whether the reader takes a line; a row stands behind its run, and a run has its row.
fn is_read(line: &Value) -> bool {
    let [run, mut row] = samples();
    let both = if line["kind"] == "row" {
        format!("{run}\n{line}\n")
    } else {
        row["run_id"].clone_from(&line["run_id"]);
        format!("{line}\n{row}\n")
    };
    read(both.as_bytes()).is_ok()
}

#[test]
fn the_schema_accepts_every_line_that_is_written() {
    let validator = validator();
    for summary in fleet(120) {
        for line in parsed(&summary) {
            let errors: Vec<String> = validator.iter_errors(&line).map(|error| error.to_string()).collect();
            assert_eq!(errors, Vec::<String>::new(), "{line}");
        }
    }
}

#[test]
fn every_field_that_is_written_is_in_the_schema_and_every_field_of_the_schema_is_written() {
    let schema = schema();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<String>>();
    for (line, kind) in samples().iter().zip(["run", "row"]) {
        let mut told = keys(&schema["$defs"][kind]["properties"]);
        told.extend(keys(&schema["$defs"]["cohort"]["properties"]));
        told.sort();
        assert_eq!(keys(line), told, "{kind}");
    }
}

#[test]
fn the_schema_and_the_reader_agree_on_fields_that_are_missing_unknown_or_null() {
    let validator = validator();
    let agree =
        |line: &Value, what: &str| assert_eq!(validator.is_valid(line), is_read(line), "{what}: {line}");
    let (mut needed, mut spared) = (0, 0);
    for good in samples() {
        for field in good.as_object().unwrap().keys() {
            let mut without = good.clone();
            without.as_object_mut().unwrap().remove(field);
            agree(&without, &format!("without {field}"));
            if is_read(&without) {
                spared += 1
            } else {
                needed += 1
            }
            // Behind its run, a row's time and machine tell its reader nothing new.
            if good["kind"] == "run" || is_of_row(field) {
                for value in [Value::Null, json!([1])] {
                    let mut other = good.clone();
                    other[field] = value;
                    agree(&other, field);
                }
            }
        }
        let mut more = good.clone();
        more["novel"] = json!({ "of": "a later version" });
        agree(&more, "an unknown field");
        assert!(is_read(&more));
    }
    assert!(needed > 15 && spared > 40, "{needed} fields are needed, {spared} are not");
}

/// Whether a row has it, and not only the line of a row.
fn is_of_row(field: &str) -> bool {
    field != "started" && schema()["$defs"]["row"]["properties"].get(field).is_some()
}

#[test]
fn a_wrong_value_is_refused_by_the_schema() {
    let validator = validator();
    let [run, row] = samples();
    for (good, field, value) in [
        (&run, "schema", json!("kentry.summary/2")),
        (&run, "kind", json!("host")),
        (&run, "run_id", json!("")),
        (&run, "started", json!("yesterday")),
        (&run, "duration_seconds", json!(-1)),
        (&run, "quiet_ratio", json!(1.5)),
        (&run, "tsc_hertz", json!(0)),
        (&run, "mitigations", json!({ "meltdown": null })),
        (&run, "findings", json!({ "noise": "fatal" })),
        (&run, "cpu_family", json!(-1)),
        (&run, "smt", json!("on")),
        (&run, "probes_sha256", json!("abc")),
        (&row, "kind", json!("run")),
        (&row, "bits", json!(16)),
        (&row, "timing", json!("guessed")),
        (&row, "outcome", json!("fine")),
        (&row, "path", json!("elsewhere")),
        (&row, "noise", json!("loud")),
        (&row, "core_cycles", json!("9")),
        (&row, "kept_rounds", json!(1.5)),
        (&row, "microcode", json!(7)),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        assert!(!validator.is_valid(&bad), "{field} = {} was accepted", bad[field]);
    }
}

/// What a file of each host costs: of a run without options.
#[test]
fn a_summary_is_small() {
    for summary in fleet(120) {
        let bytes = write(&summary);
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&bytes).unwrap();
        let packed = packed.finish().unwrap().len();
        assert!(bytes.len() < 16 << 10, "{} bytes", bytes.len());
        assert!(packed < 3 << 10, "{packed} bytes in gzip's format");
    }
}

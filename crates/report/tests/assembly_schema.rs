//! `docs/assembly.schema.json` accepts what this crate writes, and refuses what breaks the contract.

#![allow(clippy::unwrap_used, reason = "a test")]

mod judged;

use attribution::anatomy::{Part, PartCount};
use attribution::assembly::{Assembly, Columns, One};
use report::{Format, Selection, Style};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../docs/assembly.schema.json");

/// Two columns that share an instruction.
fn written() -> Value {
    let one = |text: &str| One { text: text.into(), place: "place".into(), kind: text.into() };
    let columns =
        Columns { lab: vec![one("swapgs"), one("cld")], linux: vec![one("endbr64"), one("swapgs")] };
    let c = vec![PartCount { part: Part::Work, count: 70, by_confidence: [0; 4], idle: 2 }];
    let [entry, operation, kernel, profile] = ["ud", "getppid", "6.1", "linux-6.1"].map(String::from);
    let (signal, off) = (Some("SIGILL".into()), vec!["ibrs=on".into()]);
    let assembly =
        Assembly { entry, operation, kernel, profile, signal, off, columns, c, ..Assembly::default() };
    let style = Style { color: false, width: 100, verbose: false, selection: Selection::All };
    serde_json::from_slice(&report::assembly(&assembly, Format::Json, &style).unwrap()).unwrap()
}

#[test]
fn what_is_written_is_accepted_and_says_which_of_both_has_each_instruction() {
    let document = written();
    assert_eq!(judged::objections(SCHEMA, &document), Vec::<String>::new());
    let lines = document["instructions"].as_array().unwrap();
    assert_eq!(
        lines.iter().map(|line| line["in"].as_str().unwrap()).collect::<Vec<_>>(),
        ["linux", "both", "lab"]
    );
    assert_eq!(document["differs"], json!({ "lab": 1, "linux": 1, "elsewhere": 0 }));
    assert_eq!((&lines[0]["lab"], &lines[0]["linux"]["text"]), (&Value::Null, &json!("endbr64")));
}

#[test]
fn a_wrong_value_is_refused() {
    let wrong = [
        ("/schema", json!("kentry.assembly/2")),
        ("/machine", json!("host")),
        ("/signal", json!(4)),
        ("/differs/lab", json!(-1)),
        ("/instructions/0/in", json!("nobody")),
        ("/instructions/1/lab/step", Value::Null),
        ("/c/0/part", json!("")),
    ];
    judged::refuses_values(SCHEMA, &written(), wrong);
}

#[test]
fn a_missing_or_unknown_field_is_refused() {
    let places = ["", "/differs", "/instructions/1", "/instructions/1/lab", "/instructions/1/linux", "/c/0"];
    judged::refuses_other_fields(SCHEMA, &written(), &places);
}

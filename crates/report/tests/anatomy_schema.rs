//! `docs/anatomy.schema.json` accepts what this crate writes, and refuses what breaks the contract.

#![allow(clippy::unwrap_used, reason = "a test")]

mod followed;
mod judged;
#[allow(dead_code, reason = "what other tests need")]
#[path = "../../attribution/tests/anatomy/common/mod.rs"]
mod recorded;

use attribution::anatomy::{Document, Part};
use report::{Format, Selection, Style};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../docs/anatomy.schema.json");

fn written(document: &Document) -> Value {
    let style = Style { color: false, width: 100, verbose: false, selection: Selection::All };
    serde_json::from_slice(&report::anatomy(document, Format::Json, &style).unwrap()).unwrap()
}

fn objections(value: &Value) -> Vec<String> {
    judged::objections(SCHEMA, value)
}

#[test]
fn documents_are_accepted() {
    for document in [followed::one(), followed::two(), followed::history()] {
        assert_eq!(objections(&written(&document)), Vec::<String>::new());
    }
}

#[test]
fn a_wrong_value_is_refused() {
    let good = written(&followed::two());
    judged::refuses_values(
        SCHEMA,
        &good,
        [
            ("/schema", json!("kentry.anatomy/2")),
            ("/paths", json!([])),
            ("/paths/0/counted", json!(-1)),
            ("/paths/0/control", Value::Null),
            ("/paths/0/agrees", json!("yes")),
            ("/paths/0/configuration/machine", json!("vmware")),
            ("/paths/0/configuration/settings", json!({ "pti": true })),
            ("/paths/0/anatomy/instructions/0/ring", json!(4)),
            ("/paths/0/anatomy/instructions/0/bytes", json!("0f0")),
            ("/paths/0/anatomy/instructions/0/part", json!("magic")),
            ("/paths/0/anatomy/instructions/1/function", json!("entry_SYSCALL_64")),
            ("/beside/lines/0/linux", Value::Null),
        ],
    );
}

#[test]
fn a_missing_or_unknown_field_is_refused() {
    let good = written(&followed::two());
    judged::refuses_other_fields(
        SCHEMA,
        &good,
        &[
            "",
            "/paths/0",
            "/paths/0/configuration",
            "/paths/0/anatomy/instructions/1",
            "/beside",
            "/beside/lines/0",
        ],
    );
}

#[test]
fn the_schema_has_every_part() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let names = schema["$defs"]["instruction"]["properties"]["part"]["enum"].as_array().unwrap();
    let names: Vec<&str> = names.iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names, Part::ALL.iter().map(|part| part.name()).collect::<Vec<_>>());
}

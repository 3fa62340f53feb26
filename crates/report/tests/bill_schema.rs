//! `docs/bill.schema.json` accepts what this crate writes, and refuses what breaks the contract.

#![allow(clippy::unwrap_used, reason = "a test")]

#[allow(dead_code, reason = "what tests/bill.rs needs")]
mod bills;
mod judged;

use attribution::bill::Bill;
use report::{Format, Selection, Style};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../docs/bill.schema.json");

fn written(bill: &Bill) -> Value {
    let style = Style { color: false, width: 100, verbose: false, selection: Selection::All };
    serde_json::from_slice(&report::bill(bill, Format::Json, &style).unwrap()).unwrap()
}

fn objections(value: &Value) -> Vec<String> {
    judged::objections(SCHEMA, value)
}

#[test]
fn bills_are_accepted() {
    let all = [bills::counted(), bills::in_cycles(), bills::shrinking(), bills::nothing(), bills::many()];
    for bill in all {
        assert_eq!(objections(&written(&bill)), Vec::<String>::new());
    }
}

#[test]
fn a_wrong_value_is_refused() {
    let good = written(&bills::counted());
    judged::refuses_values(
        SCHEMA,
        &good,
        [
            ("/schema", json!("kentry.bill/2")),
            ("/unit", json!("hours")),
            ("/place/machine", json!("vmware")),
            ("/place/kernel", json!("linux")),
            ("/bare", json!(28)),
            ("/bare/estimate", Value::Null),
            ("/bare/p", json!(1.5)),
            ("/orders", json!(-1)),
            ("/partial", Value::Null),
            ("/lines/0/step/switch", json!("")),
            ("/lines/0/step/requires", json!([-1])),
            ("/lines/0/state", json!({ "state": "guessed" })),
            ("/lines/0/state", json!({ "state": "left-out" })),
            ("/lines/0/state", json!({ "state": "measured", "why": "it was" })),
            // A step without a figure has none that is 0.
            ("/lines/3/alone", good["bare"].clone()),
            ("/lines/5/share", json!(0)),
            ("/there/parts/0/kind", json!("magic")),
            ("/there/rest", json!(3)),
            ("/configurations/0/values", json!({ "pti": true })),
        ],
    );
}

#[test]
fn a_missing_or_unknown_field_is_refused() {
    let good = written(&bills::counted());
    judged::refuses_other_fields(
        SCHEMA,
        &good,
        &[
            "",
            "/place",
            "/bare",
            "/lines/0",
            "/lines/3/step",
            "/lines/3/step/needs/0",
            "/there",
            "/there/parts/0",
            "/configurations/0",
        ],
    );
}

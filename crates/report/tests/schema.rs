//! `docs/run.schema.json` accepts what this crate writes, and refuses what breaks the contract.

#![allow(clippy::unwrap_used, reason = "a test")]

mod judged;
mod sample;

use document::{Document, Timing};
use report::{Format, Selection, Style, render};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../docs/run.schema.json");

fn written(document: &Document) -> Value {
    let style = Style { color: false, width: 100, verbose: false, selection: Selection::All };
    let bytes = render(document, sample::table(), Format::Json, &style).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn objections(value: &Value) -> Vec<String> {
    judged::objections(SCHEMA, value)
}

#[test]
fn documents_are_accepted() {
    let mut bare = sample::ordinary();
    bare.environment = environment::Environment::default();
    (bare.measurement.tsc_hz, bare.measurement.cycles_per_tick) = (None, None);
    let labs = [sample::lab(), sample::lab_of_one(), sample::lab_on_hardware()];
    let hosts =
        [sample::ordinary(), sample::odd(), sample::noisy(), sample::partly_closed(), sample::hybrid(), bare];
    for document in hosts.into_iter().chain(labs) {
        assert_eq!(objections(&written(&document)), Vec::<String>::new());
    }
}

#[test]
fn the_machine_under_this_test_is_accepted() {
    let mut document = sample::ordinary();
    let roots = environment::Roots::default();
    document.environment = environment::capture(&roots, 0);
    let load = environment::Load::now(&roots, 0);
    document.environment.load = Some(environment::Load::between(&load, &load));
    assert_eq!(objections(&written(&document)), Vec::<String>::new());
}

/// One place of a document, and what breaks it.
type Mutation = (&'static str, Value);

/// Of a row that was measured.
fn ok_row() -> Vec<Mutation> {
    vec![
        ("/results/0/entry", json!("")),
        ("/results/0/bits", json!(16)),
        ("/results/0/outcome", json!("fine")),
        ("/results/0/timing", json!("guessed")),
        ("/results/0/core_cycles", json!(288.0)),
        ("/results/0/core_cycles/estimate", Value::Null),
        ("/results/0/core_cycles/ci_low", Value::Null),
        ("/results/0/core_cycles/ci_high", Value::Null),
        ("/results/0/ns/max", json!("12")),
        ("/results/0/counts/samples", json!(-1)),
        ("/results/0/path", json!("elsewhere")),
        ("/results/0/reason", json!("it works")),
        ("/results/0/noise", json!({ "kind": "loud", "low": null, "high": null })),
        ("/results/0/noise", json!({ "kind": "shared", "low": 347.0, "high": 423.0 })),
        ("/results/0/modes", json!([{ "share": 1.2, "cost": 125.0 }])),
        ("/results/0/rounds/excluded/0", json!("boredom")),
        ("/results/0/rounds/kept/0", json!(-1)),
        ("/results/0/distribution_cycles/above", Value::Null),
        ("/results/0/configuration", json!({ "pti": true })),
        ("/results/0/outcome", json!("refused")),
        ("/results/0/timing", json!("emulated")),
    ]
}

fn head() -> Vec<Mutation> {
    vec![
        ("/schema", json!("kentry.run/1")),
        ("/id", json!("not hexadecimal")),
        ("/results", Value::Null),
        ("/vdso", json!({ "16": [] })),
        ("/vdso/64/0", json!({ "name": "" , "version": "" })),
        ("/measurement/cpus/0/cpu", json!(-1)),
        ("/measurement/cpus/0/vouched_by", json!("hope")),
        ("/measurement/place/machine", json!("vmware")),
        ("/measurement/probes", json!({ "probe64": "abc" })),
        ("/measurement/started", json!("yesterday")),
        ("/measurement/tsc_hz", json!(0)),
        ("/measurement/chain_ratio", json!({ "128": 3.0 })),
        ("/measurement/counts/rounds", json!(1.5)),
        ("/measurement/quiet_share", json!(1.5)),
        ("/measurement/changes", json!([""])),
        ("/findings/0/level", json!("fatal")),
        ("/findings/0/verdict", Value::Null),
        ("/findings/0/confidence", json!("certain")),
        ("/environment/kernel/pti", json!("on")),
        ("/environment/mitigations", json!([])),
        ("/environment/vsyscall", json!("maybe")),
    ]
}

#[test]
fn a_wrong_value_is_refused() {
    let good = written(&sample::ordinary());
    judged::refuses_values(SCHEMA, &good, head().into_iter().chain(ok_row()));
}

#[test]
fn a_wrong_value_about_a_guest_or_the_lab_is_refused() {
    let good = written(&sample::lab());
    for (field, value) in [
        ("emulator", json!("")),
        ("accelerator", json!("magic")),
        ("icount", Value::Null),
        ("boots", json!([{ "at_ms": 31.4, "seed": -1, "cpu": null }])),
        ("boot_to_first_record_ms", json!("31")),
    ] {
        let mut bad = good.clone();
        bad["environment"]["guest"][field] = value;
        assert!(!objections(&bad).is_empty(), "{field} was accepted");
    }
    for (field, value) in [
        ("vendor", json!("Cyrix")),
        ("switches", json!({ "pti": true })),
        ("ring0_ticks", json!(-1)),
        ("features", json!("smep")),
        ("tsc", json!({ "by": null, "contradicted_by": null })),
        ("tsc", json!({ "by": { "hz": 0, "source": "plan" }, "contradicted_by": null, "invariant": true })),
        (
            "tsc",
            json!({ "by": { "hz": 1e9, "source": "magic" }, "contradicted_by": null, "invariant": true }),
        ),
    ] {
        let mut bad = good.clone();
        bad["environment"]["lab"][field] = value;
        assert!(!objections(&bad).is_empty(), "{field} was accepted");
    }
    let host = written(&sample::ordinary());
    for absent in ["guest", "lab"] {
        assert!(
            host["environment"].get(absent).is_none(),
            "a host's document is as it was before there was a lab"
        );
    }
}

#[test]
fn a_missing_or_unknown_field_is_refused() {
    let good = written(&sample::ordinary());
    judged::refuses_other_fields(
        SCHEMA,
        &good,
        &[
            "",
            "/measurement",
            "/measurement/counts",
            "/measurement/cpus/0",
            "/results/0",
            "/results/0/ns",
            "/results/0/rounds",
            "/findings/0",
            "/vdso/64/0",
        ],
    );
}

#[test]
fn later_versions_may_add_to_the_environment() {
    let mut later = written(&sample::ordinary());
    later["environment"]["novel"] = json!({ "fact": 1 });
    later["environment"]["cpu"]["novel"] = json!(1);
    assert_eq!(objections(&later), Vec::<String>::new());
}

#[test]
fn emulated_rows_have_no_time() {
    let document = sample::odd();
    let row = document.results.iter().position(|row| row.timing == Timing::Emulated).unwrap();
    let good = written(&document);
    let cost = good["results"][row]["instructions"].clone();
    for unit in ["core_cycles", "ticks", "ns", "throughput"] {
        let mut bad = good.clone();
        bad["results"][row][unit] = cost.clone();
        assert!(!objections(&bad).is_empty(), "{unit} of an emulated row was accepted");
    }
    let mut bad = good.clone();
    bad["results"][0]["instructions"] = cost;
    assert!(!objections(&bad).is_empty(), "instructions on hardware were accepted");
}

#[test]
fn closed_rows_say_why_and_have_no_number() {
    let good = written(&sample::ordinary());
    let rows = good["results"].as_array().unwrap();
    let row = rows.iter().position(|row| row["outcome"] == "refused").unwrap();
    for (field, value) in
        [("reason", Value::Null), ("reason", json!("")), ("ns", good["results"][0]["ns"].clone())]
    {
        let mut bad = good.clone();
        bad["results"][row][field] = value;
        assert!(!objections(&bad).is_empty(), "{field} was accepted");
    }
}

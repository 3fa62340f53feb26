//! What layers add, as it is written; and `docs/tax.schema.json`, which accepts that, and refuses what breaks the contract.

#![allow(clippy::unwrap_used, reason = "a test")]

mod judged;

use attribution::tax::{Added, Base, LayerCost, OperationCost, ProfileUsed, SCHEMA, Tax, Verdict};
use insta::assert_snapshot;
use layers::Layer;
use report::{Format, Selection, Style};
use serde_json::{Value, json};
use stats::Cycles;

const CONTRACT: &str = include_str!("../../../docs/tax.schema.json");

const STYLE: Style = Style { color: false, width: 100, verbose: false, selection: Selection::All };

const OPERATIONS: [&str; 3] = ["getppid", "read-zero", "futex-wake"];

/// A figure, and how far its interval reaches on both sides.
fn cost(operation: &str, cycles: f64, below: f64, above: f64) -> OperationCost {
    let [low, high] = [cycles - below, cycles + above];
    let verdict = if low > 0.0 { Verdict::Costs } else { Verdict::NoDifferenceSeen };
    let [cycles, low, high] = [cycles, low, high].map(Cycles);
    OperationCost {
        operation: operation.into(),
        added: Some(Added { cycles, low, high, turns: 21, verdict }),
        why: None,
    }
}

fn costs(cycles: f64, half: f64) -> Vec<OperationCost> {
    OPERATIONS.map(|operation| cost(operation, cycles, half, half)).into()
}

fn layer(name: &str, costs: Vec<OperationCost>) -> LayerCost {
    LayerCost::of(Layer::named(name).unwrap(), costs)
}

/// One of everything that can come out.
fn sample() -> Tax {
    let base = |operation: &str| Base {
        operation: operation.into(),
        cycles: Some(Cycles(436.66)),
        low: Some(Cycles(430.0)),
        high: Some(Cycles(440.0)),
        why: None,
    };
    let mut lopsided = costs(418.3, 9.25);
    lopsided[1] = cost("read-zero", 469.0, 460.0, 700.0);
    lopsided[2] = OperationCost {
        operation: "futex-wake".into(),
        added: None,
        why: Some("too few turns were quiet".into()),
    };
    Tax {
        schema: SCHEMA,
        kentry: "0.1.0".into(),
        started: "2026-11-26T04:00:00.000Z".into(),
        seconds: 25.84,
        kernel: Some("6.18.44".into()),
        cpu: Some("AMD EPYC".into()),
        cpus: vec![0, 1],
        quiet_share: Some(0.89),
        core_hz: Some(4.0e9),
        partial: false,
        seed: 7,
        entry: "syscall-x86_64".into(),
        confidence: 0.95,
        profile: Some(ProfileUsed {
            file: Some("default.json".into()),
            calls: 330,
            instructions: 1700,
            unknown: vec!["opennat".into()],
        }),
        base: OPERATIONS.map(base).into(),
        again: costs(0.4, 3.0),
        layers: vec![
            layer("seccomp-1", costs(125.9, 5.0)),
            layer("seccomp-300", costs(124.5, 5.3)),
            layer("seccomp-300-arguments", lopsided),
            layer("seccomp-profile", costs(125.2, 6.0)),
            LayerCost::missing(Layer::named("ssbd").unwrap(), "the kernel has no switch for it".into()),
            layer("ptrace", costs(55_039.2, 1380.7)),
            layer("user-dispatch", costs(112.0, 10.0)),
            layer("landlock", costs(-2.0, 4.25)),
        ],
        meaning: Default::default(),
        warnings: vec!["the profile names what no architecture has as a system call: opennat".into()],
    }
    .with_meaning()
}

fn written(tax: &Tax, format: Format, style: Style) -> String {
    String::from_utf8(report::tax(tax, format, &style).unwrap()).unwrap()
}

fn value(tax: &Tax) -> Value {
    serde_json::from_str(&written(tax, Format::Json, STYLE)).unwrap()
}

#[test]
fn a_tax_in_every_format() {
    assert_snapshot!("tax", written(&sample(), Format::Text, STYLE));
    assert_snapshot!(
        "tax-verbose",
        written(&sample(), Format::Text, Style { verbose: true, width: 160, ..STYLE })
    );
    assert_snapshot!("tax-markdown", written(&sample(), Format::Markdown, STYLE));
    assert_snapshot!("tax-csv", written(&sample(), Format::Csv, STYLE));
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    for width in [60, 80, 100, 140, 200] {
        let text = written(&sample(), Format::Text, Style { width, ..STYLE });
        // A table of three operations is 64 columns wide.
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width.max(80), "{width}: {text}");
    }
}

#[test]
fn every_layer_is_listed() {
    for format in [Format::Text, Format::Json, Format::Csv, Format::Markdown] {
        let text = String::from_utf8(report::layers(&layers::LAYERS, format, &STYLE).unwrap()).unwrap();
        assert!(layers::LAYERS.iter().all(|layer| text.contains(layer.name)), "{text}");
    }
}

#[test]
fn taxes_are_accepted() {
    let nothing = Tax {
        base: Vec::new(),
        again: Vec::new(),
        layers: Vec::new(),
        profile: None,
        quiet_share: None,
        ..sample()
    };
    for tax in [sample(), nothing.with_meaning()] {
        assert_eq!(judged::objections(CONTRACT, &value(&tax)), Vec::<String>::new());
    }
}

#[test]
fn what_breaks_the_contract_is_refused() {
    let good = value(&sample());
    judged::refuses_values(
        CONTRACT,
        &good,
        [
            ("/schema", json!("kentry.tax/2")),
            ("/confidence", json!(1)),
            ("/core_hz", json!(0)),
            ("/partial", Value::Null),
            ("/cpus/0", json!(-1)),
            ("/layers/0/group", json!("magic")),
            ("/layers/0/name", json!("")),
            ("/layers/0/costs/0/added", json!(125.9)),
            ("/layers/0/costs/0/added/verdict", json!("gains")),
            ("/layers/0/costs/0/added/cycles", Value::Null),
            ("/layers/0/costs/0/added/turns", json!(5)),
            ("/profile/instructions", json!(5000)),
            ("/meaning", json!({ "magic": "it is" })),
        ],
    );
    judged::refuses_other_fields(
        CONTRACT,
        &good,
        &["", "/profile", "/base/0", "/layers/0", "/layers/0/costs/0", "/layers/0/costs/0/added"],
    );
}

#[test]
fn a_difference_that_was_not_seen_is_nowhere_a_figure() {
    for format in [Format::Text, Format::Markdown] {
        let text = written(&sample(), format, STYLE);
        let line = text.lines().find(|line| line.contains("landlock")).unwrap();
        assert!(line.contains("≤2.3") && !line.contains("-2.0"), "{line}");
    }
}

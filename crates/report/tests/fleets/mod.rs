//! Judgements of fleets that tests make reports of. They are made as JSON, as a reader of `kentry fleet --format json` has them.

use fleet::{Judgement, Rollout};
use serde_json::{Value, json};

/// Texts that would be markup, steer a terminal or be a formula.
#[allow(dead_code, reason = "what other tests need")]
pub const HOSTILE: &str = "=</script><img src=x onerror=\"window.injected=1\">\u{1b}[2J|`\u{202e}";

/// Two cohorts of which the first has this many hosts and rows; two of its hosts are odd.
pub fn judgement(hosts: usize, rows: usize, text: &str) -> Judgement {
    serde_json::from_value(json!({
        "schema": "kentry.fleet/1", "kind": "hosts", "false_odd": 0.01, "by": ["product"],
        "hosts": hosts + 3, "judged": hosts, "runs": hosts + 4,
        "cohorts": [cohort("c1", hosts, rows, text, true), cohort("c2", 3, rows.min(4), text, false)],
        "splits": [{
            "fact": fact("microcode", "microcode", "0x1000065"), "others": [{ "value": "0x1000053", "hosts": 3 }],
            "alike": [fact("kernel", "kernel", text)], "cohorts_with": ["c1"], "cohorts_without": ["c2"],
            "hosts_with": hosts, "hosts_without": 3, "rows": [difference(0, 12.5)],
        }],
        "odd": [odd(name(1, text), vec![difference(0, 40.0), difference(1, 11.0)], false, text), odd(name(2, text), vec![], true, text)],
        "closed": [{
            "entry": "int80-i386", "operation": "getppid", "bits": 64, "configuration": null, "outcome": "refused",
            "reason": text, "hosts": named(1, text), "works": hosts + 2, "of": hosts + 3,
        }],
        "findings": [{ "id": "clock-slow", "level": "warning", "hosts": named(2, text), "of": hosts + 3 }],
        "mitigations": [{ "name": "spectre_v2", "values": [
            { "value": "Mitigation: Retpolines", "hosts": { "count": hosts, "first": [] } }, { "value": null, "hosts": named(3, text) },
        ] }],
        "remarks": [{ "id": "small-cohort", "text": "c2 has 3 hosts, and a verdict needs 5.", "hosts": named(3, text) }],
    }))
    .unwrap()
}

/// A roll-out over two generations.
pub fn rollout(text: &str) -> Rollout {
    serde_json::from_value(json!({
        "schema": "kentry.fleet/1", "kind": "rollout", "false_changes": 0.01, "fail_above_percent": 2.0, "pairs": 40,
        "only_before": named(1, text), "only_after": { "count": 0, "first": [] }, "runs": [41, 40],
        "changed": [{ "id": "kernel", "what": "kernel", "before": "6.1.0-47-amd64", "after": text, "hosts": named(40, text) }],
        "strata": [
            { "id": "s1", "facts": [fact("cpu-model", "processor", "AuthenticAMD 26.2.1")], "hosts": ["a", "b"], "rows": [
                rolled(0, Some([4.0, 3.1, 4.9]), "slower", "regression"), rolled(1, Some([0.1, -0.2, 0.4]), "same", "pass"),
                rolled(2, None, "unknown", "inconclusive"),
            ], "lost": [with(row(3), json!({
                "pairs": 20, "lost": named(20, text), "outcome_before": "ok", "outcome_after": "refused", "reason_after": text,
            }))] },
            { "id": "s2", "facts": [fact("cpu-model", "processor", text)], "hosts": ["c"], "rows": [rolled(0, Some([-3.0, -3.5, -2.5]), "faster", "pass")], "lost": [] },
        ],
        "otherwise": [{ "host": name(3, text), "stratum": "s1", "p": 1e-9, "q": 1e-7, "rows": [with(row(0), json!({
            "percent": 50.0, "others_percent": 4.0, "more_percent": 44.2, "more_percent_low": 40.1, "more_percent_high": 48.3, "p": 1e-9,
            "is_clear": true,
        }))] }],
        "gate": { "answer": "regression", "limit_percent": 2.0, "decided_by": ["s1 syscall-x86_64 getppid"] },
        "remarks": [],
    }))
    .unwrap()
}

fn name(number: usize, text: &str) -> String {
    format!("host-{number:05}{text}")
}

fn named(count: usize, text: &str) -> Value {
    let first: Vec<String> = (0..count.min(20)).map(|number| name(number, text)).collect();
    json!({ "count": count, "first": first })
}

fn fact(id: &str, what: &str, value: &str) -> Value {
    json!({ "id": id, "what": what, "value": value })
}

/// Of the first rows the names are real ones.
fn row(number: usize) -> Value {
    let (entry, operation) = match number {
        0 => ("syscall-x86_64", "getppid".to_owned()),
        1 => ("vdso-x86_64", "clock_gettime-monotonic".to_owned()),
        other => ("page-fault", format!("operation-{other}")),
    };
    json!({ "entry": entry, "operation": operation, "bits": 64, "configuration": null })
}

fn with(mut row: Value, more: Value) -> Value {
    let more = more.as_object().unwrap().clone();
    row.as_object_mut().unwrap().extend(more);
    row
}

/// Hosts lie around 100 by their number, which is no order of their estimates; the second is far off.
fn cohort(id: &str, hosts: usize, rows: usize, text: &str, has_verdict: bool) -> Value {
    let estimate = |host: usize, row: usize| {
        let off = if host == 1 && row < 2 && has_verdict { 40.0 } else { 0.0 };
        100.0 + ((host * 7919 + row * 31) % 1000) as f64 / 1000.0 + off
    };
    let of_row = |number: usize| {
        let mut order: Vec<usize> = (0..hosts).collect();
        order.sort_by(|a, b| estimate(*a, number).total_cmp(&estimate(*b, number)));
        let estimates: Vec<f64> = order.iter().map(|host| estimate(*host, number)).collect();
        let moved = |by: f64| estimates.iter().map(|estimate| estimate + by).collect::<Vec<f64>>();
        with(
            row(number),
            json!({
                "unit": "core-cycles", "median": 100.5, "spread": 0.37, "detectable_percent": has_verdict.then_some(2.5),
                "host": order, "low": moved(-0.4), "high": moved(0.4), "estimate": estimates,
                "odd": if number < 2 && has_verdict { vec![1] } else { vec![] },
            }),
        )
    };
    let all: Vec<Value> = (0..rows).map(of_row).collect();
    let names: Vec<String> = (0..hosts).map(|host| name(host, text)).collect();
    json!({
        "id": id, "facts": [fact("cpu-model", "processor", "AuthenticAMD 26.2.1"), { "id": "product", "what": "machine's product name", "value": null }],
        "split_by": [{ "fact": fact("microcode", "microcode", "0x1000065"), "has_it": has_verdict }], "hosts": names,
        "has_verdict": has_verdict, "odd": if has_verdict { 2 } else { 0 }, "tail_freedom": has_verdict.then_some(4.0), "rows": all,
    })
}

fn difference(number: usize, percent: f64) -> Value {
    let difference = 100.5 * percent / 100.0;
    with(
        row(number),
        json!({
            "unit": "core-cycles", "estimate": 100.5 + difference, "median": 100.5, "difference": difference,
            "difference_low": difference - 1.0, "difference_high": difference + 1.0, "percent": percent,
            "percent_low": percent - 1.0, "percent_high": percent + 1.0, "p": 1e-9, "is_clear": true,
        }),
    )
}

fn odd(host: String, rows: Vec<Value>, moves_together: bool, text: &str) -> Value {
    json!({
        "host": host, "cohort": "c1", "runs": 2, "p": 1e-9, "q": 1e-7, "rows": rows, "common_percent": 11.0, "moves_together": moves_together,
        "differs": [{
            "fact": fact("governor", "frequency governor", text), "usual": "performance", "with_usual": 57, "with_same": 1, "of": 58,
            "odd_with_same": 2, "gain": 0.3,
        }],
    })
}

fn rolled(number: usize, percent: Option<[f64; 3]>, verdict: &str, gate: &str) -> Value {
    with(
        row(number),
        json!({
            "unit": "core-cycles", "pairs": if percent.is_some() { 20 } else { 2 }, "before": 100.0, "after": 104.0,
            "percent": percent.map(|of| of[0]), "percent_low": percent.map(|of| of[1]), "percent_high": percent.map(|of| of[2]),
            "p": percent.map(|_| 0.001), "q": percent.map(|_| 0.004), "spread_percent": percent.map(|_| 0.8), "above_limit": 3, "verdict": verdict, "gate": gate,
        }),
    )
}

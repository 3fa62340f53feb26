//! KTAP, version 1 (the kernel's Documentation/dev-tools/ktap.rst): a row a test.

use super::cases::{Case, case, said};
use super::gate;
use super::groups::Names;
use super::words;
use crate::plain::plain;
use compare::Comparison;

pub(super) fn render(compared: &Comparison) -> Vec<u8> {
    let mut lines = vec!["KTAP version 1".to_owned()];
    if let Some(why) = words::refusal(compared) {
        lines.push("1..1".to_owned());
        lines.extend(head(compared));
        lines.push(format!("not ok 1 comparable # ERROR {}", text(&why)));
    } else {
        lines.push(format!("1..{}", compared.rows.len()));
        lines.extend(head(compared));
        let names = Names::of(compared);
        for (number, row) in (1..).zip(&compared.rows) {
            let name = text(&names.whole(row));
            let said = text(&said(compared, row));
            lines.push(match case(compared, row) {
                Case::Passed => format!("ok {number} {name} # {said}"),
                Case::Skipped => format!("ok {number} {name} # SKIP {said}"),
                Case::Failed => format!("not ok {number} {name} # {said}"),
            });
        }
    }
    let mut out = lines.join("\n");
    out.push('\n');
    out.into_bytes()
}

/// Diagnostic lines: what is compared, what else differs, the answer.
fn head(compared: &Comparison) -> Vec<String> {
    let mut facts = vec![
        format!("base: {}", words::side(&compared.base)),
        format!("new: {}", words::side(&compared.new)),
    ];
    facts.extend(words::history(compared).map(|history| format!("history: {history}")));
    facts.extend(words::partial(compared));
    facts.extend(compared.confounders.iter().map(|confounder| {
        let severity = words::severity(confounder.severity);
        format!("{severity}: {}. {}", words::values(confounder, false), confounder.meaning)
    }));
    facts.push(words::answer(compared));
    facts.extend(compared.gate.as_ref().map(|gate| format!("gate: {}", gate::result(compared, gate))));
    facts.iter().map(|fact| format!("# {}", text(fact))).collect()
}

/// On one line; a hash begins a directive unless a backslash stands before it.
fn text(text: &str) -> String {
    plain(text).replace('\\', "\\\\").replace('#', "\\#")
}

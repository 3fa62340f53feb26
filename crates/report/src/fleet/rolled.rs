//! What is said of a roll-out.

use super::judged::remarks;
use super::section::{Column, Kind::*, Section};
use super::words::{change, count, hosts, or_absent, row, unit, values};
use crate::figure::{ABSENT, number};
use ::fleet::{Answer, FactChange, Rollout, RolloutRow, Stratum, Verdict};

/// So many hosts are named in a cell.
const NAMED: usize = 3;

/// All parts, what matters most first.
pub(super) fn sections(rollout: &Rollout, verbose: bool) -> Vec<Section> {
    let strata = rollout.strata.iter().map(|stratum| rows(stratum, rollout.gate.is_some(), verbose));
    let parts = [Some(head(rollout)), strata_of(rollout)].into_iter().flatten().chain(strata);
    parts.chain(changed(rollout)).chain(remarks(&rollout.remarks)).collect()
}

fn head(rollout: &Rollout) -> Section {
    let head = Section { id: "rollout", ..Section::default() };
    let rows = || rollout.strata.iter().flat_map(|stratum| &stratum.rows);
    let of = |verdict: Verdict| rows().filter(|row| row.verdict == verdict).count();
    let mut head = head.with(format!(
        "{} before and after, by {} and {}: {} slower, {} faster, of {}.",
        count(rollout.pairs, "host"),
        count(rollout.runs[0], "run"),
        rollout.runs[1],
        of(Verdict::Slower),
        of(Verdict::Faster),
        count(rows().count(), "row"),
    ));
    head = head.with(format!(
        "Of the changes that are told, at most {:.0} % are none, in the mean over roll-outs.",
        100.0 * rollout.false_changes
    ));
    for (named, side) in [(&rollout.only_before, "before"), (&rollout.only_after, "after")] {
        if named.count > 0 {
            head = head.with(format!("Only {side}, and in no pair: {}.", hosts(named, NAMED)));
        }
    }
    match &rollout.gate {
        Some(gate) => head.with(format!(
            "Gate at {} %: {}{}",
            gate.limit_percent,
            answer(gate.answer),
            decided(&gate.decided_by)
        )),
        None => head,
    }
}

/// Rows that decide are many where a roll-out changes all of them.
const DECIDING: usize = 5;

fn decided(by: &[String]) -> String {
    let first = by.iter().take(DECIDING).cloned().collect::<Vec<_>>().join("; ");
    match by.len() {
        0 => ".".to_owned(),
        many if many > DECIDING => format!(", by {first}; and {} more.", many - DECIDING),
        _ => format!(", by {first}."),
    }
}

fn strata_of(rollout: &Rollout) -> Option<Section> {
    Section::of::<Stratum>(
        "strata",
        "Generations",
        &rollout.strata,
        &[
            ("stratum", Word, |stratum| stratum.id.clone()),
            ("hosts", Number, |stratum| stratum.hosts.len().to_string()),
            ("slower", Number, |stratum| with(stratum, Verdict::Slower)),
            ("faster", Number, |stratum| with(stratum, Verdict::Faster)),
            ("rows", Number, |stratum| stratum.rows.len().to_string()),
            ("what they have in common", Text, |stratum| values(&stratum.facts)),
        ],
    )
}

fn with(stratum: &Stratum, verdict: Verdict) -> String {
    stratum.rows.iter().filter(|row| row.verdict == verdict).count().to_string()
}

/// The rows of a stratum: those that changed or that the gate does not pass, or all of them.
fn rows(stratum: &Stratum, is_gated: bool, verbose: bool) -> Section {
    let is_told = |row: &&RolloutRow| {
        verbose
            || [Verdict::Slower, Verdict::Faster].contains(&row.verdict)
            || row.gate == Some(Answer::Regression)
    };
    let told: Vec<&RolloutRow> = stratum.rows.iter().filter(is_told).collect();
    let mut columns: Vec<Column<&RolloutRow>> = vec![
        ("row", Text, |of| row(&of.name)),
        ("pairs", SpareNumber(4), |of| of.pairs.to_string()),
        ("before", SpareNumber(2), |of| number(of.before)),
        ("after", SpareNumber(2), |of| number(of.after)),
        ("unit", SpareWord(3), |of| unit(of.unit).to_owned()),
        ("change", Word, |of| change(of.percent, of.percent_low, of.percent_high)),
        ("hosts differ by", SpareNumber(5), |of| {
            of.spread_percent.map_or_else(|| ABSENT.to_owned(), |percent| format!("{percent:.1} %"))
        }),
        ("verdict", Word, |of| verdict(of.verdict).to_owned()),
    ];
    if is_gated {
        columns.push(("gate", SpareWord(1), |of| of.gate.map_or(ABSENT, answer).to_owned()));
    }
    let heading = format!("{}: {}", stratum.id, values(&stratum.facts));
    let none = Section { id: "", heading: heading.clone(), ..Section::default() };
    let section = Section::of("", &heading, &told, &columns);
    let left = stratum.rows.len() - told.len();
    let section = section.unwrap_or(none);
    match left {
        0 => section,
        1 => section.with("Of 1 more row no change can be told."),
        more => section.with(format!("Of {more} more rows no change can be told.")),
    }
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Unknown => "unknown",
    }
}

fn answer(answer: Answer) -> &'static str {
    match answer {
        Answer::Pass => "pass",
        Answer::Inconclusive => "inconclusive",
        Answer::Regression => "regression",
    }
}

fn changed(rollout: &Rollout) -> Option<Section> {
    Section::of::<FactChange>(
        "changed",
        "What changed besides",
        &rollout.changed,
        &[
            ("fact", Text, |fact| fact.what.clone()),
            ("before", Text, |fact| or_absent(fact.before.as_deref())),
            ("after", Text, |fact| or_absent(fact.after.as_deref())),
            ("hosts", Number, |fact| fact.hosts.count.to_string()),
            ("where", Text, |fact| hosts(&fact.hosts, NAMED)),
        ],
    )
}

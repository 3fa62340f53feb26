//! What is said of a roll-out.

use super::judged::remarks;
use super::section::{Column, Kind::*, Section};
use super::words::{NAMED, change, count, hosts, or_absent, row, unit, values};
use crate::figure::{ABSENT, number};
use ::fleet::{Answer, FactChange, LostRow, Otherwise, OtherwiseRow, Rollout, RolloutRow, Stratum, Verdict};
use document::Outcome;

/// All parts, what matters most first.
pub(super) fn sections(rollout: &Rollout, verbose: bool) -> Vec<Section> {
    let strata = rollout.strata.iter().map(|stratum| rows(stratum, rollout.gate.is_some(), verbose));
    let parts = [Some(head(rollout)), strata_of(rollout)].into_iter().flatten().chain(strata);
    let gone = [otherwise(rollout, verbose), lost(rollout), changed(rollout), remarks(&rollout.remarks)];
    parts.chain(gone.into_iter().flatten()).collect()
}

fn head(rollout: &Rollout) -> Section {
    let head = Section { id: "rollout", ..Section::default() };
    let rows = || rollout.strata.iter().flat_map(|stratum| &stratum.rows);
    let of = |verdict: Verdict| rows().filter(|row| row.verdict == verdict).count();
    let mut head = head.with(format!(
        "{} before and after, by {} and {}: on the middle host, {} slower, {} faster, of {}.",
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
    if !rollout.otherwise.is_empty() {
        head = head
            .with(format!("{} changed otherwise than the others.", count(rollout.otherwise.len(), "host")));
    }
    for (named, side) in [(&rollout.only_before, "before"), (&rollout.only_after, "after")] {
        if named.count > 0 {
            head = head.with(format!("Only {side}, and in no pair: {}.", hosts(named, NAMED)));
        }
    }
    match &rollout.gate {
        Some(gate) => head.with(format!(
            "Gate at {} % on the middle host: {}{}",
            gate.limit_percent,
            gate.answer.name(),
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
            || row.gate.is_some_and(|answer| answer != Answer::Pass)
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
        ("verdict", Word, |of| of.verdict.name().to_owned()),
    ];
    if is_gated {
        columns.push(("above", SpareNumber(6), |of| {
            of.above_limit.map_or_else(|| ABSENT.to_owned(), |hosts| hosts.to_string())
        }));
        columns.push(("gate", SpareWord(1), |of| of.gate.map_or(ABSENT, Answer::name).to_owned()));
    }
    let heading = format!("{}: {}", stratum.id, values(&stratum.facts));
    let none = Section { id: "", heading: heading.clone(), ..Section::default() };
    let section = Section::of("", &heading, &told, &columns);
    let is_left = |of: Verdict| stratum.rows.iter().filter(|row| !is_told(row) && row.verdict == of).count();
    let left = [(is_left(Verdict::Same), "the same"), (is_left(Verdict::Unknown), "unknown")];
    let left: Vec<String> = left
        .into_iter()
        .filter(|(rows, _)| *rows > 0)
        .map(|(rows, verdict)| format!("{} {verdict}", are(rows)))
        .collect();
    let section = section.unwrap_or(none);
    match left.is_empty() {
        true => section,
        false => {
            let more = if told.is_empty() { "" } else { "Besides, " };
            section.with(format!("{more}{}.", left.join(", ")))
        }
    }
}

fn are(rows: usize) -> String {
    format!("{} {}", count(rows, "row"), if rows == 1 { "is" } else { "are" })
}

/// A host with its row.
struct OfHost<'a>(&'a Otherwise, &'a OtherwiseRow);

/// The clearest row of each host that the middle one hides, or all that tell.
fn otherwise(rollout: &Rollout, verbose: bool) -> Option<Section> {
    let most = if verbose { usize::MAX } else { 1 };
    let rows = rollout
        .otherwise
        .iter()
        .flat_map(|host| host.rows.iter().take(most).map(move |row| OfHost(host, row)));
    let rows: Vec<OfHost> = rows.collect();
    Section::of(
        "otherwise",
        "Hosts that changed otherwise than the others",
        &rows,
        &[
            ("host", Text, |OfHost(host, _)| host.host.clone()),
            ("stratum", SpareWord(2), |OfHost(host, _)| host.stratum.clone()),
            ("row", Text, |OfHost(_, of)| row(&of.name)),
            ("there", Word, |OfHost(_, of)| change(Some(of.percent), None, None)),
            ("elsewhere", SpareWord(3), |OfHost(_, of)| change(Some(of.others_percent), None, None)),
            ("more", Word, |OfHost(_, of)| {
                change(Some(of.more_percent), Some(of.more_percent_low), Some(of.more_percent_high))
            }),
            ("rows", SpareNumber(1), |OfHost(host, _)| {
                host.rows.iter().filter(|row| row.is_clear).count().to_string()
            }),
        ],
    )
}

/// A stratum with its row.
struct Gone<'a>(&'a Stratum, &'a LostRow);

fn lost(rollout: &Rollout) -> Option<Section> {
    let rows =
        rollout.strata.iter().flat_map(|stratum| stratum.lost.iter().map(move |row| Gone(stratum, row)));
    let rows: Vec<Gone> = rows.collect();
    Section::of(
        "lost",
        "Rows without a figure afterwards",
        &rows,
        &[
            ("stratum", SpareWord(2), |Gone(stratum, _)| stratum.id.clone()),
            ("row", Text, |Gone(_, of)| row(&of.name)),
            ("hosts", Number, |Gone(_, of)| of.lost.count.to_string()),
            ("of", Number, |Gone(_, of)| of.pairs.to_string()),
            ("before", SpareWord(3), |Gone(_, of)| ended(of.outcome_before)),
            ("after", Word, |Gone(_, of)| ended(of.outcome_after)),
            ("why", Text, |Gone(_, of)| or_absent(of.reason_after.as_deref())),
            ("where", SpareText(1), |Gone(_, of)| hosts(&of.lost, NAMED)),
        ],
    )
}

fn ended(outcome: Option<Outcome>) -> String {
    outcome.map_or("not tried", Outcome::name).to_owned()
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

//! What a command adds to the calls of what runs behind it.

use crate::doctor::CheckupFacts;
use crate::facts::list;
use crate::id::Id;
use document::{Added, Behind, Figure, Finding, Level, Unit};

pub(crate) fn findings(facts: &CheckupFacts) -> Vec<Finding> {
    facts.checkup.and_then(|checkup| checkup.behind.as_ref()).map(added).into_iter().collect()
}

fn added(behind: &Behind) -> Finding {
    let closed: Vec<&Added> = behind.rows.iter().filter(|row| row.closed.is_some()).collect();
    let dearer: Vec<&Added> = behind.rows.iter().filter(|row| row.is_more && row.more.is_some()).collect();
    let name = |row: &&Added| format!("{} {}", row.entry, row.operation);
    let mut parts = Vec::new();
    if !dearer.is_empty() {
        parts.push(format!("makes {} dearer", list(&dearer.iter().map(name).collect::<Vec<_>>())));
    }
    if !closed.is_empty() {
        parts.push(format!("closes {}", list(&closed.iter().map(name).collect::<Vec<_>>())));
    }
    if parts.is_empty() {
        let known = behind.rows.iter().filter_map(bound).collect::<Vec<_>>();
        let verdict = format!("{}: nothing was seen to become dearer behind it.", behind.command);
        let evidence = (!known.is_empty()).then(|| known.join("; "));
        return Finding { evidence, ..Id::AddedByCommand.finding(Level::Ok, verdict) };
    }
    let costs: Vec<String> = dearer.iter().filter_map(|row| cost(row)).collect();
    let reasons = closed.iter().filter_map(|row| Some(format!("{}: {}", name(row), row.closed.as_ref()?)));
    let evidence: Vec<String> = reasons.chain(behind.rows.iter().filter_map(bound)).collect();
    Finding {
        costs: (!costs.is_empty()).then(|| format!("{}.", costs.join("; "))),
        evidence: (!evidence.is_empty()).then(|| evidence.join("; ")),
        figures: dearer.iter().filter_map(|row| figure(row)).collect(),
        ..Id::AddedByCommand.finding(Level::Note, format!("{} {}.", behind.command, parts.join(", and ")))
    }
}

/// `Each syscall-x86_64 getppid costs 122 core cycles more (118 to 125), beside 300 without`
fn cost(row: &Added) -> Option<String> {
    let [more, low, high] = row.more?;
    let beside = row.without.map(|without| format!(", beside {without:.0} without")).unwrap_or_default();
    Some(format!(
        "Each {} {} costs {more:.0} core cycles more ({low:.0} to {high:.0}){beside}",
        row.entry, row.operation
    ))
}

/// How much more a row may be, which is nothing that can be told.
fn bound(row: &Added) -> Option<String> {
    let [_, low, high] = row.more.filter(|_| !row.is_more)?;
    // What rounds to nothing has no sign.
    let [low, high] = [low, high].map(|end| end.round() + 0.0);
    Some(format!("{} {}: {low:.0} to {high:.0} core cycles more", row.entry, row.operation))
}

fn figure(row: &Added) -> Option<Figure> {
    let labels = [("entry", &row.entry), ("operation", &row.operation)];
    let labels = labels.map(|(label, value)| (label.to_owned(), value.clone())).into();
    Some(Figure { name: "added_by_command".to_owned(), labels, unit: Unit::Cycles, value: row.more?[0] })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
pub(crate) mod tests {
    use super::*;
    use document::{Checkup, Document};

    fn row(more: Option<[f64; 3]>, is_more: bool) -> Added {
        let (entry, operation) = ("syscall-x86_64".to_owned(), "getppid".to_owned());
        let behind = more.map(|[more, ..]| 300.0 + more);
        Added { entry, operation, without: Some(300.0), behind, more, is_more, closed: None }
    }

    /// Behind a command that makes a row dearer.
    pub fn made() -> Vec<Checkup> {
        let rows = vec![row(Some([122.4, 118.0, 125.0]), true)];
        let behind = Some(Behind { command: "setpriv".into(), rows });
        vec![Checkup { behind, ..Checkup::of(Document::empty()) }]
    }

    #[test]
    fn what_becomes_dearer_is_said_in_numbers() {
        let closed =
            Added { operation: "none".into(), closed: Some("killed by SIGSYS".into()), ..row(None, false) };
        let rows = vec![row(Some([122.4, 118.0, 125.0]), true), closed];
        let finding = added(&Behind { command: "setpriv".into(), rows });
        assert_eq!(
            finding.verdict,
            "setpriv makes syscall-x86_64 getppid dearer, and closes syscall-x86_64 none."
        );
        assert_eq!(
            finding.costs.unwrap(),
            "Each syscall-x86_64 getppid costs 122 core cycles more (118 to 125), beside 300 without."
        );
        assert_eq!((finding.level, finding.figures.len()), (Level::Note, 1));
    }

    #[test]
    fn what_chance_explains_is_no_cost() {
        let rows = vec![row(Some([3.0, -1.0, 8.0]), false), row(None, false)];
        let finding = added(&Behind { command: "env".into(), rows });
        assert_eq!((finding.level, finding.costs), (Level::Ok, None));
        assert_eq!(finding.evidence.unwrap(), "syscall-x86_64 getppid: -1 to 8 core cycles more");
    }
}

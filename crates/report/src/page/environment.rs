//! The facts about the machines, those of several runs beside each other.

use super::{PageRun, WHOLE};
use crate::figure::ABSENT;
use crate::head;
use crate::plain::plain;
use document::Document;
use std::collections::BTreeMap;

/// A fact, with its text in each run.
pub(super) struct Compared {
    pub label: &'static str,
    pub texts: Vec<String>,
    pub differs: bool,
}

/// Every fact that some run has, in the order in which the runs tell them.
pub(super) fn facts(runs: &[PageRun]) -> Vec<Compared> {
    let mut all: Vec<((&'static str, usize), Compared)> = Vec::new();
    for (run, PageRun { document, .. }) in runs.iter().enumerate() {
        for (key, text) in of_document(document) {
            let place = all.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                let texts = vec![ABSENT.to_owned(); runs.len()];
                all.push((key, Compared { label: key.0, texts, differs: false }));
                all.len() - 1
            });
            all[place].1.texts[run] = text;
        }
    }
    let mut facts: Vec<Compared> = all.into_iter().map(|(_, fact)| fact).collect();
    for fact in &mut facts {
        fact.differs = fact.texts.windows(2).any(|pair| pair[0] != pair[1]);
    }
    facts
}

/// The facts of one run by their label and, since a label may come again, their number under it.
fn of_document(document: &Document) -> Vec<((&'static str, usize), String)> {
    let mut seen = BTreeMap::new();
    let facts = head::facts(document, &WHOLE).into_iter().map(|fact| (fact.label, fact.text));
    let unseen = document.environment.unseen.iter().filter(|unseen| !unseen.expected);
    let unseen = unseen.map(|unseen| ("not seen", format!("{}: {}", unseen.what, unseen.why)));
    let numbered = facts.chain(unseen).map(|(label, text)| {
        let count = seen.entry(label).or_insert(0);
        *count += 1;
        ((label, *count), plain(&text))
    });
    numbered.collect()
}

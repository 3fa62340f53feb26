//! The kept runs that tell a comparison how much rows vary from run to run.

use crate::input::{self, KeptRuns};
use compare::Run;
use document::{Document, Place};
use runs::{Head, Store};
use std::collections::BTreeMap;
use table::Table;

/// So many kept runs are read to tell how much rows vary, the newest ones: each takes some 20 ms, and more say hardly more.
const MOST: usize = 32;

/// The runs of a comparison, as far as they decide which kept runs say something about them.
#[derive(Debug, Default)]
pub struct Compared {
    like: Vec<Like>,
    ids: Vec<String>,
}

impl Compared {
    /// Takes a run of either side to it.
    pub fn add(&mut self, document: &Document) {
        self.ids.extend(document.id.clone());
        self.like.extend(Like::of(document).filter(|like| !self.like.contains(like)));
    }

    /// Whether a kept run may say how much their rows vary: a whole one that is like one of them, and none of them.
    fn may_learn_from(&self, head: &Head) -> bool {
        !head.partial && !self.ids.contains(&head.id) && self.like.iter().any(|like| like.is(head))
    }
}

/// What tells from a head whether a kept run may say something about a run of a side.
#[derive(Debug, PartialEq, Eq)]
struct Like {
    machine: String,
    release: Option<String>,
    place: Place,
}

impl Like {
    /// None of a document that does not name its machine.
    fn of(document: &Document) -> Option<Like> {
        let (environment, place) = (&document.environment, document.measurement.place.clone());
        let (machine, release) = (environment.machine_id.clone()?, environment.kernel.release.clone());
        Some(Like { machine, release, place })
    }

    fn is(&self, head: &Head) -> bool {
        head.machine_id.as_ref() == Some(&self.machine)
            && head.release == self.release
            && head.place == self.place
    }
}

/// Reads kept runs, each once, however many comparisons ask for it.
pub struct History<'a> {
    kept: &'a KeptRuns,
    /// By id; none of those that cannot be read or do not count.
    read: BTreeMap<String, Option<Run>>,
}

impl<'a> History<'a> {
    /// Of these kept runs.
    pub fn new(kept: &'a KeptRuns) -> History<'a> {
        History { kept, read: BTreeMap::new() }
    }

    /// The newest kept runs that are like a run of the comparison. A file that cannot be read is noted, and says nothing.
    pub fn of(&mut self, compared: &Compared, note: &mut dyn FnMut(&str)) -> Vec<Run> {
        // None where there is no folder, and of machines that nobody knows.
        let listed = if compared.like.is_empty() { Ok(None) } else { self.kept.listed() };
        let Ok(Some((store, listed))) = listed else { return Vec::new() };
        let told = listed.heads.iter().filter(|head| compared.may_learn_from(head)).take(MOST);
        let run =
            |head: &Head| self.read.entry(head.id.clone()).or_insert_with(|| read(store, head, note)).clone();
        told.filter_map(run).collect()
    }
}

fn read(store: &Store, head: &Head, note: &mut dyn FnMut(&str)) -> Option<Run> {
    match input::of_head(store, head) {
        Ok(document) => Some(Run::of(Table::get(), &document, head.name.as_deref())),
        Err(error) => {
            note(&format!("a kept run is left out: {error}"));
            None
        }
    }
}

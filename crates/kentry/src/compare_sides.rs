//! The runs that a comparison is made of: those of both sides, and kept ones of the same machine.

use crate::compare_args::CompareArgs;
use crate::error::Error;
use crate::input::{self, Kept};
use compare::{Given, Run};
use document::{Document, Place};
use runs::Head;
use std::path::{Path, PathBuf};
use table::Table;

/// So many kept runs tell how much rows vary, the newest ones: each takes some 20 ms to read, and more say hardly more.
const HISTORY: usize = 32;

/// Both sides, and what the kept runs of their machines must have in common with them.
pub struct Sides {
    /// What was.
    pub base: Given,
    /// What is.
    pub new: Given,
    like: Vec<Like>,
    /// Of the runs of both sides.
    ids: Vec<String>,
    kept: Kept,
}

/// What tells from a head whether a kept run may say something about a run of a side.
#[derive(Debug, PartialEq, Eq)]
struct Like {
    machine: String,
    release: Option<String>,
    place: Place,
}

impl Sides {
    /// Reads the runs of both sides, and keeps of each the rows that are asked for.
    ///
    /// # Errors
    /// As [`input::document`]; [`Error::Usage`] where standard input is named twice, a pattern is none, or no run has such a row.
    pub fn read(args: &CompareArgs) -> Result<Sides, Error> {
        let [base, new] = args.sides();
        if base.iter().chain(new).filter(|path| input::is_standard(path)).count() > 1 {
            return Err(Error::Usage("standard input (-) can be one run, not several".into()));
        }
        let kept = Kept::default();
        let mut reading =
            Reading { args, kept: &kept, like: Vec::new(), ids: Vec::new(), unmatched: None, rows: 0 };
        let sides = [reading.side(base)?, reading.side(new)?];
        if let Some(error) = reading.unmatched.take().filter(|_| reading.rows == 0) {
            return Err(error);
        }
        let [base, new] = sides;
        let Reading { like, ids, .. } = reading;
        Ok(Sides { base, new, like, ids, kept })
    }

    /// Kept runs of the sides' machines, the newest ones. A file that cannot be read is noted, and says nothing.
    pub fn history(&self, note: &mut dyn FnMut(&str)) -> Vec<Run> {
        // None where there is no folder, and of machines that nobody knows.
        let listed = if self.like.is_empty() { Ok(None) } else { self.kept.listed() };
        let Ok(Some((store, listed))) = listed else { return Vec::new() };
        let may_tell = |head: &&Head| {
            !head.partial && !self.ids.contains(&head.id) && self.like.iter().any(|like| like.is(head))
        };
        let read = |head: &Head| match input::of_head(store, head) {
            // An arm under a command tells how that varies.
            Ok(document) if document.measurement.command.is_some() => None,
            Ok(document) => Some(Run::of(Table::get(), &document, head.name.as_deref())),
            Err(error) => {
                note(&format!("a kept run is left out: {error}"));
                None
            }
        };
        listed.heads.iter().filter(may_tell).take(HISTORY).filter_map(read).collect()
    }
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

struct Reading<'a> {
    args: &'a CompareArgs,
    kept: &'a Kept,
    like: Vec<Like>,
    ids: Vec<String>,
    /// Why a run had none of the rows that were asked for.
    unmatched: Option<Error>,
    /// Rows that were found.
    rows: usize,
}

impl Reading<'_> {
    /// One document at a time is in memory.
    fn side(&mut self, paths: &[PathBuf]) -> Result<Given, Error> {
        let label: Vec<String> = paths.iter().map(|path| report::plain_os(path.as_os_str())).collect();
        let runs = paths.iter().map(|path| self.run(path)).collect::<Result<Vec<Run>, Error>>()?;
        Ok(Given { label: label.join(", "), runs })
    }

    fn run(&mut self, path: &Path) -> Result<Run, Error> {
        let input::Found { mut document, name } = self.kept.run(path)?;
        let before = document.results.len();
        let kept = measure::select::keep(Table::get(), &mut document, &self.args.entry, &self.args.operation);
        match kept {
            // A run may lack rows that another has.
            Err(error) if document.results.is_empty() && before > 0 => {
                self.unmatched.get_or_insert(error.into());
            }
            Err(error) if before > 0 => return Err(error.into()),
            _ => {}
        }
        self.rows += document.results.len();
        self.ids.extend(document.id.clone());
        self.like.extend(Like::of(&document).filter(|like| !self.like.contains(like)));
        Ok(Run::of(Table::get(), &document, name.as_deref()))
    }
}

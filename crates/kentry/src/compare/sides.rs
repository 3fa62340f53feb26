//! The runs that a comparison is made of, as a command line names them.

use crate::compare::args::CompareArgs;
use crate::error::Error;
use crate::history::{Compared, History};
use crate::input::{self, KeptRuns, Saved};
use compare::{Run, SideRuns};
use std::path::{Path, PathBuf};
use table::Table;

/// Both sides, and what the kept runs of their machines must have in common with them.
pub struct Sides {
    /// What was.
    pub base: SideRuns,
    /// What is.
    pub new: SideRuns,
    compared: Compared,
    kept: KeptRuns,
}

/// What a command line names on both sides.
pub enum Read {
    /// Runs.
    Runs(Box<Sides>),
    /// Anatomies: those of what was, then those of what is.
    Anatomies(Vec<attribution::anatomy::Document>),
}

impl Sides {
    /// Reads what both sides name; of runs, those rows that are asked for are kept.
    ///
    /// # Errors
    /// As [`input::document`]; [`Error::Usage`] where standard input is named twice, a pattern is none, no run has such a row, or runs and
    /// anatomies are mixed.
    pub fn read(args: &CompareArgs) -> Result<Read, Error> {
        let [base, new] = args.sides();
        if base.iter().chain(new).filter(|path| input::is_standard(path)).count() > 1 {
            return Err(Error::Usage("standard input (-) can be one run, not several".into()));
        }
        let kept = KeptRuns::default();
        let mut reading = Reading {
            args,
            kept: &kept,
            compared: Compared::default(),
            unmatched: None,
            rows: 0,
            anatomies: Vec::new(),
        };
        let sides = [reading.side(base)?, reading.side(new)?];
        if !reading.anatomies.is_empty() {
            if sides.iter().any(|side| !side.runs.is_empty()) {
                let why = "an anatomy is compared with an anatomy, and a run with a run; these are both";
                return Err(Error::Usage(why.into()));
            }
            return Ok(Read::Anatomies(reading.anatomies));
        }
        if let Some(error) = reading.unmatched.take().filter(|_| reading.rows == 0) {
            return Err(error);
        }
        let [base, new] = sides;
        let compared = reading.compared;
        Ok(Read::Runs(Box::new(Sides { base, new, compared, kept })))
    }

    /// Kept runs of the sides' machines, the newest ones. A file that cannot be read is noted, and says nothing.
    pub fn history(&self, note: &mut dyn FnMut(&str)) -> Vec<Run> {
        History::new(&self.kept).of(&self.compared, note)
    }
}

struct Reading<'a> {
    args: &'a CompareArgs,
    kept: &'a KeptRuns,
    compared: Compared,
    /// Why a run had none of the rows that were asked for.
    unmatched: Option<Error>,
    /// Rows that were found.
    rows: usize,
    anatomies: Vec<attribution::anatomy::Document>,
}

impl Reading<'_> {
    /// One document at a time is in memory.
    fn side(&mut self, paths: &[PathBuf]) -> Result<SideRuns, Error> {
        let label: Vec<String> = paths.iter().map(|path| report::plain_os(path.as_os_str())).collect();
        let mut named = Vec::new();
        for path in paths {
            named.extend(self.kept.several(path)?);
        }
        let runs = named.iter().filter_map(|path| self.run(path).transpose());
        Ok(SideRuns { label: label.join(", "), runs: runs.collect::<Result<Vec<Run>, Error>>()? })
    }

    /// A run; none where it is an anatomy.
    fn run(&mut self, path: &Path) -> Result<Option<Run>, Error> {
        let input::NamedRun { mut document, name } = match self.kept.saved(path)? {
            Saved::Run(found) => *found,
            Saved::Bill(_) => return Err(input::no_run(path, "a bill")),
            Saved::Anatomy(document) => {
                self.anatomies.push(*document);
                return Ok(None);
            }
        };
        let before = document.results.len();
        let kept = measure::select::keep(
            Table::get(),
            &mut document,
            &self.args.rows.entry,
            &self.args.rows.operation,
        );
        match kept {
            // A run may lack rows that another has.
            Err(error) if document.results.is_empty() && before > 0 => {
                self.unmatched.get_or_insert(error.into());
            }
            Err(error) if before > 0 => return Err(error.into()),
            _ => {}
        }
        self.rows += document.results.len();
        self.compared.add(&document);
        Ok(Some(Run::of(Table::get(), &document, name.as_deref())))
    }
}

//! The runs that a comparison is made of, as a command line names them.

use crate::compare_args::CompareArgs;
use crate::error::Error;
use crate::history::{Compared, History};
use crate::input::{self, Kept};
use compare::{Given, Run};
use std::path::{Path, PathBuf};
use table::Table;

/// Both sides, and what the kept runs of their machines must have in common with them.
pub struct Sides {
    /// What was.
    pub base: Given,
    /// What is.
    pub new: Given,
    compared: Compared,
    kept: Kept,
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
            Reading { args, kept: &kept, compared: Compared::default(), unmatched: None, rows: 0 };
        let sides = [reading.side(base)?, reading.side(new)?];
        if let Some(error) = reading.unmatched.take().filter(|_| reading.rows == 0) {
            return Err(error);
        }
        let [base, new] = sides;
        let compared = reading.compared;
        Ok(Sides { base, new, compared, kept })
    }

    /// Kept runs of the sides' machines, the newest ones. A file that cannot be read is noted, and says nothing.
    pub fn history(&self, note: &mut dyn FnMut(&str)) -> Vec<Run> {
        History::new(&self.kept).of(&self.compared, note)
    }
}

struct Reading<'a> {
    args: &'a CompareArgs,
    kept: &'a Kept,
    compared: Compared,
    /// Why a run had none of the rows that were asked for.
    unmatched: Option<Error>,
    /// Rows that were found.
    rows: usize,
}

impl Reading<'_> {
    /// One document at a time is in memory.
    fn side(&mut self, paths: &[PathBuf]) -> Result<Given, Error> {
        let label: Vec<String> = paths.iter().map(|path| report::plain_os(path.as_os_str())).collect();
        let mut named = Vec::new();
        for path in paths {
            named.extend(self.kept.several(path)?);
        }
        let runs = named.iter().map(|path| self.run(path)).collect::<Result<Vec<Run>, Error>>()?;
        Ok(Given { label: label.join(", "), runs })
    }

    fn run(&mut self, path: &Path) -> Result<Run, Error> {
        let input::Found { mut document, name } = self.kept.run(path)?;
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
        Ok(Run::of(Table::get(), &document, name.as_deref()))
    }
}

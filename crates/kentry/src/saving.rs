//! Keeps the run of a measuring command.

use crate::error::Error;
use crate::options::save::SaveArgs;
use document::{Document, Row};
use report::{Format, Selection, Style};
use runs::Store;
use std::collections::BTreeMap;
use table::Table;

/// What becomes of a run.
pub struct Saving {
    /// Where it is kept; none if it is not.
    store: Option<Store>,
    name: Option<String>,
    tags: BTreeMap<String, String>,
    /// Whether the user asked for it.
    is_asked_for: bool,
}

/// The user's folder of kept runs.
///
/// # Errors
/// [`Error::Environment`] where no variable says where their data belong.
pub fn store() -> Result<Store, Error> {
    let folder = runs::folder(|name| std::env::var_os(name));
    folder.map(Store::at).map_err(|error| Error::Environment(error.to_string()))
}

impl Saving {
    /// Looks, before anything is measured, whether the run can be kept. Where that is not so, the run is measured all the same,
    /// and `note` says why it will not be kept, unless the command line asks for a name or a tag.
    ///
    /// # Errors
    /// [`Error::Runs`] for a name that a run cannot have, or for one that was asked for and could not be given.
    pub fn prepare(args: &SaveArgs, note: &mut dyn FnMut(&str)) -> Result<Saving, Error> {
        let tags = args.tag.iter().map(|tag| (tag.key.clone(), tag.value.clone()));
        let is_asked_for = args.name.is_some() || !args.tag.is_empty();
        let mut saving = Saving { store: None, name: args.name.clone(), tags: tags.collect(), is_asked_for };
        if args.no_save {
            return Ok(saving);
        }
        match saving.find_store() {
            Ok(store) => saving.store = Some(store),
            Err(error) if is_asked_for => return Err(error),
            Err(error) => {
                note(&format!("this run will not be kept: {error} (with --no-save, kentry does not try)"))
            }
        }
        Ok(saving)
    }

    /// Refuses a name that [`Saving::prepare`] would refuse, and makes no folder: for plans.
    ///
    /// # Errors
    /// [`Error::Runs`], and [`Error::Environment`] where no variable says where runs belong.
    pub fn check(args: &SaveArgs) -> Result<(), Error> {
        args.name.iter().try_for_each(|name| Ok(store()?.is_free(name)?))
    }

    /// Whether a run will be kept in which something is found out.
    pub fn keeps(&self) -> bool {
        self.store.is_some()
    }

    fn find_store(&self) -> Result<Store, Error> {
        let store = store()?;
        store.prepare()?;
        if let Some(name) = &self.name {
            store.is_free(name)?;
        }
        Ok(store)
    }

    /// Keeps a run, if something was found out, and says whether it did.
    ///
    /// # Errors
    /// [`Error::Runs`]; nothing is left behind then, except by a run that is kept without its name.
    pub fn keep(self, document: &Document) -> Result<bool, Error> {
        let is_worth_it =
            self.is_asked_for || document.unfit().is_none() && document.results.iter().any(Row::has_outcome);
        let Some(store) = self.store.filter(|_| is_worth_it) else {
            return Ok(false);
        };
        let style = Style { color: false, width: 0, verbose: false, selection: Selection::All };
        let json = report::render(document, Table::get(), Format::Json, &style)?;
        store.keep(document, &String::from_utf8_lossy(&json), self.name.as_deref(), &self.tags)?;
        Ok(true)
    }
}

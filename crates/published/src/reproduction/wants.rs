//! What of the lab is measured for a publication.

use crate::{Column, Publication, Row};
use std::collections::BTreeMap;
use table::Table;

impl Publication {
    /// What of the lab is measured for it: entries, operations, and configurations as `--set` takes them. The lab measures every
    /// operation through every entry in every configuration; not all of that is asked for here, but it takes no time.
    pub fn lab_wants(&self, table: &Table) -> (Vec<String>, Vec<String>, Vec<String>) {
        let (mut entries, mut operations, mut sets) = (Vec::new(), Vec::new(), Vec::new());
        let add = |to: &mut Vec<String>, word: String| {
            if !word.is_empty() && !to.contains(&word) {
                to.push(word);
            }
        };
        for row in self.rows.iter().map(|row| row.get_ref()) {
            let Some((entry, operation)) = row.in_lab(table) else { continue };
            add(&mut entries, entry.into());
            add(&mut operations, operation.into());
            for column in &self.columns {
                add(&mut sets, in_words(&self.lab_set(row, column.get_ref(), table)));
            }
        }
        (entries, operations, sets)
    }

    /// The switches that stand for a row in a column; those that only others of the publication name have their defaults.
    pub(super) fn lab_set(&self, row: &Row, column: &Column, table: &Table) -> BTreeMap<String, String> {
        let rows = self.rows.iter().flat_map(|row| row.get_ref().set.keys());
        let named = self.columns.iter().flat_map(|column| column.get_ref().set.keys()).chain(rows);
        let default = |name: &String| Some((name.clone(), table.switch(name)?.default.clone()));
        let mut set: BTreeMap<String, String> = named.filter_map(default).collect();
        set.extend(self.set(row, column));
        set
    }
}

/// `pti=on,vsyscall=native`
pub(super) fn in_words(set: &BTreeMap<String, String>) -> String {
    set.iter().map(|(switch, value)| format!("{switch}={value}")).collect::<Vec<_>>().join(",")
}

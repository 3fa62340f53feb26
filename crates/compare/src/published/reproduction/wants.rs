//! What is measured in guests for a publication: in the lab, and in a Linux.

use crate::published::{Column, Publication, Row};
use std::collections::BTreeMap;
use table::Table;

/// Where else a publication can be measured than on this Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestKind {
    /// In the lab, kentry's own kernel, whose switches stand for rows and columns.
    Lab,
    /// In guests with a Linux, whose parameters do.
    Linux,
}

impl GuestKind {
    /// As the subject of a sentence.
    pub fn name(self) -> &'static str {
        match self {
            GuestKind::Lab => "the lab",
            GuestKind::Linux => "the guest",
        }
    }

    /// What stands for a column.
    pub(super) fn of_column(self, column: &Column) -> &BTreeMap<String, String> {
        match self {
            GuestKind::Lab => &column.set,
            GuestKind::Linux => &column.boot,
        }
    }

    /// What stands for a row besides its entry.
    fn set_of_row(self, row: &Row) -> &BTreeMap<String, String> {
        match self {
            GuestKind::Lab => &row.set,
            GuestKind::Linux => &row.boot,
        }
    }

    /// Entry and operation of a row there, if it has them.
    pub(super) fn of_row<'a>(self, row: &'a Row, table: &Table) -> Option<(&'a str, &'a str)> {
        match self {
            GuestKind::Lab => row.in_lab(table),
            GuestKind::Linux => row.in_guest(),
        }
    }
}

impl Publication {
    /// What is measured there for it: entries, operations, and configurations as `--set` takes them. Every operation is measured
    /// through every entry in every configuration; not all of that is asked for here, but it takes no time.
    pub fn wants(&self, place: GuestKind, table: &Table) -> (Vec<String>, Vec<String>, Vec<String>) {
        let (mut entries, mut operations, mut sets) = (Vec::new(), Vec::new(), Vec::new());
        let add = |to: &mut Vec<String>, word: String| {
            if !word.is_empty() && !to.contains(&word) {
                to.push(word);
            }
        };
        for row in self.rows.iter().map(|row| row.get_ref()) {
            let Some((entry, operation)) = place.of_row(row, table) else { continue };
            add(&mut entries, entry.into());
            add(&mut operations, operation.into());
            for column in &self.columns {
                add(&mut sets, in_words(&self.set_in_full(place, row, column.get_ref(), table)));
            }
        }
        (entries, operations, sets)
    }

    /// What stands for a row in a column. Switches of the lab that only others of the publication name have their defaults.
    pub(super) fn set_in_full(
        &self,
        place: GuestKind,
        row: &Row,
        column: &Column,
        table: &Table,
    ) -> BTreeMap<String, String> {
        let rows = self.rows.iter().flat_map(|row| row.get_ref().set.keys());
        let named = self.columns.iter().flat_map(|column| column.get_ref().set.keys()).chain(rows);
        let default = |name: &String| Some((name.clone(), table.switch(name)?.default.clone()));
        let defaults = named.filter(|_| place == GuestKind::Lab).filter_map(default);
        defaults.chain(self.set(place, row, column)).collect()
    }

    /// What stands for a row in a column, without what is so by default.
    pub(super) fn set(&self, place: GuestKind, row: &Row, column: &Column) -> BTreeMap<String, String> {
        let all = place.of_column(column).iter().chain(place.set_of_row(row));
        all.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// `pti=on,vsyscall=native`
pub(super) fn in_words(set: &BTreeMap<String, String>) -> String {
    set.iter().map(|(switch, value)| format!("{switch}={value}")).collect::<Vec<_>>().join(",")
}

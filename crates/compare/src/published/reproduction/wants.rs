//! What is measured in guests for a publication: in the lab, and in a Linux.

use crate::published::{Column, Publication, Row};
use std::collections::BTreeMap;
use table::{Kernel, Table};

/// As the subject of a sentence, where a publication is measured in guests.
pub(super) fn subject(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Lab | Kernel::LabI386 => "the lab",
        Kernel::Linux => "the guest",
    }
}

impl Column {
    /// What stands for the column in guests of a kernel: switches of the lab, or parameters of a Linux.
    pub(super) fn settings(&self, kernel: Kernel) -> &BTreeMap<String, String> {
        match kernel {
            Kernel::Lab | Kernel::LabI386 => &self.set,
            Kernel::Linux => &self.boot,
        }
    }
}

impl Row {
    /// What stands for the row in guests of a kernel, besides its entry.
    fn settings(&self, kernel: Kernel) -> &BTreeMap<String, String> {
        match kernel {
            Kernel::Lab | Kernel::LabI386 => &self.set,
            Kernel::Linux => &self.boot,
        }
    }

    /// Entry and operation of the row in guests of a kernel, if it has them there.
    pub(super) fn in_guests(&self, kernel: Kernel, table: &Table) -> Option<(&str, &str)> {
        match kernel {
            Kernel::Lab | Kernel::LabI386 => self.in_lab(kernel, table),
            Kernel::Linux => self.in_guest(),
        }
    }
}

impl Publication {
    /// What is measured there for it: entries, operations, and configurations as `--set` takes them. Every operation is measured
    /// through every entry in every configuration; not all of that is asked for here, but it takes no time.
    pub fn wants(&self, kernel: Kernel, table: &Table) -> (Vec<String>, Vec<String>, Vec<String>) {
        let (mut entries, mut operations, mut sets) = (Vec::new(), Vec::new(), Vec::new());
        let add = |to: &mut Vec<String>, word: String| {
            if !word.is_empty() && !to.contains(&word) {
                to.push(word);
            }
        };
        for row in self.rows.iter().map(|row| row.get_ref()) {
            let Some((entry, operation)) = row.in_guests(kernel, table) else { continue };
            add(&mut entries, entry.into());
            add(&mut operations, operation.into());
            for column in self.columns.iter().filter(|column| has(kernel, row, column.get_ref(), table)) {
                add(&mut sets, in_words(&self.set_in_full(kernel, row, column.get_ref(), table)));
            }
        }
        (entries, operations, sets)
    }

    /// What stands for a row in a column. Switches of the lab that only others of the publication name have their defaults.
    pub(super) fn set_in_full(
        &self,
        kernel: Kernel,
        row: &Row,
        column: &Column,
        table: &Table,
    ) -> BTreeMap<String, String> {
        let rows = self.rows.iter().flat_map(|row| row.get_ref().set.keys());
        let named = self.columns.iter().flat_map(|column| column.get_ref().set.keys()).chain(rows);
        let default = |name: &String| Some((name.clone(), table.switch_of(kernel, name)?.default.clone()));
        let defaults = named.filter_map(default);
        defaults.chain(self.set(kernel, row, column)).collect()
    }

    /// What stands for a row in a column, without what is so by default.
    pub(super) fn set(&self, kernel: Kernel, row: &Row, column: &Column) -> BTreeMap<String, String> {
        let all = column.settings(kernel).iter().chain(row.settings(kernel));
        all.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Whether a kernel has what stands for a row in a column: a switch may be the other kernel's of the lab.
fn has(kernel: Kernel, row: &Row, column: &Column, table: &Table) -> bool {
    let mut names = column.settings(kernel).keys().chain(row.settings(kernel).keys());
    !kernel.is_lab() || names.all(|name| table.switch_of(kernel, name).is_some())
}

/// `pti=on,vsyscall=native`
pub(super) fn in_words(set: &BTreeMap<String, String>) -> String {
    set.iter().map(|(switch, value)| format!("{switch}={value}")).collect::<Vec<_>>().join(",")
}

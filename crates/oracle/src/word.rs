//! The kernel's own word on its paths: its debug information with its sources, or, where there is none, the tables of its file.

use crate::debug::Debug;
use crate::held::Held;
use crate::tables::Tables;
use crate::truth::hold;
use attribution::anatomy::Anatomy;
use std::path::Path;

/// Of a path, so large a share must be known: by tables alone, by the debug information of C code, and with the assembler's sources.
const OF_TABLES: f64 = 0.03;
const OF_C: f64 = 0.5;
const OF_ALL: f64 = 0.9;

/// What says which parts are right.
pub enum Word {
    Debug(Box<Debug>),
    Tables(Box<Tables>),
}

impl Word {
    /// Of the kernel in a folder: by `vmlinux` with symbols, or by the kernel's file itself.
    pub fn read(folder: &Path, file: impl FnOnce() -> Vec<u8>) -> Word {
        let vmlinux = folder.join("vmlinux");
        match vmlinux.exists() {
            true => Word::Debug(Box::new(Debug::read(&vmlinux))),
            false => Word::Tables(Box::new(Tables::read(file().leak()))),
        }
    }

    /// Its debug information, if it has any.
    pub fn debug(&self) -> Option<&Debug> {
        match self {
            Word::Debug(debug) => Some(debug),
            Word::Tables(_) => None,
        }
    }

    /// In the last column of a row.
    fn name(&self) -> &'static str {
        match self {
            Word::Debug(_) => "debug information",
            Word::Tables(_) => "tables",
        }
    }

    /// Holds a path against it, prints a row, and says why the path is not as right as it must be, if it is not. `shows_all` prints each wrong
    /// instruction even where they are few.
    pub fn judge(&self, release: &str, path: &str, anatomy: &Anatomy, shows_all: bool) -> Option<String> {
        let (held, least): (Held, f64) = match self {
            Word::Debug(debug) if debug.sources.are_here() => (hold(anatomy, debug), OF_ALL),
            Word::Debug(debug) => (hold(anatomy, debug), OF_C),
            Word::Tables(tables) => (tables.hold(anatomy), OF_TABLES),
        };
        println!("{} {} |", held.row(release, path), self.name());
        if shows_all {
            held.wrong.iter().for_each(|wrong| println!("  {}", wrong.in_words(anatomy)));
        }
        held.fault(release, path, anatomy, least)
    }
}

//! A published table beside what was measured here.

mod elsewhere;
mod figures;
mod here;
mod ratios;
#[cfg(test)]
mod tests;
mod wants;

pub use elsewhere::{GuestFigure, GuestUnit, InGuests};
pub use figures::{Figure, Measured, Way};
pub use here::Here;
pub use ratios::Compared;

use crate::published::{Citation, Publication, Timed, Unit};
use document::Document;
use environment::Environment;
use serde::Serialize;
use table::{Kernel, Table};

/// What a reproduction is made of.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// This machine.
    pub here: &'a Environment,
    /// The run of kentry's own way; none where nothing of the table can be measured on this Linux.
    pub run: Option<&'a Document>,
    /// The loops.
    pub timed: &'a [Timed],
    /// The run in the lab, if there was one.
    pub lab: Option<&'a Document>,
    /// The run in guests with a Linux, if there was one.
    pub guests: Option<&'a Document>,
}

/// A published table, and what came out here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reproduction {
    /// [`Reproduction::SCHEMA`].
    pub schema: &'static str,
    /// Of the publication.
    pub name: String,
    /// What was measured, in a few words.
    pub title: String,
    /// What was published, and what it showed, in sentences.
    pub about: String,
    /// Who published it, and where.
    pub source: String,
    /// Author, year and address; null where not known.
    #[serde(flatten)]
    pub citation: Citation,
    /// The processor that it was measured on; null where the source does not say.
    pub cpu: Option<String>,
    /// The kernel; null where the source does not say.
    pub kernel: Option<String>,
    /// What the published figures count.
    pub unit: Unit,
    /// How the author measured, in words; null where that is not known.
    pub way: Option<String>,
    /// Name of the row that others are compared with.
    pub base: Option<String>,
    /// This machine.
    pub here: Here,
    /// What differs here, besides the figures, in words.
    pub differs: Vec<String>,
    /// How was measured here: loops as the author's, then kentry's own way. Empty where nothing could be.
    pub ways: Vec<Way>,
    /// The figures, column by column.
    pub figures: Vec<Figure>,
    /// The same in the lab; null unless that was asked for.
    pub lab: Option<InGuests>,
    /// The same in guests with a Linux.
    pub guests: Option<InGuests>,
    /// What the author concluded, and what the lab says to that.
    pub ratios: Vec<Compared>,
}

impl Reproduction {
    /// The schema of its JSON.
    pub const SCHEMA: &str = "kentry.reproduction/1";

    /// Puts a publication beside what was measured.
    pub fn of(publication: &Publication, parts: &Parts, table: &Table) -> Reproduction {
        let ways = figures::ways(publication);
        let columns = publication.columns.iter().map(|column| column.get_ref()).enumerate();
        let figures = columns.flat_map(|(place, column)| {
            figures::of_column(publication, (place, column), &ways, parts, table)
        });
        let in_guests = |kernel, run| InGuests::of(publication, kernel, run, table);
        let kernel_of = |run: &Document| run.measurement.place.kernel.known().filter(|known| known.is_lab());
        let lab = parts.lab.map(|run| in_guests(kernel_of(run).unwrap_or(publication.lab_kernel), run));
        Reproduction {
            schema: Reproduction::SCHEMA,
            name: publication.name.clone(),
            title: publication.title.clone(),
            about: publication.about.clone(),
            source: publication.source.clone(),
            citation: publication.citation(),
            cpu: publication.cpu.clone(),
            kernel: publication.kernel.clone(),
            unit: publication.unit,
            way: publication.way.clone(),
            base: publication.base.clone(),
            here: Here::of(parts),
            differs: here::partial(parts).into_iter().chain(here::differs(publication, parts.here)).collect(),
            figures: figures.collect(),
            ways,
            ratios: ratios::all(publication, parts.lab, lab.as_ref()),
            lab,
            guests: parts.guests.map(|run| in_guests(Kernel::Linux, run)),
        }
    }

    /// The headings of the columns, in their order.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = self.figures.iter().map(|figure| figure.column.as_str()).collect();
        columns.dedup();
        columns
    }
}

fn ratio(value: Option<f64>, base: Option<f64>) -> Option<f64> {
    base.filter(|base| *base > 0.0).and_then(|base| Some(value? / base))
}

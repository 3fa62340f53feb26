//! What a publication concludes: one of its figures as a part of another.

use crate::published::{Publication, Unit};
use serde::Deserialize;

/// A published figure compared with another of the same table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// What makes the difference.
    pub name: String,
    /// The row with it.
    pub of: String,
    /// The row without it.
    pub to: String,
    /// Whether the part itself is told, instead of what it is more or less than the whole.
    #[serde(default)]
    pub share: bool,
    /// The column of both; without it the first.
    pub column: Option<String>,
    /// The column of `to`, if that is another.
    pub to_column: Option<String>,
}

impl Ratio {
    /// Row and column with it, then those without it.
    pub fn sides<'a>(&'a self, publication: &'a Publication) -> [(&'a str, &'a str); 2] {
        let first = publication.columns.first().map_or("", |column| column.get_ref().name.as_str());
        let column = self.column.as_deref().unwrap_or(first);
        [(&self.of, column), (&self.to, self.to_column.as_deref().unwrap_or(column))]
    }

    /// What the publication says: the change of its figure, as a part of that without, or its share in that; none where one is not
    /// published.
    pub fn published(&self, publication: &Publication) -> Option<f64> {
        let [of, to] = self.sides(publication).map(|side| figure(publication, side));
        Some(of? / to? - if self.share { 0.0 } else { 1.0 })
    }
}

fn figure(publication: &Publication, (row, column): (&str, &str)) -> Option<f64> {
    let place = publication.columns.iter().position(|known| known.get_ref().name == column)?;
    let row = publication.rows.iter().find(|known| known.get_ref().name == row)?;
    row.get_ref().published.get(place)?.0
}

impl Unit {
    /// The change of a figure of this unit, if what it is about costs `of` instead of `to`: of an index, which counts what is
    /// done in a time, the inverse of the costs.
    pub(crate) fn change(self, of: f64, to: f64) -> Option<f64> {
        let (above, below) = if self == Unit::Index { (to, of) } else { (of, to) };
        (above > 0.0 && below > 0.0).then(|| above / below - 1.0)
    }
}

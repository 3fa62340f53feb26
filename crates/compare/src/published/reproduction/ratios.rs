//! What the author concluded, beside what the lab's costs make of it.

use super::elsewhere::{GuestFigure, GuestUnit, InGuests};
use crate::published::{Publication, Ratio};
use document::Document;
use environment::Trapped;
use serde::Serialize;
use std::collections::BTreeMap;

/// A change that was published, and the same change here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// What makes the difference.
    pub name: String,
    /// Whether it is the part itself, and no change: 0.18 for 18 % of the figure of `to`.
    pub share: bool,
    /// The row with it, and the row without it.
    pub of: String,
    /// The row without it.
    pub to: String,
    /// The published change, as a part of the figure without it: -0.17 for 17 % less.
    pub published: f64,
    /// The change by what the rows cost in the lab; null where only other hardware can tell.
    pub here: Option<f64>,
    /// The least and the greatest change that the 95 % intervals of both costs allow.
    pub low: Option<f64>,
    /// The greatest.
    pub high: Option<f64>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// Said where nothing was measured in the lab.
const NO_LAB: &str = "it was not measured in the lab";

/// Said where the lab counted.
const COUNTED: &str = "the lab ran in an emulator, which counts instructions; a count is neither time nor throughput, and only \
                       hardware can tell what these instructions cost";

/// Said where the hypervisor has a hand in what is compared.
const TRAPPED: &str =
    "the hypervisor executes the lab's writes to CR3 here, so that their cost is not the processor's";

/// What was measured, and whether the hypervisor executes the kernel's writes to CR3 itself.
struct Lab<'a> {
    found: &'a InGuests,
    traps_cr3: bool,
}

pub(super) fn all(
    publication: &Publication,
    run: Option<&Document>,
    found: Option<&InGuests>,
) -> Vec<Compared> {
    let of_lab = run.and_then(|run| run.environment.lab.as_ref());
    let traps_cr3 = of_lab.is_some_and(|lab| lab.ring0.trapped.contains(&Trapped::Cr3Writes));
    let lab = found.map(|found| Lab { found, traps_cr3 });
    let ratios = publication.ratios.iter().map(|ratio| ratio.get_ref());
    let compared = |ratio: &Ratio| {
        let published = ratio.published(publication)?;
        Some(compared(publication, ratio, published, lab.as_ref()))
    };
    ratios.filter_map(compared).collect()
}

fn compared(publication: &Publication, ratio: &Ratio, published: f64, lab: Option<&Lab>) -> Compared {
    let [of, to] = ratio.sides(publication).map(|side| named(publication, side));
    let (reason, [here, low, high]) = match here(publication, ratio, lab) {
        Ok(change) => (None, change),
        Err(why) => (Some(why), [None; 3]),
    };
    Compared { name: ratio.name.clone(), share: ratio.share, of, to, published, here, low, high, reason }
}

/// The change, the least and the greatest; or why it cannot be told.
fn here(publication: &Publication, ratio: &Ratio, lab: Option<&Lab>) -> Result<[Option<f64>; 3], String> {
    let lab = lab.ok_or(NO_LAB)?;
    if lab.found.unit == GuestUnit::Instructions && !ratio.share {
        return Err(COUNTED.to_owned());
    }
    let [of, to] = ratio.sides(publication).map(|side| cost(publication, side, lab));
    let ([of, of_low, of_high], [to, to_low, to_high]) = (of?, to?);
    let change = |of: Option<f64>, to: Option<f64>| match ratio.share {
        true => of.zip(to).filter(|(_, to)| *to > 0.0).map(|(of, to)| of / to),
        false => publication.unit.change(of?, to?),
    };
    let ends = change(of_high, to_low).zip(change(of_low, to_high));
    let (low, high) = ends.map(|(one, other)| (one.min(other), one.max(other))).unzip();
    let change = change(of, to).ok_or("a cost that is not above zero has no inverse")?;
    Ok([Some(change), low, high])
}

/// What a row costs in a column, and the ends of its interval.
fn cost(publication: &Publication, side: (&str, &str), lab: &Lab) -> Result<[Option<f64>; 3], String> {
    let set = set_of(publication, side);
    if lab.traps_cr3 && set.get("pti").is_some_and(|pti| pti == "on") {
        return Err(TRAPPED.to_owned());
    }
    let is_it = |figure: &&GuestFigure| figure.row == side.0 && figure.set == set;
    let figure = lab.found.figures.iter().find(is_it).ok_or(NO_LAB)?;
    let why = || format!("{}: {}", named(publication, side), figure.reason.as_deref().unwrap_or(NO_LAB));
    Ok([Some(figure.value.ok_or_else(why)?), figure.ci_low, figure.ci_high])
}

/// A row, with its column where there are several.
fn named(publication: &Publication, (row, column): (&str, &str)) -> String {
    if publication.columns.len() > 1 { format!("{row} ({column})") } else { row.to_owned() }
}

/// The switches that stand for a row in a column, by their names.
fn set_of(publication: &Publication, (row, column): (&str, &str)) -> BTreeMap<String, String> {
    let row = publication.rows.iter().map(|row| row.get_ref()).find(|known| known.name == row);
    let column = publication.columns.iter().map(|column| column.get_ref()).find(|known| known.name == column);
    row.zip(column)
        .map(|(row, column)| publication.set(publication.lab_kernel, row, column))
        .unwrap_or_default()
}

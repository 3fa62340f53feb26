//! Curves: what an entry costs with ever more pages touched behind it, one line for each number of pages, and a bar.

use super::{Report, suffix};
use crate::Style;
use crate::bar::part_of;
use crate::cells::{error, estimate, has_figures};
use crate::configuration::Compared;
use crate::figure::{Unit, shown};
use crate::line::{Line, look, wrapped};
use document::{Document, Row};
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

/// With fewer points rows are shown side by side, as other configurations are.
const LEAST_POINTS: usize = 4;

/// Columns of a bar.
const BAR: std::ops::RangeInclusive<usize> = 8..=40;

/// What stands above the numbers of pages.
const PAGES: &str = "pages";

/// Where the numbers of pages begin, and the blanks between columns.
const GAP: usize = 2;

/// What the legend says of the numbers of pages.
pub(super) const TOUCHED: &str = "touched behind control and entry alike, one line of each: the cost is with what the entry has evicted of them, of their translations or of their lines";

/// Rows that differ in the number of pages alone.
pub(super) struct Curve<'a> {
    /// What tells it from other curves of the entry.
    configuration: String,
    /// In ascending order of pages.
    points: Vec<(u64, &'a Row)>,
    /// The unit of its costs; none when they differ.
    unit: Option<Unit>,
}

impl<'a> Curve<'a> {
    /// The curves of a document; none unless all of its rows are points of one.
    pub fn all(document: &'a Document, compared: &Compared, style: &Style) -> Vec<Curve<'a>> {
        let mut curves: Vec<Curve> = Vec::new();
        let mut places = BTreeMap::new();
        for row in document.results.iter().filter(|_| !style.verbose) {
            let Some(pages) = pages(row) else { return Vec::new() };
            let configuration = compared.but_footprint(row);
            let key = (&row.entry, &row.operation, configuration.clone());
            let place = *places.entry(key).or_insert(curves.len());
            match curves.get_mut(place) {
                Some(curve) => curve.points.push((pages, row)),
                None => curves.push(Curve { configuration, points: vec![(pages, row)], unit: None }),
            }
        }
        for curve in &mut curves {
            curve.points.sort_by_key(|(pages, _)| *pages);
            curve.unit = curve.common_unit();
        }
        let is_one = |curve: &Curve| {
            let is_ascending = curve.points.is_sorted_by(|(less, _), (more, _)| less < more);
            curve.points.len() >= LEAST_POINTS && is_ascending
        };
        if curves.iter().all(is_one) { curves } else { Vec::new() }
    }

    fn rows(&self) -> impl Iterator<Item = &'a Row> {
        self.points.iter().map(|(_, row)| *row)
    }

    fn common_unit(&self) -> Option<Unit> {
        let mut units = self.rows().filter_map(|row| Some(shown(row)?.unit));
        let first = units.next()?;
        units.all(|unit| unit == first).then_some(first)
    }

    /// The greatest cost, which has a full bar.
    fn most(&self) -> f64 {
        let costs = self.rows().filter_map(|row| Some(shown(row)?.cost.estimate));
        costs.fold(0.0, f64::max)
    }

    fn cost(&self, row: &Row) -> String {
        estimate(row, shown(row).map_or("", |shown| suffix(self.unit, shown.unit)))
    }
}

/// How many pages were touched, where no lines were besides; none where the row says nothing of it, or something else.
fn pages(row: &Row) -> Option<u64> {
    row.configuration.get(document::FOOTPRINT)?;
    row.footprint().filter(|footprint| footprint.lines == 0).map(|footprint| footprint.pages)
}

/// Widths of the columns, the same for all curves.
struct Widths {
    pages: usize,
    cost: usize,
    error: usize,
    bar: usize,
}

impl Widths {
    fn of(curves: &[Curve], width: usize) -> Widths {
        let widest = |cell: &dyn Fn(&Curve, &Row) -> String| {
            let cells = curves.iter().flat_map(|curve| curve.rows().map(move |row| cell(curve, row).width()));
            cells.max().unwrap_or(0)
        };
        let heading =
            curves.iter().filter_map(|curve| curve.unit).map(|unit| unit.name().len()).max().unwrap_or(0);
        let error = widest(&|_, row| error(row));
        let cost = widest(&|curve, row| curve.cost(row)).max(heading.saturating_sub(1 + error));
        let used = GAP + PAGES.len() + GAP + cost + 1 + error + GAP;
        // Without room for a bar there is none.
        let bar = Some(width.saturating_sub(used).min(*BAR.end())).filter(|bar| BAR.contains(bar));
        Widths { pages: GAP + PAGES.len(), cost, error, bar: bar.unwrap_or(0) }
    }
}

impl Report<'_> {
    pub(super) fn curves(&self, curves: &[Curve]) -> Vec<Line> {
        let widths = Widths::of(curves, self.width);
        curves.iter().flat_map(|curve| self.curve(curve, &widths)).collect()
    }

    fn curve(&self, curve: &Curve, widths: &Widths) -> Vec<Line> {
        let mut lines = vec![Line::default()];
        if let Some((_, first)) = curve.points.first() {
            let name = format!("{} {}", first.entry, first.operation);
            let mut start = Line::new(look::NAME, &name);
            start.blank(GAP);
            lines.extend(wrapped(start, look::FAINT, &curve.configuration, self.width, 4));
        }
        let mut heading = Line::default();
        heading.push_right(look::FAINT, PAGES, widths.pages);
        heading.blank(GAP);
        let unit = curve.unit.map_or("cost", Unit::name);
        heading.push_right(look::FAINT, unit, widths.cost + 1 + widths.error);
        lines.push(heading);
        let most = curve.most();
        lines.extend(curve.points.iter().flat_map(|(pages, row)| {
            let mut start = Line::default();
            start.push_right(look::PLAIN, &pages.to_string(), widths.pages);
            start.blank(GAP);
            self.point(curve, row, start, widths, most)
        }));
        let remarks = curve.points.first().map(|(_, row)| row.remarks.as_slice()).unwrap_or_default();
        lines.extend(remarks.iter().flat_map(|remark| self.below(remark)));
        lines
    }

    fn point(&self, curve: &Curve, row: &Row, mut line: Line, widths: &Widths, most: f64) -> Vec<Line> {
        if !has_figures(row) {
            let (word, words) = self.figures.instead(row);
            let indent = line.width();
            return wrapped(line, look::FAINT, &format!("{word}: {words}"), self.width, indent);
        }
        line.push_right(look::NAME, &curve.cost(row), widths.cost);
        line.push_right(look::FAINT, &error(row), 1 + widths.error);
        line.blank(GAP);
        let cost = shown(row).map_or(0.0, |shown| shown.cost.estimate);
        line.push(look::BAR, &part_of(cost, most, widths.bar));
        vec![line]
    }
}

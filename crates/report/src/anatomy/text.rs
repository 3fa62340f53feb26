//! Followed paths for a terminal.

use super::executed::{self, Executed};
use super::names::names;
use super::parts::grid;
use super::{beside, difference, several, words};
use crate::Style;
use crate::line::{Line, look, wrapped, written};
use crate::text::{after_blank, fact};
use attribution::anatomy::Document;

/// The least width that texts are made for. Other reports need more.
const LEAST_WIDTH: usize = 40;

/// The columns of the terminal.
pub(super) fn columns(style: &Style) -> usize {
    style.width.max(LEAST_WIDTH)
}

pub(super) fn render(document: &Document, style: &Style) -> Vec<u8> {
    let width = columns(style);
    let mut lines = head(document, width);
    lines.extend(tables(document, width));
    let differences =
        if several::are(document) && !style.verbose { Vec::new() } else { difference::all(document) };
    for shown in differences {
        lines.push(Line::default());
        lines.extend(fact("difference", &shown.title, width));
        lines.extend(fact("", if shown.is_across { difference::ACROSS } else { "" }, width));
        for table in shown.tables.iter().filter(|table| !table.is_empty()) {
            lines.extend(after_blank(table.lines(width)));
        }
        lines.extend(after_blank(differing(&shown.lines, width)));
    }
    if let Some(found) = &document.beside {
        lines.push(Line::default());
        lines.extend(fact("lab", &beside::title(found, &names(document)), width));
        lines.push(Line::default());
        lines.extend(beside::grid(found).lines(width));
        lines.extend(after_blank(wrapped(Line::default(), look::FAINT, beside::LEGEND, width, 0)));
        let findings = beside::findings(found);
        lines.extend((!findings.is_empty()).then(Line::default));
        lines.extend(findings.iter().flat_map(|finding| fact("finding", finding, width)));
    }
    written(&lines, style)
}

/// By part, and a line for each path first where each is one.
fn tables(document: &Document, width: usize) -> Vec<Line> {
    let legend = |text: &str| after_blank(wrapped(Line::default(), look::FAINT, text, width, 0));
    if !several::are(document) {
        let table = after_blank(grid(document).lines(width));
        return table.into_iter().chain(legend(&words::legend(document))).collect();
    }
    let mut lines = after_blank(several::grid(document).lines(width));
    lines.extend(legend(&several::legend(document)));
    lines.extend(several::by_part(document, width).iter().flat_map(|grid| after_blank(grid.lines(width))));
    lines
}

/// The head and the table of parts alone.
pub fn parts(document: &Document, style: &Style) -> Vec<u8> {
    let width = columns(style);
    let mut lines = head(document, width);
    if several::are(document) {
        lines
            .extend(several::by_part(document, width).iter().flat_map(|grid| after_blank(grid.lines(width))));
    } else {
        lines.extend(after_blank(grid(document).lines(width)));
    }
    written(&lines, style)
}

pub(super) fn head(document: &Document, width: usize) -> Vec<Line> {
    words::head(document).into_iter().flat_map(|(label, text)| fact(label, &text, width)).collect()
}

/// What differs, with signs that need no color.
fn differing(lines: &[difference::Line], width: usize) -> Vec<Line> {
    let executed = |line| {
        let [sign, place, text, part] = difference::cells(line);
        let look = match sign.as_str() {
            "+" => look::GOOD,
            "-" => look::WRONG,
            _ => look::FAINT,
        };
        Executed { before: format!("{sign} "), place, text, part, looks: [look; 4] }
    };
    executed::lines(&lines.iter().map(executed).collect::<Vec<_>>(), width)
}

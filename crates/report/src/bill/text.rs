//! A bill for a terminal.

use super::bars::bars;
use super::table::{configurations, steps, there};
use super::words;
use crate::Style;
use crate::line::{Line, look, wrapped, written};
use crate::text::{after_blank, fact};
use attribution::bill::{Bill, Ring3, There};

/// A Linux that was followed comes first: that is what was asked for. Any other is explained by the steps, and stands below them.
pub(super) fn render(bill: &Bill, style: &Style) -> Vec<u8> {
    let width = style.columns();
    let mut lines = facts(&words::head(bill), width);
    let there = bill.there.as_ref();
    let is_first = there.is_some_and(words::is_followed);
    if let Some(found) = there.filter(|_| is_first) {
        lines.extend(linux(bill, found, width));
        lines.extend(after_blank(bars(bill, width)));
        lines.push(Line::default());
    }
    lines.extend(facts(&words::of_lab(bill), width));
    lines.push(Line::default());
    lines.extend(steps(bill).lines(width));
    lines.extend(bill.ring3.iter().flat_map(|found| ring3(bill, found, width)));
    if !is_first {
        lines.extend(after_blank(bars(bill, width)));
    }
    if let Some(found) = there.filter(|_| !is_first) {
        lines.push(Line::default());
        lines.extend(linux(bill, found, width));
    }
    lines.extend(after_blank(wrapped(Line::default(), look::FAINT, &words::legend(bill), width, 0)));
    if style.verbose {
        lines.push(Line::default());
        lines.extend(configurations(bill).lines(width));
    }
    written(&lines, style)
}

fn facts(facts: &[(&'static str, String)], width: usize) -> Vec<Line> {
    facts.iter().flat_map(|(label, text)| fact(label, text, width)).collect()
}

/// A Linux, and its parts.
fn linux(bill: &Bill, found: &There, width: usize) -> Vec<Line> {
    let mut lines = facts(&words::of_linux(bill, found), width);
    lines.push(Line::default());
    lines.extend(there(bill, found).lines(width));
    let said = words::measured_and_explained(bill, found);
    lines.extend(wrapped(Line::default(), look::FAINT, &said, width, 0));
    lines
}

/// The bytes of the path in ring 3: beside the steps, what is left out, and what was published.
fn ring3(bill: &Bill, found: &Ring3, width: usize) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    lines.extend(facts(&super::ring3::facts(bill, found), width));
    if !found.left_out.is_empty() {
        lines.push(Line::default());
        lines.extend(super::ring3::left_out(found).lines(width));
    }
    let published = super::ring3::published(bill, found);
    if !published.is_empty() {
        lines.push(Line::default());
        lines.extend(super::ring3::comparison(&published).lines(width));
    }
    lines
}

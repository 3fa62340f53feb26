//! A bill for a terminal.

use super::bars::bars;
use super::table::{configurations, steps, there};
use super::words;
use crate::Style;
use crate::line::{Line, look, wrapped, written};
use crate::text::{after_blank, fact};
use attribution::bill::Bill;

pub(super) fn render(bill: &Bill, style: &Style) -> Vec<u8> {
    let width = style.columns();
    let mut lines: Vec<Line> =
        words::head(bill).into_iter().flat_map(|(label, text)| fact(label, &text, width)).collect();
    lines.push(Line::default());
    lines.extend(steps(bill).lines(width));
    if let Some(found) = &bill.ring3 {
        lines.push(Line::default());
        lines.extend(
            super::ring3::facts(bill, found).into_iter().flat_map(|(label, text)| fact(label, &text, width)),
        );
        if !found.left_out.is_empty() {
            lines.push(Line::default());
            lines.extend(super::ring3::left_out(found).lines(width));
        }
        let published = super::ring3::published(bill, found);
        if !published.is_empty() {
            lines.push(Line::default());
            lines.extend(super::ring3::comparison(&published).lines(width));
        }
    }
    lines.extend(after_blank(bars(bill, width)));
    if let Some(found) = &bill.there {
        lines.push(Line::default());
        lines.extend(fact("Linux", &words::linux(found), width));
        lines.extend(found.remarks.iter().flat_map(|remark| fact("", remark, width)));
        lines.push(Line::default());
        lines.extend(there(bill, found).lines(width));
        lines.extend(wrapped(
            Line::default(),
            look::FAINT,
            &words::measured_and_explained(bill, found),
            width,
            0,
        ));
    }
    lines.extend(after_blank(wrapped(Line::default(), look::FAINT, &words::legend(bill), width, 0)));
    if style.verbose {
        lines.push(Line::default());
        lines.extend(configurations(bill).lines(width));
    }
    written(&lines, style)
}

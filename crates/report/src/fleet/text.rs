//! A fleet as text.

use super::section::Section;
use crate::Style;
use crate::line::{Line, look, wrapped, written};

pub(super) fn render(sections: &[Section], style: &Style) -> Vec<u8> {
    let width = style.columns();
    let mut lines = Vec::new();
    for section in sections {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        if !section.heading.is_empty() {
            lines.extend(wrapped(Line::default(), look::HEADING, &section.heading, width, 2));
        }
        for sentence in &section.sentences {
            lines.extend(wrapped(Line::default(), look::PLAIN, sentence, width, 0));
        }
        if !section.table.rows.is_empty() {
            lines.extend(section.table.grid().lines(width));
        }
    }
    written(&lines, style)
}

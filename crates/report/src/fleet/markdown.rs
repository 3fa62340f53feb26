//! A fleet as Markdown.

use super::section::Section;
use crate::escape::escaped;

pub(super) fn render(sections: &[Section]) -> Vec<u8> {
    let mut out = String::from("# kentry fleet\n");
    for section in sections {
        if !section.heading.is_empty() {
            out.push_str(&format!("\n## {}\n", escaped(&section.heading)));
        }
        for sentence in &section.sentences {
            out.push_str(&format!("\n{}\n", escaped(sentence)));
        }
        if !section.table.rows.is_empty() {
            out.push_str(&format!("\n{}", section.table.grid().markdown()));
        }
    }
    out.into_bytes()
}

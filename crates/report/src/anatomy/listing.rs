//! Every instruction of a path, in the order of execution.

use super::text::{head, written};
use super::words::place;
use crate::Style;
use crate::line::{Line, look};
use anatomy::{Document, Instruction};

/// From this width on, bytes are shown without being asked for.
const WIDE: usize = 160;

/// No column of places or texts is wider.
const MOST: usize = 60;

pub(super) fn render(document: &Document, style: &Style) -> Vec<u8> {
    let mut lines = head(document, style.columns());
    let has_bytes = style.verbose || style.columns() >= WIDE;
    let names = document.paths.len() > 1;
    for path in &document.paths {
        lines.push(Line::default());
        if names {
            lines.push(Line::new(look::NAME, &path.configuration.name()));
        }
        let all = &path.anatomy.instructions;
        let widest = |of: &dyn Fn(&Instruction) -> usize| all.iter().map(of).max().unwrap_or(0).min(MOST);
        let places = widest(&|one| place(one).chars().count());
        let texts = widest(&|one| one.text.chars().count());
        lines.extend(all.iter().map(|one| line(one, places, texts, has_bytes)));
    }
    written(&lines, style)
}

fn line(one: &Instruction, places: usize, texts: usize, has_bytes: bool) -> Line {
    let mut line = Line::new(look::FAINT, &one.ring.to_string());
    line.blank(1);
    if has_bytes {
        line.push(look::FAINT, &format!("{:016x} ", one.address));
    }
    let from = line.width();
    line.push(look::PLAIN, &place(one));
    line.blank_to(from + places);
    line.blank(2);
    if has_bytes {
        let from = line.width();
        line.push(look::FAINT, &one.bytes);
        line.blank_to(from + 22);
        line.blank(1);
    }
    let from = line.width();
    line.push(look::NAME, &one.text);
    line.blank_to(from + texts);
    line.blank(2);
    line.push(look::PLAIN, one.part.name());
    if one.idle {
        line.push(look::FAINT, " (idle)");
    }
    line
}

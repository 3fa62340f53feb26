//! Every instruction of a path, in the order of execution.

use super::executed::{self, Executed};
use super::names::names;
use super::text::{columns, head};
use super::words::place;
use crate::Style;
use crate::line::{Line, look, written};
use attribution::anatomy::{Document, Instruction};

/// From this width on, bytes are shown without being asked for.
const WIDE: usize = 160;

/// Below this width there is no room for addresses and bytes.
const NARROW: usize = 80;

/// Columns of an instruction's bytes; few have more.
const BYTES: usize = 22;

pub(super) fn render(document: &Document, style: &Style) -> Vec<u8> {
    let width = columns(style);
    let mut lines = head(document, width);
    let has_bytes = style.verbose && width >= NARROW || width >= WIDE;
    let has_names = document.paths.len() > 1;
    for (path, name) in document.paths.iter().zip(names(document)) {
        lines.push(Line::default());
        lines.extend(has_names.then(|| Line::new(look::NAME, &name)));
        let all = path.anatomy.instructions.iter().map(|one| executed(one, has_bytes));
        lines.extend(executed::lines(&all.collect::<Vec<_>>(), width));
    }
    written(&lines, style)
}

fn executed(one: &Instruction, has_bytes: bool) -> Executed {
    let ring = one.ring;
    let before = match has_bytes {
        true => format!("{ring} {:016x} {:BYTES$} ", one.address, one.bytes),
        false => format!("{ring} "),
    };
    let idle = if one.idle { " (idle)" } else { "" };
    Executed {
        before,
        place: place(one),
        text: one.text.clone(),
        part: format!("{}{idle}", one.part.name()),
        looks: [look::FAINT, look::PLAIN, look::NAME, look::PLAIN],
    }
}

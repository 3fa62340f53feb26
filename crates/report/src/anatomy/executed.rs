//! Instructions below each other: what stands before them, place, text and part.

use crate::grid::GAP;
use crate::line::{Line, wide, wrapped};

/// Where there is no room for columns, an instruction's text stands below its place, indented by so much.
const BELOW: usize = 4;

/// No column takes more of the width than this many fifths.
const FIFTHS: usize = 2;

/// An instruction that was executed, as it is shown.
pub(super) struct Executed {
    /// A sign, a ring, an address: as wide in every line.
    pub before: String,
    pub place: String,
    pub text: String,
    pub part: String,
    /// Of these four.
    pub looks: [anstyle::Style; 4],
}

/// Where the columns are.
struct Columns {
    before: usize,
    place: usize,
    text: usize,
    part: usize,
}

impl Columns {
    fn of(all: &[Executed], width: usize) -> Columns {
        let widest = |of: &dyn Fn(&Executed) -> usize| {
            // What has no text is no instruction, and stands across the columns.
            all.iter().filter(|one| !one.text.is_empty()).map(of).max().unwrap_or(0)
        };
        let before = widest(&|one| wide(&one.before));
        let part = widest(&|one| wide(&one.part));
        let place = widest(&|one| wide(&one.place)).min(width * FIFTHS / 5);
        let rest = width.saturating_sub(before + GAP + place + GAP + GAP + part);
        Columns { before, place, text: widest(&|one| wide(&one.text)).min(rest), part }
    }

    /// Whether a line of columns tells more than several without.
    fn are_wide(&self, all: &[Executed]) -> bool {
        let fits = |one: &&Executed| wide(&one.place) <= self.place && wide(&one.text) <= self.text;
        4 * all.iter().filter(fits).count() >= 3 * all.len() && self.part > 0
    }
}

/// In columns where most have room there, otherwise each in two lines. Nothing is left out.
pub(super) fn lines(all: &[Executed], width: usize) -> Vec<Line> {
    let columns = Columns::of(all, width);
    let are_wide = columns.are_wide(all);
    all.iter()
        .flat_map(
            |one| if are_wide { in_columns(one, &columns, width) } else { stacked(one, &columns, width) },
        )
        .collect()
}

fn begun(one: &Executed, columns: &Columns) -> Line {
    let mut line = Line::new(one.looks[0], &one.before);
    line.blank_to(columns.before);
    line
}

fn in_columns(one: &Executed, columns: &Columns, width: usize) -> Vec<Line> {
    let start = begun(one, columns);
    let indent = start.width() + BELOW;
    let mut lines = wrapped(start, one.looks[1], &one.place, width, indent);
    if one.text.is_empty() {
        return lines;
    }
    let at = columns.before + columns.place + GAP;
    if wide(&one.place) > columns.place {
        lines.push(Line::default());
    }
    let mut line = lines.pop().unwrap_or_default();
    line.blank_to(at);
    let is_long = wide(&one.text) > columns.text;
    lines.extend(wrapped(line, one.looks[2], &one.text, if is_long { width } else { at + columns.text }, at));
    let Some(last) = lines.last_mut() else { return lines };
    if is_long && !last.has_room(&format!("  {}", one.part), width) {
        lines.push(Line::default());
    }
    if let Some(last) = lines.last_mut() {
        let part_at = if is_long { last.width().max(at) } else { at + columns.text };
        last.blank_to(part_at);
        last.blank(GAP);
        last.push(one.looks[3], &one.part);
    }
    lines
}

fn stacked(one: &Executed, columns: &Columns, width: usize) -> Vec<Line> {
    let start = begun(one, columns);
    let indent = columns.before + BELOW;
    let mut lines = wrapped(start, one.looks[1], &one.place, width, indent);
    if one.text.is_empty() {
        return lines;
    }
    let mut below = Line::default();
    below.blank(indent);
    let mut texts = wrapped(below, one.looks[2], &one.text, width, indent);
    let has_room = texts.last().is_some_and(|line| line.has_room(&format!("  {}", one.part), width));
    if !has_room {
        let mut line = Line::default();
        line.blank(indent - GAP);
        texts.push(line);
    }
    if let Some(last) = texts.last_mut() {
        last.blank(GAP);
        last.push(one.looks[3], &one.part);
    }
    lines.extend(texts);
    lines
}

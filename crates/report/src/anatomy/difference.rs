//! What one path executes that another does not: by part, by function, and instruction by instruction.

use super::several;
use super::words::{instructions, place};
use crate::grid::{Cell, Column, Grid};
use attribution::anatomy::{Changed, Difference, Document, Followed, Instruction};
use std::ops::Range;

/// What makes instructions of two kernels the same.
pub(super) const ACROSS: &str = "Between two kernels, instructions are matched by part, function and text, and the rest by part and text alone: an \
                                 instruction that moved to another function is neither less nor more. Addresses and offsets in memory are ignored.";

/// Instructions that stand around what differs.
const AROUND: usize = 1;

/// A difference of the first path and another.
pub(super) struct Shown<'a> {
    /// In words: what they are, and how much more or less is executed.
    pub title: String,
    /// Whether they are of two kernels.
    pub is_across: bool,
    /// By part, and by function; without rows where nothing differs.
    pub tables: [Grid; 2],
    pub lines: Vec<Line<'a>>,
}

/// A line of it.
pub(super) enum Line<'a> {
    /// So many that both execute are left out.
    Gap(usize),
    /// `-`, `+` or a blank, and the instruction.
    Instruction(char, &'a Instruction),
}

/// Every other path against the one that it is compared with.
pub(super) fn all(document: &Document) -> Vec<Shown<'_>> {
    let names = several::called(document);
    let at = |place: usize| Some((document.paths.get(place)?, names.get(place)?.as_str()));
    let of = |place: usize| Some(shown(at(document.base_of(place)?)?, at(place)?));
    (0..document.paths.len()).filter_map(of).collect()
}

fn shown<'a>((first, base): (&'a Followed, &str), (second, other): (&'a Followed, &str)) -> Shown<'a> {
    let difference = Difference::between(first, second);
    let (from, to) = (&first.anatomy, &second.anatomy);
    let Changed { less, more, .. } = difference.total(from, to);
    let title = match (less, more) {
        (0, 0) => format!("{base} → {other}: every instruction is the same"),
        _ => format!("{base} → {other}: {} more, {less} less", instructions(more)),
    };
    let parts = difference.parts(from, to).into_iter().map(|(part, count)| (part.name().to_owned(), count));
    let tables = [
        table("part", parts.collect(), base, other),
        table("function", difference.functions(from, to), base, other),
    ];
    let is_across = !first.configuration.has_kernel_of(&second.configuration);
    Shown { title, is_across, tables, lines: lines(&difference, first, second) }
}

fn table(of: &str, counts: Vec<(String, Changed)>, base: &str, other: &str) -> Grid {
    Grid::of(&counts)
        .column(Column::text(of), |(name, _)| name)
        .column(Column::number("").over(base).spare(1), |(_, count)| count.first)
        .column(Column::number("").over(other).spare(1), |(_, count)| count.second)
        .column(Column::number("less"), |(_, count)| Cell::unless_0(count.less))
        .column(Column::number("more"), |(_, count)| Cell::unless_0(count.more))
        .grid()
}

fn lines<'a>(difference: &Difference, first: &'a Followed, second: &'a Followed) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    let of =
        |path: &'a Followed, range: Range<usize>| path.anatomy.instructions.get(range).unwrap_or_default();
    if difference.is_none() {
        return lines;
    }
    let last = difference.pieces.len() - 1;
    for (place, piece) in difference.pieces.iter().enumerate() {
        if !piece.same {
            lines.extend(of(first, piece.first.clone()).iter().map(|one| Line::Instruction('-', one)));
            lines.extend(of(second, piece.second.clone()).iter().map(|one| Line::Instruction('+', one)));
            continue;
        }
        let same = of(first, piece.first.clone());
        let (before, behind) = (if place == 0 { 0 } else { AROUND }, if place == last { 0 } else { AROUND });
        // A line for one is no longer than a line for its count.
        if same.len() <= before + behind + 1 {
            lines.extend(same.iter().map(|one| Line::Instruction(' ', one)));
            continue;
        }
        lines.extend(same.iter().take(before).map(|one| Line::Instruction(' ', one)));
        lines.push(Line::Gap(same.len() - before - behind));
        lines.extend(same.iter().skip(same.len() - behind).map(|one| Line::Instruction(' ', one)));
    }
    lines
}

/// As text: the sign, the place, the instruction and its part; or how many are left out.
pub(super) fn cells(line: &Line) -> [String; 4] {
    match line {
        Line::Gap(count) => {
            [" ".into(), format!("… {count} that both execute"), String::new(), String::new()]
        }
        Line::Instruction(sign, one) => {
            [sign.to_string(), place(one), one.text.clone(), one.part.name().to_owned()]
        }
    }
}

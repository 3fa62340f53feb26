//! What one path executes that another does not, instruction by instruction.

use super::words::place;
use anatomy::{Difference, Document, Followed, Instruction, PartDifference};
use std::ops::Range;

/// Instructions that stand around what differs.
const AROUND: usize = 1;

/// A difference of the first path and another.
pub(super) struct Shown<'a> {
    /// In words: what they are, and how much more or less is executed.
    pub title: String,
    pub parts: Vec<PartDifference>,
    pub lines: Vec<Shown1<'a>>,
}

/// A line of it.
pub(super) enum Shown1<'a> {
    /// So many that both execute are left out.
    Gap(usize),
    /// `-`, `+` or a blank, and the instruction.
    Instruction(char, &'a Instruction),
}

/// Every other path against the first.
pub(super) fn all(document: &Document) -> Vec<Shown<'_>> {
    let Some((first, others)) = document.paths.split_first() else { return Vec::new() };
    others.iter().map(|other| shown(first, other)).collect()
}

fn shown<'a>(first: &'a Followed, second: &'a Followed) -> Shown<'a> {
    let difference = Difference::of(&first.anatomy, &second.anatomy);
    let parts = difference.parts(&first.anatomy, &second.anatomy);
    let count = |of: fn(&PartDifference) -> usize| parts.iter().map(of).sum::<usize>();
    let (less, more) = (count(|part| part.first), count(|part| part.second));
    let names = format!("{} → {}", first.configuration.name(), second.configuration.name());
    let title = match (less, more) {
        (0, 0) => format!("{names}: every instruction is the same"),
        _ => format!("{names}: {more} instructions more, {less} less"),
    };
    Shown { title, lines: lines(&difference, first, second), parts }
}

fn lines<'a>(difference: &Difference, first: &'a Followed, second: &'a Followed) -> Vec<Shown1<'a>> {
    let mut lines = Vec::new();
    let of =
        |path: &'a Followed, range: Range<usize>| path.anatomy.instructions.get(range).unwrap_or_default();
    if difference.is_none() {
        return lines;
    }
    let last = difference.pieces.len() - 1;
    for (place, piece) in difference.pieces.iter().enumerate() {
        if !piece.same {
            lines.extend(of(first, piece.first.clone()).iter().map(|one| Shown1::Instruction('-', one)));
            lines.extend(of(second, piece.second.clone()).iter().map(|one| Shown1::Instruction('+', one)));
            continue;
        }
        let same = of(first, piece.first.clone());
        let (before, behind) = (if place == 0 { 0 } else { AROUND }, if place == last { 0 } else { AROUND });
        if same.len() <= before + behind {
            lines.extend(same.iter().map(|one| Shown1::Instruction(' ', one)));
            continue;
        }
        lines.extend(same.iter().take(before).map(|one| Shown1::Instruction(' ', one)));
        lines.push(Shown1::Gap(same.len() - before - behind));
        lines.extend(same.iter().skip(same.len() - behind).map(|one| Shown1::Instruction(' ', one)));
    }
    lines
}

/// As text: the sign, the place, the instruction and its part; or how many are left out.
pub(super) fn cells(line: &Shown1) -> [String; 4] {
    match line {
        Shown1::Gap(count) => {
            [" ".into(), format!("… {count} that both execute"), String::new(), String::new()]
        }
        Shown1::Instruction(sign, one) => {
            [sign.to_string(), place(one), one.text.clone(), one.part.name().to_owned()]
        }
    }
}

/// `pti: 8 more, 1 less; pcid: 1 more`
pub(super) fn parts_in_words(parts: &[PartDifference]) -> String {
    let amount = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let words = parts.iter().map(|part| {
        let both = [amount(part.second, "more"), amount(part.first, "less")];
        let both: Vec<String> = both.into_iter().flatten().collect();
        format!("{}: {}", part.part.name(), both.join(", "))
    });
    words.collect::<Vec<_>>().join("; ")
}

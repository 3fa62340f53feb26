//! What one path executes that another does not.

use crate::{Anatomy, Instruction, Part};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Paths that have next to nothing in common are not compared to the end: what differs is then told, but not in the fewest instructions.
const LONGEST: Duration = Duration::from_secs(5);

/// Two paths beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// From the first instruction to the last.
    pub pieces: Vec<Piece>,
}

/// A piece of both paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it is in the first path.
    pub first: Range<usize>,
    /// Where it is in the second.
    pub second: Range<usize>,
    /// Whether both execute the same.
    pub same: bool,
}

/// What a part has in one path alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartDifference {
    /// The part.
    pub part: Part,
    /// Instructions that the first path alone executes.
    pub first: usize,
    /// Instructions that the second alone executes.
    pub second: usize,
}

impl Difference {
    /// Aligns two paths by part, function and text. Addresses do not count, nor do distances of jumps.
    pub fn of(first: &Anatomy, second: &Anatomy) -> Difference {
        let deadline = Instant::now() + LONGEST;
        let found =
            capture_diff_slices_deadline(Algorithm::Myers, &keys(first), &keys(second), Some(deadline));
        let piece = |found: DiffOp| Piece {
            first: found.old_range(),
            second: found.new_range(),
            same: matches!(found, DiffOp::Equal { .. }),
        };
        Difference { pieces: found.into_iter().map(piece).collect() }
    }

    /// Whether both execute the same.
    pub fn is_none(&self) -> bool {
        self.pieces.iter().all(|piece| piece.same)
    }

    /// What differs, by part, in the order of [`Part::ALL`].
    pub fn parts(&self, first: &Anatomy, second: &Anatomy) -> Vec<PartDifference> {
        let differing = || self.pieces.iter().filter(|piece| !piece.same);
        let count = |anatomy: &Anatomy, ranges: &mut dyn Iterator<Item = Range<usize>>, part: Part| {
            let all = ranges.flat_map(|range| anatomy.instructions.get(range).unwrap_or_default());
            all.filter(|instruction| instruction.part == part).count()
        };
        let of = |part: &Part| PartDifference {
            part: *part,
            first: count(first, &mut differing().map(|piece| piece.first.clone()), *part),
            second: count(second, &mut differing().map(|piece| piece.second.clone()), *part),
        };
        Part::ALL.iter().map(of).filter(|one| one.first + one.second > 0).collect()
    }
}

type Key<'a> = (Part, &'a str, String);

fn keys(anatomy: &Anatomy) -> Vec<Key<'_>> {
    anatomy.instructions.iter().map(key).collect()
}

/// What makes two instructions the same: part, function, and text without distances behind names.
fn key(instruction: &Instruction) -> Key<'_> {
    let mut text = String::new();
    let mut rest = instruction.text.as_str();
    while let Some((before, behind)) = rest.split_once("+0x") {
        text.push_str(before);
        rest = behind.trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
    }
    text.push_str(rest);
    (instruction.part, instruction.function_name(), text)
}

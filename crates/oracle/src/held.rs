//! How much of a path was held against the truth, and what of it is wrong.

use crate::frame::Frame;
use attribution::anatomy::{Anatomy, Part};

/// Of a hundred instructions of a path, so many may be in a wrong part.
const MOST_WRONG: f64 = 0.5;

/// An instruction in a wrong part.
#[derive(Debug)]
pub struct Wrong {
    /// Its place in the path.
    pub place: usize,
    /// The parts of which one would be right.
    pub expected: Vec<Part>,
    /// The functions that it is in, the innermost first; none where a table alone says what is right.
    pub frames: Vec<Frame>,
}

impl Wrong {
    /// In a line.
    pub fn in_words(&self, anatomy: &Anatomy) -> String {
        let Some(one) = anatomy.instructions.get(self.place) else { return String::new() };
        let offset = one.function.as_ref().map_or(0, |place| place.offset);
        let frame = |frame: &Frame| format!("{}:{}", frame.function, frame.line);
        let frames: Vec<String> = self.frames.iter().take(5).map(frame).collect();
        let expected: Vec<&str> = self.expected.iter().map(|part| part.name()).collect();
        format!(
            "{}+{offset:#x} {}: {}, not {}; {}",
            one.function_name(),
            one.text,
            one.part.name(),
            expected.join(" or "),
            frames.join(" < ")
        )
    }
}

/// A path that was held against the truth.
#[derive(Debug, Default)]
pub struct Held {
    /// Its instructions.
    pub all: usize,
    /// Of so many nothing is known.
    pub unknown: usize,
    /// For so many, right or wrong, one part alone is right; for the others that are known, one of several.
    pub alone: usize,
    /// Those in a part that is not right.
    pub wrong: Vec<Wrong>,
}

impl Held {
    /// Those of which something is known.
    pub fn known(&self) -> usize {
        self.all - self.unknown
    }

    /// Of a hundred of these, so many are in a wrong part.
    pub fn rate(&self) -> f64 {
        100.0 * self.wrong.len() as f64 / self.known().max(1) as f64
    }

    /// A row of a table, but for what it was held by: kernel and path; all instructions, those of which something is known, those with one right
    /// part alone, those in a wrong one, and their rate.
    pub(crate) fn row(&self, release: &str, path: &str) -> String {
        let (known, wrong, rate) = (self.known(), self.wrong.len(), self.rate());
        format!("| {release} | {path} | {} | {known} | {} | {wrong} | {rate:.2} % |", self.all, self.alone)
    }

    /// Why a path is not as right as it must be, with each wrong instruction in a line of its own; none where it is. Of at least such a share of
    /// it something must be known.
    pub(crate) fn fault(&self, release: &str, path: &str, anatomy: &Anatomy, least: f64) -> Option<String> {
        let row = self.row(release, path);
        if self.known() as f64 <= least * self.all as f64 {
            return Some(row + ": of too many instructions nothing is known");
        }
        let each = self.wrong.iter().map(|wrong| format!("\n  {}", wrong.in_words(anatomy)));
        (self.rate() > MOST_WRONG).then(|| row + &each.collect::<String>())
    }

    /// Holds an instruction in this part against the parts of which one is right; none where nothing is known.
    pub(crate) fn hold(
        &mut self,
        part: Part,
        expected: Option<Vec<Part>>,
        frames: impl FnOnce() -> Vec<Frame>,
    ) {
        let place = self.all;
        self.all += 1;
        match expected {
            None => self.unknown += 1,
            Some(mut expected) => {
                expected.sort_unstable();
                expected.dedup();
                self.alone += usize::from(expected.len() == 1);
                if !expected.contains(&part) {
                    self.wrong.push(Wrong { place, expected, frames: frames() });
                }
            }
        }
    }
}

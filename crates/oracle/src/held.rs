//! How much of a path was held against the truth, and what of it is wrong.

use crate::frame::Frame;
use attribution::anatomy::{Anatomy, Part};

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

    /// The share of these in a wrong part.
    pub fn rate(&self) -> f64 {
        self.wrong.len() as f64 / self.known().max(1) as f64
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

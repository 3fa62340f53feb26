use std::collections::VecDeque;

/// Instructions that a processor has in flight at once. Where `lfence` does not order, a stamp is taken while so many
/// before it may still be executing.
pub const IN_FLIGHT: f64 = 500.0;

/// Instructions executed one after the other.
struct Piece {
    instructions: f64,
    start: f64,
    end: f64,
}

/// When a stamp is read: at its place where stamps are ordered, and otherwise as soon as it comes into the processor,
/// which is when the instruction that stands [`IN_FLIGHT`] before it is done.
pub(crate) struct Pipeline {
    ordered: bool,
    /// What may be in flight, the latest last.
    pieces: VecDeque<Piece>,
    /// How many instructions these are.
    instructions: f64,
    /// When the last stamp was read: stamps do not overtake each other.
    last: f64,
}

impl Pipeline {
    pub fn new(ordered: bool) -> Pipeline {
        Pipeline { ordered, pieces: VecDeque::new(), instructions: 0.0, last: 0.0 }
    }

    /// So many instructions are executed between two times.
    pub fn enter(&mut self, instructions: f64, start: f64, end: f64) {
        if self.ordered {
            return;
        }
        self.pieces.push_back(Piece { instructions, start, end });
        self.instructions += instructions;
        while let Some(first) = self.pieces.front()
            && self.instructions - first.instructions >= IN_FLIGHT
        {
            self.instructions -= first.instructions;
            self.pieces.pop_front();
        }
    }

    /// The kernel waits until all is done.
    pub fn drain(&mut self) {
        self.pieces.clear();
        self.instructions = 0.0;
    }

    /// When a stamp is read that stands at `now` in the order of the program.
    pub fn read_at(&mut self, now: f64) -> f64 {
        if self.ordered {
            return now;
        }
        self.last = self.in_flight_since(now).max(self.last);
        self.last
    }

    /// When the oldest instruction that may still be in flight at `now` began.
    fn in_flight_since(&self, now: f64) -> f64 {
        let (mut left, mut time) = (IN_FLIGHT, now);
        for piece in self.pieces.iter().rev() {
            if piece.instructions > left {
                return piece.end - (piece.end - piece.start) * left / piece.instructions;
            }
            left -= piece.instructions;
            time = piece.start;
        }
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordered_stamp_is_read_at_its_place() {
        let mut pipeline = Pipeline::new(true);
        pipeline.enter(256.0, 0.0, 768.0);
        assert_eq!(pipeline.read_at(768.0), 768.0);
    }

    #[test]
    fn another_stamp_is_read_as_many_instructions_early_as_are_in_flight() {
        let mut pipeline = Pipeline::new(false);
        pipeline.enter(256.0, 0.0, 768.0);
        assert_eq!(pipeline.read_at(768.0), 0.0);
        pipeline.enter(2000.0, 768.0, 6768.0);
        assert_eq!(pipeline.read_at(6768.0), 5268.0);
        pipeline.drain();
        assert_eq!(pipeline.read_at(7000.0), 7000.0);
    }
}

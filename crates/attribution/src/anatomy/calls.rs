//! Which calls of functions a path is in, instruction by instruction.

use crate::anatomy::functions;
use crate::anatomy::symbols::Symbols;
use iced_x86::{FlowControl, Instruction};
use record::trace::Executed;

/// A call that has not returned.
struct Frame {
    /// Where it returns to.
    back: u64,
    /// Which one of the path's calls it is, in the order in which they were made.
    call: usize,
}

/// What changes the stack to another task's.
const SWITCH: &str = "__switch_to_asm";

/// Follows calls and returns. A jump to another function stays in the call that it is in.
pub(crate) struct Calls {
    frames: Vec<Frame>,
    /// While another task runs: so many calls have not returned of the one that is followed.
    floor: usize,
    made: usize,
    /// What no call of the path leads to: the way in from the program, and after a switch of tasks what the other one had called.
    way: usize,
}

/// Of an instruction: which call it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InCall {
    /// How many calls have not returned.
    pub depth: u32,
    /// Which of the path's calls is the innermost; the way in from the program is one, too.
    pub call: usize,
}

impl Calls {
    /// The calls of a whole path.
    pub fn of(steps: &[Executed], decoded: &[Instruction], symbols: &Symbols) -> Vec<InCall> {
        let mut calls = Calls { frames: Vec::new(), floor: 0, made: 0, way: 0 };
        let mut all = Vec::with_capacity(steps.len());
        let switches =
            |step: &Executed| symbols.place(step.address).is_some_and(|place| place.name == SWITCH);
        // The first leads to other tasks, the last back.
        let first = steps.iter().position(switches);
        let last = steps.iter().rposition(switches);
        for (place, step) in steps.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|last| steps.get(last).zip(decoded.get(last)));
            if let Some((before, instruction)) = before {
                calls.go(before, instruction, step, symbols);
            }
            if Some(place) == first {
                calls.floor = calls.frames.len();
            } else if Some(place) == last {
                calls.frames.truncate(calls.floor);
                calls.floor = 0;
            }
            all.push(calls.here());
        }
        all
    }

    fn here(&self) -> InCall {
        InCall {
            depth: u32::try_from(self.frames.len()).unwrap_or(u32::MAX),
            call: self.frames.last().map_or(self.way, |frame| frame.call),
        }
    }

    /// From one step to the next.
    fn go(&mut self, last: &Executed, instruction: &Instruction, step: &Executed, symbols: &Symbols) {
        let next = last.address.wrapping_add(instruction.len() as u64);
        match instruction.flow_control() {
            _ if last.ring != step.ring => {
                self.frames.clear();
                self.floor = 0;
                self.made += 1;
                self.way = self.made;
            }
            // A call of the next instruction only puts its address on the stack.
            FlowControl::Call | FlowControl::IndirectCall if step.address != next => self.push(next),
            FlowControl::Return => self.pop(step.address, symbols),
            FlowControl::Next if step.address != next && step.address != last.address => {
                // An exception in the kernel: what handles it returns here, or behind.
                let is_entry = symbols.place(step.address).is_some_and(|place| place.offset == 0);
                if is_entry {
                    self.push(last.address);
                }
            }
            _ => (),
        }
    }

    fn push(&mut self, back: u64) {
        self.made += 1;
        self.frames.push(Frame { back, call: self.made });
    }

    /// To the call that is returned to, if there is one. Otherwise a thunk's `ret` is a jump in its call: it leaves the calls in thunks
    /// alone.
    fn pop(&mut self, to: u64, symbols: &Symbols) {
        let found =
            self.frames.iter().rposition(|frame| frame.back == to).filter(|found| *found >= self.floor);
        let is_in_thunk =
            |frame: &Frame| symbols.place(frame.back).is_some_and(|place| functions::is_thunk(&place.name));
        let in_thunks = self.frames.iter().rev().take_while(|frame| is_in_thunk(frame)).count();
        let left = self.frames.len().saturating_sub(in_thunks.max(1));
        self.frames.truncate(found.unwrap_or(left).max(self.floor));
        if found.is_none() && self.frames.is_empty() {
            // To what was called before the path began.
            self.made += 1;
            self.way = self.made;
        }
    }
}

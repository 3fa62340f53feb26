//! A path that is being told apart: its instructions, and what is known of each so far.

use crate::anatomy::calls::InCall;
use crate::anatomy::functions::{self, Region};
use crate::anatomy::{Confidence, Location, Part};
use iced_x86::Instruction;
use std::ops::RangeInclusive;

/// An instruction of a path.
pub(crate) struct Node {
    pub ring: u8,
    pub code: Instruction,
    pub place: Option<Location>,
    pub call: InCall,
    /// Whether it stands in code that boot may have replaced.
    pub is_alternative: bool,
    /// Whether it does nothing, or jumps over what is switched off, in the place of what boot may put there.
    pub is_idle: bool,
    /// For a jump that boot has put in the place of a nop: what the kernel's file has behind it. Empty for all others.
    pub skips: Vec<Instruction>,
    /// What of the CPU's own data it has an operand in, by its name and the offset in it.
    pub own: Option<Location>,
    /// What its function belongs to; none in the program.
    pub region: Option<Region>,
    /// What it belongs to, as soon as that is known.
    pub part: Option<(Part, Confidence)>,
}

impl Node {
    /// The function's name; empty where there is none.
    pub fn name(&self) -> &str {
        self.place.as_ref().map_or("", |place| &place.name)
    }

    pub fn is_in(&self, part: Part) -> bool {
        self.region == Some(Region::Of(part))
    }

    /// In the assembler's code of an entry, in the code of its C function, or in the work around it.
    pub fn is_around(&self) -> bool {
        self.region == Some(Region::Entry) || self.is_in(Part::Handler) || self.is_in(Part::Work)
    }
}

/// The nodes of a path.
pub(crate) struct Path(pub Vec<Node>);

impl Path {
    /// Says what an instruction belongs to, unless that is known already.
    pub fn tell(&mut self, place: usize, part: Part, confidence: Confidence) {
        if let Some(node) = self.0.get_mut(place) {
            node.part.get_or_insert((part, confidence));
        }
    }

    /// The same by a pattern, of what does nothing for a part that is switched off, or is a nop in its place.
    pub fn tell_idle(&mut self, place: usize, part: Part) {
        if let Some(node) = self.0.get_mut(place).filter(|node| node.part.is_none()) {
            node.part = Some((part, Confidence::Pattern));
            node.is_idle = true;
        }
    }

    /// The same by a pattern, of several.
    pub fn tell_pattern(&mut self, places: RangeInclusive<usize>, part: Part) {
        places.for_each(|place| self.tell(place, part, Confidence::Pattern));
    }

    pub fn code(&self, place: usize) -> Option<&Instruction> {
        self.0.get(place).map(|node| &node.code)
    }

    /// What a call calls, thunks left out.
    pub fn called(&self, call: usize) -> Option<&Node> {
        self.0.get(call + 1..)?.iter().find(|node| !functions::is_thunk(node.name()))
    }

    /// The places of a call's own instructions before this one, the nearest first: what it calls is left out.
    pub fn before(&self, place: usize) -> impl Iterator<Item = usize> {
        let call = self.0.get(place).map(|node| node.call.call);
        (0..place).rev().filter(move |other| self.0.get(*other).map(|node| node.call.call) == call)
    }

    /// The same behind it.
    pub fn behind(&self, place: usize) -> impl Iterator<Item = usize> {
        let call = self.0.get(place).map(|node| node.call.call);
        (place + 1..self.0.len()).filter(move |other| self.0.get(*other).map(|node| node.call.call) == call)
    }
}

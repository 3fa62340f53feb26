//! The code that a guest executes, read once and in blocks: an instruction costs less to read than to step.

use crate::guest::debugger::{Debugger, Error};
use iced_x86::{Decoder, DecoderError, DecoderOptions};
use std::collections::HashMap;
use std::io::{Read, Write};

/// A block lies in one page.
const BLOCK: u64 = 512;

/// The longest instruction (SDM vol. 2, 2.3.11).
const LONGEST: usize = 15;

/// Blocks of code that were read, by ring and address: what a program sees at an address is not what the kernel has to have there.
/// Nothing is known of a block that is not there.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    blocks: HashMap<(u8, u64), Option<Vec<u8>>>,
}

impl Memory {
    /// Another program runs, or the kernel has run on, which may replace code of its own (static keys).
    pub fn forget(&mut self) {
        self.blocks.clear();
    }

    /// The bytes of the instruction at this address. They are none where there is no memory, and as long as the longest instruction, or
    /// as memory is there, where they are no instruction: what is executed then is a fault.
    pub fn instruction<C: Read + Write>(
        &mut self,
        debugger: &mut Debugger<C>,
        address: u64,
        ring: u8,
        long: bool,
    ) -> Result<Vec<u8>, Error> {
        let mut bytes = self.from(debugger, address, ring)?;
        let left = LONGEST.saturating_sub(bytes.len());
        if left > 0 && !bytes.is_empty() {
            let next = address.wrapping_add(bytes.len() as u64);
            bytes.extend(self.from(debugger, next, ring)?.iter().take(left));
        }
        bytes.truncate(LONGEST);
        let mut decoder = Decoder::with_ip(if long { 64 } else { 32 }, &bytes, address, DecoderOptions::NONE);
        let length = decoder.decode().len();
        if decoder.last_error() == DecoderError::None {
            bytes.truncate(length);
        }
        Ok(bytes)
    }

    /// What its block has from this address on.
    fn from<C: Read + Write>(
        &mut self,
        debugger: &mut Debugger<C>,
        address: u64,
        ring: u8,
    ) -> Result<Vec<u8>, Error> {
        let begin = address & !(BLOCK - 1);
        let block = match self.blocks.get(&(ring, begin)) {
            Some(block) => block,
            None => {
                let read = debugger.memory(begin, BLOCK as usize)?;
                self.blocks.entry((ring, begin)).or_insert(read)
            }
        };
        let known = block.as_ref().and_then(|bytes| bytes.get((address - begin) as usize..));
        Ok(known.unwrap_or_default().to_vec())
    }
}

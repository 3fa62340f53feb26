//! The symbols of the guest's kernel, as its program has packed them in its memory. Whoever follows reads them there: through a port of the
//! machine, each of their four million bytes would be a call of QEMU's.

use crate::guest::debugger::{Debugger, Error, MOST_MEMORY};
use record::trace::Symbol;
use std::io::{Read, Write};

/// The most symbols: a kernel has less than half a million functions and data.
const MOST_SYMBOLS: usize = 1 << 20;

/// The most bytes: the symbols of a kernel take less than eight MiB.
const MOST: usize = 16 << 20;

/// Of each its address in eight bytes, the length of its name in one, and the name; names are shorter than 256 letters
/// (`KSYM_NAME_LEN` is 512 since 6.1, which only Rust's names reach), and cut where they are not.
pub fn packed(symbols: &[Symbol]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for symbol in symbols {
        let most = symbol.name.len().min(usize::from(u8::MAX));
        let end = (0..=most).rev().find(|end| symbol.name.is_char_boundary(*end)).unwrap_or(0);
        let name = symbol.name.get(..end).unwrap_or_default();
        bytes.extend(symbol.address.to_le_bytes());
        bytes.push(name.len() as u8);
        bytes.extend(name.as_bytes());
    }
    bytes
}

/// Those in so many bytes of the guest's memory.
///
/// # Errors
/// When these are no symbols, or too many; and those of the conversation.
pub(crate) fn read<C: Read + Write>(
    debugger: &mut Debugger<C>,
    address: u64,
    length: u64,
) -> Result<Vec<Symbol>, Error> {
    let length = usize::try_from(length).ok().filter(|length| *length <= MOST).ok_or(Error::Symbols)?;
    let mut bytes = Vec::new();
    while bytes.len() < length {
        let at = address.wrapping_add(bytes.len() as u64);
        let piece = debugger.memory(at, MOST_MEMORY.min(length - bytes.len()))?;
        bytes.extend(piece.ok_or(Error::Symbols)?);
    }
    unpacked(&bytes).ok_or(Error::Symbols)
}

fn unpacked(mut bytes: &[u8]) -> Option<Vec<Symbol>> {
    let mut symbols = Vec::new();
    while !bytes.is_empty() {
        let (address, rest) = bytes.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first()?;
        let (name, rest) = rest.split_at_checked((*length).into())?;
        if symbols.len() == MOST_SYMBOLS {
            return None;
        }
        let name = std::str::from_utf8(name).ok()?.to_owned();
        symbols.push(Symbol { address: u64::from_le_bytes(*address), name });
        bytes = rest;
    }
    Some(symbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(address: u64, name: &str) -> Symbol {
        Symbol { address, name: name.into() }
    }

    #[test]
    fn symbols_come_back_as_they_were_packed() {
        let all = [symbol(1, "a"), symbol(u64::MAX, &"n".repeat(255)), symbol(7, "")];
        assert_eq!(unpacked(&packed(&all)).unwrap(), all);
    }

    #[test]
    fn a_name_that_is_too_long_is_cut() {
        let read = unpacked(&packed(&[symbol(1, &"n".repeat(300))])).unwrap();
        assert_eq!(read[0].name.len(), 255);
    }

    /// Its replacement characters made it longer than a name can be, so that what was read could not be written.
    #[test]
    fn a_symbol_whose_name_is_no_text_was_read_all_the_same() {
        let name = [0xff; 200];
        let bytes = [&1_u64.to_le_bytes()[..], &[200], &name].concat();
        assert_eq!(unpacked(&bytes), None);
        let long = symbol(1, &"é".repeat(200));
        let short = Symbol { name: "é".repeat(127), ..long.clone() };
        assert_eq!(unpacked(&packed(&[long])), Some(vec![short]));
    }

    #[test]
    fn what_is_cut_is_none() {
        for bytes in [&b"12345678\x02a"[..], b"12345678", b"1234"] {
            assert_eq!(unpacked(bytes), None, "{bytes:?}");
        }
    }

    /// Answers each question with so many bytes as it asks for, or that there are none.
    struct Memory {
        is_there: bool,
        said: Vec<u8>,
        asked: usize,
    }

    impl Write for Memory {
        fn write(&mut self, asked: &[u8]) -> std::io::Result<usize> {
            let text = std::str::from_utf8(asked).unwrap();
            let count =
                text.split([',', '#']).nth(1).map(|digits| usize::from_str_radix(digits, 16).unwrap());
            let answer = if self.is_there { "61".repeat(count.unwrap()) } else { "E14".into() };
            let sum = answer.bytes().fold(0u8, u8::wrapping_add);
            self.said.extend(format!("${answer}#{sum:02x}").into_bytes());
            self.asked += 1;
            Ok(asked.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Read for Memory {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = buffer.len().min(self.said.len());
            buffer[..count].copy_from_slice(&self.said.drain(..count).collect::<Vec<_>>());
            Ok(count)
        }
    }

    #[test]
    fn a_guests_memory_is_read_in_pieces_and_not_believed() {
        let read = |is_there, length| {
            let mut debugger = Debugger::new(Memory { is_there, said: Vec::new(), asked: 0 });
            read(&mut debugger, 0x1000, length)
        };
        // Each is 97 letters long, as its letters say.
        let whole = (8 + 1 + 97) * 30;
        let symbols = read(true, whole).unwrap();
        assert_eq!(
            (symbols.len(), symbols[29].name.len(), symbols[0].address),
            (30, 97, 0x6161_6161_6161_6161)
        );
        assert_eq!(read(true, 0).unwrap(), []);
        for (is_there, length) in [(true, whole - 1), (false, whole), (true, u64::MAX), (true, 1 << 25)] {
            assert!(matches!(read(is_there, length), Err(Error::Symbols)), "{is_there} {length}");
        }
    }
}

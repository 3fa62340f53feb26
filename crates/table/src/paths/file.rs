//! A kernel's ELF file: symbols, and what lies at an address.

use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeMap;

/// What can be wrong with a kernel's file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not an ELF file.
    #[error("the kernel's file cannot be read: {0}")]
    Elf(#[from] object::Error),
    /// A symbol is missing.
    #[error("the kernel has no symbol {0}")]
    NoSymbol(String),
    /// A table points to where the file has nothing.
    #[error("the kernel's file has nothing at {0:#x}")]
    NothingAt(u64),
}

/// A kernel's file, read.
pub struct File<'a> {
    file: object::File<'a>,
    symbols: BTreeMap<String, u64>,
}

impl<'a> File<'a> {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::Elf`] when it is no ELF file.
    pub fn read(bytes: &'a [u8]) -> Result<File<'a>, Error> {
        let file = object::File::parse(bytes)?;
        let named =
            file.symbols().filter_map(|symbol| Some((symbol.name().ok()?.to_string(), symbol.address())));
        Ok(File { symbols: named.filter(|(name, _)| !name.is_empty()).collect(), file })
    }

    /// The address of a symbol.
    ///
    /// # Errors
    /// [`Error::NoSymbol`]
    pub fn symbol(&self, name: &str) -> Result<u64, Error> {
        self.symbols.get(name).copied().ok_or_else(|| Error::NoSymbol(name.to_string()))
    }

    /// Every symbol.
    pub fn symbols(&self) -> impl Iterator<Item = (&str, u64)> {
        self.symbols.iter().map(|(name, address)| (name.as_str(), *address))
    }

    /// So many bytes at an address.
    ///
    /// # Errors
    /// [`Error::NothingAt`] when they are not all in one section.
    pub fn bytes(&self, address: u64, count: u64) -> Result<&'a [u8], Error> {
        let nothing = || Error::NothingAt(address);
        if count == 0 {
            return Ok(&[]);
        }
        let part = |rest: &'a [u8]| rest.get(..usize::try_from(count).ok()?);
        self.rest(address).and_then(part).ok_or_else(nothing)
    }

    /// What lies at an address, to the end of its section.
    fn rest(&self, address: u64) -> Option<&'a [u8]> {
        let inside = |start: u64, size: u64| address >= start && address - start < size;
        let mut sections = self.file.sections();
        let section =
            sections.find(|section| section.size() > 0 && inside(section.address(), section.size()))?;
        section.data().ok()?.get(usize::try_from(address - section.address()).ok()?..)
    }

    /// How many bits its code has: 64 or 32.
    pub fn bits(&self) -> u32 {
        if self.file.is_64() { 64 } else { 32 }
    }

    /// How many bytes a word of its tables has.
    pub fn word_bytes(&self) -> u64 {
        u64::from(self.bits() / 8)
    }

    /// The little-endian word at an address.
    ///
    /// # Errors
    /// [`Error::NothingAt`]
    pub fn word(&self, address: u64) -> Result<u64, Error> {
        let nothing = || Error::NothingAt(address);
        let bytes = self.bytes(address, self.word_bytes())?;
        match self.bits() {
            64 => bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)).ok_or_else(nothing),
            _ => bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes).into()).ok_or_else(nothing),
        }
    }

    /// The little-endian number of 4 bytes at an address.
    ///
    /// # Errors
    /// [`Error::NothingAt`]
    pub(crate) fn long(&self, address: u64) -> Result<u32, Error> {
        let bytes = self.bytes(address, 4)?.first_chunk().ok_or(Error::NothingAt(address))?;
        Ok(u32::from_le_bytes(*bytes))
    }

    /// The words between two symbols, `<name>_start` and `<name>_end`.
    ///
    /// # Errors
    /// [`Error`] where one of them is missing, or there is nothing between them.
    pub fn table(&self, name: &str) -> Result<Vec<u64>, Error> {
        let (start, end) = (self.symbol(&format!("{name}_start"))?, self.symbol(&format!("{name}_end"))?);
        (start..end).step_by(self.word_bytes() as usize).map(|at| self.word(at)).collect()
    }

    /// The text at an address, to its NUL.
    pub(crate) fn text(&self, address: u64) -> Result<String, Error> {
        let rest = self.rest(address).ok_or(Error::NothingAt(address))?;
        let bytes = rest.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

//! Pages that the decoders of the crate `parquet` can take. They panic over some that are damaged: indices into a dictionary that is not there,
//! a run whose length never ends, levels or flags that are shorter than they say. So pages are looked at before; values are not.

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as Read};
use parquet::schema::types::ColumnDescriptor;

/// Pages of a column, each of them looked at.
pub(super) struct Checked {
    pages: Box<dyn PageReader>,
    /// The greatest level of repetition, and that of definition.
    levels: [i16; 2],
    /// No value has fewer bytes; 0 where several share one.
    least: usize,
    has_dictionary: bool,
}

impl Checked {
    /// Of a column whose values have at least so many bytes each.
    pub(super) fn new(pages: Box<dyn PageReader>, column: &ColumnDescriptor, least: usize) -> Checked {
        let levels = [column.max_rep_level(), column.max_def_level()];
        Checked { pages, levels, least, has_dictionary: false }
    }

    fn check(&mut self, page: &Page) -> Result<(), String> {
        match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                self.has_dictionary = true;
                let least = (*num_values as usize).saturating_mul(self.least);
                // Room is made for all of them before the first is read.
                (self.least > 0 && least <= buf.len())
                    .then_some(())
                    .ok_or_else(|| format!("a dictionary of {} bytes has no {num_values} values", buf.len()))
            }
            Page::DataPage { buf, encoding, def_level_encoding, rep_level_encoding, .. } => {
                let encodings = [*rep_level_encoding, *def_level_encoding];
                let mut rest: &[u8] = buf;
                for (greatest, encoding) in self.levels.into_iter().zip(encodings) {
                    if greatest > 0 {
                        let (levels, behind) = prefixed(rest, encoding)?;
                        runs(levels, width(greatest))?;
                        rest = behind;
                    }
                }
                self.values(*encoding, rest)
            }
            Page::DataPageV2 { buf, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let mut rest: &[u8] = buf;
                for (greatest, bytes) in
                    self.levels.into_iter().zip([rep_levels_byte_len, def_levels_byte_len])
                {
                    let (levels, behind) = rest.split_at_checked(*bytes as usize).ok_or_else(short)?;
                    runs(levels, width(greatest))?;
                    rest = behind;
                }
                self.values(*encoding, rest)
            }
        }
    }

    fn values(&self, encoding: Encoding, bytes: &[u8]) -> Result<(), String> {
        // The format has two names for indices into a dictionary.
        let is_index = matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        match bytes.split_first() {
            _ if encoding == Encoding::PLAIN => Ok(()),
            _ if is_index && !self.has_dictionary => Err("it has no dictionary for its indices".to_owned()),
            Some((width, indices)) if is_index => runs(indices, usize::from(*width)),
            None if is_index => Err(short()),
            _ => Err(format!("kentry does not read the encoding {encoding}; write PLAIN or a dictionary")),
        }
    }
}

fn short() -> String {
    "a page is shorter than it says".to_owned()
}

/// Bits of a level.
fn width(greatest: i16) -> usize {
    (i16::BITS - greatest.leading_zeros()) as usize
}

/// Levels with their length before them, and what stands behind them.
fn prefixed(bytes: &[u8], encoding: Encoding) -> Result<(&[u8], &[u8]), String> {
    if encoding != Encoding::RLE {
        return Err(format!("kentry does not read levels in the encoding {encoding}; write RLE"));
    }
    let (length, rest) = bytes.split_first_chunk().ok_or_else(short)?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(short)
}

/// Looks at runs of numbers of `width` bits: each has its length before it, seven bits in a byte, the least first. Those in which a number is
/// repeated have it once; the others have eight times so many.
fn runs(mut bytes: &[u8], width: usize) -> Result<(), String> {
    while let Some(last) = bytes.iter().position(|byte| byte & 0x80 == 0) {
        let (length, rest) = bytes.split_at(last + 1);
        let bits = length.iter().rev().fold(0u64, |bits, byte| bits << 7 | u64::from(byte & 0x7f));
        // As many as a page can have.
        if length.len() > 5 || bits > u64::from(u32::MAX) / 8 {
            return Err("a run is longer than a page".to_owned());
        }
        let size = if bits & 1 == 0 { width.div_ceil(8) } else { (bits >> 1) as usize * width };
        bytes = rest.get(size..).unwrap_or_default();
    }
    // The length of the last run has no end.
    if bytes.is_empty() { Ok(()) } else { Err(short()) }
}

impl Iterator for Checked {
    type Item = Read<Page>;

    fn next(&mut self) -> Option<Read<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Read<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page).map_err(ParquetError::General)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Read<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Read<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Read<bool> {
        self.pages.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn runs_are_looked_at_to_their_end() {
        for good in [&[][..], &[2, 7], &[3, 0xff, 4, 1], &[0x80, 1, 9], &[3, 0xff], &[200, 1, 3, 0]] {
            assert_eq!(runs(good, 8), Ok(()), "{good:?}");
        }
        for bad in
            [&[0x80][..], &[2, 7, 0xff], &[0xff, 0xff, 0xff, 0xff, 0xff, 1, 0], &[0xff, 0xff, 0xff, 0xff, 15]]
        {
            assert!(runs(bad, 8).is_err(), "{bad:?}");
        }
    }
}

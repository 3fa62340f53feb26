use crate::parse::parse_one;
use crate::{Damage, Error, Record};

/// Reads records as their bytes arrive, for streams that are read before they end.
///
/// It returns the records before the first damage, and none after it.
#[derive(Debug, Default)]
pub struct Stream {
    buffer: Vec<u8>,
    /// Bytes of the buffer that have been parsed.
    taken: usize,
    /// Bytes that have been removed from the buffer.
    before: usize,
    records: usize,
    broken: Option<Error>,
}

impl Stream {
    /// Adds what has arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.broken.is_some() {
            return;
        }
        self.buffer.drain(..self.taken);
        self.before += self.taken;
        self.taken = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete record; `None` until more bytes arrive.
    ///
    /// # Errors
    /// The first place that is damaged; every later call returns the same.
    pub fn take(&mut self) -> Result<Option<Record>, Error> {
        if let Some(error) = self.broken {
            return Err(error);
        }
        match parse_one(self.rest(), self.records) {
            Ok((record, length)) => {
                self.taken += length;
                self.records += 1;
                Ok(Some(record))
            }
            Err((Damage::Truncated, _)) => Ok(None),
            Err((damage, within)) => Err(self.breaks(damage, within)),
        }
    }

    /// Says that nothing more will arrive.
    ///
    /// # Errors
    /// When the last record is incomplete, or the stream was damaged before.
    pub fn finish(&mut self) -> Result<(), Error> {
        match self.broken {
            Some(error) => Err(error),
            None if self.rest().is_empty() => Ok(()),
            None => Err(self.breaks(Damage::Truncated, self.rest().len())),
        }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.taken..).unwrap_or_default()
    }

    fn breaks(&mut self, damage: Damage, within: usize) -> Error {
        let error = Error { record: self.records, offset: self.before + self.taken + within, damage };
        self.broken = Some(error);
        self.buffer = Vec::new();
        self.taken = 0;
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use crate::parse::tests::stream;

    /// The records and the error of a stream whose bytes arrive in pieces of this length.
    fn in_pieces(bytes: &[u8], length: usize) -> (Vec<Record>, Result<(), Error>) {
        let (mut stream, mut records) = (Stream::default(), Vec::new());
        for piece in bytes.chunks(length) {
            stream.push(piece);
            while let Ok(Some(record)) = stream.take() {
                records.push(record);
            }
        }
        let end = stream.take().map(|none| assert_eq!(none, None)).and_then(|()| stream.finish());
        (records, end)
    }

    #[test]
    fn pieces_of_any_length_give_the_same_records() {
        let whole = stream();
        for length in 1..=whole.len() {
            assert_eq!(in_pieces(&whole, length), (parse(&whole).unwrap(), Ok(())), "{length}");
        }
    }

    #[test]
    fn damage_is_named_as_in_a_whole_stream_and_what_came_before_is_kept() {
        let whole = stream();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let (records, end) = in_pieces(&bytes, 16);
            assert_eq!(end.unwrap_err(), parse(&bytes).unwrap_err(), "bit {bit}");
            assert_eq!(records, parse(&whole).unwrap()[..records.len()]);
        }
    }

    #[test]
    fn a_cut_stream_keeps_its_whole_records() {
        let whole = stream();
        for end in 0..whole.len() {
            let (records, result) = in_pieces(&whole[..end], 7);
            assert_eq!(result.is_ok(), [0, 72, 128, 174].contains(&end), "{end}");
            assert_eq!(records.len(), [72, 128, 174].iter().filter(|cut| **cut <= end).count());
        }
    }
}

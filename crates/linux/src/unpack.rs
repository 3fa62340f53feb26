//! What kernels and packages are compressed with.

use crate::Why;
use crate::files::{self, Wanted};
use ruzstd::decoding::{DEFAULT_MAX_WINDOW_SIZE, FrameDecoder, StreamingDecoder};
use std::io::{self, Read};
use std::sync::atomic::AtomicBool;

/// The most memory that a decoder may take for its window, in KiB. Kernels are packed with up to 128 MiB.
const WINDOW_KIB: u32 = 256 << 10;

/// A way to compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Gzip,
    Xz,
    Zstd,
    Lz4,
    Bzip2,
    Lzma,
    Lzo,
}

/// How each begins (the kernel's `lib/decompress.c` has the same list).
const MAGICS: [(&[u8], Format); 7] = [
    (b"\x1f\x8b", Format::Gzip),
    (b"\xfd7zXZ\0", Format::Xz),
    (b"\x28\xb5\x2f\xfd", Format::Zstd),
    (b"\x02\x21\x4c\x18", Format::Lz4),
    (b"BZh", Format::Bzip2),
    (b"\x5d\x00\x00", Format::Lzma),
    (b"\x89LZO", Format::Lzo),
];

/// How the bytes are compressed; none where they are not, or in no way that is known.
pub(crate) fn format(bytes: &[u8]) -> Option<Format> {
    MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, format)| *format)
}

/// What the bytes unpack to, as it is read.
pub(crate) fn reader(format: Format, bytes: &[u8]) -> Result<Box<dyn Read + '_>, Why> {
    Ok(match format {
        Format::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(bytes)),
        Format::Xz => Box::new(Xz(lzma_rust2::XzReader::new_mem_limit(bytes, true, WINDOW_KIB))),
        Format::Zstd => Box::new(Zstd(StreamingDecoder::new(bytes).map_err(|_| damaged())?)),
        Format::Lz4 => Box::new(LegacyLz4 { rest: &bytes[4..], block: Vec::new(), at: 0 }),
        Format::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(bytes)),
        Format::Lzma => {
            Box::new(lzma_rust2::LzmaReader::new_mem_limit(bytes, WINDOW_KIB, None).map_err(|_| damaged())?)
        }
        Format::Lzo => {
            return Err(Why::Unsuitable(
                "it is compressed with LZO, which is not supported; unpack it with the kernel's scripts/extract-vmlinux, \
                 and name the vmlinux"
                    .into(),
            ));
        }
    })
}

/// What the bytes unpack to; `limit` bytes at most, and only until `stop` is set.
pub(crate) fn unpack(format: Format, bytes: &[u8], limit: u64, stop: &AtomicBool) -> Result<Vec<u8>, Why> {
    files::read_all(Wanted { source: reader(format, bytes)?, stop }, limit).map_err(|why| match why {
        // The bytes are in memory: only what they say can be wrong.
        Why::Unreadable(_) => damaged(),
        Why::TooLarge(limit) => Why::UnpacksTooLarge(limit),
        other => other,
    })
}

/// The same bytes, or what they unpack to if they are compressed: files whose name does not matter.
pub(crate) fn uncompressed(bytes: Vec<u8>, limit: u64, stop: &AtomicBool) -> Result<Vec<u8>, Why> {
    match format(&bytes) {
        Some(format) => unpack(format, &bytes, limit, stop),
        None => Ok(bytes),
    }
}

/// What a decoder says would help nobody but its author.
fn damaged() -> Why {
    Why::Damaged("what is compressed in it is not whole, or not as it was".into())
}

/// What xz has packed. The decoder also calls it a lack of memory where the file asks for a larger window than it may have.
struct Xz<'a>(lzma_rust2::XzReader<&'a [u8]>);

impl Read for Xz<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(|error| {
            let is_bound = error.to_string().contains("mem_limit");
            if is_bound { io::ErrorKind::InvalidData.into() } else { error }
        })
    }
}

/// A frame of zstd whose checksum, if it has one, is compared in the end; the decoder only computes it.
struct Zstd<'a>(StreamingDecoder<&'a [u8], FrameDecoder>);

impl Zstd<'_> {
    /// An error where the decoder's window could not grow to its full length now. The decoder itself would panic.
    fn has_memory() -> io::Result<()> {
        // The decoder has room for two more blocks of 128 KiB, and one byte.
        const WINDOW: usize = DEFAULT_MAX_WINDOW_SIZE as usize + (256 << 10) + 1;
        let mut window: Vec<u8> = Vec::new();
        window.try_reserve_exact(WINDOW)?;
        // The compiler leaves out memory that nobody looks at.
        std::hint::black_box(&mut window);
        Ok(())
    }
}

impl Read for Zstd<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        Self::has_memory()?;
        let read = self.0.read(into)?;
        let decoder = &self.0.decoder;
        let expected = decoder.get_checksum_from_data();
        if read == 0
            && decoder.is_finished()
            && expected.is_some()
            && expected != decoder.get_calculated_checksum()
        {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum is another one"));
        }
        Ok(read)
    }
}

/// The legacy frame of lz4, which the kernel uses (`lib/decompress_unlz4.c`): behind the magic number there are blocks,
/// each of which begins with its length and unpacks to 8 MiB, the last one to less. Nothing marks the end.
struct LegacyLz4<'a> {
    rest: &'a [u8],
    block: Vec<u8>,
    at: usize,
}

/// What a block unpacks to at most, in bytes.
const LZ4_BLOCK: usize = 8 << 20;

impl LegacyLz4<'_> {
    fn next_block(&mut self) -> io::Result<()> {
        let broken = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
        let (length, rest) =
            self.rest.split_first_chunk().ok_or_else(|| broken("a block's length is cut off"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let packed = rest.get(..length).ok_or_else(|| broken("a block is cut off"))?;
        self.rest = &rest[length..];
        // A byte makes at most 255 of a match longer, and no other makes more.
        let room = LZ4_BLOCK.min(packed.len().saturating_mul(255));
        self.block.clear();
        self.block.try_reserve_exact(room)?;
        self.block.resize(room, 0);
        self.at = 0;
        let unpacked = lz4_flex::block::decompress_into(packed, &mut self.block)
            .map_err(|error| broken(&error.to_string()))?;
        self.block.truncate(unpacked);
        Ok(())
    }
}

impl Read for LegacyLz4<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() && !self.rest.is_empty() {
            self.next_block()?;
        }
        let read = (&self.block[self.at..]).read(into)?;
        self.at += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_window_that_no_kernel_has_was_called_a_lack_of_memory() {
        let mut writer =
            lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(0)).unwrap();
        writer.write_all(b"text").unwrap();
        let mut packed = writer.finish().unwrap();
        // The header of the first block: its length in words less one, flags, and the filter LZMA2 with the window's length.
        let (start, end) = (12, 12 + 4 * usize::from(packed[12]));
        assert_eq!(packed[start + 1..start + 4], [0, 0x21, 1]);
        packed[start + 4] = 34; // 512 MiB
        let mut sum = flate2::Crc::new();
        sum.update(&packed[start..end]);
        packed[end..end + 4].copy_from_slice(&sum.sum().to_le_bytes());
        let why = uncompressed(packed, 1 << 20, &AtomicBool::new(false)).unwrap_err();
        assert!(matches!(why, Why::Damaged(_)), "{why:?}");
    }

    #[test]
    fn a_small_file_was_called_large_because_of_what_it_unpacks_to() {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(&vec![0; (1 << 20) + 1]).unwrap();
        let packed = writer.finish().unwrap();
        let why = uncompressed(packed, 1 << 20, &AtomicBool::new(false)).unwrap_err().to_string();
        assert_eq!(why, "what it unpacks to is larger than 1 MiB, which is the most that is read");
    }
}

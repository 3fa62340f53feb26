//! The setup header of a bzImage (`Documentation/arch/x86/boot.rst`).

use crate::{Why, files, unpack};

/// Where the fields are, in bytes from the file's beginning.
const SETUP_SECTORS: usize = 0x1f1;
const BOOT_FLAG: usize = 0x1fe;
const MAGIC: usize = 0x202;
const VERSION: usize = 0x206;
const KERNEL_VERSION: usize = 0x20e;
const LOAD_FLAGS: usize = 0x236;
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;

/// A bzImage that is shorter has no whole header.
pub(crate) const LEAST: usize = PAYLOAD_LENGTH + 4;

/// The kernel's version is said relative to this.
const HEADER: usize = 0x200;
const SECTOR: usize = 512;
/// The first protocol that says where the payload is (Linux 2.6.26).
const FIRST_WITH_PAYLOAD: u16 = 0x208;
/// The first protocol with `xloadflags`, and the flag of a kernel that can be entered in 64-bit mode.
const FIRST_WITH_LOAD_FLAGS: u16 = 0x20c;
const LOADS_64: u16 = 1;

/// Whether these are the bytes of a bzImage, or of what has been one.
pub(crate) fn is_setup(bytes: &[u8]) -> bool {
    bytes.get(MAGIC..).is_some_and(|rest| rest.starts_with(b"HdrS"))
        && u16_at(bytes, BOOT_FLAG) == Some(0xaa55)
}

/// What a bzImage holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setup<'a> {
    /// The line of its version; empty where it has none.
    pub version: String,
    /// The compressed kernel.
    payload: &'a [u8],
}

impl<'a> Setup<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Why> {
        let field = |at| u16_at(bytes, at).ok_or_else(cut);
        let version = field(VERSION)?;
        if version < FIRST_WITH_PAYLOAD {
            return Err(Why::Unsuitable(format!(
                "its boot protocol is {}.{:02}, and 2.08 (Linux 2.6.26) is the oldest that tells where the kernel is",
                version >> 8,
                version & 0xff
            )));
        }
        if version >= FIRST_WITH_LOAD_FLAGS && field(LOAD_FLAGS)? & LOADS_64 == 0 {
            return Err(Why::Unsuitable(
                "it is a 32-bit kernel; name one for x86-64 (Debian's amd64)".into(),
            ));
        }
        // Zero stands for four, for the sake of very old kernels.
        let sectors = match bytes.get(SETUP_SECTORS).ok_or_else(cut)? {
            0 => 4,
            sectors => usize::from(*sectors),
        };
        let start = u32_at(bytes, PAYLOAD_OFFSET)
            .and_then(|offset| ((sectors + 1) * SECTOR).checked_add(offset))
            .ok_or_else(cut)?;
        let length = u32_at(bytes, PAYLOAD_LENGTH).ok_or_else(cut)?;
        let payload = bytes.get(start..).and_then(|rest| rest.get(..length)).ok_or_else(cut)?;
        Ok(Self { version: text_at(bytes, usize::from(field(KERNEL_VERSION)?)), payload })
    }

    /// The ELF file in it. The last four bytes of the payload are its length, with relocations behind it
    /// (`arch/x86/boot/compressed/mkpiggy.c`). For gzip they are a part of the format, for all others they stand behind it.
    pub fn kernel(&self) -> Result<Vec<u8>, Why> {
        let (packed, length) = self.payload.split_last_chunk().ok_or_else(cut)?;
        let length = u64::from(u32::from_le_bytes(*length));
        let format = unpack::format(self.payload).ok_or_else(|| {
            Why::Damaged("what it holds is compressed in no way that Linux for x86 has".to_string())
        })?;
        if length > files::LIMIT {
            return Err(Why::TooLarge(files::LIMIT));
        }
        let packed = if format == unpack::Format::Gzip { self.payload } else { packed };
        let kernel = unpack::unpack(format, packed, length).map_err(|why| match why {
            Why::TooLarge(_) => {
                Why::Damaged(format!("it unpacks to more than the {length} bytes that it says"))
            }
            other => other,
        })?;
        if (kernel.len() as u64) < length {
            let unpacked = kernel.len();
            return Err(Why::Damaged(format!("it unpacks to {unpacked} bytes, and says {length}")));
        }
        Ok(kernel)
    }
}

fn cut() -> Why {
    Why::Damaged("its end is missing".into())
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|field| u16::from_le_bytes(*field))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|field| u32::from_le_bytes(*field) as usize)
}

/// The text that the header points to; empty where it points to none, or to what is no line of text.
fn text_at(bytes: &[u8], pointer: usize) -> String {
    const LONGEST: usize = 512;
    let bytes = if pointer == 0 { &[] } else { bytes.get(HEADER + pointer..).unwrap_or_default() };
    let line = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let is_text = line.len() <= LONGEST && line.iter().all(|byte| (b' '..=b'~').contains(byte));
    if is_text { String::from_utf8_lossy(line).into_owned() } else { String::new() }
}

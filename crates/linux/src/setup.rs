//! The setup header of a bzImage (`Documentation/arch/x86/boot.rst`).

use crate::{Why, files, unpack};
use std::sync::atomic::AtomicBool;

/// Where the fields are, in bytes from the file's beginning.
const SETUP_SECTORS: usize = 0x1f1;
const PARAGRAPHS: usize = 0x1f4;
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
const PARAGRAPH: usize = 16;
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
    /// All that the build made: the file without a signature behind it.
    built: &'a [u8],
}

impl<'a> Setup<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Why> {
        let field = |at| u16_at(bytes, at).ok_or_else(Why::cut);
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
        let (payload, built) = parts(bytes)?;
        Ok(Self { version: text_at(bytes, usize::from(field(KERNEL_VERSION)?)), payload, built })
    }

    /// Whether the checksum at the end of what the build made is another one. The protocol says that the CRC-32 up to there is 0
    /// (Documentation/arch/x86/boot.rst); who signs a kernel changes two fields of its EFI header, which were 0 before. Nothing is known of
    /// kernels since 6.15, which may have none.
    fn is_changed(&self) -> bool {
        const LAST_WITHOUT_DOUBT: (u32, u32) = (6, 14);
        let mut numbers = self
            .version
            .split(|c: char| !c.is_ascii_digit())
            .map(|number| number.parse().unwrap_or(u32::MAX));
        let release = (numbers.next().unwrap_or(u32::MAX), numbers.next().unwrap_or(u32::MAX));
        // Without the last step that CRC-32 has elsewhere, 0 is this.
        const ZERO: u32 = u32::MAX;
        release <= LAST_WITHOUT_DOUBT && checksum_unsigned(self.built) != ZERO
    }

    /// The ELF file in it. The last four bytes of the payload are its length, with relocations behind it
    /// (`arch/x86/boot/compressed/mkpiggy.c`). For gzip they are a part of the format, for all others they stand behind it.
    pub fn kernel(&self, stop: &AtomicBool) -> Result<Vec<u8>, Why> {
        let (packed, length) = self.payload.split_last_chunk().ok_or_else(Why::cut)?;
        let length = u64::from(u32::from_le_bytes(*length));
        let format = unpack::format(self.payload).ok_or_else(|| {
            Why::Damaged("what it holds is compressed in no way that Linux for x86 has".to_string())
        })?;
        if length > files::LIMIT {
            return Err(Why::Damaged(format!(
                "it says that it unpacks to {length} bytes, and no kernel is that large"
            )));
        }
        let packed = if format == unpack::Format::Gzip { self.payload } else { packed };
        let kernel = unpack::unpack(format, packed, length, stop).map_err(|why| match why {
            Why::UnpacksTooLarge(_) => {
                Why::Damaged(format!("it unpacks to more than the {length} bytes that it says"))
            }
            other => other,
        })?;
        if (kernel.len() as u64) < length {
            let unpacked = kernel.len();
            return Err(Why::Damaged(format!("it unpacks to {unpacked} bytes, and says {length}")));
        }
        // The other formats have a checksum of their own.
        if matches!(format, unpack::Format::Lz4 | unpack::Format::Lzma) && self.is_changed() {
            return Err(Why::Damaged("its checksum is another one".into()));
        }
        Ok(kernel)
    }
}

/// The payload of a bzImage, and all of the file that its build made: as many sectors of setup as the header says and the boot sector, and
/// behind them `syssize` paragraphs. A signature may follow, whose end the EFI header says.
fn parts(bytes: &[u8]) -> Result<(&[u8], &[u8]), Why> {
    // Zero stands for four, for the sake of very old kernels.
    let sectors = match bytes.get(SETUP_SECTORS).ok_or_else(Why::cut)? {
        0 => 4,
        sectors => usize::from(*sectors),
    };
    let field = |at| u32_at(bytes, at).ok_or_else(Why::cut);
    let behind_setup = (sectors + 1) * SECTOR;
    let start = behind_setup + field(PAYLOAD_OFFSET)?;
    let payload = start..start + field(PAYLOAD_LENGTH)?;
    let end = behind_setup + field(PARAGRAPHS)? * PARAGRAPH;
    let signature_end = signature_end(bytes).unwrap_or(end);
    if bytes.len() < payload.end.max(end).max(signature_end) {
        return Err(Why::cut());
    }
    if end < payload.end {
        return Err(Why::Damaged("its header says that it ends before the kernel in it does".into()));
    }
    Ok((&bytes[payload], &bytes[..end]))
}

/// Where the EFI header of a bzImage begins that can be started by firmware.
fn efi_header(file: &[u8]) -> Option<usize> {
    const OFFSET: usize = 0x3c;
    u32_at(file, OFFSET).filter(|at| file.get(*at..).is_some_and(|rest| rest.starts_with(b"PE\0\0")))
}

/// What signing fills of an EFI header, in bytes from its beginning (PE format: behind the signature and the COFF header of 24 bytes, the
/// checksum at 64 and the fifth data directory at 144 of the optional header, whose two numbers are the signature's place and length).
const EFI_CHECKSUM: usize = 24 + 64;
const EFI_SIGNATURE: usize = 24 + 144;

/// The end of a signed kernel's signature, in bytes from the file's beginning.
fn signature_end(file: &[u8]) -> Option<usize> {
    let field = efi_header(file)? + EFI_SIGNATURE;
    let (start, length) = (u32_at(file, field)?, u32_at(file, field + 4)?);
    (length > 0).then_some(start + length)
}

/// The CRC-32 of a bzImage as it was before it was signed, when the fields that signing fills were 0.
fn checksum_unsigned(file: &[u8]) -> u32 {
    let fields =
        efi_header(file).map(|at| [(at + EFI_CHECKSUM, &[0; 4][..]), (at + EFI_SIGNATURE, &[0; 8][..])]);
    let mut sum = flate2::Crc::new();
    let mut done = 0;
    for (at, zeros) in fields.into_iter().flatten().filter(|(at, zeros)| at + zeros.len() <= file.len()) {
        sum.update(&file[done..at]);
        sum.update(zeros);
        done = at + zeros.len();
    }
    sum.update(&file[done..]);
    sum.sum()
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

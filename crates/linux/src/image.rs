//! What is known of a kernel by its file.

use crate::elf::{Elf, is_elf};
use crate::patched::{self, Alternative};
use crate::setup::{self, Setup, is_setup};
use crate::sites::{self, Branch, Paravirt};
use crate::{Error, Why, banner, files, package, unpack};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// A kernel that was read from a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Where it was found.
    pub file: PathBuf,
    /// `6.1.0-56-cloud-amd64`, as the file says; empty where it does not.
    pub release: String,
    /// The whole line of its version, compiler and date included; empty where the file does not say.
    pub banner: String,
    /// How it boots.
    pub load: Load,
    /// The bytes that are booted: an ELF file for [`Load::Direct`], the file as it is for [`Load::Compressed`].
    pub bytes: Vec<u8>,
    /// For [`Load::Direct`]: the bzImage that it was taken out of, which [`Kernel::compressed`] boots; empty where it was in none.
    pub bzimage: Vec<u8>,
    /// Its table of alternatives: code that boot replaces where the processor has a feature. Empty where it was not found.
    /// Code that has more than one of them has them in the order in which boot applies them: the last that applies stays.
    pub alternatives: Vec<Alternative>,
    /// Its table of code that a guest of Xen executes as calls; empty where it has none, as since Linux 6.8.
    pub paravirt: Vec<Paravirt>,
    /// The address that the file gives to `_text`; its symbol in a boot, less this, is the boot's offset (KASLR). None where
    /// the file has no section `.text`.
    pub text: Option<u64>,
}

impl Kernel {
    /// The kernel in a file: a bzImage (`vmlinuz`), an ELF file (`vmlinux`) as it is or compressed, or a Debian package that has
    /// one.
    ///
    /// Reading ends when `stop` is set.
    ///
    /// # Errors
    /// If the file cannot be read, is no kernel for x86-64, or cannot be booted; [`Why::Stopped`].
    pub fn read(file: &Path, stop: &AtomicBool) -> Result<Self, Error> {
        let bytes = files::read(file, files::LIMIT).map_err(|why| match why {
            Why::Unreadable(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Why::RootOnly,
            other => other,
        });
        let kernel = bytes.and_then(|bytes| Self::parse(bytes, stop)).map_err(|why| why.of(file))?;
        Ok(Self { file: file.to_path_buf(), ..kernel })
    }

    /// The kernel in the bytes of a file. Nothing else is looked at, and they are unpacked until `stop` is set.
    ///
    /// # Errors
    /// If there is no kernel for x86-64 in them, or one that cannot be booted; [`Why::Stopped`].
    pub fn parse(bytes: Vec<u8>, stop: &AtomicBool) -> Result<Self, Why> {
        let parsed = match package::is_package(&bytes) {
            true => package::kernel(&bytes, stop).and_then(|image| Self::of_image(image, stop)),
            false => Self::of_image(bytes, stop),
        };
        // What breaks off for that is called many things.
        parsed.map_err(|why| if stop.load(Ordering::Relaxed) { Why::Stopped } else { why })
    }

    /// The kernel that these bytes are: of a bzImage, or of an ELF file as it is or compressed.
    fn of_image(bytes: Vec<u8>, stop: &AtomicBool) -> Result<Self, Why> {
        if is_setup(&bytes) {
            let setup = Setup::parse(&bytes)?;
            let image = setup.kernel(stop)?;
            let mut kernel = Self::describe(&image, &setup.version)?;
            (kernel.bytes, kernel.bzimage) = match kernel.load {
                Load::Direct => (image, bytes),
                Load::Compressed => (bytes, Vec::new()),
            };
            return Ok(kernel);
        }
        if !is_elf(&bytes) && unpack::format(&bytes).is_none() {
            return Err(foreign(&bytes));
        }
        let image = unpack::uncompressed(bytes, files::LIMIT, stop)?;
        if !is_elf(&image) {
            return Err(Why::Foreign("what it unpacks to is not an ELF file"));
        }
        let mut kernel = Self::describe(&image, "")?;
        if kernel.load == Load::Compressed && kernel.banner.is_empty() {
            return Err(Why::Foreign(
                "it is an ELF file without the line `Linux version …` that every kernel has",
            ));
        }
        if kernel.load == Load::Compressed {
            return Err(Why::Unsuitable(
                "it is a vmlinux that cannot be entered directly (it was built without CONFIG_PVH); name the vmlinuz \
                 (bzImage) that was built with it"
                    .into(),
            ));
        }
        kernel.bytes = image;
        Ok(kernel)
    }

    /// What an ELF file tells, without its bytes. `version` is what stands before a compressed one, which no checksum covers.
    fn describe(image: &[u8], version: &str) -> Result<Self, Why> {
        if !is_elf(image) {
            return Err(Why::Damaged("what it unpacks to is not an ELF file".into()));
        }
        let elf = Elf::parse(image)?;
        let banner =
            elf.section(".rodata").and_then(|section| banner::find(section.bytes)).unwrap_or_default();
        let (before, within) =
            (banner::release(version), banner::release(banner.trim_start_matches(banner::START)));
        if let (Some(before), Some(within)) = (before, within)
            && before != within
        {
            return Err(Why::Damaged(format!(
                "its header names the release {before}, and the kernel in it is {within}"
            )));
        }
        Ok(Self {
            release: within.or(before).unwrap_or_default().into(),
            load: if elf.has_pvh_entry { Load::Direct } else { Load::Compressed },
            alternatives: patched::alternatives(&elf),
            paravirt: sites::paravirt(&elf),
            text: elf.section(".text").map(|section| section.address),
            banner: if banner.is_empty() { version.into() } else { banner },
            ..Self::default()
        })
    }

    /// The code that the file has from this address on, as linked, to the end of its section: boot may have changed it. None where no code
    /// is there, or the file is a compressed one.
    pub fn code_at(&self, address: u64) -> Option<&[u8]> {
        let elf = Elf::parse(&self.bytes).ok()?;
        elf.code_at(address)
    }

    /// The branches of static keys: what lies between the symbols `__start___jump_table` and `__stop___jump_table`, as linked. Empty where
    /// nothing is there, or the file is a compressed one.
    pub fn branches(&self, table: Range<u64>) -> Vec<Branch> {
        Elf::parse(&self.bytes).map(|elf| sites::branches(&elf, table)).unwrap_or_default()
    }

    /// Where functions can be traced: what lies between `__start_mcount_loc` and `__stop_mcount_loc`, as linked.
    pub fn traced(&self, table: Range<u64>) -> Vec<u64> {
        Elf::parse(&self.bytes).map(|elf| sites::traced(&elf, table)).unwrap_or_default()
    }

    /// The same kernel as the file that unpacks itself and chooses its address; none where it was read from a vmlinux.
    pub fn compressed(&self) -> Option<Self> {
        match self.load {
            Load::Compressed => Some(self.clone()),
            Load::Direct if self.bzimage.is_empty() => None,
            Load::Direct => {
                let (bytes, load, bzimage) = (self.bzimage.clone(), Load::Compressed, Vec::new());
                Some(Self { bytes, load, bzimage, ..self.clone() })
            }
        }
    }
}

/// Why these bytes are no kernel, if they are something else that is mistaken for one.
fn foreign(bytes: &[u8]) -> Why {
    let at = |place: usize, magic: &[u8]| bytes.get(place..).is_some_and(|rest| rest.starts_with(magic));
    Why::Foreign(match () {
        () if bytes.is_empty() => "it is empty",
        () if at(56, b"ARMd") => "it is an image for arm64; name one for x86-64 (Debian's amd64)",
        // A bzImage begins so, too; where its header is missing, nobody knows what it was.
        () if at(0, b"MZ") && bytes.len() < setup::LEAST => {
            return Why::Damaged(format!("it ends after {} bytes, in the midst of its header", bytes.len()));
        }
        () if at(0, b"MZ") => {
            "it is an EFI program; if it is a unified kernel image, take the kernel out of it with \
             `objcopy -O binary --only-section=.linux FILE vmlinuz`"
        }
        () => "it is neither a bzImage (vmlinuz), nor an ELF file (vmlinux), nor a Debian package",
    })
}

/// How a kernel is loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Load {
    /// Its ELF file, entered through a PVH note: no decompression, and no randomized address.
    #[default]
    Direct,
    /// The compressed file, which unpacks itself and chooses its address.
    Compressed,
}

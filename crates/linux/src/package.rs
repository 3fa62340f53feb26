//! A kernel in a Debian package, which need not be installed.

use crate::files::{self, LIMIT};
use crate::{Why, unpack};
use std::io::Read;

/// What a package begins with: it is an archive of `ar`'s format.
const MAGIC: &[u8] = b"!<arch>\n";

/// Whether these are the bytes of a package.
pub(crate) fn is_package(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The kernel in a package.
///
/// # Errors
/// If it is damaged, or has no kernel.
pub(crate) fn kernel(bytes: &[u8]) -> Result<Vec<u8>, Why> {
    for entry in tar::Archive::new(data(bytes)?).entries()? {
        let entry = entry.map_err(|_| damaged())?;
        if entry.header().entry_type().is_file() && is_kernel(&String::from_utf8_lossy(&entry.path_bytes())) {
            return whole(entry);
        }
    }
    let none = "there is no kernel in this package; linux-image-amd64 and linux-image-cloud-amd64 only name the one that has it \
                (`apt-cache depends linux-image-cloud-amd64`)";
    Err(Why::Unsuitable(none.into()))
}

/// Whether a file of this path is one: `boot/vmlinuz-RELEASE`, or `lib/modules/RELEASE/vmlinuz`.
fn is_kernel(path: &str) -> bool {
    let path = path.trim_start_matches("./").trim_start_matches("usr/");
    let in_modules = path.strip_prefix("lib/modules/").and_then(|rest| rest.split_once('/'));
    path.starts_with("boot/vmlinuz-") || in_modules.is_some_and(|(_, rest)| rest == "vmlinuz")
}

/// All of a file.
fn whole(source: impl Read) -> Result<Vec<u8>, Why> {
    files::whole(source, LIMIT).map_err(|why| match why {
        Why::Unreadable(_) => damaged(),
        other => other,
    })
}

/// The archive of the files that a package installs, unpacked as it is read. Each file of the outer archive has a header of 60
/// bytes, in which the name stands first, and the length, as decimal digits, at 48; and begins at an even place.
fn data(bytes: &[u8]) -> Result<Box<dyn Read + '_>, Why> {
    const HEADER: usize = 60;
    let mut rest = &bytes[MAGIC.len()..];
    while let Some((header, content)) = rest.split_at_checked(HEADER) {
        let length = std::str::from_utf8(&header[48..58]).ok().and_then(|text| text.trim_end().parse().ok());
        let length: usize =
            length.ok_or_else(|| Why::Damaged("a file's length in it is no number".into()))?;
        let cut = || Why::Damaged("its end is missing".into());
        let file = content.get(..length).ok_or_else(cut)?;
        if header.starts_with(b"data.tar") {
            return match unpack::format(file) {
                Some(format) => unpack::reader(format, file),
                None => Ok(Box::new(file)),
            };
        }
        rest = content.get(length.next_multiple_of(2)..).unwrap_or_default();
    }
    Err(Why::Foreign("it is an archive, but not a Debian package: it has no data.tar"))
}

fn damaged() -> Why {
    Why::Damaged("its files are not whole, or not as they were".into())
}

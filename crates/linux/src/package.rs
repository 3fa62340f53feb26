//! A kernel in a Debian package, which need not be installed.

use crate::files::{self, LIMIT, Wanted};
use crate::{Why, unpack};
use object::read::archive::ArchiveFile;
use std::io::{self, Read};
use std::sync::atomic::AtomicBool;

/// What a package begins with: it is an archive of `ar`'s format.
const MAGIC: &[u8] = b"!<arch>\n";

/// Whether these are the bytes of a package.
pub(crate) fn is_package(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The kernel in a package, which is unpacked so far and no farther than [`LIMIT`]: a file of any length may stand before it.
///
/// # Errors
/// If it is damaged, or has no kernel.
pub(crate) fn kernel(bytes: &[u8], stop: &AtomicBool) -> Result<Vec<u8>, Why> {
    let mut data = Wanted { source: data(bytes)?, stop }.take(LIMIT);
    let found = find(&mut data);
    // The archive breaks off there.
    if found.is_err() && data.limit() == 0 {
        return Err(Why::UnpacksTooLarge(LIMIT));
    }
    found
}

fn find(data: impl Read) -> Result<Vec<u8>, Why> {
    for entry in tar::Archive::new(data).entries()? {
        let entry = entry.map_err(|error| broken(error.into()))?;
        if entry.header().entry_type().is_file() && is_kernel(&String::from_utf8_lossy(&entry.path_bytes())) {
            let size = entry.size();
            let file = read_member(entry)?;
            // The library takes the end of the package for the end of the file.
            return if file.len() as u64 == size {
                Ok(file)
            } else {
                Err(broken(io::Error::from(io::ErrorKind::UnexpectedEof).into()))
            };
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
fn read_member(source: impl Read) -> Result<Vec<u8>, Why> {
    files::read_all(source, LIMIT).map_err(|why| match why {
        Why::TooLarge(limit) => Why::UnpacksTooLarge(limit),
        other => broken(other),
    })
}

/// The archive of the files that a package installs, unpacked as it is read.
fn data(bytes: &[u8]) -> Result<Box<dyn Read + '_>, Why> {
    // What the parser says is meant for who knows the format.
    let unreadable = |_| Why::Damaged("the list of its files is not whole, or not as it was".into());
    let mut is_debian = false;
    for member in ArchiveFile::parse(bytes).map_err(unreadable)?.members() {
        let member = member.map_err(unreadable)?;
        let file = member.data(bytes).map_err(|_| Why::cut())?;
        if member.name().starts_with(b"data.tar") {
            return match unpack::format(file) {
                Some(format) => unpack::reader(format, file),
                None => Ok(Box::new(file)),
            };
        }
        is_debian |= member.name() == b"debian-binary";
    }
    Err(if is_debian {
        Why::cut()
    } else {
        Why::Foreign("it is an archive, but not a Debian package: it has no data.tar")
    })
}

/// The bytes of a package are in memory: only what they say can be wrong, or memory short.
fn broken(why: Why) -> Why {
    match why {
        Why::Unreadable(_) => Why::Damaged("its files are not whole, or not as they were".into()),
        other => other,
    }
}

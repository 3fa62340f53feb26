//! A kernel in a Debian package, which need not be installed.

use crate::files::{self, CONFIG_LIMIT, LIMIT};
use crate::{Why, unpack};
use std::io::Read;
use std::ops::ControlFlow;

/// What a package begins with: it is an archive of `ar`'s format.
const MAGIC: &[u8] = b"!<arch>\n";

/// Whether these are the bytes of a package.
pub(crate) fn is_package(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The kernel in a package, and the text of its configuration.
///
/// # Errors
/// If it is damaged, or has no kernel.
pub(crate) fn kernel(bytes: &[u8]) -> Result<(Vec<u8>, Option<Vec<u8>>), Why> {
    let (mut config, mut kernel) = (None, None);
    // Files are in the order of their names: the configuration comes first.
    each_file(bytes, |path, file| {
        if path.starts_with("boot/vmlinuz-") || is_in_modules(path, "vmlinuz") {
            kernel = Some(whole(file, LIMIT)?);
        } else if path.starts_with("boot/config-") || is_in_modules(path, "config") {
            config = Some(whole(file, CONFIG_LIMIT)?);
        }
        Ok(if kernel.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    let none = "there is no kernel in this package; linux-image-amd64 and linux-image-cloud-amd64 only name the one that has it \
                (`apt-cache depends linux-image-cloud-amd64`)";
    Ok((kernel.ok_or_else(|| Why::Unsuitable(none.into()))?, config))
}

/// Gives each file of a package, by its path without `./` and `usr/`, to a function that says whether to go on.
pub(crate) fn each_file(
    bytes: &[u8],
    mut see: impl FnMut(&str, &mut dyn Read) -> Result<ControlFlow<()>, Why>,
) -> Result<(), Why> {
    for entry in tar::Archive::new(data(bytes)?).entries()? {
        let mut entry = entry.map_err(|_| damaged())?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let path = path.trim_start_matches("./").trim_start_matches("usr/");
        if entry.header().entry_type().is_file() && see(path, &mut entry)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Whether this is `lib/modules/RELEASE/NAME`.
fn is_in_modules(path: &str, name: &str) -> bool {
    path.strip_prefix("lib/modules/")
        .and_then(|rest| rest.split_once('/'))
        .is_some_and(|(_, rest)| rest == name)
}

/// All of a file.
pub(crate) fn whole(source: impl Read, limit: u64) -> Result<Vec<u8>, Why> {
    files::whole(source, limit).map_err(|why| match why {
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

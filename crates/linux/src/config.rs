//! The options that a kernel was built with.

use crate::elf::Elf;
use crate::files::{self, CONFIG_LIMIT};
use crate::unpack::{self, Format};
use std::path::Path;

/// What stands around the packed configuration (`kernel/configs.c`).
const START: &[u8] = b"IKCFG_ST";
const END: &[u8] = b"IKCFG_ED";

/// The configuration that a kernel carries with it (CONFIG_IKCONFIG).
pub(crate) fn packed(elf: &Elf) -> Option<Vec<u8>> {
    let bytes = elf.section(".rodata")?.bytes;
    let start = memchr::memmem::find(bytes, START)? + START.len();
    let length = memchr::memmem::find(&bytes[start..], END)?;
    unpack::unpack(Format::Gzip, &bytes[start..start + length], CONFIG_LIMIT).ok()
}

/// The configuration of a release, in a file beside its kernel, or where distributions keep it below `root`; empty where there
/// is none.
pub(crate) fn of_release(release: &str, file: &Path, root: &Path) -> Vec<String> {
    if release.is_empty() {
        return Vec::new();
    }
    let beside = file.parent().unwrap_or(Path::new("."));
    let name = format!("config-{release}");
    let places = [
        beside.join(&name),
        beside.join("config"),
        root.join("boot").join(&name),
        root.join("lib/modules").join(release).join("config"),
    ];
    let text = places.iter().find_map(|place| files::read(place, CONFIG_LIMIT).ok());
    text.map(|text| lines(&text)).unwrap_or_default()
}

/// The lines that set something.
pub(crate) fn lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let is_plain =
        |line: &&str| line.starts_with("CONFIG_") && line.contains('=') && !line.contains(char::is_control);
    text.lines().filter(is_plain).map(str::to_string).collect()
}

//! The files that the guest's kernel begins with.

use crate::guest::Work;
use linux::Archive;

/// Where the guest's first program finds its work.
pub const WORK: &str = "/kentry.json";

/// What a program reads that is [`crate::guest::Exec::input`].
pub const INPUT: &str = "/kentry.input";

/// Where the kernel finds its first program.
const INIT: &str = "/init";

/// Folders that file systems are mounted on.
const FOLDERS: [&str; 5] = ["/dev", "/proc", "/root", "/sys", "/tmp"];

/// Devices that a program has open when it begins, by major and minor number: without a console these are none, and Rust's programs
/// then want the other.
const DEVICES: [(&str, u32, u32); 2] = [("/dev/console", 5, 1), ("/dev/null", 1, 3)];

/// QEMU puts the archive at the end of the guest's memory, as near to it as pages allow, but with at least one byte behind it
/// (`x86_load_linux`). The firmware of `microvm` in QEMU 10 and 11 (not in 7.2) keeps its ACPI tables in the last page there, and QEMU does
/// not know: an archive that reaches them replaces them, and Linux hangs, or finds none. One of whole pages leaves that page free.
const PAGE: usize = 4096;

/// The archive of a boot: the program, its work, behind that whatever files the caller adds, as further archives, and zeros, which the
/// kernel passes over. The same content gives the same bytes.
pub(crate) fn pack(program: &[u8], work: &Work, more: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let mut archive = Archive::default();
    FOLDERS.iter().for_each(|folder| archive.add_folder(folder));
    DEVICES.iter().for_each(|(path, major, minor)| archive.add_device(path, *major, *minor));
    archive.add_file(INIT, 0o755, program.to_vec());
    archive.add_file(WORK, 0o644, serde_json::to_vec(work)?);
    let mut bytes = archive.finish();
    bytes.extend_from_slice(more);
    bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_what_the_kernel_and_its_program_need() {
        let packed = || pack(b"program", &Work { seed: 7, ..Work::default() }, b"more").unwrap();
        let bytes = packed();
        assert_eq!(bytes, packed());
        let text = String::from_utf8_lossy(&bytes);
        for wanted in ["init", "program", "\"seed\":7", "kentry.json", "dev/console", "TRAILER!!!"] {
            assert!(text.contains(wanted), "{wanted}");
        }
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        assert!(bytes[..end].ends_with(b"\0more"));
        assert!((end - 4).is_multiple_of(4), "further archives begin at a multiple of four");
    }

    #[test]
    fn the_firmwares_tables_in_the_last_page_of_memory_stay() {
        for more in [0, 100, 4000] {
            let bytes = pack(b"program", &Work::default(), &vec![1; more]).unwrap();
            assert!(bytes.len().is_multiple_of(PAGE), "{}", bytes.len());
        }
    }
}

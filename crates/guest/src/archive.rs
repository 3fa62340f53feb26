//! The files that the guest's kernel begins with.

use crate::Work;
use linux::Archive;

/// Where the guest's first program finds its work.
pub const WORK: &str = "/kentry.json";

/// What a program reads that is [`crate::Exec::input`].
pub const INPUT: &str = "/kentry.input";

/// Where the kernel finds its first program.
const INIT: &str = "/init";

/// Folders that file systems are mounted on.
const FOLDERS: [&str; 5] = ["/dev", "/proc", "/root", "/sys", "/tmp"];

/// Devices that a program has open when it begins, by major and minor number: without a console these are none, and Rust's programs
/// then want the other.
const DEVICES: [(&str, u32, u32); 2] = [("/dev/console", 5, 1), ("/dev/null", 1, 3)];

/// The archive of a boot: the program, its work, and behind that whatever files the caller adds, as further archives. The same content
/// gives the same bytes.
pub(crate) fn pack(program: &[u8], work: &Work, more: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let mut archive = Archive::default();
    FOLDERS.iter().for_each(|folder| archive.add_folder(folder));
    DEVICES.iter().for_each(|(path, major, minor)| archive.add_device(path, *major, *minor));
    archive.add_file(INIT, 0o755, program.to_vec());
    archive.add_file(WORK, 0o644, serde_json::to_vec(work)?);
    let mut bytes = archive.finish();
    bytes.extend_from_slice(more);
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
        assert!(bytes.ends_with(b"\0more"));
        assert!((bytes.len() - 4).is_multiple_of(4), "further archives begin at a multiple of four");
    }
}

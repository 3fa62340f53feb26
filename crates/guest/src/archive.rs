//! The files that the guest's kernel begins with: an archive in the format of cpio, `newc`
//! (Documentation/driver-api/early-userspace/buffer-format.rst).

use crate::Work;

/// The path of the guest's first program.
const INIT: &str = "init";

/// Where that finds its work.
pub const WORK: &str = "/kentry.json";

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const FILE: u32 = 0o100_644;
const DEVICE: u32 = 0o020_600;

/// Folders that file systems are mounted on.
const FOLDERS: [&str; 5] = ["dev", "proc", "root", "sys", "tmp"];

/// Devices that a program has open when it begins, by major and minor number: without a console these are none, and Rust's programs
/// then want the other.
const DEVICES: [(&str, u32, u32); 2] = [("dev/console", 5, 1), ("dev/null", 1, 3)];

/// The archive of a boot: the program, its work, and behind that whatever files the caller adds, as further archives. The same content
/// gives the same bytes.
pub(crate) fn pack(program: &[u8], work: &Work, more: &[u8]) -> Vec<u8> {
    let mut archive = Archive::default();
    FOLDERS.iter().for_each(|folder| archive.add(folder, FOLDER, (0, 0), &[]));
    DEVICES.iter().for_each(|(name, major, minor)| archive.add(name, DEVICE, (*major, *minor), &[]));
    archive.add(INIT, PROGRAM, (0, 0), program);
    archive.add(WORK.trim_start_matches('/'), FILE, (0, 0), &serde_json::to_vec(work).unwrap_or_default());
    archive.add("TRAILER!!!", 0, (0, 0), &[]);
    archive.bytes.extend_from_slice(more);
    archive.bytes
}

#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    files: u32,
}

impl Archive {
    fn add(&mut self, name: &str, mode: u32, (major, minor): (u32, u32), content: &[u8]) {
        self.files += 1;
        let (links, size) = (1 + u32::from(mode == FOLDER), content.len() as u32);
        // Number, mode, owner, group, links, time, size, device, device of a node, length of the name, checksum.
        let length = name.len() as u32 + 1;
        let head = [self.files, mode, 0, 0, links, 0, size, 0, 0, major, minor, length, 0];
        self.bytes.extend_from_slice(b"070701");
        head.iter().for_each(|number| self.bytes.extend_from_slice(format!("{number:08x}").as_bytes()));
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend_from_slice(content);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_what_the_kernel_and_its_program_need() {
        let bytes = pack(b"program", &Work { seed: 7, ..Work::default() }, b"more");
        assert_eq!(bytes, pack(b"program", &Work { seed: 7, ..Work::default() }, b"more"));
        let text = String::from_utf8_lossy(&bytes);
        for wanted in ["\0init\0", "program", "\"seed\":7", "kentry.json\0", "dev/console\0", "TRAILER!!!\0"]
        {
            assert!(text.contains(wanted.trim_start_matches('\0')), "{wanted}");
        }
        assert!(
            bytes.len().is_multiple_of(4) && bytes.ends_with(b"more"),
            "further archives begin at a multiple of four"
        );
        assert_eq!(&bytes[..14], b"07070100000001", "the first file's number");
    }
}

//! What a kernel boots with: an archive of files (cpio's format "newc",
//! `Documentation/driver-api/early-userspace/buffer-format.rst`).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};

/// Types of files, as in their mode, and what of it is the type.
const TYPE: u32 = 0o17_0000;
const FOLDER: u32 = 0o04_0000;
const CHARACTER_DEVICE: u32 = 0o02_0000;
const FILE: u32 = 0o10_0000;
const LINK: u32 = 0o12_0000;

/// Files for a guest. The same files give the same bytes, in whichever order they were added; a path that is added again
/// replaces what was there. Folders above a file need not be added, and what is added below a symbolic link of the archive is put
/// where that leads. All belong to root, and are of 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Archive {
    /// By path, so that a folder is before what is in it.
    entries: BTreeMap<Vec<u8>, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    mode: u32,
    device: (u32, u32),
    bytes: Vec<u8>,
}

impl Entry {
    const FOLDER: Self = Self { mode: FOLDER | 0o755, device: (0, 0), bytes: Vec::new() };
}

impl Archive {
    /// Adds a file; `mode` is its permissions.
    ///
    /// # Panics
    /// If it has 4 GiB or more, for which the format has no place. This crate reads no such file.
    pub fn add_file(&mut self, path: impl AsRef<Path>, mode: u32, bytes: Vec<u8>) {
        assert!(u32::try_from(bytes.len()).is_ok(), "{}: too large for an archive", path.as_ref().display());
        self.add(path.as_ref(), FILE | mode & 0o7777, (0, 0), bytes);
    }

    /// Adds a folder.
    pub fn add_folder(&mut self, path: impl AsRef<Path>) {
        self.add(path.as_ref(), FOLDER | 0o755, (0, 0), Vec::new());
    }

    /// Adds a symbolic link.
    pub fn add_link(&mut self, path: impl AsRef<Path>, target: impl AsRef<Path>) {
        self.add(path.as_ref(), LINK | 0o777, (0, 0), target.as_ref().as_os_str().as_bytes().to_vec());
    }

    /// Adds a character device, such as `/dev/console` (5, 1), which the kernel gives its first program as input and output.
    pub fn add_device(&mut self, path: impl AsRef<Path>, major: u32, minor: u32) {
        self.add(path.as_ref(), CHARACTER_DEVICE | 0o600, (major, minor), Vec::new());
    }

    fn add(&mut self, path: &Path, mode: u32, device: (u32, u32), bytes: Vec<u8>) {
        self.put(below_root(path), Entry { mode, device, bytes });
    }

    fn put(&mut self, path: Vec<u8>, entry: Entry) {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for above in slashes {
            self.entries.entry(path[..above].to_vec()).or_insert(Entry::FOLDER);
        }
        // A folder says nothing that a link there does not.
        if entry.mode & TYPE == FOLDER {
            self.entries.entry(path).or_insert(entry);
        } else {
            self.entries.insert(path, entry);
        }
    }

    /// Where a path leads: links above it are followed, itself is not. None where it is such a path.
    fn led(&self, path: &[u8]) -> Option<Vec<u8>> {
        const MOST_LINKS: usize = 40;
        let mut led = path.to_vec();
        for _ in 0..MOST_LINKS {
            let slashes = led.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            let is_link =
                |at: &usize| self.entries.get(&led[..*at]).is_some_and(|above| above.mode & TYPE == LINK);
            let Some(at) = slashes.into_iter().find(is_link) else { break };
            let (link, rest) = (Path::new(OsStr::from_bytes(&led[..at])), OsStr::from_bytes(&led[at + 1..]));
            let target = Path::new(OsStr::from_bytes(&self.entries[&led[..at]].bytes));
            led = below_root(&Path::new("/").join(link.parent().unwrap_or(link)).join(target).join(rest));
        }
        (led != path).then_some(led)
    }

    /// The kernel makes no folder where a link is, and would drop what is below.
    fn follow_links(&mut self) {
        let led: Vec<_> =
            self.entries.keys().filter_map(|path| Some((path.clone(), self.led(path)?))).collect();
        for (path, led) in led {
            if let Some(entry) = self.entries.remove(&path) {
                self.put(led, entry);
            }
        }
    }

    /// The paths of all that is in it, without a slash before them, in the archive's order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys().map(|path| Path::new(OsStr::from_bytes(path)))
    }

    /// The archive's bytes.
    pub fn finish(mut self) -> Vec<u8> {
        const BLOCK: usize = 512;
        self.follow_links();
        let mut out = Vec::with_capacity(self.entries.values().map(|entry| entry.bytes.len() + BLOCK).sum());
        for (number, (path, entry)) in (1..).zip(&self.entries) {
            write(&mut out, number, path, entry);
        }
        write(&mut out, 0, b"TRAILER!!!", &Entry { mode: 0, device: (0, 0), bytes: Vec::new() });
        out.resize(out.len().next_multiple_of(BLOCK), 0);
        out
    }
}

/// The path as an archive has it: from the root on, without a slash before it. `..` goes up, but not out.
fn below_root(path: &Path) -> Vec<u8> {
    let mut parts: Vec<OsString> = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.into()),
            Component::ParentDir => drop(parts.pop()),
            _ => {}
        }
    }
    parts.into_iter().map(OsStringExt::into_vec).collect::<Vec<_>>().join(&b'/')
}

/// Thirteen numbers of eight hexadecimal digits, the name, the bytes; name and bytes are each followed by zeros up to a multiple
/// of four.
fn write(out: &mut Vec<u8>, number: u32, path: &[u8], entry: &Entry) {
    let links = if entry.mode & TYPE == FOLDER { 2 } else { 1 };
    let (length, (major, minor)) = (entry.bytes.len() as u32, entry.device);
    let name = path.len() as u32 + 1;
    let fields = [number, entry.mode, 0, 0, links, 0, length, 0, 0, major, minor, name, 0];
    out.extend_from_slice(b"070701");
    fields.iter().for_each(|field| out.extend_from_slice(format!("{field:08x}").as_bytes()));
    for part in [&[path, &[0]].concat(), &entry.bytes] {
        out.extend_from_slice(part);
        out.resize(out.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    fn archive() -> Archive {
        let mut archive = Archive::default();
        archive.add_file("/usr/bin/hello", 0o755, b"world".to_vec());
        archive.add_device("dev/console", 5, 1);
        archive.add_folder("/proc");
        archive.add_link("/bin", "usr/bin");
        archive.add_file("a/../../b", 0o644, Vec::new());
        archive
    }

    #[test]
    fn the_same_files_give_the_same_bytes() {
        let mut other = Archive::default();
        other.add_folder("proc/");
        other.add_file("/b", 0o600, b"older".to_vec());
        other.add_file("//b", 0o644, Vec::new());
        other.add_link("bin", "usr/bin");
        other.add_file("usr/./bin/hello", 0o755, b"world".to_vec());
        other.add_device("/dev/console", 5, 1);
        assert_eq!(archive(), other);
        let bytes = archive().finish();
        assert_eq!(bytes, other.finish());
        assert_eq!(bytes.len() % 512, 0);
    }

    #[test]
    fn what_is_below_a_link_is_where_that_leads() {
        let paths = |archive: &Archive| archive.paths().map(|path| path.to_path_buf()).collect::<Vec<_>>();
        let expected = ["home", "lib", "lib/x", "usr", "usr/home", "usr/home/file", "usr/lib"];
        for links_first in [true, false] {
            let mut archive = Archive::default();
            let links = |archive: &mut Archive| {
                archive.add_link("home", "/usr/home");
                archive.add_link("usr/lib", "../lib");
            };
            let files = |archive: &mut Archive| {
                archive.add_file("home/file", 0o644, b"text".to_vec());
                archive.add_file("usr/lib/x", 0o644, Vec::new());
            };
            let order: [&dyn Fn(&mut Archive); 2] =
                if links_first { [&links, &files] } else { [&files, &links] };
            order.iter().for_each(|add| add(&mut archive));
            archive.follow_links();
            assert_eq!(paths(&archive), expected.map(Path::new));
        }
        let mut circle = Archive::default();
        circle.add_link("a", "b");
        circle.add_link("b", "a");
        circle.add_file("a/file", 0o644, Vec::new());
        circle.follow_links();
        assert_eq!(paths(&circle).len(), 3);
    }

    #[test]
    fn cpio_reads_it() {
        let child = Command::new("cpio")
            .args(["-tv", "--quiet", "-n"])
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            return crate::skipped::skipped("no cpio here (Debian's package cpio)");
        };
        child.stdin.take().unwrap().write_all(&archive().finish()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let expected = [
            "-rw-r--r-- 1 0 0 0 Jan 1 1970 b",
            "lrwxrwxrwx 1 0 0 7 Jan 1 1970 bin -> usr/bin",
            "drwxr-xr-x 2 0 0 0 Jan 1 1970 dev",
            "crw------- 1 0 0 5, 1 Jan 1 1970 dev/console",
            "drwxr-xr-x 2 0 0 0 Jan 1 1970 proc",
            "drwxr-xr-x 2 0 0 0 Jan 1 1970 usr",
            "drwxr-xr-x 2 0 0 0 Jan 1 1970 usr/bin",
            "-rwxr-xr-x 1 0 0 5 Jan 1 1970 usr/bin/hello",
        ];
        assert_eq!(lines, expected);
    }
}

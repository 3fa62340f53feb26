//! The system's C library, found without running it: this command is linked statically and would name its own.

use serde::{Deserialize, Serialize};

use crate::reader::Reader;
use crate::text::find;

/// The most that is read of a loader or library, in bytes. glibc's library has 2 MB, its loader 0.2 MB.
const LIMIT: u64 = 4 << 20;

/// glibc's loader has a fixed path (the psABI). It contains its version since 2.33; before, only the library does.
const GLIBC: [&str; 5] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib64/libc.so.6",
    "/usr/lib64/libc.so.6",
    "/usr/lib/libc.so.6",
];
const MUSL: &str = "/lib/ld-musl-x86_64.so.1";

/// The C library that dynamically linked programs use here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Libc {
    /// `glibc` or `musl`.
    pub name: String,
    /// `2.36`.
    pub version: Option<String>,
    /// The distribution's build, `Debian GLIBC 2.36-9+deb12u14`.
    pub package: Option<String>,
    /// The file that contains the version.
    pub path: String,
}

impl Libc {
    /// Its package, or else its name and version.
    pub fn in_words(&self) -> String {
        let by_name = || format!("{} {}", self.name, self.version.as_deref().unwrap_or_default());
        self.package.clone().unwrap_or_else(by_name).trim_end().to_owned()
    }
}

pub(crate) fn capture(reader: &mut Reader) -> Option<Libc> {
    let found = GLIBC.iter().find_map(|path| glibc(path, &reader.candidate(path, LIMIT)?));
    let found = found.or_else(|| musl(&reader.candidate(MUSL, LIMIT)?));
    if found.is_none() {
        reader.miss_expected(
            "the C library",
            "neither glibc nor musl was found (normal on a system of static programs)",
        );
    }
    found
}

/// `… (package) stable release version 2.36.`, in the loader after `ld.so`, in the library after `GNU C Library`.
fn glibc(path: &str, file: &[u8]) -> Option<Libc> {
    const BEFORE: usize = 160;
    const MARK: &[u8] = b" release version ";
    let mut rest = file;
    loop {
        let (before, after) = rest.split_at(find(rest, MARK)?);
        let after = &after[MARK.len()..];
        let line = &before[before.len().saturating_sub(BEFORE)..];
        if let (true, Some(version)) = (names_glibc(line), version_at_start(after)) {
            return Some(Libc {
                name: "glibc".into(),
                version: Some(version),
                package: package(line),
                path: path.into(),
            });
        }
        rest = after;
    }
}

fn names_glibc(line: &[u8]) -> bool {
    find(line, b"GNU C Library").is_some() || find(line, b"ld.so ").is_some()
}

/// The text between the last parentheses.
fn package(line: &[u8]) -> Option<String> {
    let start = line.iter().rposition(|byte| *byte == b'(')? + 1;
    let length = line[start..].iter().position(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(&line[start..start + length]).into_owned();
    name.chars().all(|c| c.is_ascii_graphic() || c == ' ').then_some(name)
}

/// `2.36.` gives `2.36`.
fn version_at_start(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.').unwrap_or(bytes.len());
    let version = String::from_utf8_lossy(bytes.get(..end.min(16))?);
    let version = version.trim_matches('.');
    version.contains('.').then(|| version.to_owned())
}

/// musl keeps its version as a string of its own, `1.2.3`.
fn musl(file: &[u8]) -> Option<Libc> {
    find(file, b"musl libc")?;
    let version = file.split(|byte| *byte == 0).find(|string| is_version(string));
    let version = version.map(|version| String::from_utf8_lossy(version).into_owned());
    Some(Libc { name: "musl".into(), version, package: None, path: MUSL.into() })
}

/// Three numbers with dots between them.
fn is_version(string: &[u8]) -> bool {
    let numbers: Vec<&[u8]> = string.split(|byte| *byte == b'.').collect();
    let number = |part: &&[u8]| !part.is_empty() && part.len() < 4 && part.iter().all(u8::is_ascii_digit);
    numbers.len() == 3 && numbers.iter().all(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn glibc_by_loader_and_by_library() {
        let loader =
            b"\0x release version 9\0ld.so (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36.\n\0";
        let libc = glibc("loader", loader).unwrap();
        assert_eq!(libc.version.as_deref(), Some("2.36"));
        assert_eq!(libc.package.as_deref(), Some("Debian GLIBC 2.36-9+deb12u14"));
        let library = b"GNU C Library (Ubuntu GLIBC 2.31-0ubuntu9.9) stable release version 2.31.\nCopyright";
        assert_eq!(glibc("library", library).unwrap().version.as_deref(), Some("2.31"));
        let old = b"GNU C Library (GNU libc) development release version 2.28.9000, by Roland";
        assert_eq!(glibc("library", old).unwrap().version.as_deref(), Some("2.28.9000"));
    }

    #[test]
    fn musl_by_its_strings() {
        let file = b"\x7fELF\0\x001.2\0musl libc (x86_64)\nVersion %s\n\x001.2.3\0rest";
        let libc = musl(file).unwrap();
        assert_eq!((libc.name.as_str(), libc.version.as_deref()), ("musl", Some("1.2.3")));
        assert_eq!(musl(b"musl libc").unwrap().version, None);
    }

    #[test]
    fn damaged_files_have_no_version() {
        for file in
            [b"".as_slice(), b" release version ", b"ld.so ( release version .", b"ld.so release version 2"]
        {
            assert_eq!(glibc("x", file), None);
            assert_eq!(musl(file), None);
        }
        assert_eq!(glibc("x", &b" release version ".repeat(1000)), None);
    }

    #[test]
    fn no_library_is_noted() {
        let scratch = Scratch::new("libc");
        let roots = scratch.roots();
        let mut reader = Reader::new(&roots);
        assert_eq!(capture(&mut reader), None);
        assert_eq!(reader.into_unseen()[0].what, "the C library");
    }
}

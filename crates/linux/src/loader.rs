//! Where a program's loader looks for libraries (`man 8 ld.so`).

use crate::files;
use crate::needs::{Mode, Needs, mode};
use object::elf::EM_386;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The folders that a loader knows by itself: glibc's as distributions set them (Debian's, then those of others), and musl's.
const FOLDERS_64: [&str; 7] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/local/lib",
    "/usr/lib",
];
const FOLDERS_32: [&str; 6] =
    ["/lib/i386-linux-gnu", "/usr/lib/i386-linux-gnu", "/lib32", "/usr/lib32", "/lib", "/usr/lib"];
const FOLDERS_X32: [&str; 3] = ["/lib/x86_64-linux-gnux32", "/libx32", "/usr/libx32"];

/// Where libraries are, by name (`ldconfig` writes it).
pub(crate) const CACHE: &str = "/etc/ld.so.cache";
const CACHE_LIMIT: u64 = 16 << 20;

/// What was loaded: what it needs, where it is (with symbolic links resolved), and who needed it.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub needs: Needs,
    pub file: PathBuf,
    pub parent: Option<usize>,
}

/// Finds libraries.
#[derive(Debug)]
pub(crate) struct Loader {
    /// Names and paths.
    cache: Vec<(Vec<u8>, PathBuf)>,
}

impl Loader {
    pub fn new() -> Self {
        let bytes = files::read(Path::new(CACHE), CACHE_LIMIT).unwrap_or_default();
        Self { cache: cached(&bytes).unwrap_or_default() }
    }

    /// The path by which the loader opens a library that `all[by]` needs.
    pub fn find(&self, name: &[u8], all: &[Loaded], by: usize) -> Option<PathBuf> {
        let mode = all[by].needs.mode;
        let fits = |path: &PathBuf| path.is_absolute() && fits(path, mode);
        if name.contains(&b'/') {
            return Some(expanded(name, &all[by].file)).filter(fits);
        }
        let in_folders = folders(all, by).into_iter().map(|folder| folder.join(OsStr::from_bytes(name)));
        let in_cache = self.cache.iter().filter(|(cached, _)| cached == name).map(|(_, path)| path.clone());
        let defaults: &[&str] = match mode {
            (2, _) => &FOLDERS_64,
            (_, EM_386) => &FOLDERS_32,
            _ => &FOLDERS_X32,
        };
        let in_defaults = defaults.iter().map(|folder| Path::new(folder).join(OsStr::from_bytes(name)));
        in_folders.chain(in_cache).chain(in_defaults).find(fits)
    }
}

/// The folders that a library's needer names: its own RUNPATH, or else its RPATH and those of who needed it.
fn folders(all: &[Loaded], by: usize) -> Vec<PathBuf> {
    let folders_of = |list: &[u8], file: &Path| {
        let parts = list.split(|byte| *byte == b':').filter(|part| !part.is_empty());
        parts.map(|part| expanded(part, file)).collect::<Vec<_>>()
    };
    if let Some(list) = &all[by].needs.runpath {
        return folders_of(list, &all[by].file);
    }
    let chain = std::iter::successors(Some(by), |at| all[*at].parent).map(|at| &all[at]);
    let chain = chain.filter(|loaded| loaded.needs.runpath.is_none());
    chain
        .filter_map(|loaded| Some(folders_of(loaded.needs.rpath.as_ref()?, &loaded.file)))
        .flatten()
        .collect()
}

/// A path in which `$ORIGIN` stands for the folder of the file that names it.
fn expanded(path: &[u8], file: &Path) -> PathBuf {
    let origin = file.parent().unwrap_or(Path::new("/")).as_os_str().as_bytes();
    let mut out = path.to_vec();
    for word in [&b"${ORIGIN}"[..], b"$ORIGIN"] {
        while let Some(at) = memchr::memmem::find(&out, word) {
            // A folder whose name contains the word would never end.
            if memchr::memmem::find(origin, word).is_some() {
                break;
            }
            out.splice(at..at + word.len(), origin.iter().copied());
        }
    }
    PathBuf::from(OsStr::from_bytes(&out))
}

/// Whether a file is for this mode of the processor: a loader passes over others.
fn fits(path: &Path, wanted: Mode) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(20).read_to_end(&mut head));
    read.is_ok() && mode(&head) == Some(wanted)
}

/// The names and paths in `ld.so.cache`, without those for certain processors alone (`sysdeps/generic/dl-cache.h`). Numbers in it
/// are of this machine; names and paths are given by their distance from the header.
fn cached(bytes: &[u8]) -> Option<Vec<(Vec<u8>, PathBuf)>> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    const HEADER: usize = 48;
    const ENTRY: usize = 24;
    // An older table may stand before it.
    let table = &bytes[memchr::memmem::find(bytes, MAGIC)?..];
    let number =
        |bytes: &[u8], at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize);
    let text = |at: usize| Some(table.get(at..)?.split(|byte| *byte == 0).next()?.to_vec());
    let count = number(table, MAGIC.len())?;
    let entries = table.get(HEADER..)?.chunks_exact(ENTRY).take(count).filter(|entry| entry[16..] == [0; 8]);
    let pairs = entries.map(|entry| Some((text(number(entry, 4)?)?, text(number(entry, 8)?)?)));
    pairs.map(|pair| pair.map(|(name, path)| (name, PathBuf::from(OsStr::from_bytes(&path))))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> Vec<u8> {
        let mut out = b"ld.so-1.7.0\0\0\0\0\0glibc-ld.so.cache1.1".to_vec();
        out.extend_from_slice(&2u32.to_le_bytes());
        out.resize(16 + 48, 0);
        for (name, hwcap) in [(96u32, 0u64), (96, 1 << 62)] {
            out.extend_from_slice(
                &[0x303u32.to_le_bytes(), name.to_le_bytes(), 104u32.to_le_bytes()].concat(),
            );
            out.extend_from_slice(&[&[0; 4][..], &hwcap.to_le_bytes()].concat());
        }
        out.extend_from_slice(b"libx.so\0/opt/libx.so\0");
        out
    }

    #[test]
    fn the_cache_is_read_as_far_as_it_makes_sense() {
        assert_eq!(cached(&cache()), Some(vec![(b"libx.so".to_vec(), PathBuf::from("/opt/libx.so"))]));
        for length in 0..cache().len() {
            let _any = cached(&cache()[..length]);
        }
        for at in 0..cache().len() {
            let mut changed = cache();
            changed[at] ^= 0xff;
            let _any = cached(&changed);
        }
    }

    #[test]
    fn origin_is_the_folder_of_who_names_it() {
        let file = Path::new("/opt/app/bin/program");
        assert_eq!(expanded(b"$ORIGIN/../lib:", file), Path::new("/opt/app/bin/../lib:"));
        assert_eq!(expanded(b"${ORIGIN}", file), Path::new("/opt/app/bin"));
        assert_eq!(expanded(b"$ORIGIN/x", Path::new("/a$ORIGIN/b")), Path::new("$ORIGIN/x"));
    }
}

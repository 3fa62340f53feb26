//! Drivers that a kernel has as modules, with those that they need.

use crate::{Error, Kernel, Why, banner, error, files, package, unpack};
use object::LittleEndian as LE;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A module of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its name, with `_` where its file may have `-`.
    pub name: String,
    /// Its ELF file, uncompressed, as `init_module` takes it.
    pub bytes: Vec<u8>,
}

/// The most modules that are read for the sake of those that were asked for, the most bytes of one, and how deep folders may be.
const MOST: usize = 500;
const LIMIT: u64 = 128 << 20;
const DEPTH: usize = 16;

/// The modules of these names and all that they need, in the order in which they can be loaded. They are looked for where the
/// kernel is from: in its package; beside it, where its package was unpacked; in `/lib/modules`. What a module needs is taken from
/// itself: a package has no `modules.dep` before it is installed.
///
/// # Errors
/// If one is missing, damaged, or of another kernel.
pub fn modules(kernel: &Kernel, names: &[&str]) -> Result<Vec<Module>, Error> {
    let source = Source::of(kernel)?;
    let failed = |why: Why| why.of(&source.path);
    let mut found: BTreeMap<String, (Vec<u8>, Vec<String>)> = BTreeMap::new();
    let mut wanted: BTreeSet<String> = names.iter().map(|name| plain(name)).collect();
    while !wanted.is_empty() {
        let mut here = source.fetch(&wanted).map_err(failed)?;
        for name in std::mem::take(&mut wanted) {
            let label = error::plain(&name);
            let bytes = here.remove(&name).ok_or_else(|| {
                failed(Why::Missing(format!(
                    "there is no module {label} for the kernel {}; it may be built in, or in another package",
                    kernel.release
                )))
            })?;
            let about = About::parse(&bytes)
                .map_err(|why| failed(Why::Damaged(format!("the module {label}: {why}"))))?;
            if !kernel.release.is_empty() && about.release != kernel.release {
                let other = error::plain(&about.release);
                return Err(failed(Why::Unsuitable(format!("the module {label} is for the kernel {other}"))));
            }
            found.insert(name, (bytes, about.needs));
        }
        let needed = found.values().flat_map(|(_, needs)| needs).filter(|need| !found.contains_key(*need));
        wanted = needed.cloned().collect();
        if found.len() + wanted.len() > MOST {
            return Err(failed(Why::Unsuitable(format!("its modules need more than {MOST} others"))));
        }
    }
    in_order(found).map_err(failed)
}

/// Each behind those that it needs; of those that can be loaded at the same time, by name.
fn in_order(mut left: BTreeMap<String, (Vec<u8>, Vec<String>)>) -> Result<Vec<Module>, Why> {
    let mut out: Vec<Module> = Vec::new();
    while !left.is_empty() {
        let ready = left.iter().find(|(_, (_, needs))| needs.iter().all(|need| !left.contains_key(need)));
        let Some(name) = ready.map(|(name, _)| name.clone()) else {
            return Err(Why::Damaged("its modules need each other".into()));
        };
        out.extend(left.remove(&name).map(|(bytes, _)| Module { name, bytes }));
    }
    Ok(out)
}

/// Where modules are.
struct Source {
    path: PathBuf,
    /// The bytes of a package; none for a folder.
    package: Option<Vec<u8>>,
}

impl Source {
    fn of(kernel: &Kernel) -> Result<Self, Error> {
        let file = kernel.file.as_path();
        let bytes = files::read(file, files::LIMIT).map_err(|why| why.of(file))?;
        if package::is_package(&bytes) {
            return Ok(Self { path: file.to_path_buf(), package: Some(bytes) });
        }
        let beside = file.parent().unwrap_or(Path::new("."));
        let places = [
            beside.to_path_buf(),
            beside.join("../lib/modules").join(&kernel.release),
            beside.join("../usr/lib/modules").join(&kernel.release),
            Path::new("/lib/modules").join(&kernel.release),
        ];
        let folder =
            places.into_iter().find(|place| place.join("kernel").is_dir() && !kernel.release.is_empty());
        let path = folder.ok_or_else(|| {
            Why::Missing(
                "the modules of this kernel are neither in ../lib/modules beside it nor in /lib/modules; name its package \
                 instead, or unpack that as a whole"
                    .into(),
            )
            .of(file)
        })?;
        Ok(Self { path, package: None })
    }

    /// Those of these modules that are there.
    fn fetch(&self, names: &BTreeSet<String>) -> Result<BTreeMap<String, Vec<u8>>, Why> {
        let mut out = BTreeMap::new();
        if let Some(bytes) = &self.package {
            package::each_file(bytes, |path, file| {
                if let Some(name) = module_name(path).filter(|name| names.contains(name)) {
                    out.insert(name, unpack::uncompressed(package::whole(file, LIMIT)?, LIMIT)?);
                }
                Ok(if out.len() == names.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            return Ok(out);
        }
        let mut folders = vec![(self.path.clone(), DEPTH)];
        while let Some((folder, depth)) = folders.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let entry = entry?;
                let path = entry.path();
                if entry.file_type()?.is_dir() && depth > 0 {
                    folders.push((path, depth - 1));
                } else if let Some(name) =
                    path.to_str().and_then(module_name).filter(|name| names.contains(name))
                {
                    out.insert(name, unpack::uncompressed(files::read(&path, LIMIT)?, LIMIT)?);
                }
            }
        }
        Ok(out)
    }
}

/// The name of the module that a file has by its own; none where it is none.
fn module_name(path: &str) -> Option<String> {
    let (name, rest) = path.rsplit('/').next()?.rsplit_once(".ko")?;
    matches!(rest, "" | ".xz" | ".zst" | ".gz").then(|| plain(name))
}

fn plain(name: &str) -> String {
    name.replace('-', "_")
}

/// What a module says of itself.
struct About {
    /// The release of the kernel that it is for.
    release: String,
    /// The modules that must be there before it.
    needs: Vec<String>,
}

impl About {
    /// From the section `.modinfo`: texts of the form `key=value`, with zeros between.
    fn parse(bytes: &[u8]) -> Result<Self, object::Error> {
        let header = FileHeader64::<LE>::parse(bytes)?;
        let table = header.sections(LE, bytes)?;
        let section = table.section_by_name(LE, b".modinfo").map(|(_, section)| section.data(LE, bytes));
        let text = String::from_utf8_lossy(section.transpose()?.unwrap_or_default());
        let value = |key: &str| {
            text.split('\0')
                .filter_map(|line| line.strip_prefix(key)?.strip_prefix('='))
                .next()
                .unwrap_or_default()
        };
        let needs = value("depends").split(',').filter(|name| !name.is_empty());
        let release = banner::release(value("vermagic")).unwrap_or_default();
        Ok(Self { release: release.into(), needs: needs.map(plain).collect() })
    }
}

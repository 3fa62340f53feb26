//! The probes as files with a path, for commands that execute them: in a folder of their own, which everybody may enter, and which
//! vanishes with this.

use crate::host::PlaceError;
use crate::host::image::{folders, is_mounted_noexec, own_folder};
use crate::host::scratch::Scratch;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use table::Probe;

/// Everybody may read and execute, because a command may run the probe as somebody else.
const MODE: u32 = 0o755;

/// Files of the probes.
#[derive(Debug)]
pub struct Files {
    folder: Scratch,
    by_probe: BTreeMap<Probe, String>,
}

impl Files {
    /// Places these probes: in the folder for temporary files, or in another one whose files may be executed.
    ///
    /// # Errors
    /// [`PlaceError`] when there is none.
    pub fn place(image: impl Fn(Probe) -> Vec<u8>) -> Result<Files, PlaceError> {
        let mut tried = Vec::new();
        for folder in folders().chain(own_folder()) {
            match Files::in_folder(&folder, &image) {
                Ok(files) => return Ok(files),
                Err(error) => tried.push(format!("{}: {error}", folder.display())),
            }
        }
        Err(PlaceError { tried })
    }

    /// The probes that this program has in it.
    ///
    /// # Errors
    /// As [`Files::place`].
    pub fn embedded() -> Result<Files, PlaceError> {
        Files::place(|probe| crate::probes::image(probe).to_vec())
    }

    fn in_folder(folder: &Path, image: &impl Fn(Probe) -> Vec<u8>) -> io::Result<Files> {
        if is_mounted_noexec(folder)? {
            return Err(io::Error::other("mounted noexec"));
        }
        let folder = Scratch::in_folder(folder, MODE)?;
        let mut by_probe = BTreeMap::new();
        for probe in Probe::ALL {
            let path = folder.path().join(probe.name());
            std::fs::write(&path, image(probe))?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(MODE))?;
            by_probe.insert(probe, text(path)?);
        }
        Ok(Files { folder, by_probe })
    }

    /// The path of a probe.
    pub fn path(&self, probe: Probe) -> &str {
        self.by_probe.get(&probe).map_or("", String::as_str)
    }

    /// The folder's and the file's name.
    pub fn name(&self, probe: Probe) -> String {
        let folder = self.folder.path().file_name().unwrap_or_default().to_string_lossy();
        format!("{folder}/{}", probe.name())
    }
}

/// Commands are texts, and so is what stands in them.
fn text(path: PathBuf) -> io::Result<String> {
    path.into_os_string().into_string().map_err(|_| io::Error::other("its path is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_there_for_everybody_and_vanish() {
        let files = Files::embedded().unwrap();
        let folder = Path::new(files.path(Probe::Probe64)).parent().unwrap().to_path_buf();
        for path in [folder.as_path(), Path::new(files.path(Probe::Libc))] {
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, MODE);
        }
        assert!(files.path(Probe::Probe32).ends_with(&files.name(Probe::Probe32)));
        assert_eq!(std::fs::read(files.path(Probe::Probe32)).unwrap(), crate::probes::image(Probe::Probe32));
        drop(files);
        assert!(!folder.exists());
    }
}

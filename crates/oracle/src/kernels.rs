//! Where kernels with symbols are, as `scripts/kernel-symbols.sh` fetches them: a folder each, with `kernel.deb` in it.

use std::path::{Path, PathBuf};

/// The folder of folders, if it is another than the usual one. Paths that are followed stay there, each beside its kernel.
pub const FOLDER: &str = "KENTRY_ORACLE";

/// Of these, the names of those that are wanted, with commas between them; all where it says none.
const ONLY: &str = "KENTRY_ORACLE_ONLY";

/// The kernels in the folder that `FOLDER` names, or in the usual one, by their names.
pub fn kernels(usual: &Path) -> Vec<PathBuf> {
    let root = std::env::var_os(FOLDER).map_or_else(|| usual.to_path_buf(), PathBuf::from);
    let wanted = std::env::var(ONLY).unwrap_or_default();
    let is_wanted = |folder: &PathBuf| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        wanted.is_empty() || wanted.split(',').any(|one| one == name)
    };
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten().map(|file| file.path());
    let mut all: Vec<PathBuf> =
        folders.filter(|folder| folder.join("kernel.deb").exists() && is_wanted(folder)).collect();
    all.sort();
    all
}

//! `kentry catalogue`.

use crate::error::Error;
use crate::input::{read, regular};
use crate::summaries::whole;
use clap::{Args, ValueHint};
use report::CATALOGUE_SCHEMA;
use runs::WholeFile;
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Table;

/// Options of `catalogue`.
#[derive(Debug, Clone, Args)]
pub struct CatalogueArgs {
    /// Summaries (kentry --summary FILE), also gzipped and several in a file; runs by name, id or latest; files that were saved
    /// with --output FILE.json; and folders of such files
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Write the site to this folder: a new or empty one, or a catalogue that kentry wrote before, which is brought up to date
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,
    /// The site's title
    #[arg(long, value_name = "TEXT", value_hint = ValueHint::Other)]
    pub title: Option<String>,
}

/// Writes a site about runs.
pub fn run(args: &CatalogueArgs) -> Result<ExitCode, Error> {
    let site = Site::open(&args.output)?;
    let summaries = whole(&args.files)?;
    site.write(&report::catalogue(&summaries, Table::get(), args.title.as_deref())?)?;
    Ok(ExitCode::SUCCESS)
}

/// The file by which a catalogue's folder is known. It names every file that kentry has put there, so that those that are no longer part of
/// the catalogue can be removed, and no others.
const MARKER: &str = ".kentry-catalogue";

/// The folders of a catalogue.
const FOLDERS: [&str; 3] = ["entries", "runs", "data"];

/// A folder that a catalogue may be written to.
struct Site<'a> {
    folder: &'a Path,
    /// What kentry has put there.
    old: BTreeSet<String>,
}

impl Site<'_> {
    /// # Errors
    /// [`Error::Usage`] where there is something that no kentry has made; [`Error::Output`].
    fn open(folder: &Path) -> Result<Site<'_>, Error> {
        let failed = |source| Error::Output { target: folder.to_path_buf(), source };
        if let Err(source) = std::fs::create_dir(folder)
            && source.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(failed(source));
        }
        let is_empty = std::fs::read_dir(folder).map_err(failed)?.next().is_none();
        let marker = folder.join(MARKER);
        let named = match regular(&marker).and_then(|file| read(file, Vec::new())) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(source) if source.kind() == io::ErrorKind::NotFound && is_empty => {
                CATALOGUE_SCHEMA.to_owned()
            }
            Err(source) if source.kind() == io::ErrorKind::NotFound => return Err(foreign(folder)),
            Err(source) => return Err(Error::Output { target: marker, source }),
        };
        let mut lines = named.lines();
        if lines.next() != Some(CATALOGUE_SCHEMA) {
            return Err(foreign(folder));
        }
        let old = lines.filter(|path| is_of_catalogue(path)).map(str::to_owned).collect();
        Ok(Site { folder, old })
    }

    /// Writes a catalogue, and removes what is no longer part of it. The marker names what is there at every moment.
    fn write(&self, files: &report::Files) -> Result<(), Error> {
        let new: BTreeSet<String> = files.iter().map(|(path, _)| path.clone()).collect();
        self.mark(self.old.union(&new))?;
        for name in FOLDERS {
            self.make(name)?;
        }
        for (path, bytes) in files {
            self.put(path, bytes)?;
        }
        for path in self.old.difference(&new) {
            let target = self.folder.join(path);
            match std::fs::remove_file(&target) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::Output { target, source });
                }
                _ => {}
            }
        }
        self.mark(new.iter())
    }

    fn mark<'b>(&self, paths: impl Iterator<Item = &'b String>) -> Result<(), Error> {
        let lines: String = paths.map(|path| format!("{path}\n")).collect();
        self.put(MARKER, format!("{CATALOGUE_SCHEMA}\n{lines}").as_bytes())
    }

    /// A folder in it. What is called so and is none, such as a link to another place, is not written to.
    fn make(&self, name: &str) -> Result<(), Error> {
        let target = self.folder.join(name);
        let made = std::fs::create_dir(&target).or_else(|source| match target.symlink_metadata() {
            Ok(known) if known.is_dir() => Ok(()),
            Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
            Err(_) => Err(source),
        });
        made.map_err(|source| Error::Output { target, source })
    }

    fn put(&self, path: &str, bytes: &[u8]) -> Result<(), Error> {
        let target = self.folder.join(path);
        let begun = WholeFile::begin(&target, Permissions::from_mode(0o666));
        begun.and_then(|file| file.finish(bytes)).map_err(|source| Error::Output { target, source })
    }
}

/// Whether a line of the marker names a file as a catalogue has them, and nothing outside of it.
fn is_of_catalogue(path: &str) -> bool {
    let is_name = |name: &str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
        name.chars().all(is_letter) && !name.is_empty() && !name.starts_with('.')
    };
    match path.split_once('/') {
        Some((folder, name)) => FOLDERS.contains(&folder) && is_name(name),
        None => ["index.html", "catalogue.json"].contains(&path),
    }
}

fn foreign(folder: &Path) -> Error {
    Error::Usage(format!(
        "--output {}: this folder has files, and kentry has not made it ({MARKER}, by which it knows its catalogues, is not there or of \
         another version); name a new or an empty folder",
        report::plain_os(folder.as_os_str())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn files(paths: &[&str]) -> report::Files {
        paths.iter().map(|path| ((*path).to_owned(), path.as_bytes().to_vec())).collect()
    }

    /// What is in a folder and its folders, but for the marker.
    fn there(folder: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if entry.path().is_dir() {
                names.extend(there(&entry.path()).into_iter().map(|file| format!("{name}/{file}")));
            } else if name != MARKER {
                names.push(name);
            }
        }
        names.sort();
        names
    }

    #[test]
    fn a_catalogue_is_brought_up_to_date_and_other_files_stay() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("site");
        let write = |paths: &[&str]| Site::open(&folder).and_then(|site| site.write(&files(paths)));
        write(&["index.html", "runs/a.html", "data/a.ndjson"]).unwrap();
        std::fs::write(folder.join("runs/mine.html"), "mine").unwrap();
        write(&["index.html", "runs/b.html"]).unwrap();
        assert_eq!(there(&folder), ["index.html", "runs/b.html", "runs/mine.html"]);
        let marker = std::fs::read_to_string(folder.join(MARKER)).unwrap();
        assert_eq!(marker, format!("{CATALOGUE_SCHEMA}\nindex.html\nruns/b.html\n"));
    }

    #[test]
    fn a_folder_that_kentry_has_not_made_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Site::open(folder.path()).is_ok(), "an empty one is not");
        std::fs::write(folder.path().join("thesis.tex"), "years").unwrap();
        let why = |path: &Path| Site::open(path).err().unwrap().to_string();
        assert!(why(folder.path()).contains("kentry has not made it"), "{}", why(folder.path()));
        std::fs::write(folder.path().join(MARKER), "kentry.catalogue/999\n").unwrap();
        assert!(why(folder.path()).contains("of another version"), "{}", why(folder.path()));
        assert_eq!(there(folder.path()), ["thesis.tex"]);
        assert!(why(Path::new("/nonexistent/site")).contains("there is no such file or folder"));
        assert!(why(&folder.path().join("thesis.tex")).contains("a part of the path is a file"));
    }

    /// Who can write to the folder could otherwise have kentry remove or write what they cannot.
    #[test]
    fn neither_a_marker_nor_a_link_leads_out_of_the_folder() {
        let above = tempfile::tempdir().unwrap();
        let (folder, outside) = (above.path().join("site"), above.path().join("outside"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(above.path().join("keep"), "").unwrap();
        let paths = ["../keep", "runs/../../keep", "/etc/passwd", "runs/.x", "other/a", "runs/", "a/b/c"];
        std::fs::write(folder.join(MARKER), format!("{CATALOGUE_SCHEMA}\n{}\n", paths.join("\n"))).unwrap();
        let site = Site::open(&folder).unwrap();
        assert!(site.old.is_empty(), "{:?}", site.old);
        symlink(&outside, folder.join("runs")).unwrap();
        let why = site.write(&files(&["runs/a.html"])).unwrap_err().to_string();
        assert!(why.ends_with("a part of the path is a file, not a folder"), "{why}");
        assert!(there(&outside).is_empty() && above.path().join("keep").exists());
    }
}

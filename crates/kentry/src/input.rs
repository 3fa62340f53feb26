//! Opens the files that a command line names. A pipe without a writer is an error; kentry does not wait for one.

use crate::error::{Error, words};
use crate::saving;
use attribution::bill::Bill;
use document::{Document, LoadError};
use measure::select::glob;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use runs::{Head, LONGEST, Listed, Name, Store, open};
use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A run that a command line names.
pub struct NamedRun {
    /// Its document.
    pub document: Document,
    /// What it is called: a kept run's name, a file's path; none of a kept run without a name, and of standard input.
    pub name: Option<String>,
}

/// What a file holds, or a kept run.
pub enum Saved {
    /// A run.
    Run(Box<NamedRun>),
    /// A bill.
    Bill(Box<Bill>),
    /// Followed paths.
    Anatomy(Box<attribution::anatomy::Document>),
}

/// The user's kept runs. The folder is listed once, when the first name is looked up: with thousands of runs that takes a while.
#[derive(Default)]
pub struct KeptRuns {
    listed: OnceCell<Option<(Store, Listed)>>,
}

impl KeptRuns {
    /// The folder and what it holds; none where the user has no folder.
    ///
    /// # Errors
    /// [`Error::Runs`] if the folder cannot be read.
    pub fn listed(&self) -> Result<Option<&(Store, Listed)>, Error> {
        if self.listed.get().is_none() {
            let store = saving::store().ok();
            let listed = store.map(|store| Ok::<_, Error>((store.clone(), store.list()?))).transpose()?;
            let _ = self.listed.set(listed);
        }
        Ok(self.listed.get().and_then(Option::as_ref))
    }

    /// Reads a run that a command line names, as [`document()`] does.
    ///
    /// # Errors
    /// As [`document()`].
    pub fn run(&self, path: &Path) -> Result<NamedRun, Error> {
        match self.saved(path)? {
            Saved::Run(found) => Ok(*found),
            Saved::Bill(_) => Err(no_run(path, "a bill")),
            Saved::Anatomy(_) => Err(no_run(path, "an anatomy")),
        }
    }

    /// The same, or a bill, where a file holds one.
    ///
    /// # Errors
    /// As [`document()`].
    pub fn saved(&self, path: &Path) -> Result<Saved, Error> {
        let name = path.to_str().and_then(|word| word.parse::<Name>().ok());
        let Some(name) = name else { return of_file(path) };
        match self.find(&name) {
            // What is called like a run may still be a file.
            Err(Error::Runs(runs::Error::Unknown(_))) if path.exists() => of_file(path),
            found => Ok(Saved::Run(Box::new(found?))),
        }
    }

    /// The kept runs, the oldest first, that a glob of names or `tag:KEY=GLOB` means, by their ids; the word itself where it is neither, or
    /// a file is called so.
    ///
    /// # Errors
    /// [`Error::Usage`] where no kept run is meant; [`Error::Runs`] if the folder cannot be read.
    pub fn several(&self, path: &Path) -> Result<Vec<PathBuf>, Error> {
        let is_pattern = |word: &&str| word.starts_with("tag:") || word.contains(['*', '?', '[']);
        let Some(word) = path.to_str().filter(is_pattern).filter(|_| !path.exists()) else {
            return Ok(vec![path.to_path_buf()]);
        };
        let tag = word.strip_prefix("tag:").and_then(|tag| tag.split_once('='));
        let pattern = glob(tag.map_or(word, |(_, value)| value)).map_err(Error::Usage)?;
        let is_meant = |head: &&Head| match tag {
            Some((key, _)) => head.tags.get(key).is_some_and(|value| pattern.matches(value)),
            None => head.name.as_ref().is_some_and(|name| pattern.matches(name)),
        };
        let heads = self.listed()?.map(|(_, listed)| listed.heads.as_slice()).unwrap_or_default();
        let ids: Vec<PathBuf> = heads.iter().rev().filter(is_meant).map(|head| (&head.id).into()).collect();
        if ids.is_empty() {
            let what = if tag.is_some() { "has this tag" } else { "has a name like this" };
            let why = format!("{}: no kept run {what} (`kentry runs` lists them)", report::plain(word));
            return Err(Error::Usage(why));
        }
        Ok(ids)
    }

    fn find(&self, name: &Name) -> Result<NamedRun, Error> {
        let (store, listed) = self.listed()?.ok_or_else(|| runs::Error::Unknown(name.clone()))?;
        let head = listed.find(name)?;
        Ok(NamedRun { document: of_head(store, head)?, name: head.name.clone() })
    }
}

/// Reads a document: a kept run by what it is called, or a file or a named pipe; `-` and `/dev/stdin` are standard input. A word
/// that may be a run's name means the run, where there is one; `./WORD` is always a file.
///
/// # Errors
/// [`Error::Input`], saying what is wrong with the file and where, or [`Error::Runs`].
pub fn document(path: &Path) -> Result<Document, Error> {
    KeptRuns::default().run(path).map(|found| found.document)
}

/// So many of the latest runs are read to find one that has what is looked for.
pub const LOOKED_AT: usize = 16;

/// The latest kept run that has what is looked for, or else the latest; none where no run is kept. `latest` is `latest` or `latest:lab`.
///
/// # Errors
/// As [`document()`].
pub fn latest_with(latest: &str, has: impl Fn(&Document) -> bool) -> Result<Option<Document>, Error> {
    let kept = KeptRuns::default();
    let mut newest = None;
    for before in 0..LOOKED_AT {
        let word = if before == 0 { latest.to_owned() } else { format!("{latest}~{before}") };
        let found = match kept.run(Path::new(&word)) {
            Err(Error::Runs(runs::Error::Unknown(_) | runs::Error::TooFew { .. })) => break,
            found => found?.document,
        };
        if has(&found) {
            return Ok(Some(found));
        }
        newest.get_or_insert(found);
    }
    Ok(newest)
}

/// The document of a kept run.
///
/// # Errors
/// [`Error::Input`] or [`Error::Runs`].
pub fn of_head(store: &Store, head: &Head) -> Result<Document, Error> {
    let wrong = |error: LoadError| Error::Input { file: store.file(&head.id), why: error.to_string() };
    document::load(&store.text(&head.id)?).map_err(wrong)
}

/// What is said of a document that is no run.
pub fn no_run(path: &Path, what: &str) -> Error {
    let why = format!("it is {what}, and not a run; `kentry show` shows it");
    Error::Input { file: path.to_path_buf(), why }
}

/// The schemas of all that is read.
const READ: [&str; 3] = [document::SCHEMA, attribution::bill::SCHEMA, attribution::anatomy::SCHEMA];

fn of_file(path: &Path) -> Result<Saved, Error> {
    let wrong = |why: String| Error::Input { file: path.to_path_buf(), why };
    let text = text(path).map_err(|error| wrong(words(&error)))?;
    let refused = |error: LoadError| wrong(error.to_string());
    // What is no JSON at all is no run either, and its error says the rest.
    // The lines of a summary are documents each.
    let first = text.lines().next().unwrap_or_default();
    let of_line = || document::schema_of(first, "a document").unwrap_or_default();
    let schema = document::schema_of(&text, "a document").unwrap_or_else(|_| of_line());
    // Another version of a schema is refused by who reads this one.
    let family = |schema: &str| schema.rsplit_once('/').map(|(family, _)| family.to_string());
    let is = |known: &str| family(&schema) == family(known);
    if is(attribution::bill::SCHEMA) {
        return Ok(Saved::Bill(Box::new(attribution::bill::load(&text).map_err(refused)?)));
    }
    if is(attribution::anatomy::SCHEMA) {
        return Ok(Saved::Anatomy(Box::new(attribution::anatomy::load(&text).map_err(refused)?)));
    }
    if is(summary::SCHEMA) {
        return Err(wrong(
            "it is a summary, which has no rounds; kentry fleet, export and catalogue read it".into(),
        ));
    }
    if is(compare::SCHEMA) {
        return Err(wrong(
            "it is a comparison, which is written and never read; compare its runs again".into(),
        ));
    }
    let document = document::load(&text).map_err(|error| match error {
        LoadError::Schema { found, .. } if !is(document::SCHEMA) => {
            refused(LoadError::Schema { found, known: READ.map(|schema| format!("{schema:?}")).join(", ") })
        }
        other => refused(other),
    })?;
    let name = (!is_standard(path)).then(|| report::plain_os(path.as_os_str()));
    Ok(Saved::Run(Box::new(NamedRun { document, name })))
}

/// Whether a word means standard input.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdin")
}

fn text(path: &Path) -> io::Result<String> {
    let bytes = if is_standard(path) {
        read(File::from(io::stdin().as_fd().try_clone_to_owned()?), Vec::new())?
    } else {
        let file = open(path)?;
        match file.metadata()?.file_type() {
            kind if kind.is_file() => read(file, Vec::new())?,
            kind if kind.is_fifo() => read_pipe(file)?,
            kind if kind.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            _ => return Err(io::Error::other("neither a regular file nor a pipe")),
        }
    };
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

/// Opens a regular file.
///
/// # Errors
/// Anything else is refused without waiting.
pub fn regular(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    match file.metadata()?.file_type() {
        kind if kind.is_file() => Ok(file),
        kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other("not a regular file")),
    }
}

/// Waits for data from a pipe, as long as somebody has it open for writing.
fn read_pipe(mut file: File) -> io::Result<Vec<u8>> {
    let mut first = vec![0; 1 << 12];
    let length = match file.read(&mut first) {
        Ok(0) => return Err(io::Error::other("a named pipe that nobody writes to")),
        // There is a writer, which has written nothing yet.
        Err(error) if error.raw_os_error() == Some(Errno::EAGAIN as i32) => 0,
        other => other?,
    };
    first.truncate(length);
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    read(file, first)
}

/// Reads the rest of a file, behind what was read before.
///
/// # Errors
/// It is longer than any document.
pub fn read(from: impl Read, mut bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    from.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::other(format!("longer than {} MiB, as no document is", LONGEST >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use std::fs::OpenOptions;
    use std::io::Write;

    /// Why a file of this folder is not read.
    fn refusal(path: &Path) -> String {
        document(path).unwrap_err().to_string().replace(&format!("{}: ", path.display()), "")
    }

    #[test]
    fn a_pipe_without_a_writer_was_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        assert_eq!(refusal(&pipe), "a named pipe that nobody writes to");
        assert_eq!(regular(&pipe).unwrap_err().to_string(), "not a regular file");
    }

    #[test]
    fn a_pipe_is_read_to_the_end_of_its_writer() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        // Opened for reading and writing, which does not wait for the other end.
        let mut writer = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let slow = std::thread::spawn(move || {
            for _ in 0..1000 {
                writer.write_all(&[b' '; 100]).unwrap();
            }
            writer.write_all(b"end").unwrap();
        });
        let text = text(&pipe).unwrap();
        slow.join().unwrap();
        assert_eq!((text.len(), text.trim()), (100_003, "end"));
    }

    #[test]
    fn what_is_neither_file_nor_pipe_is_refused() {
        assert_eq!(refusal(Path::new("/dev/zero")), "neither a regular file nor a pipe");
        assert_eq!(refusal(Path::new("/")), "it is a folder, not a file");
        assert_eq!(refusal(Path::new("/nonexistent/run.json")), "there is no such file or folder");
        assert_eq!(regular(Path::new("/")).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn a_long_run_wrote_what_show_refused() {
        const ROUNDS: usize = 1 << 10;
        // As long as a number gets.
        let longest = vec![-f64::MAX; ROUNDS];
        let rounds = stats::Lines {
            at_ms: longest.clone(),
            cpu: vec![100_000; ROUNDS],
            cost: longest.clone(),
            control: longest.clone(),
            cycles_per_tick: longest.clone(),
            canary: longest.clone(),
            least: longest.clone(),
            greatest: longest.clone(),
            throughput: longest.iter().copied().map(Some).collect(),
            kept: vec![256; ROUNDS],
            lost: vec![256; ROUNDS],
            excluded: vec![Some(stats::Excluded::Preempted); ROUNDS],
        };
        // Where it stands in a document, each number has a line of its own, and is indented.
        let document = serde_json::json!({ "results": [{ "rounds": rounds }] });
        let bytes = serde_json::to_string_pretty(&document).unwrap().len() * (measure::MOST_ROUNDS / ROUNDS);
        assert!(
            bytes as u64 <= LONGEST * 3 / 4,
            "{bytes} bytes of rounds; the rest of a document needs room, too"
        );
    }

    #[test]
    fn what_is_no_document_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(refusal(&path), "it is not UTF-8 text");
        std::fs::write(&path, format!("{{\"schema\": {:?}}}", compare::SCHEMA)).unwrap();
        assert_eq!(
            refusal(&path),
            "it is a comparison, which is written and never read; compare its runs again"
        );
        std::fs::write(&path, "{\"schema\": \"kentry.plan/1\"}").unwrap();
        let all = READ.map(|schema| format!("{schema:?}")).join(", ");
        let why = format!("its schema is \"kentry.plan/1\"; this version of kentry reads {all}");
        assert_eq!(refusal(&path), why, "it named runs alone");
        // A hole takes no room on the disk.
        File::create(&path).unwrap().set_len(LONGEST + 1).unwrap();
        assert_eq!(refusal(&path), "longer than 128 MiB, as no document is");
    }
}

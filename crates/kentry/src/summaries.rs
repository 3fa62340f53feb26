//! Reads summaries of many machines: lines of JSON, run documents, kept runs; packed or not; files, and all files of folders.

use crate::error::{Error, words};
use crate::input::{KeptRuns, read, regular};
use flate2::read::MultiGzDecoder;
use runs::Name;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use summary::{LONGEST_LINE, Reader, Summary};

/// A run, and what its file or its user calls it.
pub struct Labelled {
    /// The path beneath what the command line names, without endings.
    pub label: String,
    /// The run.
    pub summary: Summary,
}

/// A file that could not be read, or not to its end.
#[derive(Debug)]
pub struct Damaged {
    /// Its path.
    pub file: PathBuf,
    /// What is wrong with it, in words.
    pub why: String,
    /// How many of its runs were read all the same: those that stand before.
    pub runs: usize,
}

impl Damaged {
    fn wholly(file: &Path, why: String) -> Damaged {
        Damaged { file: file.to_path_buf(), why, runs: 0 }
    }
}

/// How deep folders may lie in each other: partitions by day and cohort have a few levels, and links may lead in a circle.
const DEEPEST: usize = 16;

/// Endings of files that are read in folders; what else lies there (a README, a script) is left alone.
const READ: [&str; 5] = ["ndjson", "jsonl", "json", "gz", "parquet"];

/// The tables of Parquet, of runs and of their rows, which stand in one folder.
pub const TABLES: [&str; 2] = ["runs.parquet", "rows.parquet"];

/// What begins gzip's format (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Gives every run of these files, folders and kept runs to `take`, one after the other, and returns the files that are damaged. Of a file
/// that is damaged in the middle, what stands before that counts.
///
/// # Errors
/// [`Error::Usage`] for a folder in which there is nothing to read; [`Error::Input`] or [`Error::Runs`] for what a command line names and
/// is not there.
pub fn each(
    paths: &[PathBuf],
    kept: &KeptRuns,
    take: &mut dyn FnMut(Labelled),
) -> Result<Vec<Damaged>, Error> {
    let mut damaged = Vec::new();
    for path in paths {
        for path in kept.several(path)? {
            let Some(found) = files(&path)? else {
                take(of_kept(&path, kept)?);
                continue;
            };
            damaged.extend(found.damaged);
            for file in found.files {
                let label = label(&path, &file);
                damaged.extend(of_file(&file, &label, take));
            }
        }
    }
    Ok(damaged)
}

/// Every run of these files, folders and kept runs.
///
/// # Errors
/// As [`each`], and [`Error::Input`] for the first file that is damaged.
pub fn whole(paths: &[PathBuf]) -> Result<Vec<Summary>, Error> {
    let mut found = Vec::new();
    let damaged = each(paths, &KeptRuns::default(), &mut |one| found.push(one.summary))?;
    match damaged.into_iter().next() {
        Some(Damaged { file, why, .. }) => Err(Error::Input { file, why }),
        None => Ok(found),
    }
}

/// The files that a word of the command line means, and what of its folders cannot be read; none where it means a kept run.
fn files(path: &Path) -> Result<Option<Found>, Error> {
    let is_name = path.to_str().is_some_and(|word| word.parse::<Name>().is_ok());
    if path.is_dir() {
        let mut found = Found::default();
        found.add(path, 0);
        if found.files.is_empty() && found.damaged.is_empty() {
            let (path, endings) = (report::plain_os(path.as_os_str()), READ.join(", ."));
            return Err(Error::Usage(format!("{path}: the folder has no file that ends in .{endings}")));
        }
        return Ok(Some(found));
    }
    let alone = || Found { files: vec![path.to_path_buf()], damaged: Vec::new() };
    Ok((!is_name || path.is_file()).then(alone))
}

/// What is in a folder and its folders.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    /// Folders that cannot be read.
    damaged: Vec<Damaged>,
}

impl Found {
    /// In the order of names, so that results are the same each time.
    fn add(&mut self, folder: &Path, depth: usize) {
        let read = if depth > DEEPEST {
            Err(io::Error::other("folders lie too deep in each other, or a link leads in a circle"))
        } else {
            std::fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>)
        };
        let mut entries = match read {
            Ok(entries) => entries,
            Err(error) => return self.damaged.push(Damaged::wholly(folder, words(&error))),
        };
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if path.is_dir() {
                self.add(&path, depth + 1);
            } else if path.extension().is_some_and(|ending| READ.iter().any(|read| ending == *read)) {
                self.files.push(path);
            }
        }
    }
}

fn of_kept(path: &Path, kept: &KeptRuns) -> Result<Labelled, Error> {
    let found = kept.run(path)?;
    let label = found.name.unwrap_or_else(|| path.to_string_lossy().into_owned());
    Ok(Labelled { label, summary: Summary::of(&found.document) })
}

/// Returns what is wrong with the file, if anything is.
fn of_file(file: &Path, label: &str, take: &mut dyn FnMut(Labelled)) -> Option<Damaged> {
    if file.extension().is_some_and(|ending| ending == "parquet") {
        return of_tables(file, take).err().map(|why| Damaged::wholly(file, why));
    }
    let mut runs = 0;
    let mut take = |summary| {
        runs += 1;
        take(Labelled { label: label.to_owned(), summary });
    };
    let read = unpacked(file).map_err(|error| words(&error)).and_then(|from| of_lines(from, &mut take));
    let why = read.err()?;
    Some(Damaged { file: file.to_path_buf(), why, runs })
}

/// The runs of two tables; the other one stands beside. Of both, that of the runs is read, so that a folder's runs come once. Hosts are
/// called by their machine's id: a table has no names of files.
#[cfg(feature = "parquet")]
fn of_tables(file: &Path, take: &mut dyn FnMut(Labelled)) -> Result<(), String> {
    let [runs, rows] = TABLES.map(|name| file.with_file_name(name));
    if file == rows && runs.exists() {
        return Ok(());
    }
    if file != runs {
        return Err(format!("tables of summaries are called {} and {}", TABLES[0], TABLES[1]));
    }
    for summary in summary::parquet::read(&runs, &rows).map_err(|error| error.to_string())? {
        let label = summary.run.cohort.machine_id.clone().unwrap_or_else(|| summary.run.run_id.clone());
        take(Labelled { label: report::plain(&label), summary });
    }
    Ok(())
}

#[cfg(not(feature = "parquet"))]
fn of_tables(_: &Path, _: &mut dyn FnMut(Labelled)) -> Result<(), String> {
    Err("this kentry was built without Parquet".to_owned())
}

/// `rack-2/web-1` of `out/rack-2/web-1.ndjson.gz`, where the command line names `out`: two hosts of two folders may have one name.
fn label(named: &Path, file: &Path) -> String {
    let below = file.strip_prefix(named).ok().filter(|below| !below.as_os_str().is_empty());
    let name = below.unwrap_or_else(|| file.file_name().map_or(file, Path::new)).to_string_lossy();
    let mut name = name.as_ref();
    while let Some((stem, _)) =
        name.rsplit_once('.').filter(|(stem, ending)| !stem.is_empty() && READ.contains(ending))
    {
        name = stem;
    }
    report::plain(name)
}

/// What a file holds, unpacked.
fn unpacked(file: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut file = BufReader::new(regular(file)?);
    let is_packed = file.fill_buf()?.starts_with(&GZIP);
    Ok(if is_packed { Box::new(BufReader::new(MultiGzDecoder::new(file))) } else { Box::new(file) })
}

/// Lines of a summary begin with their schema, and may be any number. All else is a document, or says why it is none.
fn of_lines(mut from: Box<dyn BufRead>, take: &mut dyn FnMut(Summary)) -> Result<(), String> {
    let mut first = Vec::new();
    let line = from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut first);
    line.map_err(|error| words(&error))?;
    let schema =
        std::str::from_utf8(&first).ok().and_then(|line| document::schema_of(line, "a summary").ok());
    if schema.is_some_and(|schema| schema.starts_with(summary::FAMILY)) {
        let mut lines = Reader::new(first.chain(from));
        return lines.try_for_each(|read| read.map(&mut *take)).map_err(|wrong| wrong.to_string());
    }
    let bytes = read(from, first).map_err(|error| words(&error))?;
    let text = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let document = document::load(text).map_err(|error| error.to_string())?;
    take(Summary::of(&document));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::Document;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn named(id: &str) -> Document {
        Document { id: Some(id.into()), ..Document::empty() }
    }

    fn lines(ids: &[&str]) -> Vec<u8> {
        ids.iter().flat_map(|id| summary::write(&Summary::of(&named(id)))).collect()
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    fn read(paths: &[PathBuf]) -> (Vec<String>, Vec<String>) {
        let mut found = Vec::new();
        let mut take = |one: Labelled| found.push(format!("{} {}", one.label, one.summary.run.run_id));
        let damaged = each(paths, &KeptRuns::default(), &mut take).unwrap();
        let name = |one: &Damaged| format!("{}: {}", one.file.file_name().unwrap().display(), one.why);
        (found, damaged.iter().map(name).collect())
    }

    #[test]
    fn a_folder_of_every_kind_is_read_in_order_and_damaged_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        };
        let document = serde_json::to_vec(&named("d")).unwrap();
        write("web-2.ndjson", &lines(&["b"]));
        write("web-1.ndjson.gz", &packed(&lines(&["a"])));
        write("day=1/c.jsonl", &[lines(&["c1"]), lines(&["c2"])].concat());
        write("day=2/d.json", &document);
        write("day=2/e.json.gz", &packed(&document));
        write("README.md", b"no summary");
        write(".hidden.json", b"no summary");
        write("x-broken.ndjson", &[lines(&["x"]), b"{\"schema\"".to_vec()].concat());
        write("y-empty.json", b"");
        write("z-cut.ndjson.gz", &packed(&lines(&["z"]))[..40]);
        let (found, damaged) = read(&[folder.path().to_path_buf()]);
        assert_eq!(found, ["day=1/c c1", "day=1/c c2", "day=2/d d", "day=2/e d", "web-1 a", "web-2 b"]);
        let begins = [
            "x-broken.ndjson: line 2 is no line of a summary: ",
            "y-empty.json: it is empty",
            "z-cut.ndjson.gz: ",
        ];
        assert_eq!(damaged.len(), begins.len(), "{damaged:?}");
        assert!(damaged.iter().zip(begins).all(|(said, begin)| said.starts_with(begin)), "{damaged:?}");
    }

    #[test]
    fn a_folder_without_files_and_a_file_that_is_not_there_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let why = |path: &Path| {
            let found = each(&[path.to_path_buf()], &KeptRuns::default(), &mut |_| ());
            found.map(|damaged| damaged.into_iter().map(|one| one.why).collect::<Vec<_>>())
        };
        assert!(
            why(folder.path())
                .unwrap_err()
                .to_string()
                .contains("the folder has no file that ends in .ndjson")
        );
        assert_eq!(why(&folder.path().join("x.json")).unwrap(), ["there is no such file or folder"]);
    }
}

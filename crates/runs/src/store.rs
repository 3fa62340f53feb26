//! The folder.

use crate::file::{self, Damage};
use crate::head::Head;
use crate::name::{InvalidName, Name, is_name, may_be_id};
use crate::prune::Keep;
use crate::whole_file::{self, WholeFile};
use document::Document;
use nix::fcntl::{Flock, FlockArg, OFlag};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What a kept run's file is called, behind its id.
const ENDING: &str = ".json.gz";

/// What is left of a process that was killed while it wrote is removed when it is older than this.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// Why a run cannot be kept, found or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be used.
    #[error("the folder of kept runs, {}: {source}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file in it cannot be used.
    #[error("{}: {why}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        why: Damage,
    },
    /// A file in it cannot be written or removed.
    #[error("{}: {source}", .file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// No run is called so.
    #[error("no kept run is called {0}; `kentry runs` lists them")]
    Unknown(Name),
    /// There are not so many runs.
    #[error("there is no {asked}: {} kept; `kentry runs` lists all", asked.so_many(*kept))]
    TooFew {
        /// What was asked for.
        asked: Name,
        /// How many there are; none for none.
        kept: Option<usize>,
    },
    /// Several runs are called so.
    #[error("{word} may be any of the runs {}; give more digits of an id", .ids.join(", "))]
    Ambiguous {
        /// What was asked for.
        word: String,
        /// The runs' ids.
        ids: Vec<String>,
    },
    /// Another run has the name.
    #[error("the run {id} is called {name} already; choose another name, or rename that run")]
    Taken {
        /// The name.
        name: String,
        /// The run that has it.
        id: String,
    },
    /// The run is kept, but could not be given its name.
    #[error("the run {id} is kept without its name: {why}; `kentry runs rename {id} NAME` gives it one")]
    Unnamed {
        /// The run.
        id: String,
        /// Why.
        why: Box<Error>,
    },
    /// Not a name.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The document has no id.
    #[error("a document without an id cannot be kept")]
    NoId,
}

/// A file of the folder that is not shown as a run.
#[derive(Debug)]
pub struct Skipped {
    /// The file.
    pub file: PathBuf,
    /// Why.
    pub why: Damage,
}

/// What the folder holds.
#[derive(Debug, Default)]
pub struct Listed {
    /// The runs, the newest first; last those whose time cannot be believed ([`Head::began`]).
    pub heads: Vec<Head>,
    /// Files that are none.
    pub skipped: Vec<Skipped>,
}

impl Listed {
    /// The run that is called so.
    ///
    /// # Errors
    /// [`Error`] where there is none, or several.
    pub fn find(&self, name: &Name) -> Result<&Head, Error> {
        let heads = &self.heads;
        let word = match name {
            Name::Latest(of, back) => {
                let mut of_these = heads.iter().filter(|head| of.is(&head.place));
                let kept = Some(of_these.clone().count()).filter(|kept| *kept > 0);
                return of_these.nth(*back).ok_or(Error::TooFew { asked: name.clone(), kept });
            }
            Name::Word(word) => word,
        };
        let is_called = |head: &&Head| head.name.as_ref() == Some(word);
        let begins = |head: &&Head| may_be_id(word) && head.id.starts_with(word.as_str());
        let mut found: Vec<&Head> = heads.iter().filter(is_called).collect();
        if found.is_empty() {
            found = heads.iter().filter(begins).collect();
        }
        match found[..] {
            [] => Err(Error::Unknown(name.clone())),
            [one] => Ok(one),
            _ => {
                let ids = found.into_iter().map(|head| head.id.clone()).collect();
                Err(Error::Ambiguous { word: word.clone(), ids })
            }
        }
    }
}

/// The folder of kept runs. It is made when the first run is kept.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// In this folder.
    pub fn at(folder: PathBuf) -> Store {
        Store { folder }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of a run.
    pub fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}{ENDING}"))
    }

    /// Makes the folder where there is none, for this user alone, and makes sure that a run can be written. Removes what killed
    /// processes have left behind.
    ///
    /// # Errors
    /// [`Error::Folder`].
    pub fn prepare(&self) -> Result<(), Error> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(|source| self.wrong(source))?;
        tempfile::tempfile_in(&self.folder).map_err(|source| self.wrong(whole_file::without_path(source)))?;
        self.tidy().map_err(|source| self.wrong(source))
    }

    /// Keeps a document, whose JSON is `text`, in a folder that is prepared.
    ///
    /// # Errors
    /// [`Error::Unnamed`] where the run is kept, but its name is another run's meanwhile. With any other, nothing is kept, and nothing
    /// is left behind.
    pub fn keep(
        &self,
        document: &Document,
        text: &str,
        name: Option<&str>,
        tags: &BTreeMap<String, String>,
    ) -> Result<Head, Error> {
        let _lock = self.lock();
        let refused = name.and_then(|name| self.is_free(name).err());
        let name = name.filter(|_| refused.is_none());
        let head = Head::of(document, name, tags).ok_or(Error::NoId)?;
        self.write(&head, text)?;
        match refused {
            Some(why) => Err(Error::Unnamed { id: head.id, why: Box::new(why) }),
            None => Ok(head),
        }
    }

    /// All runs, the newest first, and the files that are none. A folder that is not there holds nothing.
    ///
    /// # Errors
    /// [`Error::Folder`].
    pub fn list(&self) -> Result<Listed, Error> {
        let mut listed = Listed::default();
        for file in self.files()? {
            match self.read_head(&file) {
                Ok(head) => listed.heads.push(head),
                // It was removed meanwhile.
                Err(Damage::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Err(why) => listed.skipped.push(Skipped { file, why }),
            }
        }
        let now = SystemTime::now();
        listed.heads.sort_by(|a, b| b.age(now).cmp(&a.age(now)));
        Ok(listed)
    }

    /// The run that is called so.
    ///
    /// # Errors
    /// [`Error`] where there is none, or several.
    pub fn find(&self, name: &Name) -> Result<Head, Error> {
        self.list()?.find(name).cloned()
    }

    /// The JSON of a run.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn text(&self, id: &str) -> Result<String, Error> {
        self.unpack(id).map(|(_, text)| text)
    }

    /// Makes sure that no run is called so, and that one may be. Before the name is given, another process may take it: who gives one
    /// looks again, under the lock.
    ///
    /// # Errors
    /// [`Error::Name`] or [`Error::Taken`].
    pub fn is_free(&self, name: &str) -> Result<(), Error> {
        is_name(name)?;
        match self.list()?.heads.into_iter().find(|head| head.name.as_deref() == Some(name)) {
            Some(head) => Err(Error::Taken { name: name.to_string(), id: head.id }),
            None => Ok(()),
        }
    }

    /// Gives a run a name, instead of the one that it has, or takes its name away.
    ///
    /// # Errors
    /// [`Error`]; the run is then as it was.
    pub fn rename(&self, id: &str, name: Option<&str>) -> Result<Head, Error> {
        self.change(id, |head| {
            if let Some(name) = name.filter(|name| head.name.as_deref() != Some(*name)) {
                self.is_free(name)?;
            }
            head.name = name.map(str::to_string);
            Ok(())
        })
    }

    /// Changes how a run is tagged.
    ///
    /// # Errors
    /// [`Error`]; the run is then as it was.
    pub fn label(&self, id: &str, change: impl FnOnce(&mut Head)) -> Result<Head, Error> {
        self.change(id, |head| {
            change(head);
            Ok(())
        })
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Head) -> Result<(), Error>) -> Result<Head, Error> {
        let _lock = self.lock();
        let (mut head, text) = self.unpack(id)?;
        change(&mut head)?;
        self.write(&head, &text)?;
        Ok(head)
    }

    /// Removes a run.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn remove(&self, id: &str) -> Result<(), Error> {
        let _lock = self.lock();
        let file = self.file(id);
        std::fs::remove_file(&file).map_err(|source| Error::Unwritable { file, source })
    }

    /// Removes the runs that a rule does not keep, and returns all that there were and those that went. Nobody can name a run between the
    /// look at it and its end. With `dry_run` all stay.
    ///
    /// # Errors
    /// [`Error::Folder`] or [`Error::Unwritable`].
    pub fn prune(
        &self,
        keep: &Keep,
        now: SystemTime,
        dry_run: bool,
    ) -> Result<(Vec<Head>, Vec<Head>), Error> {
        let _lock = self.lock();
        let heads = self.list()?.heads;
        let goes: Vec<Head> = keep.leaves(&heads, now).into_iter().cloned().collect();
        for file in goes.iter().filter(|_| !dry_run).map(|head| self.file(&head.id)) {
            match std::fs::remove_file(&file) {
                // On a file system without locks somebody else may have removed it.
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::Unwritable { file, source });
                }
                _ => (),
            }
        }
        Ok((heads, goes))
    }

    /// Keeps other processes from adding, changing or removing a run while it is held: of two that change the same run, the later would
    /// undo what the earlier did, and two that look whether a name is free would both give it. None where the file system has no locks.
    fn lock(&self) -> Option<Flock<File>> {
        Flock::lock(File::open(&self.folder).ok()?, FlockArg::LockExclusive).ok()
    }

    /// Reads every file whole: the runs, in no order, and the files that are none, or damaged.
    ///
    /// # Errors
    /// [`Error::Folder`].
    pub fn verify(&self) -> Result<Listed, Error> {
        let mut verified = Listed::default();
        for file in self.files()? {
            match self.verify_file(&file) {
                Ok(head) => verified.heads.push(head),
                Err(why) => verified.skipped.push(Skipped { file, why }),
            }
        }
        Ok(verified)
    }

    fn unpack(&self, id: &str) -> Result<(Head, String), Error> {
        let file = self.file(id);
        open_kept(&file).and_then(file::unpack).map_err(|why| Error::File { file, why })
    }

    fn verify_file(&self, file: &Path) -> Result<Head, Damage> {
        let (head, text) = open_kept(file).and_then(file::unpack)?;
        self.is_called_as_it_should(file, &head)?;
        let document = document::load(&text).map_err(|error| Damage::Broken(error.to_string()))?;
        let due = Head::of(&document, head.name.as_deref(), &head.tags).map(|due| due.told_as_by(&head));
        if due.as_ref() == Some(&head) { Ok(head) } else { Err(Damage::Contradiction) }
    }

    fn read_head(&self, file: &Path) -> Result<Head, Damage> {
        let head = open_kept(file).and_then(file::head)?;
        self.is_called_as_it_should(file, &head)?;
        Ok(head)
    }

    fn is_called_as_it_should(&self, file: &Path, head: &Head) -> Result<(), Damage> {
        if file == self.file(&head.id) { Ok(()) } else { Err(Damage::Misnamed(head.id.clone())) }
    }

    fn write(&self, head: &Head, text: &str) -> Result<(), Error> {
        let file = self.file(&head.id);
        let written = file::pack(head, text)
            .and_then(|bytes| WholeFile::begin(&file, Permissions::from_mode(0o600))?.finish(&bytes));
        written.map_err(|source| Error::Unwritable { file, source })
    }

    /// Every file that is not one in the making.
    fn files(&self) -> Result<Vec<PathBuf>, Error> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|source| self.wrong(source))?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| self.wrong(source))?;
            if !whole_file::is_in_the_making(&entry.file_name()) {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    }

    fn tidy(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let written = entry.metadata().and_then(|known| known.modified());
            let age = written.map(|time| SystemTime::now().duration_since(time).unwrap_or_default());
            if whole_file::is_in_the_making(&entry.file_name()) && age.is_ok_and(|age| age > LEFT_BEHIND) {
                // Another process may have removed it meanwhile.
                let _ = std::fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    fn wrong(&self, source: io::Error) -> Error {
        Error::Folder { folder: self.folder.clone(), source }
    }
}

/// Opens without waiting: an ordinary open waits for a pipe's writer, and may start a device.
///
/// # Errors
/// The system's error.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)
}

fn open_kept(path: &Path) -> Result<File, Damage> {
    let file = open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(Damage::Foreign) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Tag;
    use document::{Machine, Measurement, Place};
    use std::os::unix::fs::MetadataExt;
    use table::Kernel;

    fn document(number: u8) -> Document {
        Document {
            id: Some(format!("{number:02x}").repeat(16)),
            measurement: Measurement {
                started: format!("2026-11-22T10:00:{:02}Z", number % 60),
                place: Place::new(Machine::Host, Kernel::Linux),
                ..Measurement::default()
            },
            ..Document::empty()
        }
    }

    fn keep(store: &Store, number: u8, name: Option<&str>) -> Head {
        let document = document(number);
        let text = serde_json::to_string_pretty(&document).unwrap();
        store.prepare().unwrap();
        store.keep(&document, &text, name, &BTreeMap::new()).unwrap()
    }

    /// After a run of the lab, `latest` was it, and a comparison with the run before made no sense.
    #[test]
    fn latest_is_the_newest_run_of_this_host_and_guests_are_asked_for_by_name() {
        let (_folder, store) = store();
        store.prepare().unwrap();
        let keep_of = |number: u8, machine: Machine, kernel: Kernel| {
            let mut document = document(number);
            document.measurement.place = Place::new(machine, kernel);
            let text = serde_json::to_string_pretty(&document).unwrap();
            store.keep(&document, &text, None, &BTreeMap::new()).unwrap();
        };
        keep_of(0xa1, Machine::Host, Kernel::Linux);
        keep_of(0xa2, Machine::QemuTcg, Kernel::Lab);
        keep_of(0xa3, Machine::QemuTcg, Kernel::Linux);
        keep_of(0xa4, Machine::QemuTcg, Kernel::Lab);
        assert_eq!(
            ["latest", "latest:linux", "latest:lab", "latest:lab~1"].map(|word| find(&store, word).unwrap()),
            ["a1", "a3", "a4", "a2"]
        );
        let none = find(&store, "latest:linux~1").unwrap_err();
        assert!(none.contains("only 1 run of a Linux in a guest is kept"), "{none}");
    }

    /// Both began at once, and the greater id was the newer run: `compare latest~1 latest` took B for what was.
    #[test]
    fn of_two_arms_the_second_is_the_newer_run_whatever_their_ids_are() {
        for ids in [[0xa1, 0xa2], [0xa2, 0xa1]] {
            let (_folder, store) = store();
            store.prepare().unwrap();
            for (number, (arm, command)) in ids.into_iter().zip([("A", None), ("B", Some("strace -f"))]) {
                let mut document = document(number);
                document.measurement.started = "2026-11-22T10:00:00Z".into();
                document.measurement.arm = Some(arm.into());
                document.measurement.command = command.map(str::to_string);
                let text = serde_json::to_string(&document).unwrap();
                store.keep(&document, &text, None, &BTreeMap::new()).unwrap();
            }
            let found = ["latest~1", "latest"].map(|word| store.find(&word.parse().unwrap()).unwrap());
            assert_eq!(found.each_ref().map(|head| head.arm.as_deref()), [Some("A"), Some("B")]);
            assert_eq!(found.each_ref().map(|head| head.command.as_deref()), [None, Some("strace -f")]);
            // A head that does not know of arms is as good as it was.
            store.label(&found[1].id, |head| (head.arm, head.command) = (None, None)).unwrap();
            assert!(store.verify().unwrap().skipped.is_empty());
        }
    }

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("data/kentry/runs"));
        (folder, store)
    }

    fn find(store: &Store, word: &str) -> Result<String, String> {
        store
            .find(&word.parse().unwrap())
            .map(|head| head.id[..2].to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_run_is_found_by_all_that_it_is_called() {
        let (_folder, store) = store();
        assert!(store.list().unwrap().heads.is_empty());
        assert_eq!(
            find(&store, "latest").unwrap_err(),
            "there is no latest: no run of this host is kept; `kentry runs` lists all"
        );
        keep(&store, 0xa1, Some("before"));
        keep(&store, 0xa2, None);
        assert_eq!(find(&store, "latest"), Ok("a2".into()), "by the time, not by the file");
        assert_eq!(find(&store, "latest~1"), Ok("a1".into()));
        assert_eq!(
            find(&store, "latest~2").unwrap_err(),
            "there is no latest~2: only 2 runs of this host are kept; `kentry runs` lists all"
        );
        assert_eq!(find(&store, "before"), Ok("a1".into()));
        assert_eq!(find(&store, "a2a2"), Ok("a2".into()));
        assert_eq!(find(&store, "a2a").unwrap_err(), "no kept run is called a2a; `kentry runs` lists them");
        let text = store.text(&"a1".repeat(16)).unwrap();
        assert_eq!(document::load(&text).unwrap().id, Some("a1".repeat(16)));
        assert_eq!(store.folder().metadata().unwrap().mode() & 0o777, 0o700);
    }

    /// One run that a wrong clock had dated was `latest` for ever.
    #[test]
    fn a_run_of_the_future_is_older_than_all_others() {
        let (_folder, store) = store();
        store.prepare().unwrap();
        for (number, year) in [(0xa1, "2001"), (0xa2, "2999"), (0xa3, "2002"), (0xa4, "zzzz")] {
            let mut document = document(number);
            document.measurement.started = format!("{year}-01-01T00:00:00Z");
            let text = serde_json::to_string(&document).unwrap();
            store.keep(&document, &text, None, &BTreeMap::new()).unwrap();
        }
        let heads = store.list().unwrap().heads;
        let order: Vec<&str> = heads.iter().map(|head| &head.id[..2]).collect();
        assert_eq!(order, ["a3", "a1", "a4", "a2"]);
        let now = SystemTime::now();
        assert_eq!(
            heads.iter().map(|head| head.began(now).is_some()).collect::<Vec<_>>(),
            [true, true, false, false]
        );
        let goes = crate::Keep { newest: Some(1), within: None }.leaves(&heads, now);
        assert_eq!(goes.iter().map(|head| &head.id[..2]).collect::<Vec<_>>(), ["a1"]);
    }

    #[test]
    fn a_name_is_one_runs_and_a_label_changes_nothing_else() {
        let (_folder, store) = store();
        let id = keep(&store, 1, Some("before")).id;
        assert!(store.is_free("before").unwrap_err().to_string().contains("is called before already"));
        assert!(store.is_free("deadbeef").is_err() && store.is_free("after").is_ok());
        let text = store.text(&id).unwrap();
        let tag: Tag = "commit=1a".parse().unwrap();
        let head = store
            .rename(&id, Some("after"))
            .and_then(|_| store.label(&id, |head| drop(head.tags.insert(tag.key, tag.value))))
            .unwrap();
        assert_eq!((head.name.as_deref(), &*head.tags["commit"]), (Some("after"), "1a"));
        assert_eq!(store.list().unwrap().heads, [head]);
        assert_eq!(store.text(&id).unwrap(), text);
        assert!(store.verify().unwrap().skipped.is_empty());
        store.remove(&id).unwrap();
        assert!(store.list().unwrap().heads.is_empty() && store.remove(&id).is_err());
    }

    /// All of them found the name free before they measured, and all got it.
    #[test]
    fn of_thirty_runs_that_want_one_name_one_gets_it() {
        let (_folder, store) = store();
        store.prepare().unwrap();
        let keep = |number: u8| {
            let document = document(number);
            let text = serde_json::to_string(&document).unwrap();
            store.keep(&document, &text, Some("before"), &BTreeMap::new())
        };
        let kept: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=30).map(|number| scope.spawn(move || keep(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let named: Vec<&Head> = kept.iter().filter_map(|kept| kept.as_ref().ok()).collect();
        assert_eq!(named.len(), 1, "{kept:?}");
        let heads = store.list().unwrap().heads;
        assert_eq!(heads.len(), 30, "none is lost");
        assert_eq!(heads.iter().filter(|head| head.name.is_some()).collect::<Vec<_>>(), named);
        for refused in kept.iter().filter_map(|kept| kept.as_ref().err()) {
            let said = refused.to_string();
            let (own, other) = said.split_once(" is kept without its name: the run ").unwrap();
            assert!(other.starts_with(&format!("{} is called before already", named[0].id)), "{said}");
            assert!(heads.iter().any(|head| own.ends_with(&head.id)), "{said}");
        }
    }

    #[test]
    fn of_two_runs_that_are_renamed_alike_one_gets_the_name() {
        let (_folder, store) = store();
        let [one, two] = [1, 2].map(|number| keep(&store, number, None).id);
        store.rename(&one, Some("before")).unwrap();
        assert!(matches!(store.rename(&two, Some("before")), Err(Error::Taken { .. })));
        assert!(store.rename(&one, Some("before")).is_ok(), "its own name is its own");
        assert_eq!(store.rename(&one, None).unwrap().name, None);
        assert!(store.rename(&two, Some("before")).is_ok());
    }

    #[test]
    fn of_twenty_tags_at_once_one_was_kept() {
        let (_folder, store) = store();
        let id = keep(&store, 1, None).id;
        std::thread::scope(|scope| {
            for number in 0..20 {
                let (store, id) = (store.clone(), &id);
                let tag = move |head: &mut Head| drop(head.tags.insert(format!("tag{number}"), "x".into()));
                scope.spawn(move || store.label(id, tag).unwrap());
            }
        });
        assert_eq!(store.list().unwrap().heads[0].tags.len(), 20);
    }

    #[test]
    fn what_is_no_run_is_named_and_skipped() {
        let (_folder, store) = store();
        let good = keep(&store, 1, None);
        let path = |name: &str| store.folder().join(name);
        std::fs::write(path("notes.txt"), "mine").unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::fs::copy(store.file(&good.id), path("copy.json.gz")).unwrap();
        std::os::unix::fs::symlink("/nonexistent", path("dangling")).unwrap();
        let cut = keep(&store, 2, None);
        let bytes = std::fs::read(store.file(&cut.id)).unwrap();
        std::fs::write(store.file(&cut.id), &bytes[..bytes.len() - 9]).unwrap();

        let listed = store.list().unwrap();
        assert_eq!(listed.heads.len(), 2, "a list does not unpack");
        let why = |name: &str| {
            let skipped = listed.skipped.iter().find(|skipped| skipped.file.ends_with(name)).unwrap();
            skipped.why.to_string()
        };
        for name in ["notes.txt", "folder", "pipe"] {
            assert_eq!(why(name), "it is not a run that kentry kept", "{name}");
        }
        assert_eq!(why("copy.json.gz"), format!("it holds the run {}", good.id));
        let verified = store.verify().unwrap();
        let of_cut = verified.skipped.iter().find(|skipped| skipped.file == store.file(&cut.id)).unwrap();
        assert_eq!(of_cut.why.to_string(), "it is damaged: its end is missing");
        assert_eq!(verified.heads.len(), 1);
    }

    #[test]
    fn a_list_that_says_something_else_than_the_run_is_noticed() {
        let (_folder, store) = store();
        let head = keep(&store, 1, None);
        store.label(&head.id, |head| head.ok += 1).unwrap();
        let said = store.verify().unwrap().skipped.remove(0).why.to_string();
        assert_eq!(said, "what a list shows of it is not what its document says");
    }

    #[test]
    fn what_a_killed_process_left_is_removed_later() {
        let (_folder, store) = store();
        keep(&store, 1, None);
        let left = store.folder().join(".kentry-abc123");
        let file = File::create(&left).unwrap();
        assert!(store.list().unwrap().skipped.is_empty(), "another process may be writing it");
        keep(&store, 2, None);
        assert!(left.exists());
        file.set_modified(SystemTime::now() - 2 * LEFT_BEHIND).unwrap();
        keep(&store, 3, None);
        assert!(!left.exists());
    }

    #[test]
    fn a_document_without_an_id_is_not_kept() {
        let (_folder, store) = store();
        let old = Document { id: None, ..document(1) };
        assert!(matches!(store.keep(&old, "{}", None, &BTreeMap::new()), Err(Error::NoId)));
        assert!(!store.folder().exists());
    }
}

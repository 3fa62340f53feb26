//! A program of this machine with all that it needs to start, for a guest.

use crate::elf::is_elf;
use crate::error::plain;
use crate::loader::{CACHE, Loaded, Loader};
use crate::needs::Needs;
use crate::{Archive, Error, PATH, Why, files};
use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// The most bytes that a program and its libraries may have together: all of it is in the guest's memory.
const LIMIT: u64 = 512 << 20;
/// How many symbolic links a path may lead over (as in the kernel).
const MOST_LINKS: usize = 40;
/// How many scripts may be interpreted by each other (`fs/exec.c` has five).
const MOST_SCRIPTS: usize = 5;

impl Archive {
    /// Adds a program with its loader and libraries, or a script with its interpreter, at the paths that they have on this
    /// machine, with the symbolic links on the way. Returns the program's path in the guest. What it opens when it runs (plug-ins,
    /// data, other programs) is not known, and has to be shared.
    ///
    /// # Errors
    /// If something that it needs cannot be found or read: what, and what needs it.
    pub fn add_program(&mut self, program: &Path) -> Result<PathBuf, Error> {
        let path = std::path::absolute(program).map_err(|error| Why::Unreadable(error).of(program))?;
        let file = path.canonicalize().unwrap_or_else(|_| path.clone());
        let mut packer = Packer { archive: self, program: file, room: LIMIT };
        packer.program(&path, MOST_SCRIPTS).map_err(|why| why.of(program))?;
        Ok(path)
    }
}

struct Packer<'a> {
    archive: &'a mut Archive,
    /// The program, without symbolic links on its path.
    program: PathBuf,
    /// Bytes that may still be added.
    room: u64,
}

impl Packer<'_> {
    /// Adds a program or a script; `scripts` may still interpret it.
    fn program(&mut self, path: &Path, scripts: usize) -> Result<(), Why> {
        let (file, bytes) = self.file(path)?;
        if file.metadata()?.permissions().mode() & 0o111 == 0 {
            return Err(Why::Unsuitable("it may not be executed (chmod +x)".into()));
        }
        if let Some(text) = bytes.strip_prefix(b"#!") {
            return self.script(text, &file, scripts);
        }
        if !is_elf(&bytes) {
            return Err(Why::Unsuitable(
                "it is neither an ELF file nor a script that begins with `#!`".into(),
            ));
        }
        self.libraries(Loaded { needs: Needs::parse(&bytes)?, file, parent: None })
    }

    /// Adds what interprets a script. `text` is the script's, behind its `#!`.
    fn script(&mut self, text: &[u8], file: &Path, scripts: usize) -> Result<(), Why> {
        let Some((interpreter, argument)) = interpreter(text) else {
            return Err(Why::Unsuitable(
                "it is a script that names no interpreter: nothing follows `#!` in its first line".into(),
            ));
        };
        if scripts == 0 {
            return Err(Why::Unsuitable("it is a script whose interpreter is a script, and so on".into()));
        }
        let name = self.name_of(file);
        needed(&interpreter, &name, self.program(&interpreter, scripts - 1))?;
        match argument.as_deref().filter(|_| interpreter.ends_with("env")) {
            Some(word) => self.by_name(word, &name, scripts - 1),
            None => Ok(()),
        }
    }

    /// What a message calls a file of the program. The program itself stands before every message already.
    fn name_of(&self, file: &Path) -> String {
        if file == self.program { "it".into() } else { plain(&file.display().to_string()) }
    }

    /// Adds a program that `env` finds by its name.
    fn by_name(&mut self, name: &OsStr, script: &str, scripts: usize) -> Result<(), Why> {
        let path = PATH.split(':').map(|folder| Path::new(folder).join(name)).find(|path| path.is_file());
        match path {
            Some(path) => needed(&path, script, self.program(&path, scripts)),
            None => Err(missing(Path::new(name), script, "it is in none of the usual folders")),
        }
    }

    /// Adds the loader of a program, and all libraries, in the order in which the loader meets them.
    fn libraries(&mut self, program: Loaded) -> Result<(), Why> {
        let mut known: BTreeSet<Vec<u8>> = BTreeSet::new();
        if let Some(interpreter) = program.needs.interpreter.clone() {
            let path = PathBuf::from(OsStr::from_bytes(&interpreter));
            let (_, bytes) = needed(&path, &self.name_of(&program.file), self.file(&path))?;
            // Libraries may need it by its name, and have it.
            known.extend(Needs::parse(&bytes)?.own_name);
            if Path::new(CACHE).exists() {
                self.file(Path::new(CACHE))?;
            }
        }
        let loader = Loader::new();
        let mut all = vec![program];
        let mut at = 0;
        while at < all.len() {
            for name in all[at].needs.libraries.clone() {
                if !known.insert(name.clone()) {
                    continue;
                }
                let label = Path::new(OsStr::from_bytes(&name));
                let hint = "install it, or a build of the program without it";
                let by = self.name_of(&all[at].file);
                let path = loader.find(&name, &all, at).ok_or_else(|| missing(label, &by, hint))?;
                let (file, bytes) = needed(&path, &by, self.file(&path))?;
                let needs = Needs::parse(&bytes)?;
                known.extend(needs.own_name.clone());
                if all.iter().all(|loaded| loaded.file != file) {
                    all.push(Loaded { needs, file, parent: Some(at) });
                }
            }
            at += 1;
        }
        Ok(())
    }

    /// Adds the file at a path, and the symbolic links that lead there. Returns where it is, and its bytes.
    fn file(&mut self, path: &Path) -> Result<(PathBuf, Vec<u8>), Why> {
        let file = self.follow(path)?;
        let mode = file.metadata()?.permissions().mode() & 0o777;
        let bytes = files::read(&file, self.room).map_err(|why| match why {
            Why::TooLarge(_) => {
                Why::Unsuitable(format!("with its libraries it is larger than {} MiB", LIMIT >> 20))
            }
            other => other,
        })?;
        self.room -= bytes.len() as u64;
        self.archive.add_file(&file, mode, bytes.clone());
        Ok((file, bytes))
    }

    /// Adds the symbolic links on an absolute path, and returns where it leads.
    fn follow(&mut self, path: &Path) -> Result<PathBuf, Why> {
        let parts =
            |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
        let mut rest: VecDeque<OsString> = parts(path).into();
        let mut at = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = rest.pop_front() {
            // A root leads to the root, `..` up, and `.` nowhere.
            match Path::new(&part).components().next() {
                Some(Component::ParentDir) => drop(at.pop()),
                Some(Component::RootDir) => at = PathBuf::from("/"),
                Some(Component::Normal(name)) => {
                    let next = at.join(name);
                    if !next.symlink_metadata()?.is_symlink() {
                        at = next;
                        continue;
                    }
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(Why::Unsuitable("its path leads over too many symbolic links".into()));
                    }
                    let target = std::fs::read_link(&next)?;
                    self.archive.add_link(&next, &target);
                    parts(&target).into_iter().rev().for_each(|part| rest.push_front(part));
                }
                _ => {}
            }
        }
        Ok(at)
    }
}

/// Says who needs what cannot be had.
fn needed<T>(path: &Path, by: &str, result: Result<T, Why>) -> Result<T, Why> {
    result.map_err(|why| match why {
        // It says so already, of something further on.
        Why::Missing(text) => Why::Missing(text),
        // No file is to blame for it.
        Why::Memory => Why::Memory,
        other => missing(path, by, &other.to_string()),
    })
}

fn missing(what: &Path, by: &str, why: &str) -> Why {
    Why::Missing(format!("{by} needs {}: {why}", plain(&what.display().to_string())))
}

/// The interpreter that a script names behind its `#!`, and its argument's word that is a program's name, as `env` takes it. None where
/// it names none.
fn interpreter(text: &[u8]) -> Option<(PathBuf, Option<OsString>)> {
    const LONGEST: usize = 256;
    let line = text.split(|byte| *byte == b'\n').next()?;
    let line = &line[..line.len().min(LONGEST)];
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let mut words = line.split(is_blank).filter(|word| !word.is_empty()).map(OsStr::from_bytes);
    let interpreter = words.next()?.into();
    // Options of env, and variables that it sets, come first.
    let is_name = |word: &&OsStr| !word.as_bytes().starts_with(b"-") && !word.as_bytes().contains(&b'=');
    Some((interpreter, words.find(is_name).map(OsStr::to_owned)))
}

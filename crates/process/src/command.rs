//! What to start, and what it shares with this process.

use crate::{Errno, Error, Phase};
use nix::fcntl::OFlag;
use nix::libc::c_char;
use nix::unistd::pipe2;
use std::ffi::{CString, OsString};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

/// Which program.
#[derive(Debug)]
pub enum Program<'a> {
    /// A path, or a name that is looked up in `PATH`.
    Named(OsString),
    /// An open file, which needs no path, and the name that the program gets as its first argument.
    Open(BorrowedFd<'a>, OsString),
}

/// How far a child is isolated. In both cases it leads a process group, with which it is killed, and the terminal's
/// interrupt does not reach it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// It has this process's standard input, standard error and terminal.
    Group,
    /// It has its own session and no terminal. Its standard input is empty. The last of what it writes to its standard
    /// error is kept ([`crate::Child::messages`]).
    Session,
}

/// How to start a child.
#[derive(Debug)]
pub struct Command<'a> {
    /// The program.
    pub program: Program<'a>,
    /// Its arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// Its environment, `NAME=value`; [`environment`] returns this process's.
    pub environment: Vec<OsString>,
    /// How far it is isolated.
    pub isolation: Isolation,
    /// Files that it inherits; it opens them under the path that [`crate::inherited`] gives.
    pub files: Vec<OwnedFd>,
    /// The CPU it is pinned to.
    pub cpu: Option<usize>,
    /// Whether it has real-time priority (SCHED_FIFO, the lowest).
    pub realtime: bool,
}

impl<'a> Command<'a> {
    /// A program without arguments, with this process's environment, on any CPU.
    pub fn new(program: Program<'a>, isolation: Isolation) -> Command<'a> {
        Command {
            program,
            arguments: Vec::new(),
            environment: environment(),
            isolation,
            files: Vec::new(),
            cpu: None,
            realtime: false,
        }
    }
}

/// This process's environment, `NAME=value`.
pub fn environment() -> Vec<OsString> {
    let pair = |(mut name, value): (OsString, OsString)| {
        name.push("=");
        name.push(value);
        name
    };
    std::env::vars_os().map(pair).collect()
}

/// A pipe from the child: the end that is read here, and the child's.
#[derive(Debug)]
pub struct Pipe {
    pub(crate) ours: OwnedFd,
    /// The child's end, open in this process alone until it is inherited.
    pub theirs: OwnedFd,
}

impl Pipe {
    /// A new pipe.
    ///
    /// # Errors
    /// [`Error::NotStarted`] when there are no more descriptors.
    pub fn new() -> Result<Pipe, Error> {
        let (ours, theirs) =
            pipe2(OFlag::O_CLOEXEC).map_err(|errno| Error::NotStarted { phase: Phase::Pipe, errno })?;
        Ok(Pipe { ours, theirs })
    }
}

/// A list of texts as execve(2) takes it. Made before there is a child, because making it allocates.
pub(crate) struct Texts {
    /// What the pointers point to.
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Texts {
    /// EINVAL when a text holds a NUL.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t OsString>) -> Result<Texts, Errno> {
        let text = |text: &OsString| CString::new(text.clone().into_vec()).map_err(|_| Errno::EINVAL);
        let texts = texts.into_iter().map(text).collect::<Result<Vec<CString>, Errno>>()?;
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect();
        Ok(Texts { _texts: texts, pointers })
    }

    /// Texts that end in NUL, and a null pointer after the last; they live as long as `self`.
    pub fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

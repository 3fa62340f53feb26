//! The program that runs a guest: started, read from, and ended, whatever it does.

use crate::Trouble;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, pipe2, read};
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Of what the program says to people, so many bytes are kept: the last.
const KEPT: usize = 4096;

/// What QEMU says when KVM cannot go on; it then waits for ever.
const STOPPED: &str = "KVM internal error";

/// An interruption that comes just before a wait is seen after this.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// Set from a signal handler to end a guest early.
pub type Interrupt = Arc<AtomicBool>;

/// What a guest may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The longest it may take.
    pub time: Duration,
    /// The most it may write, in bytes.
    pub output: usize,
    /// Ends it when set.
    pub interrupt: Interrupt,
}

/// How to start a program.
#[derive(Debug)]
pub(crate) struct Command {
    pub program: OsString,
    /// Debian's packages that bring it.
    pub packages: &'static str,
    pub arguments: Vec<OsString>,
    /// Files that it inherits, under the names of [`inherited`].
    pub files: Vec<OwnedFd>,
    /// Where it puts the records, if not on its standard output.
    pub records: Option<Pipe>,
}

/// A pipe from the program: the end that is read here, and the program's.
#[derive(Debug)]
pub(crate) struct Pipe {
    ours: OwnedFd,
    pub theirs: OwnedFd,
}

impl Pipe {
    pub fn new() -> Result<Pipe, Trouble> {
        let (ours, theirs) = pipe2(OFlag::O_CLOEXEC).map_err(Trouble::Reading)?;
        Ok(Pipe { ours, theirs })
    }
}

/// A file that has no name but in this process and its child, and is gone with them.
pub(crate) fn in_memory(name: &str, bytes: &[u8]) -> Result<OwnedFd, Trouble> {
    let failed = |error: std::io::Error| Trouble::Files(error.to_string());
    let name = CString::new(name).unwrap_or_default();
    // Where memory has no files, one that has lost its name.
    let file = memfd_create(name.as_c_str(), MFdFlags::MFD_CLOEXEC).map(File::from);
    let mut file = file.or_else(|_| tempfile::tempfile()).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    Ok(file.into())
}

/// The name under which a program opens what it inherits.
pub(crate) fn inherited(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Its standard output.
    pub records: Vec<u8>,
    pub status: ExitStatus,
    /// The end of its standard error.
    pub said: String,
}

/// A running program; it and its group are killed, and it is reaped, when this goes.
#[derive(Debug)]
pub(crate) struct Process {
    program: String,
    child: Child,
    records: OwnedFd,
    talk: Option<OwnedFd>,
    said: Vec<u8>,
    deadline: Instant,
    limits: Limits,
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its group may be gone already.
        let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    pub fn start(command: Command, limits: &Limits) -> Result<Process, Trouble> {
        let Command { program, packages, arguments, mut files, records } = command;
        let name = program.to_string_lossy().into_owned();
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => Trouble::Missing { program: name.clone(), packages },
            _ => Trouble::NotStarted { program: name.clone(), why: error.to_string() },
        };
        let talk = Pipe::new()?;
        let (records, output) = match records {
            Some(pipe) => {
                files.push(pipe.theirs);
                (pipe.ours, talk.theirs.try_clone().map_err(failed)?)
            }
            None => {
                let pipe = Pipe::new()?;
                (pipe.ours, pipe.theirs)
            }
        };
        let mut command = std::process::Command::new(&program);
        command.args(arguments).stdin(Stdio::null()).stdout(output).stderr(talk.theirs);
        let kept = files.iter().map(|file| file.as_fd().as_raw_fd()).collect();
        // SAFETY: the closure only makes system calls on what was made before; it neither allocates nor locks.
        unsafe { command.pre_exec(keep(kept)) };
        let child = command.spawn().map_err(failed)?;
        Ok(Process {
            program: name.clone(),
            child,
            records,
            talk: Some(talk.ours),
            said: Vec::new(),
            deadline: Instant::now() + limits.time,
            limits: limits.clone(),
        })
    }

    /// Waits for more of the records; 0 when there will be no more.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Trouble> {
        loop {
            if self.limits.interrupt.load(Ordering::Relaxed) {
                return Err(Trouble::Interrupted);
            }
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Trouble::Timeout(self.limits.time));
            }
            if self.wait(left.min(LONGEST_WAIT))? {
                match read(&self.records, buffer) {
                    Err(Errno::EINTR) => continue,
                    other => return other.map_err(Trouble::Reading),
                }
            }
            if let Some(line) = self.said().lines().find(|line| line.contains(STOPPED)) {
                return Err(Trouble::Stopped(line.into()));
            }
        }
    }

    /// Waits for something to read; whether it is records. What is said to people is taken on the way.
    fn wait(&mut self, time: Duration) -> Result<bool, Trouble> {
        let mut files = vec![PollFd::new(self.records.as_fd(), PollFlags::POLLIN)];
        files.extend(self.talk.as_ref().map(|talk| PollFd::new(talk.as_fd(), PollFlags::POLLIN)));
        match poll(&mut files, PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(Trouble::Reading(error)),
        }
        let mut ready = files.iter().map(|file| file.any().unwrap_or(true));
        let (records, talk) = (ready.next().unwrap_or(false), ready.next().unwrap_or(false));
        if talk {
            self.listen();
        }
        Ok(records)
    }

    fn listen(&mut self) {
        let mut buffer = [0; KEPT];
        let Some(talk) = &self.talk else { return };
        match read(talk, &mut buffer) {
            Ok(0) => self.talk = None,
            Ok(count) => self.said.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            Err(Errno::EINTR) => {}
            Err(_) => self.talk = None,
        }
        let surplus = self.said.len().saturating_sub(KEPT);
        self.said.drain(..surplus);
    }

    /// What it said to people last.
    fn said(&self) -> String {
        String::from_utf8_lossy(&self.said).trim().to_string()
    }

    /// Waits for its end, which is near: it has closed the records. What that means before they were whole.
    pub fn ended(&mut self) -> Trouble {
        let mut pause = Duration::from_micros(100);
        loop {
            // What it says last may come late.
            let _ = self.wait(Duration::ZERO);
            match self.child.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => return self.epitaph(status),
                Err(error) => {
                    return Trouble::NotStarted { program: self.program.clone(), why: error.to_string() };
                }
            }
            if self.limits.interrupt.load(Ordering::Relaxed) {
                return Trouble::Interrupted;
            }
            if Instant::now() >= self.deadline {
                return Trouble::Timeout(self.limits.time);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    fn epitaph(&mut self, status: ExitStatus) -> Trouble {
        while self.talk.as_ref().is_some_and(has_more) {
            self.listen();
        }
        Trouble::Ended { program: self.program.clone(), status, said: self.said() }
    }

    /// All that it writes, which is little, and how it ended.
    pub fn finish(mut self) -> Result<Finished, Trouble> {
        let (mut all, mut buffer) = (Vec::new(), [0; KEPT]);
        loop {
            match self.read(&mut buffer)? {
                0 => break,
                count => all.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            }
            if all.len() > self.limits.output {
                return Err(Trouble::Flood(self.limits.output));
            }
        }
        match self.ended() {
            Trouble::Ended { status, said, .. } => Ok(Finished { records: all, status, said }),
            other => Err(other),
        }
    }
}

/// In the child: it has no terminal, its group is its own, it ends with its parent, and these files stay open in it.
fn keep(files: Vec<i32>) -> impl FnMut() -> std::io::Result<()> {
    move || {
        nix::unistd::setsid()?;
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        for file in &files {
            // SAFETY: the parent holds these open until the program has begun.
            let file = unsafe { std::os::fd::BorrowedFd::borrow_raw(*file) };
            fcntl(file, FcntlArg::F_SETFD(FdFlag::empty()))?;
        }
        Ok(())
    }
}

/// Whether there is something to read already, of a pipe whose writer has ended.
fn has_more(pipe: &OwnedFd) -> bool {
    let mut files = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
    let count = poll(&mut files, PollTimeout::ZERO);
    count.is_ok_and(|count| count > 0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(300);

    pub fn limits(time: Duration) -> Limits {
        Limits { time, output: 1 << 20, interrupt: Interrupt::default() }
    }

    /// A shell script in an emulator's place.
    pub fn script(text: &str) -> Command {
        Command {
            program: "/bin/sh".into(),
            packages: "dash",
            arguments: vec!["-c".into(), text.into()],
            files: Vec::new(),
            records: None,
        }
    }

    fn run(command: Command, time: Duration) -> Result<Finished, Trouble> {
        Process::start(command, &limits(time))?.finish()
    }

    #[test]
    fn what_it_writes_and_says_comes_back() {
        let ended = run(script("echo records; echo words >&2; exit 3"), LONG).unwrap();
        assert_eq!((ended.records.as_slice(), ended.status.code()), (b"records\n".as_slice(), Some(3)));
        assert_eq!(ended.said, "words");
    }

    #[test]
    fn files_in_memory_and_a_pipe_of_its_own() {
        let (file, pipe) = (in_memory("kernel", b"content").unwrap(), Pipe::new().unwrap());
        let text = format!("cat {} >{}; echo talk", inherited(&file), inherited(&pipe.theirs));
        let command = Command { files: vec![file], records: Some(pipe), ..script(&text) };
        let ended = run(command, LONG).unwrap();
        assert_eq!((ended.records.as_slice(), ended.said.as_str()), (b"content".as_slice(), "talk"));
    }

    #[test]
    fn one_that_hangs_is_ended_with_its_children() {
        let begin = Instant::now();
        for text in ["sleep 50 & sleep 50", "exec >&-; while :; do :; done", "sleep 50 & exit 0"] {
            assert_eq!(run(script(text), SHORT).unwrap_err(), Trouble::Timeout(SHORT), "{text}");
        }
        assert!(begin.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_virtual_machine_that_stopped_is_not_waited_for() {
        let text = "echo 'KVM internal error. Suberror: 1' >&2; sleep 50";
        let stopped = Trouble::Stopped("KVM internal error. Suberror: 1".into());
        assert_eq!(run(script(text), LONG).unwrap_err(), stopped);
    }

    #[test]
    fn a_missing_program_names_its_package() {
        let command =
            Command { program: "kentry-no-such-program".into(), packages: "some-package", ..script("") };
        let error = run(command, LONG).unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no kentry-no-such-program here: install it (Debian: apt install some-package)"
        );
        let refused = Command { program: "/dev/null".into(), ..script("") };
        assert!(matches!(run(refused, LONG).unwrap_err(), Trouble::NotStarted { .. }));
    }

    #[test]
    fn a_flood_of_words_is_cut_to_its_end() {
        let said = run(script("seq 100000 >&2"), LONG).unwrap().said;
        assert!(said.ends_with("100000") && said.len() <= KEPT, "{}", said.len());
    }

    #[test]
    fn an_interruption_ends_it() {
        let limits = Limits { interrupt: Interrupt::new(AtomicBool::new(true)), ..limits(LONG) };
        let process = Process::start(script("sleep 50"), &limits).unwrap();
        assert_eq!(process.finish().unwrap_err(), Trouble::Interrupted);
    }
}

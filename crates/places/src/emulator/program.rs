//! A program that runs or prepares a guest: how it is started, and how it is read until it ends.

use crate::emulator::Trouble;
use process::{Child, Errno, Error, Event, Finished, Interrupt, Isolation, Limits, Phase, Pipe};
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// QEMU prints this when KVM fails, and then waits for ever.
const STOPPED: &str = "KVM internal error";

/// Emulators write their guests' bytes one by one. Who waited for each would be woken for each; in this time many come.
const GATHERING: Duration = Duration::from_millis(1);

/// How to start a program.
#[derive(Debug)]
pub struct Command {
    /// The program, looked up in `PATH`.
    pub program: OsString,
    /// The Debian packages that contain it.
    pub packages: &'static str,
    /// Its arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// Files that it inherits, under the paths that [`process::inherited`] gives.
    pub files: Vec<OwnedFd>,
    /// The pipe for its records, if it does not write them to its standard output.
    pub records: Option<Pipe>,
    /// The CPU that it is pinned to, with all its threads.
    pub cpu: Option<usize>,
}

impl Command {
    /// Runs it to its end.
    ///
    /// # Errors
    /// When it cannot be started, or exceeds the limits.
    pub fn run(self, limits: &Limits) -> Result<Finished, Trouble> {
        let (name, command, _) = self.split();
        process::run(&command, limits).map_err(|error| name.trouble(error))
    }

    fn split(self) -> (Name, process::Command<'static>, Option<Pipe>) {
        let Command { program, packages, arguments, files, records, cpu } = self;
        let name = Name { program: program.to_string_lossy().into_owned(), packages };
        let program = process::Program::Named(program);
        let bare = process::Command::new(program, Isolation::Session);
        let command = process::Command { arguments, environment: environment(), files, cpu, ..bare };
        (name, command, records)
    }
}

/// This process's, with a terminal that every system knows. Bochs's text display ends where `TERM` is missing, as under systemd or cron, or
/// names one that is not known; nobody sees what it draws.
fn environment() -> Vec<OsString> {
    let is_kept = |variable: &OsString| !variable.as_encoded_bytes().starts_with(b"TERM=");
    process::environment().into_iter().filter(is_kept).chain(["TERM=dumb".into()]).collect()
}

/// A running program; it is killed with its group, and reaped, when this is dropped.
#[derive(Debug)]
pub struct Process {
    name: Name,
    child: Child,
}

/// A program's name, and its packages.
#[derive(Debug)]
struct Name {
    program: String,
    packages: &'static str,
}

impl Name {
    fn trouble(&self, error: Error) -> Trouble {
        let Name { program, packages } = self;
        match error {
            Error::NotStarted { phase: Phase::Execute, errno: Errno::ENOENT } => {
                Trouble::Missing { program: program.clone(), packages }
            }
            Error::NotStarted { .. } | Error::NotFollowed { .. } => {
                Trouble::Program { program: program.clone(), error }
            }
            Error::Timeout(time) => Trouble::Timeout(time),
            Error::Flood(most) => Trouble::Flood(most),
            Error::Interrupted => Trouble::Interrupted,
        }
    }
}

impl Process {
    /// Starts it, and returns when it has been executed.
    ///
    /// # Errors
    /// When it is not installed, or cannot be started.
    pub fn start(command: Command, limits: &Limits) -> Result<Process, Trouble> {
        let (name, command, records) = command.split();
        let child = Child::start(&command, records, limits).map_err(|error| name.trouble(error))?;
        child.wait_for_program().map_err(|error| name.trouble(error))?;
        Ok(Process { name, child })
    }

    /// What ends this process alone when it is set, as the interrupt of its limits does.
    pub fn stop(&self) -> Interrupt {
        self.child.stop()
    }

    /// Waits for more bytes of the records; 0 at their end.
    ///
    /// # Errors
    /// When it exceeds the limits, or its virtual machine stopped by itself.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Trouble> {
        std::thread::sleep(GATHERING);
        loop {
            match self.child.read(buffer).map_err(|error| self.name.trouble(error))? {
                Event::Output(count) => return Ok(count),
                Event::Closed => return Ok(0),
                Event::Message => {}
            }
            let messages = self.child.messages();
            if let Some(line) = messages.lines().find(|line| line.contains(STOPPED)) {
                return Err(Trouble::Stopped(line.into()));
            }
        }
    }

    /// Leaves it no more than this time from now on.
    pub fn hurry(&mut self, time: Duration) {
        self.child.hurry(time);
    }

    /// Why it closed the records too early: waits for it to end, and says how it ended.
    pub fn ended(&mut self) -> Trouble {
        match self.child.wait() {
            Ok(status) => {
                let said = self.child.messages();
                Trouble::Ended { program: self.name.program.clone(), status, said }
            }
            Err(error) => self.name.trouble(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(300);

    fn limits(time: Duration) -> Limits {
        Limits { time, output: 1 << 20, interrupt: Interrupt::default() }
    }

    /// A shell script that stands in for an emulator.
    fn script(text: &str) -> Command {
        Command {
            program: "/bin/sh".into(),
            packages: "dash",
            arguments: vec!["-c".into(), text.into()],
            files: Vec::new(),
            records: None,
            cpu: None,
        }
    }

    /// The result of a program whose output is read like a guest's.
    fn read(command: Command, limits: &Limits) -> Trouble {
        let read = || -> Result<Process, Trouble> {
            let mut process = Process::start(command, limits)?;
            while process.read(&mut [0; 4096])? > 0 {}
            Ok(process)
        };
        read().map_or_else(|trouble| trouble, |mut process| process.ended())
    }

    #[test]
    fn what_it_said_last_is_told_with_its_end() {
        let trouble = read(script("echo records; echo words >&2; exit 3"), &limits(LONG)).to_string();
        assert_eq!(trouble, "/bin/sh ended early, exit status: 3: words");
    }

    #[test]
    fn it_has_a_terminal_that_every_system_knows() {
        let trouble = read(script("echo $TERM >&2; exit 3"), &limits(LONG)).to_string();
        assert_eq!(trouble, "/bin/sh ended early, exit status: 3: dumb");
    }

    #[test]
    fn a_guest_that_hangs_is_ended() {
        for text in ["sleep 50", "exec >&-; while :; do :; done"] {
            assert_eq!(read(script(text), &limits(SHORT)), Trouble::Timeout(SHORT), "{text}");
        }
    }

    #[test]
    fn a_guest_that_writes_too_much_is_ended() {
        let trouble = read(script("while :; do echo flood flood flood; done"), &limits(LONG));
        assert_eq!(trouble, Trouble::Flood(1 << 20));
    }

    #[test]
    fn a_virtual_machine_that_stopped_is_not_waited_for() {
        let stopped = Trouble::Stopped("KVM internal error. Suberror: 1".into());
        for text in [
            "echo 'KVM internal error. Suberror: 1' >&2; sleep 50",
            "echo records; echo 'KVM internal error. Suberror: 1' >&2; echo records; sleep 50",
        ] {
            assert_eq!(read(script(text), &limits(LONG)), stopped, "{text}");
        }
    }

    #[test]
    fn a_missing_program_names_its_package() {
        let missing = || {
            let program = "kentry-no-such-program".into();
            Command { program, packages: "some-package", ..script("") }
        };
        let words = "there is no kentry-no-such-program here: install it (Debian: apt install some-package)";
        assert_eq!(Process::start(missing(), &limits(LONG)).unwrap_err().to_string(), words);
        assert_eq!(missing().run(&limits(LONG)).unwrap_err().to_string(), words);
        let refused = Command { program: "/dev/null".into(), ..script("") };
        assert_eq!(
            read(refused, &limits(LONG)).to_string(),
            "/dev/null could not be started: executing it failed with EACCES (Permission denied)"
        );
    }

    #[test]
    fn an_interruption_ends_it() {
        let limits = Limits { interrupt: Interrupt::new(AtomicBool::new(true)), ..limits(LONG) };
        assert_eq!(read(script("sleep 50"), &limits), Trouble::Interrupted);
    }

    #[test]
    fn one_process_is_stopped_and_no_other() {
        let limits = limits(LONG);
        let start = || Process::start(script("sleep 50"), &limits).unwrap();
        let (mut stopped, other) = (start(), start());
        stopped.stop().store(true, Ordering::Relaxed);
        assert_eq!(stopped.read(&mut [0; 16]), Err(Trouble::Interrupted));
        assert_eq!([&limits.interrupt, &other.stop()].map(|set| set.load(Ordering::Relaxed)), [false; 2]);
    }
}

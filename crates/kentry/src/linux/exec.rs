//! `kentry linux --exec` and `--shell`: a program of this machine, with its libraries, as the only program of a guest.

use crate::error::{Error, words};
use crate::exec::{Output, Refused, standard_input, unwritable};
use crate::exit::{EXEC_FAILED, INTERRUPTED, NOT_FOUND, NOT_LOADED, SIGNALLED};
use crate::linux::args::LinuxArgs;
use crate::linux::machine::{LinuxMachine, unread};
use linux::Archive;
use measure::guest::Request;
use nix::errno::Errno;
use places::guest::{
    Boot, Booted, Exec, Exit, INPUT, Interrupt, Kind, Limits, ProgramOutput, Terminal, Trouble, Work,
};
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long standard input may take to end unless the command line says. A program may run for days, but who forgot to close its input
/// should not wait for days.
const INPUT_TIME: Duration = Duration::from_secs(60);

/// Shells, the best first. Busybox has all the usual commands in it, and brings them along.
const SHELLS: [&[&str]; 3] = [&["busybox", "sh"], &["bash"], &["sh"]];

/// What a guest is to run.
#[derive(Debug)]
pub struct Program {
    /// The files that it needs.
    archive: Vec<u8>,
    exec: Exec,
    /// What of the shared folder is neither file, folder nor link, and was left out.
    left_out: Vec<PathBuf>,
}

impl Program {
    /// Packs what the command line names, and its folder.
    ///
    /// # Errors
    /// What is missing, or cannot be read.
    pub fn pack(args: &LinuxArgs) -> Result<Program, Refused> {
        let mut archive = Archive::default();
        let is_typed = args.shell && std::io::stdin().is_terminal();
        let line = if args.shell { shell()? } else { args.exec.clone() };
        let (name, arguments) = line.split_first().ok_or_else(|| not_found("no program is named"))?;
        let file = look_up(name)?;
        let path = archive.add_program(&file).map_err(unpacked)?;
        let mut left_out = Vec::new();
        if let Some(folder) = &args.share {
            let unusable =
                |why: &str| not_loaded(&format!("--share {}: {why}", report::plain_os(folder.as_os_str())));
            let at = folder.canonicalize().map_err(|error| unusable(&words(&error)))?;
            if !at.is_dir() {
                return Err(unusable(if at.is_file() {
                    "it is a file, not a folder"
                } else {
                    "it is not a folder"
                }));
            }
            let added = archive.add_share(&at, &at);
            left_out = added.map_err(|error| not_loaded(&format!("--share: {error}")))?;
        }
        let path = path.into_os_string();
        let all = std::iter::once(&path).chain(arguments);
        let arguments = all.map(|word| utf8(word)).collect::<Result<Vec<_>, _>>()?;
        let environment = [("PATH", linux::PATH), ("HOME", "/root"), ("USER", "root"), ("TERM", "linux")];
        let environment = environment.map(|(name, value)| format!("{name}={value}")).to_vec();
        let exec = Exec { arguments, environment, interactive: is_typed, input: false };
        Ok(Program { archive: archive.finish(), exec, left_out })
    }

    /// Adds what stands on this command's standard input, to its end, which the program reads; unless that is a terminal.
    ///
    /// # Errors
    /// When it cannot be read, or does not end in time.
    pub fn add_input(&mut self, args: &LinuxArgs, limits: &Limits) -> Result<(), Refused> {
        if std::io::stdin().is_terminal() {
            return Ok(());
        }
        let limits = Limits { time: args.timeout.unwrap_or(INPUT_TIME), ..limits.clone() };
        // The kernel unpacks one archive behind the other.
        let mut archive = Archive::default();
        archive.add_file(INPUT, 0o600, standard_input(&limits)?);
        self.archive.extend(archive.finish());
        self.exec.input = true;
        Ok(())
    }

    /// The bytes of its files.
    pub fn size(&self) -> usize {
        self.archive.len()
    }

    /// Boots a guest, runs the program in it, and ends as that does.
    ///
    /// # Errors
    /// Why it was not run to its end.
    pub fn run(self, machine: &LinuxMachine, request: &Request, output: &mut Output) -> Result<u8, Refused> {
        if let Some(line) = left_out(&self.left_out) {
            output.say(&line);
        }
        let terminal = self.exec.interactive.then(terminal).transpose()?;
        let work = Work {
            exec: Some(self.exec),
            filter: request.filter,
            trace: request.trace,
            seed: request.seed,
            ..Work::default()
        };
        let kernel = machine.kernel_for(request).map_err(of_trouble)?;
        let board = machine.machine_for(request);
        let boot = Boot {
            machine: &board,
            kernel: &kernel,
            parameters: &request.parameters,
            program: &machine.program,
            archive: &self.archive,
            work: &work,
            seed: request.seed,
        };
        let mut relay = Relay { output, interrupt: &machine.limits.interrupt, failed: None };
        let booted = boot.run_on(terminal, &machine.limits, &mut |said| relay.pass(&said));
        if let Some(error) = relay.failed {
            return unwritable(&error);
        }
        status(booted.map_err(of_trouble)?)
    }
}

/// Tells what of a shared folder was left out, if anything was.
fn left_out(files: &[PathBuf]) -> Option<String> {
    const NAMED: usize = 3;
    let named: Vec<String> =
        files.iter().take(NAMED).map(|file| report::plain_os(file.as_os_str())).collect();
    let named = named.join(", ");
    match files {
        [] => None,
        [_] => Some(format!("--share: {named} is left out: it is neither a file, a folder nor a link")),
        _ => {
            let more = files.len().saturating_sub(NAMED);
            let others = if more > 0 { format!(" and {more} more") } else { String::new() };
            Some(format!("--share: {named}{others} are left out: they are neither files, folders nor links"))
        }
    }
}

/// Passes on what the program writes, as it comes, until that fails.
struct Relay<'a, 'o> {
    output: &'a mut Output<'o>,
    /// Ends the guest.
    interrupt: &'a Interrupt,
    /// Why the rest is not passed on: nobody wants it, or there is no room for it.
    failed: Option<io::Error>,
}

impl Relay<'_, '_> {
    fn pass(&mut self, said: &ProgramOutput) {
        if self.failed.is_some() {
            return;
        }
        let passed = match said {
            ProgramOutput::Output(bytes) => self.output.pass(1, bytes),
            ProgramOutput::Errors(bytes) => self.output.pass(2, bytes),
        };
        if let Err(error) = passed {
            self.failed = Some(error);
            self.interrupt.store(true, Ordering::Relaxed);
        }
    }
}

fn status(booted: Booted) -> Result<u8, Refused> {
    match (booted.exit, booted.trouble) {
        (Some(Exit::Status(status)), _) => Ok(u8::try_from(status & 0xff).unwrap_or(EXEC_FAILED)),
        (Some(Exit::Signal(signal)), _) => Ok(SIGNALLED.saturating_add(u8::try_from(signal).unwrap_or(0))),
        (None, Some(trouble)) => Err(of_trouble(trouble)),
        (None, None) => Err(failed("the guest did not say how the program ended")),
    }
}

fn of_trouble(trouble: Trouble) -> Refused {
    let code = if trouble.kind() == Kind::Interrupted { INTERRUPTED } else { EXEC_FAILED };
    Refused { code, why: trouble.to_string() }
}

fn terminal() -> Result<Terminal, Refused> {
    let own = || {
        Ok((std::io::stdin().as_fd().try_clone_to_owned()?, std::io::stdout().as_fd().try_clone_to_owned()?))
    };
    let terminal = own().and_then(|(input, output)| Terminal::new(input, output));
    terminal.map_err(|error: std::io::Error| failed(&format!("--shell: {}", words(&error))))
}

fn shell() -> Result<Vec<OsString>, Refused> {
    let found =
        SHELLS.iter().find(|shell| shell.first().is_some_and(|name| look_up(OsStr::new(name)).is_ok()));
    let shell = found.ok_or_else(|| not_found("there is no shell here: busybox, bash or sh"))?;
    Ok(shell.iter().map(OsString::from).collect())
}

/// A program by its path, or by its name in `PATH`. As with shells, what is there and no program is another error than nothing.
fn look_up(name: &OsStr) -> Result<PathBuf, Refused> {
    if name.is_empty() {
        return Err(not_found("the name of the program is empty"));
    }
    let none = || not_found(&format!("there is no program {}", report::plain_os(name)));
    // Path drops the slash at the end of `./`.
    let is_path = name.as_bytes().contains(&b'/') || [".", ".."].map(OsStr::new).contains(&name);
    if !is_path {
        let path = std::env::var_os("PATH").unwrap_or_else(|| linux::PATH.into());
        let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
        return files.find(|path| path.is_file()).ok_or_else(none);
    }
    let unusable = |why: &str| not_loaded(&format!("{}: {why}", report::plain_os(name)));
    match std::fs::metadata(name) {
        Ok(found) if found.is_dir() => Err(unusable("it is a folder")),
        Ok(found) if !found.is_file() => Err(unusable("it is not a regular file")),
        Ok(_) => std::path::absolute(name).map_err(|error| unusable(&words(&error))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(none()),
        Err(error) if error.raw_os_error() == Some(Errno::ELOOP as i32) => {
            Err(unusable("its path leads over too many symbolic links"))
        }
        Err(error) => Err(unusable(&words(&error))),
    }
}

fn utf8(word: &OsStr) -> Result<String, Refused> {
    let text = word.to_str().map(str::to_string);
    text.ok_or_else(|| {
        failed(&format!("arguments are written in UTF-8, which {} is not", report::plain_os(word)))
    })
}

/// A program is not at fault where this machine is short of something.
fn unpacked(error: linux::Error) -> Refused {
    match unread(error) {
        Error::Environment(why) => failed(&why),
        other => not_loaded(&other.to_string()),
    }
}

fn failed(why: &str) -> Refused {
    Refused { code: EXEC_FAILED, why: why.to_string() }
}

fn not_found(why: &str) -> Refused {
    Refused { code: NOT_FOUND, why: why.to_string() }
}

fn not_loaded(why: &str) -> Refused {
    Refused { code: NOT_LOADED, why: why.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A file that takes so many writes, and has no room for more.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_there_but_no_program_was_said_not_to_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let circle = folder.path().join("circle");
        std::os::unix::fs::symlink("circle", &circle).unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "text").unwrap();
        let of = |name: &OsStr| look_up(name).map_err(|refused| (refused.code, refused.why));
        let circular =
            format!("{}: its path leads over too many symbolic links", report::plain_os(circle.as_os_str()));
        for (name, code, why) in [
            ("", NOT_FOUND, "the name of the program is empty"),
            ("./", NOT_LOADED, "./: it is a folder"),
            (".", NOT_LOADED, ".: it is a folder"),
            ("/", NOT_LOADED, "/: it is a folder"),
            ("/dev/null", NOT_LOADED, "/dev/null: it is not a regular file"),
            (circle.to_str().unwrap(), NOT_LOADED, &circular),
            ("/nonexistent/program", NOT_FOUND, "there is no program /nonexistent/program"),
            ("nonexistent-program", NOT_FOUND, "there is no program nonexistent-program"),
        ] {
            assert_eq!(of(OsStr::new(name)), Err((code, why.to_string())), "{name:?}");
        }
        let refused = of(file.join("below").as_os_str()).unwrap_err();
        assert_eq!(refused.0, NOT_LOADED, "{}", refused.1);
        assert_eq!(of(file.as_os_str()), Ok(file));
    }

    #[test]
    fn of_what_is_left_out_three_are_named() {
        let of = |count: usize| {
            let files: Vec<PathBuf> = (0..count).map(|number| format!("/dev/{number}").into()).collect();
            left_out(&files)
        };
        let are = "are left out: they are neither files, folders nor links";
        assert_eq!(of(0), None);
        let one = "--share: /dev/0 is left out: it is neither a file, a folder nor a link";
        assert_eq!(of(1).unwrap(), one);
        assert_eq!(of(3).unwrap(), format!("--share: /dev/0, /dev/1, /dev/2 {are}"));
        assert_eq!(of(200).unwrap(), format!("--share: /dev/0, /dev/1, /dev/2 and 197 more {are}"));
    }

    #[test]
    fn the_first_output_that_cannot_be_written_ends_the_guest_and_is_the_last() {
        let (mut standard, mut errors) = (Full(1), Vec::new());
        let mut output = Output { standard: &mut standard, errors: &mut errors, command: "kentry linux" };
        let interrupt = Interrupt::default();
        let mut relay = Relay { output: &mut output, interrupt: &interrupt, failed: None };
        relay.pass(&ProgramOutput::Output(b"fits".to_vec()));
        relay.pass(&ProgramOutput::Errors(b"heard".to_vec()));
        assert!(relay.failed.is_none() && !interrupt.load(Ordering::Relaxed));
        relay.pass(&ProgramOutput::Output(b"does not".to_vec()));
        relay.pass(&ProgramOutput::Errors(b"unheard".to_vec()));
        assert!(interrupt.load(Ordering::Relaxed), "the guest goes on");
        let refused = unwritable(&relay.failed.unwrap()).unwrap_err();
        let expected =
            (EXEC_FAILED, "its output cannot be written: no space is left on the device".to_string());
        assert_eq!((refused.code, refused.why), expected);
        assert_eq!(errors, b"heard");
        assert_eq!(unwritable(&io::ErrorKind::BrokenPipe.into()).unwrap(), 141);
    }
}

//! `kentry lab --exec`: a static program of one thread and without files as the lab's user program. It gets this command's
//! standard input, and its output is passed through as it comes.

use crate::error::Error;
use crate::exit::{EXEC_FAILED, INTERRUPTED, NOT_FOUND, NOT_LOADED, SIGNALLED};
use measure::lab::{Configuration, Configurations, Emulator, clock_lines, not_loaded, unsupported};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use places::lab::{Agreed, End, Event, Events, Limits, Line, Trouble};
use record::{Boot, abi};
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A guest has 256 MiB, in bytes.
const LARGEST: u64 = 256 << 20;

/// The longest standard input, in bytes: the guest needs the rest of its memory.
const LONGEST_INPUT: usize = 64 << 20;

/// How long to wait for input before looking whether the user interrupts.
const INPUT_WAIT: Duration = Duration::from_millis(100);

/// Instructions that can be system calls, by the exception that they raise.
const SERVED: [(u64, &str); 8] = [
    (0, "div"),
    (3, "int3"),
    (4, "into"),
    (5, "bound"),
    (6, "ud2 or lock nop"),
    (11, "the load of a segment register"),
    (12, "the load of a segment register"),
    (GENERAL_PROTECTION, "a read beyond a segment's limit"),
];

/// The number of the exception #GP.
const GENERAL_PROTECTION: u64 = 13;

/// Why a program was not run, and the exit code for it.
#[derive(Debug)]
pub struct Refused {
    /// The exit code, as `env` and shells use it.
    pub code: u8,
    /// In words.
    pub why: String,
}

impl Refused {
    fn failed(why: &dyn std::fmt::Display) -> Refused {
        Refused { code: EXEC_FAILED, why: why.to_string() }
    }
}

impl From<Trouble> for Refused {
    fn from(trouble: Trouble) -> Refused {
        let code = if trouble.is_interruption() { INTERRUPTED } else { EXEC_FAILED };
        Refused { code, why: trouble.to_string() }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        let code = if matches!(error, Error::Interrupted) { INTERRUPTED } else { EXEC_FAILED };
        Refused { code, why: error.to_string() }
    }
}

/// A program and its arguments.
#[derive(Debug)]
pub struct Program {
    name: String,
    bytes: Vec<u8>,
    arguments: Vec<Vec<u8>>,
}

impl Program {
    /// How many bits its code has, as its ELF header says.
    fn bits(&self) -> Option<u32> {
        match self.bytes.get(4) {
            Some(1) => Some(32),
            Some(2) => Some(64),
            _ => None,
        }
    }

    /// Reads the program that a command line names first; what follows are its arguments.
    ///
    /// # Errors
    /// [`Refused`] when it is not there or cannot be read.
    pub fn read(words: &[OsString]) -> Result<Program, Refused> {
        let (path, arguments) = words.split_first().ok_or_else(|| Refused::failed(&"no program"))?;
        let refused = |error: io::Error| {
            let code = if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_LOADED };
            Refused { code, why: format!("{}: {}", report::plain_os(path), crate::error::words(&error)) }
        };
        let mut bytes = Vec::new();
        let file = crate::input::regular(Path::new(path)).map_err(refused)?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(refused)?;
        if bytes.len() as u64 > LARGEST {
            return Err(refused(io::Error::from(io::ErrorKind::FileTooLarge)));
        }
        Ok(Program {
            name: name_of(path.as_bytes()),
            bytes,
            arguments: arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
        })
    }
}

/// The last part of the path, if the archive can hold a file of this name beside the plan.
fn name_of(path: &[u8]) -> String {
    let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let text = std::str::from_utf8(last).unwrap_or_default();
    let fits = (1..=100).contains(&text.len()) && !["plan", places::lab::INPUT, ".", ".."].contains(&text);
    if fits { text.into() } else { "program".into() }
}

/// What the program finds on its standard input: all of this command's, unless that is a terminal. The guest gets it before
/// it starts, because the serial line of some emulators leads out only.
///
/// # Errors
/// [`Refused`] when it cannot be read, does not end in time, or is too long.
pub fn standard_input(limits: &Limits) -> Result<Vec<u8>, Refused> {
    let input = io::stdin();
    if input.is_terminal() { Ok(Vec::new()) } else { read_to_end(input.lock(), limits) }
}

fn read_to_end(mut input: impl Read + AsFd, limits: &Limits) -> Result<Vec<u8>, Refused> {
    let (begin, mut bytes, mut buffer) = (Instant::now(), Vec::new(), vec![0; 1 << 16]);
    let time = PollTimeout::try_from(INPUT_WAIT).unwrap_or(PollTimeout::MAX);
    let refused = |error: io::Error| {
        Refused::failed(&format!("standard input cannot be read: {}", crate::error::words(&error)))
    };
    loop {
        if limits.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted.into());
        }
        if begin.elapsed() > limits.time {
            return Err(Refused::failed(&format!(
                "standard input did not end within {} s, and the program gets all of it before it starts: if it reads \
                 none, add </dev/null; otherwise give more time (--timeout)",
                limits.time.as_secs_f64()
            )));
        }
        match poll(&mut [PollFd::new(input.as_fd(), PollFlags::POLLIN)], time) {
            Ok(0) | Err(Errno::EINTR) => continue,
            Ok(_) => {}
            Err(errno) => return Err(refused(errno.into())),
        }
        match input.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(refused(error)),
        }
        if bytes.len() > LONGEST_INPUT {
            return Err(Refused::failed(&format!(
                "standard input is longer than {} MiB, which the guest has no room for",
                LONGEST_INPUT >> 20
            )));
        }
    }
}

/// How a program is run.
#[derive(Debug)]
pub struct Running<'a> {
    /// The switches.
    pub configurations: &'a Configurations<'a>,
    /// What random numbers come from.
    pub seed: u64,
    /// Ticks in a second of this machine's counter, where the guest uses it.
    pub tsc_hz: Option<f64>,
    /// Whether exceptions are served as system calls.
    pub serves_exceptions: bool,
    /// What it can read from its standard input.
    pub input: &'a [u8],
}

/// Runs it, and returns its exit code.
///
/// # Errors
/// [`Refused`] when there is no exit code of the program.
pub fn run(
    program: &Program,
    emulator: &Emulator,
    running: &Running,
    limits: &Limits,
    output: &mut Output,
) -> Result<u8, Refused> {
    let Running { configurations, seed, tsc_hz, serves_exceptions, input } = *running;
    let [configuration] = configurations.all.as_slice() else {
        return Err(Refused::failed(&"--exec takes one --set at most"));
    };
    let mut lines = clock_lines(Some(emulator), tsc_hz);
    lines.extend([Line::Kernel(emulator.mode()), Line::Seed(seed), Line::Limit(0)]);
    let set = configuration.only(&configurations.named);
    if !set.is_empty() {
        lines.push(Line::Set(set.into_iter().collect()));
    }
    let (file, arguments) = (program.name.clone().into_bytes(), program.arguments.clone());
    lines.push(match serves_exceptions {
        true => Line::Serve { file, arguments },
        false => Line::Exec { file, arguments },
    });
    let file = places::lab::File { name: &program.name, bytes: &program.bytes };
    let input = places::lab::File { name: places::lab::INPUT, bytes: input };
    let plan = emulator.plan(places::lab::Plan { lines });
    let archive = places::lab::pack(&plan, &[file, input]).map_err(|error| Refused::failed(&error))?;
    let mut guest = emulator.boot(&archive, 1, limits)?;
    let asked = (configuration, serves_exceptions);
    follow(program, asked, &mut Agreed::new(&mut guest, &plan), output)
}

/// Where a program's output goes.
pub struct Output<'a> {
    /// Descriptor 1.
    pub standard: &'a mut dyn Write,
    /// Descriptor 2, and the kernel's log.
    pub errors: &'a mut dyn Write,
    /// The command whose messages they are: `kentry lab`.
    pub command: &'static str,
}

impl Output<'_> {
    /// Passes on what a program wrote to its descriptor 1 or 2, at once.
    pub(crate) fn pass(&mut self, descriptor: u64, bytes: &[u8]) -> io::Result<()> {
        let target = match descriptor {
            1 => &mut self.standard,
            2 => &mut self.errors,
            _ => return Ok(()),
        };
        target.write_all(bytes)?;
        target.flush()
    }

    /// Prints a message of kentry's own.
    pub fn say(&mut self, text: &str) {
        // If this fails, there is nobody to tell.
        let _ = writeln!(self.errors, "{}: {}", self.command, report::plain(text));
    }
}

/// How the command ends that cannot write a program's output: with the same exit code as if the program itself had written to a closed
/// pipe, or with the reason.
pub(crate) fn unwritable(error: &io::Error) -> Result<u8, Refused> {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Ok(SIGNALLED + Signal::SIGPIPE as u8);
    }
    Err(Refused::failed(&format!("its output cannot be written: {}", crate::error::words(error))))
}

/// Follows the guest to the program's end.
fn follow(
    program: &Program,
    (configuration, serves_exceptions): (&Configuration, bool),
    guest: &mut dyn Events,
    output: &mut Output,
) -> Result<u8, Refused> {
    let mut boot = None;
    loop {
        match guest.next()? {
            Event::Output { descriptor, bytes, .. } => {
                if let Err(error) = output.pass(descriptor, &bytes) {
                    return unwritable(&error);
                }
            }
            Event::Log(line) => output.say(&line),
            Event::Stray { vector, count, .. } => {
                output.say(&format!("interrupts that nobody asked for: vector {vector:#x}, {count} times"));
            }
            Event::End { end, .. } => {
                let code = code(program, (configuration, boot.as_ref()), end, output)?;
                if let End::Fault(detail) = end {
                    let hint = hint(program, boot.as_ref(), serves_exceptions, &detail);
                    hint.iter().for_each(|hint| output.say(hint));
                }
                return Ok(code);
            }
            Event::Boot(said) => boot = Some(said),
            Event::Configured(_) | Event::Begin(_) | Event::Counters { .. } | Event::Step(_) => {}
            Event::Done => return Err(Refused::failed(&"the guest was done without running the program")),
        }
    }
}

/// What a person may want who runs an example of an entry that ended so. Which instructions are entries depends on the kernel.
fn hint(
    program: &Program,
    boot: Option<&Boot>,
    serves_exceptions: bool,
    detail: &[u64; 4],
) -> Option<String> {
    let is_long = boot.is_some_and(|boot| boot.features >> abi::FEATURE_LONG & 1 == 1);
    let (vector, error) = (detail[2] >> 32, detail[2] & u64::from(u32::MAX));
    let is_served =
        |of: &u64| !is_long && (*of != GENERAL_PROTECTION || error == 0) || [0, 3, 6].contains(of);
    let served = SERVED.iter().filter(|(of, _)| is_served(of));
    if let Some((_, what)) = served.filter(|_| !serves_exceptions).find(|(of, _)| *of == vector) {
        return Some(format!(
            "if that was {what}: with --serve-exceptions before --exec it is a system call, as for probes"
        ));
    }
    // The error code is a selector, or a vector of the IDT, that this kernel does not have.
    let is_missing = is_long && program.bits() == Some(32) && vector == GENERAL_PROTECTION && error != 0;
    is_missing.then(|| {
        "if that was a gate or a task of the kernel for protected mode: --lab-kernel i386 before --exec has them".into()
    })
}

fn code(
    program: &Program,
    (configuration, boot): (&Configuration, Option<&Boot>),
    end: End,
    output: &mut Output,
) -> Result<u8, Refused> {
    match end {
        End::Exited(status) => Ok((status & 0xff) as u8),
        End::Fault(detail) => {
            output.say(&format!("{} was ended by {}", program.name, document::exception_in_words(&detail)));
            Ok(SIGNALLED.saturating_add(u8::try_from(detail[0]).unwrap_or(0)))
        }
        End::Unsupported(switch) => Err(Refused::failed(&unsupported(configuration, switch, boot))),
        End::NotLoaded(errno) => Err(Refused { code: NOT_LOADED, why: not_loaded(&program.name, errno) }),
        End::Runaway(ticks) => Err(Refused::failed(&format!("it ran for {ticks} ticks without an end"))),
        other => {
            Err(Refused::failed(&format!("the program ended in a way that is not understood: {other:?}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(mode: u64, bits: u8, serves: bool, vector: u64, error: u64) -> Option<String> {
        let bytes = [b"\x7fELF".as_slice(), &[bits]].concat();
        let program = Program { name: "program".into(), bytes, arguments: Vec::new() };
        let boot = Boot { features: 1 << mode, ..Boot::default() };
        hint(&program, Some(&boot), serves, &[Signal::SIGSEGV as u64, 128, vector << 32 | error, 0])
    }

    #[test]
    fn an_exception_that_can_be_a_system_call_says_so() {
        let of = |mode, vector| said(mode, 1, false, vector, 0);
        for vector in [0, 3, 4, 5, 6, 11, 12, 13] {
            assert!(of(abi::FEATURE_PROTECTED, vector).unwrap().contains("--serve-exceptions"), "{vector}");
            assert_eq!(of(abi::FEATURE_LONG, vector).is_some(), [0, 3, 6].contains(&vector), "{vector}");
            assert_eq!(said(abi::FEATURE_PROTECTED, 1, true, vector, 0), None);
        }
        assert_eq!(of(abi::FEATURE_PROTECTED, 14), None, "a page fault");
    }

    #[test]
    fn a_gate_that_only_the_other_kernel_has_names_that() {
        let other = said(abi::FEATURE_LONG, 1, false, 13, 0x148).unwrap();
        assert!(other.contains("--lab-kernel i386"), "{other}");
        for (mode, bits, error) in
            [(abi::FEATURE_LONG, 1, 0), (abi::FEATURE_LONG, 2, 0x148), (abi::FEATURE_PROTECTED, 1, 0x148)]
        {
            assert_eq!(said(mode, bits, true, 13, error), None);
        }
    }
}

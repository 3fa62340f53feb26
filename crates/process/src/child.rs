//! A child while it runs: its output as it comes, and its end.

use crate::command::{Command, Pipe};
use crate::limits::{Interrupt, Watch};
use crate::messages::Messages;
use crate::running::Running;
use crate::start::{Output, Started, check_report, start};
use crate::{Error, Limits};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::read;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitStatus;
use std::time::Duration;

/// The first pause while a child's end is waited for.
const FIRST_PAUSE: Duration = Duration::from_micros(20);

/// Pauses double up to this one.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// Something that happens while a child is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It wrote so many bytes, which are in the buffer now.
    Output(usize),
    /// It said something on its standard error: [`Child::messages`].
    Message,
    /// It has closed its output.
    Closed,
}

/// The result of a child that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// All that it wrote.
    pub output: Vec<u8>,
    /// How it ended.
    pub status: ExitStatus,
    /// The last of what it wrote to its standard error, where that is kept.
    pub messages: String,
}

/// A running child; when this is dropped, it is killed with its group, and reaped.
#[derive(Debug)]
pub struct Child {
    running: Running,
    trouble: OwnedFd,
    output: OwnedFd,
    received: usize,
    messages: Messages,
    watch: Watch,
}

impl Child {
    /// Starts a program. Its time begins now. Its output is its standard output, or comes through the given pipe; in that
    /// case [`crate::Isolation::Session`] joins its standard output to its standard error.
    ///
    /// # Errors
    /// [`Error::NotStarted`] when the system has no process for it. If the new process then fails, for instance to execute
    /// the program, [`Child::wait_for_program`] or reading its output tells.
    pub fn start(command: &Command, output: Option<Pipe>, limits: &Limits) -> Result<Child, Error> {
        let watch = Watch::new(limits);
        let output = match output {
            Some(pipe) => Output { pipe, is_standard: false },
            None => Output { pipe: watch.retry(Pipe::new)?, is_standard: true },
        };
        let started = watch.retry(|| start(command, &output))?;
        Ok(Child::new(started, output, watch))
    }

    fn new(started: Started, output: Output, watch: Watch) -> Child {
        Child {
            running: started.running,
            trouble: started.trouble,
            output: output.pipe.ours,
            received: 0,
            messages: Messages::new(started.messages),
            watch,
        }
    }

    /// Leaves it no more than this time from now on, and no more than its limits do.
    pub fn hurry(&mut self, time: Duration) {
        self.watch.hurry(time);
    }

    /// What ends this child alone when it is set, as the interrupt of its limits does.
    pub fn stop(&self) -> Interrupt {
        self.watch.stop.clone()
    }

    /// Whether it executes its program. Without this, [`Child::read`] tells later what went wrong.
    ///
    /// # Errors
    /// [`Error::NotStarted`], or when the limits are exceeded.
    pub fn wait_for_program(&self) -> Result<(), Error> {
        loop {
            let time = PollTimeout::try_from(self.watch.next_wait()?).unwrap_or(PollTimeout::MAX);
            match poll(&mut [PollFd::new(self.trouble.as_fd(), PollFlags::POLLIN)], time) {
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) => return check_report(&self.trouble),
                Err(errno) => return Err(Error::NotFollowed { errno }),
            }
        }
    }

    /// Waits for the next thing to happen. A child that has ended has closed its output, even if a process that it left behind
    /// still has it open.
    ///
    /// # Errors
    /// [`Error::NotStarted`] when it could not execute its program; other errors when the limits are exceeded, or the
    /// output cannot be read.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<Event, Error> {
        loop {
            let (output, message) = self.wait_for_input(self.watch.next_wait()?)?;
            if message {
                self.messages.listen();
                return Ok(Event::Message);
            }
            if !output {
                if self.has_ended_in_silence()? {
                    return check_report(&self.trouble).map(|()| Event::Closed);
                }
                continue;
            }
            match read(&self.output, buffer) {
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(Error::NotFollowed { errno }),
                Ok(0) => return check_report(&self.trouble).map(|()| Event::Closed),
                Ok(count) => return self.count(count).map(Event::Output),
            }
        }
    }

    /// Whether it has ended, and all that it wrote has been read. Its end is asked for first: what it wrote was before that.
    fn has_ended_in_silence(&mut self) -> Result<bool, Error> {
        Ok(self.running.ended()?.is_some() && !self.wait_for_input(Duration::ZERO)?.0)
    }

    /// Counts what was received against the limit.
    fn count(&mut self, count: usize) -> Result<usize, Error> {
        self.received = self.received.saturating_add(count);
        let most = self.watch.limits.output;
        if self.received > most { Err(Error::Flood(most)) } else { Ok(count) }
    }

    /// Whether there is output, and whether there is a message, after at most this time.
    fn wait_for_input(&self, time: Duration) -> Result<(bool, bool), Error> {
        let mut files = vec![PollFd::new(self.output.as_fd(), PollFlags::POLLIN)];
        files.extend(self.messages.poll_fd());
        match poll(&mut files, PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX)) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok((false, false)),
            Err(errno) => return Err(Error::NotFollowed { errno }),
        }
        let mut ready = files.iter().map(|file| file.any().unwrap_or(true));
        Ok((ready.next().unwrap_or(false), ready.next().unwrap_or(false)))
    }

    /// Waits for its end. A child that has closed its output usually ends soon.
    ///
    /// # Errors
    /// When the limits are exceeded.
    pub fn wait(&mut self) -> Result<ExitStatus, Error> {
        let mut pause = FIRST_PAUSE;
        loop {
            let ended = self.running.ended()?;
            // A child that is blocked on a full pipe of messages would not end.
            self.messages.drain();
            if let Some(status) = ended {
                return check_report(&self.trouble).map(|()| status);
            }
            std::thread::sleep(self.watch.next_wait()?.min(pause));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// The last of what it has written to its standard error so far.
    pub fn messages(&self) -> String {
        self.messages.text()
    }

    fn finish(mut self) -> Result<Finished, Error> {
        let (mut output, mut buffer) = (Vec::new(), [0; 1 << 14]);
        loop {
            match self.read(&mut buffer)? {
                Event::Output(count) => output.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                Event::Message => {}
                Event::Closed => break,
            }
        }
        let status = self.wait()?;
        Ok(Finished { output, status, messages: self.messages() })
    }
}

/// Runs a program to its end, and reads all its output.
///
/// # Errors
/// When it cannot be started, or exceeds the limits. A failure that may pass ([`Error::is_momentary`]) is returned only
/// after repeated attempts, for about a tenth of a second.
pub fn run(command: &Command, limits: &Limits) -> Result<Finished, Error> {
    Watch::new(limits).retry(|| {
        let watch = Watch::new(limits);
        let output = Output { pipe: Pipe::new()?, is_standard: true };
        Child::new(start(command, &output)?, output, watch).finish()
    })
}

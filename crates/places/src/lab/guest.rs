//! A running guest: its records, one event at a time.

use crate::emulator::{Command, Process, Trouble as OfProgram};
use crate::lab::{Event, Limits, Session, Trouble};
use record::Stream;
use std::time::Duration;

/// How long an emulator may go on after its guest's kernel has said that it stops. Most end with it; Bochs goes on where 32-bit code stops,
/// which does not know what started it.
const STOPPING: Duration = Duration::from_secs(1);

/// A line of the kernel's log begins so when it stops (`lab/serial/log.c`, `lab/boot/early.S`).
const STOPS: &str = "panic: ";

/// A source of events: a guest, or a test.
pub trait Events {
    /// The next event; [`Event::Done`] is the last.
    ///
    /// # Errors
    /// What went wrong; there are no events after it.
    fn next(&mut self) -> Result<Event, Trouble>;
}

/// Turns bytes into events.
#[derive(Debug)]
pub struct Reader {
    stream: Stream,
    session: Session,
    trouble: Option<Trouble>,
}

impl Reader {
    /// For a plan of so many programs and checks.
    pub fn new(programs: usize) -> Reader {
        Reader { stream: Stream::default(), session: Session::new(programs), trouble: None }
    }

    /// Adds what has arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.stream.push(bytes);
    }

    /// The next event; `None` until more bytes arrive.
    ///
    /// # Errors
    /// [`Trouble::Garbage`] or [`Trouble::Disorder`]; every later call returns the same.
    pub fn take(&mut self) -> Result<Option<Event>, Trouble> {
        if let Some(trouble) = &self.trouble {
            return Err(trouble.clone());
        }
        let next = self.read();
        self.trouble = next.as_ref().err().cloned();
        next
    }

    fn read(&mut self) -> Result<Option<Event>, Trouble> {
        match self.stream.take()? {
            Some(record) => Ok(Some(self.session.take(record)?)),
            None => Ok(None),
        }
    }
}

/// A running guest; dropping this ends it.
#[derive(Debug)]
pub struct Guest {
    process: Process,
    reader: Reader,
    /// Whether its kernel has said that it stops.
    stops: bool,
}

impl Guest {
    pub(crate) fn boot(command: Command, programs: usize, limits: &Limits) -> Result<Guest, Trouble> {
        let process = Process::start(command, limits)?;
        Ok(Guest { process, reader: Reader::new(programs), stops: false })
    }

    /// A kernel that has stopped writes nothing more, so that there is little to wait for.
    fn noted(&mut self, event: Event) -> Event {
        if matches!(&event, Event::Log(line) if line.starts_with(STOPS)) {
            self.stops = true;
            self.process.hurry(STOPPING);
        }
        event
    }

    fn trouble(&self, trouble: OfProgram) -> Trouble {
        let has_stopped = self.stops && matches!(trouble, OfProgram::Timeout(_));
        if has_stopped { OfProgram::Stopped("its kernel gave up".into()).into() } else { trouble.into() }
    }
}

impl Events for Guest {
    fn next(&mut self) -> Result<Event, Trouble> {
        let mut buffer = [0; 1 << 14];
        loop {
            if let Some(event) = self.reader.take()? {
                return Ok(self.noted(event));
            }
            let count = self.process.read(&mut buffer).map_err(|trouble| self.trouble(trouble))?;
            if count == 0 {
                let ended = self.process.ended();
                return Err(self.trouble(ended));
            }
            self.reader.push(buffer.get(..count).unwrap_or_default());
        }
    }
}

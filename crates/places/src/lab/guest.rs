//! A running guest: its records, one event at a time.

use crate::emulator::{Command, Process};
use crate::lab::{Event, Limits, Session, Trouble};
use record::Stream;

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
}

impl Guest {
    pub(crate) fn boot(command: Command, programs: usize, limits: &Limits) -> Result<Guest, Trouble> {
        let process = Process::start(command, limits)?;
        Ok(Guest { process, reader: Reader::new(programs) })
    }
}

impl Events for Guest {
    fn next(&mut self) -> Result<Event, Trouble> {
        let mut buffer = [0; 1 << 14];
        loop {
            if let Some(event) = self.reader.take()? {
                return Ok(event);
            }
            let count = self.process.read(&mut buffer)?;
            if count == 0 {
                return Err(self.process.ended().into());
            }
            self.reader.push(buffer.get(..count).unwrap_or_default());
        }
    }
}

//! What a boot came to, and what of it the guest's frames say.

use crate::emulator::Process;
use crate::guest::command::Rate;
use crate::guest::debugger::Error;
use crate::guest::follow::Followed;
use crate::guest::frame::{self, Exit, Frame, Hello, Stream};
use crate::guest::trouble::Trouble;
use record::trace::{Executed, Symbol, Trace};
use std::time::{Duration, Instant};

/// Something that a program writes while it runs in the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramOutput {
    /// This, to its standard output.
    Output(Vec<u8>),
    /// This, to its standard error.
    Errors(Vec<u8>),
}

/// A boot that is over.
#[derive(Debug, Clone, Default)]
pub struct Booted {
    /// What the guest's program said first; none if it did not come to that.
    pub hello: Option<Hello>,
    /// The document of the measurement, JSON; whether it is one is not known.
    pub document: Option<Vec<u8>>,
    /// What was followed.
    pub traces: Vec<Trace>,
    /// Why a row was not followed, by the ids of entry and operation.
    pub unfollowed: Vec<((u16, u16), String)>,
    /// What was followed besides the rows, or why it was not; none if it did not happen.
    pub event: Option<Result<Vec<Executed>, String>>,
    /// The functions of the kernel, by address.
    pub symbols: Vec<Symbol>,
    /// How a program ended.
    pub exit: Option<Exit>,
    /// The last that its console said.
    pub console: String,
    /// The whole command line that the kernel was given.
    pub parameters: String,
    /// The time from the start of QEMU to the first frame; of a guest that was booted again, from the first start.
    pub first_frame: Option<Duration>,
    /// What went wrong. What came before that is kept.
    pub trouble: Option<Trouble>,
}

/// Why there are no more frames, although the last has not come.
pub(super) enum Ended {
    Machine(crate::emulator::Trouble),
    Garbage(frame::Error),
}

impl Booted {
    /// Whether the guest was told another rate of its counter than its tick has. It is booted again, and what it measures is not awaited.
    pub(super) fn clocks_disagree(&self, rate: Rate) -> bool {
        rate == Rate::Quarter && self.hello.as_ref().is_some_and(|hello| !hello.ticks_by_apic())
    }

    /// Whether it ended before its kernel had a console.
    pub(super) fn was_reset_in_silence(&self) -> bool {
        matches!(&self.trouble, Some(Trouble::Reset { began: false, console }) if console.trim().is_empty())
    }

    /// Whether a boot with an early console is worth more than one that ended in silence.
    pub(super) fn tells_more(&self) -> bool {
        !self.was_reset_in_silence() && !matches!(self.trouble, Some(Trouble::Hung { .. }))
    }

    /// The same where the guest could not be started again, for this reason.
    pub(super) fn without_another(self, trouble: Trouble) -> Booted {
        let trouble = match trouble {
            // It had begun, if in vain.
            Trouble::Hung { time, .. } => Trouble::Hung { time, began: true, console: self.console.clone() },
            other => other,
        };
        Booted { trouble: Some(trouble), ..self }
    }

    /// Keeps what was followed; why it ended too early, if it did.
    pub(super) fn followed(&mut self, (followed, error): (Followed, Option<Error>)) -> Option<Trouble> {
        let Followed { traces, unfollowed, event, symbols } = followed;
        (self.traces, self.unfollowed) = (traces, unfollowed);
        (self.event, self.symbols) = (event, symbols);
        error.map(|error| Trouble::Followed(error.to_string()))
    }

    /// Reads the guest's frames until its last.
    ///
    /// # Errors
    /// When there are no more before that.
    pub(super) fn read(
        &mut self,
        process: &mut Process,
        rate: Rate,
        begin: Instant,
        said: &mut dyn FnMut(ProgramOutput),
    ) -> Result<(), Ended> {
        let (mut stream, mut buffer) = (Stream::default(), [0; 1 << 14]);
        while !stream.is_over() {
            while let Some(frame) = stream.take().map_err(Ended::Garbage)? {
                self.first_frame.get_or_insert_with(|| begin.elapsed());
                self.take(frame, said).map_err(Ended::Garbage)?;
                if self.clocks_disagree(rate) {
                    return Ok(());
                }
            }
            if stream.is_over() {
                break;
            }
            let count = process.read(&mut buffer).map_err(Ended::Machine)?;
            if count == 0 {
                return Err(Ended::Machine(process.ended()));
            }
            stream.push(buffer.get(..count).unwrap_or_default());
        }
        Ok(())
    }

    /// Keeps what a frame says.
    ///
    /// # Errors
    /// When it is out of order: all but a failure is said after one `Hello`, which judges what comes after it.
    fn take(&mut self, frame: Frame, said: &mut dyn FnMut(ProgramOutput)) -> Result<(), frame::Error> {
        let is_first = self.hello.is_none();
        match frame {
            Frame::Hello(hello) if is_first => self.hello = Some(hello),
            Frame::Failed(why) => self.trouble = Some(Trouble::Failed(why)),
            Frame::End if self.trouble.is_some() => {}
            Frame::Hello(_) => return Err(frame::Error::Order),
            _ if is_first => return Err(frame::Error::Order),
            Frame::Document(document) => self.document = Some(document),
            Frame::Output(bytes) => said(ProgramOutput::Output(bytes)),
            Frame::Errors(bytes) => said(ProgramOutput::Errors(bytes)),
            Frame::Exit(exit) => self.exit = Some(exit),
            Frame::Unsupported(why) => self.trouble = Some(Trouble::Unsupported(why)),
            Frame::End => {}
        }
        Ok(())
    }
}

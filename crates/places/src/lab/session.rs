//! The order of a guest's records: boot; then for each program its begin, output and end; then done.

use crate::lab::configured::{self, Configured};
use crate::lab::trouble::Disorder;
use record::{Boot, Counters, LabPayload, Payload, Record, Step, abi};

/// How a program or check of the plan ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exited(u64),
    /// An exception ended it: signal, code, trap number and error code, address, as in `CAUSE_SIGNAL`.
    Fault([u64; 4]),
    /// It was ended after so many ticks.
    Runaway(u64),
    /// It was not begun: this CPU lacks what the switch of this id needs.
    Unsupported(u64),
    /// It was not begun: the error number that execve would return.
    NotLoaded(u64),
    /// A check: whether it holds, and its figures.
    Checked(bool, [u64; 3]),
    /// In a way that this version of kentry does not know.
    Unknown(u64),
}

/// One event of a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The kernel is up.
    Boot(Boot),
    /// What programs run with from here on.
    Configured(Configured),
    /// A program begins; its number.
    Begin(u64),
    /// A program wrote something.
    Output {
        /// The program's number.
        number: u64,
        /// Its file descriptor.
        descriptor: u64,
        /// What it wrote.
        bytes: Vec<u8>,
    },
    /// What the processor counted while a program ran.
    Counters {
        /// The program's number.
        number: u64,
        /// The counts.
        counters: Counters,
    },
    /// A program ended.
    End {
        /// Its number.
        number: u64,
        /// How.
        end: End,
        /// Whether interrupts were on in the kernel behind some gate, where that was observed.
        interrupts: Option<bool>,
    },
    /// A step of a path that is listed.
    Step(Step),
    /// A log line.
    Log(String),
    /// Interrupts that nobody asked for.
    Stray {
        /// The program that was running, if one was.
        number: Option<u64>,
        /// Their vector; 2 for NMIs.
        vector: u64,
        /// How many.
        count: u64,
    },
    /// The plan is done.
    Done,
}

/// Follows a guest through its plan.
#[derive(Debug, Clone)]
pub struct Session {
    programs: u64,
    booted: bool,
    configured: bool,
    next: u64,
    running: Option<u64>,
    done: bool,
}

impl Session {
    /// For a plan of so many programs and checks.
    pub fn new(programs: usize) -> Session {
        Session {
            programs: programs as u64,
            booted: false,
            configured: false,
            next: 0,
            running: None,
            done: false,
        }
    }

    /// Whether the plan is done.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Turns the next record into an event.
    ///
    /// # Errors
    /// [`Disorder`] when the record is out of order; the session is then over.
    pub fn take(&mut self, record: Record) -> Result<Event, Disorder> {
        let Payload::Lab(payload) = record.payload else { return Err(Disorder::Foreign) };
        if self.done {
            return Err(Disorder::AfterDone);
        }
        match payload {
            LabPayload::Boot(boot) => self.boot(boot),
            // The kernel may log before its boot record.
            LabPayload::Log(line) => Ok(Event::Log(line)),
            _ if !self.booted => Err(Disorder::NoBoot),
            LabPayload::Configured(values) => self.configured(&values),
            LabPayload::Begin(number) => self.begin(number),
            LabPayload::Stray { vector, count } => Ok(Event::Stray { number: self.running, vector, count }),
            LabPayload::Output { descriptor, bytes } => {
                let number = self.running.ok_or(Disorder::Output)?;
                Ok(Event::Output { number, descriptor, bytes })
            }
            LabPayload::Step(step) => self.running.map(|_| Event::Step(step)).ok_or(Disorder::Step),
            LabPayload::End { how, detail, .. } if how == abi::LAB_END_PLAN => Err(Disorder::Plan(detail[0])),
            LabPayload::Counters { number, counters } if self.running == Some(number) => {
                Ok(Event::Counters { number, counters })
            }
            LabPayload::Counters { number, .. } => Err(Disorder::Counters(number)),
            LabPayload::End { number, how, detail } => {
                self.running.take_if(|running| *running == number).ok_or(Disorder::End(number))?;
                Ok(Event::End { number, end: end(how, detail), interrupts: interrupts(how, detail) })
            }
            LabPayload::Done if self.running.is_none() && self.next == self.programs => {
                self.done = true;
                Ok(Event::Done)
            }
            LabPayload::Done => Err(Disorder::DoneEarly(self.next)),
        }
    }

    fn boot(&mut self, boot: Boot) -> Result<Event, Disorder> {
        if self.booted {
            return Err(Disorder::BootedTwice);
        }
        if boot.version != abi::LAB_VERSION {
            return Err(Disorder::Version(boot.version));
        }
        self.booted = true;
        Ok(Event::Boot(boot))
    }

    fn configured(&mut self, values: &[u64]) -> Result<Event, Disorder> {
        if let Some(number) = self.running {
            return Err(Disorder::Configured(number));
        }
        self.configured = true;
        Ok(Event::Configured(configured::named(values)?))
    }

    fn begin(&mut self, number: u64) -> Result<Event, Disorder> {
        if !self.configured {
            return Err(Disorder::Unconfigured(number));
        }
        if self.running.is_some() || number != self.next || number >= self.programs {
            return Err(Disorder::Begin(number));
        }
        self.next += 1;
        self.running = Some(number);
        Ok(Event::Begin(number))
    }
}

fn end(how: u64, detail: [u64; 4]) -> End {
    let [first, second, third, fourth] = detail;
    match how {
        abi::LAB_END_EXITED => End::Exited(first),
        abi::LAB_END_FAULT => End::Fault(detail),
        abi::LAB_END_RUNAWAY => End::Runaway(first),
        abi::LAB_END_UNSUPPORTED => End::Unsupported(first),
        abi::LAB_END_NOT_LOADED => End::NotLoaded(first),
        abi::LAB_END_CHECKED => End::Checked(first == 1, [second, third, fourth]),
        other => End::Unknown(other),
    }
}

fn interrupts(how: u64, [_, observed, ..]: [u64; 4]) -> Option<bool> {
    match (how, observed) {
        (abi::LAB_END_EXITED, abi::LAB_IF_CLEAR) => Some(false),
        (abi::LAB_END_EXITED, abi::LAB_IF_SET) => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot(version: u64) -> LabPayload {
        let (ring0_ticks, ring3_ticks) = (1000, 1000);
        LabPayload::Boot(Boot {
            version,
            ring0_ticks,
            ring3_ticks,
            syscall_works: true,
            loader: 1,
            vendor: 1,
            tsc_invariant: true,
            ..Boot::default()
        })
    }

    /// Every switch as it is by default.
    fn configured() -> LabPayload {
        LabPayload::Configured(crate::lab::configured::tests::values(&[]))
    }

    fn exited(number: u64) -> LabPayload {
        LabPayload::End { number, how: abi::LAB_END_EXITED, detail: [0; 4] }
    }

    fn step() -> LabPayload {
        LabPayload::Step(Step { place: 0, address: 0, code: Vec::new(), name: String::new() })
    }

    fn counted(number: u64) -> LabPayload {
        LabPayload::Counters { number, counters: Counters { present: 0, values: [0; 8] } }
    }

    fn output() -> LabPayload {
        LabPayload::Output { descriptor: 1, bytes: b"x".to_vec() }
    }

    /// The events of these records, for a plan of two programs.
    fn session(payloads: &[LabPayload]) -> Result<Vec<Event>, Disorder> {
        let mut session = Session::new(2);
        let record =
            |payload: &LabPayload| Record { entry: 0, operation: 0, payload: Payload::Lab(payload.clone()) };
        payloads.iter().map(|payload| session.take(record(payload))).collect()
    }

    #[test]
    fn a_sound_session() {
        let log = LabPayload::Log("hello".into());
        let events = session(&[
            log.clone(),
            boot(abi::LAB_VERSION),
            configured(),
            LabPayload::Begin(0),
            output(),
            log,
            LabPayload::Stray { vector: 2, count: 1 },
            exited(0),
            LabPayload::Begin(1),
            exited(1),
            LabPayload::Stray { vector: 0x37, count: 3 },
            LabPayload::Done,
        ])
        .unwrap();
        assert_eq!(events.last(), Some(&Event::Done));
        assert_eq!(events[4], Event::Output { number: 0, descriptor: 1, bytes: b"x".to_vec() });
        assert_eq!(events[6], Event::Stray { number: Some(0), vector: 2, count: 1 });
        assert_eq!(events[7], Event::End { number: 0, end: End::Exited(0), interrupts: None });
        assert_eq!(events[10], Event::Stray { number: None, vector: 0x37, count: 3 });
    }

    #[test]
    fn every_disorder_is_named() {
        let begin = LabPayload::Begin;
        for (payloads, disorder) in [
            (vec![begin(0)], Disorder::NoBoot),
            (vec![LabPayload::Done], Disorder::NoBoot),
            (vec![LabPayload::Stray { vector: 2, count: 1 }], Disorder::NoBoot),
            (vec![boot(abi::LAB_VERSION), boot(abi::LAB_VERSION)], Disorder::BootedTwice),
            (vec![boot(abi::LAB_VERSION - 1)], Disorder::Version(abi::LAB_VERSION - 1)),
            (vec![configured()], Disorder::NoBoot),
            (vec![boot(abi::LAB_VERSION), begin(0)], Disorder::Unconfigured(0)),
            (vec![boot(abi::LAB_VERSION), configured(), begin(0), configured()], Disorder::Configured(0)),
            (vec![boot(abi::LAB_VERSION), LabPayload::Configured(vec![0])], Disorder::Values(1)),
            (vec![boot(abi::LAB_VERSION), counted(0)], Disorder::Counters(0)),
            (vec![boot(abi::LAB_VERSION), configured(), begin(0), counted(1)], Disorder::Counters(1)),
            (vec![boot(abi::LAB_VERSION), configured(), begin(1)], Disorder::Begin(1)),
            (vec![boot(abi::LAB_VERSION), configured(), begin(0), begin(1)], Disorder::Begin(1)),
            (vec![boot(abi::LAB_VERSION), configured(), begin(0), exited(0), begin(0)], Disorder::Begin(0)),
            (vec![boot(abi::LAB_VERSION), configured(), exited(0)], Disorder::End(0)),
            (vec![boot(abi::LAB_VERSION), configured(), begin(0), exited(1)], Disorder::End(1)),
            (vec![boot(abi::LAB_VERSION), configured(), output()], Disorder::Output),
            (vec![boot(abi::LAB_VERSION), configured(), step()], Disorder::Step),
            (
                vec![boot(abi::LAB_VERSION), configured(), begin(0), exited(0), LabPayload::Done],
                Disorder::DoneEarly(1),
            ),
            (vec![boot(abi::LAB_VERSION), configured(), begin(0), LabPayload::Done], Disorder::DoneEarly(1)),
        ] {
            assert_eq!(session(&payloads), Err(disorder), "{payloads:?}");
        }
        let detail = [12, 0, 0, 0];
        let plan = LabPayload::End { number: 0, how: abi::LAB_END_PLAN, detail };
        assert_eq!(session(&[boot(abi::LAB_VERSION), plan]), Err(Disorder::Plan(12)));
    }

    #[test]
    fn nothing_comes_after_the_last_and_no_program_that_is_not_planned() {
        let mut session = Session::new(0);
        let mut take =
            |payload| session.take(Record { entry: 0, operation: 0, payload: Payload::Lab(payload) });
        assert!(take(boot(abi::LAB_VERSION)).is_ok());
        assert!(take(configured()).is_ok());
        assert_eq!(take(LabPayload::Begin(0)), Err(Disorder::Begin(0)));
        assert_eq!(take(LabPayload::Done), Ok(Event::Done));
        assert_eq!(take(LabPayload::Done), Err(Disorder::AfterDone));
    }
}

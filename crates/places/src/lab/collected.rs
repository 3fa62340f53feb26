use crate::lab::{Configured, End, Event, Events, Trouble};
use record::{Boot, Counters, MOST_OUTPUT, Step};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How many log lines are kept: the last ones.
const MOST_LINES: usize = 100;

const STANDARD_OUTPUT: u64 = 1;

/// What became of one program of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Its standard output, unless it wrote more than any probe does.
    pub output: Option<Vec<u8>>,
    /// How it ended.
    pub end: End,
    /// Whether interrupts were on in the kernel behind some gate, where that was observed.
    pub interrupts: Option<bool>,
    /// What the processor counted while it ran, until it wrote something, where the processor counts anything.
    pub counters: Option<Counters>,
}

/// How many interrupts came that nobody asked for, by vector; 2 is that of NMIs.
pub type Strays = BTreeMap<u64, u64>;

/// A guest's records, sorted by program.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// What the kernel found when it came up.
    pub boot: Option<Boot>,
    /// The defaults of the switches, as the kernel has them on its processor.
    pub defaults: Option<Configured>,
    /// What each program ran with, or would have, by its number.
    pub configured: BTreeMap<u64, Configured>,
    /// The programs that ended, by number.
    pub ran: BTreeMap<u64, Ran>,
    /// When each program began, by its number: after the first event, by this machine's clock.
    pub begun: BTreeMap<u64, Duration>,
    /// The program that was running last, if it did not end.
    pub running: Option<u64>,
    /// Interrupts that nobody asked for, by vector, of each program while it ran; and of the time outside of programs.
    pub strays: BTreeMap<Option<u64>, Strays>,
    /// The steps of the paths that were listed, by the number of the plan's line.
    pub listed: BTreeMap<u64, Vec<Step>>,
    /// The last log lines.
    pub log: Vec<String>,
    now: Option<Configured>,
    output: Option<Vec<u8>>,
    counters: Option<Counters>,
    first: Option<Instant>,
}

impl Collected {
    /// Reads a guest to its end. `progress` gets the number of each program that begins. What was complete before any
    /// trouble is kept.
    ///
    /// # Errors
    /// Why the guest did not finish its plan.
    pub fn read(&mut self, guest: &mut dyn Events, progress: &mut dyn FnMut(u64)) -> Result<(), Trouble> {
        loop {
            match guest.next().map_err(|trouble| self.explained(trouble))? {
                Event::Done => return Ok(()),
                event => {
                    if let Event::Begin(number) = event {
                        progress(number);
                    }
                    self.take(event);
                }
            }
        }
    }

    /// Without a boot record there is no document that could have the log, so the trouble has it.
    fn explained(&self, trouble: Trouble) -> Trouble {
        if self.boot.is_some() || self.log.is_empty() || trouble.is_interruption() {
            return trouble;
        }
        Trouble::NotUp { trouble: Box::new(trouble), said: self.log.join("; ") }
    }

    /// Takes one event.
    pub fn take(&mut self, event: Event) {
        match event {
            Event::Boot(boot) => self.boot = Some(boot),
            Event::Configured(values) => {
                self.defaults.get_or_insert_with(|| values.clone());
                self.now = Some(values);
            }
            Event::Begin(number) => {
                self.configured.extend(self.now.clone().map(|values| (number, values)));
                let first = *self.first.get_or_insert_with(Instant::now);
                self.begun.insert(number, first.elapsed());
                self.running = Some(number);
                self.output = Some(Vec::new());
            }
            Event::Output { descriptor: STANDARD_OUTPUT, bytes, .. } => {
                if let Some(output) = &mut self.output {
                    output.extend(bytes);
                }
                self.output.take_if(|output| output.len() > MOST_OUTPUT);
            }
            Event::Counters { counters, .. } => self.counters = Some(counters),
            Event::End { number, end, interrupts } => {
                let (output, counters) = (self.output.take(), self.counters.take());
                self.ran.insert(number, Ran { output, end, interrupts, counters });
                self.running = None;
            }
            Event::Step(step) => {
                if let Some(number) = self.running {
                    self.listed.entry(number).or_default().push(step);
                }
            }
            Event::Log(line) => {
                self.log.push(line);
                self.log.drain(..self.log.len().saturating_sub(MOST_LINES));
            }
            Event::Stray { number, vector, count } => {
                let came = self.strays.entry(number).or_default().entry(vector).or_default();
                *came = came.saturating_add(count);
            }
            Event::Output { .. } | Event::Done => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(descriptor: u64, bytes: &[u8]) -> Event {
        Event::Output { number: 0, descriptor, bytes: bytes.to_vec() }
    }

    #[test]
    fn pieces_of_standard_output_are_joined() {
        let mut collected = Collected::default();
        let end = Event::End { number: 0, end: End::Exited(0), interrupts: None };
        let counters = Counters { present: 1, values: [7, 0, 0, 0, 0, 0, 0, 0] };
        let counted = Event::Counters { number: 0, counters };
        for event in [Event::Begin(0), output(1, b"ab"), output(2, b"no"), output(1, b"c"), counted, end] {
            collected.take(event);
        }
        let end = End::Exited(0);
        let expected = Ran { output: Some(b"abc".to_vec()), end, interrupts: None, counters: Some(counters) };
        assert_eq!(collected.ran, BTreeMap::from([(0, expected)]));
        collected.take(Event::Begin(1));
        collected.take(Event::End { number: 1, end, interrupts: None });
        assert_eq!(collected.ran[&1].counters, None, "those of the program before");
        assert_eq!(collected.running, None);
    }

    #[test]
    fn strays_are_added_up_for_the_program_that_they_interrupted() {
        let mut collected = Collected::default();
        for (number, vector, count) in
            [(None, 0x68, 1), (Some(0), 0x37, 2), (Some(0), 0x37, u64::MAX), (Some(0), 2, 1)]
        {
            collected.take(Event::Stray { number, vector, count });
        }
        let of_program = Strays::from([(2, 1), (0x37, u64::MAX)]);
        let expected = BTreeMap::from([(None, Strays::from([(0x68, 1)])), (Some(0), of_program)]);
        assert_eq!(collected.strays, expected);
    }

    #[test]
    fn a_program_that_writes_too_much_has_no_output_but_an_end() {
        let mut collected = Collected::default();
        collected.take(Event::Begin(0));
        for _ in 0..5 {
            collected.take(output(1, &vec![0; 1 << 20]));
        }
        collected.take(Event::End { number: 0, end: End::Exited(0), interrupts: None });
        assert_eq!(collected.ran[&0].output, None);
    }

    #[test]
    fn a_talkative_kernel_is_cut() {
        let mut collected = Collected::default();
        (0..1000).for_each(|line| collected.take(Event::Log(line.to_string())));
        assert_eq!(
            (collected.log.len(), collected.log.last().map(String::as_str)),
            (MOST_LINES, Some("999"))
        );
    }
}

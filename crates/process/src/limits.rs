//! What a child may use, and how much of it is left.

use crate::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set from a signal handler to end a child early.
pub type Interrupt = Arc<AtomicBool>;

/// What a child may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The longest it may take, from the moment it is started.
    pub time: Duration,
    /// The most it may write, in bytes.
    pub output: usize,
    /// Ends it when set.
    pub interrupt: Interrupt,
}

/// The longest single wait, so that an interrupt that comes just before a wait is noticed soon.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// The first pause between two attempts after a momentary failure.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// The pauses double up to this one: 127 ms in all.
const LAST_PAUSE: Duration = Duration::from_millis(64);

/// The limits of a child and when it began.
#[derive(Debug)]
pub(crate) struct Watch {
    pub limits: Limits,
    /// Ends this child alone when set.
    pub stop: Interrupt,
    begin: Instant,
}

impl Watch {
    pub fn new(limits: &Limits) -> Watch {
        Watch { limits: limits.clone(), stop: Interrupt::default(), begin: Instant::now() }
    }

    /// Leaves no more than this time from now on.
    pub fn hurry(&mut self, time: Duration) {
        self.limits.time = self.limits.time.min(self.begin.elapsed() + time);
    }

    /// How long to wait now at most; an error when the time is over or somebody interrupts.
    pub fn next_wait(&self) -> Result<Duration, Error> {
        if [&self.limits.interrupt, &self.stop].iter().any(|set| set.load(Ordering::Relaxed)) {
            return Err(Error::Interrupted);
        }
        let left = self.limits.time.saturating_sub(self.begin.elapsed());
        if left.is_zero() { Err(Error::Timeout(self.limits.time)) } else { Ok(left.min(LONGEST_WAIT)) }
    }

    /// Repeats what fails momentarily, with growing pauses; returns the last error if it keeps failing.
    pub fn retry<T>(&self, mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
        let mut pause = FIRST_PAUSE;
        loop {
            match attempt() {
                Err(error) if error.is_momentary() && pause <= LAST_PAUSE => {
                    std::thread::sleep(self.next_wait()?.min(pause));
                    pause *= 2;
                }
                done => return done,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Errno, Phase};

    const BUSY: Error = Error::NotStarted { phase: Phase::Fork, errno: Errno::EAGAIN };

    fn watch(time: Duration, interrupted: bool) -> Watch {
        Watch::new(&Limits { time, output: 0, interrupt: Interrupt::new(AtomicBool::new(interrupted)) })
    }

    /// The number of attempts, and the result, if the first attempts fail with this error.
    fn attempts(watch: &Watch, failures: usize, error: Error) -> (usize, Result<(), Error>) {
        let mut made = 0;
        let result = watch.retry(|| {
            made += 1;
            if made <= failures { Err(error) } else { Ok(()) }
        });
        (made, result)
    }

    #[test]
    fn what_fails_for_a_moment_is_tried_again() {
        let watch = watch(Duration::from_secs(60), false);
        assert_eq!(attempts(&watch, 0, BUSY), (1, Ok(())));
        assert_eq!(attempts(&watch, 3, BUSY), (4, Ok(())));
        assert_eq!(attempts(&watch, 7, BUSY), (8, Ok(())));
        assert_eq!(attempts(&watch, 8, BUSY), (8, Err(BUSY)), "and not for ever");
    }

    #[test]
    fn what_fails_for_good_is_tried_once() {
        let refused = Error::NotStarted { phase: Phase::Execute, errno: Errno::ENOEXEC };
        assert_eq!(attempts(&watch(Duration::from_secs(60), false), 9, refused), (1, Err(refused)));
    }

    #[test]
    fn neither_the_time_nor_an_interrupt_is_overrun() {
        let none = Duration::ZERO;
        assert_eq!(attempts(&watch(none, false), 9, BUSY), (1, Err(Error::Timeout(none))));
        assert_eq!(attempts(&watch(Duration::MAX, true), 9, BUSY), (1, Err(Error::Interrupted)));
    }

    #[test]
    fn no_time_is_too_long() {
        assert_eq!(watch(Duration::MAX, false).next_wait(), Ok(LONGEST_WAIT));
    }
}

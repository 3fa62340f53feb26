//! This machine: threads of this process, each of which stays on one CPU. They come and go; the caller's own is not moved.

use super::machine::{Clock, Core, Counter, Exchange, Exchanges, Machine};
use nix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread::{Builder, ScopedJoinHandle, scope};
use std::time::{Duration, Instant};

/// What exchanges need no more than.
const MOST_EXCHANGES: u64 = 4_000;

/// How long one that waits for another to begin is patient: that one's CPU may have other work.
const BEGIN: Duration = Duration::from_millis(60);

/// Turns of a waiting loop between two looks at the time.
const TURNS: u32 = 256;

/// This machine.
pub(super) struct Live {
    began: Instant,
}

impl Live {
    /// # Errors
    /// Why this process cannot read the time stamp counter, in words.
    pub fn new() -> Result<Live, String> {
        let mut mode: nix::libc::c_int = 0;
        // SAFETY: the kernel writes an int to `mode`.
        let result = unsafe { nix::libc::prctl(nix::libc::PR_GET_TSC, &mut mode) };
        if result == 0 && mode != nix::libc::PR_TSC_ENABLE {
            return Err("this process may not read the time stamp counter (PR_SET_TSC)".to_owned());
        }
        Ok(Live { began: Instant::now() })
    }
}

/// The time stamp counter, neither before what stands before it has executed nor after what stands behind it.
fn tsc() -> u64 {
    use std::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: x86-64 has both instructions; `Live::new` has seen that the counter may be read.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

fn time(clock: Clock) -> i64 {
    let id = match clock {
        Clock::Monotonic => ClockId::CLOCK_MONOTONIC,
        Clock::Realtime => ClockId::CLOCK_REALTIME,
        Clock::Raw => ClockId::CLOCK_MONOTONIC_RAW,
    };
    clock_gettime(id)
        .map_or(0, |time| time.tv_sec().saturating_mul(1_000_000_000).saturating_add(time.tv_nsec()))
}

fn reading(counter: Counter) -> i64 {
    match counter {
        Counter::Tsc => tsc() as i64,
        Counter::Monotonic => time(Clock::Monotonic),
    }
}

/// A thread on its CPU.
pub(super) struct Here {
    began: Instant,
}

impl Core for Here {
    fn ticks(&mut self) -> u64 {
        tsc()
    }

    fn time(&mut self, clock: Clock) -> i64 {
        time(clock)
    }

    fn elapsed(&mut self) -> Duration {
        self.began.elapsed()
    }
}

impl Machine for Live {
    type Core = Here;

    fn cpus(&self) -> Vec<usize> {
        process::allowed_cpus().unwrap_or_default()
    }

    fn on<T: Send>(&self, cpu: usize, work: impl FnOnce(&mut Here) -> T + Send) -> Result<T, String> {
        let pinned = move || {
            pin(cpu)?;
            let done = work(&mut Here { began: Instant::now() });
            still_on(cpu).map(|()| done)
        };
        scope(|scope| joined(Builder::new().spawn_scoped(scope, pinned).map_err(no_thread)?))
    }

    fn exchange(&self, (from, to): (usize, usize), time: Duration) -> Result<Exchanges, String> {
        let line = Line::default();
        let asks = || {
            let asked =
                pin(from).and_then(|()| line.ask(time)).and_then(|asked| still_on(from).map(|()| asked));
            line.is_over.store(true, Ordering::Release);
            asked
        };
        let answers = || {
            let answered = pin(to).map(|()| line.answer(BEGIN + time * 2)).and_then(|()| still_on(to));
            line.is_over.store(true, Ordering::Release);
            answered
        };
        scope(|scope| {
            let answering = Builder::new().spawn_scoped(scope, answers).map_err(no_thread)?;
            let asking = Builder::new().spawn_scoped(scope, asks);
            if asking.is_err() {
                line.is_over.store(true, Ordering::Release);
            }
            let asked = asking.map_err(no_thread).and_then(joined);
            joined(answering)?;
            asked
        })
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

fn no_thread(error: std::io::Error) -> String {
    format!("no thread could be made: {error}")
}

fn joined<T>(thread: ScopedJoinHandle<Result<T, String>>) -> Result<T, String> {
    thread.join().unwrap_or_else(|_| Err("its thread ended early".to_owned()))
}

fn pin(cpu: usize) -> Result<(), String> {
    process::pin_this_thread(cpu).map_err(|errno| format!("no thread may run there: {errno}"))
}

/// A CPU that goes offline, or a changed cpuset, moves a thread.
fn still_on(cpu: usize) -> Result<(), String> {
    match nix::sched::sched_getcpu() {
        Ok(now) if now != cpu => Err("its thread was moved away meanwhile".to_owned()),
        _ => Ok(()),
    }
}

/// What two CPUs write to for each other. Each has a line of its own, so that a message is one transfer.
#[derive(Default)]
struct Line {
    question: Alone,
    answer: Alone,
    is_over: AtomicBool,
}

#[derive(Default)]
#[repr(align(128))]
struct Alone {
    number: AtomicU64,
    reading: AtomicI64,
}

/// In turns, because a read of the kernel's clock would make the exchange of counters longer.
fn counter_of(number: u64) -> Counter {
    if number.is_multiple_of(2) { Counter::Tsc } else { Counter::Monotonic }
}

impl Line {
    fn ask(&self, time: Duration) -> Result<Exchanges, String> {
        let mut exchanges = Exchanges::default();
        let began = Instant::now();
        let mut until = BEGIN;
        for number in 1..=MOST_EXCHANGES {
            let counter = counter_of(number);
            let sent = reading(counter);
            self.question.number.store(number, Ordering::Release);
            if !self.wait(&self.answer.number, number, began, until) {
                break;
            }
            let returned = reading(counter);
            let echoed = self.answer.reading.load(Ordering::Relaxed);
            if number == 1 {
                until = began.elapsed() + time;
            }
            let of = if counter == Counter::Tsc { &mut exchanges.ticks } else { &mut exchanges.monotonic };
            of.push(Exchange { sent, echoed, returned });
        }
        match exchanges.ticks.is_empty() {
            true => Err("other work left no time there".to_owned()),
            false => Ok(exchanges),
        }
    }

    fn answer(&self, time: Duration) {
        let began = Instant::now();
        for number in 1..=MOST_EXCHANGES {
            if !self.wait(&self.question.number, number, began, time) {
                return;
            }
            self.answer.reading.store(reading(counter_of(number)), Ordering::Relaxed);
            self.answer.number.store(number, Ordering::Release);
        }
    }

    /// Whether that number came before the other stopped, or the time was up.
    fn wait(&self, place: &AtomicU64, number: u64, began: Instant, until: Duration) -> bool {
        loop {
            for _ in 0..TURNS {
                if place.load(Ordering::Acquire) == number {
                    return true;
                }
                std::hint::spin_loop();
            }
            if self.is_over.load(Ordering::Acquire) || began.elapsed() > until {
                return false;
            }
        }
    }
}

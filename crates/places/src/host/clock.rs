//! Ticks against nanoseconds.

use nix::libc;
use nix::time::{ClockId, clock_gettime};
use std::arch::x86_64::{_mm_lfence, _rdtsc};

/// The time stamp counter and CLOCK_MONOTONIC_RAW, read together.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    ticks: u64,
    nanos: i128,
}

impl Reading {
    /// Reads both several times, and keeps the pair that is closest together. `None` without the clock, or where this
    /// process may not read the counter.
    pub fn now() -> Option<Reading> {
        if !tsc_is_readable() {
            return None;
        }
        let pair = || {
            let before = tsc();
            let time = clock_gettime(ClockId::CLOCK_MONOTONIC_RAW).ok()?;
            let after = tsc();
            let nanos = i128::from(time.tv_sec()) * 1_000_000_000 + i128::from(time.tv_nsec());
            // Counters of different CPUs may differ a little.
            let gap = after.saturating_sub(before);
            Some((gap, Reading { ticks: before + gap / 2, nanos }))
        };
        (0..16).filter_map(|_| pair()).min_by_key(|(gap, _)| *gap).map(|(_, reading)| reading)
    }

    /// Ticks in a second between this reading and a later one, hertz. None when no time has passed.
    pub fn tsc_hz(&self, later: &Reading) -> Option<f64> {
        let nanos = later.nanos.checked_sub(self.nanos).filter(|nanos| *nanos > 0)?;
        Some(later.ticks.checked_sub(self.ticks)? as f64 * 1e9 / nanos as f64)
    }
}

fn tsc() -> u64 {
    // SAFETY: every x86-64 processor has lfence and rdtsc; that this process may read the counter was
    // asked by `Reading::now`, the only caller.
    unsafe {
        _mm_lfence();
        _rdtsc()
    }
}

/// Whether this process may read the counter (PR_SET_TSC); if not, rdtsc raises SIGSEGV.
pub fn tsc_is_readable() -> bool {
    let mut state: libc::c_int = 0;
    // SAFETY: PR_GET_TSC writes one int to the address it is given (man prctl).
    let result = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut state) };
    result != 0 || state != libc::PR_TSC_SIGSEGV
}

//! What the kernel's log says about clocks: which it left and why, and which CPUs it found apart.

use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;

/// The kernel's log, as far as it is about clocks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelLog {
    /// Whether it could be read.
    pub is_readable: bool,
    /// Why not, or what of it could not, in words.
    pub unseen: Option<String>,
    /// When its first line was written, in seconds since the kernel began: what was before is lost.
    pub since: Option<f64>,
    /// Lines about clocks, the oldest first.
    pub lines: Vec<LogLine>,
}

/// A line of the kernel's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogLine {
    /// Seconds since the kernel began.
    pub at: f64,
    /// What it says.
    pub text: String,
}

/// Lines that are kept, at most; the last ones.
const MOST_LINES: usize = 64;

/// Characters of a line, at most.
const LONGEST: usize = 300;

/// Records that are read, at most: no log is so long.
const MOST_RECORDS: usize = 200_000;

/// A record is no longer (Linux: PRINTK_MESSAGE_MAX).
const RECORD: usize = 8192;

/// What lines about clocks have, in lower case.
const WORDS: [&str; 6] = ["clocksource", "tsc", "timekeeping", "hpet", "kvm-clock", "sched_clock"];

const FILE: &str = "/dev/kmsg";

impl KernelLog {
    /// Reads it, where this user may.
    pub fn read() -> KernelLog {
        let file = OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(FILE);
        let mut file = match file {
            Ok(file) => file,
            Err(error) => return KernelLog::closed(&error),
        };
        let mut log = KernelLog { is_readable: true, ..KernelLog::default() };
        let mut record = [0; RECORD];
        for _ in 0..MOST_RECORDS {
            match file.read(&mut record) {
                Ok(0) => break,
                Ok(length) => log.take(&String::from_utf8_lossy(record.get(..length).unwrap_or_default())),
                // EPIPE: what was to be read next has just been overwritten.
                Err(error) if [ErrorKind::BrokenPipe, ErrorKind::Interrupted].contains(&error.kind()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => {
                    // A first read that is refused is the lack of a permission.
                    if log.since.is_none() {
                        return KernelLog::closed(&error);
                    }
                    log.unseen = Some(format!("the kernel's log could not be read to its end ({error})"));
                    break;
                }
            }
        }
        log.tell_what_is_lost();
        log
    }

    fn closed(error: &std::io::Error) -> KernelLog {
        let why = format!("the kernel's log cannot be read by this user ({FILE}: {error})");
        KernelLog { unseen: Some(why), ..KernelLog::default() }
    }

    /// `6,4565,21401030631,-;text`, with lines of ` KEY=value` behind it.
    fn take(&mut self, record: &str) {
        let Some((head, text)) = record.split_once(';') else { return };
        let Some(micros) = head.split(',').nth(2).and_then(|micros| micros.parse::<u64>().ok()) else {
            return;
        };
        let at = micros as f64 / 1e6;
        self.since.get_or_insert(at);
        let text: String = text
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .filter(|c| !c.is_control())
            .take(LONGEST)
            .collect();
        if is_about_clocks(&text) {
            if self.lines.len() >= MOST_LINES {
                self.lines.remove(0);
            }
            self.lines.push(LogLine { at, text });
        }
    }

    fn tell_what_is_lost(&mut self) {
        if let Some(since) = self.since.filter(|since| *since > 1.0) {
            let lost = format!(
                "the kernel's log begins {since:.0} s after the kernel did, and has lost what it said before"
            );
            self.unseen.get_or_insert(lost);
        }
    }

    /// The last line that says why a clock was left, or that CPUs are apart.
    pub fn demotion(&self) -> Option<&LogLine> {
        self.lines.iter().rev().find(|line| tells_demotion(&line.text))
    }
}

/// The kernel itself writes these lines, and programs that crash write their names: `tscript[12]: segfault`.
fn is_about_clocks(text: &str) -> bool {
    let text = text.to_lowercase();
    WORDS.iter().any(|word| text.starts_with(word)) || tells_demotion(&text)
}

/// Linux: kernel/time/clocksource.c, arch/x86/kernel/tsc.c and tsc_sync.c.
fn tells_demotion(text: &str) -> bool {
    let text = text.to_lowercase();
    let begins = ["clocksource", "timekeeping", "tsc", "measured", "hpet", "kvm-clock"];
    let says = [
        "unstable",
        "warp",
        "marking",
        "disabled",
        "not hrt compatible",
        "skew",
        "not synchronized",
        "unsynchronized",
    ];
    begins.iter().any(|word| text.starts_with(word)) && says.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(records: &[&str]) -> KernelLog {
        let mut log = KernelLog { is_readable: true, ..KernelLog::default() };
        records.iter().for_each(|record| log.take(record));
        log.tell_what_is_lost();
        log
    }

    #[test]
    fn the_line_that_demoted_a_clock_is_found() {
        let log = log(&[
            "6,1,0,-;Linux version 6.1",
            "6,2,100000,-;tsc: Fast TSC calibration using PIT",
            "4,3,9000000,-;clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is too large:\n SUBSYSTEM=x",
            "6,4,9000100,-;clocksource: Switched to clocksource hpet",
        ]);
        assert_eq!(log.lines.len(), 3);
        let line = log.demotion().unwrap();
        assert_eq!((line.at, log.unseen.as_deref()), (9.0, None));
        assert!(line.text.ends_with("the skew is too large:"), "{}", line.text);
    }

    #[test]
    fn programs_that_crash_and_garbage_are_no_clocks() {
        let log = log(&[
            "",
            ";",
            "x",
            "6,1,x,-;tsc: unstable",
            "6,1;tsc: unstable",
            "6,9,70000000,-;evil[3]: segfault: Marking clocksource 'tsc' unstable",
            "6,10,70000001,-;memfd:tsc[1] unstable",
        ]);
        assert_eq!((log.lines.as_slice(), log.since), (&[][..], Some(70.0)));
        assert!(log.unseen.unwrap().contains("begins 70 s after"));
    }

    #[test]
    fn a_long_log_keeps_its_last_lines() {
        let mut all = KernelLog::default();
        let long = "x".repeat(2 * LONGEST);
        (0..1000).for_each(|at| all.take(&format!("6,{at},{at},-;tsc: {long}")));
        assert_eq!((all.lines.len(), all.lines[0].text.len()), (MOST_LINES, LONGEST));
        assert_eq!(all.since, Some(0.0));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let here = KernelLog::read();
        assert!(here.is_readable || here.unseen.unwrap().contains("/dev/kmsg"));
    }
}

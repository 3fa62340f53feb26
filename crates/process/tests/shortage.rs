//! A process that runs out of descriptors for a moment. The only test of its file, because it takes them from the whole
//! process.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use process::{Command, Errno, Error, Interrupt, Isolation, Limits, Phase, Program};
use std::fs::File;
use std::time::{Duration, Instant};

/// The pauses between all attempts.
const RETRIES: Duration = Duration::from_millis(127);

fn run() -> Result<(), Error> {
    let limits = Limits { time: Duration::from_secs(60), output: 1, interrupt: Interrupt::default() };
    process::run(&Command::new(Program::Named("true".into()), Isolation::Session), &limits).map(drop)
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn a_child_is_started_once_there_are_descriptors_again() {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, 64.min(hard), hard).unwrap();
    let mut taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();

    let begin = Instant::now();
    let error = run().unwrap_err();
    assert!(begin.elapsed() >= RETRIES, "it is tried for a while: {:?}", begin.elapsed());
    assert_eq!(error, Error::NotStarted { phase: Phase::Pipe, errno: Errno::EMFILE });
    assert!(error.is_momentary());

    // One pipe fits in, and the next does not: the first must not stay open.
    taken.truncate(taken.len() - 3);
    let before = open_files();
    assert!(run().unwrap_err().is_momentary());
    assert_eq!(open_files(), before);

    drop(taken);
    assert_eq!(run(), Ok(()));
}

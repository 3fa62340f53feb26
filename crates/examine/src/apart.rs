//! Questions to the kernel that a filter of this process may answer by ending whoever asks: a child asks them, and this process goes on.

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, pipe, read, write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// The most that an answer has, in bytes: what a pipe takes at once.
const LIMIT: usize = 4096;

/// What a child has to say. It never allocates: the process may have had other threads, which held locks.
pub(crate) struct Answer {
    bytes: [u8; LIMIT],
    length: usize,
}

impl Answer {
    /// Adds these; nothing of what does not fit. Whether it fitted.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let place = self.bytes.get_mut(self.length..self.length.saturating_add(bytes.len()));
        let Some(place) = place else { return false };
        place.copy_from_slice(bytes);
        self.length += bytes.len();
        true
    }

    /// Adds a number.
    pub fn number(&mut self, number: i64) -> bool {
        self.push(&number.to_ne_bytes())
    }
}

/// The numbers of an answer, in order.
pub(crate) fn numbers(answer: &[u8]) -> Vec<i64> {
    answer.as_chunks::<8>().0.iter().map(|bytes| i64::from_ne_bytes(*bytes)).collect()
}

/// Lets a child ask, and gives its answer.
///
/// # Errors
/// In words, where there was none within this time: the child was ended, or could not be made.
pub(crate) fn ask(time: Duration, question: impl FnOnce(&mut Answer)) -> Result<Vec<u8>, String> {
    let (from, to) = pipe().map_err(|errno| format!("no pipe could be made: {}", errno.desc()))?;
    // SAFETY: the child makes system calls alone, allocates nothing, and ends by `_exit`.
    match unsafe { fork() } {
        Err(errno) => Err(format!("no process could be made: {}", errno.desc())),
        Ok(ForkResult::Child) => answered(&to, question),
        Ok(ForkResult::Parent { child }) => {
            drop(to);
            let answer = heard(&from, time);
            let ending = ended(child, answer.is_none());
            answer.filter(|answer| !answer.is_empty()).ok_or(ending)
        }
    }
}

/// The child: never returns.
fn answered(to: &OwnedFd, question: impl FnOnce(&mut Answer)) -> ! {
    // SAFETY: a number goes in; the kernel ends this process when its parent ends.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // A filter that ends it shall leave no file behind.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    let mut answer = Answer { bytes: [0; LIMIT], length: 0 };
    question(&mut answer);
    let _ = write(to, answer.bytes.get(..answer.length).unwrap_or_default());
    // SAFETY: ends this process without what the parent registered for its own end.
    unsafe { libc::_exit(0) }
}

/// What comes through the pipe in time; none if nothing does, not even its end.
fn heard(from: &OwnedFd, time: Duration) -> Option<Vec<u8>> {
    let time = PollTimeout::try_from(time).unwrap_or(PollTimeout::ZERO);
    let mut files = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
    if poll(&mut files, time).unwrap_or(0) == 0 {
        return None;
    }
    let mut bytes = vec![0; LIMIT];
    let length = read(from, &mut bytes).ok()?;
    bytes.truncate(length);
    Some(bytes)
}

/// Reaps it, and says how it ended.
fn ended(child: Pid, is_late: bool) -> String {
    if is_late {
        let _ = kill(child, Signal::SIGKILL);
    }
    match waitpid(child, None) {
        _ if is_late => "the process that asked did not answer in time".to_owned(),
        Ok(WaitStatus::Signaled(_, signal, _)) => format!("the process that asked was ended by {signal}"),
        _ => "the process that asked had no answer".to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(10);

    #[test]
    fn what_a_child_says_is_heard() {
        let answer = ask(LONG, |answer| _ = answer.number(7) && answer.number(-1)).unwrap();
        assert_eq!(numbers(&answer), [7, -1]);
    }

    #[test]
    fn a_child_that_is_ended_or_late_takes_nobody_with_it() {
        // SAFETY: as a filter that ends whoever asks.
        let ended = ask(LONG, |_| unsafe { _ = libc::raise(libc::SIGSYS) }).unwrap_err();
        assert!(ended.contains("SIGSYS"), "{ended}");
        // SAFETY: waits for a signal, which comes.
        let late = ask(Duration::from_millis(20), |_| unsafe { _ = libc::pause() }).unwrap_err();
        assert!(late.contains("in time"), "{late}");
        assert!(ask(LONG, |_| {}).unwrap_err().contains("no answer"));
    }

    #[test]
    fn an_answer_that_is_too_long_is_cut() {
        let answer = ask(LONG, |answer| while answer.push(&[1; 1000]) {}).unwrap();
        assert_eq!(answer.len(), 4000);
    }
}

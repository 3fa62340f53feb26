//! A process that is killed with its group, and reaped, when its handle is dropped.

use crate::Error;
use crate::warden::Note;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// How long to wait for the end of a child that this process may not kill, because it has become another user (sudo).
const PATIENCE: Duration = Duration::from_secs(1);

/// The pause between two looks at such a child.
const PAUSE: Duration = Duration::from_millis(5);

/// A child that has not been reaped.
#[derive(Debug)]
pub(crate) struct Running {
    pid: Pid,
    /// For who ends its group if this process is killed; kept until it is reaped.
    note: Option<Note>,
    status: Option<ExitStatus>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.status.is_none() {
            let _ = self.end();
        }
    }
}

impl Running {
    pub fn new(pid: Pid, note: Option<Note>) -> Running {
        Running { pid, note, status: None }
    }

    /// How it ended, if it has; its group is then killed.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        if self.status.is_some() {
            return Ok(self.status);
        }
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.pid), flags) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => Ok(None),
            Ok(_) => self.end().map(Some),
            Err(errno) => Err(Error::NotFollowed { errno }),
        }
    }

    /// Kills it and its group, then reaps it. The order matters: until it is reaped, no other group can get its number. EPERM if it
    /// may not be killed, and does not end by itself.
    fn end(&mut self) -> Result<ExitStatus, Error> {
        // The group may not exist yet; then the process alone is killed.
        let _ = killpg(self.pid, Signal::SIGKILL);
        let is_killed = kill(self.pid, Signal::SIGKILL) != Err(Errno::EPERM);
        let (begin, flags) = (Instant::now(), (!is_killed).then_some(WaitPidFlag::WNOHANG));
        loop {
            match waitpid(self.pid, flags) {
                Err(Errno::EINTR) => {}
                Ok(WaitStatus::StillAlive) if begin.elapsed() > PATIENCE => {
                    return Err(Error::NotFollowed { errno: Errno::EPERM });
                }
                Ok(WaitStatus::StillAlive) => std::thread::sleep(PAUSE),
                Err(errno) => return Err(Error::NotFollowed { errno }),
                Ok(status) => {
                    if let Some(status) = exit_status(status) {
                        self.status = Some(status);
                        self.note = None;
                        return Ok(status);
                    }
                }
            }
        }
    }
}

/// The status in the form of wait(2), which the standard library can put into words.
fn exit_status(status: WaitStatus) -> Option<ExitStatus> {
    match status {
        WaitStatus::Exited(_, code) => Some(ExitStatus::from_raw((code & 0xff) << 8)),
        WaitStatus::Signaled(_, signal, _) => Some(ExitStatus::from_raw(signal as i32)),
        _ => None,
    }
}

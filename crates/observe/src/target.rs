//! Whose calls are counted, and how much CPU time they use.

use crate::error::Error;
use crate::{cgroup, proc};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Whose calls are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A process: all its threads, and what they make meanwhile.
    Process(u32),
    /// A cgroup of version 2, by the path of its folder.
    Cgroup(PathBuf),
    /// The whole machine.
    System,
}

/// CPU time in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuTime {
    /// All of it.
    pub seconds: f64,
    /// What is sure of it: less than all where two clocks do not agree.
    pub sure: f64,
    /// In user space and in the kernel, where that is known.
    pub parts: Option<[f64; 2]>,
    /// What tells it, in words.
    pub by: &'static str,
}

impl Target {
    /// Whether there is one, and its calls can be counted.
    ///
    /// # Errors
    /// [`Error::Target`] where not, in words.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Target::Process(pid) => process(*pid),
            Target::Cgroup(path) => cgroup::folder(path).map(drop),
            Target::System => Ok(()),
        }
    }
}

fn process(pid: u32) -> Result<(), Error> {
    let wrong = |why: &str| Err(Error::Target(format!("process {pid} {why}")));
    let text = match proc::read(format!("/proc/{pid}/stat")) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Error::Target(format!("there is no process {pid}")));
        }
        Err(error) if error.raw_os_error() == Some(nix::libc::ESRCH) => return wrong("has just ended"),
        Err(error) => return Err(Error::system(&format!("/proc/{pid}/stat cannot be read"), error)),
    };
    match proc::stat(&text) {
        None => Err(Error::System(format!("/proc/{pid}/stat is not as proc_pid_stat(5) says"))),
        Some(stat) if stat.is_kernels => {
            wrong("is a thread of the kernel: it has no user code, and makes no system calls")
        }
        Some(stat) if matches!(stat.state, 'Z' | 'X') => {
            wrong("has ended, and only waits for its parent to notice")
        }
        Some(_) => Ok(()),
    }
}

/// By how much two clocks of the same command may differ and still agree.
const AGREE: f64 = 0.01;

impl CpuTime {
    /// Of a command, by its usage and by the task clock. The events of a child leave it before the kernel takes it down, so that the task
    /// clock lacks that; the usage lacks children for which nobody waited. Where they differ, each is a bound.
    pub(crate) fn of_command(parts: [f64; 2], task_clock: Option<f64>) -> CpuTime {
        let usage: f64 = parts.iter().sum();
        let by = "rusage of the command";
        let agreed = CpuTime { seconds: usage, sure: usage, parts: Some(parts), by };
        match task_clock.filter(|clock| (usage - clock).abs() > usage.max(*clock) * AGREE) {
            None => agreed,
            Some(clock) => CpuTime {
                seconds: usage.max(clock),
                sure: usage.min(clock),
                by: "rusage of the command and the kernel's task clock, which do not agree",
                ..agreed
            },
        }
    }

    /// Whether the usage is clearly more than the task clock: the rest was used where the kernel had taken the events off. That is what it does
    /// when threads and processes end, and whatever a program does that gains rights (set-user-ID): nobody counts its calls.
    pub fn is_beyond_clock(&self) -> bool {
        let usage: f64 = self.parts.map_or(0.0, |parts| parts.iter().sum());
        self.sure < self.seconds && usage >= self.seconds
    }
}

/// CPU time that has been used so far: of a cgroup by its `cpu.stat`, of the machine by `/proc/stat`.
#[derive(Debug)]
pub(crate) enum Clock {
    /// Its folder, and its times before and when they were last read.
    Cgroup(PathBuf, [u64; 3], [u64; 3]),
    System([u64; 2]),
}

impl Clock {
    pub fn of_cgroup(path: &Path) -> Result<Clock, Error> {
        let before = cgroup(path)?;
        Ok(Clock::Cgroup(path.to_owned(), before, before))
    }

    /// Reads a cgroup's times; whether it is still there.
    pub fn look(&mut self) -> bool {
        match self {
            Clock::Cgroup(path, _, last) => match cgroup(path) {
                Ok(now) => *last = now,
                Err(_) => return path.exists(),
            },
            Clock::System(_) => {}
        }
        true
    }

    pub fn of_system() -> Result<Clock, Error> {
        Ok(Clock::System(system()?))
    }

    /// What was used since.
    pub fn used(&self) -> Result<CpuTime, Error> {
        match self {
            Clock::Cgroup(path, before, last) => {
                let now = match cgroup(path) {
                    // It was removed meanwhile, which takes that none of its processes was left.
                    Err(_) if !path.exists() => *last,
                    other => other?,
                };
                let since = |place: usize| since(&now, before, place) as f64 / 1e6;
                Ok(CpuTime {
                    seconds: since(0),
                    sure: since(0),
                    parts: Some([since(1), since(2)]),
                    by: "cpu.stat of the cgroup",
                })
            }
            Clock::System(before) => {
                let (now, ticks) = (system()?, ticks_per_second());
                let parts = [0, 1].map(|place| since(&now, before, place) as f64 / ticks);
                let seconds = parts.iter().sum();
                Ok(CpuTime { seconds, sure: seconds, parts: Some(parts), by: "/proc/stat" })
            }
        }
    }
}

fn since(now: &[u64], before: &[u64], place: usize) -> u64 {
    let at = |values: &[u64]| values.get(place).copied().unwrap_or(0);
    at(now).saturating_sub(at(before))
}

fn cgroup(path: &Path) -> Result<[u64; 3], Error> {
    let file = path.join("cpu.stat");
    let text = proc::read(&file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::Target(format!(
            "{} has no cpu.stat, which tells its CPU time; its parent's or a newer kernel's has",
            path.display()
        )),
        _ => Error::system(&format!("{} cannot be read", file.display()), error),
    })?;
    proc::cpu_stat(&text).ok_or_else(|| Error::System(format!("{} tells no CPU time", file.display())))
}

fn system() -> Result<[u64; 2], Error> {
    let text = proc::read("/proc/stat").map_err(|error| Error::system("/proc/stat cannot be read", error))?;
    proc::system_stat(&text).ok_or_else(|| Error::System("/proc/stat tells no CPU time".into()))
}

fn ticks_per_second() -> f64 {
    let ticks = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK);
    ticks.ok().flatten().filter(|ticks| *ticks > 0).unwrap_or(100) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 5,000 children were 0.750 s by rusage and 0.532 s by the task clock, and both were printed as one.
    #[test]
    fn two_clocks_that_do_not_agree_are_bounds() {
        let found = CpuTime::of_command([0.393, 0.357], Some(0.532));
        assert!((found.seconds - 0.750).abs() < 1e-9 && found.sure == 0.532, "{found:?}");
        let left_behind = CpuTime::of_command([0.1, 0.1], Some(0.5));
        assert_eq!((left_behind.sure, left_behind.seconds), (0.2, 0.5));
        for clock in [None, Some(0.7485)] {
            let found = CpuTime::of_command([0.393, 0.357], clock);
            assert_eq!((found.sure, found.by), (found.seconds, "rusage of the command"));
        }
    }
}

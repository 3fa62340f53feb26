//! How often the threads of a target were switched: each switch with events on costs more than one without.

use crate::proc;
use crate::target::Target;
use std::collections::BTreeMap;
use std::path::Path;

/// Groups within groups, at most so deep.
const DEEP: usize = 16;

/// The switches of a target so far.
#[derive(Debug)]
pub(crate) enum Switches {
    /// Of each thread of these processes.
    Threads(Target, BTreeMap<u32, u64>),
    /// Events of the whole machine stay on where a thread is switched.
    None,
}

impl Switches {
    pub fn of(target: &Target) -> Switches {
        match target {
            Target::System => Switches::None,
            other => Switches::Threads(other.clone(), threads(other)),
        }
    }

    /// How many there were since, as far as threads are there to tell; none where no thread is.
    pub fn since(&self) -> Option<u64> {
        let Switches::Threads(target, before) = self else { return Some(0) };
        let now = threads(target);
        let of = |(tid, now): (&u32, &u64)| now.saturating_sub(before.get(tid).copied().unwrap_or(0));
        (!now.is_empty()).then(|| now.iter().map(of).fold(0, u64::saturating_add))
    }
}

fn threads(target: &Target) -> BTreeMap<u32, u64> {
    let mut all = BTreeMap::new();
    match target {
        Target::Process(pid) => of_process(*pid, &mut all),
        Target::Cgroup(path) => of_group(path, DEEP, &mut all),
        Target::System => {}
    }
    all
}

fn of_process(pid: u32, all: &mut BTreeMap<u32, u64>) {
    let tasks = proc::threads(pid).into_iter();
    all.extend(tasks.filter_map(|tid| {
        let text = proc::read(format!("/proc/{pid}/task/{tid}/status")).ok()?;
        Some((tid, proc::switches(&text)?))
    }));
}

fn of_group(path: &Path, deep: usize, all: &mut BTreeMap<u32, u64>) {
    let processes = proc::read(path.join("cgroup.procs")).unwrap_or_default();
    processes.lines().filter_map(|line| line.parse().ok()).for_each(|pid| of_process(pid, all));
    let Some(deeper) = deep.checked_sub(1) else { return };
    let inside = std::fs::read_dir(path).into_iter().flatten().flatten();
    let folders = inside.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.for_each(|entry| of_group(&entry.path(), deeper, all));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_thread_that_sleeps_is_switched() {
        let before = Switches::of(&Target::Process(std::process::id()));
        (0..20).for_each(|_| std::thread::sleep(Duration::from_micros(50)));
        assert!(before.since() >= Some(20), "{:?}", before.since());
        assert_eq!(Switches::of(&Target::System).since(), Some(0));
        assert_eq!(Switches::of(&Target::Process(u32::MAX)).since(), None, "nobody tells");
    }
}

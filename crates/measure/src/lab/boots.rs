//! The boots of a measurement in the lab: started, read to their ends, side by side where nothing is timed.

use super::Setup;
use super::plan::{LabPlan, Numbered, Work};
use crate::conclude::milliseconds;
use crate::{Progress, Scout, TableRow};
use document::Counter;
use environment::{GuestBoot, LabLayout};
use places::lab::{Agreed, Collected, Events, Guest, Limits, Trouble};
use std::num::NonZero;
use std::sync::mpsc;
use std::thread::{self, available_parallelism};
use std::time::{Duration, Instant};

/// Boots the guest as often as the plan says: one after the other where time is measured, else as many side by side as there are CPUs.
/// After trouble no more are started.
pub fn boot_all<'a>(
    plan: &LabPlan<'a>,
    setup: &mut Setup,
    begin: Instant,
    progress: &mut dyn FnMut(Progress<'a>),
) -> Vec<Booted> {
    let counter = setup.emulator.machine().counter();
    let all: Vec<u64> = (0..plan.boots(counter)).collect();
    let beside = match counter {
        Counter::Instructions => available_parallelism().map_or(1, NonZero::get),
        Counter::Time => 1,
    };
    let mut boots: Vec<Booted> = Vec::new();
    for numbers in all.chunks(beside) {
        let cpu = setup.scout.as_mut().map(Scout::choose);
        cpu.into_iter().for_each(|cpu| setup.emulator.pin(cpu));
        let before = boots.len();
        boots.extend(numbers.iter().map(|number| Booted::of(plan, counter, *number, cpu)));
        let now = boots.get_mut(before..).unwrap_or_default();
        let mut show = |share: f64, row| {
            progress(Progress { share: (before as f64 + share) / all.len() as f64, row, quiet: None });
        };
        run(now, plan, setup, begin, &mut show);
        if now.iter().any(|boot| boot.trouble.is_some()) {
            break;
        }
    }
    boots
}

/// Boots guests side by side, and reads them to their ends. What came before trouble is kept. `show` gets the share of their programs that
/// is done, and a row that one of them is at. Asks the emulator for its version unless that is known.
fn run<'a>(
    boots: &mut [Booted],
    plan: &LabPlan<'a>,
    setup: &mut Setup,
    begin: Instant,
    show: &mut dyn FnMut(f64, TableRow<'a>),
) {
    let started: Vec<_> = boots.iter().map(|boot| boot.start(setup, begin)).collect();
    let numbered: Vec<Vec<Numbered>> = boots.iter().map(|boot| boot.work.numbered.clone()).collect();
    let all = numbered.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    let (mut at, whole) = (vec![0; boots.len()], setup.limits.time);
    let mut version = setup.version.take().map(Ok);
    thread::scope(|scope| {
        let (told, begun) = mpsc::channel();
        for (which, (boot, started)) in boots.iter_mut().zip(started).enumerate() {
            let told = told.clone();
            // The receiver lives until the last of these threads has ended.
            let mut begins = move |number| told.send((which, number)).unwrap_or_default();
            scope.spawn(move || {
                let read = |started| boot.read(started, whole, begin, &mut begins);
                boot.trouble = started.and_then(read).err();
            });
        }
        drop(told);
        for (which, number) in begun {
            // Now that it runs guests; to start one more program would have kept them from their first records.
            version.get_or_insert_with(|| setup.emulator.version(&setup.limits));
            at.get_mut(which).into_iter().for_each(|at| *at = number);
            let what = numbered.get(which).and_then(|numbered| numbered.get(number as usize));
            if let Some(Numbered::Round(index)) = what
                && let Some(job) = plan.jobs.get(*index)
            {
                show(at.iter().sum::<u64>() as f64 / all, job.row);
            }
        }
    });
    // What never was an emulator says so best when it is asked.
    match version.unwrap_or_else(|| setup.emulator.version(&setup.limits)) {
        Ok(version) => setup.version = Some(version),
        Err(trouble) => boots.iter_mut().for_each(|boot| boot.trouble = Some(trouble.clone())),
    }
}

/// A boot that is over.
pub struct Booted {
    pub work: Work,
    seed: u64,
    /// The CPU that the guest was pinned to.
    pub cpu: Option<usize>,
    /// The time from starting the emulator to the first record.
    pub boot_time: Duration,
    /// When that record came, since the measurement began.
    pub at: Duration,
    pub collected: Collected,
    pub trouble: Option<Trouble>,
}

impl Booted {
    fn of(plan: &LabPlan, counter: Counter, number: u64, cpu: Option<usize>) -> Booted {
        Booted {
            work: plan.work(counter, number),
            seed: plan.seed_of(number),
            cpu,
            boot_time: Duration::ZERO,
            at: Duration::ZERO,
            collected: Collected::default(),
            trouble: None,
        }
    }

    /// Starts its guest.
    fn start(&self, setup: &Setup, begin: Instant) -> Result<Started, Trouble> {
        let archive = archive(setup, &self.work)?;
        let (before, whole) = (begin.elapsed(), setup.limits.time);
        // All boots together have the time.
        let limits = Limits { time: whole.saturating_sub(before), ..setup.limits.clone() };
        let guest = setup.emulator.boot(&archive, self.work.numbered.len(), &limits);
        Ok(Started { guest: guest.map_err(|trouble| of_all(trouble, whole))?, before })
    }

    /// Reads its guest to the end. `begins` gets the number of each program that begins.
    fn read(
        &mut self,
        started: Started,
        whole: Duration,
        begin: Instant,
        begins: &mut dyn FnMut(u64),
    ) -> Result<(), Trouble> {
        let Started { mut guest, before } = started;
        let first = guest.next().map_err(|trouble| of_all(trouble, whole))?;
        self.at = begin.elapsed();
        self.boot_time = self.at.saturating_sub(before);
        self.collected.take(first);
        let mut agreed = Agreed::new(&mut guest, &self.work.plan);
        self.collected.read(&mut agreed, begins).map_err(|trouble| of_all(trouble, whole))
    }

    pub fn described(&self) -> GuestBoot {
        GuestBoot { at_ms: milliseconds(self.at), seed: self.seed, cpu: self.cpu }
    }

    /// The numbers of its rounds, and the jobs that they are of.
    pub fn rounds(&self) -> impl Iterator<Item = (u64, usize)> {
        (0..).zip(&self.work.numbered).filter_map(|(number, what)| match what {
            Numbered::Round(index) => Some((number, *index)),
            _ => None,
        })
    }

    /// Those that it came to.
    pub fn layouts(&self) -> impl Iterator<Item = LabLayout> {
        self.work.layouts.iter().filter_map(|(first, number)| {
            let at = self.begun(*first as u64)?;
            Some(LabLayout { at_ms: milliseconds(at), number: *number })
        })
    }

    /// When the program of this number began, since the measurement did.
    pub fn begun(&self, number: u64) -> Option<Duration> {
        Some(self.at + *self.collected.begun.get(&number)?)
    }
}

/// A guest whose emulator was started, at that time since the measurement began.
struct Started {
    guest: Guest,
    before: Duration,
}

/// A time that is up is that of all boots.
fn of_all(trouble: Trouble, whole: Duration) -> Trouble {
    let late = || Trouble::Machine(places::emulator::Trouble::Timeout(whole));
    match trouble {
        Trouble::NotUp { trouble, said } if trouble.is_timeout() => {
            Trouble::NotUp { trouble: Box::new(late()), said }
        }
        trouble if trouble.is_timeout() => late(),
        other => other,
    }
}

fn archive(setup: &Setup, work: &Work) -> Result<Vec<u8>, Trouble> {
    let mut lines = super::clock_lines(Some(&setup.emulator), setup.tsc_hz);
    lines.extend(work.plan.lines.iter().cloned());
    Ok(places::lab::pack(&setup.emulator.plan(places::lab::Plan { lines }), &places::lab::probes())?)
}

//! `compare --live`: measures arms that can exist at once, in turns.

use crate::compare::arm::ArmCommand;
use crate::error::Error;
use crate::options::rows::RowArgs;
use crate::options::time::{TimeArgs, of_one_kind, with_default};
use crate::options::values::budget;
use crate::this_machine::{executor, here};
use crate::{probes, progress};
use clap::Args;
use measure::arms::{Arm, Arms, PairedRounds, Setup, name};
use measure::{Here, HostPlan, Probes, TableRow};
use places::host::{Executor, Files, Interrupt, Limits, Priority, Under, choose_cpu};
use std::rc::Rc;
use std::time::{Duration, Instant};
use table::{Probe, Table};

/// A command that takes longer to start a probe is slow, in seconds: a probe by itself takes a few milliseconds.
const SLOW_START: f64 = 0.02;

/// The budget of both arms together, in seconds.
const BUDGET: u32 = 10;

/// How long one run of a probe may take, unless the command line says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// `--cpu` of both arms.
const CPU: &str = "Measure both arms on this CPU alone, unless an arm has its own [default: whichever CPU is quiet, among fast cores]";

/// The longest note on what a command said, in characters.
const SAID: usize = 200;

/// How arms are measured.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of --live")]
#[command(mut_arg("budget", with_default(BUDGET)), mut_arg("cpu", of_one_kind(CPU)))]
pub struct LiveArgs {
    /// Where, how long and in which order
    #[command(flatten)]
    pub time: TimeArgs,
    /// How long one run of a probe may take in either arm, with the start-up of its command [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = budget, allow_negative_numbers = true, hide_short_help = true)]
    pub timeout: Option<Duration>,
    /// Do not keep the runs of the arms; otherwise `kentry runs` lists both
    #[arg(long)]
    pub no_save: bool,
}

impl LiveArgs {
    /// The plan; `drawn` is the seed unless the command line names one.
    ///
    /// # Errors
    /// [`Error::Usage`] when a name matches no row, or for every kind of core.
    pub fn plan<'a>(
        &self,
        table: &'a Table,
        (rows, all): (&RowArgs, bool),
        drawn: u32,
    ) -> Result<HostPlan<'a>, Error> {
        self.time.one_kind("live arms are")?;
        Ok(self.time.plan(rows.of_linux(table, all)?, BUDGET, drawn))
    }

    /// The longest that one run of a probe may take, in either arm.
    pub fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(TIMEOUT)
    }

    /// Refuses options that are of no use where runs are compared that are measured already.
    ///
    /// # Errors
    /// [`Error::Usage`], with the first of them.
    pub fn none_given(&self) -> Result<(), Error> {
        let own = [("--timeout", self.timeout.is_some()), ("--no-save", self.no_save)];
        let own = own.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name);
        match self.time.given().into_iter().chain(own).next() {
            Some(option) => {
                Err(Error::Usage(format!("{option} needs --live: runs to compare are measured already")))
            }
            None => Ok(()),
        }
    }
}

/// An arm, ready to run.
struct Ready {
    command: ArmCommand,
    probes: Probes,
    executor: Under,
}

/// Measures the arms, in turns. `note` is told what a reader should know before and after.
///
/// # Errors
/// [`Error::Usage`] for a CPU that may not be used; [`Error::Environment`] when an arm runs no probe at all.
pub fn measure(
    commands: &[ArmCommand],
    plan: &HostPlan,
    timeout: Duration,
    interrupt: &Interrupt,
    note: &mut dyn FnMut(&str),
) -> Result<Arms, Error> {
    let (here, priority) = here(plan, interrupt)?;
    check_cpus(commands, &here)?;
    let limits = Limits { time: timeout, output: record::MOST_OUTPUT, interrupt: interrupt.clone() };
    let mut ready = ready(commands, priority, &limits)?;
    advise(commands, plan, note);
    let cpu = plan.cpus.only().or(here.cpus.keys().last().copied()).unwrap_or(0);
    try_out(&mut ready, plan, cpu, note)?;
    let mut scout = executor(priority, timeout, interrupt)?;
    let arms = ready.iter_mut().map(|ready| Arm {
        cpu: ready.command.cpu,
        command: ready.command.command(),
        probes: ready.probes.clone(),
        executor: &mut ready.executor,
    });
    let setup = Setup { arms: arms.collect(), scout: &mut scout, here };
    let bar = progress::Bar::new();
    let arms = measure::arms::measure(plan, setup, &mut |progress| bar.show(progress))?;
    drop(bar);
    for (place, remark) in
        arms.remarks.iter().enumerate().flat_map(|(place, all)| all.iter().map(move |one| (place, one)))
    {
        note(&format!("{}: {remark}", name(place)));
    }
    Ok(arms)
}

fn check_cpus(commands: &[ArmCommand], here: &Here) -> Result<(), Error> {
    let allowed: Vec<usize> = here.cpus.keys().copied().collect();
    for cpu in commands.iter().filter_map(|command| command.cpu) {
        choose_cpu(Some(cpu), &allowed).map_err(|error| Error::Usage(format!("--live --cpu: {error}")))?;
    }
    Ok(())
}

/// Places the probes of each arm. Arms with the same probes run the same files, whose pages lie at one place in memory: that, too, is
/// part of what an entry costs.
fn ready(commands: &[ArmCommand], priority: Priority, limits: &Limits) -> Result<Vec<Ready>, Error> {
    let mut placed: Vec<(Probes, Rc<Files>)> = Vec::new();
    let mut out = Vec::new();
    for command in commands {
        let foreign = command.kentry.as_deref().map(|other| probes::of_other(other, limits)).transpose()?;
        let probes = foreign.as_ref().map_or_else(Probes::embedded, |foreign| foreign.probes.clone());
        let known = placed.iter().find(|(other, _)| other.hashes == probes.hashes);
        let files = match known {
            Some((_, files)) => files.clone(),
            None => {
                let image = |probe: Probe| match &foreign {
                    Some(foreign) => foreign.images.get(&probe).cloned().unwrap_or_default(),
                    None => places::host::image(probe).to_vec(),
                };
                Rc::new(Files::place(image).map_err(|error| Error::Environment(error.to_string()))?)
            }
        };
        placed.push((probes.clone(), files.clone()));
        let executor = Under::new(command.wrapper.clone(), files, priority, limits.clone());
        out.push(Ready { command: command.clone(), probes, executor });
    }
    Ok(out)
}

/// Says what these commands cannot show.
fn advise(commands: &[ArmCommand], plan: &HostPlan, note: &mut dyn FnMut(&str)) {
    let mut texts = commands.iter().map(|command| &command.text);
    if let Some(first) = texts.next()
        && texts.all(|text| text == first)
    {
        note("the arms are the same: whatever difference is found is chance");
    }
    let variable = commands.iter().find_map(|command| command.wrapper.loader_variable());
    let Some(variable) = variable else { return };
    let measured = plan.rows.iter().any(|(entry, _)| entry.probe == Probe::Libc);
    let others = plan.rows.iter().any(|(entry, _)| entry.probe != Probe::Libc);
    match (measured, others) {
        (true, false) => {}
        (true, true) => note(&format!(
            "{variable} reaches the rows of libc alone: all other probes are static programs, without a dynamic loader \
             (--entry libc measures those rows alone)"
        )),
        (false, _) => note(&format!(
            "{variable} reaches the rows of libc alone, and none of them is measured: all other probes are static programs \
             (add --entry libc)"
        )),
    }
}

/// Runs each probe once under each command: one that runs none cannot be compared. What they say is passed on, and how long they take to
/// start, if that leaves time for a few rounds only.
fn try_out(arms: &mut [Ready], plan: &HostPlan, cpu: usize, note: &mut dyn FnMut(&str)) -> Result<(), Error> {
    let mut seconds = Vec::new();
    for (place, arm) in arms.iter_mut().enumerate() {
        let (mut first, mut said, mut works) = (None, String::new(), false);
        let begin = Instant::now();
        let probes = used(plan);
        for probe in &probes {
            match arm.executor.describe(*probe, arm.command.cpu.unwrap_or(cpu)) {
                Ok(_) => works = true,
                Err(failure) => first = first.or(Some(failure)),
            }
            if said.is_empty() {
                said = arm.executor.said().to_string();
            }
        }
        if let Some(failure) = first.filter(|_| !works) {
            if failure.is_interrupted() {
                return Err(Error::Interrupted);
            }
            let (name, shown) = (name(place), arm.command.shown());
            return Err(Error::Environment(format!("{name}, {shown}: {failure}")));
        }
        if let Some(line) = said.lines().map(str::trim).find(|line| !line.is_empty()) {
            note(&format!("{} says: {}", name(place), line.chars().take(SAID).collect::<String>()));
        }
        seconds.push(begin.elapsed().as_secs_f64() / probes.len().max(1) as f64);
    }
    let round: f64 = seconds.iter().sum();
    let rounds = plan.longest().as_secs_f64() / (round * plan.rows.len() as f64);
    if rounds < measure::arms::NEEDED as f64 && seconds.iter().any(|time| *time > SLOW_START) {
        let each: Vec<String> = seconds
            .iter()
            .enumerate()
            .map(|(place, time)| format!("{} {:.0} ms", name(place), time * 1e3))
            .collect();
        note(&format!(
            "starting a probe takes long ({}): each of {} rows gets about {rounds:.0} of the {} rounds that it needs; choose rows \
             (--entry, --operation), or take more time (--budget)",
            each.join(", "),
            plan.rows.len(),
            measure::arms::NEEDED
        ));
    }
    Ok(())
}

/// The probes that the rows need.
fn used(plan: &HostPlan) -> Vec<Probe> {
    let needs = |probe: &Probe| plan.rows.iter().any(|(entry, _): &TableRow| entry.probe == *probe);
    Probe::ALL.into_iter().filter(needs).collect()
}

/// The rounds of two arms that were taken in turns, of each row.
pub fn pairs(arms: &Arms) -> Vec<compare::Paired> {
    let of_row =
        |turns: &PairedRounds| compare::Paired { row: turns.row.clone(), pairs: arms.pairs(turns, 0, 1) };
    arms.turns.iter().map(of_row).collect()
}

//! `kentry impact`: counts a workload's system calls, measures what crossings cost here, and tells what share of its CPU time they take.

pub mod args;
mod cost;
mod price;

use crate::error::{Error, words};
use crate::exit::{EXEC_FAILED, INTERRUPTED, NOT_FOUND, NOT_LOADED, SIGNALLED};
use crate::messages::note;
use crate::options::output::{Look, Outputs};
use crate::os::interrupts;
use crate::prices::LabRuns;
use crate::this_machine::{need_counter, runs_of_lab};
use args::{By, IMPACT_BUDGET, ImpactArgs, WATCHED};
use attribution::impact::{Costs, Impact, Method, Part, Seen, Subject, SubjectKind};
use environment::Restrictions;
use nix::sys::signal::Signal;
use observe::{Call, Ended, Observed, Output, Started, Target, Watch};
use places::host::Interrupt;
use report::Kind;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};
use table::Table;

/// How often it is looked whether there was an interrupt.
const LOOK: Duration = Duration::from_millis(20);

/// From here on it is said how long counting takes.
const LONG: Duration = Duration::from_secs(3);

/// A command's layers are read so long after its start.
const SETTLED: Duration = Duration::from_millis(20);

/// Counts, measures, and writes what came out.
pub fn run(args: &ImpactArgs) -> Result<ExitCode, Error> {
    let is_command = args.pid.is_none() && args.cgroup.is_none() && !args.system;
    match found(args) {
        // What a command ends with is its own; what fails here must not be taken for it.
        Err(error) if is_command && !matches!(error, Error::Usage(_)) => {
            note(&error.to_string());
            Ok(ExitCode::from(EXEC_FAILED))
        }
        other => other,
    }
}

fn found(args: &ImpactArgs) -> Result<ExitCode, Error> {
    args.time.one_kind("crossings are measured")?;
    need_counter()?;
    let target = args.target()?;
    let outputs = args.to.open(Kind::IMPACT)?;
    let interrupt = interrupts::noted();
    let counted = match target {
        Some(target) => watched(&target, args, &interrupt)?,
        None => match command(args, &outputs, &interrupt)? {
            Ok(counted) => counted,
            Err(not_started) => return Ok(not_started),
        },
    };
    // It ended the counting; what was counted is to be priced all the same.
    let was_interrupted = interrupt.swap(false, Ordering::SeqCst);
    if counted.observed.total.max(counted.observed.counts.seen()) == 0 {
        return Err(Error::Environment(counted.why_nothing()));
    }
    let status = counted.status(was_interrupted);
    let impact = priced(counted, args, &interrupt)?;
    let status = if interrupt.load(Ordering::Relaxed) { INTERRUPTED } else { status };
    outputs.write(Look::whole(args.verbose), |format, style| report::impact(&impact, format, style))?;
    Ok(ExitCode::from(status))
}

/// What was counted, and of whom.
struct Counted {
    subject: Subject,
    method: Method,
    observed: Observed,
    started: SystemTime,
    carried: Option<Restrictions>,
    remarks: Vec<String>,
    ended: Option<Ended>,
}

impl Counted {
    /// Why there is nothing to price.
    fn why_nothing(&self) -> String {
        let name = report::plain(&self.subject.name);
        // A signal of kentry's own is no reason.
        let signal = self.ended.filter(|ended| !ended.was_told).and_then(|ended| ended.status.signal());
        let signal = signal.and_then(|raw| Signal::try_from(raw).ok());
        match signal {
            Some(Signal::SIGSYS) => format!(
                "{name} was ended by SIGSYS before its program began, or at its first call: a seccomp filter does not permit that call"
            ),
            Some(signal) => format!(
                "{name} was ended by {signal} before it made a system call: there is nothing to price"
            ),
            None => format!(
                "{name} made no system call in {:.2} s: there is nothing to price",
                self.observed.seconds
            ),
        }
    }

    /// A command's own status; 0 where it was ended because its time was up.
    fn status(&self, was_interrupted: bool) -> u8 {
        match self.ended {
            _ if was_interrupted => INTERRUPTED,
            None => 0,
            Some(Ended { was_told: true, .. }) => 0,
            Some(Ended { status, .. }) => {
                let number = |number: i32| u8::try_from(number).unwrap_or(EXEC_FAILED);
                status
                    .code()
                    .map(number)
                    .or(status.signal().map(|signal| SIGNALLED.saturating_add(number(signal))))
                    .unwrap_or(0)
            }
        }
    }
}

fn watched(target: &Target, args: &ImpactArgs, interrupt: &Interrupt) -> Result<Counted, Error> {
    let started = SystemTime::now();
    let (subject, carried) = match target {
        Target::Process(pid) => {
            target.check().map_err(refused)?;
            let name = observe::proc::name(*pid).unwrap_or_default();
            (Subject { kind: SubjectKind::Process, name, pid: Some(*pid) }, Restrictions::of_process(*pid))
        }
        Target::Cgroup(path) => {
            (Subject { kind: SubjectKind::Cgroup, name: path.display().to_string(), pid: None }, None)
        }
        Target::System => {
            (Subject { kind: SubjectKind::System, name: "this machine".into(), pid: None }, None)
        }
    };
    let mut watch = Watch::of(target).map_err(|error| for_others(error, target))?;
    let (begin, time) = (Instant::now(), args.seconds.unwrap_or(Duration::from_secs(WATCHED)));
    if time >= LONG && std::io::stderr().is_terminal() {
        note(&format!("counting for {} s", time.as_secs()));
    }
    while begin.elapsed() < time && !interrupt.load(Ordering::Relaxed) && is_there(target, &mut watch) {
        std::thread::sleep(LOOK.min(time.saturating_sub(begin.elapsed())));
    }
    let mut remarks = Vec::new();
    if interrupt.load(Ordering::Relaxed) {
        remarks.push("interrupted: counted for a shorter time than was asked for".into());
    } else if begin.elapsed() < time {
        remarks.push(
            match target {
                Target::Cgroup(_) => {
                    "the cgroup was removed meanwhile: its CPU time is that of at most 20 ms before"
                }
                _ => "the process ended meanwhile",
            }
            .into(),
        );
    }
    if carried.is_none() {
        remarks.push("what single processes carry (filters, SSBD, a tracer) was not looked at; `kentry impact --pid N` does".into());
    }
    if *target == Target::System {
        remarks.push("kentry's own calls while it counts are among these".into());
    }
    let observed = watch.end().map_err(refused)?;
    if observed.forks > 0 {
        remarks.push(format!(
            "{} threads and processes were made meanwhile; the task clock lacks what the kernel does when they end",
            observed.forks
        ));
    }
    Ok(Counted { subject, method: Method::Tracepoint, observed, started, carried, remarks, ended: None })
}

fn is_there(target: &Target, watch: &mut Watch) -> bool {
    watch.look() && (!matches!(target, Target::Process(_)) || target.check().is_ok())
}

/// Counts a command's calls; or what this command ends with where that cannot be started.
fn command(
    args: &ImpactArgs,
    outputs: &Outputs,
    interrupt: &Interrupt,
) -> Result<Result<Counted, ExitCode>, Error> {
    let started = SystemTime::now();
    let output =
        if outputs.files().next().is_some() && !outputs.is_terminal() { Output::Own } else { Output::Errors };
    let mut remarks = Vec::new();
    let begun = begin(&args.command, args.method, output, &mut remarks);
    let (running, method) = match begun {
        Ok(begun) => begun,
        Err(observe::Error::Command { name, source }) => {
            let status = if source.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { NOT_LOADED };
            note(&format!("{}: {}", report::plain(&name), words(&source)));
            return Ok(Err(ExitCode::from(status)));
        }
        Err(other) => return Err(refused(other)),
    };
    let pid = running.pid();
    let mut carried = None;
    let stops = |ran: Duration| {
        if carried.is_none() && ran > SETTLED {
            carried = Restrictions::of_process(pid);
        }
        interrupt.load(Ordering::Relaxed)
    };
    let (observed, ended) = running.wait(args.seconds, stops).map_err(refused)?;
    if method == Method::Notification {
        remarks.push("set-user-ID programs ran as the user who called them (no_new_privs)".into());
        carried.iter_mut().for_each(without_own_filter);
    }
    if interrupt.load(Ordering::Relaxed) {
        remarks.push("interrupted: the command was told to end".into());
    } else if ended.was_told {
        remarks.push("the command was told to end when its time was up".into());
    }
    if ended.ended_others {
        remarks.push(
            "processes that the command left behind were ended: nobody else answers for their filter".into(),
        );
    }
    let words: Vec<String> = args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let subject = Subject { kind: SubjectKind::Command, name: words.join(" "), pid: Some(pid) };
    Ok(Ok(Counted { subject, method, observed, started, carried, remarks, ended: Some(ended) }))
}

/// The filter that counts is no load of the command's own.
fn without_own_filter(carried: &mut Restrictions) {
    if let Some(filters) = &mut carried.seccomp_filters {
        *filters = filters.saturating_sub(1);
        if *filters == 0 {
            carried.seccomp = Some("off".into());
        }
    }
}

/// Starts a command by what counts it best, of what is permitted.
fn begin(
    command: &[OsString],
    by: By,
    output: Output,
    remarks: &mut Vec<String>,
) -> Result<(Started, Method), observe::Error> {
    let filtered = || Ok((Started::filtered(command, output)?, Method::Notification));
    match by {
        By::Filter => filtered(),
        By::Tracepoint => Ok((Started::watched(command, output)?, Method::Tracepoint)),
        By::Auto => match Started::watched(command, output) {
            Ok(started) => Ok((started, Method::Tracepoint)),
            Err(observe::Error::Permission(why) | observe::Error::System(why)) => {
                remarks.push(format!("counted by a filter, because {why}"));
                filtered()
            }
            Err(other) => Err(other),
        },
    }
}

/// Of processes that run already, only the tracepoint tells.
fn for_others(error: observe::Error, target: &Target) -> Error {
    match error {
        observe::Error::Permission(why) => {
            let remedy = match target {
                Target::System => "run kentry as root",
                _ => "run kentry as root, or start the program by it: kentry impact -- COMMAND",
            };
            Error::Environment(format!("{why}; {remedy}"))
        }
        other => refused(other),
    }
}

fn refused(error: observe::Error) -> Error {
    Error::Environment(error.to_string())
}

/// Says how long measuring takes, where somebody may wonder. Noise makes it longer.
fn say_how_long(counted: &Counted, args: &ImpactArgs) {
    let times = if counted.method == Method::Tracepoint { 2 } else { 1 };
    let budget = args.time.budget.unwrap_or(Duration::from_secs(IMPACT_BUDGET.into())) * times;
    if budget >= LONG && std::io::stderr().is_terminal() {
        note(&format!(
            "measuring what a crossing costs takes {} s and up to three times as long under noise",
            budget.as_secs()
        ));
    }
}

fn priced(counted: Counted, args: &ImpactArgs, interrupt: &Interrupt) -> Result<Impact, Error> {
    let table = Table::get();
    say_how_long(&counted, args);
    let calls: Vec<Call> = counted.observed.counts.calls().into_keys().collect();
    let plain = cost::plain(cost::rows(table, &calls), &args.time, interrupt)?;
    let is_traced = counted.method == Method::Tracepoint;
    let with_counting = if is_traced { cost::counted(table, &args.time, interrupt) } else { None };
    let costs = Costs { plain: &plain, counted: with_counting.as_ref() };
    let cycle = costs.ns_of_a_cycle();
    let mut remarks = counted.remarks;
    let mut parts: Vec<Part> = Vec::new();
    if let Some((carried, own)) = counted.carried.zip(Restrictions::of_process(std::process::id())) {
        let (on_top, shared) = price::beyond(&carried, &own);
        remarks.extend(price::lacks(&carried, &own));
        parts.extend(price::of_layers(&on_top, &args.time, cycle, interrupt));
        parts.extend(price::shared_parts(&shared));
    }
    parts.extend(price::protections(
        &plain,
        table,
        &LabRuns::default(),
        cycle,
        price::no_time(&runs_of_lab()),
    ));
    if interrupt.load(Ordering::Relaxed) {
        remarks.push(
            "interrupted while crossings were measured: what has no figure was not measured to its end"
                .into(),
        );
    }
    let seen = Seen {
        subject: counted.subject,
        method: counted.method,
        observed: &counted.observed,
        started: humantime::format_rfc3339_millis(counted.started).to_string(),
        parts,
        remarks,
    };
    Ok(Impact::of(table, seen, &costs))
}

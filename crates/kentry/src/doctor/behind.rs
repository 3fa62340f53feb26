//! Looks at what programs find behind a command: kentry itself runs behind it, and rows are measured in turns, without it and behind it.

use crate::compare::arm::ArmCommand;
use crate::compare::live;
use crate::doctor::args::DoctorArgs;
use crate::error::Error;
use crate::messages::note;
use crate::this_machine::drawn_seed;
use compare::{Row, RowSide, Run, Settings, SideRuns, Unit, Verdict};
use document::{Added, Behind, CHECKUP_SCHEMA, Checkup};
use measure::HostPlan;
use measure::arms::Arms;
use places::host::{Interrupt, Limits, Wrapper};
use process::{Command, Isolation, Program};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;
use table::special::{GETPPID, RowName};
use table::{Kernel, Table};

/// What is measured in turns: the plainest call, a clock, the dearest entry; and last a call that no kernel has, which no filter's bitmap
/// answers.
const ROWS: [RowName; 4] = [
    GETPPID,
    RowName { entry: "vdso-x86_64", operation: "clock_gettime-monotonic" },
    RowName { entry: "int80-i386", operation: "getppid" },
    table::special::BARE_SYSCALL,
];

/// The time for these rows, in seconds, of both arms together.
const BUDGET: u32 = 3;

/// The longest that one probe may take behind the command, with the command's start-up.
const PROBE_TIME: Duration = Duration::from_secs(10);

/// The longest that the checkup may take behind the command.
const CHECKUP_TIME: Duration = Duration::from_secs(60);

/// The most that a checkup takes, in bytes.
const MOST: usize = 64 << 20;

/// The checkup that kentry makes behind the command, and what the command adds.
///
/// # Errors
/// [`Error::Environment`] when the command runs no kentry, or no probe.
pub fn checkup(args: &DoctorArgs, interrupt: &Interrupt) -> Result<Checkup, Error> {
    let words: Vec<String> = args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let wrapper = Wrapper { environment: Vec::new(), words };
    let text = args.command.iter().map(|word| report::plain_os(word)).collect::<Vec<_>>().join(" ");
    let mut checkup = inner(&wrapper, &text, args, interrupt)?;
    let rows = added(&wrapper, &text, args, interrupt)?;
    checkup.run.measurement.command = Some(text.clone());
    checkup.behind = Some(Behind { command: text, rows });
    Ok(checkup)
}

/// What kentry says behind the command.
fn inner(wrapper: &Wrapper, text: &str, args: &DoctorArgs, interrupt: &Interrupt) -> Result<Checkup, Error> {
    let failed = |why: String| Error::Environment(format!("{text}: {why}"));
    let own = std::env::current_exe().map_err(|why| failed(format!("this kentry has no file: {why}")))?;
    let path = own.to_string_lossy();
    let words = wrapper.command(&path, &path, &options(args));
    let mut words = words.into_iter().map(OsString::from);
    let program = Program::Named(words.next().unwrap_or_default());
    let command = Command { arguments: words.collect(), ..Command::new(program, Isolation::Session) };
    let limits = Limits { time: CHECKUP_TIME, output: MOST, interrupt: interrupt.clone() };
    let finished = process::run(&command, &limits).map_err(|why| match why {
        process::Error::Interrupted => Error::Interrupted,
        why => failed(format!("it {why}")),
    })?;
    let said = finished.messages.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let said = if said.is_empty() { String::new() } else { format!("; it said: {}", report::plain(said)) };
    let read: Result<Checkup, _> = serde_json::from_slice(&finished.output);
    match read {
        Ok(checkup) if checkup.schema == CHECKUP_SCHEMA => Ok(checkup),
        Ok(_) => Err(failed("the kentry behind it is of another version".into())),
        Err(_) => Err(failed(format!(
            "no checkup came from behind it: it must start {} and see that file{said}",
            report::plain(&path)
        ))),
    }
}

/// What the kentry behind the command is told.
fn options(args: &DoctorArgs) -> Vec<String> {
    let mut options: Vec<String> =
        ["doctor", "--format", "json", "--fail-on", "never"].map(str::to_owned).into();
    for check in args.checks() {
        options.extend(["--check".to_owned(), check.name().to_owned()]);
    }
    let seconds = args.time.budget.map(|budget| budget.as_secs_f64().to_string());
    options.extend(seconds.into_iter().flat_map(|seconds| ["--budget".to_owned(), seconds]));
    let cpu = args.time.cpus().only().map(|cpu| cpu.to_string());
    options.extend(cpu.into_iter().flat_map(|cpu| ["--cpu".to_owned(), cpu]));
    let seed = args.time.seed.map(|seed| seed.to_string());
    options.extend(seed.into_iter().flat_map(|seed| ["--seed".to_owned(), seed]));
    options.extend(args.time.realtime.then(|| "--realtime".to_owned()));
    options
}

/// What the command adds to a few rows.
fn added(
    wrapper: &Wrapper,
    text: &str,
    args: &DoctorArgs,
    interrupt: &Interrupt,
) -> Result<Vec<Added>, Error> {
    let table = Table::get();
    let is_wanted = |entry: &str, operation: &str| ROWS.iter().any(|row| row.is(entry, operation));
    let rows = table.rows(Kernel::Linux).filter(|(entry, operation)| is_wanted(&entry.name, &operation.name));
    let plan: HostPlan = args.time.plan(rows.collect(), BUDGET, drawn_seed());
    let plan = HostPlan { budget: Duration::from_secs(BUDGET.into()), ..plan };
    let behind = ArmCommand { text: text.to_owned(), wrapper: wrapper.clone(), ..ArmCommand::default() };
    let commands = [ArmCommand::default(), behind];
    let arms = live::measure(&commands, &plan, PROBE_TIME, interrupt, &mut note)?;
    let [base, new] = [0, 1].map(|place| side(&arms, place));
    let compared = compare::compare_pairs(table, &base, &new, &live::pairs(&arms), &Settings::default());
    let mut rows: Vec<&Row> = compared.rows.iter().collect();
    rows.sort_by_key(|row| ROWS.iter().position(|name| name.is(&row.entry, &row.operation)));
    Ok(rows.into_iter().map(of_row).collect())
}

fn side(arms: &Arms, place: usize) -> SideRuns {
    let run = |document| Run::of_configuration(Table::get(), document, None, &BTreeMap::new()).unkept();
    let label = measure::arms::name(place).to_string();
    SideRuns { label, runs: arms.documents.get(place).map(run).into_iter().collect() }
}

fn of_row(row: &Row) -> Added {
    let cycles = row.unit == Some(Unit::Cycles);
    let estimate = |side: &Option<RowSide>| side.as_ref().and_then(|side| side.estimate).filter(|_| cycles);
    let change = row.change.as_ref().filter(|_| cycles);
    let closed = row.new.as_ref().filter(|_| row.verdict == Verdict::Closed);
    Added {
        entry: row.entry.clone(),
        operation: row.operation.clone(),
        without: estimate(&row.base),
        behind: estimate(&row.new),
        more: change.map(|change| [change.estimate, change.low, change.high]),
        is_more: cycles && row.verdict == Verdict::Slower && !row.within_margin,
        closed: closed.map(|side| side.reason.clone().unwrap_or_else(|| side.outcome.name().to_owned())),
    }
}

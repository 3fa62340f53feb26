//! Runs probes under a command.

use crate::host::files::Files;
use crate::host::run::{answer, is_hang};
use crate::host::wrapper::{PROBE, Wrapper};
use crate::host::{AFTER_A_HANG, Executor, Priority};
use process::{Command, Error, Finished, Isolation, Limits, Phase, Program};
use record::{Damage, Failure, Payload, Record, abi};
use std::rc::Rc;
use std::time::{Duration, Instant};
use table::Probe;

/// After a hang, a run gets so many times the time of the longest that went well.
const SLACK: u32 = 8;

/// The most that is quoted of what a command writes, in characters.
const QUOTED: usize = 160;

/// No record is shorter, in bytes.
const HEADER: usize = 24;

/// Plus the number of the signal that ended its program: the exit status of a shell.
const SIGNALLED: i32 = 128;

/// Probes under a command, or, where that has no words, as they are. In both cases they are files with a path, have this
/// process's environment, and a session of their own, so that the command is all that differs.
pub struct Under {
    wrapper: Wrapper,
    files: Rc<Files>,
    priority: Priority,
    limits: Limits,
    /// The longest run that went well.
    longest: Duration,
    /// What the last run wrote to its standard error.
    said: String,
}

impl Under {
    /// The limits hold for each run, with the command's start-up.
    pub fn new(wrapper: Wrapper, files: Rc<Files>, priority: Priority, limits: Limits) -> Under {
        Under { wrapper, files, priority, limits, longest: Duration::ZERO, said: String::new() }
    }

    /// The last of what the last run wrote to its standard error.
    pub fn said(&self) -> &str {
        &self.said
    }

    fn start(&self, probe: Probe, cpu: usize, arguments: &[String]) -> Result<Finished, Error> {
        let path = self.files.path(probe);
        let mut words = self.wrapper.command(path, &self.files.name(probe), arguments).into_iter();
        let program = Program::Named(words.next().unwrap_or_default().into());
        let mut command = Command {
            arguments: words.map(Into::into).collect(),
            cpu: Some(cpu),
            realtime: self.priority == Priority::Realtime,
            ..Command::new(program, Isolation::Session)
        };
        for variable in &self.wrapper.environment {
            let name = variable.split_inclusive('=').next().unwrap_or_default();
            command.environment.retain(|other| !other.as_encoded_bytes().starts_with(name.as_bytes()));
            command.environment.push(variable.into());
        }
        process::run(&command, &self.limits)
    }

    /// A failure of the probe's, or, where it runs under a command, of both.
    fn failure(&self, failure: Failure, words: impl FnOnce(&str) -> String) -> Failure {
        match self.wrapper.program() {
            None => failure,
            Some(program) => Failure::Under { failure: Box::new(failure), words: words(name_of(program)) },
        }
    }

    fn not_run(&self, error: Error) -> Failure {
        let path = self.wrapper.program().unwrap_or_default();
        self.failure(Failure::Process(error), |program| match error {
            Error::NotStarted { phase: Phase::Execute, errno } => {
                format!("the command could not be started: {path}: {}", errno.desc())
            }
            Error::Timeout(time) => {
                format!("{program} and the probe did not end within {time:?}, the time for a run with its start-up")
            }
            Error::Flood(most) => format!("{program} and the probe wrote more than {most} bytes"),
            other => format!("{program} {other}"),
        })
    }

    fn read(&self, finished: Finished) -> Result<Vec<Record>, Failure> {
        let (records, messages) = (record::parse(&finished.output), finished.messages.clone());
        let said = |program: &str| match quoted(complaint(program, &messages)) {
            said if said.is_empty() => said,
            said => format!("; it said: {said}"),
        };
        let (wrote_nothing, output) = (finished.output.is_empty(), finished.output.clone());
        match (answer(finished), records) {
            (Ok(_), Ok(records)) if did_not_understand(&records) => Err(self.failure(Failure::Silent, |program| {
                format!(
                    "{program} started the probe with other arguments than it was given: write {PROBE} where the probe with \
                     its arguments belongs"
                )
            })),
            (Ok(_), Ok(records)) if !records.is_empty() => Ok(records),
            (Ok(_), Ok(_)) => Err(self.failure(Failure::Silent, |program| {
                format!("{program} ended without starting the probe{}", said(program))
            })),
            (Ok(_), Err(error)) => {
                let words = |program: &str| foreign(program, &output, error);
                Err(self.failure(Failure::Garbage(error), words))
            }
            (Err(failure), records) => {
                let stage = match records {
                    _ if wrote_nothing => "before the probe wrote anything",
                    Ok(records) if is_complete(&records) => "although the probe had finished",
                    _ => "before the probe had finished",
                };
                let failure = as_signal(failure);
                let how = ended(&failure);
                Err(self.failure(failure, |program| format!("{program} {how} {stage}{}", said(program))))
            }
        }
    }
}

impl Executor for Under {
    fn run(&mut self, probe: Probe, cpu: usize, arguments: &[String]) -> Result<Vec<Record>, Failure> {
        let begin = Instant::now();
        self.said.clear();
        let result = match self.start(probe, cpu, arguments) {
            Ok(finished) => {
                self.said.clone_from(&finished.messages);
                self.read(finished)
            }
            Err(error) => Err(self.not_run(error)),
        };
        match &result {
            Ok(_) => self.longest = self.longest.max(begin.elapsed()),
            // When one probe hangs, others often do too; they get less time, but enough for the command's start-up.
            Err(Failure::Under { failure, .. }) if is_hang(failure) => self.shorten(),
            Err(failure) if is_hang(failure) => self.shorten(),
            Err(_) => {}
        }
        result
    }
}

impl Under {
    fn shorten(&mut self) {
        self.limits.time = self.limits.time.min(AFTER_A_HANG.max(self.longest * SLACK));
    }
}

/// A program without the folders that it lies in.
fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether the probe could not make anything of its arguments. Those that kentry gives are understood.
fn did_not_understand(records: &[Record]) -> bool {
    let is_cause = |record: &Record| matches!(&record.payload, Payload::Outcome(verdict) if verdict.cause == abi::CAUSE_REQUEST);
    records.iter().any(is_cause)
}

/// Whether the probe came to its end.
fn is_complete(records: &[Record]) -> bool {
    matches!(records.last().map(|record| &record.payload), Some(Payload::End { .. }))
}

/// A shell, and much else, tells by its exit status which signal ended its program.
fn as_signal(failure: Failure) -> Failure {
    match failure {
        Failure::Exited(code) if (1..=64).contains(&(code - SIGNALLED)) => Failure::Killed(code - SIGNALLED),
        other => other,
    }
}

/// How a command ended, in words.
fn ended(failure: &Failure) -> String {
    match failure {
        Failure::Killed(number) => match nix::sys::signal::Signal::try_from(*number) {
            Ok(nix::sys::signal::Signal::SIGSYS) => {
                "was ended by SIGSYS (a seccomp filter forbids a call)".into()
            }
            Ok(signal) => format!("was ended by {signal}"),
            Err(_) => format!("was ended by signal {number}"),
        },
        Failure::Exited(126) => "exited with 126 (it could not execute its program)".into(),
        Failure::Exited(127) => "exited with 127 (it did not find its program)".into(),
        Failure::Exited(code) => format!("exited with {code}"),
        other => other.to_string(),
    }
}

/// What a command wrote where records belong.
fn foreign(program: &str, output: &[u8], error: record::Error) -> String {
    let magic = (abi::RECORD_MAGIC as u32).to_le_bytes();
    // Records are binary: what is no text begins or ends there.
    let line = |text: &[u8]| {
        quoted(&String::from_utf8_lossy(text.split(|byte| *byte == b'\n').next().unwrap_or_default()))
    };
    let at = |from: usize| line(output.get(from..).unwrap_or_default());
    if error.record == 0 && !output.starts_with(&magic) {
        let records = output.windows(magic.len()).any(|bytes| bytes == magic);
        let found = at(0);
        let others = if records { "before the probe's records" } else { "where the probe's records belong" };
        return format!(
            "{program} wrote {found} to its standard output, {others}: have it write to standard error, or to a file"
        );
    }
    let start = match error.damage {
        Damage::Magic => Some(error.offset),
        Damage::Truncated => last_whole(output),
        _ => None,
    };
    if let Some(start) = start {
        return format!("{program} wrote {} to its standard output, among the probe's records", at(start));
    }
    format!("the probe's records are damaged under {program}: {error}")
}

/// Where something begins behind whole records that is too short for one.
fn last_whole(output: &[u8]) -> Option<usize> {
    let is_whole = |end: &usize| {
        output.get(..*end).is_some_and(|whole| record::parse(whole).is_ok_and(|records| !records.is_empty()))
    };
    (output.len().saturating_sub(HEADER)..output.len()).find(is_whole)
}

/// The line of messages that says why: the one that begins with the program's name, as most programs have it, or else the last.
fn complaint<'m>(program: &str, messages: &'m str) -> &'m str {
    let is_its = |line: &&str| line.strip_prefix(program).is_some_and(|rest| rest.starts_with(':'));
    messages.lines().find(is_its).or(messages.lines().last()).unwrap_or_default()
}

/// A text, quoted and not too long; nothing if there is none.
fn quoted(text: &str) -> String {
    let line = text.trim();
    let short: String = line.chars().take(QUOTED).collect();
    let more = if line.chars().count() > QUOTED { "…" } else { "" };
    if line.is_empty() { String::new() } else { format!("\"{}{more}\"", short.escape_debug()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use process::Interrupt;

    const LONG: Duration = Duration::from_secs(60);

    fn last_cpu() -> usize {
        *process::allowed_cpus().unwrap().last().unwrap()
    }

    /// Asks a probe to describe the vDSO, under a command.
    fn under_for(words: &[&str], time: Duration) -> Result<Vec<Record>, Failure> {
        let limits = Limits { time, output: record::MOST_OUTPUT, interrupt: Interrupt::default() };
        let words = words.iter().map(|word| word.to_string()).collect();
        let wrapper = Wrapper { words, ..Wrapper::default() };
        let files = Rc::new(Files::embedded().unwrap());
        Under::new(wrapper, files, Priority::Inherited, limits).describe(Probe::Probe64, last_cpu())
    }

    fn under(words: &[&str]) -> Result<Vec<Record>, Failure> {
        under_for(words, LONG)
    }

    /// What it would be without the command, and the words.
    fn failed(words: &[&str]) -> (Failure, String) {
        match under(words).unwrap_err() {
            Failure::Under { failure, words } => (*failure, words),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_records_are_the_same_under_a_command() {
        let plain = under(&[]).unwrap();
        assert!(is_complete(&plain), "{plain:?}");
        for words in [&["env"][..], &["sh", "-c", "exec {}"], &["sh", "-c", "{}; exit $?"], &["env", "{}"]] {
            assert_eq!(under(words).unwrap(), plain, "{words:?}");
        }
        assert_eq!(
            under(&["sh", "-c", "echo words >&2; sleep 100 & exec {}"]).unwrap(),
            plain,
            "what it leaves"
        );
    }

    #[test]
    fn a_command_that_is_not_there_is_named() {
        let (failure, words) = failed(&["/nowhere/at-all", "{}"]);
        assert!(
            matches!(failure, Failure::Process(Error::NotStarted { phase: Phase::Execute, .. })),
            "{failure:?}"
        );
        assert_eq!(words, "the command could not be started: /nowhere/at-all: No such file or directory");
        assert!(failed(&["/dev/null", "{}"]).1.ends_with("/dev/null: Permission denied"));
    }

    #[test]
    fn a_command_that_never_starts_the_probe_says_why() {
        let (failure, words) = failed(&["sh", "-c", "{file}"]);
        assert!(
            failure == Failure::Silent && words.starts_with("sh started the probe with other arguments"),
            "{words}"
        );
        assert_eq!(failed(&["true"]), (Failure::Silent, "true ended without starting the probe".into()));
        let (failure, words) = failed(&["sh", "-c", "echo no such profile >&2; exit 3"]);
        assert_eq!(failure, Failure::Exited(3));
        assert_eq!(words, "sh exited with 3 before the probe wrote anything; it said: \"no such profile\"");
        let (failure, words) = failed(&["env", "nowhere-to-be-found"]);
        assert_eq!(failure, Failure::Exited(127));
        assert!(words.starts_with("env exited with 127 (it did not find its program)"), "{words}");
        assert!(words.contains("nowhere-to-be-found"), "{words}");
        let docker = "echo sh: no daemon >&2; echo Run --help >&2; exit 125";
        assert!(failed(&["sh", "-c", docker]).1.ends_with("; it said: \"sh: no daemon\""));
        let (failure, words) = failed(&["sh", "-c", "exec /dev/null"]);
        assert!(failure == Failure::Exited(126) && words.contains("could not execute"), "{words}");
    }

    #[test]
    fn what_a_command_writes_among_the_records_is_quoted() {
        let (failure, words) = failed(&["sh", "-c", "echo starting; {}"]);
        assert!(matches!(failure, Failure::Garbage(_)), "{failure:?}");
        assert!(
            words.starts_with("sh wrote \"starting\" to its standard output, before the probe's records"),
            "{words}"
        );
        let (_, words) = failed(&["sh", "-c", "{}; echo done"]);
        assert_eq!(words, "sh wrote \"done\" to its standard output, among the probe's records");
        let (_, words) = failed(&["printf", r"\033[2J"]);
        assert!(
            words.contains(r"\u{1b}[2J") && words.contains("where the probe's records belong"),
            "{words}"
        );
    }

    #[test]
    fn how_the_probe_ended_is_seen_through_a_shell() {
        let (failure, words) = failed(&["sh", "-c", "kill -SYS $$"]);
        assert_eq!(failure, Failure::Killed(31));
        assert!(words.contains("SIGSYS") && words.contains("seccomp"), "{words}");
        assert_eq!(failed(&["sh", "-c", "exit 159"]).0, Failure::Killed(31), "as a shell says it");
        let (failure, words) = failed(&["sh", "-c", "{}; exit 4"]);
        assert_eq!(
            (failure, words.as_str()),
            (Failure::Exited(4), "sh exited with 4 although the probe had finished")
        );
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_what_it_started() {
        let short = Duration::from_millis(300);
        let begin = Instant::now();
        let hung = under_for(&["sh", "-c", "sleep 100 & sleep 100"], short).unwrap_err();
        let Failure::Under { failure, words } = hung else { panic!("{hung:?}") };
        assert_eq!(*failure, Failure::Process(Error::Timeout(short)));
        assert!(
            words.contains("did not end within 300ms") && begin.elapsed() < Duration::from_secs(20),
            "{words}"
        );
    }

    #[test]
    fn a_probe_without_a_command_fails_as_on_the_host() {
        let zero = Duration::ZERO;
        assert_eq!(under_for(&[], zero), Err(Failure::Process(Error::Timeout(zero))));
    }

    #[test]
    fn variables_stand_in_the_environment_once() {
        let limits = Limits { time: LONG, output: record::MOST_OUTPUT, interrupt: Interrupt::default() };
        let wrapper = Wrapper {
            environment: vec!["HOME=/elsewhere".into()],
            words: ["sh", "-c", "env >&2; {}"].map(String::from).to_vec(),
        };
        let files = Rc::new(Files::embedded().unwrap());
        let mut under = Under::new(wrapper, files, Priority::Inherited, limits);
        under.describe(Probe::Probe64, last_cpu()).unwrap();
        let homes: Vec<&str> = under.said().lines().filter(|line| line.starts_with("HOME=")).collect();
        assert_eq!(homes, ["HOME=/elsewhere"]);
    }
}

//! One probe run.

use crate::host::image::Image;
use process::{Command, Error, Finished, Isolation, Limits, Program};
use record::Failure;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;

/// Scheduling of the probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// The priority of this process.
    Inherited,
    /// SCHED_FIFO, lowest priority.
    Realtime,
}

/// Runs a program on a CPU, and returns what it wrote to its standard output.
pub fn run(
    image: &Image,
    cpu: usize,
    arguments: &[String],
    priority: Priority,
    limits: &Limits,
) -> Result<Vec<u8>, Failure> {
    let command = Command {
        arguments: arguments.iter().map(Into::into).collect(),
        // Without an environment, whose length differs from machine to machine and would move the probe's stack.
        environment: Vec::new(),
        cpu: Some(cpu),
        realtime: priority == Priority::Realtime,
        ..Command::new(Program::Open(image.file.as_fd(), image.name.into()), Isolation::Group)
    };
    answer(process::run(&command, limits)?)
}

/// What a program that ended well wrote.
pub fn answer(finished: Finished) -> Result<Vec<u8>, Failure> {
    match (finished.status.code(), finished.status.signal()) {
        (Some(0), _) => Ok(finished.output),
        (Some(code), _) => Err(Failure::Exited(code)),
        (None, Some(signal)) => Err(Failure::Killed(signal)),
        (None, None) => Err(Failure::Silent),
    }
}

/// Whether a failure means that the probe hung.
pub fn is_hang(failure: &Failure) -> bool {
    matches!(failure, Failure::Process(Error::Timeout(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use process::{Errno, Interrupt, Phase};
    use std::fs::File;
    use std::time::Duration;

    const SHORT: Duration = Duration::from_millis(300);

    fn last_cpu() -> usize {
        *process::allowed_cpus().unwrap().last().unwrap()
    }

    /// Runs a program with the arguments of a shell in a probe's place.
    fn run_file(file: &str, arguments: &[&str], cpu: usize, time: Duration) -> Result<Vec<u8>, Failure> {
        let image = Image { file: File::open(file).unwrap().into(), name: "sh" };
        let arguments: Vec<String> = arguments.iter().map(|argument| argument.to_string()).collect();
        let limits = Limits { time, output: record::MOST_OUTPUT, interrupt: Interrupt::default() };
        run(&image, cpu, &arguments, Priority::Inherited, &limits)
    }

    fn script(text: &str) -> Result<Vec<u8>, Failure> {
        run_file("/bin/sh", &["-c", text], last_cpu(), Duration::from_secs(60))
    }

    #[test]
    fn a_probe_runs_on_the_cpu_it_is_given_with_an_empty_environment() {
        let text = "while read -r key value; do [ \"$key\" = Cpus_allowed_list: ] && echo \"$value\"; done \
                    </proc/self/status; echo ${HOME-none}";
        assert_eq!(String::from_utf8(script(text).unwrap()).unwrap(), format!("{}\nnone\n", last_cpu()));
    }

    #[test]
    fn a_death_is_told_by_its_signal_or_status() {
        assert_eq!(script("kill -SEGV $$"), Err(Failure::Killed(11)));
        assert_eq!(script("echo much; kill -KILL $$"), Err(Failure::Killed(9)));
        assert_eq!(script("exit 3"), Err(Failure::Exited(3)));
    }

    #[test]
    fn what_ends_it_from_outside_is_the_processes_failure() {
        let flood = script("while :; do echo flood flood flood flood; done");
        assert_eq!(flood, Err(Failure::Process(Error::Flood(record::MOST_OUTPUT))));
        let hang = run_file("/bin/sh", &["-c", "sleep 50"], last_cpu(), SHORT).unwrap_err();
        assert_eq!(hang, Failure::Process(Error::Timeout(SHORT)));
        assert!(is_hang(&hang) && !is_hang(&Failure::Silent));
    }

    #[test]
    fn what_is_no_program_and_where_there_is_no_cpu_nothing_is_started() {
        let refused = |phase, errno| Err(Failure::Process(Error::NotStarted { phase, errno }));
        let long = Duration::from_secs(60);
        assert_eq!(run_file("/dev/null", &[], last_cpu(), long), refused(Phase::Execute, Errno::EACCES));
        for cpu in [1000, 4000] {
            assert_eq!(run_file("/bin/sh", &[], cpu, long), refused(Phase::Pin, Errno::EINVAL));
        }
    }
}

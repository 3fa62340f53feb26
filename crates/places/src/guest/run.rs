//! A boot's run, from the start of QEMU to what the guest came to.

use crate::emulator::Process;
use crate::guest::archive;
use crate::guest::booted::{Booted, Ended, ProgramOutput};
use crate::guest::command::{self, Files, Rate, Start};
use crate::guest::console::Console;
use crate::guest::ending::Ending;
use crate::guest::following::Following;
use crate::guest::trouble::Trouble;
use crate::guest::{Boot, Terminal};
use process::{Limits, Pipe, file_in_memory};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::time::Instant;

impl Boot<'_> {
    /// Boots, and reads until the guest is done. A guest whose clocks disagree is booted again, and so is one that resets its machine
    /// without a word, so that its kernel tells why. The limit of time holds for all boots together; the limit of output holds for what
    /// each writes to the frames' port.
    ///
    /// # Errors
    /// When QEMU is not there, or cannot be started. Whatever becomes of the guest then is [`Booted::trouble`].
    pub fn run(&self, limits: &Limits, said: &mut dyn FnMut(ProgramOutput)) -> Result<Booted, Trouble> {
        self.run_on(None, limits, said)
    }

    /// The same with this terminal as the guest's console, which a program that is [`crate::guest::Exec::interactive`] uses.
    ///
    /// # Errors
    /// As [`Boot::run`].
    pub fn run_on(
        &self,
        terminal: Option<Terminal>,
        limits: &Limits,
        said: &mut dyn FnMut(ProgramOutput),
    ) -> Result<Booted, Trouble> {
        let (first, begin) = (Start::at(Rate::first(self)), Instant::now());
        let booted = self.run_at(first, terminal, (begin, limits), said)?;
        if booted.was_reset_in_silence() {
            let again = self.run_at(Start { early_console: true, ..first }, None, (begin, limits), said);
            return Ok(again.ok().filter(Booted::tells_more).unwrap_or(booted));
        }
        if !booted.clocks_disagree(first.rate) {
            return Ok(booted);
        }
        let again = self.run_at(Start::at(Rate::Own), None, (begin, limits), said);
        Ok(again.unwrap_or_else(|trouble| booted.without_another(trouble)))
    }

    /// One start of QEMU. The limit of time holds from `begin` on.
    fn run_at(
        &self,
        start: Start,
        terminal: Option<Terminal>,
        (begin, limits): (Instant, &Limits),
        said: &mut dyn FnMut(ProgramOutput),
    ) -> Result<Booted, Trouble> {
        let (console, theirs) = pair()?;
        let (debugger, debugged) = self.work.follows.then(pair).transpose()?.unzip();
        let files = self.files(theirs, debugged)?;
        let terminal = terminal.map(|terminal| (terminal, limits.interrupt.clone()));
        let console = Console::follow(console, terminal).map_err(crate::emulator::Trouble::from)?;
        let left = Limits { time: limits.time.saturating_sub(begin.elapsed()), ..limits.clone() };
        let started = Process::start(command::command(self, start, files), &left);
        let mut process = started.map_err(|trouble| start_trouble(trouble, limits))?;
        let follow = |connection| Following::begin(connection, process.stop());
        let following = debugger.map(follow).transpose().map_err(crate::emulator::Trouble::from)?;
        let mut booted = Booted { parameters: command::parameters(self, start), ..Booted::default() };
        let ended = booted.read(&mut process, start.rate, begin, said);
        drop(process);
        booted.console = console.end();
        let lost = following.and_then(|following| booted.followed(following.end()));
        booted.trouble = match ended {
            Ok(()) => booted.trouble.take().or(lost),
            Err(Ended::Machine(crate::emulator::Trouble::Interrupted))
                if lost.is_some() && !is_users(limits) =>
            {
                lost
            }
            // The guest's own end is the cause of whatever the follower met with.
            Err(ended) => Some(self.judge(ended, &booted, limits)),
        };
        Ok(booted)
    }

    fn judge(&self, ended: Ended, booted: &Booted, limits: &Limits) -> Trouble {
        let (began, mib, console) = (booted.hello.is_some(), self.machine.memory_mib, &booted.console);
        let trouble = match ended {
            Ended::Garbage(error) => return Trouble::Garbage { error, console: console.clone() },
            // What was left of the time says nothing to whoever set the limit.
            Ended::Machine(crate::emulator::Trouble::Timeout(_)) => {
                crate::emulator::Trouble::Timeout(limits.time)
            }
            Ended::Machine(trouble) => trouble,
        };
        Ending { trouble, began, console, mib }.judge()
    }

    /// What QEMU inherits, with its ends of these connections.
    fn files(&self, console: OwnedFd, debugger: Option<OwnedFd>) -> Result<Files, Trouble> {
        let archive = archive::pack(self.program, self.work, self.archive);
        let archive = archive.map_err(|error| crate::emulator::Trouble::Files(error.to_string()))?;
        // The kernel is loaded, and the archive beside it, which is unpacked before it is given up.
        let least = (self.kernel.bytes.len() + 2 * archive.len()).div_ceil(1 << 20) as u64;
        let mib = self.machine.memory_mib;
        if least > mib {
            return Err(Trouble::TooSmall { mib, least });
        }
        Ok(Files {
            kernel: file_in_memory("kernel", &self.kernel.bytes).map_err(crate::emulator::Trouble::from)?,
            archive: file_in_memory("archive", &archive).map_err(crate::emulator::Trouble::from)?,
            console,
            debugger,
            frames: Pipe::new().map_err(no_pipe)?,
        })
    }
}

/// Whether an interruption is the user's, and not the follower's.
fn is_users(limits: &Limits) -> bool {
    limits.interrupt.load(Ordering::Relaxed)
}

/// A connection: this process's end, and QEMU's.
fn pair() -> Result<(UnixStream, OwnedFd), Trouble> {
    let (ours, theirs) = UnixStream::pair().map_err(crate::emulator::Trouble::from)?;
    Ok((ours, theirs.into()))
}

/// A start that took all the time is a guest that did not finish in it.
fn start_trouble(trouble: crate::emulator::Trouble, limits: &Limits) -> Trouble {
    match trouble {
        crate::emulator::Trouble::Timeout(_) => {
            Trouble::Hung { time: limits.time, began: false, console: String::new() }
        }
        other => other.into(),
    }
}

fn no_pipe(error: process::Error) -> Trouble {
    crate::emulator::Trouble::Program { program: "QEMU".into(), error }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::{Frame, Hello, Machine, Work};
    use guest_of_bash::{boot, boot_for, pid_in};
    use std::time::Duration;

    /// QEMU is a script here, which knows its ends of the connections.
    mod guest_of_bash {
        use super::*;
        use crate::emulator::Accelerator;
        use linux::Kernel;
        use process::Interrupt;

        const ENDS: &str = r#"#!/bin/bash
for word; do
    case $word in
    socket,id=console,fd=*) console=${word##*=} ;;
    socket,id=debugger,fd=*) debugger=${word##*=} ;;
    file,id=frames,path=*) frames=${word##*=} ;;
    esac
done
"#;

        /// Boots this script, and follows it.
        pub fn boot(script: &str, time: Duration) -> Booted {
            boot_for(&Work { follows: true, ..Work::default() }, script, time)
        }

        /// Boots this script for this work.
        pub fn boot_for(work: &Work, script: &str, time: Duration) -> Booted {
            let folder = tempfile::tempdir().unwrap();
            let program = folder.path().join("qemu");
            // By another process: a file that this one writes can be open for writing in a child of another test (ETXTBSY).
            let mut write = std::process::Command::new("/bin/sh");
            write.args(["-c", "printf %s \"$1\" >\"$0\"; chmod 755 \"$0\""]).arg(&program);
            assert!(write.arg(format!("{ENDS}{script}")).status().unwrap().success());
            let machine = Machine { program: program.into(), ..Machine::new(Accelerator::Tcg, None) };
            let kernel = &Kernel::default();
            let (parameters, program, archive) = ("", &[], &[]);
            let boot = Boot { machine: &machine, kernel, parameters, program, archive, work, seed: 7 };
            let limits = Limits { time, output: 1 << 20, interrupt: Interrupt::default() };
            boot.run(&limits, &mut |_| ()).unwrap()
        }

        /// The process that a script's console names.
        pub fn pid_in(booted: &Booted) -> i32 {
            booted.console.trim().parse().unwrap()
        }
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_debugger_that_writes_garbage_took_all_the_time_of_a_boot() {
        let booted = boot("echo garbage >&$debugger; sleep 60", LONG);
        let Some(Trouble::Followed(why)) = &booted.trouble else { panic!("{:?}", booted.trouble) };
        assert!(why.contains("garbage"), "{why}");
        let closed = boot("exec {debugger}>&-; sleep 60", LONG);
        assert!(matches!(closed.trouble, Some(Trouble::Followed(_))), "{:?}", closed.trouble);
    }

    #[test]
    fn a_guests_own_end_is_the_cause_of_what_its_follower_meets_with() {
        let booted =
            boot("echo '$W00#b7' >&$debugger; echo 'Kernel panic - not syncing: x' >&$console", LONG);
        assert!(matches!(booted.trouble, Some(Trouble::Panicked { .. })), "{:?}", booted.trouble);
    }

    /// A command of a script that writes these frames.
    fn written(frames: &[Frame]) -> String {
        let bytes = frames.iter().flat_map(Frame::bytes).map(|byte| format!("\\{byte:03o}"));
        format!("printf '{}' >$frames", bytes.collect::<String>())
    }

    fn hello(tick: Option<&str>) -> Frame {
        Frame::Hello(Hello { tick: tick.map(str::to_string), ..Hello::default() })
    }

    /// A guest that says which timer ticks, and ends if it knows its counter's own rate.
    fn counted(tick: Option<&str>) -> Booted {
        let failed = written(&[hello(tick), Frame::Failed("its clocks disagree".into()), Frame::End]);
        let done = written(&[hello(tick), Frame::End]);
        let script = format!("case \"$*\" in *khz=250000*) {failed};; *) {done};; esac");
        boot_for(&Work { counts: true, ..Work::default() }, &script, LONG)
    }

    #[test]
    fn a_guest_whose_clocks_disagree_is_booted_again() {
        for other in [Some("pit"), None] {
            let booted = counted(other);
            assert_eq!(booted.trouble, None, "{other:?}");
            assert!(booted.parameters.contains("tsc_early_khz=1000000"), "{other:?}");
        }
        let booted = counted(Some("lapic"));
        assert_eq!(booted.trouble, Some(Trouble::Failed("its clocks disagree".into())), "it was booted once");
        assert!(booted.parameters.contains("tsc_early_khz=250000"));
    }

    #[test]
    fn a_guest_that_was_booted_again_had_its_time_twice() {
        let script = format!("sleep 1; {}; sleep 60", written(&[hello(Some("pit"))]));
        let (begin, time) = (Instant::now(), Duration::from_secs(5));
        let booted = boot_for(&Work { counts: true, ..Work::default() }, &script, time);
        assert!(
            matches!(booted.trouble, Some(Trouble::Hung { time: told, began: true, .. }) if told == time)
        );
        assert!(begin.elapsed() < 2 * time, "{:?}", begin.elapsed());
        // Both boots slept for a second before they wrote.
        assert!(booted.first_frame.unwrap() >= Duration::from_secs(2), "{:?}", booted.first_frame);
    }

    #[test]
    fn a_kernel_that_died_before_it_had_a_console_did_not_tell_of_what() {
        let died = "echo 'divide error: 0000 [#1]'; echo 'Kernel panic - not syncing: Fatal exception'";
        let booted = |loud: &str| {
            let script = format!("case \"$*\" in *earlyprintk=ttyS0*) {{ {loud}; }} >&$console;; esac");
            boot_for(&Work::default(), &script, LONG).trouble.unwrap().to_string()
        };
        assert_eq!(
            booted(died),
            "the guest's kernel panicked: Fatal exception; before that, its console said: divide error: 0000 [#1]"
        );
        let reset = "the guest reset its machine, as after a triple fault, before kentry began in it";
        assert_eq!(booted(":"), reset);
        assert_eq!(booted("echo one word"), format!("{reset}; its console ended: one word"));
    }

    #[test]
    fn a_guest_that_could_not_be_started_again_keeps_what_it_said() {
        let said =
            || Booted { hello: Some(Hello::default()), console: "words\n".into(), ..Booted::default() };
        let time = Duration::from_secs(3);
        let hung = said().without_another(Trouble::Hung { time, began: false, console: String::new() });
        let words = hung.trouble.unwrap().to_string();
        assert_eq!(
            words,
            "the guest did not finish within 3 s, in which kentry had begun; its console ended: words"
        );
        let missing = Trouble::Refused("no".into());
        assert_eq!(said().without_another(missing.clone()).trouble, Some(missing));
    }

    #[test]
    fn what_was_said_without_a_hello_or_after_another_was_believed() {
        let said = |frames: &[Frame]| {
            boot_for(&Work::default(), &format!("{}; sleep 60", written(frames)), LONG).trouble
        };
        let (hello, document) = (hello(None), Frame::Document(b"{}".to_vec()));
        assert_eq!(said(&[hello.clone(), document.clone(), Frame::End]), None);
        let failed = Frame::Failed("no /proc".into());
        assert_eq!(said(&[failed, Frame::End]), Some(Trouble::Failed("no /proc".into())));
        for odd in [&[document.clone(), Frame::End][..], &[Frame::End], &[hello.clone(), document, hello]] {
            let trouble = said(odd);
            let is_order =
                matches!(trouble, Some(Trouble::Garbage { error: crate::guest::frame::Error::Order, .. }));
            assert!(is_order, "{odd:?}: {trouble:?}");
        }
    }

    #[test]
    fn a_process_that_left_its_session_was_waited_for() {
        let booted = boot("setsid sleep 60 & echo $! >&$console; sleep 60", Duration::from_secs(1));
        assert!(matches!(booted.trouble, Some(Trouble::Hung { .. })), "{:?}", booted.trouble);
        let left = std::path::PathBuf::from(format!("/proc/{}/comm", pid_in(&booted)));
        assert_eq!(std::fs::read_to_string(left).unwrap(), "sleep\n", "it outlives the boot");
        // It has this test's standard error, whose reader would wait for it.
        let left = nix::unistd::Pid::from_raw(pid_in(&booted));
        nix::sys::signal::kill(left, nix::sys::signal::Signal::SIGKILL).unwrap();
    }
}

//! Signals to the whole group while it starts children, as a terminal sends them. This program runs itself as the group.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, killpg, sigaction};
use nix::unistd::Pid;
use process::{Command, Interrupt, Isolation, Limits, Program};
use std::io::{BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Whether this process is the group.
const GROUP: &str = "KENTRY_TEST_IS_THE_GROUP";

/// Far longer than a child takes to start, even on a busy machine.
const HANGS: Duration = Duration::from_secs(30);

/// How often a signal is sent. Without what the child does against them, about one in thirty hits the wrong moment.
const TIMES: usize = 300;

extern "C" fn ignore(_: i32) {}

/// Starts children until it is killed, and writes a byte for each: `.` if it ended well, otherwise `!`.
#[test]
fn group() {
    if std::env::var_os(GROUP).is_none() {
        return;
    }
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let action = SigAction::new(SigHandler::Handler(ignore), SaFlags::SA_RESTART, SigSet::empty());
        // SAFETY: the handler does nothing.
        unsafe { sigaction(signal, &action) }.unwrap();
    }
    let limits = Limits { time: HANGS * 4, output: 1, interrupt: Interrupt::default() };
    loop {
        let ended = process::run(&Command::new(Program::Named("true".into()), Isolation::Group), &limits);
        let is_well = ended.is_ok_and(|ended| ended.status.success());
        // Past the test runner, which keeps what a test says to itself.
        std::io::stderr().write_all(if is_well { b"." } else { b"!" }).unwrap();
    }
}

/// The group, and what it writes.
struct Group {
    child: Child,
    bytes: Receiver<u8>,
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Group {
    fn start() -> Group {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "group", "--nocapture"]).env(GROUP, "").process_group(0);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (send, bytes) = channel();
        let from = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || from.bytes().map_while(Result::ok).try_for_each(|byte| send.send(byte)));
        let group = Group { child, bytes };
        group.goes_on("at first");
        group
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    fn send(&self, signal: Signal) {
        killpg(self.pid(), signal).unwrap();
    }

    /// Waits until it has started two more children than are known of. One may have ended before and be told only now; but
    /// a group that hangs does so forever, and is found out the next time.
    fn goes_on(&self, when: &str) {
        self.bytes.try_iter().for_each(|byte| assert_eq!(byte, b'.', "{when}: a child did not end well"));
        for _ in 0..2 {
            let byte = self.bytes.recv_timeout(HANGS).unwrap_or_else(|why| panic!("{when}: {why}"));
            assert_eq!(byte, b'.', "{when}: a child did not end well");
        }
    }
}

/// A pause whose length differs from one to the next, so that signals hit every moment of a start.
fn pause(number: usize) {
    std::thread::sleep(Duration::from_micros((number * 37 % 100 * 10) as u64));
}

#[test]
fn a_group_that_is_stopped_while_it_starts_children_can_be_continued() {
    let group = Group::start();
    for number in 0..TIMES {
        pause(number);
        group.send(Signal::SIGTSTP);
        pause(number + 50);
        group.send(Signal::SIGCONT);
        group.goes_on(&format!("after stop {number}"));
    }
}

#[test]
fn an_interrupt_of_the_group_is_not_one_of_its_child() {
    let group = Group::start();
    for number in 0..TIMES {
        pause(number);
        group.send(if number % 2 == 0 { Signal::SIGINT } else { Signal::SIGTERM });
        group.goes_on(&format!("after interrupt {number}"));
    }
}

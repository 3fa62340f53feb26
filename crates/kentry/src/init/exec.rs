//! Runs a program of the archive, and tells what it writes and how it ends.

use super::port;
use guest::{Exec, Exit, Frame, INPUT};
use nix::libc;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The guest's console as a terminal.
const TERMINAL: &str = "/dev/ttyS0";

/// How often it is looked whether the program has ended while it says nothing.
const PAUSE: Duration = Duration::from_millis(20);

/// How long output is waited for behind the program's end: what it has started may go on and never end.
const PATIENCE: Duration = Duration::from_millis(200);

/// Runs it to its end.
///
/// # Errors
/// In words, when it cannot be started or watched.
pub fn run(exec: &Exec) -> Result<Exit, String> {
    let Some((program, arguments)) = exec.arguments.split_first() else {
        return Err("there is no program to run".into());
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear();
    command.envs(exec.environment.iter().filter_map(|variable| variable.split_once('=')));
    if exec.interactive {
        return interactive(command, terminal()?).map(exit).map_err(|error| format!("{program}: {error}"));
    }
    let input = if exec.input { File::open(INPUT).map(Stdio::from) } else { Ok(Stdio::null()) };
    let status = input.and_then(|input| relayed(command.stdin(input)));
    status.map(exit).map_err(|error| format!("{program}: {error}"))
}

/// The guest's console.
fn terminal() -> Result<File, String> {
    let open = File::options().read(true).write(true).open(TERMINAL);
    open.map_err(|error| {
        format!(
            "there is no terminal: this kernel has no driver for the serial port built in (CONFIG_SERIAL_8250; {TERMINAL}: {error}); a \
             shell that reads its commands from a pipe needs none, nor does --exec"
        )
    })
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Status(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

/// In a session of its own whose terminal is the console.
fn interactive(mut command: Command, terminal: File) -> io::Result<ExitStatus> {
    command.stdin(terminal.try_clone()?).stdout(terminal.try_clone()?).stderr(terminal);
    // SAFETY: two system calls, on what the child has open.
    unsafe {
        command.pre_exec(|| {
            nix::unistd::setsid()?;
            nix::errno::Errno::result(libc::ioctl(0, libc::TIOCSCTTY, 0))?;
            Ok(())
        });
    }
    command.status()
}

/// What it writes leaves as frames, while it runs.
fn relayed(command: &mut Command) -> io::Result<ExitStatus> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (sender, frames) = channel();
    if let Some(output) = child.stdout.take() {
        pass(output, Frame::Output, sender.clone());
    }
    if let Some(errors) = child.stderr.take() {
        pass(errors, Frame::Errors, sender);
    }
    relay(&mut child, &frames)
}

/// Reads in a thread of its own; frames are sent by one thread alone.
fn pass(mut from: impl Read + Send + 'static, frame: fn(Vec<u8>) -> Frame, to: Sender<Frame>) {
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if to.send(frame(buffer.get(..count).unwrap_or_default().to_vec())).is_err() {
                break;
            }
        }
    });
}

fn relay(child: &mut Child, frames: &Receiver<Frame>) -> io::Result<ExitStatus> {
    let mut ended = None;
    loop {
        match frames.recv_timeout(if ended.is_some() { PATIENCE } else { PAUSE }) {
            Ok(frame) => port::send(&frame),
            Err(RecvTimeoutError::Disconnected) => return ended.map_or_else(|| child.wait(), Ok),
            Err(RecvTimeoutError::Timeout) => match ended {
                Some(status) => return Ok(status),
                None => ended = child.try_wait()?,
            },
        }
    }
}

//! Runs a program of the archive, and tells what it writes and how it ends.

use super::port;
use crate::exit::{NOT_FOUND, NOT_LOADED};
use nix::libc;
use places::guest::{Exec, Exit, Frame, INPUT};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
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

/// Runs it to its end. One that cannot be started ends as under `env`: with a line about it on standard error, and status 126, or
/// 127 where there is none.
///
/// # Errors
/// In words, when it cannot be given its input, or not be watched.
pub fn run(exec: &Exec) -> Result<Exit, String> {
    let Some((program, arguments)) = exec.arguments.split_first() else {
        return Err("there is no program to run".into());
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear();
    command.envs(exec.environment.iter().filter_map(|variable| variable.split_once('=')));
    let failed = |error: io::Error| format!("{program}: {}", crate::error::words(&error));
    if exec.interactive {
        on_terminal(&mut command, terminal()?).map_err(failed)?;
    } else {
        let input = if exec.input { File::open(INPUT).map(Stdio::from) } else { Ok(Stdio::null()) };
        command.stdin(input.map_err(failed)?).stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    match command.spawn() {
        Ok(child) => relayed(child).map(exit).map_err(failed),
        Err(error) => Ok(not_started(Path::new(program), &error)),
    }
}

/// Says why, and returns what stands for it.
fn not_started(program: &Path, error: &io::Error) -> Exit {
    let (status, why) = why_not(program, error);
    let line = format!("kentry linux: {} cannot be executed: {why}\n", report::plain_os(program.as_os_str()));
    port::send(&Frame::Errors(line.into_bytes()));
    Exit::Status(status.into())
}

/// The status of a program that cannot be started, and the reason.
fn why_not(program: &Path, error: &io::Error) -> (u8, String) {
    match error.kind() {
        // The kernel says the same of what a program asks for.
        ErrorKind::NotFound if program.exists() => {
            (NOT_LOADED, "the loader or interpreter that it names is not there".into())
        }
        ErrorKind::NotFound => (NOT_FOUND, crate::error::words(error)),
        _ if error.raw_os_error() == Some(libc::ENOEXEC) => {
            (NOT_LOADED, "it is not a program of a kind that this kernel executes".into())
        }
        _ => (NOT_LOADED, crate::error::words(error)),
    }
}

/// The guest's console.
fn terminal() -> Result<File, String> {
    let open = File::options().read(true).write(true).open(TERMINAL);
    open.map_err(|error| {
        format!(
            "there is no terminal: this kernel has no driver for the serial port built in (CONFIG_SERIAL_8250; {TERMINAL}: {}); a \
             shell that reads its commands from a pipe needs none, nor does --exec",
            crate::error::words(&error)
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
fn on_terminal(command: &mut Command, terminal: File) -> io::Result<()> {
    command.stdin(terminal.try_clone()?).stdout(terminal.try_clone()?).stderr(terminal);
    // SAFETY: two system calls, on what the child has open.
    unsafe {
        command.pre_exec(|| {
            nix::unistd::setsid()?;
            nix::errno::Errno::result(libc::ioctl(0, libc::TIOCSCTTY, 0))?;
            Ok(())
        });
    }
    Ok(())
}

/// What it writes leaves as frames, while it runs; what it writes to a terminal does not.
fn relayed(mut child: Child) -> io::Result<ExitStatus> {
    let (sender, frames) = channel();
    if let Some(output) = child.stdout.take() {
        pass(output, Frame::Output, sender.clone());
    }
    if let Some(errors) = child.stderr.take() {
        pass(errors, Frame::Errors, sender.clone());
    }
    drop(sender);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_started_has_a_status_and_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            path
        };
        for (program, status, why) in [
            (
                make("orphan", "#!/nonexistent/sh\n"),
                126,
                "the loader or interpreter that it names is not there",
            ),
            (make("text", "text"), 126, "it is not a program of a kind that this kernel executes"),
            (folder.path().to_path_buf(), 126, "permission denied"),
            (folder.path().join("nothing"), 127, "there is no such file or folder"),
        ] {
            let error = Command::new(&program).spawn().unwrap_err();
            assert_eq!(why_not(&program, &error), (status, why.to_string()), "{}", program.display());
        }
    }
}

//! The guest's console: the last of what it says is kept, for it has the cause of whatever goes wrong. It can also be a user's terminal.

use crate::guest::terminal::{ESCAPE, Terminal};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use process::Interrupt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};

/// How many bytes are kept, of the last: a panic's lines with all its registers take some four KiB.
const KEPT: usize = 64 << 10;

/// A console that is read, in a thread, until QEMU has ended.
#[derive(Debug)]
pub(crate) struct Console {
    connection: UnixStream,
    reader: JoinHandle<Vec<u8>>,
}

impl Console {
    /// Of this end of the connection. What is typed on the terminal goes there, until its escape is typed, which sets the interrupt.
    ///
    /// # Errors
    /// When there is no thread for it.
    pub fn follow(connection: UnixStream, terminal: Option<(Terminal, Interrupt)>) -> io::Result<Console> {
        let ours = connection.try_clone()?;
        let reader = Builder::new().spawn(move || match terminal {
            Some((terminal, interrupt)) => show(ours, terminal, &interrupt),
            None => read(ours),
        })?;
        Ok(Console { connection, reader })
    }

    /// What was kept, when QEMU has ended. Another process may still hold the other end of the connection; what it had said is read.
    pub fn end(self) -> String {
        // It fails where the other end has closed it.
        let _ = self.connection.shutdown(Shutdown::Both);
        // The thread cannot fail; if it did, nothing would be known.
        String::from_utf8_lossy(&self.reader.join().unwrap_or_default()).into_owned()
    }
}

fn read(mut connection: UnixStream) -> Vec<u8> {
    let (mut kept, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = connection.read(&mut buffer) {
        keep(&mut kept, buffer.get(..count).unwrap_or_default());
    }
    kept
}

fn show(mut connection: UnixStream, mut terminal: Terminal, interrupt: &Interrupt) -> Vec<u8> {
    let (mut kept, mut buffer, mut is_open) = (Vec::new(), [0; 4096], true);
    while let Ok([said, typed]) = wait(&connection, is_open.then(|| terminal.input.as_fd())) {
        if said {
            let Ok(count @ 1..) = connection.read(&mut buffer) else { break };
            let bytes = buffer.get(..count).unwrap_or_default();
            keep(&mut kept, bytes);
            // A terminal that is gone shows nothing.
            let _ = terminal.output.write_all(bytes).and_then(|()| terminal.output.flush());
        }
        if typed {
            is_open = give(&mut connection, &terminal, interrupt);
        }
    }
    kept
}

/// What was typed goes to the guest. False when nothing more will come.
fn give(connection: &mut UnixStream, terminal: &Terminal, interrupt: &Interrupt) -> bool {
    let mut buffer = [0; 256];
    let read = terminal.input.try_clone().and_then(|input| File::from(input).read(&mut buffer));
    let Ok(count @ 1..) = read else { return false };
    let typed = buffer.get(..count).unwrap_or_default();
    if typed.contains(&ESCAPE) {
        interrupt.store(true, Ordering::Relaxed);
    }
    connection.write_all(typed).is_ok()
}

/// Whether either has something to read.
fn wait(connection: &UnixStream, input: Option<BorrowedFd>) -> io::Result<[bool; 2]> {
    let mut files = vec![PollFd::new(connection.as_fd(), PollFlags::POLLIN)];
    files.extend(input.map(|input| PollFd::new(input, PollFlags::POLLIN)));
    poll(&mut files, PollTimeout::NONE)?;
    let mut ready = files.iter().map(|file| file.any().unwrap_or(true));
    Ok([ready.next().unwrap_or(false), ready.next().unwrap_or(false)])
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    kept.extend_from_slice(bytes);
    let surplus = kept.len().saturating_sub(KEPT);
    kept.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_talkative_console_is_kept() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let console = Console::follow(ours, None).unwrap();
        for line in 0..20_000 {
            writeln!(theirs, "line {line}").unwrap();
        }
        drop(theirs);
        let kept = console.end();
        assert!(kept.len() <= KEPT && kept.ends_with("line 19999\n"), "{}", kept.len());
    }

    #[test]
    fn a_console_that_another_process_keeps_open_was_read_for_ever() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let console = Console::follow(ours, None).unwrap();
        theirs.write_all(b"the last\n").unwrap();
        assert_eq!(console.end(), "the last\n");
        assert!(theirs.write_all(b"more").is_err(), "nobody reads it any longer");
    }

    #[test]
    fn what_is_typed_goes_to_the_guest_and_what_it_says_is_shown() {
        let (ours, mut guest) = UnixStream::pair().unwrap();
        let (keyboard, mut keys) = UnixStream::pair().unwrap();
        let (mut screen, shown) = UnixStream::pair().unwrap();
        let interrupt = Interrupt::default();
        let terminal = Terminal::new(keyboard.into(), shown.into()).unwrap();
        let console = Console::follow(ours, Some((terminal, interrupt.clone()))).unwrap();
        keys.write_all(b"ls\n").unwrap();
        let mut typed = [0; 3];
        guest.read_exact(&mut typed).unwrap();
        assert_eq!((&typed, interrupt.load(Ordering::Relaxed)), (b"ls\n", false));
        guest.write_all(b"hello").unwrap();
        let mut seen = [0; 5];
        screen.read_exact(&mut seen).unwrap();
        assert_eq!(&seen, b"hello");
        keys.write_all(&[ESCAPE]).unwrap();
        guest.read_exact(&mut [0]).unwrap();
        drop((guest, keys));
        assert_eq!((console.end().as_str(), interrupt.load(Ordering::Relaxed)), ("hello", true));
    }
}

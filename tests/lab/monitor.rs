//! QEMU as its monitor shows it, and with other arguments than the command gives it.

use crate::executable;
use crate::guest::limits;
use crate::skipped::skipped;
use places::lab::{Accelerator, Qemu, Trouble};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A program in QEMU's place: a shell script that changes the arguments, and goes on as QEMU.
pub fn wrapped(folder: &Path, script: &str) -> Qemu {
    let program = folder.join("qemu");
    executable::write(&program, format!("#!/bin/bash\n{script}\n").as_bytes());
    Qemu { program: program.into(), ..Qemu::new(Accelerator::Tcg, None) }
}

pub fn is_missing() -> bool {
    static VERSION: LazyLock<Result<String, Trouble>> =
        LazyLock::new(|| Qemu::new(Accelerator::Tcg, None).version(&limits()));
    match &*VERSION {
        Err(trouble) if trouble.is_missing() => {
            skipped(trouble);
            true
        }
        version => version.is_err(),
    }
}

/// QEMU's monitor.
pub struct Monitor(UnixStream);

impl Monitor {
    pub fn open(socket: &Path) -> Monitor {
        let mut monitor = Monitor(connected(socket, Duration::from_secs(20)));
        monitor.answer();
        monitor
    }

    /// All until the next prompt.
    fn answer(&mut self) -> String {
        let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
        while !text.ends_with(b"(qemu) ") {
            let count = match self.0.read(&mut buffer) {
                // A signal; with a timeout set, the kernel does not begin the call again.
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other.unwrap(),
            };
            assert!(count > 0, "the monitor ended: {}", String::from_utf8_lossy(&text));
            text.extend_from_slice(&buffer[..count]);
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    pub fn ask(&mut self, command: &str) -> String {
        self.tell(command);
        self.answer()
    }

    /// For a command after which QEMU may end before it has answered.
    pub fn tell(&mut self, command: &str) {
        self.0.write_all(format!("{command}\n").as_bytes()).unwrap();
    }
}

/// A socket of an emulator that has just been started, whose answers may take so long.
pub fn connected(socket: &Path, patience: Duration) -> UnixStream {
    let start = Instant::now();
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => {
                stream.set_read_timeout(Some(patience)).unwrap();
                return stream;
            }
            Err(error) => assert!(start.elapsed() < Duration::from_secs(20), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

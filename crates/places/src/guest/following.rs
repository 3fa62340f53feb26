//! The follower's thread, beside the guest for as long as QEMU's process is there.

use crate::guest::debugger::Error;
use crate::guest::follow::{Followed, Follower};
use process::Interrupt;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// A guest that ends by itself ends the conversation, too, and its end is the cause. So long it may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// A follower at work.
#[derive(Debug)]
pub(crate) struct Following {
    thread: JoinHandle<(Followed, Option<Error>)>,
    connection: UnixStream,
    /// Is dropped when the process is gone.
    process: Sender<()>,
}

impl Following {
    /// Over this connection. `stop` is set when the guest cannot be followed any longer, and does not end by itself: it is stopped, and
    /// nobody will let it run again.
    ///
    /// # Errors
    /// When there is no thread for it.
    pub fn begin(connection: UnixStream, stop: Interrupt) -> io::Result<Following> {
        let ((process, gone), ours) = (channel(), connection.try_clone()?);
        let thread = Builder::new().spawn(move || {
            let (followed, error) = Follower::new(ours).run();
            if error.is_some() && !is_gone_soon(&gone) {
                stop.store(true, Ordering::Relaxed);
            }
            (followed, error)
        })?;
        Ok(Following { thread, connection, process })
    }

    /// What was followed, when QEMU's process is gone. Another process may still hold the other end of the connection.
    pub fn end(self) -> (Followed, Option<Error>) {
        drop(self.process);
        // It fails where the other end has closed it.
        let _ = self.connection.shutdown(Shutdown::Both);
        // The thread cannot fail; if it did, nothing would have been followed.
        self.thread.join().unwrap_or_default()
    }
}

fn is_gone_soon(process: &Receiver<()>) -> bool {
    process.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_connection_that_another_process_holds_is_no_reason_to_wait() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let stop = Interrupt::default();
        let (followed, error) = Following::begin(ours, stop.clone()).unwrap().end();
        assert!(error.is_some() && followed.traces.is_empty());
        assert!(!stop.load(Ordering::Relaxed), "the process was gone");
    }

    #[test]
    fn a_guest_that_cannot_be_followed_is_stopped() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let stop = Interrupt::default();
        let following = Following::begin(ours, stop.clone()).unwrap();
        theirs.write_all(b"garbage").unwrap();
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(following.end().1.unwrap().to_string().contains("garbage"));
    }
}

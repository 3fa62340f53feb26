//! The guest's console: the last of what it says is kept, for it has the cause of whatever goes wrong.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How many bytes are kept, of the last: a panic's lines with all its registers take some four KiB.
const KEPT: usize = 64 << 10;

/// Reads a console, in a thread, until QEMU closes it.
#[derive(Debug)]
pub(crate) struct Console {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Console {
    /// Of this end of the connection.
    pub fn follow(mut connection: UnixStream) -> Console {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let tail = kept.clone();
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = connection.read(&mut buffer) {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend_from_slice(buffer.get(..count).unwrap_or_default());
                let surplus = tail.len().saturating_sub(KEPT);
                tail.drain(..surplus);
            }
        });
        Console { kept, reader }
    }

    /// What was kept, when QEMU has ended.
    pub fn end(self) -> String {
        // A reader cannot fail; if it did, there is what it kept.
        let _ = self.reader.join();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

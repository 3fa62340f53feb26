//! The ports of the machine that frames leave through, and that ends it.

use nix::libc;
use nix::sys::reboot::{RebootMode, reboot};
use places::guest::{EXIT_PORT, EXIT_VALUE, FRAME_PORT, Frame};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

/// How this kernel lets a program use ports.
enum Way {
    /// By its instructions.
    Granted,
    /// Through a file, a byte a call.
    Device(File),
    /// Not at all.
    Closed,
}

impl Way {
    fn find() -> Way {
        if grant(FRAME_PORT, true) {
            grant(FRAME_PORT, false);
            return Way::Granted;
        }
        let device = File::options().write(true).open("/dev/port");
        device.map_or_else(
            |error| {
                // The console is all that is left, and has only room for why.
                eprintln!(
                    "kentry: this kernel lets no program use ports (ioperm: CONFIG_X86_IOPL_IOPERM; \
                     /dev/port: {error}), so that no figures can leave this guest"
                );
                Way::Closed
            },
            Way::Device,
        )
    }
}

static WAY: OnceLock<Way> = OnceLock::new();

/// Sends a frame. To be called by one thread at a time: permissions are a thread's own.
pub fn send(frame: &Frame) {
    write(FRAME_PORT, &frame.bytes());
}

/// Says that all is done, and ends the machine. Where ports are closed, it is reset, which ends it too.
pub fn end() -> ! {
    send(&Frame::End);
    write(EXIT_PORT, &[EXIT_VALUE]);
    loop {
        let _ = reboot(RebootMode::RB_AUTOBOOT);
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}

fn write(port: u16, bytes: &[u8]) {
    match WAY.get_or_init(Way::find) {
        // The permission is dropped each time: with one, the kernel does more on every return to a program, also of those that this one
        // starts, and a measurement would count that (arch_exit_to_user_mode_prepare, tss_update_io_bitmap).
        Way::Granted if grant(port, true) => {
            out(port, bytes);
            grant(port, false);
        }
        Way::Device(file) => {
            bytes.iter().for_each(|byte| drop(file.write_at(&[*byte], port.into())));
        }
        Way::Granted | Way::Closed => {}
    }
}

/// Whether this thread may now use the port, or may no longer.
fn grant(port: u16, is_granted: bool) -> bool {
    // SAFETY: nothing but QEMU's own devices is at the ports, and they touch no memory.
    unsafe { libc::ioperm(port.into(), 1, is_granted.into()) == 0 }
}

fn out(port: u16, bytes: &[u8]) {
    // SAFETY: the port was granted; the instruction reads as many bytes as there are.
    unsafe {
        std::arch::asm!(
            "rep outsb",
            inout("rsi") bytes.as_ptr() => _,
            inout("rcx") bytes.len() => _,
            in("dx") port,
            options(nostack, preserves_flags, readonly),
        );
    }
}

//! The kernel's random numbers. A guest whose instructions are counted has nothing that they could come from, neither devices nor a
//! clock that trembles: whoever asks for one would wait for ever. They are drawn from the seed instead, as all else here.

use nix::libc;
use std::fs::File;
use std::os::fd::AsRawFd;

/// So many bytes make Linux's generator ready (POOL_READY_BITS in drivers/char/random.c).
const BYTES: usize = 32;

/// `struct rand_pool_info` (include/uapi/linux/random.h).
#[repr(C)]
struct Entropy {
    bits: libc::c_int,
    length: libc::c_int,
    bytes: [u8; BYTES],
}

nix::ioctl_write_ptr!(add_entropy, b'R', 3, [libc::c_int; 2]);

/// Makes the generator ready. Where that fails, it may be ready all the same.
pub fn seed(seed: u64) {
    let mut bytes = [0; BYTES];
    bytes.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&seed.to_le_bytes()));
    let entropy = Entropy { bits: 8 * BYTES as libc::c_int, length: BYTES as libc::c_int, bytes };
    let Ok(device) = File::options().write(true).open("/dev/random") else { return };
    // SAFETY: the kernel reads the two numbers and as many bytes behind them as the second says.
    let _ = unsafe { add_entropy(device.as_raw_fd(), (&raw const entropy).cast()) };
}

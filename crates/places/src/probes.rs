//! The probes: three small programs in C and assembly (`probe/`), compiled by `build.rs` and embedded here.

use crate::packed::unpacked;
use std::sync::LazyLock;
use table::Probe;

/// The program as an ELF file, for an x86-64 Linux.
pub fn image(probe: Probe) -> &'static [u8] {
    static PROBE64: LazyLock<Vec<u8>> =
        LazyLock::new(|| unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/probe64.z"))));
    static PROBE32: LazyLock<Vec<u8>> =
        LazyLock::new(|| unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/probe32.z"))));
    static LIBC: LazyLock<Vec<u8>> =
        LazyLock::new(|| unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/probe-libc.z"))));
    match probe {
        Probe::Probe64 => &PROBE64,
        Probe::Probe32 => &PROBE32,
        Probe::Libc => &LIBC,
    }
}

/// The loader that the kernel starts [`Probe::Libc`] with, as its ELF file names it.
pub const LIBC_LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// The C compiler that made them: the first line of its `--version`.
pub const COMPILER: &str = env!("KENTRY_PROBES_COMPILER");

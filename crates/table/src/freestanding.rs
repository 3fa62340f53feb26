//! Flags of freestanding programs of C and assembly: probes, the lab kernel, and programs of tests.

/// Nothing that the compiler adds by itself: no stack protector (it needs a C library's thread block), no vector
/// registers, no calls to memset, no tables for unwinding.
pub const FREESTANDING: &[&str] = &[
    "-std=c11",
    "-O2",
    "-ffreestanding",
    "-nostdlib",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fcf-protection=none",
    "-mgeneral-regs-only",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-command-line-argument",
    "-Wl,--build-id=none",
    "-Wl,-z,noexecstack",
];

/// Debian keeps the kernel's asm/ headers, which serve both bitnesses, in the 64-bit compiler's own folder.
pub const KERNEL_HEADERS: [&str; 2] = ["-idirafter", "/usr/include/x86_64-linux-gnu"];

//! Any bytes as the file of a Linux kernel (bzImage, vmlinux, package), and as a program that is stripped.
#![no_main]

use libfuzzer_sys::fuzz_target;
use linux::{Kernel, Load, stripped};

fuzz_target!(|bytes: &[u8]| {
    let short = stripped(bytes);
    assert!(short.len() <= bytes.len() && stripped(&short) == short, "stripped in one go");
    match Kernel::parse(bytes.to_vec(), &std::sync::atomic::AtomicBool::new(false)) {
        Ok(kernel) => whole(&kernel),
        Err(why) => plain(&why.to_string()),
    }
});

/// What holds of any kernel that was read.
fn whole(kernel: &Kernel) {
    assert!(kernel.load == Load::Compressed || kernel.bytes.starts_with(b"\x7fELF"), "a vmlinux");
    assert!(!kernel.release.contains('/'), "a release becomes a part of a file's name");
    plain(&kernel.release);
    plain(&kernel.banner);
    for found in &kernel.alternatives {
        assert!(found.length > 0 && found.replacement.len() <= found.length, "{found:?}");
    }
}

fn plain(text: &str) {
    assert_eq!(text.chars().find(|c| c.is_control()), None, "{text:?}");
}

//! Any bytes as the file of a Linux kernel (bzImage, vmlinux, package), and as a program that is stripped.

use linux::{Kernel, Load, stripped};

pub fn run(bytes: &[u8]) {
    let short = stripped(bytes);
    assert!(short.len() <= bytes.len() && stripped(&short) == short, "stripped in one go");
    parsed(bytes);
    // What the checksum would keep from everything behind it.
    if let Some(whole) = with_checksum(bytes) {
        parsed(&whole);
    }
}

fn parsed(bytes: &[u8]) {
    match Kernel::parse(bytes.to_vec(), &std::sync::atomic::AtomicBool::new(false)) {
        Ok(kernel) => whole(&kernel),
        Err(why) => plain(&why.to_string()),
    }
}

/// A bzImage with the length in its header and the checksum at its end that a kernel's build would have put there; none of anything else.
pub fn with_checksum(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.get(0x202..0x206) != Some(b"HdrS") {
        return None;
    }
    let setup = (usize::from(bytes[0x1f1]) + 1) * 512;
    let behind = bytes.len().checked_sub(setup)?;
    let mut whole = bytes.to_vec();
    whole.resize(setup + behind.next_multiple_of(16) + 12, 0);
    let paragraphs = (whole.len() + 4 - setup) as u32 / 16;
    whole[0x1f4..0x1f8].copy_from_slice(&paragraphs.to_le_bytes());
    whole.extend(crc32fast::hash(&whole).to_le_bytes().map(|byte| !byte));
    Some(whole)
}

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

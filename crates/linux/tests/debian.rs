//! Debian's kernels, as far as `scripts/kernels.sh` has fetched them.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

#[path = "../../../tests/skipped.rs"]
mod skipped;

use linux::{Kernel, Load, find};
use object::LittleEndian as LE;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, ProgramHeader};
use skipped::skipped;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

fn parse(bytes: Vec<u8>) -> Result<Kernel, linux::Why> {
    Kernel::parse(bytes, &AtomicBool::new(false))
}

fn read(file: &Path) -> Result<Kernel, linux::Error> {
    Kernel::read(file, &AtomicBool::new(false))
}

/// Features, as `arch/x86/include/asm/cpufeatures.h` numbers them.
const PTI: u16 = 7 * 32 + 11;
const SMAP: u16 = 9 * 32 + 20;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/guest")
}

fn kernels() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_kernel = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("vmlinuz-");
    entries.filter(is_kernel).collect()
}

fn bytes_at(kernel: &Kernel, address: u64, length: u64) -> &[u8] {
    let header = FileHeader64::<LE>::parse(&*kernel.bytes).unwrap();
    let segments = header.program_headers(LE, &*kernel.bytes).unwrap();
    segments.iter().find_map(|segment| segment.data_range(LE, &*kernel.bytes, address, length).ok()?).unwrap()
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn debians_kernels_are_read_whole() {
    let files = kernels();
    if files.is_empty() {
        return skipped("no kernels here (scripts/kernels.sh fetches them)");
    }
    for file in files {
        let kernel = read(&file).unwrap();
        assert_eq!(file.file_name().unwrap().to_str().unwrap(), format!("vmlinuz-{}", kernel.release));
        assert!(
            kernel.banner.starts_with(&format!("Linux version {} (", kernel.release)),
            "{}",
            kernel.banner
        );
        assert_eq!(kernel.load, Load::Direct);
        makes_sense(&kernel);
    }
}

/// The length that a kernel's header says, less what signs it.
fn length_of(file: &[u8]) -> usize {
    let paragraphs = u32::from_le_bytes(file[0x1f4..0x1f8].try_into().unwrap()) as usize;
    (usize::from(file[0x1f1]) + 1) * 512 + paragraphs * 16
}

#[test]
fn a_debian_kernel_without_its_last_byte_was_taken_for_whole() {
    let files = kernels();
    if files.is_empty() {
        return skipped("no kernels here (scripts/kernels.sh fetches them)");
    }
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let unsigned = length_of(&bytes);
        assert!(unsigned <= bytes.len(), "{}", file.display());
        for length in [bytes.len() - 1, unsigned - 1, unsigned / 2] {
            let why = parse(bytes[..length].to_vec()).unwrap_err();
            let expected = "it is damaged: its end is missing; copy or download it again";
            assert_eq!(why.to_string(), expected, "{}", file.display());
        }
    }
}

/// Names the kernel for the test that runs itself again with little memory.
const SHORT: &str = "KENTRY_TEST_KERNEL";

#[test]
fn a_lack_of_memory_was_the_kernels_fault_or_a_panic() {
    if let Some(file) = std::env::var_os(SHORT) {
        println!("{:?}", read(Path::new(&file)).map(|kernel| kernel.release).map_err(|error| error.why));
        return;
    }
    let files = kernels();
    if files.is_empty() {
        return skipped("no kernels here (scripts/kernels.sh fetches them)");
    }
    for file in files {
        let mut command = std::process::Command::new("bash");
        command.args(["-c", "ulimit -v 64000; exec \"$@\"", "bash"]).arg(std::env::current_exe().unwrap());
        command.args(["--exact", "--nocapture", "a_lack_of_memory_was_the_kernels_fault_or_a_panic"]);
        let output = command.env(SHORT, &file).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("Err(Memory)"), "{}: {output:?}", file.display());
    }
}

/// What boot patches is what is known to be patched so: user memory is opened and closed by STAC and CLAC, and a
/// jump leads around isolation.
fn makes_sense(kernel: &Kernel) {
    let of = |feature| {
        kernel.alternatives.iter().filter(move |found| found.feature == feature && !found.when_absent)
    };
    assert!(of(SMAP).count() > 100 && of(PTI).count() > 5);
    // (or a jump around that is removed)
    for found in of(SMAP).filter(|found| !found.replacement.is_empty()) {
        assert!(
            has(&found.replacement, &[0x0f, 0x01, 0xca]) || has(&found.replacement, &[0x0f, 0x01, 0xcb]),
            "{found:x?}"
        );
    }
    let jumps = |address| matches!(bytes_at(kernel, address, 1)[0], 0xe9 | 0xeb);
    assert!(
        of(PTI).any(|found| found.replacement.is_empty() && jumps(found.address)),
        "nothing jumps over isolation"
    );
}

#[test]
fn the_newest_of_them_is_found() {
    let Some(newest) = kernels().into_iter().find(|file| file.to_str().unwrap().contains("-6.12.")) else {
        return skipped("no kernels here (scripts/kernels.sh fetches them)");
    };
    let found = find(&folder()).unwrap();
    assert!(
        found.to_str().unwrap().contains("vmlinuz-6.12."),
        "{} and not {}",
        found.display(),
        newest.display()
    );
}

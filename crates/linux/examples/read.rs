//! Prints what is known of kernels: `cargo run -p linux --example read FILE…`

use linux::Kernel;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn main() {
    for file in std::env::args_os().skip(1) {
        let started = std::time::Instant::now();
        match Kernel::read(Path::new(&file), &AtomicBool::new(false)) {
            Ok(kernel) => println!(
                "{} ({:?})\n  {}\n  {:?}, {} bytes; {} alternatives, text at {:x?}; {:.1?}",
                kernel.release,
                kernel.file,
                kernel.banner,
                kernel.load,
                kernel.bytes.len(),
                kernel.alternatives.len(),
                kernel.text,
                started.elapsed()
            ),
            Err(error) => println!("{error}"),
        }
    }
}

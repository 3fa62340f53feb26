//! Packs a program with what it needs: `cargo run -p linux --example pack PROGRAM >archive.cpio`. A kernel that is given the
//! archive, with the parameter `rdinit=PROGRAM`, runs it.

use linux::Archive;
use std::io::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::args_os().nth(1).ok_or("usage: pack PROGRAM >archive.cpio")?;
    let mut archive = Archive::default();
    archive.add_device("/dev/console", 5, 1);
    archive.add_program(Path::new(&program))?;
    Ok(std::io::stdout().write_all(&archive.finish())?)
}

//! Packs a program with what it needs: `cargo run -p linux --example pack PROGRAM >archive.cpio`

use linux::Archive;
use std::io::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::args_os().nth(1).ok_or("usage: pack PROGRAM >archive.cpio")?;
    let mut archive = Archive::default();
    archive.add_program(Path::new(&program))?;
    Ok(std::io::stdout().write_all(&archive.finish())?)
}

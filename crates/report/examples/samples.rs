//! Writes the documents that `tests/page.sh` makes pages of to a folder: `cargo run -p report --example samples FOLDER`.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::path::PathBuf;

fn main() {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap());
    let ordinary = sample::with_rounds(sample::full());
    let documents = [
        ("later", sample::later(ordinary.clone())),
        ("ordinary", ordinary),
        ("noisy", sample::with_rounds(sample::noisy())),
        ("hybrid", sample::with_rounds(sample::hybrid())),
        ("lab", sample::lab()),
        ("hostile", sample::filled(sample::HOSTILE)),
        ("harmless", sample::filled("harmless")),
    ];
    for (name, document) in documents {
        let bytes = serde_json::to_vec(&document).unwrap();
        std::fs::write(folder.join(format!("{name}.json")), bytes).unwrap();
    }
}

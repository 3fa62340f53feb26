//! Writes the documents and bills that `tests/page.sh` makes pages and pictures of to a folder: `cargo run -p report --example samples FOLDER`.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../tests/bills/mod.rs"]
mod bills;
#[path = "../tests/sample/mod.rs"]
mod sample;

use std::path::PathBuf;

fn main() {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap());
    let ordinary = sample::with_rounds(sample::ordinary());
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
    let bills = [
        ("bill-counted", bills::counted()),
        ("bill-cycles", bills::in_cycles()),
        ("bill-shrinking", bills::shrinking()),
        ("bill-nothing", bills::nothing()),
        ("bill-many", bills::many()),
        ("bill-hostile", bills::filled(bills::HOSTILE)),
    ];
    for (name, bill) in bills {
        std::fs::write(folder.join(format!("{name}.json")), serde_json::to_vec(&bill).unwrap()).unwrap();
    }
}

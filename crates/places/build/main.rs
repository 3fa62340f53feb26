//! Compiles what runs in places, with the C compiler that `CC` names, or the system's: the probes and the lab kernel.

mod compile;
mod lab;
mod probes;

use std::path::{Path, PathBuf};
use table::Table;

fn main() {
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    for watched in ["abi", "crates/places/build", "entries.toml", "lab", "mach/stub/message.h", "probe"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    println!("cargo::rerun-if-env-changed=CC");
    if let Err(error) = Table::parse(table::SOURCE) {
        panic!("{error}");
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    probes::build(&root, &out);
    lab::build(&root, &out);
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|error| panic!("{name}, which cargo sets: {error}"))
}

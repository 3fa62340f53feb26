//! Embeds what `kentry explain` prints: for every row of the table its text and its example.

use std::fmt::Write;
use std::path::Path;
use table::Table;

fn main() {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../../docs");
    let mut out = String::from("const TEXTS: &[(&str, &str, &str)] = &[\n");
    for entry in &Table::get().entries {
        let text = root.join(format!("entries/{}.md", entry.name));
        let example = root.join(format!("examples/{}.S", entry.name));
        for file in [&text, &example] {
            println!("cargo::rerun-if-changed={}", file.display());
            assert!(
                file.exists(),
                "entries.toml has a row {}, but there is no {}",
                entry.name,
                file.display()
            );
        }
        writeln!(out, "({:?}, include_str!({text:?}), include_str!({example:?})),", entry.name)
            .expect("a String");
    }
    out.push_str("];\n");
    let target = Path::new(&std::env::var("OUT_DIR").expect("set by cargo")).join("texts.rs");
    std::fs::write(&target, out).unwrap_or_else(|e| panic!("{}: {e}", target.display()));
}

//! Takes the numbers of `abi/*.h` over into Rust, so that none is typed twice.

use std::fmt::Write;
use std::path::Path;

fn main() {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../../abi");
    let (mut out, mut features) = (String::new(), String::new());
    for header in ["record.h", "request.h", "lab.h"] {
        let path = root.join(header);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        text.lines().filter_map(constant).for_each(|(name, value)| {
            writeln!(out, "/// From `abi/{header}`.\npub const {name}: u64 = {value};").expect("a String");
            if let Some(feature) = name.strip_prefix("FEATURE_") {
                write!(features, "({value}, {:?}), ", feature.to_lowercase()).expect("a String");
            }
        });
    }
    writeln!(out, "/// Each `FEATURE_*` of `abi/lab.h`: its bit, and its name as `entries.toml` writes it.")
        .expect("a String");
    writeln!(out, "pub const FEATURES: &[(u64, &str)] = &[{features}];").expect("a String");
    let target = Path::new(&std::env::var("OUT_DIR").expect("set by cargo")).join("abi.rs");
    std::fs::write(&target, out).unwrap_or_else(|e| panic!("{}: {e}", target.display()));
}

/// `#define NAME 12` or `0x12u` or `(1u << 20)`; other lines are none of ours.
fn constant(line: &str) -> Option<(&str, u64)> {
    let (name, rest) = line.strip_prefix("#define ")?.split_once(char::is_whitespace)?;
    let value = rest.split("/*").next()?.trim().trim_start_matches('(').trim_end_matches(')');
    let number = |text: &str| {
        let text = text.trim().trim_end_matches('u');
        text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok())
    };
    match value.split_once("<<") {
        Some((base, shift)) => Some((name, number(base)? << number(shift)?)),
        None => Some((name, number(value)?)),
    }
}

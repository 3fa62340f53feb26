//! The loads of a footprint find what an entry has evicted of it: all of that, and nothing else.
//!
//! The entry is one of the test's own (`tests/footprint`), which throws so many lines out of the caches by `clflush`. A load from
//! memory takes so much longer than one from a cache that noise does not hide how many there were.

use std::path::{Path, PathBuf};
use std::process::Command;
use table::{Probe, Table, header};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles the probe's code with the test's entry.
fn compile(folder: &Path) -> PathBuf {
    let program = folder.join("footprint");
    std::fs::write(folder.join("entries.h"), header::render(Table::get(), Probe::Probe64)).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let sources =
        ["probe/footprint.c", "probe/touch.S", "tests/footprint/main.c", "tests/footprint/evicts.S"];
    let output = Command::new(compiler)
        .args(["-O2", "-fno-pic", "-no-pie", "-w", "-idirafter", "/usr/include/x86_64-linux-gnu"])
        .args(["abi", "probe", "probe/x86_64"].iter().flat_map(|i| ["-I".into(), root().join(i)]))
        .arg("-I")
        .arg(folder)
        .args(sources.map(|source| root().join(source)))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// How much dearer the entry is with a footprint of so many lines, in ticks: the median of some tries, each of which is one of samples.
fn extra(program: &Path, lines: u64, evicted: u64) -> i64 {
    let run = || {
        let output = Command::new(program).args([lines, evicted].map(|n| n.to_string())).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let [alone, among]: [i64; 2] =
            text.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap();
        among - alone
    };
    let mut tries = [(); 5].map(|()| run());
    tries.sort_unstable();
    tries[2]
}

/// Whether what is evicted shows, as it should.
///
/// The entry throws out lines of the footprint alone. To flush a line that is in no cache takes another time than one that is, and
/// whether lines that nobody touches are in one is up to the prefetchers: 112 of these made the entry cheaper by more than 16 loads cost.
fn shows(program: &Path) -> Result<(), String> {
    let [none, few, some, twice] = [0, 16, 64, 128].map(|evicted| extra(program, 256, evicted));
    let all = extra(program, 16, 16);
    let checks = [
        (some > 64 * 10, "64 lines come from memory again"),
        (none.abs() * 8 < some, "an entry that evicts nothing costs next to nothing more"),
        ((3 * some..=5 * some).contains(&(2 * twice)), "twice as many lines cost twice as much"),
        (
            (2 * some..=6 * some).contains(&(16 * few)),
            "of 256 lines, the 16 that were evicted cost more, and no others",
        ),
        ((2 * some..=6 * some).contains(&(16 * all)), "of 16 lines, 16 are evicted"),
    ];
    match checks.iter().find(|(holds, _)| !holds) {
        Some((_, what)) => {
            Err(format!("{what}: none {none}, 16 {few}, 64 {some}, 128 {twice}, all of 16 {all} ticks"))
        }
        None => Ok(()),
    }
}

#[test]
fn a_footprint_costs_what_was_evicted_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path());
    // Company on the core is in single tries; a footprint that is wrong is wrong in all.
    let tries = (0..10).map(|_| shows(&program));
    let mut failed = Vec::new();
    for one in tries {
        match one {
            Ok(()) => return,
            Err(why) => failed.push(why),
        }
    }
    panic!("{}", failed.join("\n"));
}

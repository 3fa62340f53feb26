//! `kentry bill --beside-linux`: in the profile of a kernel's version, the lab executes the assembler's part of that kernel's path,
//! instruction by instruction, in kind.

use crate::qemu;
use crate::skipped::skipped;
use crate::whole::is_whole;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Entries that come by different ways: all of them in the newest kernel, in older ones the first two, or with `KENTRY_WHOLE=1` all.
const ROWS: [[&str; 2]; 4] = [
    ["syscall-x86_64", "getppid"],
    ["page-fault", "minor-fault"],
    ["int80-x86_64", "getppid"],
    ["sysenter-i386", "getppid"],
];

/// One of those that share all but a few instructions with a page fault (`int3` and `div0` are others), in the newest.
const EXCEPTION: [&str; 4] = ["--entry", "ud", "--operation", "getppid"];

fn kentry(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.args(arguments).env("XDG_DATA_HOME", std::env::temp_dir()).output().unwrap()
}

/// Of each series that scripts/kernels.sh has fetched, one for cloud machines and one for any, in the order of versions.
fn kernels() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/guest");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    let version = |path: &Path| {
        let release = path.file_name()?.to_str()?.strip_prefix("vmlinuz-")?.to_owned();
        environment::version(&release)
    };
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let is_for_cloud = |path: &Path| path.to_string_lossy().contains("-cloud-");
    let of_series: BTreeMap<_, PathBuf> =
        files.into_iter().filter_map(|path| Some(((version(&path)?, is_for_cloud(&path)), path))).collect();
    of_series.into_values().collect()
}

/// Those of other suites that scripts/oracle.sh has fetched, or scripts/kernel-symbols.sh; by default none, for each takes minutes.
fn kernels_of_suites() -> Vec<PathBuf> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let folders = ["oracle", "symbols"].map(|name| oracle::kernels(&target.join(name)));
    // One folder may be both.
    let found: BTreeSet<PathBuf> = folders.into_iter().flatten().filter(|_| is_whole()).collect();
    found.into_iter().map(|folder| folder.join("kernel.deb")).collect()
}

/// Holds the lab's path beside this kernel's at no difference. How many lines both are.
fn is_the_same(kernel: &Path, what: &[&str]) -> usize {
    let fixed = ["bill", "--format", "csv", "--timeout", "500", "--beside-linux", kernel.to_str().unwrap()];
    let done = kentry(&[&fixed[..], what].concat());
    let what = format!("{} {what:?}", kernel.display());
    assert!(done.status.success(), "{what}: {}", String::from_utf8_lossy(&done.stderr));
    let lines = String::from_utf8(done.stdout).unwrap();
    let differs: Vec<&str> = lines.lines().skip(1).filter(|line| !line.starts_with("both,")).collect();
    assert!(differs.is_empty(), "{what}: {differs:#?}");
    // Without the heading.
    lines.lines().skip(1).count()
}

/// The same by the command's JSON, of an exception: by its schema, with all that CSV has no place for. How many lines both are.
fn the_document_says_the_same(kernel: &Path) -> usize {
    let fixed = ["bill", "--format", "json", "--timeout", "500", "--beside-linux", kernel.to_str().unwrap()];
    let done = kentry(&[&fixed[..], &EXCEPTION].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    let schema: Value = serde_json::from_str(include_str!("../docs/assembly.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let objections: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(objections.is_empty(), "{objections:#?}");
    let [_, entry, _, operation] = EXCEPTION;
    assert_eq!([&document["entry"], &document["operation"]], [entry, operation]);
    assert_eq!((&document["signal"], &document["is_ordered"]), (&json!("SIGILL"), &json!(true)));
    let release = document["kernel"].as_str().unwrap();
    assert!(kernel.to_str().unwrap().ends_with(release), "{release}");
    assert_eq!(document["differs"], json!({ "lab": 0, "linux": 0, "elsewhere": 0 }));
    let lines = document["instructions"].as_array().unwrap();
    assert!(lines.iter().all(|line| line["in"] == "both"), "{lines:#?}");
    // What begins with it is Linux's, and what ends with it, too.
    let [first, last] = [lines.first(), lines.last()].map(|line| &line.unwrap()["linux"]);
    assert_eq!((&first["function"], &last["text"]), (&json!("asm_exc_invalid_op"), &json!("iretq")));
    let c = document["c"].as_array().unwrap();
    assert!(
        c.iter().any(|part| part["part"] == "signal" && part["instructions"].as_u64() > Some(100)),
        "{c:?}"
    );
    // Neither PCID nor IBRS is in QEMU's model.
    let off = document["off"].as_array().unwrap();
    assert!(off.contains(&json!("pcid=keep")) || off.contains(&json!("pcid=lazy")), "{off:?}");
    lines.len()
}

#[test]
fn the_labs_assembly_is_that_of_linux_instruction_by_instruction() {
    let kernels = kernels();
    if kernels.is_empty() {
        skipped("no kernels here (scripts/kernels.sh fetches them)");
        return;
    }
    if !qemu::is_here() {
        return;
    }
    let newest = kernels.last().unwrap();
    for kernel in kernels.iter().chain(&kernels_of_suites()) {
        let rows = if kernel == newest || is_whole() { &ROWS[..] } else { &ROWS[..2] };
        for [entry, operation] in rows {
            let lines = is_the_same(kernel, &["--entry", entry, "--operation", operation]);
            assert!(lines > 60, "{} {entry}: {lines}", kernel.display());
        }
    }
    let lines = the_document_says_the_same(newest);
    assert!(lines > 80, "{}: {lines}", newest.display());
    // An AMD model, whose boot isolates nothing, and which has syscall in 32-bit programs.
    for entry in ["syscall-x86_64", "syscall-i386"] {
        let lines = is_the_same(newest, &["--cpu-model", "EPYC", "--entry", entry]);
        assert!(lines > 60, "{entry}: {lines}");
    }
    let newest = newest.to_str().unwrap();
    let explained =
        kentry(&["bill", "--follow", newest, "--timeout", "500", "--no-save", "--format", "json"]);
    assert!(explained.status.success(), "{}", String::from_utf8_lossy(&explained.stderr));
    let bill: Value = serde_json::from_slice(&explained.stdout).unwrap();
    let there = &bill["there"];
    let parts = there["parts"].as_array().unwrap();
    let of = |kind: &str| {
        let own = parts.iter().filter(|part| part["kind"] == kind);
        own.map(|part| part["figure"]["estimate"].as_f64().unwrap()).sum::<f64>()
    };
    assert_eq!(there["rest"]["estimate"], 0.0, "{there:#}");
    let [program, brought, c] = ["program", "brought", "c"].map(of);
    let figure = |name: &str| there[name]["estimate"].as_f64().unwrap();
    assert_eq!(figure("measured"), program + brought + c, "{there:#}");
    // Parameters switch off a part of the protections: isolation, thunks and the stack's offset, but not what every kernel is built with.
    let saved = figure("measured") - figure("unprotected");
    assert!(saved > 10.0 && saved < figure("protections"), "{there:#}");
    assert_eq!(there["unprotected_by"], "mitigations=off randomize_kstack_offset=off");
    let setting = |name: &str| {
        let part = parts.iter().find(|part| part["what"] == name);
        part.map_or(0.0, |part| part["figure"]["estimate"].as_f64().unwrap())
    };
    // swapgs on either side, twelve or thirteen cleared registers, and thirty pushes and pops of a frame.
    assert_eq!((program, setting("swapgs=on")), (1.0, 2.0), "{there:#}");
    assert!((12.0..=13.0).contains(&setting("clear-registers=on")), "{there:#}");
    assert!(setting("stack=frame") >= 30.0 && c > 100.0, "{there:#}");
}

#[test]
fn what_has_no_path_beside_it_is_refused_in_one_sentence() {
    for (arguments, why) in [
        (&["--beside-linux", "/nonexistent/vmlinuz"][..], "/nonexistent/vmlinuz"),
        (&["--beside-linux", "auto", "--here"], "cannot be used with"),
        (&["--follow", "auto", "--beside-linux", "auto"], "cannot be used with"),
        (&["--follow", "auto", "--accel", "kvm"], "only QEMU's emulation can be followed"),
        (
            &["--beside-linux", "auto", "--format", "svg"],
            "a path beside Linux's is written as text, json, csv or markdown",
        ),
        (&["--beside-linux", "auto", "--entry", "sycsall"], "did you mean"),
        (&["--follow", "auto", "--entry", "ud"], "Linux answers ud with SIGILL"),
    ] {
        let done = kentry(&[&["bill"], arguments].concat());
        let text = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.code() == Some(2) && text.contains(why), "{arguments:?}: {text}");
    }
}

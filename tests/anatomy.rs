//! `kentry anatomy` on a kernel that is here, and on a command line that asks for what is not.

use crate::qemu;
use crate::skipped::skipped;
use attribution::anatomy::{Difference, Document, Part, load};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn kentry(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.args(arguments).env("XDG_DATA_HOME", std::env::temp_dir()).output().unwrap()
}

/// A kernel of a distribution: `KENTRY_KERNEL`, or what scripts/kernels.sh has fetched.
fn kernel() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let fetched = || {
        let files = std::fs::read_dir(root.join("target/guest")).ok()?;
        let mut names: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        names.sort();
        // The oldest: the one of which others are histories.
        names.into_iter().find(|path| path.to_string_lossy().contains("/vmlinuz-"))
    };
    let found = std::env::var_os("KENTRY_KERNEL").map(PathBuf::from).or_else(fetched);
    if found.is_none() {
        skipped("no kernels here (scripts/kernels.sh fetches them)");
    }
    found.filter(|_| qemu::is_here())
}

fn followed(kernel: &Path, arguments: &[&str]) -> Document {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("anatomy.json");
    let (kernel, output) = (kernel.to_str().unwrap(), file.to_str().unwrap());
    let fixed = ["anatomy", "--kernel", kernel, "--beside", "none", "--timeout", "500", "--output", output];
    let done = kentry(&fixed.iter().chain(arguments).copied().collect::<Vec<_>>());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    load(&std::fs::read_to_string(&file).unwrap()).unwrap()
}

#[test]
fn a_call_is_followed_named_and_agrees_with_its_count() {
    let Some(kernel) = kernel() else { return };
    let document = followed(&kernel, &["syscall", "--append", "pti=off", "--against", "pti=on"]);
    let [off, on] = document.paths.as_slice() else { panic!("{} paths", document.paths.len()) };
    for path in [off, on] {
        assert_eq!(path.agrees, Some(true), "{:?} and {}", path.counted, path.cost());
        let other = path.anatomy.instructions.iter().filter(|one| one.part == Part::Other).count();
        assert!(other * 50 <= path.anatomy.instructions.len(), "{other}");
    }
    let difference = Difference::of(&off.anatomy, &on.anatomy);
    let parts = difference.parts(&off.anatomy, &on.anatomy);
    let parts: Vec<&str> = parts.iter().map(|(part, _)| part.name()).collect();
    assert_eq!(parts, ["pti", "pcid"]);
    // Another boot of the same executes the same.
    let again = followed(&kernel, &["syscall", "--append", "pti=on"]);
    assert_eq!(again.paths[0].anatomy, on.anatomy);
}

#[test]
fn what_is_not_there_is_said_in_one_sentence() {
    let refused = |arguments: &[&str]| {
        let done = kentry(&[&["anatomy"], arguments].concat());
        let text = String::from_utf8(done.stderr).unwrap();
        assert_eq!(text.trim_end().lines().count(), 1, "{text}");
        (done.status.code().unwrap(), text)
    };
    let (code, text) = refused(&["sycsall"]);
    assert!(code == 2 && text.contains("did you mean"), "{text}");
    let (code, text) = refused(&["syscall", "--kernel", "/nonexistent/vmlinuz"]);
    assert!(code == 2 && text.contains("/nonexistent/vmlinuz"), "{text}");
    let (code, text) = refused(&["syscall", "--beside", "linux-6.2"]);
    assert!(code == 2 && text.contains("did you mean linux-6.1"), "{text}");
    let (code, text) = refused(&["syscall", "--dry-run", "--format", "svg"]);
    assert!(code == 2 && text.contains("--format svg: a plan is written as text or json"), "{text}");
}

#[test]
fn a_plan_is_printed_without_a_kernel() {
    let against = ["--against", "pti=on", "--against-kernel", "vmlinuz-6.12"];
    let done = kentry(&[&["anatomy", "int80-i386", "--dry-run"], &against[..]].concat());
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success() && text.contains("pti=on") && text.contains("int80-i386"), "{text}");
    assert!(text.starts_with("1 row in 2 configurations") && text.contains("vmlinuz-6.12"), "{text}");
    let said = |more: &[&str]| {
        let done = kentry(&[&["anatomy", "int80-i386", "--dry-run"], more].concat());
        String::from_utf8(done.stderr).unwrap()
    };
    assert!(said(&[]).contains("kentry's own kernel boots, too;"), "{}", said(&[]));
    assert_eq!(said(&["--beside", "none"]), "");
    let done = kentry(&["anatomy", "syscall-x32", "--dry-run"]);
    assert!(done.status.success() && done.stderr.is_empty(), "the lab has no x32");
}

#[test]
fn a_format_of_anatomies_is_refused_for_what_is_none() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/document/ordinary.json");
    for format in ["tree", "parts", "listing", "folded"] {
        let done = kentry(&["show", run.to_str().unwrap(), "--format", format]);
        let why = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.code() == Some(2) && done.stdout.is_empty(), "{why}");
        assert!(
            why.contains("is a run, which is written as text, .json, .csv, .md and .ndjson")
                && why.contains(&format!("and not as {format}; `kentry anatomy` ")),
            "{why}"
        );
    }
}

#[test]
fn parts_and_the_timer_are_explained() {
    for (name, word) in
        [("kernel-stack", "syscall"), ("timer-interrupt", "operation"), ("pti", "a part of an anatomy")]
    {
        let done = kentry(&["explain", name]);
        let text = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success() && text.contains(word), "{name}: {text}");
    }
}

#[test]
fn a_saved_anatomy_is_shown_and_quoted() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/anatomy/two.json");
    let file = file.to_str().unwrap();
    let shown = |arguments: &[&str]| {
        let done = kentry(arguments);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(shown(&["show", file]).contains("getppid through syscall-x86_64"));
    assert!(shown(&["show", file, "--all"]).contains("\n3 program "), "each instruction with its ring");
    assert!(shown(&["show", file, "--verbose"]).contains("   own   share  function\n"));
    assert!(shown(&["show", file, "--format", "tree"]).contains("function\n"));
    assert!(shown(&["show", file, "--format", "parts"]).contains("known by"));
    assert!(
        shown(&["show", file, "--format", "listing", "--verbose"]).contains(" 480f07 "),
        "sysret's bytes"
    );
    assert!(shown(&["show", file, "--format", "folded"]).contains("entry_SYSCALL_64 "));
    assert!(shown(&["show", file, "--format", "svg"]).starts_with("<svg"));
    let folder = tempfile::tempdir().unwrap();
    let folded = folder.path().join("a.folded");
    shown(&["show", file, "--output", folded.to_str().unwrap()]);
    assert!(std::fs::read_to_string(&folded).unwrap().contains("entry_SYSCALL_64 "));
    assert!(shown(&["explain", "syscall", "--anatomy", file]).contains("## In Linux 6.1, pti=on"));
    let refused = kentry(&["explain", "int80-i386", "--anatomy", file]);
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
}

#[test]
fn saved_anatomies_are_compared() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(root.join("anatomy/two.json")).unwrap();
    // Each of its two paths in a file of its own, the second of another kernel.
    let mut alone = [0, 1].map(|place| {
        let mut document = load(&text).unwrap();
        document.paths = vec![document.paths.remove(place)];
        document
    });
    alone[1].paths[0].configuration.release = "6.12".into();
    let save = |name: &str, document: &Document| {
        let file = folder.path().join(name);
        std::fs::write(&file, serde_json::to_string(document).unwrap()).unwrap();
        file.to_str().unwrap().to_string()
    };
    let [base, new] = [save("base.json", &alone[0]), save("new.json", &alone[1])];
    let done = kentry(&["compare", &base, &new]);
    let shown = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success() && shown.contains("6.1 → 6.12: "), "{shown}");
    assert!(shown.contains("xchg %ax, %ax"), "{shown}");
    let done = kentry(&["compare", &base, &new, "--format", "json"]);
    let joined = load(&String::from_utf8(done.stdout).unwrap()).unwrap();
    assert_eq!(joined.paths.len(), 2);
    alone[1].paths[0].anatomy.operation = "none".into();
    let other = save("other.json", &alone[1]);
    let run = root.join("document/ordinary.json");
    for (arguments, code, why) in [
        (&["compare", &base, &other][..], 3, "is not comparable with"),
        (&["compare", &base, run.to_str().unwrap()][..], 2, "an anatomy is compared with an anatomy"),
        (
            &["compare", &base, &new, "--format", "junit"][..],
            2,
            "a comparison of anatomies is written as text, json",
        ),
        (&["compare", &base, &new, "--entry", "syscall"][..], 2, "leave out --entry"),
        (&["compare", &base, &new, "--fail-above", "3%"][..], 2, "no gate judges them"),
    ] {
        let done = kentry(arguments);
        let text = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.code() == Some(code) && text.contains(why), "{arguments:?}: {text}");
        assert!(text.lines().count() == 1 && done.stdout.is_empty(), "{arguments:?}: {text}");
    }
}

#[test]
fn two_kernels_are_put_against_each_other() {
    let Some(kernel) = kernel() else { return };
    let other = kernel.parent().unwrap().read_dir().unwrap().flatten().map(|file| file.path());
    let series = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.strip_prefix("vmlinuz-").map(|release| release.split('.').take(2).collect::<Vec<_>>().join("."))
    };
    let own = series(&kernel);
    let Some(other) = other.filter(|path| series(path).is_some_and(|found| Some(found) != own)).min() else {
        skipped("no kernel of another series here (scripts/kernels.sh fetches one on Debian 12)");
        return;
    };
    let document = followed(&kernel, &["syscall", "--against-kernel", other.to_str().unwrap()]);
    let [old, new] = document.paths.as_slice() else { panic!("{} paths", document.paths.len()) };
    assert_ne!(old.configuration.release, new.configuration.release);
    for path in [old, new] {
        assert_eq!(path.agrees, Some(true), "{:?} and {}", path.counted, path.cost());
        let named =
            path.anatomy.instructions.iter().filter(|one| one.function_name() == "do_syscall_64").count();
        assert!(named > 10, "by its own symbols: {named}");
    }
    let difference = Difference::between(old, new);
    let whole = difference.total(&old.anatomy, &new.anatomy);
    assert!(whole.more > 0 && 2 * whole.more < whole.second, "{whole:?}");
    let refused = kentry(&[
        "anatomy",
        "syscall",
        "--kernel",
        kernel.to_str().unwrap(),
        "--against-kernel",
        kernel.to_str().unwrap(),
    ]);
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && why.contains("both boots would be the same"), "{why}");
}

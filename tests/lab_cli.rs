//! `kentry lab` as it is called: arguments, exit codes and messages, with a script in QEMU's place; and with QEMU itself,
//! where that is installed.

use crate::bytes::{configuration, defaults, record, words};
use crate::qemu;
use crate::skipped::skipped;
use record::abi;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use table::{Kernel, Table};
use tempfile::TempDir;

/// Runs the command with this folder as the only place for programs.
fn kentry(path: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kentry")).args(arguments).env("PATH", path).output().unwrap()
}

fn here(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kentry")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn written(descriptor: u64, bytes: &[u8]) -> Vec<u8> {
    [&descriptor.to_le_bytes()[..], bytes].concat()
}

/// A session of one program, which writes to both its descriptors and then ends so.
fn session(how: u64, detail: [u64; 4]) -> Vec<u8> {
    session_with(&[], how, detail)
}

/// So many bytes of a session are its kernel's boot and configuration, and no whole program.
const UP: usize = 676;

/// The same of a kernel that was asked for these values.
fn session_with(set: &[(&str, &str)], how: u64, detail: [u64; 4]) -> Vec<u8> {
    let mut boot = [0; abi::LAB_BOOT_WORDS as usize];
    boot[abi::LAB_BOOT_KERNEL_VERSION as usize] = abi::LAB_VERSION;
    boot[abi::LAB_BOOT_TSC_INVARIANT as usize] = 1;
    let [a, b, c, d] = detail;
    let mut values = defaults(0);
    let found = [(abi::RECORD_LAB_BOOT, words(&boot)), (abi::RECORD_LAB_CONFIGURED, configuration(&values))];
    values.extend(set.iter().map(|(name, value)| (name.to_string(), value.to_string())));
    let asked = (!set.is_empty()).then(|| (abi::RECORD_LAB_CONFIGURED, configuration(&values)));
    let ran: [(u64, Vec<u8>); 6] = [
        (abi::RECORD_LAB_BEGIN, words(&[0])),
        (abi::RECORD_LAB_OUTPUT, written(1, b"to standard output\0\xff\n")),
        (abi::RECORD_LAB_OUTPUT, written(2, b"to standard error\n")),
        (abi::RECORD_LAB_LOG, b"a call that is not there".to_vec()),
        (abi::RECORD_LAB_END, words(&[0, how, a, b, c, d])),
        (abi::RECORD_LAB_DONE, Vec::new()),
    ];
    found
        .iter()
        .chain(&asked)
        .chain(&ran)
        .zip(0..)
        .flat_map(|((kind, payload), sequence)| record(sequence, *kind, (0, 0), payload))
        .collect()
}

/// A folder with a `qemu-system-x86_64` that runs this script, in which `$STREAM` is a file with these bytes, and
/// a program for it, `program`.
fn with_qemu(script: &str, stream: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (qemu, tape) = (folder.path().join("qemu-system-x86_64"), folder.path().join("stream"));
    std::fs::write(&tape, stream).unwrap();
    std::fs::write(folder.path().join("program"), b"\x7fELF").unwrap();
    let version = "case $1 in --version) echo QEMU emulator version 1; exit;; esac";
    let text = format!("#!/bin/sh\nPATH=/usr/bin:/bin\nSTREAM={}\n{version}\n{script}\n", tape.display());
    // Written by a child: a file that another thread's child still has open for writing cannot be executed.
    let mut writer = Command::new("sh");
    writer.args(["-c", "printf '%s' \"$1\" >\"$2\" && chmod 755 \"$2\"", "sh", &text]).arg(&qemu);
    assert!(writer.status().unwrap().success());
    assert_eq!(std::fs::metadata(&qemu).unwrap().permissions().mode() & 0o777, 0o755);
    folder
}

/// Runs the program in the folder, with these options before and words after it.
fn execute(folder: &TempDir, options: &[&str], words: &[&str]) -> Output {
    let program = folder.path().join("program");
    let head = [&["lab", "--accel", "tcg"], options, &["--exec", program.to_str().unwrap()]].concat();
    kentry(folder.path(), &[&head[..], words].concat())
}

#[test]
fn a_plan_is_printed_and_nothing_started() {
    let nowhere = Path::new("/nonexistent");
    let plan =
        kentry(nowhere, &["lab", "--dry-run", "--entry", "vdso-*", "--operation", "time", "--seed", "5"]);
    let plan = text(&plan.stdout);
    assert!(
        plan.starts_with("2 rows, one configuration, 4 runs of a probe in one boot, seed 5, at most 60 s"),
        "{plan}"
    );
    assert!(plan.contains("\nlab 4\nseed 5\n"), "{plan}");
    let json =
        kentry(nowhere, &["lab", "--dry-run", "--format", "json", "--set", "pti=on", "--set", "pti=off"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len(), 2 * Table::get().rows(Kernel::Lab).count());
    assert_eq!(json["rows"][0]["configuration"]["pti"], "on");
    let hardware = kentry(nowhere, &["lab", "--dry-run", "--entry", "call", "--accel", "kvm"]);
    assert!(
        text(&hardware.stdout).contains("18 runs of a probe in 8 boots"),
        "two rounds in each, and two that describe"
    );
}

fn message(entry: &str) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/message.sh");
    Command::new(script).arg(entry).env("KENTRY", env!("CARGO_BIN_EXE_kentry")).output().unwrap()
}

/// The numbers at the ends of a text's lines that have two: without isolation and with it.
fn pairs(text: &str) -> Vec<[f64; 2]> {
    let numbers = |line: &str| {
        let words = line.split([' ', '|']).filter(|word| !word.is_empty()).rev().take(2);
        let [with, without] = words.map(|word| word.parse().ok()).collect::<Option<Vec<f64>>>()?[..] else {
            return None;
        };
        Some([without, with])
    };
    text.lines().filter_map(numbers).collect()
}

#[test]
fn the_parts_of_a_message_add_up_and_isolation_is_in_entering_alone() {
    if !qemu::is_here() {
        return;
    }
    for entry in ["syscall-x86_64", "lcall7-i386"] {
        let made = message(entry);
        let table = text(&made.stdout);
        assert!(
            made.status.success() && table.contains("instructions counted in QEMU"),
            "{}",
            text(&made.stderr)
        );
        let [traps, headers, other, whole, spaces, bytes, right] = pairs(&table)[..] else {
            panic!("{table}")
        };
        let words =
            "lab --no-save --accel tcg --personality mach --set pti=off --set pti=on -o mach_msg-rpc -e";
        let measured = here(&words.split(' ').chain([entry]).collect::<Vec<_>>());
        assert_eq!(pairs(&text(&measured.stdout)), [whole], "{}", text(&measured.stdout));
        for at in [0, 1] {
            assert_eq!(traps[at] + headers[at] + other[at], whole[at], "{table}");
        }
        assert!(traps[1] > traps[0], "{table}");
        assert!(spaces[0] < other[0], "{table}");
        for same in [headers, other, spaces, bytes, right] {
            assert!(same[0] == same[1] && same[0] > 0.0, "{table}");
        }
    }
    // What was not measured is no 0.
    let lacking = message("trapgate-x86_64");
    let why = "message.sh: no count of mach_msg-rpc-thread by trapgate-x86_64 with pti=off\n";
    assert_eq!((lacking.status.code(), text(&lacking.stderr).as_str()), (Some(1), why));
}

/// The whole that kentry counts is the one of the log; what nobody has named a part for is little.
#[test]
fn the_parts_of_a_message_by_place_are_all_that_its_row_counts() {
    if !qemu::is_here() || !has_python() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/message_parts.py");
    let parts = |entry: &str| {
        let mut command = Command::new("python3");
        command.arg(&script).args([entry, "mach_msg-rpc"]);
        command.env("KENTRY", env!("CARGO_BIN_EXE_kentry")).output().unwrap()
    };
    let made = parts("syscall-x86_64");
    let table = text(&made.stdout);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let counts = pairs(&table);
    let [parts_of_it @ .., whole] = &counts[..] else { panic!("{table}") };
    let [.., other] = parts_of_it else { panic!("{table}") };
    let words = "lab --no-save --accel tcg --personality mach --set pti=off --set pti=on -o mach_msg-rpc -e syscall-x86_64";
    let measured = here(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(pairs(&text(&measured.stdout)), [*whole], "{}", text(&measured.stdout));
    for at in [0, 1] {
        assert_eq!(parts_of_it.iter().map(|part| part[at]).sum::<f64>(), whole[at], "{table}");
        assert!(other[at] < 0.05 * whole[at], "{table}");
    }
    for (number, part) in parts_of_it.iter().enumerate() {
        let is_entry = number == 0;
        assert_eq!(part[0] != part[1], is_entry, "isolation is in entering alone: {table}");
    }
    let lacking = parts("trapgate-x86_64-of-nobody");
    assert_eq!(lacking.status.code(), Some(1), "{}", text(&lacking.stderr));
}

fn has_python() -> bool {
    let has = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has {
        skipped("there is no python3");
    }
    has
}

#[test]
fn rows_of_gnu_mach_are_measured_where_they_are_asked_for() {
    let plan = |words: &[&str]| text(&here(&[&["lab", "--dry-run"], words].concat()).stdout);
    assert!(!plan(&[]).contains("mach"), "a plain run has none of them");
    let rpc = plan(&["--personality", "mach", "--entry", "lcall7-i386", "--operation", "mach_msg-rpc"]);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let place = |wanted: &str| lines(&rpc).iter().rposition(|line| line.starts_with(wanted)).unwrap();
    // The server stands before its client, and both behind the personality.
    assert!(place("set personality=mach") < place("beside probe32 5 13 27"), "{rpc}");
    assert_eq!(place("beside probe32 5 13 27") + 1, place("run probe32 1 13 27 "), "{rpc}");
    let thread =
        plan(&["--personality", "mach", "--entry", "lcall7-i386", "--operation", "mach_msg-rpc-thread"]);
    assert!(thread.contains("\nrun probe32 1 13 33 ") && !thread.contains("beside"), "{thread}");
    let gate = plan(&["--personality", "mach", "--entry", "trapgate-i386", "--operation", "mach_print"]);
    assert!(gate.contains("\nset gate=trap personality=mach\n") && !gate.contains("beside"), "{gate}");

    for (words, why) in [
        (&["--personality", "mach", "--iso", "file"][..], "an image measures calls of Linux alone"),
        (
            &["--personality", "mach", "--set", "pti=on,personality=linux", "--listing", "lcall7-i386"],
            "--personality mach and --set personality=linux contradict each other",
        ),
        (
            &["--personality", "mach", "--dry-run", "--set", "personality=linux"],
            "--personality mach and --set personality=linux contradict each other",
        ),
        (&["--operation", "mach_print"], "`kentry lab --personality mach`"),
        (&["--personality", "hurd"], "mach"),
    ] {
        let refused = here(&[&["lab"], words].concat());
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(why) && refused.stdout.is_empty(), "{said}");
    }
}

#[test]
fn what_no_count_of_instructions_shows_is_refused() {
    let folder = with_qemu("cat \"$STREAM\"", &session(abi::LAB_END_EXITED, [0; 4]));
    let output = kentry(
        folder.path(),
        &["lab", "--accel", "tcg", "--entry", "call", "--footprint", "64", "--no-save"],
    );
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("--footprint: here instructions are counted") && said.contains("kentry measure"),
        "{said}"
    );
    assert!(output.stdout.is_empty());

    let plan = here(&["lab", "--dry-run", "--entry", "call", "--footprint", "0", "--footprint", "8,512"]);
    let plan = text(&plan.stdout);
    assert!(
        plan.contains("in 8 boots") && plan.contains(" 24 8 512 1\n") && plan.contains(" 24 0 0 1\n"),
        "{plan}"
    );
}

#[test]
fn a_seed_is_drawn_for_times_and_counts_repeat() {
    let seed = |words: &[&str]| {
        let plan = here(&[&["lab", "--dry-run", "--entry", "call"], words].concat());
        let text = text(&plan.stdout);
        text.split_once(", seed ").and_then(|(_, rest)| rest.split(',').next()?.parse::<u64>().ok()).unwrap()
    };
    assert_eq!([seed(&[]), seed(&["--accel", "tcg"])], [0, 0]);
    assert_ne!(seed(&["--accel", "kvm"]), seed(&["--accel", "kvm"]));
    assert_eq!(seed(&["--accel", "kvm", "--seed", "7"]), 7);
}

#[test]
fn what_is_missing_is_named_with_its_package() {
    let empty = tempfile::tempdir().unwrap();
    let missing = kentry(empty.path(), &["lab", "--accel", "tcg", "--entry", "call"]);
    assert_eq!(missing.status.code(), Some(3));
    let expected =
        "kentry: there is no qemu-system-x86_64 here: install it (Debian: apt install qemu-system-x86)\n";
    assert_eq!(text(&missing.stderr), expected);
    assert!(missing.stdout.is_empty());
    let bochs = kentry(empty.path(), &["lab", "--bochs", "--entry", "call"]);
    assert_eq!(bochs.status.code(), Some(3));
    assert!(text(&bochs.stderr).contains("apt install bochs "), "{}", text(&bochs.stderr));
    let image = empty.path().join("lab.iso");
    let image = kentry(empty.path(), &["lab", "--iso", image.to_str().unwrap()]);
    assert_eq!(image.status.code(), Some(3));
    assert!(text(&image.stderr).contains("grub-pc-bin"), "{}", text(&image.stderr));
    assert_eq!(std::fs::read_dir(&empty).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn an_emulator_that_will_not_have_it_says_why() {
    let folder = with_qemu("echo \"qemu: unable to find CPU model 'foo'\" >&2; exit 1", &[]);
    let refused = kentry(folder.path(), &["lab", "--accel", "tcg", "--cpu-model", "foo", "--entry", "call"]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(text(&refused.stderr).contains("unable to find CPU model 'foo'"), "{}", text(&refused.stderr));
}

#[test]
fn a_kernel_that_does_not_come_up_is_quoted() {
    let panic = "panic: this processor has no 64-bit mode";
    let stream = record(0, abi::RECORD_LAB_LOG, (0, 0), panic.as_bytes());
    let dies = with_qemu("cat $STREAM; exit 33", &stream);
    let hangs = with_qemu("cat $STREAM; exec sleep 50", &stream);
    let row = ["lab", "--accel", "tcg", "--entry", "call"];
    for (folder, options, why) in [
        (&dies, &row[..], "ended early, exit status: 33"),
        (&hangs, &row[..], "its kernel gave up"),
        (&dies, &["lab", "--accel", "tcg", "--listing", "ud"], "ended early, exit status: 33"),
    ] {
        let output = kentry(folder.path(), options);
        let words = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{words}");
        assert!(words.ends_with(&format!("{why}; before that, its kernel said: {panic}\n")), "{words}");
    }
}

#[test]
fn what_there_is_not_is_wrong_usage() {
    for (arguments, why) in [
        (&["--set", "ptii=on"][..], "did you mean pti?"),
        (&["--set", "pti=maybe"], "\"maybe\" is no value of pti, which can be off, on, trampoline"),
        (&["--set", "copy-frame=on"], "copy-frame=on requires pti=on or trampoline, and pti is off"),
        (&["--set", "cr3-writes=1001"], "a whole number from 0 to 1000"),
        (&["--set", "pti=on", "--set", "pti=on"], "the same configuration"),
        (&["--entry", "libc"], "only Linux has it"),
        (&["--entry", "trapgat-i386"], "did you mean trapgate-i386?"),
        (&["--timeout", "0"], "must be more than 0"),
        (&["--cpu-model", "help"], "not the name of a processor"),
        (&["--bochs", "--accel", "kvm"], "cannot be used with"),
        (&["--iso", "x", "--footprint", "64"], "cannot be used with"),
        (&["--footprint", "1025"], "is no number of pages from 0 to 1024"),
        (&["--footprint", "curve"], "name rows with --entry or --operation"),
        (&["--iso", "x", "--format", "json"], "cannot be used with"),
        (&["--dry-run", "--format", "csv"], "a plan is written as text or json"),
    ] {
        let output = here(&[&["lab"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(why), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_programs_output_and_exit_code_are_its_own() {
    let folder = with_qemu("cat $STREAM", &session(abi::LAB_END_EXITED, [42, 0, 0, 0]));
    let output = execute(&folder, &[], &[]);
    assert_eq!(output.status.code(), Some(42));
    assert_eq!(output.stdout, b"to standard output\0\xff\n");
    assert_eq!(text(&output.stderr), "to standard error\nkentry lab: a call that is not there\n");
}

#[test]
fn a_program_that_does_not_end_well_has_a_code_that_says_so() {
    let code = |how, detail| {
        let output = execute(&with_qemu("cat $STREAM", &session(how, detail)), &[], &[]);
        (output.status.code().unwrap(), text(&output.stderr).lines().last().unwrap().to_string())
    };
    let fault = code(abi::LAB_END_FAULT, [11, 1, 14 << 32 | 6, 0x1000]);
    let words = "kentry lab: program was ended by SIGSEGV (#PF at 0x1000, error code 0x6)";
    assert_eq!(fault, (128 + 11, words.into()));
    let refused = code(abi::LAB_END_NOT_LOADED, [8, 0, 0, 0]);
    let words = "kentry lab: program could not be loaded in the lab: ENOEXEC (Exec format error)";
    assert_eq!(refused, (126, words.into()));
    assert_eq!(code(abi::LAB_END_RUNAWAY, [7, 0, 0, 0]).0, 125);
    let set = [("pti", "on"), ("pcid", "keep")];
    let lacking = session_with(&set, abi::LAB_END_UNSUPPORTED, [5, 0, 0, 0]);
    let lacking = with_qemu("cat $STREAM", &lacking);
    let lacking = execute(&lacking, &["--set", "pti=on,pcid=on"], &[]);
    assert_eq!(lacking.status.code(), Some(125));
    assert!(text(&lacking.stderr).contains("this CPU has no PCID, which pcid=keep requires"), "{lacking:?}");
    assert_eq!(code(77, [0; 4]).0, 125);
    let otherwise = session_with(&[("pti", "trampoline")], abi::LAB_END_EXITED, [0; 4]);
    let otherwise = execute(&with_qemu("cat $STREAM", &otherwise), &["--set", "pti=on"], &[]);
    let why = "is not configured as it was asked: it has pti=trampoline, and was asked for on";
    assert!(text(&otherwise.stderr).contains(why) && otherwise.status.code() == Some(125), "{otherwise:?}");
}

#[test]
fn a_guest_that_has_no_time_left_is_partial_and_no_success() {
    let whole = session(abi::LAB_END_EXITED, [0; 4]);
    let hangs = with_qemu(&format!("head -c {UP} $STREAM; exec sleep 50"), &whole);
    let words = ["lab", "--accel", "tcg", "--entry", "call", "--timeout", "3", "--format", "json"];
    let output = kentry(hangs.path(), &words);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["measurement"]["partial"], true);
    let findings = json["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["id"] == "guest-ended"), "{findings:?}");
}

#[test]
fn failures_of_kentry_itself_are_125() {
    let whole = session(abi::LAB_END_EXITED, [0; 4]);
    let code = |output: Output| (output.status.code().unwrap(), text(&output.stderr));
    let hangs = with_qemu(&format!("head -c {UP} $STREAM; exec sleep 50"), &whole);
    let (number, words) = code(execute(&hangs, &["--timeout", "0.5"], &[]));
    assert_eq!(number, 125);
    assert!(words.contains("did not finish within 0.5 s"), "{words}");
    let dies = with_qemu("echo 'out of memory' >&2; exit 1", &whole);
    let (number, words) = code(execute(&dies, &[], &[]));
    assert!(number == 125 && words.contains("out of memory"), "{number} {words}");
    let cut = with_qemu(&format!("head -c {UP} $STREAM"), &whole);
    assert_eq!(code(execute(&cut, &[], &[])).0, 125);
    let garbage = with_qemu("head -c 300 /dev/urandom", &whole);
    assert_eq!(code(execute(&garbage, &[], &[])).0, 125);
    let well = with_qemu("cat $STREAM", &whole);
    assert_eq!(code(execute(&well, &["--set", "pti=on", "--set", "pti=off"], &[])).0, 125);
    assert_eq!(code(execute(&well, &["--set", "pti=maybe"], &[])).0, 125);
    assert_eq!(code(execute(&well, &["--teleport"], &[])).0, 125);
    assert_eq!(code(execute(&well, &["--entry", "call"], &[])).0, 125);
    let empty = tempfile::tempdir().unwrap();
    let program = well.path().join("program");
    let missing = kentry(empty.path(), &["lab", "--accel", "tcg", "--exec", program.to_str().unwrap()]);
    assert_eq!(missing.status.code(), Some(125));
    assert_eq!(here(&["lab", "--exec", "/nonexistent/program"]).status.code(), Some(127));
    assert_eq!(here(&["lab", "--exec", "/"]).status.code(), Some(126));
}

#[test]
fn everything_behind_the_program_belongs_to_it() {
    // Says which line of the plan it was given, and fails.
    let script = "while [ \"$1\" != -initrd ]; do shift; done; grep -a '^exec' \"$2\" >&2; exit 1";
    let folder = with_qemu(script, &[]);
    let output = execute(&folder, &["--set", "pti=on"], &["--set", "x", "--", "--help", "a b", "-v", "100%"]);
    let said = text(&output.stderr);
    assert!(said.contains("exec program --set x -- --help a%20b -v 100%25"), "{said}");
}

/// Runs the program in the folder with this standard input.
fn execute_with(folder: &TempDir, options: &[&str], input: Stdio) -> Output {
    let program = folder.path().join("program");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.args(["lab", "--accel", "tcg"]).args(options).arg("--exec").arg(program);
    command.env("PATH", folder.path()).stdin(input).output().unwrap()
}

#[test]
fn standard_input_is_in_the_archive() {
    let script = "while [ \"$1\" != -initrd ]; do shift; done; grep -ac 'a line of input' \"$2\" >&2; exit 1";
    let folder = with_qemu(script, &[]);
    let file = folder.path().join("input");
    std::fs::write(&file, "a line of input\n").unwrap();
    let output = execute_with(&folder, &[], std::fs::File::open(&file).unwrap().into());
    assert!(text(&output.stderr).contains("ended early, exit status: 1: 1"), "{}", text(&output.stderr));
    let none = execute_with(&folder, &[], Stdio::null());
    assert!(text(&none.stderr).contains("ended early, exit status: 1: 0"), "{}", text(&none.stderr));
}

#[test]
fn standard_input_without_an_end_is_refused_in_words() {
    let folder = with_qemu("exit 1", &[]);
    let endless = execute_with(&folder, &[], std::fs::File::open("/dev/zero").unwrap().into());
    assert_eq!(endless.status.code(), Some(125));
    assert!(text(&endless.stderr).contains("longer than 64 MiB"), "{}", text(&endless.stderr));
    // Somebody has the other end open, and writes nothing.
    let (reader, _writer) = std::io::pipe().unwrap();
    let silent = execute_with(&folder, &["--timeout", "0.3"], reader.into());
    assert_eq!(silent.status.code(), Some(125));
    assert!(text(&silent.stderr).contains("add </dev/null"), "{}", text(&silent.stderr));
}

#[test]
fn exceptions_serve_when_asked_to() {
    let script = "while [ \"$1\" != -initrd ]; do shift; done; grep -a '^run\\|^exec' \"$2\" >&2; exit 1";
    let folder = with_qemu(script, &[]);
    let plan = |options: &[&str]| text(&execute(&folder, options, &["word"]).stderr);
    assert!(plan(&["--serve-exceptions"]).contains("run program word"));
    assert!(plan(&[]).contains("exec program word"));
    assert_eq!(here(&["lab", "--serve-exceptions"]).status.code(), Some(2), "without --exec");
    // Who forgets it is told.
    let detail = [4, 2, 6 << 32, 0x1000];
    let ended = with_qemu("cat $STREAM", &session(abi::LAB_END_FAULT, detail));
    let output = execute(&ended, &[], &[]);
    assert_eq!(output.status.code(), Some(128 + 4));
    assert!(text(&output.stderr).contains("--serve-exceptions before --exec"), "{}", text(&output.stderr));
    let served = execute(&ended, &["--serve-exceptions"], &[]);
    assert!(!text(&served.stderr).contains("--serve-exceptions"), "{}", text(&served.stderr));
}

#[test]
fn help_and_manual_page_name_the_exit_codes() {
    let help = text(&here(&["lab", "--help"]).stdout);
    for word in ["--set", "--accel", "--bochs", "--iso", "--exec", "125", "128 + n"] {
        assert!(help.contains(word), "{word}");
    }
    let start = |name: &str| format!("    {name} ");
    let switch = |name: &str| help.lines().find(|line| line.starts_with(&start(name))).unwrap();
    assert!(
        switch("pti").ends_with("  [off] on trampoline") && switch("rsb").ends_with("  0 to 64 [0]"),
        "{help}"
    );
    for known in &Table::get().switches {
        assert!(switch(&known.name).contains(&format!("[{}]", known.default)), "{}", known.name);
    }
    assert!(text(&here(&["man", "lab"]).stdout).contains("bochs"));
    assert!(text(&here(&["completions", "bash"]).stdout).contains("--cpu-model"));
}

#[test]
fn a_listing_is_of_one_entry_that_has_a_path() {
    for (arguments, why) in [
        (&["--listing", "call"][..], "call executes nothing of the kernel; "),
        (&["--listing", "ud*"], "--listing shows one entry, and ud* stands for ud, ud-i386"),
        (&["--listing", "sysenter-i38"], "did you mean sysenter-i386?"),
        (
            &["--listing", "ud", "--set", "pti=on", "--set", "pti=off", "--set", "smap=off"],
            "two --set at most",
        ),
        (&["--listing", "ud", "--entry", "ud"], "cannot be used with"),
        (&["--listing", "ud", "--format", "json"], "cannot be used with"),
    ] {
        let output = here(&[&["lab", "--accel=tcg"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(why), "{arguments:?}: {}", text(&output.stderr));
    }
}

/// Its code is the same whatever the switches, and no guest is needed for it.
#[test]
fn a_listing_of_code_for_programs_is_of_what_the_kernels_page_has() {
    let listing = |entry: &str| {
        let output = here(&["lab", "--lab-kernel=i386", "--accel=tcg", "--listing", entry]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    for (entry, answer, back) in [
        ("conforming", "8c c8", "cb"),
        ("jmp-gate", "8c c8", "ff 6d 00"),
        ("jmp-gate-16", "8c c8", "ff 6d 00"),
    ] {
        let listed = listing(entry);
        let lines: Vec<&str> = listed.lines().filter(|line| line.starts_with("  ")).collect();
        let [first, second] = lines[..] else { panic!("{listed}") };
        let bytes = |line: &str| line.trim().split("  ").nth(1).unwrap_or_default().to_string();
        assert_eq!([bytes(first), bytes(second)], [answer, back], "{listed}");
        assert!(
            listed.starts_with(&format!("{entry}, in the kernel's page for programs: 2 instructions, ")),
            "{listed}"
        );
    }
    let output = here(&["lab", "--lab-kernel=i386", "--accel=tcg", "--listing", "v86-int-redirected"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("v86-int-redirected executes nothing of the kernel"));
}

#[test]
fn the_listing_in_the_documentation_is_what_is_built() {
    if !qemu::is_here() {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lab.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("\n```\npath ").unwrap();
    let quoted = format!("path {}", rest.split_once("```\n").unwrap().0);
    let command = before.trim_end().lines().last().unwrap().trim();
    let words: Vec<&str> = command.strip_prefix("kentry ").unwrap().split(' ').collect();
    let output = here(&words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).trim_end(), quoted.trim_end(), "the page quotes {command}");
}

/// A task begins where its TSS says, and not in a path; what rows count of it stands in the listing all the same.
#[test]
fn a_listing_has_what_is_executed_outside_the_path() {
    if !qemu::is_here() {
        return;
    }
    for (entry, count, last) in
        [("task-16", 6, "jmpl    *path_task_16"), ("double-fault-task", 23, "jmp     double_fault_task")]
    {
        let output = here(&["lab", "--accel=tcg", "--lab-kernel=i386", "--listing", entry]);
        let listing = text(&output.stdout);
        let head = listing.lines().next().unwrap();
        assert!(
            head.trim_end().ends_with(&format!(" bytes, and {count} instructions outside the path")),
            "{head}"
        );
        let (_, beside) = listing.split_once(", outside the path\n").unwrap();
        let instructions = beside.lines().filter(|line| line.starts_with("  c0"));
        assert_eq!(instructions.count(), count, "{listing}");
        assert!(beside.lines().any(|line| line.ends_with(last)), "{listing}");
        let sides = ["--set=smap=on", "--set=smap=off"];
        let output =
            here(&[&["lab", "--accel=tcg", "--lab-kernel=i386", "--listing", entry][..], &sides].concat());
        assert!(text(&output.stdout).ends_with(beside), "{output:?}");
    }
}

#[test]
fn a_listing_has_addresses_bytes_and_steps() {
    if !qemu::is_here() {
        return;
    }
    let output = here(&["lab", "--accel=tcg", "--listing=int80-i386", "--set=cr3-writes=300"]);
    let listing = text(&output.stdout);
    assert!(listing.starts_with("path int80: ") && listing.contains("cr3-writes=300"), "{listing}");
    assert!(listing.contains("\n\nCR3: write it again and again\n  ffffffff8"), "{listing}");
    assert!(listing.contains("b9 2c 01 00 00 ") && listing.contains("mov     $0x12c, %ecx"), "{listing}");
    assert!(listing.contains(" iretq\n"), "{listing}");
    let lacking = here(&["lab", "--accel=tcg", "--listing=int80-i386", "--set=pti=on,pcid=on"]);
    assert_eq!(lacking.status.code(), Some(3));
    assert!(text(&lacking.stderr).contains("this CPU has no PCID, which pcid=keep requires"), "{lacking:?}");
}

#[test]
fn a_row_has_the_value_that_was_in_effect() {
    if !qemu::is_here() {
        return;
    }
    let smap = |words: &[&str]| {
        let head = ["lab", "--accel=tcg", "--entry=syscall-x86_64", "--operation=none", "--format=json"];
        let output = here(&[&head[..], &["--cpu-model=max,vendor=GenuineIntel,-smap"], words].concat());
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let row = &document["results"][0];
        (row["configuration"]["smap"].to_string(), row["outcome"].to_string())
    };
    assert_eq!(smap(&[]), ("\"off\"".into(), "\"ok\"".into()));
    assert_eq!(smap(&["--set=smap=on"]), ("\"on\"".into(), "\"unsupported\"".into()));
}

#[test]
fn what_is_observed_at_a_gate_is_that_of_the_rows_own_configuration() {
    if !qemu::is_here() {
        return;
    }
    let observed = |sets: &[&str]| {
        let head = ["lab", "--accel=tcg", "--entry=int80-i386", "--operation=none", "--format=json"];
        let output = here(&[&head[..], sets].concat());
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = document["results"].as_array().unwrap().iter();
        rows.map(|row| {
            let remarks = row["remarks"].to_string();
            (row["configuration"]["gate"].to_string(), remarks.contains("IF=1"), remarks.contains("IF=0"))
        })
        .collect::<Vec<_>>()
    };
    let (interrupt, trap) =
        (("\"interrupt\"".to_string(), false, true), ("\"trap\"".to_string(), true, false));
    assert_eq!(observed(&["--set=gate=trap"]), vec![trap.clone()]);
    assert_eq!(observed(&["--set=gate=interrupt"]), vec![interrupt.clone()]);
    let both = observed(&["--set=gate=trap,pti=on", "--set=gate=interrupt", "--set=gate=trap,smap=off"]);
    assert_eq!(both, [trap.clone(), interrupt, trap]);
}

#[test]
fn the_examples_of_exceptions_say_hello() {
    if !qemu::is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    for name in ["ud-i386", "lock-nop-i386", "int3-i386", "div0-i386"] {
        let hello = folder.path().join(name);
        let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
        compiler.args(["-m32", "-nostdlib", "-static", "-no-pie", "-o"]).arg(&hello);
        assert!(compiler.arg(examples.join(format!("{name}.S"))).status().unwrap().success());
        let output = here(&["lab", "--accel=tcg", "--serve-exceptions", "--exec", hello.to_str().unwrap()]);
        assert_eq!(text(&output.stdout), format!("hello through {name}\n"), "{}", text(&output.stderr));
        assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    }
}

#[test]
fn two_boots_count_the_same() {
    if !qemu::is_here() {
        return;
    }
    let arguments =
        ["lab", "--accel=tcg", "--operation=none", "--set=pti=on", "--set=pti=off", "--format=csv"];
    let (first, second) = (here(&arguments), here(&arguments));
    assert!(first.status.success(), "{}", text(&first.stderr));
    assert_eq!(text(&first.stdout), text(&second.stdout));
    assert!(text(&first.stdout).lines().filter(|line| line.contains(",ok,")).count() > 20);
}

/// Some rows need `smap=off`: behind them, the others have what the kernel had at boot, and not what the table has as the default.
#[test]
fn rows_on_a_processor_without_smap_do_not_lack_it() {
    if !qemu::is_here() {
        return;
    }
    for (of_model, least) in
        [(&["--cpu-model=core2duo"][..], 20), (&["--cpu-model=n270", "--lab-kernel=i386"], 25)]
    {
        let usual = ["lab", "--accel=tcg", "--operation=none", "--format=csv"];
        let words: Vec<&str> = usual.iter().chain(of_model).copied().collect();
        let output = here(&words);
        let rows = text(&output.stdout);
        assert!(!rows.contains("SMAP"), "{of_model:?}: {rows}");
        assert!(rows.lines().filter(|line| line.contains(",ok,")).count() >= least, "{of_model:?}: {rows}");
    }
}

#[test]
fn the_labs_document_keeps_its_contract() {
    if !qemu::is_here() {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/run.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let output = here(&["lab", "--accel=tcg", "--entry=syscall-*", "--set=smap=off,pti=on", "--format=json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let errors: Vec<_> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(document["environment"]["host"], "lab");
    assert_eq!(document["environment"]["guest"]["icount"], true);
    let configuration = document["results"][0]["configuration"].as_object().unwrap();
    assert_eq!((&configuration["smap"], &configuration["pti"]), (&"off".into(), &"on".into()));
    assert_eq!(configuration.len(), Table::get().switches.len(), "a row carries all of them");
    assert!(document["vdso"]["64"].as_array().is_some_and(|exports| !exports.is_empty()));
}

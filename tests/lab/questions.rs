//! Linux and the lab are asked the same questions (questions.def), and answer alike, except where docs/lab.md says otherwise.

use crate::build::{Program, freestanding, freestanding_with, root};
use crate::executable;
use crate::guest::{Emulator, Script};
use crate::skipped::skipped;
use places::lab::End;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const INPUT: &[u8] = b"hello";

/// Longer than the program takes by far: one that hangs is an error.
const TIME: Duration = Duration::from_secs(30);

/// The program's exit status on this Linux, and its output; none where it cannot be executed.
fn on_linux(program: &Program, input: &[u8]) -> Option<(std::process::ExitStatus, String)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(&program.name);
    executable::write(&path, &program.bytes);
    // By way of a shell, whose status says when the kernel does not execute the file.
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\""]).arg(&path);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let started = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if started.elapsed() > TIME => {
                let _ = child.kill();
                panic!("{} hangs on this Linux", program.name);
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    if status.code() == Some(126) {
        skipped(format!("{}: this kernel does not execute it", program.name));
        return None;
    }
    Some((status, output))
}

/// By question. Each is asked once.
fn answers(text: &str) -> BTreeMap<&str, &str> {
    let pairs =
        text.lines().map(|line| line.rsplit_once(": ").unwrap_or_else(|| panic!("no answer: {line}")));
    let answers: BTreeMap<_, _> = pairs.collect();
    assert_eq!(answers.len(), text.lines().count(), "a question is asked twice");
    answers
}

/// The questions that are answered differently: (question, Linux's answer, the lab's).
type Differences = Vec<(String, String, String)>;

/// The table of docs/lab.md below its heading; cells that hold names of files and the like are in backquotes.
fn documented() -> Differences {
    let text = std::fs::read_to_string(root().join("docs/lab.md")).unwrap();
    let (_, table) = text.split_once("\n| question | Linux | the lab |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cell = |text: &str| text.trim().replace('`', "");
    let mut all: Differences = rows
        .map(|row| {
            let mut cells = row.trim_matches('|').split('|').map(cell);
            (cells.next().unwrap(), cells.next().unwrap(), cells.next().unwrap())
        })
        .collect();
    all.sort();
    all
}

fn differences(linux: &str, lab: &str) -> Differences {
    let (linux, lab) = (answers(linux), answers(lab));
    let questions: Vec<_> = linux.keys().collect();
    assert_eq!(questions, lab.keys().collect::<Vec<_>>());
    let different = linux.iter().filter_map(|(question, answer)| {
        let other = lab[question];
        // What this processor lacks, nobody can answer.
        let is_asked = *answer != "not here" && other != "not here";
        (is_asked && *answer != other).then(|| (question.to_string(), answer.to_string(), other.to_string()))
    });
    different.collect()
}

fn compare(emulator: Emulator) {
    let mut script = Script::new();
    script.input(INPUT);
    let programs: Vec<_> = [64, 32]
        .map(|bits| freestanding(bits, &["questions.c", &format!("ways{bits}.S")]))
        .into_iter()
        .filter_map(|program| on_linux(&program, INPUT).map(|(status, text)| (program, status, text)))
        .collect();
    for (program, ..) in &programs {
        script.exec::<&str>(program, &[]);
    }
    let Some(session) = script.boot(emulator) else { return };
    let documented = documented();
    assert!(!documented.is_empty());
    for (ran, (program, status, linux)) in session.ran.iter().zip(&programs) {
        assert_eq!((ran.end, status.code()), (End::Exited(0), Some(0)), "{}: {}", program.name, ran.text());
        assert!(linux.lines().count() >= 300, "{}", program.name);
        assert_eq!(differences(linux, &ran.text()), documented, "{}", program.name);
    }
}

#[test]
fn linux_and_the_lab_answer_alike_with_an_intel_model() {
    compare(Emulator::TcgIntel);
}

#[test]
fn linux_and_the_lab_answer_alike_with_an_amd_model() {
    compare(Emulator::TcgAmd);
}

#[test]
fn linux_and_the_lab_answer_alike_on_bochs() {
    compare(Emulator::Bochs);
}

/// The signal that ends a program, on either.
fn signal_on_linux(program: &Program) -> Option<Option<i32>> {
    use std::os::unix::process::ExitStatusExt;
    on_linux(program, &[]).map(|(status, _)| status.signal())
}

/// What ELF files say of their stacks.
#[derive(Debug, Clone, Copy)]
enum StackNote {
    ReadWrite,
    Executable,
    Missing,
}

/// Where executes.inc has code: its stack, data, anonymous memory.
const PLACES: u8 = 3;

const PT_GNU_STACK: u32 = 0x6474_e551;

/// Changes the program header that tells of the stack.
fn with_stack_note(program: &Program, bits: u8, note: StackNote) -> Program {
    let (table_at, entry_bytes, flags_at) = if bits == 64 { (64, 56, 4) } else { (52, 32, 24) };
    let mut bytes = program.bytes.clone();
    let mut at = table_at;
    while bytes[at..at + 4] != PT_GNU_STACK.to_le_bytes() {
        at += entry_bytes;
        assert!(at < table_at + 16 * entry_bytes, "the linker wrote no PT_GNU_STACK");
    }
    match note {
        StackNote::ReadWrite => bytes[at + flags_at] = 6,
        StackNote::Executable => bytes[at + flags_at] = 7,
        StackNote::Missing => bytes[at..at + 4].fill(0),
    }
    Program { name: format!("{}-{note:?}", program.name), bytes }
}

#[test]
fn code_outside_of_code_is_executed_where_linux_executes_it() {
    let mut script = Script::new();
    let mut expected = Vec::new();
    for bits in [64, 32] {
        for place in 0..PLACES {
            let flag = format!("-DPLACE={place}");
            let mut program = freestanding_with(bits, &[&format!("executes{bits}.S")], &[&flag]);
            program.name = format!("executes-{place}-{bits}");
            for note in [StackNote::ReadWrite, StackNote::Executable, StackNote::Missing] {
                let program = with_stack_note(&program, bits, note);
                let Some(signal) = signal_on_linux(&program) else { continue };
                script.exec::<&str>(&program, &[]);
                expected.push(signal);
            }
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    // Both outcomes are seen, so the programs do what their name says.
    assert!(expected.iter().any(Option::is_none) && expected.iter().any(Option::is_some));
    for (ran, signal) in session.ran.iter().zip(expected) {
        let found = match ran.end {
            End::Exited(0) => None,
            End::Fault([signal, ..]) => Some(signal as i32),
            other => panic!("{}: {other:?}", ran.label),
        };
        assert_eq!(found, signal, "{}", ran.label);
    }
}

/// Cases of ends.c that Linux decides, and what the log says of the others.
const BY_SIGNAL: usize = 6;
const IN_WORDS: [&str; 3] = ["has a handler", "a wait for a signal", "a wait for a futex"];

#[test]
fn signals_end_what_they_end_on_linux() {
    let (mut script, mut expected) = (Script::new(), Vec::new());
    for bits in [64, 32] {
        for case in 0..BY_SIGNAL + IN_WORDS.len() {
            let flag = format!("-DCASE={case}");
            let mut program = freestanding_with(bits, &["ends.c", &format!("ways{bits}.S")], &[&flag]);
            program.name = format!("ends-{case}-{bits}");
            let on_linux = if case < BY_SIGNAL { signal_on_linux(&program) } else { Some(None) };
            let Some(signal) = on_linux else { continue };
            script.exec::<&str>(&program, &[]);
            expected.push((case, signal));
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    assert!(expected.iter().any(|(_, signal)| signal.is_some()));
    for (ran, (case, signal)) in session.ran.iter().zip(expected) {
        let found = match ran.end {
            End::Exited(0) => None,
            End::Fault([signal, ..]) => Some(signal as i32),
            other => panic!("{}: {other:?}", ran.label),
        };
        match case.checked_sub(BY_SIGNAL) {
            None => assert_eq!((found, ran.log.len()), (signal, 0), "{}: {:?}", ran.label, ran.log),
            Some(other) => {
                assert!(found.is_some() && ran.log.len() == 1, "{}: {found:?} {:?}", ran.label, ran.log);
                assert!(ran.log[0].contains(IN_WORDS[other]), "{}: {}", ran.label, ran.log[0]);
            }
        }
    }
}

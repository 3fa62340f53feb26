//! Programs that know nothing of the lab: plain C against the system's C library, linked statically, and the examples of the
//! entries that the lab alone has.

use crate::build::{Made, Program, compile, root};
use crate::guest::{Emulator, NOW, Ran, Script};
use crate::skipped::skipped;
use places::lab::End;
use table::{Kernel, Kind, Table};

const ABORTED: u64 = 6;
const SEGMENTATION_FAULT: u64 = 11;

/// Ways to link a program statically.
const VARIANTS: &[(&str, &[&str])] = &[
    ("libc-64", &["-m64", "-static"]),
    ("libc-64-pie", &["-m64", "-static-pie", "-fPIE"]),
    // Where Debian keeps the kernel's headers, for gcc without its multilib package.
    ("libc-32", &["-m32", "-static", "-idirafter", "/usr/include/x86_64-linux-gnu"]),
];

/// A program of each variant that can be linked here.
pub fn programs() -> Vec<Program> {
    static PROGRAMS: Made<&str, Result<Program, String>> = Made::new();
    let made = VARIANTS.iter().map(|(name, flags)| PROGRAMS.get(name, || program(name, flags)));
    made.filter_map(|program| program.map_err(skipped).ok()).collect()
}

/// Why not, where the C library cannot be linked so.
fn program(name: &str, flags: &[&str]) -> Result<Program, String> {
    let folder = tempfile::tempdir().unwrap();
    let trivial = folder.path().join("trivial.c");
    std::fs::write(
        &trivial,
        "#include <errno.h>\n#include <stdio.h>\nint main(void) { return puts(\"\"); }\n",
    )
    .unwrap();
    if let Err(complaint) = compile(name, flags, &[trivial]) {
        let packages = "Debian: apt install libc6-dev libc6-dev-i386 lib32gcc-12-dev";
        return Err(format!("{name}: no program can be linked so ({packages}): {complaint}"));
    }
    let mut all = flags.to_vec();
    all.extend(["-O1", "-Wall", "-Wextra", "-Werror"]);
    // The mathematics come behind what uses them.
    let files = [root().join("tests/lab/libc.c"), "-lm".into()];
    Ok(compile(name, &all, &files).unwrap_or_else(|complaint| panic!("{name}: {complaint}")))
}

/// What a command of libc.c must do.
struct Command {
    name: &'static str,
    end: fn(End) -> bool,
    output: fn(&str) -> bool,
    errors: &'static str,
}

fn is_success(end: End) -> bool {
    end == End::Exited(0)
}

fn is_empty(text: &str) -> bool {
    text.is_empty()
}

const fn quiet(name: &'static str) -> Command {
    Command { name, end: is_success, output: is_empty, errors: "" }
}

const COMMANDS: &[Command] = &[
    Command { output: |text| text == "hello by write\n", ..quiet("hello") },
    Command { output: |text| text == "text -42 0xbeef 0.333333     r|l    |\n", ..quiet("print") },
    Command {
        output: |text| text == "to standard output\n",
        errors: "to standard error\n",
        ..quiet("print_errors")
    },
    quiet("memory"),
    Command { output: is_today, ..quiet("time") },
    quiet("clocks"),
    quiet("sleep"),
    quiet("identity"),
    quiet("rights"),
    quiet("vectors"),
    quiet("unknown"),
    quiet("no_files"),
    Command { end: |end| is_signal(end, ABORTED), ..quiet("abort") },
    Command { end: |end| end == End::Exited(42), output: |text| text == "not flushed yet", ..quiet("exit") },
    Command { end: |end| is_signal(end, SEGMENTATION_FAULT), ..quiet("null") },
    Command {
        output: |text| text.lines().count() == 20_000 && text.ends_with("\nline 19999\n"),
        ..quiet("long_output")
    },
];

fn is_signal(end: End, wanted: u64) -> bool {
    matches!(end, End::Fault([signal, ..]) if signal == wanted)
}

/// The clock was set at boot, and no boot takes minutes.
fn is_today(text: &str) -> bool {
    text.trim().parse::<u64>().is_ok_and(|seconds| (NOW..NOW + 100).contains(&seconds))
}

fn check(ran: &Ran, command: &Command) {
    let errors = String::from_utf8_lossy(&ran.errors);
    let text = ran.text();
    let shown: String = text.chars().take(300).collect();
    let holds = (command.end)(ran.end) && (command.output)(&text) && errors == command.errors;
    assert!(holds, "{}: {:?}\noutput: {shown}\nerrors: {errors}\nlog: {:#?}", ran.label, ran.end, ran.log);
    // Every call that nobody serves is named, once; all others are served.
    let log = ran.log.join("\n");
    let unknown = ["(getsid", "(setxattr", "EINVAL for command 1025 of fcntl: "];
    let named = unknown.iter().all(|call| log.matches(call).count() == 1);
    match command.name {
        "unknown" => assert!(named && ran.log.len() == unknown.len(), "{log}"),
        _ => assert!(ran.log.is_empty(), "{}: {log}", ran.label),
    }
}

#[test]
fn programs_of_a_c_library_run_as_they_are() {
    let programs = programs();
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let (mut script, mut expected) = (Script::new(), Vec::new());
        for switches in ["pti=off", "pti=on vsyscall=none"] {
            script.set(switches);
            for program in &programs {
                for command in COMMANDS {
                    script.exec(program, &[command.name]);
                    expected.push(command);
                }
            }
        }
        let Some(session) = script.boot(emulator) else { return };
        session.ran.iter().zip(expected).for_each(|(ran, command)| check(ran, command));
    }
}

#[test]
fn a_program_of_a_c_library_runs_on_bochs() {
    let Some(program) = programs().into_iter().next() else { return };
    let mut script = Script::new();
    script.set("pti=on pcid=keep");
    let commands = ["print", "clocks", "rights", "unknown", "exit"];
    for name in commands {
        script.exec(&program, &[name]);
    }
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    for (ran, name) in session.ran.iter().zip(commands) {
        check(ran, COMMANDS.iter().find(|command| command.name == name).unwrap());
    }
}

/// A static program of Rust's, with its standard library.
fn of_rust() -> Option<Program> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("greet");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = std::process::Command::new(compiler);
    command.args(["--target", "x86_64-unknown-linux-gnu", "-C", "target-feature=+crt-static", "-o"]);
    let output = command.arg(&out).arg(root().join("tests/lab/greet.rs")).output();
    match output {
        Ok(output) if output.status.success() => {
            Some(Program { name: "greet".into(), bytes: std::fs::read(out).unwrap() })
        }
        Ok(output) => panic!("greet.rs: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            skipped(format!("there is no rustc: {error}"));
            None
        }
    }
}

#[test]
fn a_static_program_of_rust_reads_its_input_and_greets() {
    let Some(program) = of_rust() else { return };
    let mut script = Script::new();
    script.input(b"lab\n");
    script.exec(&program, &["one", "two"]);
    // Threads are refused in words, by the program as well as in the log.
    script.exec(&program, &["thread"]);
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let [greeting, thread] = &session.ran[..] else { panic!("{:#?}", session.ran) };
    assert_eq!(
        (greeting.end, greeting.text(), &greeting.log[..]),
        (End::Exited(0), "hello, lab: one two\n".into(), &[][..])
    );
    assert_eq!(thread.end, End::Exited(1), "{}", thread.text());
    let log = thread.log.join("\n");
    assert!(log.contains("clone") && log.contains("one thread"), "{log}");
}

/// Debian's busybox-static: a program that nobody here compiled.
const BUSYBOX: &str = "/bin/busybox";

/// What the file of a dynamically linked program names.
const INTERPRETER: &[u8] = b"/ld-linux";

#[test]
fn busybox_runs_as_it_is() {
    let Ok(bytes) = std::fs::read(BUSYBOX) else {
        skipped(format!("there is no {BUSYBOX} (Debian: apt install busybox-static)"));
        return;
    };
    // Debian's package busybox has a dynamically linked one at the same place.
    if bytes.windows(INTERPRETER.len()).any(|window| window == INTERPRETER) {
        skipped(format!("{BUSYBOX} is dynamically linked (Debian: apt install busybox-static)"));
        return;
    }
    let program = Program { name: "busybox".into(), bytes };
    let mut script = Script::new();
    script.input(b"b 2\na 1\n");
    let commands: [(&[&str], &str); 7] = [
        (&["cat"], "b 2\na 1\n"),
        (&["sort"], "a 1\nb 2\n"),
        (&["wc", "-l"], "2\n"),
        (&["awk", "{ s += $2 } END { print s }"], "3\n"),
        (&["sh", "-c", "echo $((6 * 7))"], "42\n"),
        (&["uname", "-s"], "Linux\n"),
        (&["sleep", "3"], ""),
    ];
    // Three seconds are so many instructions, though hardly any of them is executed.
    script.limit(10_000_000_000);
    for (words, _) in commands {
        script.exec(&program, words);
    }
    script.exec(&program, &["timeout", "1", "cat"]);
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    for (ran, (words, output)) in session.ran.iter().zip(commands) {
        assert_eq!((ran.end, ran.text()), (End::Exited(0), output.into()), "{words:?}: {:?}", ran.log);
    }
    // Two processes are too many.
    let last = session.ran.last().unwrap();
    assert!(last.log.join("\n").contains("one thread of one process"), "{:?} {:?}", last.end, last.log);
}

#[test]
fn arguments_arrive_as_they_are() {
    let mut script = Script::new();
    let lists: [&[&[u8]]; 4] = [&[], &[b"", b"", b""], &[b"a b", b"100%", b"\xff\n"], &[b"", b"last"]];
    let programs = programs();
    for program in &programs {
        for list in lists {
            script.exec(program, list);
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    for (ran, list) in session.ran.iter().zip(lists.iter().cycle()) {
        let name = ran.label.split(' ').next().unwrap().as_bytes();
        let all = [&[name], *list].concat();
        let told = all.iter().flat_map(|argument| [b"[", *argument, b"]"].concat()).collect::<Vec<u8>>();
        assert_eq!((ran.end, &ran.output), (End::Exited(all.len() as u64), &told), "{}", ran.label);
    }
}

#[test]
fn the_examples_of_the_labs_own_entries_say_hello() {
    examples_say_hello(Script::new());
    examples_say_hello(Script::protected());
}

fn examples_say_hello(mut script: Script) {
    let kernel = script.mode.kernel();
    let mut names = Vec::new();
    for entry in &Table::get().entries {
        // Selector 7 leads somewhere in the lab alone, though Linux has the row, too.
        let is_labs = !entry.kernels.contains(&Kernel::Linux) || entry.name == "lcall7-i386";
        if !is_labs || !entry.kernels.contains(&kernel) || Emulator::TcgIntel.lacks_on(kernel, entry) {
            continue;
        }
        let source = root().join(format!("docs/examples/{}.S", entry.name));
        let text = std::fs::read_to_string(&source).unwrap();
        let command = text.lines().next().and_then(|line| line.strip_prefix("// gcc ")).unwrap();
        let flags: Vec<&str> = command.split(' ').take_while(|word| *word != "-o").collect();
        let program = compile(&entry.name, &flags, &[source]).unwrap();
        let is_machs = entry.operations_on(kernel).is_empty();
        script.set(if is_machs { "personality=mach" } else { "personality=linux" });
        for (gate, value) in &entry.needs {
            script.set(&format!("{gate}={value}"));
        }
        // Exceptions, and the interrupt, serve only what is started as a probe.
        let is_served = entry.lab.as_deref().is_some_and(|file| SERVING.contains(&file));
        if entry.kind == Kind::Exception || entry.name == "interrupt" || is_served {
            script.run(&program, &[]);
        } else {
            script.exec::<&str>(&program, &[]);
        }
        names.push(&entry.name);
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    assert!(names.len() > 5);
    for (ran, name) in session.ran.iter().zip(names) {
        assert_eq!(ran.end, End::Exited(0), "{}: {}", ran.label, ran.text());
        assert!(ran.text().starts_with(&format!("hello through {name}")), "{}", ran.text());
    }
}

/// Files of lab/entry that serve exceptions.
const SERVING: [&str; 8] = ["ud", "int3", "div0", "into", "bound", "np-fault", "ss-fault", "limit-fault"];

//! Shell scripts as children, run both ways: in a process group and in a session.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

#[path = "../../../tests/executable.rs"]
mod executable;
#[path = "../../../tests/skipped.rs"]
mod skipped;

use process::{
    Child, Command, Errno, Error, Event, Finished, Interrupt, Isolation, Limits, Phase, Pipe, Program,
};
use skipped::skipped;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);
const BOTH: [Isolation; 2] = [Isolation::Group, Isolation::Session];

fn limits(time: Duration) -> Limits {
    Limits { time, output: 1 << 20, interrupt: Interrupt::default() }
}

fn script(text: &str, isolation: Isolation) -> Command<'static> {
    let arguments = vec!["-c".into(), text.into()];
    Command { arguments, ..Command::new(Program::Named("sh".into()), isolation) }
}

fn run(command: Command, time: Duration) -> Result<Finished, Error> {
    process::run(&command, &limits(time))
}

fn output(command: Command) -> String {
    String::from_utf8(run(command, LONG).unwrap().output).unwrap().trim().to_string()
}

/// The value of a line of the child's own status.
fn status_line(key: &str) -> String {
    format!(
        "while read -r key value; do [ \"$key\" = {key}: ] && echo \"$value\"; done </proc/self/status; true"
    )
}

#[test]
fn output_messages_and_exit_code_come_back() {
    let ended = run(script("echo records; echo words >&2; exit 3", Isolation::Session), LONG).unwrap();
    assert_eq!((ended.output.as_slice(), ended.status.code()), (b"records\n".as_slice(), Some(3)));
    assert_eq!(ended.messages, "words");
    let ended = run(script("echo records; exit 3", Isolation::Group), LONG).unwrap();
    assert_eq!((ended.output.as_slice(), ended.status.code()), (b"records\n".as_slice(), Some(3)));
}

#[test]
fn a_death_is_told_by_its_signal() {
    for isolation in BOTH {
        let ended = run(script("echo much; kill -SEGV $$", isolation), LONG).unwrap();
        assert_eq!((ended.status.code(), ended.status.signal()), (None, Some(11)));
        assert_eq!(ended.output, b"much\n");
    }
}

#[test]
fn a_child_is_pinned_where_the_command_says() {
    let allowed = process::allowed_cpus().unwrap();
    for cpu in [allowed[0], *allowed.last().unwrap()] {
        let command =
            Command { cpu: Some(cpu), ..script(&status_line("Cpus_allowed_list"), Isolation::Group) };
        assert_eq!(output(command), cpu.to_string());
    }
    for cpu in [1000, 5000, usize::MAX] {
        let command = Command { cpu: Some(cpu), ..script("true", Isolation::Group) };
        let refused = Error::NotStarted { phase: Phase::Pin, errno: Errno::EINVAL };
        assert_eq!(run(command, LONG), Err(refused), "CPU {cpu}");
    }
}

#[test]
fn an_open_file_is_executed_under_the_name_it_is_given() {
    let shell = File::open("/bin/sh").unwrap();
    let program = Program::Open(shell.as_fd(), "a-name".into());
    let command = Command {
        arguments: vec!["-c".into(), "echo $0; echo ${HOME-none}".into()],
        environment: Vec::new(),
        ..Command::new(program, Isolation::Group)
    };
    assert_eq!(output(command), "a-name\nnone");
}

#[test]
fn a_program_in_memory_is_executed() {
    let Ok(image) = process::executable_in_memory("probe", &std::fs::read("/bin/sh").unwrap()) else {
        return skipped("this kernel executes nothing from memory");
    };
    let program = Program::Open(image.as_fd(), "sh".into());
    let arguments = vec!["-c".into(), "echo in memory".into()];
    assert_eq!(output(Command { arguments, ..Command::new(program, Isolation::Group) }), "in memory");
}

#[test]
fn files_are_inherited_and_output_may_come_by_a_pipe_of_its_own() {
    let file = process::file_in_memory("kernel", b"content").unwrap();
    let pipe = Pipe::new().unwrap();
    let text = format!("cat {} >{}; echo talk", process::inherited(&file), process::inherited(&pipe.theirs));
    let command = Command { files: vec![file], ..script(&text, Isolation::Session) };
    let mut child = Child::start(&command, Some(pipe), &limits(LONG)).unwrap();
    let (mut output, mut buffer) = (Vec::new(), [0; 16]);
    loop {
        match child.read(&mut buffer).unwrap() {
            Event::Output(count) => output.extend_from_slice(&buffer[..count]),
            Event::Message => {}
            Event::Closed => break,
        }
    }
    assert!(child.wait().unwrap().success());
    assert_eq!((output.as_slice(), child.messages().as_str()), (b"content".as_slice(), "talk"));
}

#[test]
fn other_files_are_not_inherited() {
    let _open = File::open("/dev/full").unwrap();
    for isolation in BOTH {
        let list = output(script("ls -l /proc/self/fd", isolation));
        assert!(list.contains("pipe:") && !list.contains("/dev/full"), "{list}");
    }
}

#[test]
fn a_session_has_no_terminal_and_an_empty_input() {
    assert_eq!(
        output(script("cat; (: </dev/tty) 2>/dev/null && echo terminal; true", Isolation::Session)),
        ""
    );
}

#[test]
fn one_that_hangs_is_ended_with_its_children() {
    let begin = Instant::now();
    for isolation in BOTH {
        for text in ["sleep 50 & sleep 50", "exec >&-; while :; do :; done"] {
            assert_eq!(run(script(text, isolation), SHORT), Err(Error::Timeout(SHORT)), "{text}");
        }
    }
    let talk = "exec >&-; while :; do echo flood >&2; done";
    assert_eq!(run(script(talk, Isolation::Session), SHORT), Err(Error::Timeout(SHORT)));
    assert!(begin.elapsed() < Duration::from_secs(40));
}

#[test]
fn what_a_child_leaves_behind_is_ended_with_it() {
    for isolation in BOTH {
        // The shell ends, and what it started would sleep on with no descriptor of ours.
        let left = output(script("sleep 50 >/dev/null 2>&1 </dev/null & echo $!", isolation));
        let begin = Instant::now();
        while is_alive(&left) && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!is_alive(&left), "{isolation:?}");
    }
}

/// A zombie that its new parent has not reaped yet counts as dead.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z" && state != "X")
}

#[test]
fn a_flood_is_stopped() {
    let text = "while :; do echo flood flood flood flood; done";
    for isolation in BOTH {
        assert_eq!(run(script(text, isolation), LONG), Err(Error::Flood(1 << 20)));
    }
}

#[test]
fn of_many_messages_the_end_is_kept() {
    let messages = run(script("seq 100000 >&2", Isolation::Session), LONG).unwrap().messages;
    assert!(messages.ends_with("100000") && messages.len() <= 4096, "{}", messages.len());
}

#[test]
fn a_message_is_seen_while_the_child_goes_on() {
    let mut child =
        Child::start(&script("echo word >&2; sleep 50", Isolation::Session), None, &limits(LONG)).unwrap();
    assert_eq!(child.read(&mut [0; 16]), Ok(Event::Message));
    assert_eq!(child.messages(), "word");
}

#[test]
fn an_interrupt_ends_it() {
    for isolation in BOTH {
        let interrupt = Interrupt::default();
        let limits = Limits { interrupt: interrupt.clone(), ..limits(LONG) };
        let later = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            interrupt.store(true, Ordering::Relaxed);
        });
        assert_eq!(process::run(&script("sleep 50", isolation), &limits), Err(Error::Interrupted));
        later.join().unwrap();
    }
    let limits = Limits { interrupt: Interrupt::new(AtomicBool::new(true)), ..limits(LONG) };
    assert_eq!(process::run(&script("sleep 50", Isolation::Group), &limits), Err(Error::Interrupted));
}

#[test]
fn a_program_that_is_still_being_written_is_tried_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("true");
    std::fs::copy("/bin/true", &path).unwrap();
    let writing = File::options().append(true).open(&path).unwrap();
    let start = || run(Command::new(Program::Named(path.clone().into()), Isolation::Group), LONG);
    let begin = Instant::now();
    let busy = Error::NotStarted { phase: Phase::Execute, errno: Errno::ETXTBSY };
    assert_eq!(start(), Err(busy));
    assert!(begin.elapsed() >= Duration::from_millis(127), "{:?}", begin.elapsed());
    drop(writing);
    // A child of another test may have the file open still, until it executes its program.
    let mut ended = start();
    while ended == Err(busy) {
        ended = start();
    }
    assert!(ended.unwrap().status.success());
}

#[test]
fn a_child_has_no_signal_blocked_and_this_thread_keeps_its_mask() {
    use nix::sys::signal::{SigSet, Signal};
    let mut blocked = SigSet::empty();
    blocked.add(Signal::SIGUSR2);
    blocked.thread_block().unwrap();
    let before = SigSet::thread_get_mask().unwrap();
    for isolation in BOTH {
        assert_eq!(output(script(&status_line("SigBlk"), isolation)), "0".repeat(16));
        assert_eq!(SigSet::thread_get_mask().unwrap(), before);
    }
    let missing = Command::new(Program::Named("kentry-no-such-program".into()), Isolation::Group);
    run(missing, LONG).unwrap_err();
    assert_eq!(SigSet::thread_get_mask().unwrap(), before);
}

#[test]
fn what_is_no_program_is_not_started() {
    let start = |program: &str| run(Command::new(Program::Named(program.into()), Isolation::Group), LONG);
    let refused = |errno| Err::<Finished, _>(Error::NotStarted { phase: Phase::Execute, errno });
    assert_eq!(start("kentry-no-such-program"), refused(Errno::ENOENT));
    assert_eq!(start("/dev/null"), refused(Errno::EACCES));
    assert_eq!(start("a\0b"), refused(Errno::EINVAL));
    let missing = Command::new(Program::Named("kentry-no-such-program".into()), Isolation::Group);
    let child = Child::start(&missing, None, &limits(LONG)).unwrap();
    assert_eq!(child.wait_for_program(), refused(Errno::ENOENT).map(drop));
    let child = Child::start(&script("sleep 50", Isolation::Group), None, &limits(LONG)).unwrap();
    assert_eq!(child.wait_for_program(), Ok(()));
    let null = File::open("/dev/null").unwrap();
    let open = Program::Open(null.as_fd(), "null".into());
    assert_eq!(run(Command::new(open, Isolation::Group), LONG), refused(Errno::EACCES));
}

#[test]
fn a_file_that_is_no_program_is_refused_with_any_number_of_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no-interpreter");
    executable::write(&path, b"echo started\n");
    for isolation in BOTH {
        let program = Program::Named(path.clone().into());
        let arguments = vec!["x".into(); 9000];
        let command = Command { arguments, ..Command::new(program, isolation) };
        let refused = Error::NotStarted { phase: Phase::Execute, errno: Errno::ENOEXEC };
        assert_eq!(run(command, LONG), Err(refused));
    }
}

#[test]
fn what_a_child_leaves_behind_with_its_output_open_was_waited_for() {
    // Killed with the group; and in a session of its own, where it lives on.
    for left in ["sleep 30 &", "setsid sleep 2 &"] {
        let begin = Instant::now();
        let ended = run(script(&format!("{left} echo records"), Isolation::Session), LONG).unwrap();
        assert_eq!((ended.output.as_slice(), ended.status.code()), (b"records\n".as_slice(), Some(0)));
        assert!(begin.elapsed() < Duration::from_millis(1900), "{left}: {:?}", begin.elapsed());
    }
}

/// Sets the real, effective and saved user of this thread alone; the library's function would set those of all threads.
fn become_user(users: [i64; 3]) -> bool {
    let [real, effective, saved] = users;
    // SAFETY: the call takes three numbers.
    unsafe { nix::libc::syscall(nix::libc::SYS_setresuid, real, effective, saved) == 0 }
}

#[test]
fn a_child_that_became_another_user_was_waited_for_without_end() {
    let (nobody, root) = (65534, 0);
    let tried = std::thread::spawn(move || {
        // It outlives the test, whose standard error it must not have: a reader would wait for it.
        let slept = script("exec sleep 30 2>/dev/null", Isolation::Session);
        let child = Child::start(&slept, None, &limits(LONG)).unwrap();
        if !become_user([nobody, nobody, root]) {
            return None;
        }
        let begin = Instant::now();
        drop(child);
        let took = begin.elapsed();
        assert!(become_user([root; 3]));
        Some(took)
    });
    match tried.join().unwrap() {
        Some(took) => {
            assert!(took > Duration::from_millis(900) && took < Duration::from_secs(20), "{took:?}")
        }
        None => skipped("it needs root"),
    }
}

/// Where a process that is to be killed writes who its grandchild is.
const GRANDCHILD: &str = "KENTRY_TEST_GRANDCHILD";

/// Runs a command that starts a process, until it is killed.
#[test]
fn a_command_with_a_child() {
    let Some(file) = std::env::var_os(GRANDCHILD) else { return };
    let text = format!("sleep 1000 & echo $! >{0}.new; mv {0}.new {0}; wait", file.display());
    let _ = run(script(&text, Isolation::Session), Duration::from_secs(1000));
}

/// After SIGKILL of kentry, what a command had started went on.
#[test]
fn what_a_command_has_started_dies_with_this_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_command_with_a_child", "--nocapture"]).env(GRANDCHILD, &file);
    let mut process = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let within = |what: &str, is_so: &dyn Fn() -> bool| {
        let begin = Instant::now();
        while !is_so() {
            assert!(begin.elapsed() < LONG, "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    within("it has started one", &|| file.exists());
    let pid = std::fs::read_to_string(&file).unwrap().trim().to_string();
    assert!(is_alive(&pid));
    process.kill().unwrap();
    process.wait().unwrap();
    within("it is dead", &|| !is_alive(&pid));
}

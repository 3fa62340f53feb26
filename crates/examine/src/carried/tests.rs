//! Each condition made for real, in a child: what it sees of itself, and what is seen of it from outside.

#![allow(clippy::unwrap_used, reason = "a test")]

use super::*;
use nix::libc;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, pipe, read, write};
use std::io::Read;

/// A child that waits under some condition.
struct Under {
    child: Pid,
    /// What it saw of itself.
    here: Carried,
}

impl Drop for Under {
    fn drop(&mut self) {
        let _ = kill(self.child, Signal::SIGKILL);
        let _ = waitpid(self.child, None);
    }
}

/// A child under a condition; none where the condition cannot be made here. `before` is done to it from outside.
fn under(before: impl FnOnce(Pid), condition: impl FnOnce() -> bool) -> Option<Under> {
    let ((from, to), (waited, go)) = (pipe().unwrap(), pipe().unwrap());
    // SAFETY: glibc's allocator works in the child, which ends by `_exit` or a signal.
    let ForkResult::Parent { child } = (unsafe { fork() }).unwrap() else {
        drop((from, go));
        prctl(libc::PR_SET_PDEATHSIG, [libc::SIGKILL as libc::c_ulong, 0, 0, 0]);
        let _ = read(&waited, &mut [0]);
        let text = if condition() { serde_json::to_string(&Carried::here()).unwrap() } else { String::new() };
        let _ = write(&to, text.as_bytes());
        drop(to);
        loop {
            // SAFETY: waits for the signal that ends it.
            unsafe { libc::pause() };
        }
    };
    drop((to, waited));
    before(child);
    write(&go, b"!").unwrap();
    let mut text = String::new();
    std::fs::File::from(from).read_to_string(&mut text).unwrap();
    let made = Under { child, here: serde_json::from_str(&text).unwrap_or_default() };
    (!text.is_empty()).then_some(made)
}

fn of(under: &Under) -> Carried {
    Carried::of(under.child.as_raw() as u32).unwrap()
}

fn nothing(_: Pid) {}

fn prctl(option: libc::c_int, arguments: [libc::c_ulong; 4]) -> bool {
    let [a, b, c, d] = arguments;
    // SAFETY: numbers, or pointers to what lives as long as the process.
    (unsafe { libc::prctl(option, a, b, c, d) }) == 0
}

/// A filter that allows all, or refuses one call in a way.
fn filter(refused: Option<(libc::c_long, u32)>) -> bool {
    let instruction = |code: u32, jf, k| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let allow = instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW);
    let mut program = match refused {
        None => vec![allow],
        Some((number, answer)) => vec![
            instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
            instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, number as u32),
            instruction(libc::BPF_RET | libc::BPF_K, 0, answer),
            allow,
        ],
    };
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    prctl(libc::PR_SET_NO_NEW_PRIVS, [1, 0, 0, 0])
        && prctl(libc::PR_SET_SECCOMP, [2, (&raw const program) as libc::c_ulong, 0, 0])
}

#[test]
fn a_child_under_nothing_carries_what_its_parent_does() {
    let plain = under(nothing, || true).unwrap();
    let (own, here, of) = (Carried::here(), &plain.here, of(&plain));
    assert_eq!(own.seccomp, here.seccomp);
    assert_eq!(own.seccomp, of.seccomp);
    assert!(own.process.is_own && here.process.is_own && !of.process.is_own);
    assert_eq!(of.process.pid, plain.child.as_raw() as u32);
}

#[test]
fn filters_are_counted_from_inside_and_outside() {
    let before = Carried::here().seccomp.filters.unwrap_or(0);
    let Some(filtered) = under(nothing, || filter(None) && filter(None)) else { return };
    for carried in [&filtered.here, &of(&filtered)] {
        assert_eq!(carried.seccomp.mode, Some(SeccompMode::Filter));
        assert!(carried.seccomp.filters.is_none_or(|filters| filters == before + 2), "{carried:?}");
    }
}

#[test]
fn a_filter_that_ends_whoever_asks_ends_only_the_question() {
    let calls = [libc::SYS_bpf, libc::SYS_ptrace, libc::SYS_landlock_create_ruleset, libc::SYS_socket];
    for call in calls {
        let refused = move || filter(Some((call, libc::SECCOMP_RET_KILL_PROCESS)));
        let Some(filtered) = under(nothing, refused) else { return };
        let missed = filtered.here.unseen.iter().filter(|unseen| unseen.why.contains("SIGSYS")).count();
        assert_eq!(missed, 1, "{call}: {:?}", filtered.here.unseen);
    }
}

#[test]
fn layers_of_landlock_are_counted() {
    let Some(before) = Carried::here().landlock else { return println!("skipped: no Landlock here") };
    let layers = || {
        let rules: u64 = 1 << 11;
        // SAFETY: the kernel reads eight bytes, which are there.
        let set = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const rules, 8, 0) };
        let add = || {
            // SAFETY: numbers alone.
            (unsafe { libc::syscall(libc::SYS_landlock_restrict_self, set, 0) }) == 0
        };
        prctl(libc::PR_SET_NO_NEW_PRIVS, [1, 0, 0, 0]) && add() && add() && add()
    };
    let restricted = under(nothing, layers).unwrap();
    assert_eq!(restricted.here.landlock, Some(before + 3));
    let outside = of(&restricted);
    assert_eq!(outside.landlock, None);
    assert!(outside.unseen.iter().any(|unseen| unseen.what == "Landlock"), "{outside:?}");
}

/// Traces a child from a thread, and lets it go on whatever it stops for.
fn trace(child: Pid) {
    let (seized, is_seized) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        seized.send(ptrace::seize(child, ptrace::Options::empty()).is_ok()).unwrap();
        while let Ok(status) = waitpid(child, Some(WaitPidFlag::__WALL)) {
            match status {
                WaitStatus::Stopped(_, signal) => _ = ptrace::cont(child, signal),
                WaitStatus::PtraceEvent(..) => _ = ptrace::cont(child, None),
                _ => return,
            }
        }
    });
    let _ = is_seized.recv();
}

#[test]
fn a_tracer_is_named() {
    let traced = under(trace, || true).unwrap();
    let tracer = of(&traced).tracer;
    let Some(tracer) = tracer else { return println!("skipped: this process may not trace") };
    // The kernel names the thread that traces.
    assert!(std::path::Path::new(&format!("/proc/self/task/{}", tracer.pid)).exists(), "{tracer:?}");
    assert!(tracer.name.is_some_and(|name| !name.is_empty()));
    let here = &traced.here;
    assert_eq!(here.tracer.as_ref().map(|own| own.pid), Some(tracer.pid));
    assert_eq!(here.user_dispatch, None, "a thread has one tracer");
}

#[test]
fn user_dispatch_is_seen_by_oneself_and_unknown_of_others() {
    static SELECTOR: u8 = 0;
    let own = Carried::here();
    let Some(own) = own.user_dispatch else { return println!("skipped: {:?}", own.unseen) };
    assert!(!own);
    // PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON; the selector allows all.
    let selector = (&raw const SELECTOR) as libc::c_ulong;
    let Some(dispatched) = under(nothing, || prctl(59, [1, 0, 0, selector])) else { return };
    assert_eq!(dispatched.here.user_dispatch, Some(true));
    assert_eq!(of(&dispatched).user_dispatch, None);
}

#[test]
fn store_bypass_that_is_switched_off_is_seen_where_the_processor_can() {
    let off = || prctl(libc::PR_SET_SPECULATION_CTRL, [0, 4, 0, 0]);
    let Some(off) = under(nothing, off) else { return println!("skipped: it cannot be switched off here") };
    for carried in [&off.here, &of(&off)] {
        assert!(carried.store_bypass.is_some_and(StoreBypass::is_off_for_thread), "{carried:?}");
    }
}

/// Loads a program that does nothing, and links it to a tracepoint; none where that is not allowed.
fn link_program(tracepoint: &std::ffi::CStr) -> Option<std::os::fd::OwnedFd> {
    use std::os::fd::FromRawFd;
    let code: [u64; 2] = [0xb7, 0x95];
    let license = c"GPL";
    let mut attributes = [0u64; 16];
    attributes[0] = 17 | 2 << 32; // BPF_PROG_TYPE_RAW_TRACEPOINT, two instructions
    attributes[1] = code.as_ptr() as u64;
    attributes[2] = license.as_ptr() as u64;
    let name = b"kentry_test\0\0\0\0\0";
    attributes[6] = u64::from_ne_bytes(name[..8].try_into().unwrap());
    attributes[7] = u64::from_ne_bytes(name[8..].try_into().unwrap());
    let call = |command: i32, words: &[u64]| {
        // SAFETY: the kernel reads as many bytes as it is told; what they point at lives until it has answered.
        let file = unsafe { libc::syscall(libc::SYS_bpf, command, words.as_ptr(), size_of_val(words)) };
        // SAFETY: a new file, which nobody else knows.
        (file >= 0).then(|| unsafe { std::os::fd::OwnedFd::from_raw_fd(file as i32) })
    };
    let program = call(5, &attributes)?;
    use std::os::fd::AsRawFd;
    call(17, &[tracepoint.as_ptr() as u64, program.as_raw_fd() as u64])
}

#[test]
fn a_program_on_every_call_is_named_and_one_elsewhere_is_not() {
    let elsewhere = link_program(c"sched_switch");
    let Some(link) = link_program(c"sys_enter") else { return println!("skipped: BPF is not allowed here") };
    let is_own = |program: &&KernelProgram| program.name.as_deref() == Some("kentry_test");
    let programs = Carried::here().programs.unwrap();
    let own: Vec<&KernelProgram> = programs.iter().filter(is_own).collect();
    assert_eq!(own.len(), 1, "{programs:?}");
    assert!(own[0].tracepoint == "sys_enter" && own[0].is_for_every_call() && own[0].id.is_some());
    drop((link, elsewhere));
    // Children of other tests may have it open for a while.
    let is_left = || Carried::here().programs.unwrap().iter().any(|program| is_own(&program));
    let gone = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        !is_left()
    });
    assert!(gone);
}

#[test]
fn what_is_no_process_with_calls_is_an_error_in_one_sentence() {
    let gone = under(nothing, || true).map(|gone| gone.child.as_raw() as u32).unwrap();
    assert_eq!(Carried::of(gone), Err(CarriedError::NoSuchProcess(gone)));
    assert!(matches!(Carried::of(u32::MAX), Err(CarriedError::NoSuchProcess(_))));
    // SAFETY: the child ends at once.
    let ForkResult::Parent { child } = (unsafe { fork() }).unwrap() else { unsafe { libc::_exit(0) } };
    let mut left = 1000;
    let ended = loop {
        match Carried::of(child.as_raw() as u32) {
            Ok(_) if left > 0 => std::thread::sleep(std::time::Duration::from_millis(1)),
            other => break other,
        }
        left -= 1;
    };
    assert!(matches!(ended, Err(CarriedError::Ended { .. })), "{ended:?}");
    waitpid(child, None).unwrap();
    if std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd") {
        assert!(Carried::of(2).unwrap_err().to_string().contains("(kthreadd) is a thread of the kernel"));
    }
}

/// A folder that looks like /proc, with these files of process 7.
fn made_up(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("7")).unwrap();
    files.iter().for_each(|(name, bytes)| std::fs::write(folder.path().join("7").join(name), bytes).unwrap());
    folder
}

/// By the text of a status.
fn told(status: &str) -> Carried {
    Carried::of_limits(&environment::Restrictions::of_status(status))
}

#[test]
fn lines_of_a_container_are_understood() {
    let status = "Name:\truby\nUid:\t1000\t1000\t1000\t1000\nTracerPid:\t0\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n\
                  Speculation_Store_Bypass:\tthread force mitigated\nSpeculationIndirectBranch:\tconditional force disabled\n";
    let expected = Carried {
        seccomp: Seccomp { mode: Some(SeccompMode::Filter), filters: Some(1) },
        store_bypass: Some(StoreBypass::ThreadForcedOff),
        indirect_branch: Some(IndirectBranch::ThreadForcedOff),
        ..Carried::default()
    };
    assert_eq!(told(status), expected);
    assert_eq!(status::uid(status), Some(1000));
    for odd in ["", ":", "Seccomp:\t9\n", "TracerPid:\t-1\nSeccomp:\n", "NoNewPrivs:\t4294967296\n", "\u{0}"]
    {
        assert_eq!(told(odd), Carried::default(), "{odd:?}");
    }
}

#[test]
fn hostile_files_give_an_error_or_nothing_and_no_panic() {
    const STAT: &[u8] = b"7 (x) S 1 7 7 0 -1 4194304 0 0";
    let read = |files: &[(&str, &[u8])]| {
        let folder = made_up(files);
        Carried::read(&mut Proc::at(folder.path()), "7", 7)
    };
    assert_eq!(read(&[]), Err(CarriedError::NoSuchProcess(7)));
    assert!(matches!(read(&[("stat", b"\xff\xff")]), Err(CarriedError::NotReadable { file: "stat", .. })));
    assert_eq!(read(&[("stat", STAT)]), Err(CarriedError::NoSuchProcess(7)));
    let long = vec![b'a'; 1 << 20];
    let carried = read(&[("stat", STAT), ("status", &long)]).unwrap();
    assert_eq!((carried.seccomp.mode, carried.tracer), (None, None));
    let text = b"Seccomp:\t2\nTracerPid:\t9\nSeccomp_filters:\t3\nSpeculation_Store_Bypass:\tthread force mitigated\n";
    // Whatever byte is lost or changed, there is an answer.
    for at in 0..text.len() {
        for byte in [0, b'\n', b':', 0xff, b'9'] {
            let mut changed = text.to_vec();
            changed[at] = byte;
            let found = told(&String::from_utf8_lossy(&changed)).seccomp;
            assert!(found.filters.is_none_or(|filters| filters <= 99), "{found:?}");
        }
        let _ = told(&String::from_utf8_lossy(&text[..at]));
    }
}

#[test]
fn documents_of_other_versions_load_and_states_that_are_not_known_stay_unknown() {
    let found: Carried =
        serde_json::from_str(r#"{"store_bypass": "later", "seccomp": {"mode": "later"}, "x": []}"#).unwrap();
    assert_eq!(found.store_bypass, Some(StoreBypass::Unknown));
    assert_eq!(found.seccomp.mode, Some(SeccompMode::Unknown));
    assert!(!StoreBypass::Unknown.is_off_for_thread());
    let carried = Carried::here();
    assert_eq!(serde_json::from_value::<Carried>(serde_json::to_value(&carried).unwrap()).unwrap(), carried);
}

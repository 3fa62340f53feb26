//! Programs of GNU Mach (docs/mach.md): their traps through every entry, of both widths, with the protections; tasks that send each
//! other messages; what they get wrong.

use crate::build::{OnHost, Program, freestanding_with};
use crate::guest::{Emulator, Script, Session};
use crate::kernel::Kernel;
use crate::mach_answers;
use crate::monitor::{is_missing, wrapped};
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic};
use object::{Object, ObjectSection};
use places::lab::{End, Limits, Mode, Qemu};

/// Ways in, in the order of mach64.S.
pub const WAYS_64: [&str; 11] = [
    "syscall",
    "sysenter",
    "call_gate",
    "ring1",
    "ring2",
    "ud",
    "lock_nop",
    "int3",
    "div0",
    "int80",
    "call_gate_i386",
];

/// In the order of mach32.S. In long mode, `syscall` of 32-bit code is AMD's, and `sysenter` Intel's.
pub const WAYS_32: [&str; 12] = [
    "lcall7",
    "int80",
    "sysenter",
    "syscall",
    "call_gate",
    "ud",
    "lock_nop",
    "int3",
    "div0",
    "gate_32_1",
    "task_int",
    "task_call",
];

pub const CONFIGURATIONS: [&str; 8] = [
    "pti=off stack=frame exit=natural smap=on",
    "pti=off stack=minimum exit=natural smap=off",
    "pti=on stack=frame exit=natural",
    "pti=on stack=minimum exit=iret gate=trap",
    "pti=trampoline copy-frame=on stack=frame exit=iret",
    "pti=on copy-frame=on stack=minimum exit=natural gate=trap",
    "pti=off stack=frame exit=natural clear-registers=on stack-offset=on canary=on index-mask=on dispatch=retpoline returns=thunk",
    "pti=off stack=frame exit=natural work=on trace=on filter=3 audit=on dispatch=direct swapgs=on",
];

pub const ALL_OFF: &str = "gate=interrupt copy-frame=off clear-registers=off stack-offset=off canary=off index-mask=off \
                       dispatch=table returns=plain work=off trace=off filter=0 audit=off swapgs=off smap=on pti=off";

/// Finds a function in the page of the device `entry`, for programs and for the stubs' library alike.
pub const IMAGE: &str = "../../mach/stub/image.c";

/// A program of this folder for GNU Mach.
pub fn program(bits: u8, source: &str) -> Program {
    let assembly = format!("mach{bits}.S");
    freestanding_with(bits, &[source, "mach.c", IMAGE, &assembly], &["-Wno-unused-function"])
}

/// The widths of the programs that the kernel of a mode runs.
pub fn widths(mode: Mode) -> &'static [u8] {
    match mode {
        Mode::Long => &[64, 32],
        Mode::Protected => &[32],
    }
}

/// A program of this folder, of each width that there is.
fn programs(mode: Mode, source: &str) -> Vec<Program> {
    widths(mode).iter().map(|bits| program(*bits, source)).collect()
}

/// The ways that an emulator's processor has in a mode, by their numbers.
fn ways(mode: Mode, bits: u8, emulator: Emulator) -> Vec<usize> {
    let is_amd = emulator == Emulator::TcgAmd;
    let all: &[&str] = if bits == 64 { &WAYS_64 } else { &WAYS_32 };
    let has = |way: &str| match way {
        "sysenter" => !is_amd || mode == Mode::Protected,
        "syscall" => bits == 64 || (is_amd && mode == Mode::Long),
        "gate_32_1" | "task_int" | "task_call" => mode == Mode::Protected,
        // QEMU's emulation has not the rings' privileges (entries.toml). Elsewhere a trap's arguments would be sought on a ring's stack.
        "ring1" | "ring2" => false,
        _ => true,
    };
    (0..all.len()).filter(|number| has(all[*number])).collect()
}

/// Its words are the ports, which entry its traps take, and these.
pub fn run(script: &mut Script, program: &Program, way: usize, words: &[&str]) {
    run_by(script, program, &way.to_string(), words);
}

/// By a way that has a number, or the word `entry`: through the page of that device.
pub fn run_by(script: &mut Script, program: &Program, way: &str, words: &[&str]) {
    let all: Vec<&str> = ["${host-port}", "${device-port}", way].iter().chain(words).copied().collect();
    script.run(program, &all);
}

/// A program of mach_linked.c, which is told of no way.
pub fn run_linked(script: &mut Script, program: &Program, device: &str) {
    script.run(program, &["${host-port}", device]);
}

/// Whether an instruction enters the kernel.
pub fn enters(code: &Instruction) -> bool {
    let is_int = code.code() == Code::Int_imm8;
    is_int || code.is_call_far() || matches!(code.mnemonic(), Mnemonic::Syscall | Mnemonic::Sysenter)
}

/// What a program's code is, instruction by instruction.
pub fn code_of(program: &[u8], bits: u8) -> Vec<Instruction> {
    let file = object::File::parse(program).unwrap();
    let text = file.section_by_name(".text").unwrap();
    let bytes = text.data().unwrap();
    Decoder::with_ip(bits.into(), bytes, text.address(), DecoderOptions::NONE).into_iter().collect()
}

pub fn boot(script: &Script, emulator: Emulator) -> Option<Session> {
    let session = script.boot(emulator)?;
    for ran in &session.ran {
        assert_eq!(ran.end, End::Exited(0), "{}: {}\n{:?}", ran.label, ran.text(), ran.log);
    }
    Some(session)
}

/// What mach_hello.c must say. One register is lost where `sysexit` takes the address from it.
pub fn hello(bits: u8, words: &str, lost: usize) -> String {
    let bits = if bits == 64 { "40" } else { "20" };
    format!(
        "hello {bits}\n{words}\nnull 0\nbad 1\nkernel 1\nedge\nxxxxxxendless 1\ntrap 31 4\ntrap 10 0\ntrap 129 4\ntask 3\n\
         task again 3\nthread 4\nhost 5\nreply 6\nevc_wait 4\nswtch 0\nswtch_pri 0\nthread_switch 0\nthread_switch 3 4\n\
         thread_switch wait 0\nmach_msg 0\nchanged {lost}\nchanged by none {lost}\n"
    )
}

#[test]
fn every_trap_answers_through_every_entry_with_every_protection() {
    check_entries(Mode::Long);
}

/// Every trap by every way in, with all configurations.
pub fn check_entries(mode: Mode) {
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let mut script = Script::in_mode(mode);
        let mut expected = Vec::new();
        let programs = programs(mode, "mach_hello.c");
        for configuration in CONFIGURATIONS {
            script.set(&format!("{ALL_OFF} {configuration} personality=mach"));
            for (bits, program) in widths(mode).iter().zip(&programs) {
                // Before 9.1, QEMU reads what a gate copies as the kernel does, which SMAP forbids.
                let is_open = |way: &usize| {
                    *bits == 64 || WAYS_32[*way] != "gate_32_1" || configuration.contains("smap=off")
                };
                for way in ways(mode, *bits, emulator).into_iter().filter(is_open) {
                    run(&mut script, program, way, &["a", "b c"]);
                    let is_lost =
                        *bits == 64 && WAYS_64[way] == "sysenter" && configuration.contains("exit=natural");
                    expected.push(hello(*bits, "[a][b c]", usize::from(is_lost)));
                }
            }
        }
        let Some(session) = boot(&script, emulator) else { return };
        assert_eq!(session.ran.len(), expected.len());
        for (ran, expected) in session.ran.iter().zip(expected) {
            assert_eq!(ran.text(), expected, "{}", ran.label);
        }
    }
}

/// What a program of each width says by itself, through one entry.
fn said(mode: Mode, source: &str, configuration: &str) -> Option<Vec<String>> {
    let mut script = Script::in_mode(mode);
    script.set(&format!("{ALL_OFF} {configuration} personality=mach"));
    programs(mode, source).iter().for_each(|program| run(&mut script, program, 0, &[]));
    let session = boot(&script, Emulator::TcgIntel)?;
    Some(session.ran.iter().map(|ran| ran.text()).collect())
}

/// Runs a program of each width in some configurations, and compares what it says with a table.
fn answers(mode: Mode, source: &str, wanted: impl Fn(u8) -> String) {
    for configuration in [CONFIGURATIONS[0], CONFIGURATIONS[3], CONFIGURATIONS[6]] {
        let Some(all) = said(mode, source, configuration) else { return };
        for (text, bits) in all.iter().zip(widths(mode)) {
            assert_eq!(*text, wanted(*bits), "{source}, {bits} bits, {configuration}");
        }
    }
}

/// Lines of a table, of which some differ by width.
fn lines(table: &[(&str, u64, u64)], bits: u8) -> String {
    let line = |(what, wide, narrow): &(&str, u64, u64)| {
        format!("{what} {:x}\n", if bits == 64 { wide } else { narrow })
    };
    table.iter().map(line).collect()
}

#[test]
fn a_message_arrives_as_gnu_mach_delivers_it() {
    check_messages(Mode::Long);
}

#[test]
fn what_is_wrong_is_refused_with_gnu_machs_codes() {
    check_errors(Mode::Long);
}

#[test]
fn the_kernel_serves_requests_of_migs_stubs() {
    check_servers(Mode::Long);
}

#[test]
fn threads_of_a_task_are_made_and_ended() {
    check_threads(Mode::Long);
}

pub fn check_messages(mode: Mode) {
    answers(mode, "mach_messages.c", |bits| {
        if bits == 64 { mach_answers::MESSAGES_64.into() } else { mach_answers::MESSAGES_32.into() }
    });
}

pub fn check_errors(mode: Mode) {
    answers(mode, "mach_errors.c", |bits| lines(mach_answers::ERRORS, bits));
}

pub fn check_servers(mode: Mode) {
    answers(mode, "mach_servers.c", |bits| lines(mach_answers::SERVERS, bits));
}

pub fn check_threads(mode: Mode) {
    // In protected mode a program's addresses end below that one, as they do in GNU Mach, which takes any.
    let wild = if mode == Mode::Protected { "a wild address 4\n" } else { "a wild address 0\n" };
    answers(mode, "mach_threads.c", |bits| of_threads(bits).replace("a wild address 0\n", wild));
}

/// What `mach_threads.c` says.
pub fn of_threads(bits: u8) -> String {
    lines(mach_answers::THREADS, bits) + "all end\n"
}

/// Runs a first task, and others beside it.
pub fn together(script: &mut Script, first: (&Program, &[&str]), others: &[(&Program, &[&str])]) {
    for (program, words) in others {
        let all: Vec<&str> = ["0", "0", "0"].iter().chain(*words).copied().collect();
        script.beside(program, &all);
    }
    run(script, first.0, 0, first.1);
}

/// So many tasks, of each pair of widths.
fn pairs(script: &mut Script, programs: &[Program], first: &str, other: &str) -> Vec<usize> {
    let mut counts = Vec::new();
    for count in [1, 2, 7] {
        for (one, two) in programs.iter().flat_map(|one| programs.iter().map(move |two| (one, two))) {
            let number = count.to_string();
            let others: Vec<(&Program, &[&str])> =
                (0..count).map(|_| (two, std::slice::from_ref(&other))).collect();
            together(script, (one, &[first, &number]), &others);
            counts.push(count);
        }
    }
    counts
}

#[test]
fn tasks_ask_and_answer() {
    check_pairs(Mode::Long);
}

pub fn check_pairs(mode: Mode) {
    for (first, other, of_other) in
        [("a", "q", "wrong of one who asks 0\n"), ("d", "f", "wrong of one who sends 0\n")]
    {
        let programs = programs(mode, "mach_pair.c");
        let (mut script, mut counts) = (Script::in_mode(mode), Vec::new());
        for configuration in ["pti=off", "pti=on", "pti=on stack=minimum exit=iret"] {
            script.set(&format!("{configuration} personality=mach"));
            counts.extend(pairs(&mut script, &programs, first, other));
        }
        let Some(session) = boot(&script, Emulator::TcgIntel) else { return };
        for (ran, count) in session.ran.iter().zip(counts) {
            let text = ran.text();
            // Each sends 0 to 49.
            assert!(text.contains(&format!("wrong 0\nsum {:x}\n", count * 1225)), "{}: {text}", ran.label);
            assert_eq!(text.matches(of_other).count(), count, "{}: {text}", ran.label);
        }
    }
}

#[test]
fn who_waits_for_ever_ends_the_program() {
    check_waits(Mode::Long);
}

pub fn check_waits(mode: Mode) {
    let programs = programs(mode, "mach_pair.c");
    let mut script = Script::in_mode(mode);
    script.set("personality=mach");
    for program in &programs {
        run(&mut script, program, 0, &["w"]);
        together(&mut script, (program, &["w"]), &[(program, &["w"]), (program, &["w"])]);
        // One ends, and the other waits.
        together(&mut script, (program, &["x"]), &[(program, &["w"])]);
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    for ran in &session.ran {
        let (log, killed) = (ran.log.join("\n"), matches!(ran.end, End::Fault([9, ..])));
        assert!(killed && log.contains("wait"), "{}: {:?} {log}", ran.label, ran.end);
    }
}

#[test]
fn the_end_of_a_task_is_told() {
    let programs = [64, 32].map(|bits| program(bits, "mach_pair.c"));
    let mut script = Script::new();
    script.set("pti=on personality=mach");
    for program in &programs {
        together(&mut script, (program, &["l"]), &[(program, &["b"])]);
    }
    let Some(session) = boot(&script, Emulator::TcgIntel) else { return };
    for ran in &session.ran {
        assert_eq!(ran.text(), "result 0\nid 47\nthen 10000003\n", "{}", ran.label);
    }
}

#[test]
fn who_waits_at_a_port_that_is_taken_away_gets_no_message_of_another() {
    let programs = [64, 32].map(|bits| program(bits, "mach_pair.c"));
    let mut script = Script::new();
    script.set("personality=mach");
    for program in &programs {
        together(&mut script, (program, &["k"]), &[(program, &["v"])]);
    }
    let Some(session) = boot(&script, Emulator::TcgIntel) else { return };
    for ran in &session.ran {
        assert_eq!(ran.text(), "sent 0\ndestroyed 0\nrobbed 10004009\n", "{}", ran.label);
    }
}

#[test]
fn no_byte_of_another_task_or_of_poison_is_received() {
    let programs = [64, 32].map(|bits| program(bits, "mach_pair.c"));
    let mut script = Script::new();
    script.set("personality=mach");
    for program in &programs {
        together(&mut script, (program, &["s"]), &[(program, &["t"])]);
        // In the next line's memory, too.
        together(&mut script, (program, &["s"]), &[(program, &["t"])]);
    }
    let Some(session) = boot(&script, Emulator::TcgIntel) else { return };
    for ran in &session.ran {
        let text = ran.text();
        let told = text.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("told ")?, 16).ok());
        assert!(told.unwrap() > 150 && text.ends_with("foreign 0\npoison 0\n"), "{}: {text}", ran.label);
    }
}

#[test]
fn programs_of_two_personalities_do_not_run_together() {
    let program = program(64, "mach_pair.c");
    let mut script = Script::new();
    script.set("personality=linux");
    script.beside(&program, &["0", "0", "0", "x"]);
    script.set("personality=mach");
    run(&mut script, &program, 0, &["x"]);
    run(&mut script, &program, 0, &["x"]);
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    assert_eq!(session.ran[0].end, End::NotLoaded(22));
    assert_eq!(session.ran[1].end, End::Exited(0));
}

#[test]
fn a_number_that_is_no_trap_is_an_invalid_instruction() {
    check_ends(Mode::Long);
}

pub fn check_ends(mode: Mode) {
    let mut script = Script::in_mode(mode);
    let programs = programs(mode, "mach_ends.c");
    let ends = ["130", "131", "stack", "far"];
    for configuration in ["pti=on stack=frame", "pti=off stack=minimum"] {
        script.set(&format!("{configuration} personality=mach"));
        for program in &programs {
            ends.iter().for_each(|end| run(&mut script, program, 0, &[end]));
        }
    }
    // And without the personality, no call of Linux's.
    script.set("personality=linux");
    programs.iter().for_each(|program| run(&mut script, program, 0, &["linux"]));
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let widths = widths(mode).repeat(2);
    let (ended, of_linux) = session.ran.split_at(widths.len() * ends.len());
    let asked = widths.iter().flat_map(|bits| ends.iter().map(move |end| (*bits, *end)));
    for (ran, (bits, end)) in ended.iter().zip(asked) {
        let wanted = match (end, bits) {
            // The last argument is read first: the seventh, behind the return address.
            ("stack", 64) => [11, 1, 14 << 32, 0x123 + 8],
            ("stack", _) => [11, 1, 14 << 32, 0x123 + 4 + 6 * 4],
            ("far", 64) => [11, 1, 14 << 32, 0xffff_ffff_8010_0008],
            ("far", _) => [11, 1, 14 << 32, 0xffff_fff0 + 4 + 6 * 4],
            _ => [4, 2, 6 << 32, 0],
        };
        assert_eq!(ran.end, End::Fault(wanted), "{}: {:?}", ran.label, ran.log);
    }
    assert!(!of_linux.is_empty());
    for ran in of_linux {
        assert_eq!(ran.end, End::Exited(38), "{}", ran.label); // ENOSYS
    }
}

#[test]
fn limits_are_errors_and_no_end() {
    check_limits(Mode::Long);
}

pub fn check_limits(mode: Mode) {
    let programs = programs(mode, "mach_hostile.c");
    let mut script = Script::in_mode(mode);
    for configuration in ["pti=off stack=minimum", "pti=on stack=frame"] {
        script.set(&format!("{configuration} personality=mach"));
        for program in &programs {
            run(&mut script, program, 0, &[]);
            run(&mut script, program, 0, &[]); // all that was taken is there again
        }
    }
    let Some(session) = boot(&script, Emulator::TcgIntel) else { return };
    for ran in &session.ran {
        assert_eq!(ran.text(), mach_answers::HOSTILE, "{}", ran.label);
    }
}

#[test]
fn a_message_is_read_from_its_sender_once() {
    let kernel = Kernel::read();
    let readers: Vec<String> = kernel.calls("user_read").into_iter().map(|(function, ..)| function).collect();
    assert_eq!(readers.iter().filter(|name| *name == "message_read").count(), 1, "{readers:?}");
    // Nothing else of what sends looks at the sender's memory again.
    let of_sending = |name: &str| {
        ["message_", "body_", "take_", "read_header", "send", "server_", "serve_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    };
    let others: Vec<&String> =
        readers.iter().filter(|name| of_sending(name) && *name != "message_read").collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Programs of mach_faults.c, of both widths.
fn of_faults() -> [Program; 2] {
    [64, 32].map(|bits| program(bits, "mach_faults.c"))
}

/// What two tasks of each pair of widths say: the first by its letter, and the other that runs beside it.
fn of_pairs(first: &str, other: &str) -> Vec<(u8, String)> {
    let programs = of_faults();
    let (mut script, mut widths) = (Script::new(), Vec::new());
    script.set("personality=mach");
    for [one, two] in [[0, 0], [1, 1], [0, 1], [1, 0]] {
        together(&mut script, (&programs[one], &[first]), &[(&programs[two], &[other])]);
        widths.push([64, 32][two]);
    }
    let Some(session) = boot(&script, Emulator::TcgIntel) else { return Vec::new() };
    widths.into_iter().zip(session.ran.iter().map(|ran| ran.text())).collect()
}

#[test]
fn who_ends_itself_by_message_is_answered() {
    for (_, text) in of_pairs("h", "e") {
        // Of a task of the other width the answer's code is elsewhere.
        assert!(text.starts_with("heard 0\nid 83c\nresult "), "{text}");
    }
}

#[test]
fn notifications_are_those_of_the_task_that_receives_them() {
    for (bits, text) in of_pairs("g", "t") {
        let bytes = if bits == 64 { "30" } else { "20" };
        let own = format!("told 0\nin bytes {bytes}\nwho is told may send 0\nwas told more 40\n");
        assert!(text.contains(&own) && text.contains("the giver may send 0\n"), "{bits}: {text}");
    }
}

#[test]
fn ports_that_are_made_for_a_task_are_among_its_own() {
    let mut script = Script::new();
    script.set("personality=mach");
    of_faults().iter().for_each(|program| run(&mut script, program, 0, &["k"]));
    let Some(session) = boot(&script, Emulator::TcgIntel) else { return };
    for ran in &session.ran {
        assert_eq!(ran.text(), "of tasks a\nand of devices 14\n", "{}", ran.label);
    }
}

/// What programs say that wait, on another machine of QEMU's and with a counter of this frequency.
fn waited(words: &str, letter: &str, hertz: u64) -> Vec<String> {
    if is_missing() {
        return Vec::new();
    }
    let folder = tempfile::tempdir().unwrap();
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {words}"));
    let boots = |archive: &[u8], programs, limits: &Limits| qemu.boot(archive, programs, limits);
    let mut script = Script::new();
    script.limit(0);
    script.set("personality=mach");
    of_faults().iter().for_each(|program| run(&mut script, program, 0, &[letter]));
    let session = script.boot_in(&boots, hertz).unwrap();
    session.ran.iter().map(|ran| ran.text()).collect()
}

#[test]
fn a_timeout_ends_where_the_counters_frequency_is_unknown() {
    for text in waited("-M microvm", "w", 0) {
        assert_eq!(text, "waited\n");
    }
}

#[test]
fn a_wait_of_twenty_minutes_ends_without_an_apic() {
    // Each instruction is 1024 ticks, and a second has as few of them as the kernel can count with.
    let slow = Qemu::TCG_HERTZ / 250;
    for text in waited("-cpu max,vendor=GenuineIntel,-apic -icount shift=10", "l", slow) {
        assert_eq!(text, "waited\nin time 1\n");
    }
}

#[test]
fn a_timeout_ends_while_another_yields_by_linuxs_call() {
    for (_, text) in of_pairs("y", "m") {
        assert_eq!(text, "it came 1\n");
    }
}

#[test]
fn an_alarm_ends_with_its_program() {
    for (_, text) in of_pairs("a", "w") {
        assert_eq!(text, "alarm 0\nwaited\n");
    }
}

/// By entries with i386 numbers a trap of a 64-bit program has arguments in registers that a call of Linux has none in.
#[test]
fn a_traps_arguments_outlive_work_on_the_way_in() {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kernel = folder.path().join("kernel");
    let step = "work: is there any on the way in";
    std::fs::write(&kernel, Kernel::read().without_jumps_of_steps(step)).unwrap();
    let qemu =
        wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" -kernel {}", kernel.display()));
    let boots = |archive: &[u8], programs, limits: &Limits| qemu.boot(archive, programs, limits);
    let mut script = Script::new();
    script.set(&format!("{ALL_OFF} stack=frame work=on personality=mach"));
    let program = program(64, "mach_messages.c");
    for way in ["syscall", "int80", "call_gate_i386"] {
        let way = WAYS_64.iter().position(|name| *name == way).unwrap();
        run(&mut script, &program, way, &[]);
    }
    let session = script.boot_in(&boots, Qemu::TCG_HERTZ).unwrap();
    for ran in &session.ran {
        assert!(ran.log.iter().any(|line| line == "work on the way in of a call"), "{}", ran.label);
        assert_eq!(ran.text(), mach_answers::MESSAGES_64, "{}", ran.label);
    }
}

#[test]
fn another_tasks_memory_is_entered_with_interrupts_off() {
    let kernel = Kernel::read();
    let callers: Vec<String> =
        kernel.calls("space_enter").into_iter().map(|(function, ..)| function).collect();
    let off = kernel.functions_that(|code| code.code() == Code::Cli);
    let of_mach: Vec<&String> = callers
        .iter()
        .filter(|name| ["task_", "go_to", "enter"].iter().any(|start| name.starts_with(start)))
        .collect();
    assert!(!of_mach.is_empty(), "{callers:?}");
    assert!(of_mach.iter().all(|name| off.contains(*name)), "{of_mach:?} {off:?}");
}

#[test]
fn nothing_is_left_in_memory_of_a_message_that_was_converted() {
    let convert = OnHost::new("mach_convert.c", &["mach/message.c"]);
    for bytes in [32, 40, 48, 240] {
        for widths in ["64 32", "32 64", "64 64"] {
            assert_eq!(convert.run(&format!("{widths} {bytes}"), b""), "0\n", "{widths} {bytes}");
        }
    }
}

#[test]
fn names_are_masked_as_numbers_of_traps_are() {
    let masks = Kernel::read().functions_that(|code| code.mnemonic() == Mnemonic::Sbb);
    for function in ["name_find", "name_new_at"] {
        assert!(masks.contains(function), "{function}: {masks:?}");
    }
}

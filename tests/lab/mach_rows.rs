//! The table's rows of GNU Mach: their answers and counts in every emulator, with every protection; and that a probe notices what is
//! answered wrongly.

use crate::guest::{Answer, Emulator, Script};
use crate::kernel::Kernel;
use crate::mach::{CONFIGURATIONS, program, widths};
use crate::matrix::{check_all, expected_in};
use crate::steps::{ALL_PATHS, entering};
use places::lab::Mode;
use record::{Verdict, abi};
use std::collections::BTreeMap;
use table::{Entry, Kind, Operation, Table, Whose};

type Row = (&'static Entry, &'static Operation);

fn rows() -> Vec<Row> {
    rows_in(Mode::Long)
}

fn rows_in(mode: Mode) -> Vec<Row> {
    let whose = Whose::machs(mode.kernel()).expect("the lab has GNU Mach's calls in every mode");
    Table::get().rows(whose).collect()
}

/// A `rep movs` that moves anything has one turn more in QEMU, as in matrix.rs. So many there are: a copy from or to a program's memory
/// has one for words, and one for the bytes that are left (lab/entry/user.S). In protected mode a word has 4 bytes, and nothing is left.
fn turns(mode: Mode, emulator: Emulator, entry: &Entry, operation: &Operation) -> i64 {
    let [wide, narrow] = match operation.name.as_str() {
        "mach_print" | "mach_msg-null" => [1, 2],
        "mach_msg-send-receive" => [4, 5],
        "mach_msg-rpc" | "mach_msg-rpc-thread" => [8, 10],
        // What is behind the header has copies of its own; of 32 bits it is no whole number of the words of a copy, which are of 8 bytes.
        "mach_msg-rpc-128" | "mach_msg-rpc-1024" | "mach_msg-rpc-4096" => [8, 16],
        "mach_msg-rpc-right" => [12, 14],
        "mapped-time" => [0, 0],
        other => panic!("{other}"),
    };
    let narrow = match (mode, operation.name.as_str()) {
        (Mode::Long, _) => narrow,
        // Arguments, and the string.
        (Mode::Protected, "mach_print") => 2,
        (Mode::Protected, _) => wide,
    };
    let is_counted = [Emulator::TcgIntel, Emulator::TcgAmd].contains(&emulator);
    if is_counted { if entry.bits() == 64 { wide } else { narrow } } else { 0 }
}

#[test]
fn every_row_answers_and_counts_alike_in_four_emulators() {
    check_counts(Mode::Long);
}

pub fn check_counts(mode: Mode) {
    let turns = |emulator, entry: &Entry, operation: &Operation| turns(mode, emulator, entry, operation);
    // Which entry the page has otherwise is the processor's.
    check_all(mode, |_| rows_in(mode), |_| vec!["pti=on entry-page=gate"], turns);
}

/// The rows that an emulator's processor has in a mode.
fn answering(mode: Mode, emulator: Emulator) -> impl Iterator<Item = Row> {
    rows_in(mode).into_iter().filter(move |row| expected_in(mode, emulator, *row) == Answer::Ok)
}

#[test]
fn every_row_answers_with_every_protection() {
    check_protections(Mode::Long);
}

pub fn check_protections(mode: Mode) {
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let (mut script, mut asked) = (Script::in_mode(mode), Vec::new());
        script.harmless();
        for configuration in CONFIGURATIONS {
            script.set(&format!("{ALL_OFF} {configuration} personality=mach"));
            // With exit=iret, QEMU's AMD model goes through what it otherwise fails to leave.
            for row in answering(mode, emulator) {
                script.row(row.0, row.1);
                asked.push(row);
            }
        }
        let Some(session) = script.boot(emulator) else { return };
        assert_eq!(session.ran.len(), asked.len());
        let wrong = session.ran.iter().filter(|ran| ran.answer() != Answer::Ok);
        let wrong: Vec<String> =
            wrong.map(|ran| format!("{}: {:x?} {:?}", ran.label, ran.answer(), ran.log)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

const ALL_OFF: &str = "gate=interrupt copy-frame=off clear-registers=off stack-offset=off canary=off index-mask=off dispatch=table \
                       returns=plain work=off trace=off filter=0 audit=off swapgs=off smap=on pti=off";

/// Steps that are none of the service's own instructions.
const COUNTED: [&str; 6] = [
    "smap=off stack=minimum exit=natural pti=off",
    "smap=off stack=frame exit=iret pti=off swapgs=on",
    "smap=off stack=frame exit=natural pti=on work=on audit=on",
    "smap=on stack=minimum exit=iret pti=on",
    "smap=on stack=frame exit=natural pti=trampoline copy-frame=on index-mask=on",
    "smap=on stack=frame exit=natural pti=off dispatch=retpoline clear-registers=on verw=on",
];

/// How often a service opens the program's memory: for arguments that are not in registers, and for what they point to.
fn reads(entry: &Entry, operation: &Operation) -> u64 {
    match (operation.name.as_str(), entry.bits()) {
        ("mach_print", 64) | ("mach_msg-null", _) => 1,
        ("mach_print", 32) => 2,
        (other, bits) => panic!("{other} of {bits} bits"),
    }
}

#[test]
fn a_trap_costs_the_steps_of_its_path_and_its_service() {
    check_steps(Mode::Long);
}

pub fn check_steps(mode: Mode) {
    let kernel = Kernel::in_mode(mode);
    let is_one = |(entry, one): &Row| entry.kind == Kind::Number && one.trap.is_some() && !one.message;
    let of_one_trap: Vec<Row> = answering(mode, Emulator::TcgIntel).filter(is_one).collect();
    assert!(of_one_trap.len() >= 5 * widths(mode).len(), "{of_one_trap:?}");
    let (mut script, mut asked) = (Script::in_mode(mode), Vec::new());
    script.harmless();
    for configuration in COUNTED {
        let whole = format!("{ALL_OFF} verw=off {configuration} personality=mach");
        script.set(&whole);
        for row in &of_one_trap {
            script.row(row.0, row.1);
            asked.push((*row, whole.clone()));
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let (mut services, mut wrong) = (BTreeMap::<(bool, &str), u64>::new(), Vec::new());
    for (ran, ((entry, operation), whole)) in session.ran.iter().zip(&asked) {
        assert_eq!(ran.answer(), Answer::Ok, "{}", ran.label);
        let mut set: BTreeMap<&str, &str> =
            whole.split_whitespace().map(|pair| pair.split_once('=').unwrap()).collect();
        set.extend(entry.needs_for(operation));
        let set: Vec<(&str, &str)> = set.into_iter().collect();
        let path = ALL_PATHS.iter().find(|(name, _)| *name == entry.name).map_or("int80", |(_, path)| path);
        let listed = kernel.path(path).walk(&set, |_, _| false) + entering(&entry.name);
        let access = if set.contains(&("smap", "on")) { 2 * reads(entry, operation) } else { 0 };
        let counted = ran.cost() - listed - access;
        // The same for every entry of a width, and every configuration.
        let service = services.entry((entry.bits() == 64, &operation.name)).or_insert(counted);
        if *service != counted {
            wrong.push(format!("{}: {counted} of the service, and not {service}", ran.label));
        }
    }
    assert!(wrong.is_empty(), "{services:?} {wrong:#?}");
}

/// Behind the call: a stub's number, its return, and in 64-bit code the fourth argument's move; of the page the jump and its endbr, too.
fn of_stub(bits: u8, of_page: u64) -> u64 {
    if bits == 64 { 4 + of_page } else { 3 + of_page }
}

/// The entries that the page has on Intel's processors; and what it does besides, which in the entry's own row is the control's, too: of 64
/// bits, where the stack is and where to go on; of 32, three pushes, a move and three pops.
const PAGES: [(&str, [(&str, u64); 2]); 4] = [
    ("auto", [("syscall-x86_64", 0), ("sysenter-i386", 7)]),
    ("gate", [("syscall-x86_64", 0), ("lcall7-i386", 0)]),
    ("int80", [("trapgate-x86_64", 0), ("trapgate-i386", 0)]),
    ("sysenter", [("sysenter-x86_64", 2), ("sysenter-i386", 7)]),
];

#[test]
fn a_stub_costs_its_entry_and_its_own_instructions_and_the_page_a_jump_and_endbr_more() {
    check_stubs(Mode::Long);
}

pub fn check_stubs(mode: Mode) {
    let (mut script, mut asked) = (Script::in_mode(mode), Vec::new());
    script.harmless();
    for (variant, entries) in PAGES {
        script.set(&format!("{ALL_OFF} pti=on gate=trap personality=mach entry-page={variant}"));
        for ((bits, of_gate), (entry, more)) in
            [(64, "syscall-x86_64"), (32, "lcall7-i386")].into_iter().zip(entries)
        {
            if !widths(mode).contains(&bits) {
                continue;
            }
            let width = if bits == 64 { "x86_64" } else { "i386" };
            for operation in ["mach_print", "mach_msg-null", "mach_msg-send-receive"] {
                let stubs = ["stub-gate", "entry-page"].map(|stub| format!("{stub}-{width}"));
                for name in [of_gate, &stubs[0], entry, &stubs[1]] {
                    let (entry, operation) = row(name, operation);
                    script.row(entry, operation);
                }
                asked.push((bits, more));
            }
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    assert_eq!(session.ran.len(), 4 * asked.len());
    for (ran, (bits, more)) in session.ran.chunks(4).zip(asked) {
        let [gate, stub, own, page] = [0, 1, 2, 3].map(|at| ran[at].cost());
        assert_eq!(stub - gate, of_stub(bits, 0), "{} and {}", ran[1].label, ran[0].label);
        assert_eq!(page - own, of_stub(bits, 2) + more, "{} and {}", ran[3].label, ran[2].label);
    }
}

#[test]
fn the_page_with_sysenter_costs_a_jump_and_endbr_more_than_a_stub_with_sysenter() {
    let mut script = Script::new();
    script.set(&format!("{ALL_OFF} pti=on personality=mach entry-page=sysenter"));
    for operation in ["mach_print", "mach_msg-null", "mach_msg-send-receive"] {
        for name in ["stub-sysenter-i386", "entry-page-i386"] {
            let (entry, operation) = row(name, operation);
            script.row(entry, operation);
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    assert_eq!(session.ran.len(), 6);
    for ran in session.ran.chunks(2) {
        assert_eq!(ran[1].cost() - ran[0].cost(), 2, "{}", ran[1].label);
    }
}

fn row(entry: &str, operation: &str) -> Row {
    (Table::get().entry(entry).unwrap(), Table::get().operation(operation).unwrap())
}

/// What a probe finds whose arguments are these, beside a program.
fn verdict(script: &Script) -> Option<Vec<Answer>> {
    Some(script.boot(Emulator::TcgIntel)?.ran.iter().map(|ran| ran.answer()).collect())
}

fn wrong_answer(answer: Answer) -> u64 {
    match answer {
        Answer::Verdict(Verdict { outcome: abi::OUTCOME_MISMATCH, cause: abi::CAUSE_ANSWER, detail }) => {
            detail[0]
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_reply_that_is_not_to_the_request_was_noticed() {
    let mut script = Script::new();
    script.set("personality=mach");
    for (bits, entry) in [(64, "syscall-x86_64"), (32, "lcall7-i386")] {
        let liar = program(bits, "mach_liar.c");
        for (operation, lie) in LIES {
            let (entry, operation) = row(entry, operation);
            script.client(entry, operation, &liar, &["0", "0", "0", lie]);
        }
    }
    let Some(answers) = verdict(&script) else { return };
    // The id of the request, and one more; what the receiver has no room for; a word that nobody was to change; another description; a port
    // whose receiver has ended.
    const INVALID_DEST: u64 = 0x1000_0003;
    let (too_large, name) = (0x1000_4004, [0x1_2000_200f, 0x1001_200f]);
    let word_at = |index: u32| u64::from(0x9e37_79b9_u32.wrapping_mul(index + 1));
    // The byte is the 40th behind the first word of 8 or 4 bytes.
    let words = [word_at(12) + 1, word_at(11) + 1];
    let due: Vec<u64> = [0, 1]
        .into_iter()
        .flat_map(|width| [4712, too_large, words[width], name[width], INVALID_DEST])
        .collect();
    assert_eq!(answers.into_iter().map(wrong_answer).collect::<Vec<_>>(), due);
}

const LIES: [(&str, &str); 5] = [
    ("mach_msg-rpc", "id"),
    ("mach_msg-rpc", "long"),
    ("mach_msg-rpc-128", "body"),
    ("mach_msg-rpc-right", "type"),
    // A failed send would have been timed as a round trip.
    ("mach_msg-rpc", "dies"),
];

#[test]
fn traps_of_mach_without_the_personality_are_refused_and_a_server_that_is_missing_is_told() {
    check_refusals(Mode::Long);
}

pub fn check_refusals(mode: Mode) {
    let mut script = Script::in_mode(mode);
    for (entry, operation) in answering(mode, Emulator::TcgIntel) {
        script.bare_row(entry, operation);
    }
    script.set("personality=mach");
    for bits in widths(mode) {
        let entry = if *bits == 64 { "syscall-x86_64" } else { "lcall7-i386" };
        let (entry, operation) = row(entry, "mach_msg-rpc");
        script.bare_row(entry, operation);
    }
    let Some(mut answers) = verdict(&script) else { return };
    let alone = answers.split_off(answers.len() - widths(mode).len());
    const ENOSYS: u64 = 38;
    for answer in answers {
        let Answer::Verdict(verdict) = answer else { panic!("{answer:?}") };
        let found = (verdict.outcome, verdict.cause, verdict.detail[0]);
        assert_eq!(found, (abi::OUTCOME_REFUSED, abi::CAUSE_ERRNO, ENOSYS));
    }
    // The name is then that of its own task, which has the right already: KERN_RIGHT_EXISTS.
    assert_eq!(alone.into_iter().map(wrong_answer).collect::<Vec<_>>(), vec![21; widths(mode).len()]);
}

#[test]
fn a_device_that_the_kernel_lacks_closes_the_rows_that_need_it() {
    let mut script = Script::new();
    script.change_probes(b"\0entry\0", b"\0other\0");
    script.set("personality=mach");
    let of_device: Vec<Row> =
        rows().into_iter().filter(|(entry, _)| entry.name.starts_with("entry-page-")).collect();
    for (entry, operation) in &of_device {
        script.row(entry, operation);
    }
    let Some(answers) = verdict(&script) else { return };
    assert_eq!(answers.len(), 8);
    for (answer, (entry, operation)) in answers.into_iter().zip(of_device) {
        let label = format!("{} {}", entry.name, operation.name);
        let Answer::Verdict(verdict) = answer else { panic!("{label}: {answer:?}") };
        let found = (verdict.outcome, verdict.cause);
        assert_eq!(found, (abi::OUTCOME_UNSUPPORTED, abi::CAUSE_NO_DEVICE), "{label}: {verdict:?}");
    }
}

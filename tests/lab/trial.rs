//! Runs cases of a program, behind each a probe: the case ends as it should, and what runs after it runs as if nothing had
//! been.

use crate::build::Program;
use crate::guest::{Answer, Emulator, Ran, Script, Session};
use places::lab::{End, Mode};
use table::{Entry, Operation, Table};

/// How a case ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// By itself, with this status.
    Exit(u64),
    /// By an exception of this vector.
    Vector(u64),
    /// By an exception of this vector with this error code.
    Code(u64, u64),
    /// The same of the instruction at this offset.
    At(u64, u64, u64),
    /// By a page fault there.
    Page(u64),
    /// By a page fault there, where the page tables in use have no page.
    Absent(u64),
    /// By a page fault there, where they have one that is not the program's.
    Present(u64),
    /// By a general protection fault, or the page fault of an emulator that looks for the address before it looks at it.
    Address,
    /// By an exception for the stack: QEMU raises #GP where a processor raises #SS.
    Stack,
    /// By a general protection fault. QEMU reads what iret and a far return take as ring 0 would, which SMAP forbids.
    Taken,
    /// By SIGKILL, with a line in the log: there is no memory left, or it would wait for ever.
    Killed,
    /// By the limit.
    Runaway,
    /// By either: the kernel may refuse it, or take it and be interrupted.
    ExitOrRunaway,
}
pub use Expected::*;

const SIGKILL: u64 = 9;

/// Exceptions by vector: the signal that Linux makes of each.
const SIGNALS: &[(u64, u64)] = &[
    (0, 8),   // #DE: SIGFPE
    (1, 5),   // #DB: SIGTRAP
    (3, 5),   // #BP
    (4, 11),  // #OF: SIGSEGV
    (5, 11),  // #BR
    (6, 4),   // #UD: SIGILL
    (10, 11), // #TS
    (11, 7),  // #NP: SIGBUS
    (12, 7),  // #SS
    (13, 11), // #GP
    (14, 11), // #PF
    (16, 8),  // #MF
    (17, 7),  // #AC
    (19, 8),  // #XM
];

/// What a program gets that is known to have no end, in instructions.
pub const SHORT: u64 = 1_500_000;

/// Of a page fault's error code: the access was that of ring 3.
const USER: u64 = 4;
/// The page was there.
const PRESENT: u64 = 1;

/// What is wrong with how a case has ended.
pub fn is_as(ran: &Ran, expected: Expected) -> Result<(), String> {
    let vector = |fault: [u64; 4]| fault[2] >> 32;
    let page_fault = |fault: [u64; 4], address| vector(fault) == 14 && fault[3] == address;
    let holds = match (ran.end, expected) {
        (End::Fault(fault), Vector(wanted)) => vector(fault) == wanted,
        (End::Fault(fault), Code(wanted, code)) => fault[2] == wanted << 32 | code,
        (End::Fault(fault), At(wanted, code, address)) => {
            fault[2] == wanted << 32 | code && fault[3] == address
        }
        (End::Fault(fault), Page(address)) => page_fault(fault, address),
        (End::Fault(fault), Absent(address)) => page_fault(fault, address) && fault[2] & PRESENT == 0,
        (End::Fault(fault), Present(address)) => page_fault(fault, address) && fault[2] & PRESENT != 0,
        (End::Fault(fault), Address) => vector(fault) == 13 || vector(fault) == 14,
        (End::Fault(fault), Stack) => vector(fault) == 12 || vector(fault) == 13,
        (End::Fault(fault), Taken) => vector(fault) == 13 || (vector(fault) == 14 && fault[2] & USER == 0),
        // One line says why.
        (End::Fault([SIGKILL, ..]), Killed) if ran.log.len() == 1 => return Ok(()),
        (End::Exited(status), Exit(wanted)) => status == wanted,
        (End::Runaway(ticks), Runaway | ExitOrRunaway) => ticks < 2 * SHORT,
        (End::Exited(0), ExitOrRunaway) => true,
        _ => false,
    };
    let is_signal = |fault| SIGNALS.contains(&(vector(fault), fault[0]));
    match ran.end {
        _ if !holds => Err(format!("{}: {:x?} instead of {expected:x?}", ran.label, ran.end)),
        End::Fault(fault) if !is_signal(fault) => Err(format!("{}: signal {}", ran.label, fault[0])),
        _ => Ok(()),
    }
}

/// A case: its words, and how it ends.
pub type Case = (String, Expected);

pub fn case(words: impl Into<String>, expected: Expected) -> Case {
    (words.into(), expected)
}

/// Rows that work on this emulator; one after the other shows that the kernel goes on.
pub fn working() -> Vec<(&'static Entry, &'static Operation)> {
    working_on(Emulator::TcgIntel, Mode::Long)
}

fn working_on(emulator: Emulator, mode: Mode) -> Vec<(&'static Entry, &'static Operation)> {
    let rows = Table::get().rows(mode.kernel());
    let has_all = |entry: &Entry| entry.needs.is_empty() && !emulator.lacks_on(mode.kernel(), entry);
    rows.filter(|(entry, operation)| operation.name == "getppid" && has_all(entry)).collect()
}

/// Runs cases, behind each a probe, in a configuration; collects what is wrong.
pub struct Trial {
    emulator: Emulator,
    pub script: Script,
    expected: Vec<Option<Expected>>,
}

impl Trial {
    pub fn new(emulator: Emulator) -> Trial {
        Trial { emulator, script: Script::new(), expected: Vec::new() }
    }

    /// The same with the kernel of protected mode.
    pub fn protected(emulator: Emulator) -> Trial {
        Trial { script: Script::protected(), ..Trial::new(emulator) }
    }

    fn probe(&mut self) {
        let rows = working_on(self.emulator, self.script.mode);
        let (entry, operation) = rows[self.expected.len() / 2 % rows.len()];
        self.script.row(entry, operation);
        self.expected.push(None);
    }

    pub fn exec(&mut self, program: &Program, (words, expected): &Case) {
        let words: Vec<&str> = words.split(' ').collect();
        self.script.exec(program, &words);
        self.expected.push(Some(*expected));
        self.probe();
    }

    pub fn run(&mut self, program: &Program, (words, expected): &Case) {
        let words: Vec<&str> = words.split(' ').collect();
        self.script.run(program, &words);
        self.expected.push(Some(*expected));
        self.probe();
    }

    pub fn check(&self) {
        let Some(Session { ran, .. }) = self.script.boot(self.emulator) else { return };
        assert_eq!(ran.len(), self.expected.len());
        let result = |(ran, expected): (&Ran, &Option<Expected>)| match expected {
            Some(expected) => is_as(ran, *expected).err(),
            None if ran.answer() == Answer::Ok => None,
            None => Some(format!("afterwards: {}: {:x?}", ran.label, ran.answer())),
        };
        let wrong: Vec<String> = ran.iter().zip(&self.expected).filter_map(result).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// With isolation and access prevention, and without.
pub const PROTECTIONS: &[&str] =
    &["pti=off smap=off", "pti=on smap=off", "pti=off smap=on", "pti=on smap=on"];

pub fn for_each(configurations: &[&str], what: impl FnMut(&mut Trial, &str)) {
    for_each_in(Trial::new(Emulator::TcgIntel), configurations, what);
}

pub fn for_each_in(mut trial: Trial, configurations: &[&str], mut what: impl FnMut(&mut Trial, &str)) {
    for switches in configurations {
        trial.script.set(switches);
        what(&mut trial, switches);
    }
    trial.check();
}

pub fn for_each_configuration(mut what: impl FnMut(&mut Trial)) {
    for_each(PROTECTIONS, |trial, _| what(trial));
}

/// The ways in and out, too.
pub const PATHS: &[&str] = &[
    "pti=off smap=off stack=minimum exit=natural",
    "pti=on smap=on stack=minimum exit=natural",
    "pti=off smap=on stack=frame exit=iret",
    "pti=on smap=off stack=frame exit=iret",
    "pti=off smap=off stack=minimum exit=iret gate=trap",
    "pti=on smap=on stack=minimum exit=iret gate=trap",
    "pti=trampoline copy-frame=on smap=on stack=minimum exit=natural gate=trap",
    "pti=on copy-frame=on smap=on stack=frame exit=natural gate=interrupt",
];

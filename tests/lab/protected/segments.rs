//! segments=limited: the kernel is behind the limit of whatever a program can load, where a processor checks limits, as Bochs does and QEMU's TCG
//! does not.

use crate::build::freestanding;
use crate::guest::{Emulator, Script};
use crate::protected::matrix::expected;
use places::lab::End;
use record::abi;
use table::Table;

/// Cases of segments32.S: how each ends with flat segments, and with limited ones.
const CASES: [(&str, Ends, Ends); 9] = [
    ("limit ffffffff", Ends::Exit(0), Ends::Exit(1)),
    ("limit bfffefff", Ends::Exit(1), Ends::Exit(0)),
    ("read c0100000", Ends::Vector(14), Ends::Vector(13)),
    ("write fffffffc", Ends::Vector(14), Ends::Vector(13)),
    ("jump c0100000", Ends::Vector(14), Ends::Vector(13)),
    ("push c0100000", Ends::Vector(14), Ends::Vector(12)),
    ("own-read c0100000", Ends::Vector(14), Ends::Vector(13)),
    ("own-below 0", Ends::Exit(0), Ends::Vector(13)),
    ("expand-down 0", Ends::Exit(0), Ends::Exit(2)),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    Exit(u64),
    Vector(u64),
    Other(End),
}

impl From<End> for Ends {
    fn from(end: End) -> Ends {
        match end {
            End::Exited(status) => Ends::Exit(status),
            End::Fault(fault) => Ends::Vector(fault[2] >> 32),
            end => Ends::Other(end),
        }
    }
}

#[test]
fn a_program_cannot_name_an_address_of_the_kernel() {
    let program = freestanding(32, &["segments32.S"]);
    for emulator in [Emulator::Bochs, Emulator::BochsAmd] {
        let mut script = Script::protected();
        for switches in
            ["segments=flat", "segments=limited exit=iret", "pti=on", "paging=classic", "segments=flat"]
        {
            script.set(switches);
            CASES
                .iter()
                .for_each(|(words, ..)| _ = script.exec(&program, &words.split(' ').collect::<Vec<_>>()));
            script.exec(&program, &["own-inside", "0"]);
        }
        let Some(session) = script.boot(emulator) else { continue };
        for ran in &session.ran {
            let is_limited = ran.label.contains("segments=limited");
            let case = CASES.iter().find(|(words, ..)| ran.label.contains(words));
            let expected =
                case.map_or(Ends::Exit(0), |(_, flat, limited)| if is_limited { *limited } else { *flat });
            assert_eq!(Ends::from(ran.end), expected, "{} in {}", ran.label, emulator.name());
        }
    }
}

#[test]
fn every_entry_answers_with_limits() {
    let table = Table::get();
    let rows = || table.rows(table::Kernel::LabI386).filter(|(_, operation)| operation.name == "getppid");
    for emulator in [Emulator::Bochs, Emulator::BochsAmd] {
        let mut script = Script::protected();
        for switches in
            ["segments=limited exit=iret pti=off", "pti=on stack=minimum", "pti=trampoline stack=frame"]
        {
            script.set(switches);
            rows().for_each(|(entry, operation)| _ = script.row(entry, operation));
        }
        let Some(session) = script.boot(emulator) else { continue };
        for (ran, (entry, operation)) in
            session.ran.iter().zip(rows().collect::<Vec<_>>().into_iter().cycle())
        {
            let expected = expected(emulator, &entry.name, &operation.name);
            assert_eq!(ran.answer(), expected, "{} in {}", ran.label, emulator.name());
        }
    }
}

/// Found by trial: QEMU is not asked for its name.
#[test]
fn only_a_processor_that_checks_limits_has_them() {
    for emulator in Emulator::ALL {
        let Some(session) = Script::protected().boot(emulator) else { continue };
        let checks = matches!(emulator, Emulator::Bochs | Emulator::BochsAmd);
        assert_eq!(session.boot.features >> abi::FEATURE_LIMITS & 1 == 1, checks, "{}", emulator.name());
    }
}

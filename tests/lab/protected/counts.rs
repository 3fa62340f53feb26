//! What a path executes: as many instructions as its steps have, by the clock of QEMU and by logs of emulators, which know nothing of steps.

use crate::counts::{Row, check};
use crate::exact::{check_each_alone, check_in_company, check_pairs};
use crate::guest::{Answer, Emulator};
use crate::protected::matrix::expected;
use crate::protected::unpaged::{OFF, expected_without};
use places::lab::Mode;

#[test]
fn each_step_alone_adds_what_its_listing_says() {
    check_each_alone(Mode::Protected);
}

#[test]
fn steps_in_company_add_what_their_listings_say_in_every_emulator() {
    check_in_company(Mode::Protected);
}

#[test]
fn pairs_of_steps_add_what_their_listings_say() {
    check_pairs(Mode::Protected);
}

/// QEMU has neither limits of segments nor paging=off.
#[test]
fn a_row_counts_what_a_log_of_every_instruction_has() {
    const PLAIN: &str = "pti=off smap=off";
    const CLASSIC: &str = "pti=on smap=off exit=iret stack=minimum copy-frame=on paging=classic";
    const MUCH: &str = "pti=on smap=on stack=frame copy-frame=on paging=wide verw=on ibrs=on events-by=task";
    const MORE: &str = "pti=trampoline exit=iret stack=frame filter=4 audit=on observe=on copy-frame=off verw=off ibrs=off events-by=gate";
    const BY_TASKS: &str = "pti=on smap=off events-by=task";
    const LIMITED: &str = "segments=limited exit=iret pti=on smap=on stack=minimum";
    for (emulator, configurations, least) in [
        (Emulator::TcgIntel, &[PLAIN, CLASSIC, MUCH, MORE][..], 136),
        (Emulator::TcgAmd, &[BY_TASKS], 35),
        (Emulator::Bochs, &[LIMITED], 36),
        (Emulator::BochsAmd, &[OFF], 31),
    ] {
        let is_open = |switches: &str, (entry, operation): Row| {
            let is_amds = switches == BY_TASKS && entry.name == "syscall-i386";
            let expected = if switches == OFF { expected_without } else { expected };
            is_amds || expected(emulator, &entry.name, &operation.name) == Answer::Ok
        };
        let compared = check(Mode::Protected, emulator, configurations, is_open);
        assert!(compared.is_none_or(|rows| rows >= least), "{}: {compared:?}", emulator.name());
    }
}

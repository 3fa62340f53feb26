//! What a driver in ring 1 may do (`lab/i386/entry/driver.c`), against what docs/entries/ring1-i386.md says.

use crate::guest::{Emulator, Script};
use places::lab::End;

/// Tries by their bits, as driver.c has them.
const NOTHING: u64 = 1;
const INT80: u64 = 1 << 18;
const SYSENTER: u64 = 1 << 19;
const KERNELS_MEMORY: u64 = 0b11 << 14;
const READ_PROGRAMS: u64 = 1 << 16;
const EXECUTE_PROGRAMS: u64 = 1 << 17;
/// From `cli` to the segment of ring 0, but for `popf`, which is ignored.
const PRIVILEGED: u64 = 0b11_1111_1111_1010;

#[test]
fn a_driver_in_ring_1_may_do_this_and_not_that() {
    let configurations: [(&str, u64); 5] = [
        ("pti=off smap=off smep=off", 0),
        ("smap=on", READ_PROGRAMS),
        ("smap=off smep=on", EXECUTE_PROGRAMS),
        ("pti=on smap=on", KERNELS_MEMORY | READ_PROGRAMS | EXECUTE_PROGRAMS),
        ("exit=iret stack=minimum paging=classic", KERNELS_MEMORY | READ_PROGRAMS | EXECUTE_PROGRAMS),
    ];
    for emulator in Emulator::ALL {
        let mut script = Script::protected();
        for (switches, _) in configurations {
            script.set(switches);
            script.check("ring1");
        }
        let Some(session) = script.boot(emulator) else { continue };
        for (ran, (_, not_mapped)) in session.ran.iter().zip(configurations) {
            let may = (KERNELS_MEMORY | READ_PROGRAMS | EXECUTE_PROGRAMS) & !not_mapped;
            let expected = [NOTHING | INT80 | may, PRIVILEGED, SYSENTER | not_mapped];
            let what = format!("{} in {}: {:#?}", ran.label, emulator.name(), ran.log);
            assert_eq!(ran.end, End::Checked(true, expected), "{what}");
        }
    }
}

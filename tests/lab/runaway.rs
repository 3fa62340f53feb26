//! Programs without an end: each is ended soon after its limit, wherever it is met.

use crate::build::freestanding;
use crate::faults::{ENTRIES, HUGE};
use crate::faults32::entries_32;
use crate::guest::Emulator;
use crate::trial::*;

#[test]
fn each_is_ended_and_the_next_runs() {
    let program = freestanding(64, &["faults64.S"]);
    let mut trial = Trial::new(Emulator::TcgIntel);
    trial.script.limit(SHORT);
    let program32 = freestanding(32, &["faults32.S"]);
    for switches in ["pti=off gate=interrupt", "pti=on gate=trap"] {
        trial.script.set(switches);
        for (entry, _) in entries_32() {
            trial.run(&program32, &case(format!("loop-{entry}"), Runaway));
        }
        trial.exec(&program, &case("spin", Runaway));
        trial.exec(&program, &case("nanosleep-for-ever 10000000", Runaway));
        // Into a pipe, which is full soon; nobody reads from it.
        trial.exec(&program, &case(format!("write-everything {HUGE}"), Killed));
        trial.exec(&program, &case(format!("random-everything {HUGE}"), ExitOrRunaway));
        for entry in ENTRIES {
            trial.run(&program, &case(format!("loop-{entry}"), Runaway));
        }
    }
    trial.check();
}

//! NMIs and ticks at every instruction of the paths of protected mode (every_instruction.rs), where an NMI has no stack of its own, and finds
//! the program's segments.

use super::unpaged;
use crate::every_instruction::{AMD, BY_TASKS, INTEL, ON_AMD, check_all, check_none_left_out};
use crate::nmi::check_while_paths_are_built;
use crate::spread_nmis;
use places::lab::Mode;

#[test]
fn interrupts_at_every_instruction_change_nothing() {
    check_all(INTEL.protected(), &ON_AMD);
}

#[test]
fn no_step_is_left_out() {
    check_none_left_out(Mode::Protected);
}

#[test]
fn interrupts_at_every_instruction_of_rarer_steps_change_nothing() {
    let configurations = [
        "pti=trampoline copy-frame=on stack=minimum exit=natural gate=interrupt observe=on cr3-writes=2",
        "pti=on copy-frame=on stack=frame exit=iret gate=trap global=on",
        "paging=classic pti=on copy-frame=on stack=minimum exit=natural gate=trap",
    ];
    check_all(INTEL.protected(), &configurations);
}

#[test]
fn interrupts_at_every_instruction_of_what_speculation_costs_change_nothing() {
    let configurations = [
        "pti=off gate=trap stack=minimum ibrs=on verw=on bhb=loop entry-ibpb=on returns=untrain dispatch=retpoline",
        "pti=on gate=trap stack=frame ibrs=on verw=on returns=untrain dispatch=direct index-mask=on",
        "pti=on gate=trap exit=iret ibrs=on verw=on returns=thunk dispatch=lfence",
    ];
    check_all(INTEL.protected(), &configurations);
}

#[test]
fn interrupts_at_every_instruction_of_the_supervisors_steps_change_nothing() {
    const SUPERVISOR: &str = "gate=trap stack-offset=on canary=on trace=on filter=4 audit=on stack=frame";
    let configurations = [
        format!("pti=off exit=natural {SUPERVISOR}"),
        format!("pti=on exit=iret {SUPERVISOR} stack-offset=prandom"),
    ];
    check_all(INTEL.protected(), &configurations.each_ref().map(String::as_str));
}

/// NMI comes to a task, which goes back to CR3 as the TSS has it: so what interrupts between the two writes of a path is held, too. And the first
/// instructions behind AMD's `syscall` have the program's stack, which no interrupt without a task would survive.
#[test]
fn tasks_that_interrupt_at_every_instruction_change_nothing() {
    check_all(INTEL.protected(), &[BY_TASKS]);
    check_all(AMD.protected(), &[BY_TASKS]);
}

/// Bochs looks at limits and at null segments, and enters rings 1 and 2.
#[test]
fn nmis_all_over_the_paths_change_nothing_in_bochs() {
    spread_nmis::check(Mode::Protected, "pti=on copy-frame=on gate=trap stack=frame");
    spread_nmis::check(Mode::Protected, &format!("{} gate=trap stack=minimum", unpaged::OFF));
}

#[test]
fn an_nmi_may_come_while_paths_are_built() {
    let turns = ["paging=wide events-by=task", "paging=classic", "paging=wide events-by=gate"];
    check_while_paths_are_built(Mode::Protected, turns);
}

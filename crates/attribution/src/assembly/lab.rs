//! What a use of an entry executes of the lab's path, by its listing.

use crate::assembly::One;
use crate::assembly::family::stands_for_c;
use crate::assembly::kind::kind;
use iced_x86::{
    Code, ConditionCode, Decoder, DecoderOptions, FlowControl, Formatter, Instruction, Mnemonic, OpKind,
    Register,
};
use record::Step;
use std::collections::BTreeMap;
use table::paths::gnu_formatter;

/// No path is longer; a listing from elsewhere may lead round and round.
const MOST: usize = 4096;

/// The instructions that one call executes, from the first to the one that leaves, without those that stand for C. Conditional branches
/// are not taken, as in Linux where nothing is special, but for those that ask whether a frame is a program's, which it is, and whether
/// translations are to be flushed, which they are not from call to call.
pub fn of_lab(steps: &[Step]) -> Vec<One> {
    let mut formatter = gnu_formatter(None);
    let one = |(place, instruction): (usize, Instruction)| {
        let mut text = String::new();
        formatter.format(&instruction, &mut text);
        let name = steps.get(place).map(|step| step.name.clone()).unwrap_or_default();
        One { text, place: name, kind: kind(&instruction) }
    };
    executed(steps).into_iter().map(one).collect()
}

/// Of each of them, the place of its step.
pub fn steps_of_column(steps: &[Step]) -> Vec<usize> {
    executed(steps).into_iter().map(|(place, _)| place).collect()
}

/// The steps that one call comes to, by their places, in the order of execution; those that stand for C, too.
pub fn steps_of_lab(steps: &[Step]) -> Vec<usize> {
    let mut places: Vec<usize> = walked(steps, true).into_iter().map(|(place, _)| place).collect();
    places.dedup();
    places
}

/// With the places of their steps.
fn executed(steps: &[Step]) -> Vec<(usize, Instruction)> {
    let is_assembly = |(place, _): &(usize, Instruction)| steps.get(*place).is_some_and(|step| !is_c(step));
    walked(steps, false).into_iter().filter(is_assembly).collect()
}

/// What is executed; `with_c` enters the functions that stand for C, too.
fn walked(steps: &[Step], with_c: bool) -> Vec<(usize, Instruction)> {
    let code = decoded(steps);
    let (mut executed, mut calls, mut last) = (Vec::new(), Vec::new(), None);
    let mut at = steps.first().map_or(0, |step| step.address);
    let is_left_out = |step: &Step| !with_c && is_c(step);
    for _ in 0..MOST {
        let Some((place, _, instruction)) = code.get(&at) else { break };
        executed.push((*place, *instruction));
        if leaves(instruction) {
            break;
        }
        match next(&code, instruction, last.as_ref(), &mut calls, &is_left_out) {
            Some(next) => at = next,
            None => break,
        }
        last = Some(*instruction);
    }
    executed
}

/// Instructions by their addresses, each with its step and the place of that.
type Listing<'a> = BTreeMap<u64, (usize, &'a Step, Instruction)>;

fn decoded(steps: &[Step]) -> Listing<'_> {
    let of_step = |step: &'_ Step| {
        let decoder = Decoder::with_ip(64, &step.code, step.address, DecoderOptions::NONE);
        decoder.into_iter().collect::<Vec<_>>()
    };
    let of_place = |(place, step)| of_step(step).into_iter().map(move |one| (one.ip(), (place, step, one)));
    steps.iter().enumerate().flat_map(of_place).collect()
}

fn is_c(step: &Step) -> bool {
    stands_for_c(&step.name)
}

/// Where it goes on; `calls` are the calls within the path that have not returned.
fn next(
    code: &Listing,
    instruction: &Instruction,
    last: Option<&Instruction>,
    calls: &mut Vec<u64>,
    is_left_out: &dyn Fn(&Step) -> bool,
) -> Option<u64> {
    let (behind, target) = (instruction.next_ip(), instruction.near_branch_target());
    match instruction.flow_control() {
        // What is jumped to in place of a call and a return: it returns for its caller.
        FlowControl::UnconditionalBranch
            if code.get(&target).is_some_and(|(_, step, _)| is_left_out(step)) =>
        {
            calls.pop().or(Some(target))
        }
        FlowControl::UnconditionalBranch if code.contains_key(&target) => Some(target),
        // A thunk that returns.
        FlowControl::UnconditionalBranch | FlowControl::Return => calls.pop(),
        FlowControl::Call => match code.get(&target) {
            Some((_, step, _)) if !is_left_out(step) => {
                calls.push(behind);
                Some(target)
            }
            _ => Some(behind),
        },
        FlowControl::ConditionalBranch if is_taken(instruction, last) => Some(target),
        _ => Some(behind),
    }
}

/// A branch away where the ring that lies on the stack is not the kernel's, or where the bit of an address space is clear in the mask of those
/// to flush.
fn is_taken(branch: &Instruction, last: Option<&Instruction>) -> bool {
    let asks_for_ring = |test: &Instruction| {
        test.mnemonic() == Mnemonic::Test && test.memory_base() == Register::RSP && test.immediate8() == 3
    };
    let asks_for_flush =
        |test: &Instruction| test.mnemonic() == Mnemonic::Bt && test.op0_kind() == OpKind::Memory;
    match branch.condition_code() {
        ConditionCode::ne => last.is_some_and(asks_for_ring),
        ConditionCode::ae => last.is_some_and(asks_for_flush),
        _ => false,
    }
}

fn leaves(instruction: &Instruction) -> bool {
    matches!(
        instruction.code(),
        Code::Sysretq | Code::Sysretd | Code::Sysexitq | Code::Sysexitd | Code::Iretq
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps one behind the other, from 0x1000 on.
    fn listed(steps: &[(&str, &[u8])]) -> Vec<String> {
        let mut address = 0x1000;
        let steps: Vec<Step> = (0..)
            .zip(steps)
            .map(|(place, (name, code))| {
                let step = Step { place, address, code: code.to_vec(), name: (*name).into() };
                address += code.len() as u64;
                step
            })
            .collect();
        of_lab(&steps).into_iter().map(|one| one.kind).collect()
    }

    #[test]
    fn functions_of_a_path_are_followed_and_what_stands_for_c_is_not() {
        let all = listed(&[
            ("call a function", &[0xe8, 8, 0, 0, 0]),  // to + d
            ("call what serves", &[0xe8, 6, 0, 0, 0]), // to + 10
            ("sysret", &[0x48, 0x0f, 0x07]),
            ("a function that jumps to C in place of a return", &[0xeb, 1]), // to + 10
            ("return", &[0xc3]),
            ("C: what serves", &[0x90, 0x90]),
            ("return by the thunk", &[0xe9, 0, 0x10, 0, 0]),
        ]);
        assert_eq!(all, ["call", "jmp", "call", "sysretq"]);
    }

    #[test]
    fn every_instruction_has_its_step() {
        let step = |place, address, code: &[u8], name: &str| Step {
            place,
            address,
            code: code.to_vec(),
            name: name.into(),
        };
        let steps = [
            step(0, 0x1000, &[0x90, 0xe8, 5, 0, 0, 0], "a nop and a call"), // to 100b
            step(1, 0x1006, &[0x90, 0x90, 0x48, 0x0f, 0x07], "leave"),
            step(2, 0x100b, &[0x90, 0xc3], "C: what serves"),
        ];
        assert_eq!(steps_of_column(&steps), [0, 0, 1, 1, 1]);
        assert_eq!(steps_of_lab(&steps), [0, 2, 1]);
        assert!(steps_of_column(&[]).is_empty() && steps_of_lab(&[]).is_empty());
    }

    #[test]
    fn a_frame_is_a_programs_no_flush_is_due_and_other_branches_are_not_taken() {
        let all = listed(&[
            ("whose", &[0xf6, 0x44, 0x24, 8, 3, 0x75, 1, 0x90]), // testb $3, 8(%rsp); jne over a nop
            ("other", &[0x48, 0x39, 0xc8, 0x75, 1, 0x90]),       // cmp %rcx, %rax; jne over a nop
            ("iret", &[0x48, 0xcf]),
        ]);
        assert_eq!(all, ["test $0x3, (%rsp)", "jne", "cmp %rcx, %rax", "jne", "nop", "iretq"]);
        // bt %rdi, mask; jae over btr; btr %rdi, mask
        let mask = [&[0x48, 0x0f, 0xa3, 0x3c, 0x25][..], &[0; 4]].concat();
        let due = [&[0x48, 0x0f, 0xb3, 0x3c, 0x25][..], &[0; 4]].concat();
        let of_flush = listed(&[
            ("is a flush due", &[&mask[..], &[0x73, 9]].concat()),
            ("it is", &due),
            ("sysret", &[0x48, 0x0f, 0x07]),
        ]);
        assert_eq!(of_flush, ["bt %rdi, (own)", "jae", "sysretq"]);
        assert!(listed(&[("round and round", &[0x90, 0xeb, 0xfd])]).len() == MOST);
        assert!(listed(&[]).is_empty());
    }
}

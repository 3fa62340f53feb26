//! The assembler's code of an entry, instruction by instruction: what stands where is the same in every version of
//! `arch/x86/entry/calling.h`, with other macros between.

use crate::anatomy::code::{clears, decides, is_nop, is_on_stack, is_own, jumps, moves, moves_stack_pointer};
use crate::anatomy::functions::{self, Region};
use crate::anatomy::path::{Node, Path};
use crate::anatomy::patterns::is_frame_argument;
use crate::anatomy::{Confidence, Part};
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

/// What the entries of exceptions call first.
const ERROR_ENTRY: &str = "error_entry";

/// Where in an entry's code a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Registers are saved.
    In,
    /// The frame is handed to C code.
    Arguments,
    /// Back from C code.
    Back,
    /// Registers are loaded.
    Out,
    /// What is left of the frame is on another stack.
    Copied,
    /// GS is the program's again.
    Swapped,
}

/// Tells what is not yet known of the entries' own code.
pub(crate) fn tell(path: &mut Path) {
    let mut phase = Phase::In;
    for place in 0..path.0.len() {
        let node = &path.0[place];
        match node.region {
            None => phase = Phase::In,
            Some(Region::Of(Part::Handler)) => phase = Phase::Back,
            Some(Region::Entry) => {
                let phase_before = if begins_exception(node) { Phase::In } else { phase };
                phase = next(phase_before, path, place);
                if is_mark(path, place) {
                    path.tell_idle(place, Part::Returns);
                } else if let Some(part) = part(path, place, phase) {
                    path.tell(place, part, Confidence::Pattern);
                }
            }
            Some(Region::Of(_)) => (),
        }
    }
}

/// Whether an exception or an interrupt begins: the kernel may have raised it behind the way in of what it serves.
fn begins_exception(node: &Node) -> bool {
    node.place.as_ref().is_some_and(|place| place.offset == 0 && place.name.starts_with("asm_"))
}

/// Whether it is the nop by which objtool knows where returns are untrained (`UNWIND_HINT` and `ANNOTATE_UNRET_END`).
fn is_mark(path: &Path, place: usize) -> bool {
    let node = &path.0[place];
    let untrains = |node: &Node| node.part == Some((Part::Returns, Confidence::Table));
    let is_before = path.0.get(place + 1).is_some_and(untrains);
    is_nop(&node.code) && (is_before || node.name() == ERROR_ENTRY && node.code.len() == 1)
}

/// Whether the stack's pointer is kept before another stack is taken, from which the frame is then copied.
fn keeps_stack(path: &Path, place: usize) -> bool {
    let takes = path.code(place + 1).is_some_and(|next| moves_stack_pointer(next) && is_own(next));
    takes && moves(&path.0[place].code, Register::RSP, Register::RDI)
}

fn next(phase: Phase, path: &Path, place: usize) -> Phase {
    let code = &path.0[place].code;
    match phase {
        Phase::In if is_frame_argument(code) && !keeps_stack(path, place) => Phase::Arguments,
        Phase::Back if code.mnemonic() == Mnemonic::Pop => Phase::Out,
        Phase::Back | Phase::Out if moves(code, Register::RSP, Register::RDI) => Phase::Copied,
        Phase::Back | Phase::Out | Phase::Copied if code.mnemonic() == Mnemonic::Swapgs => Phase::Swapped,
        other => other,
    }
}

fn part(path: &Path, place: usize, phase: Phase) -> Option<Part> {
    let code = &path.0[place].code;
    let before = |back: usize| place.checked_sub(back).and_then(|at| path.0.get(at));
    let is_look = |code: &Instruction| {
        code.mnemonic() == Mnemonic::Test
            && is_on_stack(code)
            && code.immediate8() == 3
            && code.op1_kind() == OpKind::Immediate8
    };
    let called = path.0.get(place + 1).filter(|_| code.is_call_near());
    // The function that comes next, by a call or in the place of a return.
    let led = path.0.get(place + 1).filter(|_| code.is_call_near() || jumps(code));
    if let Some(part) = of_kernels_exception(path, place, is_look(code)) {
        return Some(part);
    }
    match phase {
        // The frame that iretq loads is the program's: only checked, for GS is swapped already.
        Phase::Swapped if decides(code) => Some(Part::ReturnChecks),
        // An exception is one of the program's, or of the kernel's.
        _ if is_look(code) => Some(Part::Swapgs),
        _ if code.flow_control() == FlowControl::ConditionalBranch
            && before(1).is_some_and(|last| is_look(&last.code)) =>
        {
            Some(Part::Swapgs)
        }
        _ if led.is_some_and(|led| functions::own(led.name()) == Some(Part::CopyFrame)) => {
            Some(Part::CopyFrame)
        }
        // A call of an entry's own code saves registers.
        _ if called.is_some_and(|called| called.region == Some(Region::Entry)) => Some(Part::Frame),
        _ if clears(code) => Some(Part::ClearRegisters),
        Phase::In => entering(path, place),
        Phase::Arguments => Some(Part::Handler),
        Phase::Copied if moves_stack_pointer(code) || moves(code, Register::RSP, Register::RDI) => {
            Some(Part::CopyFrame)
        }
        Phase::Copied if matches!(code.mnemonic(), Mnemonic::Push | Mnemonic::Pop) => Some(Part::CopyFrame),
        _ if matches!(code.mnemonic(), Mnemonic::Pop | Mnemonic::Push) => Some(Part::Frame),
        _ if is_shift_of_stack(code) => Some(Part::Frame),
        Phase::Back | Phase::Out | Phase::Copied if decides(code) => Some(Part::ReturnChecks),
        Phase::Back if code.mnemonic() == Mnemonic::Mov && is_on_stack(code) => {
            Some(if is_checked(path, place) { Part::ReturnChecks } else { Part::Frame })
        }
        Phase::Out | Phase::Swapped if code.mnemonic() == Mnemonic::Mov && is_on_stack(code) => {
            Some(Part::Frame)
        }
        Phase::Back | Phase::Out | Phase::Copied | Phase::Swapped if jumps(code) => Some(Part::Leaving),
        _ => None,
    }
}

/// The code that exceptions of programs and of the kernel share, where one is the kernel's: two places of it may raise one while GS is
/// the program's, and no other stack is taken.
fn of_kernels_exception(path: &Path, place: usize, is_look: bool) -> Option<Part> {
    let (node, behind) = (&path.0[place], &path.0[place + 1..]);
    let code = &node.code;
    let is_compared = behind.iter().take(3).any(|node| decides(&node.code));
    let is_stack = code.memory_base() == Register::RSP;
    if node.name() != ERROR_ENTRY || is_look {
        return None;
    }
    match code.mnemonic() {
        _ if decides(code) => Some(Part::Swapgs),
        Mnemonic::Lea if is_compared && !is_stack => Some(Part::Swapgs),
        Mnemonic::Mov if code.op0_register() == Register::EAX && code.op1_register() == Register::ECX => {
            Some(Part::Swapgs)
        }
        Mnemonic::Lea if is_stack && code.op0_register() == Register::RAX => Some(Part::Frame),
        Mnemonic::Ret | Mnemonic::Push => Some(Part::Frame),
        // In the place of a return.
        Mnemonic::Jmp if behind.first().is_some_and(|next| functions::is_thunk(next.name())) => {
            Some(Part::Frame)
        }
        _ => None,
    }
}

/// Whether what is loaded from the frame is compared before another value is in the register: otherwise it is the program's again.
fn is_checked(path: &Path, place: usize) -> bool {
    let register = path.0[place].code.op0_register().full_register();
    let names = |code: &Instruction| {
        [code.op0_register(), code.op1_register()].iter().any(|named| named.full_register() == register)
    };
    let entry = path.0[place + 1..].iter().take_while(|node| node.region == Some(Region::Entry));
    let used = entry.map(|node| &node.code).find(|code| names(code));
    used.is_some_and(decides)
}

fn entering(path: &Path, place: usize) -> Option<Part> {
    let code = &path.0[place].code;
    let calls_sync = path.0.iter().skip(place + 1).take(2).any(|node| node.name() == "sync_regs");
    match code.mnemonic() {
        _ if moves_stack_pointer(code) || keeps_stack(path, place) => Some(Part::KernelStack),
        // A 32-bit program's, kept in a register that it does not have.
        _ if moves(code, Register::ESP, Register::R8D) => Some(Part::KernelStack),
        Mnemonic::Lea if calls_sync => Some(Part::CopyFrame),
        Mnemonic::Push if code.memory_base() == Register::RDI => Some(Part::CopyFrame),
        // Until 5.16 the call's number is the first argument.
        _ if moves(code, Register::RAX, Register::RDI) => Some(Part::Handler),
        _ if moves(code, Register::RAX, Register::RSP) => Some(Part::KernelStack),
        Mnemonic::Push | Mnemonic::Pop | Mnemonic::Pushf | Mnemonic::Pushfq => Some(Part::Frame),
        // sysenter leaves the program's flags as they are; some must not be set in the kernel.
        _ if decides(code) => Some(Part::Flags),
        Mnemonic::Mov if is_on_stack(code) && !is_own(code) => Some(Part::Frame),
        // A register's upper half, where a 32-bit program has nothing.
        Mnemonic::Mov if code.op0_register() == code.op1_register() => Some(Part::Handler),
        Mnemonic::Cld => Some(Part::Flags),
        Mnemonic::Ret | Mnemonic::Jmp => Some(Part::Frame),
        Mnemonic::Movsxd => Some(Part::Handler),
        _ if is_shift_of_stack(code) => Some(Part::Frame),
        _ => None,
    }
}

/// `add $n, %rsp`
fn is_shift_of_stack(code: &Instruction) -> bool {
    matches!(code.mnemonic(), Mnemonic::Add | Mnemonic::Sub)
        && code.op0_register() == Register::RSP
        && code.op1_kind() != OpKind::Register
}

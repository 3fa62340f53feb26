//! The C function of an entry of system calls, with what the compiler has inlined into it. Since the work of entry and exit is in headers
//! (Linux 6.15 on), most of such a function is not its own: what stands before the dispatch is work of the entry, what stands behind the
//! service's result is work of the exit, and what then looks at the frame checks how to return. The function's own are its frame, its
//! arguments, and what it reads from or stores in the program's registers.

use crate::anatomy::code::{calls, decides, has_memory, jumps, keeps_decision, loads_own};
use crate::anatomy::functions::{self, Region};
use crate::anatomy::path::{Node, Path};
use crate::anatomy::stack_offset::KEPT_BY_CALLS;
use crate::anatomy::{Confidence, Part};
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use std::collections::BTreeSet;

/// What may be due on the way in.
const WORK: [Part; 3] = [Part::Work, Part::Audit, Part::Other];

/// What of the function is being executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing has been served.
    Before,
    /// The service has returned.
    Behind,
    /// The work of the exit is done.
    Checks,
}

/// Tells what is inlined in each of these functions.
pub(crate) fn tell(path: &mut Path) {
    let mut told = BTreeSet::new();
    for place in 0..path.0.len() {
        let node = &path.0[place];
        let is_c = node.is_in(Part::Handler) && functions::is_of_calls(node.name());
        if is_c && told.insert(node.call.call) {
            tell_call(path, place);
        }
    }
}

/// The instructions of one call, from its first.
fn tell_call(path: &mut Path, first: usize) {
    let own: Vec<usize> = std::iter::once(first).chain(path.behind(first)).collect();
    let own: Vec<usize> = own.into_iter().filter(|at| path.0[*at].is_in(Part::Handler)).collect();
    let hands_on = own.iter().any(|at| calls_another(path, *at));
    let served = own
        .iter()
        .position(|at| path.called(*at).is_some_and(|called| calls(&path.0[*at].code) && is_service(called)));
    let way = &own[..served.unwrap_or(own.len())];
    let works = way.iter().any(|at| calls(&path.0[*at].code) && WORK.contains(&of_call(path, *at)));
    let mut state = State {
        phase: Phase::Before,
        hands_on,
        serves: served.is_some(),
        works,
        has_tested: false,
        frame: Frame::new(),
        number: None,
        last: Part::Handler,
        called: Part::Handler,
        is_behind_call: false,
    };
    for (at, place) in own.iter().copied().enumerate() {
        let part = match path.0[place].part {
            None if state.phase == Phase::Before && loads_own(&path.0[place].code) => None,
            Some((part, _)) => Some(part).filter(|part| !matches!(part, Part::Returns | Part::StaticKeys)),
            None => Some(state.part(path, &own[at..])),
        };
        if let Some(part) = part {
            path.tell(place, part, Confidence::Pattern);
        }
        let next = own.get(at + 1).copied().unwrap_or(path.0.len());
        state.go(path, place..next, part);
    }
    own.iter().for_each(|place| tell_load(path, *place));
}

/// What loads the task belongs to what uses it, if that is one part; otherwise to the function.
fn tell_load(path: &mut Path, place: usize) {
    let node = &path.0[place];
    if node.part.is_some() {
        return;
    }
    let task = node.code.op0_register();
    let uses = path.behind(place).map(|at| &path.0[at]).filter(|node| node.is_in(Part::Handler));
    let kept = uses.take_while(|node| node.code.op0_register() != task || has_memory(&node.code));
    let parts: BTreeSet<Part> = kept
        .filter(|node| node.code.memory_base() == task)
        .filter_map(|node| node.part.map(|(part, _)| part))
        .collect();
    let only = Some(&parts).filter(|parts| parts.len() == 1).and_then(BTreeSet::first);
    path.tell(place, only.copied().unwrap_or(Part::Handler), Confidence::Pattern);
}

/// Whether it calls another function of the same entry, which does all of the work.
fn calls_another(path: &Path, place: usize) -> bool {
    let called = path.0.get(place + 1).filter(|_| path.0[place].code.is_call_near());
    called.is_some_and(|called| called.is_in(Part::Handler) && functions::is_of_calls(called.name()))
}

/// Whether it is the first instruction of a C function of an entry.
fn is_first(node: &Node) -> bool {
    node.is_in(Part::Handler) && node.place.as_ref().is_some_and(|place| place.offset == 0)
}

/// What is known where an instruction stands.
struct State {
    phase: Phase,
    /// Whether another function does the work.
    hands_on: bool,
    /// Whether it calls the service: otherwise the call's number was none that there is.
    serves: bool,
    /// Whether work is due on the way in, and called for.
    works: bool,
    /// Whether the thread's flags were tested.
    has_tested: bool,
    frame: Frame,
    /// The register that keeps the call's number, which the function has as an argument.
    number: Option<Register>,
    /// What the instruction before belongs to.
    last: Part,
    /// What the last call belongs to.
    called: Part,
    is_behind_call: bool,
}

impl State {
    /// What the first of these instructions belongs to.
    fn part(&self, path: &Path, rest: &[usize]) -> Part {
        let code = &path.0[rest[0]].code;
        // A decision belongs to what it is made of.
        let follows = code.flow_control() == FlowControl::ConditionalBranch || keeps_decision(code);
        let is_move = moves_registers(code);
        if calls(code) {
            return of_call(path, rest[0]);
        } else if jumps(code) && path.0.get(rest[0] + 1).is_some_and(is_first) {
            // In the place of a call.
            return Part::Handler;
        } else if follows || jumps(code) {
            return self.last;
        } else if is_own_frame(code) {
            return Part::Handler;
        } else if answers(code) || is_move && self.is_behind_call && reads_answer(code) {
            return self.called;
        } else if let Some(call) = next_call(path, rest).filter(|_| is_argument(code)) {
            return of_call(path, call);
        } else if is_argument(code) && ends(path, rest) {
            return Part::Handler;
        }
        let is_of_frame = self.frame.has(code);
        match self.phase {
            Phase::Before if restores(code) && self.last == self.called => self.called,
            Phase::Before if is_move && Some(code.op0_register().full_register()) == self.number => {
                Part::Handler
            }
            Phase::Before if is_number(code) && self.is_dispatched_next(path, rest) => Part::Dispatch,
            Phase::Checks | Phase::Behind if restores(code) => Part::Handler,
            Phase::Checks => Part::ReturnChecks,
            Phase::Behind if is_of_frame && stores(code) => Part::Handler,
            Phase::Behind if is_of_frame || self.hands_on => Part::ReturnChecks,
            Phase::Before if self.hands_on => Part::Handler,
            Phase::Before if self.works && self.has_tested => Part::Work,
            Phase::Before if is_of_frame || stores(code) => Part::Handler,
            Phase::Before if !has_memory(code) && !decides(code) && !is_decided(path, rest) => Part::Handler,
            Phase::Before | Phase::Behind => Part::Work,
        }
    }

    /// Whether nothing that is due is called before the dispatch.
    fn is_dispatched_next(&self, path: &Path, rest: &[usize]) -> bool {
        let calls = rest.iter().filter(|at| calls(&path.0[**at].code));
        let mut calls = calls.filter(|at| of_call(path, **at) != Part::StackOffset);
        calls.next().and_then(|at| path.called(*at)).is_some_and(is_service)
    }

    /// Behind the first of these instructions, and what it called.
    fn go(&mut self, path: &Path, places: std::ops::Range<usize>, part: Option<Part>) {
        let code = &path.0[places.start].code;
        let is_call = places.len() > 1;
        if self.phase == Phase::Behind && part == Some(Part::ReturnChecks) {
            self.phase = Phase::Checks;
        }
        self.last = part.unwrap_or(self.last);
        self.has_tested |= part == Some(Part::Work) && decides(code);
        if is_call {
            self.called = part.unwrap_or(Part::Handler);
        }
        self.is_behind_call = is_call;
        let keeps_number = moves_registers(code) && code.op1_register().full_register() == Register::RSI;
        if self.number.is_none() && keeps_number {
            self.number = Some(code.op0_register().full_register());
        }
        let is_refused = !self.serves && part == Some(Part::Dispatch) && decides(code);
        let is_served = is_call && has_served(path, places.start + 1..places.end);
        if self.phase == Phase::Before && (is_served || is_refused) {
            self.phase = Phase::Behind;
        }
        self.frame.go(code, is_call);
    }
}

/// Whether the service, or what there is instead of one, is in what was called.
fn has_served(path: &Path, called: std::ops::Range<usize>) -> bool {
    path.0[called].iter().any(is_service)
}

fn is_service(node: &Node) -> bool {
    node.is_in(Part::Service) || node.is_in(Part::Dispatch)
}

/// A call belongs to the function, if that hands over what is to be done; inlined code calls for what it is there for.
fn of_call(path: &Path, place: usize) -> Part {
    if let Some((part, _)) = path.0[place].part {
        return part;
    }
    let Some(called) = path.called(place) else { return Part::Handler };
    match called.region {
        Some(Region::Of(Part::Work)) if !functions::is_whole_work(called.name()) => Part::Work,
        Some(Region::Of(Part::Filter | Part::Trace)) => Part::Work,
        Some(Region::Of(part @ (Part::StackOffset | Part::Other | Part::Audit))) => part,
        _ => Part::Handler,
    }
}

/// The next call, if nothing is decided and nothing jumps before it.
fn next_call(path: &Path, rest: &[usize]) -> Option<usize> {
    let near = rest.iter().copied().skip(1).take(6);
    let mut straight =
        near.take_while(|at| path.0[*at].code.flow_control() != FlowControl::ConditionalBranch);
    straight.find(|at| calls(&path.0[*at].code))
}

/// Whether nothing follows but the end of the function, which may jump to another.
fn ends(path: &Path, rest: &[usize]) -> bool {
    rest[1..]
        .iter()
        .map(|at| &path.0[*at].code)
        .all(|code| is_own_frame(code) || jumps(code) || is_argument(code))
}

/// Whether it loads what the function has kept on its stack.
fn restores(code: &Instruction) -> bool {
    code.mnemonic() == Mnemonic::Mov
        && code.op0_kind() == OpKind::Register
        && has_memory(code)
        && code.memory_base() == Register::RBP
}

/// Whether it sets a register that has an argument, from another register or to a number.
fn is_argument(code: &Instruction) -> bool {
    const ARGUMENTS: [Register; 6] =
        [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];
    let sets = matches!(code.mnemonic(), Mnemonic::Mov | Mnemonic::Xor | Mnemonic::Lea);
    sets && !has_memory(code) && ARGUMENTS.contains(&code.op0_register().full_register())
}

/// Whether it sets the argument that is the call's number, from another register.
fn is_number(code: &Instruction) -> bool {
    moves_registers(code) && code.op0_register() == Register::ESI
}

fn moves_registers(code: &Instruction) -> bool {
    code.mnemonic() == Mnemonic::Mov
        && code.op0_kind() == OpKind::Register
        && code.op1_kind() == OpKind::Register
}

/// Whether it moves what a call has answered.
fn reads_answer(code: &Instruction) -> bool {
    code.op1_register().full_register() == Register::RAX
}

/// Whether it tests what a call has answered.
fn answers(code: &Instruction) -> bool {
    let is_rax = |register: Register| register.full_register() == Register::RAX;
    code.mnemonic() == Mnemonic::Test && is_rax(code.op0_register()) && is_rax(code.op1_register())
}

/// Whether a branch right behind the first of these decides by it.
fn is_decided(path: &Path, rest: &[usize]) -> bool {
    let behind = rest.get(1).map(|at| path.0[*at].code.flow_control());
    let computes = matches!(path.0[rest[0]].code.mnemonic(), Mnemonic::And | Mnemonic::Sub);
    computes && behind == Some(FlowControl::ConditionalBranch)
}

fn stores(code: &Instruction) -> bool {
    has_memory(code) && code.op0_kind() == OpKind::Memory && !decides(code)
}

/// Registers saved and restored, the stack's pointer moved, the return, and a result that is a number.
fn is_own_frame(code: &Instruction) -> bool {
    let is_of_stack = code.op0_kind() == OpKind::Register
        && matches!(code.op0_register(), Register::RSP | Register::RBP)
        && !decides(code);
    let is_result = code.mnemonic() == Mnemonic::Mov
        && code.op0_register().full_register() == Register::RAX
        && matches!(code.op1_kind(), OpKind::Immediate32 | OpKind::Immediate32to64);
    let ends = matches!(code.mnemonic(), Mnemonic::Push | Mnemonic::Pop | Mnemonic::Ret | Mnemonic::Leave);
    ends || is_of_stack || is_result
}

/// The registers that have the address of the program's registers.
struct Frame {
    registers: BTreeSet<Register>,
    factory: InstructionInfoFactory,
}

impl Frame {
    /// Where the function begins: its first argument, or until Linux 5.16 its second, behind the call's number.
    fn new() -> Frame {
        Frame {
            registers: BTreeSet::from([Register::RDI, Register::RSI]),
            factory: InstructionInfoFactory::new(),
        }
    }

    /// Whether an instruction has an operand there.
    fn has(&self, code: &Instruction) -> bool {
        has_memory(code) && self.registers.contains(&code.memory_base())
    }

    /// Behind an instruction.
    fn go(&mut self, code: &Instruction, is_call: bool) {
        let is_copied = moves_registers(code) && self.registers.contains(&code.op1_register());
        let used = self.factory.info(code).used_registers().iter();
        let written = used.filter(|used| {
            !matches!(used.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess)
        });
        for register in written.map(|used| used.register().full_register()) {
            self.registers.remove(&register);
        }
        if is_call {
            self.registers.retain(|register| KEPT_BY_CALLS.contains(register));
        }
        if is_copied {
            self.registers.insert(code.op0_register());
        }
    }
}

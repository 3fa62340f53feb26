//! Programs of classic BPF that the kernel runs at each system call (`Documentation/userspace-api/seccomp_filter.rst`), as a seccomp filter
//! takes them.

use nix::libc::{self, sock_filter};
use std::mem::offset_of;

/// The ABI of 64-bit calls: EM_X86_64, of 64 bits, the lowest byte first (include/uapi/linux/audit.h).
pub const X86_64: u32 = 62 | 1 << 31 | 1 << 30;

/// The bit of an x32 call's number. Filters of 64-bit calls look for it, because both ABIs are one to seccomp.
pub const X32: u32 = 1 << 30;

/// The numbers that rules are about begin here: no kernel has such calls, and so no rule is ever met.
const NO_CALLS: u32 = 1000;

/// An argument that no call is given.
const NO_ARGUMENT: u32 = 0x5ec0_0bad;

/// A number of a call that programs do not make: reboot.
const REBOOT: u32 = libc::SYS_reboot as u32;

/// The most instructions that a program has: `BPF_MAXINSNS` of include/uapi/linux/bpf_common.h.
const MOST: usize = 4096;

/// The bytes of an instruction.
const INSTRUCTION: usize = size_of::<sock_filter>();

/// What a filter looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// The ABI and the number: the answer for a number is always the same. Linux finds that out when the filter is installed, and from 5.11
    /// on does not run the filter for numbers that it always allows (kernel/seccomp.c, `seccomp_cache_check_allow`).
    AtNumber,
    /// An argument, too: the filter must run at each call.
    AtArguments,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program(Vec<[u8; INSTRUCTION]>);

impl Program {
    /// Of so many rules, each of which forbids one number that no kernel has; everything else is allowed.
    pub fn of_rules(rules: u16, looks: Looks) -> Program {
        let mut code = head();
        for number in (NO_CALLS..).take(rules.into()) {
            code.push(jump(libc::BPF_JEQ, number, 0, 1));
            code.push(answer(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
        }
        if looks == Looks::AtArguments {
            code.push(load(offset_of!(libc::seccomp_data, args)));
            code.push(jump(libc::BPF_JEQ, NO_ARGUMENT, 0, 1));
            code.push(answer(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
        }
        code.push(answer(libc::SECCOMP_RET_ALLOW));
        Program::of(&code)
    }

    /// Every call is reported to a supervisor.
    pub(crate) fn notify() -> Program {
        Program::of(&[answer(libc::SECCOMP_RET_USER_NOTIF)])
    }

    /// One call that programs do not make is reported to a tracer; everything else is allowed.
    pub(crate) fn trace_others() -> Program {
        let mut code = head();
        code.push(jump(libc::BPF_JEQ, REBOOT, 0, 1));
        code.push(answer(libc::SECCOMP_RET_TRACE));
        code.push(answer(libc::SECCOMP_RET_ALLOW));
        Program::of(&code)
    }

    /// Of instructions as another crate made them: code, jumps and constant.
    pub(crate) fn of_parts(parts: impl Iterator<Item = (u16, u8, u8, u32)>) -> Program {
        Program::of(&parts.map(|(code, jt, jf, k)| sock_filter { code, jt, jf, k }).collect::<Vec<_>>())
    }

    fn of(code: &[sock_filter]) -> Program {
        let bytes = |one: &sock_filter| {
            let [code, k] = [u32::from(one.code), one.k].map(u32::to_ne_bytes);
            let mut out = [0; INSTRUCTION];
            let all = code.into_iter().take(2).chain([one.jt, one.jf]).chain(k);
            out.iter_mut().zip(all).for_each(|(place, byte)| *place = byte);
            out
        };
        Program(code.iter().map(bytes).collect())
    }

    /// How many instructions it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none: no kernel takes that.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As the kernel reads it.
    pub fn code(&self) -> Vec<sock_filter> {
        let one = |[a, b, jt, jf, rest @ ..]: &[u8; INSTRUCTION]| sock_filter {
            code: u16::from_ne_bytes([*a, *b]),
            jt: *jt,
            jf: *jf,
            k: u32::from_ne_bytes(*rest),
        };
        self.0.iter().map(one).collect()
    }

    /// In hexadecimal digits, as a word of a command line.
    pub(crate) fn to_hex(&self) -> String {
        self.0.iter().flatten().map(|byte| format!("{byte:02x}")).collect()
    }

    /// None unless the text is whole instructions, one at least, and no more than a kernel takes.
    pub(crate) fn from_hex(text: &str) -> Option<Program> {
        let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16)?.try_into().ok()).collect::<Option<_>>()?;
        let (pairs, rest) = digits.as_chunks::<2>();
        let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
        let (code, odd) = bytes.as_chunks::<INSTRUCTION>();
        let is_whole = rest.is_empty() && odd.is_empty() && (1..=MOST).contains(&code.len());
        is_whole.then(|| Program(code.to_vec()))
    }
}

/// What every filter of 64-bit calls begins with: calls of other ABIs are allowed, and the number is loaded.
fn head() -> Vec<sock_filter> {
    vec![
        load(offset_of!(libc::seccomp_data, arch)),
        jump(libc::BPF_JEQ, X86_64, 1, 0),
        answer(libc::SECCOMP_RET_ALLOW),
        load(offset_of!(libc::seccomp_data, nr)),
        jump(libc::BPF_JGE, X32, 0, 1),
        answer(libc::SECCOMP_RET_ALLOW),
    ]
}

/// Loads 32 bits of what is known of the call.
pub fn load(offset: usize) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset as u32, 0, 0)
}

/// Compares what was loaded with a value, and skips so many instructions if it is so, and if it is not.
pub fn jump(how: u32, value: u32, yes: u8, no: u8) -> sock_filter {
    instruction(libc::BPF_JMP | how | libc::BPF_K, value, yes, no)
}

/// The filter's answer: `SECCOMP_RET_ALLOW`, …
pub fn answer(action: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, action, 0, 0)
}

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_comes_back_from_its_digits() {
        for looks in [Looks::AtNumber, Looks::AtArguments] {
            let program = Program::of_rules(300, looks);
            assert_eq!(Program::from_hex(&program.to_hex()), Some(program.clone()));
            assert_eq!(Program::of(&program.code()), program);
        }
        assert_eq!(
            Program::of_rules(1, Looks::AtNumber).len() + 3,
            Program::of_rules(1, Looks::AtArguments).len()
        );
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let whole = Program::notify().to_hex();
        let too_long = whole.repeat(MOST + 1);
        for text in ["", "0", "zz", &whole[1..], &format!("{whole}00"), &format!("é{whole}"), &too_long] {
            assert_eq!(Program::from_hex(text), None, "{}", text.len());
        }
        assert!(Program::from_hex(&whole.repeat(MOST)).is_some());
    }
}

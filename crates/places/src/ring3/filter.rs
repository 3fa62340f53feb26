//! The filter program that `filter=N` has interpreted, as `lab/entry/steps/filter.c` makes it for calls with x86-64 numbers.

use layers::bpf::{X86_64, answer, jump, load};
use nix::libc::{BPF_JEQ, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, seccomp_data, sock_filter};
use std::mem::offset_of;

/// No call has these numbers.
const REFUSED: u32 = 0x4000_0000;

/// A program of which a call executes so many instructions; empty for none.
pub(super) fn program(executed: u32) -> Vec<u8> {
    let (mut code, mut left) = (Vec::new(), executed);
    if executed == 0 {
        return Vec::new();
    }
    let kill = answer(SECCOMP_RET_KILL_PROCESS);
    if executed >= 4 {
        code.extend([load(offset_of!(seccomp_data, arch)), jump(BPF_JEQ, X86_64, 1, 0), kill]);
        left -= 2;
    }
    if executed >= 2 {
        code.push(load(offset_of!(seccomp_data, nr)));
        left -= 1;
    }
    for number in (REFUSED..).take(left.saturating_sub(1) as usize) {
        code.extend([jump(BPF_JEQ, number, 0, 1), kill]);
    }
    code.push(answer(SECCOMP_RET_ALLOW));
    code.iter().flat_map(bytes).collect()
}

/// As the kernel's memory has it.
fn bytes(one: &sock_filter) -> impl Iterator<Item = u8> + use<> {
    let [low, high] = one.code.to_le_bytes();
    [low, high, one.jt, one.jf].into_iter().chain(one.k.to_le_bytes())
}

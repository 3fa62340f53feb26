//! The filter program that `filter=N` has interpreted, as `lab/entry/steps/filter.c` makes it for calls with x86-64 numbers.

/// As `lab/entry/steps/filter.h` and struct sock_filter have them.
const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ARCH_X86_64: u32 = 0xc000_003e;

/// No call has these numbers.
const REFUSED: u32 = 0x4000_0000;

/// A program of which a call executes so many instructions; empty for none.
pub(super) fn program(executed: u32) -> Vec<u8> {
    let (mut out, mut left) = (Vec::new(), executed);
    let mut write = |code: u16, equal: u8, not: u8, k: u32| {
        out.extend(code.to_le_bytes());
        out.extend([equal, not]);
        out.extend(k.to_le_bytes());
    };
    if executed == 0 {
        return out;
    }
    if executed >= 4 {
        write(LOAD, 0, 0, ARCH);
        write(JUMP_EQUAL, 1, 0, ARCH_X86_64);
        write(RETURN, 0, 0, KILL);
        left -= 2;
    }
    if executed >= 2 {
        write(LOAD, 0, 0, NUMBER);
        left -= 1;
    }
    for number in (REFUSED..).take(left.saturating_sub(1) as usize) {
        write(JUMP_EQUAL, 0, 1, number);
        write(RETURN, 0, 0, KILL);
    }
    write(RETURN, 0, 0, ALLOW);
    out
}

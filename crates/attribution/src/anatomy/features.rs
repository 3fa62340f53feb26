//! What the features are that alternatives ask for.
//!
//! Numbers are those of `arch/x86/include/asm/cpufeatures.h`, 32 × word + bit. Only such are here as kept theirs from when Linux got them
//! to 6.18; numbers of later words were given to other features by stable branches, and are told by what stands there.

use crate::anatomy::Part;
use linux::Alternative;

const fn feature(word: u16, bit: u16) -> u16 {
    32 * word + bit
}

const PTI: u16 = feature(7, 11);
/// Until 5.18 (and in stable branches before their Retbleed patches), retpolines had this number.
const KERNEL_IBRS: u16 = feature(7, 12);
const RSB_CTXSW: u16 = feature(7, 19);
const PCID: u16 = feature(4, 17);
const SMAP: u16 = feature(9, 20);
const FENCE_SWAPGS_USER: u16 = feature(11, 4);
const FENCE_SWAPGS_KERNEL: u16 = feature(11, 5);
const ENTRY_IBPB: u16 = feature(11, 10);
const RETPOLINE: u16 = feature(11, 12);
const RETPOLINE_LFENCE: u16 = feature(11, 13);
const RETHUNK: u16 = feature(11, 14);
const UNRET: u16 = feature(11, 15);
/// Of stable branches, where a jump over `verw` is removed. Upstream has another number;
/// there the bytes of `verw` decide.
const CLEAR_CPU_BUF: u16 = feature(11, 18);
const CALL_DEPTH: u16 = feature(11, 19);
const SRSO: u16 = feature(11, 24);
const SRSO_ALIAS: u16 = feature(11, 25);
const XENPV: u16 = feature(8, 16);
const CLEAR_BHB_LOOP: u16 = feature(21, 1);
const CLEAR_BHB_HW: u16 = feature(21, 3);
const IBPB_EXIT_TO_USER: u16 = feature(21, 14);

/// How `verw` begins, with an address behind it. Features that bring it have had several numbers.
const VERW: [u8; 3] = [0x0f, 0x00, 0x2d];

/// `div %ecx`; the number of a processor's bug depends on how many features there are.
const DIVISION: &[u8] = &[0xf7, 0xf1];

/// Every processor has it: what it brings stands there unless a later alternative of the same place replaces it.
const ALWAYS: u16 = feature(3, 21);

/// Whether a jump is put there because the processor has a feature: it leads to what is switched on. With [`ALWAYS`] it leads past that
/// (`_static_cpu_has` in `arch/x86/include/asm/cpufeature.h`).
pub(crate) fn brings_jump(alternative: &Alternative) -> bool {
    let is_jump = matches!(alternative.replacement.first(), Some(0xeb | 0xe9));
    is_jump && !alternative.when_absent && alternative.feature != ALWAYS
}

/// What an alternative belongs to; none where its feature is no protection, or not known.
pub(crate) fn part(alternative: &Alternative) -> Option<Part> {
    let replaced = alternative.replacement.as_slice();
    if replaced.starts_with(&VERW) {
        return Some(Part::Verw);
    }
    if replaced == DIVISION {
        return Some(Part::Divider);
    }
    // `call *` and `jmp *` by a register, with or without `lfence` before.
    let is_indirect = matches!(replaced, [.., 0xff, _]);
    Some(match alternative.feature {
        PTI => Part::Pti,
        KERNEL_IBRS if is_indirect => Part::Retpoline,
        KERNEL_IBRS => Part::Ibrs,
        PCID => Part::Pcid,
        SMAP => Part::Smap,
        FENCE_SWAPGS_USER | FENCE_SWAPGS_KERNEL => Part::Swapgs,
        ENTRY_IBPB | IBPB_EXIT_TO_USER => Part::Ibpb,
        RETPOLINE | RETPOLINE_LFENCE => Part::Retpoline,
        // Of 5.10's stable branch, which had no call depth and gave the number to this.
        CALL_DEPTH if replaced.is_empty() => Part::Verw,
        RETHUNK | UNRET | SRSO | SRSO_ALIAS | CALL_DEPTH => Part::Returns,
        CLEAR_CPU_BUF if replaced.is_empty() => Part::Verw,
        CLEAR_BHB_LOOP | CLEAR_BHB_HW => Part::Bhb,
        RSB_CTXSW => Part::Rsb,
        _ => return None,
    })
}

/// Whether an alternative is there for guests of Xen. Elsewhere it leaves nops behind the instruction that replaces a call through a
/// pointer, and a jump over what only such a guest executes where the kernel asks whether it is one.
pub(crate) fn is_paravirt(alternative: &Alternative) -> bool {
    alternative.feature == XENPV || alternative.direct_call
}

/*
 * swapgs=on: while the kernel runs, GS has a base of its own, that of the paths' variables; the program's is in
 * IA32_KERNEL_GS_BASE meanwhile (swapgs.c). As in Linux, all that comes from ring 3 swaps, and an exception of the kernel does not.
 *
 * Right before the first swap and right behind the last one, the kernel runs with the program's base. What comes there comes from
 * ring 0, and leaves GS as it finds it: NMI, #MC and #DF (exception.S); #DB; a tick, where a gate has left interrupts on; the
 * fault of an instruction that leaves. This is right because no C code uses GS. Of these only the tick and the fault of the way out
 * may end the program, and then the next thread loads both bases (thread.c), whichever of them was in place.
 *
 * swapgs=fence: the branch that decides on a swap may be mispredicted (CVE-2019-1125). As in Linux, lfence stands behind it on either
 * side, but not behind a swap that a change of page tables follows, which serializes. Entries from which nothing but programs comes
 * (syscall, sysenter, call gates) have no such branch, and no fence; of the gates, Linux sends all through the same code.
 */
#include "entry/path.inc"

ATTACH IN_EARLY, 40
STEP "swapgs: to the kernel's base", SWITCH_SWAPGS, NOT(SWAPGS_OFF), ENTERED_BY, NOT(BY_EXCEPTION)
	swapgs
STEP "swapgs: to the kernel's base, from a program", SWITCH_SWAPGS, NOT(SWAPGS_OFF), ENTERED_BY, IS(BY_EXCEPTION)
	TEST_RING	STUB_CS
	jz	1f
	swapgs
1:
STEP "swapgs: fence", SWITCH_SWAPGS, IS(SWAPGS_FENCE), SWITCH_PTI, NOT(PTI_ON), ENTERED_BY, IS(BY_INTERRUPT)|IS(BY_EXCEPTION)
	lfence
STEP "swapgs: fence, from the kernel", SWITCH_SWAPGS, IS(SWAPGS_FENCE), SWITCH_PTI, IS(PTI_ON), ENTERED_BY, IS(BY_EXCEPTION)
	TEST_RING	STUB_CS
	jnz	1f
	lfence
1:
END_ATTACH

ATTACH OUT_LATE, 80
STEP "swapgs: to the program's base", SWITCH_SWAPGS, NOT(SWAPGS_OFF), ENTERED_BY, NOT(BY_EXCEPTION)
	swapgs
STEP "swapgs: to the program's base, if it goes there", SWITCH_SWAPGS, NOT(SWAPGS_OFF), ENTERED_BY, IS(BY_EXCEPTION)
	TEST_RING	GATE_CS
	jz	1f
	swapgs
1:
END_ATTACH

	.section .note.GNU-stack, "", @progbits

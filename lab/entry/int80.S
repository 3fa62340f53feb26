/*
 * int $0x80, from 64-bit and from 32-bit code, through an interrupt gate or a trap gate (SDM vol. 3, 6.12.1).
 *
 * The hardware has: switched to the entry stack (TSS.RSP0) and pushed ss, rsp, rflags, cs, rip; cleared TF, NT, and
 * through an interrupt gate IF. AC and DF are the program's. Page tables are the program's.
 * In: eax number; ebx, ecx, edx, esi, edi, ebp. Out: eax, sign-extended. Lost: nothing.
 * Back: iretq, whatever the switch `exit` says.
 *
 * The path has three bodies: the lab's own order, and those of Linux: entry_INT80_compat, and since 6.7 asm_int80_emulation, which stable releases
 * of 6.1 have, too.
 */
#include "entry/idtentry.inc"

#define INT80 128	/* its vector */

PATH int80, BY_INTERRUPT, I386
ALL_WITH SWITCH_ORDER, IS(ORDER_LAB)
GATE_IN
SERVE I386
GATE_IRET
SERVE_RARE

ALL_WITH SINCE_6_1
IDTENTRY INT80, none, own_exception_128, exception_return
STEP "int80_emulation"
72:
CLEAR_BRANCH_HISTORY_AS_LINUX
STEP "to what serves"
	JUMP	60f

ALL_WITH IN_5_10
STEP "SMAP: close", SWITCH_SMAP, IS(SMAP_ON)
	clac
IDLE_NOP "SMAP", 3, SWITCH_SMAP, IS(SMAP_OFF)
STEP "swapgs: to the kernel's base", SWITCH_SWAPGS, NOT(SWAPGS_OFF)
	swapgs
STEP "save number and a register"
	mov	%eax, %eax
	push	%rax
	push	%rdi
TO_KERNEL_AS_LINUX %rdi
IDLE_NOP "Xen", 5
STEP "copy-frame: to the thread's stack", COPIED
	mov	%rsp, %rdi
	mov	kernel_stack, %rsp
	PUSH_WORDS 6, 8, %rdi
	push	(%rdi)
PUSH_AND_CLEAR %rsi, esi
PUSH_AND_CLEAR %rdx, edx
PUSH_AND_CLEAR %rcx, ecx
STEP "save registers", FRAMED
	push	$-ENOSYS		# in the place of rax
PUSH_AND_CLEAR %r8, r8d
PUSH_AND_CLEAR %r9, r9d
PUSH_AND_CLEAR %r10, r10d
PUSH_AND_CLEAR %r11, r11d
PUSH_AND_CLEAR %rbx, ebx
PUSH_AND_CLEAR %rbp, ebp
PUSH_AND_CLEAR %r12, r12d
PUSH_AND_CLEAR %r13, r13d
PUSH_AND_CLEAR %r14, r14d
PUSH_AND_CLEAR %r15, r15d
STEP "clear the direction flag"
	cld
CR3_WRITES_AS_LINUX
AGAINST_SPECULATION_AS_LINUX
CLEAR_BRANCH_HISTORY		# which 5.10 did not have yet
STEP "pass the frame"
	mov	%rsp, %rdi
STEP "call what serves"
	CALL_C	60f
STEP "to the way out"
	JUMP	75f
STEP "swapgs_restore_regs_and_return_to_usermode"
75:
RETURN_BY_IRET CALL_FRAME_RIP

/* What Linux has in C: do_int80_emulation, do_int80_syscall_32. The second finds the number where the path has put it. */
ALL_WITH SWITCH_ORDER, NOT(ORDER_LAB)
STEP "C: serve"
60:	pop	%r12
NUMBER_OF_A_GATE SINCE_6_1
NOTE_GATE_FRAME CALL_FRAME_RIP, IN_5_10
SERVE_AS_LINUX I386
RETURN_AS_LINUX
ALL_END
END_PATH

	.section .note.GNU-stack, "", @progbits

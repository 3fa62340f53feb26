/* From the kernel to a program; and the kernel's access to a program's memory. */
#include "entry/steps.inc"

/*
 * Goes to a program with all registers of the frame in rdi. Interrupts are off, because nothing else may use the exit stack
 * from here on. A new thread begins here (switch.S).
 */
PATH enter_user, BY_KERNEL
STEP "copy the gate's frame to where it is mapped"
	mov	$exit_stack_top, %rsp
	push	FRAME_RIP + 32(%rdi)
	push	FRAME_RIP + 24(%rdi)
	push	FRAME_RIP + 16(%rdi)
	push	FRAME_RIP + 8(%rdi)
	push	FRAME_RIP(%rdi)
	mov	%rsp, gate_frame
STEP "load registers"
	mov	%rdi, %rsp
	RESTORE_ALL
	mov	gate_frame, %rsp
TO_PROGRAM_TABLES %rax, kept
HOOK OUT_LATE
STEP "iret"
1:	iretq
	FAULT	1b, 0
END_PATH

/*
 * long put_user_8(uint64_t to, uint64_t value), put_user_4(uint64_t to, uint32_t value),
 * put_user_16(uint64_t to, uint64_t first, uint64_t second), copy_user(void *to, const void *from, uint64_t bytes)
 * Access to a program's memory (for a copy, on either side). The caller has checked that it is below the end of programs.
 * 0, or -EFAULT. `access` is a macro; its faults go on at 2.
 */
.macro USER_ACCESS name, access
PATH \name, BY_KERNEL
STEP "SMAP: open", SWITCH_SMAP, IS(SMAP_ON)
	stac
STEP "access"
	\access
	xor	%eax, %eax
STEP "SMAP: close", SWITCH_SMAP, IS(SMAP_ON)
	clac
RETURN_FROM_PATH
STEP "fault"
2:
STEP "SMAP: close", SWITCH_SMAP, IS(SMAP_ON)
	clac
STEP "fault"
	mov	$-EFAULT, %rax
RETURN_FROM_PATH
END_PATH
.endm

.macro STORE_8
1:	mov	%rsi, (%rdi)
	FAULT	1b, 2f
.endm

.macro STORE_4
1:	mov	%esi, (%rdi)
	FAULT	1b, 2f
.endm

.macro STORE_16
	STORE_8
1:	mov	%rdx, 8(%rdi)
	FAULT	1b, 2f
.endm

.macro COPY
	mov	%rdx, %rcx
	shr	$3, %rcx
1:	rep movsq
	FAULT	1b, 2f
	mov	%edx, %ecx
	and	$7, %ecx
1:	rep movsb
	FAULT	1b, 2f
.endm

USER_ACCESS put_user_8, STORE_8
USER_ACCESS put_user_4, STORE_4
USER_ACCESS put_user_16, STORE_16
USER_ACCESS copy_user, COPY

	.section .note.GNU-stack, "", @progbits

/* From the kernel to a program, and back at its end; and the kernel's access to a program's memory. */
#include "entry/steps.inc"

/*
 * void enter_user(const struct frame *start)
 * Goes to a program with all registers of the frame. Returns when leave_user is called.
 */
	.text
	.globl	enter_user
enter_user:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	pushf
	cli				# nothing else may use the entry stack from here on
	mov	%rsp, main_rsp
	jmp	*path_enter_user

PATH enter_user
STEP "copy the gate's frame to where it is mapped"
	mov	$entry_stack_top, %rsp
	push	FRAME_RIP + 32(%rdi)
	push	FRAME_RIP + 24(%rdi)
	push	FRAME_RIP + 16(%rdi)
	push	FRAME_RIP + 8(%rdi)
	push	FRAME_RIP(%rdi)
	mov	%rsp, user_rsp
STEP "load registers"
	mov	%rdi, %rsp
	RESTORE_ALL
	mov	user_rsp, %rsp
STEP "PTI: switch to the program's page tables", SWITCH_PTI, PTI_ON
	push	%rax
	mov	user_cr3, %rax
	mov	%rax, %cr3
	pop	%rax
STEP "iret"
1:	iretq
	FAULT	1b, 0
END_PATH

/* void leave_user(void): makes enter_user return, from whatever stack. */
	.text
	.globl	leave_user
leave_user:
	mov	main_rsp, %rsp
	popf
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

/*
 * long put_user_8(uint64_t to, uint64_t value), put_user_4(uint64_t to, uint32_t value),
 * put_user_16(uint64_t to, uint64_t first, uint64_t second), copy_user(void *to, const void *from, uint64_t bytes)
 * Access to a program's memory (for a copy, on either side). The caller has checked that it is below the end of programs.
 * 0, or -EFAULT. `access` is a macro; its faults go on at 2.
 */
.macro USER_ACCESS name, access
PATH \name
STEP "SMAP: open", SWITCH_SMAP, SMAP_ON
	stac
STEP "access"
	\access
	xor	%eax, %eax
STEP "SMAP: close", SWITCH_SMAP, SMAP_ON
	clac
STEP "return"
	ret
STEP "SMAP: close", SWITCH_SMAP, SMAP_ON
2:	clac
STEP "fault"
	mov	$-EFAULT, %rax
	ret
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

/* Stacks, and the paths' data. */
	.section .cpu_area, "aw"
	.balign 16
	.skip	12288
	.globl	entry_stack_top
entry_stack_top:
	.globl	kernel_cr3, user_cr3, user_rsp, landing_pad, observed_flags
kernel_cr3:
	.quad	0
user_cr3:
	.quad	0
user_rsp:
	.quad	0
landing_pad:
	.quad	0
observed_flags:
	.quad	0

	.bss
	.balign 16
	.skip	16384
	.globl	kernel_stack_top
kernel_stack_top:
main_rsp:
	.skip	8

	.section .note.GNU-stack, "", @progbits

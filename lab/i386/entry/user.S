/* From the kernel to a program; and the kernel's access to a program's memory. */
#include "entry/steps.inc"

/*
 * Goes to a program with all registers of the frame in ebx. Interrupts are off, because nothing else may use the exit stack
 * from here on. A new thread begins here (switch.S). Registers are loaded from a copy on that stack: an NMI, or the fault of a segment,
 * pushes below esp at any instruction, and below the frame are other variables.
 */
PATH enter_user, BY_KERNEL
STEP "copy the frame to where it is mapped"
	mov	$exit_stack_top, %esp
	PUSH_WORDS FRAME_WORDS, 0, %ebx
STEP "load registers"
	RESTORE_ALL
SEGMENTS_OUT
STEP "drop vector and error code"
	add	$8, %esp
TO_PROGRAM_TABLES %eax, kept
HOOK OUT_LATE
STEP "iret"
1:	iret
	FAULT	1b, 0
SEGMENTS_RARE
END_PATH

/* Without page tables: a program's address becomes what it is for the kernel; one of the kernel's own stays. Lost: eax. */
.macro INTO_BLOCK address
STEP "without page tables: where a program's address is", SWITCH_PAGING, IS(PAGING_OFF)
	mov	\address, %eax
	sar	$31, %eax		# all ones: the kernel's own
	not	%eax
	and	unpaged_base, %eax
	add	%eax, \address
.endm

/*
 * long put_user_8(word to, uint64_t value), put_user_4(word to, uint32_t value),
 * put_user_16(word to, uint64_t first, uint64_t second), copy_user(void *to, const void *from, word bytes)
 * Access to a program's memory (for a copy, on either side). The caller has checked that it is below the end of programs.
 * 0, or -EFAULT. `access` is a macro; its faults go on at 2.
 */
.macro USER_ACCESS name, access
PATH \name, BY_KERNEL
STEP "keep what C keeps"
	push	%esi
	push	%edi
STEP "SMAP: open", SWITCH_SMAP, IS(SMAP_ON)
	stac
STEP "where to"
	mov	12(%esp), %edi
INTO_BLOCK %edi
STEP "access"
	\access
	xor	%eax, %eax
STEP "SMAP: close", SWITCH_SMAP, IS(SMAP_ON)
	clac
STEP "back"
3:	pop	%edi
	pop	%esi
RETURN_FROM_PATH
STEP "fault"
2:
STEP "SMAP: close", SWITCH_SMAP, IS(SMAP_ON)
	clac
STEP "fault"
	mov	$-EFAULT, %eax
	JUMP	3b
END_PATH
.endm

.macro STORE place
	mov	16 + \place(%esp), %eax
1:	mov	%eax, \place(%edi)
	FAULT	1b, 2f
.endm

.macro STORE_4
	STORE	0
.endm

.macro STORE_8
	STORE	0
	STORE	4
.endm

.macro STORE_16
	STORE_8
	STORE	8
	STORE	12
.endm

.macro COPY
	mov	16(%esp), %esi
INTO_BLOCK %esi
STEP "access"
	mov	20(%esp), %ecx
	mov	%ecx, %edx
	shr	$2, %ecx
1:	rep movsl
	FAULT	1b, 2f
	mov	%edx, %ecx
	and	$3, %ecx
1:	rep movsb
	FAULT	1b, 2f
.endm

USER_ACCESS put_user_8, STORE_8
USER_ACCESS put_user_4, STORE_4
USER_ACCESS put_user_16, STORE_16
USER_ACCESS copy_user, COPY

	.section .note.GNU-stack, "", @progbits

/* What programs do with tasks of the kernel for protected mode, for tests/lab/protected/tasks.rs. */
#define PROTECTED
#include "case32.inc"


	.data
	.balign	4
segment:				# struct user_desc: the first free entry, 32 bits, its limit in pages
	.long	FIRST_TLS, 0, 0xfffff, 0x51
no_segment:
	.long	FIRST_TLS, 0, 0, 0x28	# empty: read-only, not present

.macro TAKE_SEGMENT register
	mov	$segment, %ebx
	SYSTEM_CALL NR32_SET_THREAD_AREA
	test	%eax, %eax
	jnz	wrong
	mov	$FIRST_TLS * 8 + 3, %eax
	mov	%eax, %\register
.endm

.irp name, TASKS
/* The kernel goes on in another thread, or none, from its task. */
CASE exit-\name
	mov	$NR_EXIT, %eax
	mov	number, %ebx
	ENTER_\name
	ud2

CASE yield-\name
	mov	$100, %edi
1:	mov	$NR32_SCHED_YIELD, %eax
	ENTER_\name
	test	%eax, %eax
	jnz	wrong
	dec	%edi
	jnz	1b
	jmp	done

/* Each switch sets CR0.TS; the registers of the FPU are the program's all the same. */
CASE fpu-\name
	mov	$0x5a5aa5a5, %eax
	movd	%eax, %xmm3
	fldpi
	fldz
	mov	$NR32_GETPPID, %eax
	ENTER_\name
	cmp	$1, %eax
	jne	wrong
	movd	%xmm3, %eax
	cmp	$0x5a5aa5a5, %eax
	jne	wrong
	faddp				# pi, and the stack as it was
	fldpi
	fcompp
	fnstsw	%ax
	and	$0x4500, %eax		# C3, C2, C0: equal
	cmp	$0x4000, %eax
	jne	wrong
	jmp	done

.irp register, ds, es, fs, gs
/* A descriptor that the service takes away; the selector is null behind that, as behind other entries. */
CASE gone-\register-\name
	TAKE_SEGMENT \register
	mov	$no_segment, %ebx
	mov	$NR32_SET_THREAD_AREA, %eax
	ENTER_\name
	mov	%\register, %ecx
	mov	$USER_DATA, %edx
	mov	%edx, %ds
	mov	%edx, %es
	or	%ecx, %eax
	jnz	wrong
	jmp	done
.endr

/* A program that has set NT returns to no task: the link of its TSS is null, whoever has served it. */
CASE nested-\name
	mov	$NR32_GETPPID, %eax
	ENTER_\name
	pushf
	orl	$RFLAGS_NT, (%esp)
	popf
	iret
.endr

END_CASES

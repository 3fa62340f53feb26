/* The 64-bit half of timed.h. */
#define POINTER rcx

/* Saves what the caller wants back, and aligns the stack for a call (System V ABI, 3.2.2). */
.macro SAVE
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$8, %rsp
.endm

.macro RESTORE
	add	$8, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
.endm

.macro GET_ARGUMENTS
	mov	%rdi, sample_out
	mov	%esi, sample_count
.endm

/* Arguments of a system call with x86-64 numbers: rax; rdi, rsi, rdx, r10, r8. */
.macro LOAD_SYSCALL
	mov	invocation + INVOCATION_NUMBER, %eax
	mov	invocation + INVOCATION_ARGUMENT(0), %rdi
	mov	invocation + INVOCATION_ARGUMENT(1), %rsi
	mov	invocation + INVOCATION_ARGUMENT(2), %rdx
.endm

/* Arguments of a system call with i386 numbers: eax; ebx, ecx, edx. */
.macro LOAD_INT80
	mov	invocation + INVOCATION_NUMBER, %eax
	mov	invocation + INVOCATION_ARGUMENT(0), %ebx
	mov	invocation + INVOCATION_ARGUMENT(1), %ecx
	mov	invocation + INVOCATION_ARGUMENT(2), %edx
.endm

/* Arguments of a C function: rdi, rsi, rdx, rcx, r8. */
.macro LOAD_FUNCTION
	mov	invocation + INVOCATION_ARGUMENT(0), %rdi
	mov	invocation + INVOCATION_ARGUMENT(1), %rsi
	mov	invocation + INVOCATION_ARGUMENT(2), %rdx
	mov	invocation + INVOCATION_ARGUMENT(3), %rcx
	mov	invocation + INVOCATION_ARGUMENT(4), %r8
.endm

/* Fills every register but rsp with a value of its own that no kernel would leave there. */
.macro POISON
	movabs	$0x5a005a005a005a00, %rax
	movabs	$0x5a015a015a015a01, %rbx
	movabs	$0x5a025a025a025a02, %rcx
	movabs	$0x5a035a035a035a03, %rdx
	movabs	$0x5a045a045a045a04, %rsi
	movabs	$0x5a055a055a055a05, %rdi
	movabs	$0x5a065a065a065a06, %rbp
	movabs	$0x5a075a075a075a07, %r8
	movabs	$0x5a085a085a085a08, %r9
	movabs	$0x5a095a095a095a09, %r10
	movabs	$0x5a0a5a0a5a0a5a0a, %r11
	movabs	$0x5a0b5a0b5a0b5a0b, %r12
	movabs	$0x5a0c5a0c5a0c5a0c, %r13
	movabs	$0x5a0d5a0d5a0d5a0d, %r14
	movabs	$0x5a0e5a0e5a0e5a0e, %r15
.endm

.macro SNAPSHOT where
	mov	%rax, \where + 8 * REGISTER_RAX
	mov	%rbx, \where + 8 * REGISTER_RBX
	mov	%rcx, \where + 8 * REGISTER_RCX
	mov	%rdx, \where + 8 * REGISTER_RDX
	mov	%rsi, \where + 8 * REGISTER_RSI
	mov	%rdi, \where + 8 * REGISTER_RDI
	mov	%rbp, \where + 8 * REGISTER_RBP
	mov	%rsp, \where + 8 * REGISTER_RSP
	mov	%r8, \where + 8 * REGISTER_R8
	mov	%r9, \where + 8 * REGISTER_R9
	mov	%r10, \where + 8 * REGISTER_R10
	mov	%r11, \where + 8 * REGISTER_R11
	mov	%r12, \where + 8 * REGISTER_R12
	mov	%r13, \where + 8 * REGISTER_R13
	mov	%r14, \where + 8 * REGISTER_R14
	mov	%r15, \where + 8 * REGISTER_R15
.endm

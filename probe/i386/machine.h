/* The 32-bit half of timed.h. */
#define POINTER ecx

/* Saves what the caller wants back, and keeps the stack at a multiple of 16 for a call (System V i386 ABI, 2.2.2). */
.macro SAVE
	push	%ebx
	push	%ebp
	push	%esi
	push	%edi
	sub	$12, %esp
.endm

.macro RESTORE
	add	$12, %esp
	pop	%edi
	pop	%esi
	pop	%ebp
	pop	%ebx
.endm

/* The C arguments stand above the return address and what SAVE has put there (4 + 12 / 4 words). */
.macro GET_ARGUMENTS
	mov	32(%esp), %eax
	mov	%eax, sample_out
	mov	36(%esp), %eax
	mov	%eax, sample_count
.endm

/* Arguments of a system call: eax; ebx, ecx, edx. */
.macro LOAD_INT80
	mov	invocation + INVOCATION_NUMBER, %eax
	mov	invocation + INVOCATION_ARGUMENT(0), %ebx
	mov	invocation + INVOCATION_ARGUMENT(1), %ecx
	mov	invocation + INVOCATION_ARGUMENT(2), %edx
.endm

/* Arguments of a C function, on the stack; four words keep its alignment. */
.macro LOAD_FUNCTION
	push	invocation + INVOCATION_ARGUMENT(3)
	push	invocation + INVOCATION_ARGUMENT(2)
	push	invocation + INVOCATION_ARGUMENT(1)
	push	invocation + INVOCATION_ARGUMENT(0)
.endm

.macro UNLOAD_FUNCTION
	add	$16, %esp
.endm

/* Fills every register but esp with a value of its own that no kernel would leave there. */
.macro POISON
	mov	$0x5a005a00, %eax
	mov	$0x5a015a01, %ebx
	mov	$0x5a025a02, %ecx
	mov	$0x5a035a03, %edx
	mov	$0x5a045a04, %esi
	mov	$0x5a055a05, %edi
	mov	$0x5a065a06, %ebp
.endm

.macro SNAPSHOT where
	mov	%eax, \where + 8 * REGISTER_RAX
	mov	%ebx, \where + 8 * REGISTER_RBX
	mov	%ecx, \where + 8 * REGISTER_RCX
	mov	%edx, \where + 8 * REGISTER_RDX
	mov	%esi, \where + 8 * REGISTER_RSI
	mov	%edi, \where + 8 * REGISTER_RDI
	mov	%ebp, \where + 8 * REGISTER_RBP
	mov	%esp, \where + 8 * REGISTER_RSP
.endm

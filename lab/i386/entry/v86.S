/*
 * int $0x80 in virtual-8086 mode, with IOPL below 3: #GP (SDM vol. 3, 20.2.7, table 20-2; APM vol. 2, 8.8), from which this path makes a
 * system call. Any other #GP of that mode goes to the monitor (v86.c), those of all other programs and of the kernel where they
 * went before. Gate 13 leads here only as long as a program is in that mode.
 *
 * The hardware has: switched to the entry stack (TSS: ss0, esp0) and pushed gs, fs, ds, es, ss, esp, eflags, cs, eip, and an error code, which
 * is 0 for int n; made DS, ES, FS and GS null; cleared IF, TF, NT, RF, VM. AC and DF are the program's. Page tables are the program's.
 * The saved address is that of the instruction, so the kernel must skip it.
 * In: as int $0x80. Out: eax. Lost: nothing.
 * Back: iret, which pops all nine words, because VM is set in the flags.
 */
#include "entry/instruction.inc"
#include "entry/returns.h"
#include "lab.h"

#define INT80  0x80cd
#define LENGTH 2
#define ERROR  4

/* A paragraph has 16 bytes. */
.macro PARAGRAPH_ADDRESS
	movzwl	GATE_CS(%edx), %ecx
	shl	$4, %ecx
	add	GATE_IP(%edx), %ecx
.endm

.macro IDENTIFY
READ_INSTRUCTION_AT PARAGRAPH_ADDRESS
STEP "is it ours?"
	cmp	$INT80, %ecx
	BRANCH	JNE, 54f
	addl	$LENGTH, GATE_IP(%edx)
	FORGET_INSTRUCTION
.endm

PATH v86, BY_INTERRUPT, I386
STEP "virtual-8086 mode's?"
	testl	$RFLAGS_VM, ERROR + GATE_FLAGS(%esp)
	BRANCH	JE, exception_stubs+13*EXCEPTION_STUB_SIZE
STEP "may it be an int?"
	cmpl	$0, (%esp)
	BRANCH	JNE, exception_stubs+13*EXCEPTION_STUB_SIZE
	add	$ERROR, %esp
GATE_IN V86_GATE_WORDS
SERVE_INSTRUCTION IDENTIFY
GATE_IRET V86_GATE_WORDS
SERVE_INSTRUCTION_RARE
FOREIGN 13, V86_GATE_WORDS
END_PATH

/* A selector whose descriptor has gone since becomes null. void v86_load(word fs, word gs) */
.macro LOAD_OR_NULL segment
1:	mov	%eax, \segment
	.pushsection .fixups, "a"
	.long	1b, 2f
	.popsection
	jmp	3f
2:	xor	%eax, %eax
	mov	%eax, \segment
3:
.endm

	.text
	.globl	v86_load
v86_load:
	mov	4(%esp), %eax
	LOAD_OR_NULL %fs
	mov	8(%esp), %eax
	LOAD_OR_NULL %gs
	RETURN

/*
 * A program's code, by which v86.c tries whether the processor redirects interrupts: in the page at address 0, an int at ENTRY, and what its
 * entry of the table leads to at HANDLER, which says so in ebx.
 */
#define NR_MMAP2 192
#define PRIVATE_FIXED_ANONYMOUS 0x32
#define ALL	 7
#define ENTRY	 0x500
#define HANDLER	 0x600
#define END	 0x1000

	.set	WAY_OUT, 0xcd | VECTOR_V86 << 8
	.set	INT_REDIRECTED, 0xcd | VECTOR_V86_REDIRECTED << 8
	.set	INC_BX, 0x43

	.section .rodata
	.globl	v86_ask, v86_ask_end
v86_ask:
	mov	$NR_MMAP2, %eax
	xor	%ebx, %ebx
	mov	$END, %ecx
	mov	$ALL, %edx
	mov	$PRIVATE_FIXED_ANONYMOUS, %esi
	mov	$-1, %edi
	xor	%ebp, %ebp
	int	$0x80
	movl	$HANDLER, 4 * VECTOR_V86_REDIRECTED
	movl	$(INT_REDIRECTED | WAY_OUT << 16), ENTRY
	movl	$(INC_BX | WAY_OUT << 8), HANDLER
	mov	$END, %esp
	.rept	5			# gs, fs, ds, es, ss
	push	$0
	.endr
	push	$ENTRY			# esp: below the code
	push	$RFLAGS_VIF
	push	$0			# cs
	push	$ENTRY
	int	$VECTOR_V86
	ud2
v86_ask_end:

	.section .note.GNU-stack, "", @progbits

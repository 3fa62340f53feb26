/* Where the entry paths find what is in a struct frame, and what gates have pushed; hardware.c asserts it. */
#pragma once

/* struct frame */
#define FRAME_BX     (0 * 4)
#define FRAME_CX     (1 * 4)
#define FRAME_DX     (2 * 4)
#define FRAME_SI     (3 * 4)
#define FRAME_DI     (4 * 4)
#define FRAME_BP     (5 * 4)
#define FRAME_AX     (6 * 4)
#define FRAME_ES     (7 * 4)
#define FRAME_DS     (8 * 4)
#define FRAME_VECTOR (9 * 4)
#define FRAME_NUMBER FRAME_VECTOR /* of a system call, as it came */
#define FRAME_IP     (11 * 4)
#define FRAME_CS     (12 * 4)
#define FRAME_WORDS  20

/*
 * A frame of virtual-8086 mode has four words more than others. Where both may come (exception.S) so many are copied, whatever it is, and
 * a frame of one kind is made into the other where it lies (v86.c): above a gate's frame, there are so many bytes of nobody.
 */
#define V86_GATE_WORDS	    9
#define ENTRY_STACK_PADDING 16

/* What gates push on the entry stack: interrupt and trap gates; call gates. */
#define GATE_IP	     0
#define GATE_CS	     4
#define GATE_FLAGS   8
#define GATE_SP	     12
#define GATE_SS	     16
#define CALL_IP	     0
#define CALL_CS	     4
#define CALL_SP	     8
#define CALL_SS	     12
#define JUMP_TO_FLAT 7	/* bytes of the first step behind a call gate of 16 bits */
#define STUB_CS	     12 /* behind a stub of exception.S, which has pushed two words more */

/* In a TSS's descriptor: whether it is busy. */
#define TSS_BUSY_BYTE 5
#define TSS_BUSY_BIT  2

/* struct tss */
#define TSS_CR3	  0x1c
#define TSS_IP	  0x20
#define TSS_FLAGS 0x24
#define TSS_AX	  0x28
#define TSS_CX	  0x2c
#define TSS_DX	  0x30
#define TSS_BX	  0x34
#define TSS_SP	  0x38
#define TSS_BP	  0x3c
#define TSS_SI	  0x40
#define TSS_DI	  0x44
#define TSS_ES	  0x48
#define TSS_CS	  0x4c
#define TSS_SS	  0x50
#define TSS_DS	  0x54
#define TSS_FS	  0x58
#define TSS_GS	  0x5c

/* In struct thread. */
#define THREAD_STACK	 0
#define THREAD_CALL_WORK 4
#define THREAD_WORK	 8

/* As in the kernel for long mode (lab/entry/frame_layout.h), where nothing else is mapped. */
#define UNTRAIN_PAGE	   0xfe000000
#define SAFE_RETURN_PAGE   0xfe104000
#define SAFE_RETURN_OFFSET 0x104

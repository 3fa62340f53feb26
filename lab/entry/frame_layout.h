/* Where the entry paths find what is in a struct frame, and what gates have pushed; hardware.c asserts it. */
#pragma once

/* struct frame */
#define FRAME_RBP    (4 * 8)
#define FRAME_RBX    (5 * 8)
#define FRAME_R10    (7 * 8)
#define FRAME_R9     (8 * 8)
#define FRAME_R8     (9 * 8)
#define FRAME_RAX    (10 * 8)
#define FRAME_RCX    (11 * 8)
#define FRAME_RDX    (12 * 8)
#define FRAME_RSI    (13 * 8)
#define FRAME_RDI    (14 * 8)
#define FRAME_VECTOR (15 * 8)
#define FRAME_NUMBER FRAME_VECTOR /* of a system call, as it came */
#define FRAME_ERROR  (16 * 8)
#define FRAME_RIP    (17 * 8)
#define FRAME_CS     (18 * 8)
#define FRAME_WORDS  22

#define ENTRY_STACK_PADDING 0 /* above a gate's frame; protected mode needs some */

/* What gates push on the entry stack: interrupt and trap gates; call gates. */
#define GATE_RIP   0
#define GATE_CS	   8
#define GATE_FLAGS 16
#define GATE_RSP   24
#define GATE_SS	   32
#define CALL_RIP   0
#define CALL_CS	   8
#define CALL_RSP   16
#define CALL_SS	   24
#define STUB_CS	   24 /* behind a stub of exception.S, which has pushed two words more */

/* In struct thread. */
#define THREAD_STACK	 0
#define THREAD_CALL_WORK 8
#define THREAD_WORK	 12

/*
 * Where the page with the returns for Zen 3 and 4 is mapped (returns.S): the first is aligned by 2 MiB, and the address of what is
 * executed in the second differs from the first in bits 2, 8, 14 and 20 alone.
 */
#define UNTRAIN_PAGE	   0xffffffff90000000
#define SAFE_RETURN_PAGE   0xffffffff90104000
#define SAFE_RETURN_OFFSET 0x104

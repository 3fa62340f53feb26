/* Sizes and offsets that C and the entry paths share; modes.c asserts them. */
#pragma once

#include <linux/errno.h>

#define CALLS 512 /* both tables end before this call number */

#define PROGRAM_TOP_BIT 0x1000 /* of CR3: the two top tables are adjacent, the programs' is the second */

/* struct frame */
#define FRAME_RAX    (10 * 8)
#define FRAME_VECTOR (15 * 8)
#define FRAME_RIP    (17 * 8)
#define FRAME_CS     (18 * 8)

/* What gates push on the entry stack: interrupt and trap gates; call gates. */
#define GATE_RIP 0
#define GATE_CS	 8
#define CALL_RIP 0
#define CALL_CS	 8
#define CALL_RSP 16
#define CALL_SS	 24

#define EXCEPTION_STUB_SIZE 16

/* Sizes and offsets that C and assembly share; probe.h asserts them. */
#pragma once

#define IMULS	      256 /* in a clock chain: 768 core cycles */
#define XORS	      768 /* the same length if an imul takes three cycles and a xor one */
#define NOTS	      8400 /* in seven independent chains, so that the core issues as many a cycle as it can; ... */
#define TURNS	      100 /* ... in a loop of so many turns: canary.S says why */
#define CANARY_PLACES 16
#define CHAINS	      8	 /* clock chains in a row: 2048 imuls, where a core keeps about 500 in flight */
#define BURST	      16 /* calls made back to back */

/* Code segments of programs, of either width: Linux's __USER32_CS and __USER_CS (arch/x86/include/asm/segment.h), and the lab's. */
#define USER_CODE_32 0x23
#define USER_CODE_64 0x33

#define SAMPLE_SIZE 32 /* four stamps */

#ifdef __x86_64__
#define WORD 8
#else
#define WORD 4
#endif
#define INVOCATION_NUMBER      0
#define INVOCATION_TARGET      (1 * WORD)
#define INVOCATION_STRIDE      (2 * WORD)
#define INVOCATION_ARGS	       (3 * WORD)
#define INVOCATION_ARGUMENT(n) ((3 + (n)) * WORD)

#define INVOCATION_ARGUMENTS 7 /* as many as mach_msg has */
#define INVOCATION_SIZE	     ((3 + INVOCATION_ARGUMENTS) * WORD)

/* How the timed code hands arguments over: as the entry's row says; or as a trap of GNU Mach takes them, ... */
#define FORM_CALL    0
#define FORM_TRAP    1
#define FORM_MESSAGE 2 /* ... and with a message, whose header it writes before */

/* What it writes of a header: what is overwritten by a message that is received. Bits and size; remote port; local port; id. */
#define HEADER_BITS	   0
#define HEADER_REMOTE_PORT 8
#ifdef __x86_64__
#define HEADER_LOCAL_PORT 16
#define HEADER_ID	  24
#define HEADER_BYTES	  32
#else
#define HEADER_LOCAL_PORT 12
#define HEADER_ID	  20
#define HEADER_BYTES	  24
#endif
#define HEADER_WORDS HEADER_BITS, HEADER_REMOTE_PORT, HEADER_LOCAL_PORT, HEADER_ID

/*
 * Of 16-bit code (probe/sixteen.c): where it is mapped, 64 KiB below 1 MiB, which are its segment; and in that the offsets of what it shares with
 * C, and of its stack.
 */
#define SIXTEEN_BASE	   0x10000
#define SIXTEEN_ROOM	   0x10000
#define SIXTEEN_DATA	   0xc000
#define SIXTEEN_FUNCTION   SIXTEEN_DATA
#define SIXTEEN_OUT	   SIXTEEN_DATA + 4
#define SIXTEEN_COUNT	   SIXTEEN_DATA + 8
#define SIXTEEN_STAMPS	   SIXTEEN_DATA + 16
#define SIXTEEN_INVOCATION SIXTEEN_DATA + 64
#define SIXTEEN_BEFORE	   SIXTEEN_DATA + 128
#define SIXTEEN_BEHIND	   SIXTEEN_DATA + 320
#define SIXTEEN_SAMPLES	   SIXTEEN_DATA + 512
#define SIXTEEN_STACK	   0xfff0

#define REGISTER_FLAGS 16 /* behind the general registers of entries.h */
#define REGISTERS      17

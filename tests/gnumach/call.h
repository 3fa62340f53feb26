/* A trap of Mach's: what main.c fills in, and trap32.S and trap64.S make. */
#define WORD		 __SIZEOF_LONG__
#define CALL_NUMBER	 0
#define CALL_ARGUMENT(n) (WORD * (1 + (n)))
#define CALL_TICKS	 (WORD * 8)

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct call {
	long number; /* negative, as in mach/syscall_sw.h */
	unsigned long arguments[7];
	uint32_t ticks;
};
_Static_assert(offsetof(struct call, number) == CALL_NUMBER, "the assembler's offset");
_Static_assert(offsetof(struct call, arguments[6]) == CALL_ARGUMENT(6), "the assembler's offset");
_Static_assert(offsetof(struct call, ticks) == CALL_TICKS, "the assembler's offset");

/* What the trap returned; the ticks from before it until after it are in the call. The second is the same without the trap. */
uint32_t timed(struct call *call);
uint32_t control(struct call *call);

/* Nothing is done there: between the two, instructions are logged. */
void measure_begin(void);
void measure_end(void);
#endif

/* What the kernel has counted of this process, and where it runs. A figure needs both, to know that its probe was neither preempted nor
 * moved: where they are not told, the probe ends. */
#include "probe.h"

/* struct rusage: two struct timeval, then maxrss, ixrss, idrss, isrss, minflt, majflt, …, nvcsw, nivcsw. */
#define RUSAGE_MINFLT	8
#define RUSAGE_NSIGNALS 15
#define RUSAGE_NVCSW	16
#define RUSAGE_NIVCSW	17

/* What no counter counts to, and no CPU is called. A filter of system calls may forbid a call, or have it answered with nothing done. */
#define UNTOLD	   (~0ul)
#define UNTOLD_CPU UINT32_MAX

/*
 * The descriptor that Linux keeps for its own getcpu in the vDSO: a segment whose limit is the number of the CPU, with that of its
 * node above (arch/x86/include/asm/segment.h). Any program may ask for the limit; lsl clears ZF where there is no such segment.
 */
#define SELECTOR_CPU 0x7b
#define CPU_BITS     12
/* Of a segment that counts bytes. On a 32-bit kernel the selector is of another segment, which counts pages. */
#define LIMIT_BITS   20

static _Noreturn void refuse_untold(uint64_t what, long result)
{
	emit_refusal(OUTCOME_ERROR, CAUSE_UNTOLD, what, (uint64_t)(result < 0 ? -result : 0), 0, 0);
}

struct usage usage_now(void)
{
	unsigned long usage[18];

	for (unsigned i = 0; i < sizeof(usage) / sizeof(usage[0]); i++)
		usage[i] = UNTOLD;
	const long result = system_call(NR_GETRUSAGE, 0, (long)usage, 0, 0, 0, 0);
	if (result < 0 || usage[RUSAGE_NIVCSW] == UNTOLD)
		refuse_untold(UNTOLD_PREEMPTIONS, result);
	return (struct usage){usage[RUSAGE_NIVCSW], usage[RUSAGE_MINFLT], usage[RUSAGE_NVCSW],
			      usage[RUSAGE_NSIGNALS]};
}

uint32_t cpu_now(void)
{
	uint32_t cpu = UNTOLD_CPU, limit, has_segment;
	const long result = system_call(NR_GETCPU, (long)&cpu, 0, 0, 0, 0, 0);

	if (result == 0 && cpu != UNTOLD_CPU)
		return cpu;
	__asm__ volatile("lsl %2, %0" : "=r"(limit), "=@ccz"(has_segment) : "r"(SELECTOR_CPU));
	if (!has_segment || limit >> LIMIT_BITS)
		refuse_untold(UNTOLD_PLACE, result);
	return limit & ((1u << CPU_BITS) - 1);
}

/* The area of restartable sequences, in which Linux keeps the number of the thread's CPU. rseq(2), include/uapi/linux/rseq.h. */
#include "probe.h"

#define RSEQ_SIGNATURE 0x53053053 /* the C library's; no sequence of the probe's is ever restarted */

/* struct rseq, of which the second word is read: cpu_id. The timed code loads that; see entries.toml. */
struct {
	uint32_t cpu_id_start;
	uint32_t cpu_id;
	uint64_t sequence;
	uint32_t flags;
	uint32_t rest[3];
} __attribute__((aligned(32))) rseq_area = {.cpu_id = UINT32_MAX};

_Static_assert(offsetof(__typeof__(rseq_area), cpu_id) == 4, "as the timed code has it");
_Static_assert(sizeof(rseq_area) == 32, "as the kernel wants it");

void rseq_prepare(void)
{
	const long answer =
	    system_call(NR_RSEQ, (long)&rseq_area, sizeof(rseq_area), 0, RSEQ_SIGNATURE, 0, 0);

	if (answer)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_ERRNO, (uint64_t)-answer, 0, 0, 0);
}

/*
 * Operations that io_uring does in batches: so many NOPs submitted by one io_uring_enter, which waits for all of them, and their completions
 * consumed. The ring is set up while preparing. As a program does, each use fills its submissions anew.
 *
 * It takes memory of the ring besides a call, so that it is a function, and its call is what is timed.
 */
#include "probe.h"

#include <linux/io_uring.h>

#define NR_IO_URING_SETUP 425
#define NR_IO_URING_ENTER 426

#define PROTECTION    3	     /* read and write */
#define SHARED_FILLED 0x8001 /* MAP_SHARED | MAP_POPULATE */

#define EIO 5

/* The most NOPs that an operation has. */
#define RING_ENTRIES 64

static struct {
	long file;
	uint32_t count; /* of NOPs */
	uint32_t submit_mask, complete_mask;
	uint32_t *submit_tail, *submit_array, *complete_head, *complete_tail;
	struct io_uring_sqe *submissions;
	struct io_uring_cqe *completions;
} ring;

/* How many completions there were, all of them without an error; or -errno. */
static long nops(void)
{
	uint32_t tail = *ring.submit_tail;

	for (uint32_t i = 0; i < ring.count; i++, tail++) {
		const uint32_t at = tail & ring.submit_mask;

		ring.submissions[at] = (struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = i};
		ring.submit_array[at] = at;
	}
	__atomic_store_n(ring.submit_tail, tail, __ATOMIC_RELEASE);
	const long submitted =
	    system_call(NR_IO_URING_ENTER, ring.file, ring.count, ring.count, IORING_ENTER_GETEVENTS, 0, 0);
	if (submitted < 0)
		return submitted;

	uint32_t head = *ring.complete_head;
	const uint32_t end = __atomic_load_n(ring.complete_tail, __ATOMIC_ACQUIRE), count = end - head;

	for (; head != end; head++)
		if (ring.completions[head & ring.complete_mask].res)
			return -EIO;
	__atomic_store_n(ring.complete_head, end, __ATOMIC_RELEASE);
	return count;
}

static _Noreturn void refuse(long result)
{
	emit_refusal(OUTCOME_REFUSED, CAUSE_NO_RING, (uint64_t)-result, 0, 0, 0);
}

static unsigned char *map(uint64_t bytes, uint64_t offset)
{
	const long address =
	    system_call(NR_MMAP, 0, (long)bytes, PROTECTION, SHARED_FILLED, ring.file, (long)offset);

	if (address < 0 && address >= -4095)
		refuse(address);
	return (unsigned char *)address;
}

unsigned long ring_prepare(const struct operation *operation)
{
	struct io_uring_params parameters = {0};

	ring.file = system_call(NR_IO_URING_SETUP, RING_ENTRIES, (long)&parameters, 0, 0, 0, 0);
	if (ring.file < 0)
		refuse(ring.file);
	const struct io_sqring_offsets *submit = &parameters.sq_off;
	const struct io_cqring_offsets *complete = &parameters.cq_off;
	unsigned char *submits =
	    map(submit->array + parameters.sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
	unsigned char *completes =
	    map(complete->cqes + parameters.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);

	ring.count = operation->nops;
	ring.submit_mask = *(uint32_t *)(submits + submit->ring_mask);
	ring.submit_tail = (uint32_t *)(submits + submit->tail);
	ring.submit_array = (uint32_t *)(submits + submit->array);
	ring.complete_mask = *(uint32_t *)(completes + complete->ring_mask);
	ring.complete_head = (uint32_t *)(completes + complete->head);
	ring.complete_tail = (uint32_t *)(completes + complete->tail);
	ring.completions = (struct io_uring_cqe *)(completes + complete->cqes);
	ring.submissions =
	    (struct io_uring_sqe *)map(parameters.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	return (unsigned long)nops;
}

/* What is handed to an entry for each operation: call number, arguments, and a place for the answer. */
#include "probe.h"

struct invocation invocation;
uint64_t registers_before[17], registers_after[17];
uint64_t stamps[5];
struct sample *sample_out;
uint32_t sample_count;

union answer answer;

static unsigned long number_of(const struct request *request)
{
	switch (request->entry->abi) {
	case ABI_X86_64:
		return request->operation->number_x86_64;
	case ABI_X32:
		return request->operation->number_x86_64 | 0x40000000u;
	case ABI_I386:
		return request->operation->number_i386;
	case ABI_NONE:
		break;
	}
	return 0;
}

void operation_prepare(const struct request *request)
{
	unsigned long *args = invocation.args;

	invocation.number = number_of(request);
	switch (request->operation->id) {
	case OPERATION_GETTIMEOFDAY:
	case OPERATION_TIME:
	case OPERATION_GETCPU:
		args[0] = (unsigned long)&answer;
		break;
	case OPERATION_CLOCK_GETTIME_MONOTONIC:
	case OPERATION_CLOCK_GETTIME_REALTIME:
	case OPERATION_CLOCK_GETTIME_MONOTONIC_RAW:
	case OPERATION_CLOCK_GETTIME_MONOTONIC_COARSE:
	case OPERATION_CLOCK_GETTIME_THREAD_CPUTIME:
	case OPERATION_CLOCK_GETTIME64_MONOTONIC:
		args[0] = request->operation->clock;
		args[1] = (unsigned long)&answer;
		break;
	case OPERATION_GETRANDOM:
		args[0] = (unsigned long)&answer;
		args[1] = SIXTEEN_BYTES;
		break;
	}
}

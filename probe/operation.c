/* What is handed to an entry for each operation: call number, arguments, and a place for the answer. */
#include "probe.h"

struct invocation invocations[MOST_CALLS];
uint64_t registers_before[MOST_CALLS][REGISTERS], registers_after[MOST_CALLS][REGISTERS];
uint64_t stamps[5];
struct sample *sample_out;
uint32_t sample_count;

union answer answer;

#define ROW(operation_, place_, x86_64_, i386_, function_) {operation_, place_, x86_64_, i386_, function_},
static const struct call calls[] = {CALLS(ROW)};
#undef ROW

/* A call of an operation, from 0. A single one is the operation itself. */
static struct call call_of(const struct operation *operation, unsigned place)
{
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].operation == operation->id && calls[i].place == place)
			return calls[i];
	return (struct call){operation->id, place, operation->number_x86_64, operation->number_i386,
			     operation->function};
}

const char *operation_function(const struct operation *operation, unsigned place)
{
	return call_of(operation, place).function;
}

unsigned long operation_number(const struct request *request, unsigned place)
{
	const struct call call = call_of(request->operation, place);

	switch (request->entry->abi) {
	case ABI_X86_64:
		return call.number_x86_64;
	case ABI_X32:
		return call.number_x86_64 | 0x40000000u;
	case ABI_I386:
		return call.number_i386;
	case ABI_NONE:
		break;
	}
	return 0;
}

void operation_prepare(const struct request *request)
{
	unsigned long *args = invocations[0].args;

	for (unsigned call = 0; call < request->operation->calls; call++)
		invocations[call].number = operation_number(request, call);
	if (request->operation->clock != NO_CLOCK) {
		args[0] = request->operation->clock;
		args[1] = (unsigned long)&answer;
	}
	switch (request->operation->id) {
	case OPERATION_GETTIMEOFDAY:
	case OPERATION_TIME:
	case OPERATION_GETCPU:
		args[0] = (unsigned long)&answer;
		break;
	case OPERATION_GETRANDOM:
		args[0] = (unsigned long)&answer;
		args[1] = SIXTEEN_BYTES;
		break;
	case OPERATION_UNIXBENCH_SYSCALL:
	case OPERATION_UNIXBENCH_CLOSE:
		unixbench_prepare(request->operation);
		break;
	case OPERATION_READ_ZERO:
	case OPERATION_FUTEX_WAKE:
		objects_prepare(request->operation);
		break;
	case OPERATION_MACH_PRINT:
		args[0] = (unsigned long)"";
		break;
	case OPERATION_MAPPED_TIME:
		args[0] = (unsigned long)&answer;
		break;
	}
	if (request->operation->form == FORM_MESSAGE)
		mach_prepare(request);
}

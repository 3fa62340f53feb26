/* Calls that ask for something of a kernel's object: a byte of a file, and a futex that nobody waits for. */
#include "probe.h"

#include <linux/futex.h>

#define ONE_BYTE 1

#define ENOENT 2
#define ENXIO  6
#define ENODEV 19

#define O_RDONLY  0
#define O_CLOEXEC 02000000

static uint32_t futex;

/* The descriptor of /dev/zero; where there is none, ends the probe with the cause. */
static unsigned long need_zero(void)
{
	const long file = system_call(NR_OPEN, (long)"/dev/zero", O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);

	if (file == -ENOENT || file == -ENXIO || file == -ENODEV)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_DEVICE, 0, 0, 0, 0);
	if (file < 0)
		emit_refusal(OUTCOME_REFUSED, CAUSE_ERRNO, (uint64_t)-file, 0, 0, 0);
	return (unsigned long)file;
}

void objects_prepare(const struct operation *operation)
{
	unsigned long *args = invocations[0].args;

	if (operation->id == OPERATION_READ_ZERO) {
		args[0] = need_zero();
		args[1] = (unsigned long)&answer;
		args[2] = ONE_BYTE;
	} else {
		args[0] = (unsigned long)&futex;
		args[1] = FUTEX_WAKE_PRIVATE;
		args[2] = 1; /* at most one is woken */
	}
}

int objects_byte_came(void)
{
	return (answer.words[0] & 0xff) == 0;
}

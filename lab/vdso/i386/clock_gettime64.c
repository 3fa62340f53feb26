/* clock_gettime with seconds that last beyond 2038. */
#include "machine.h"
#include "time/time_page.h"

extern const struct time_page time_page __attribute__((visibility("hidden")));

struct wide_time {
	int64_t seconds, nanoseconds;
};

int __vdso_clock_gettime64(int clock, struct wide_time *out)
{
	struct time_value now;

	if (!time_read(&time_page, (uint32_t)clock, &now))
		return (int)system_call(NR_CLOCK_GETTIME64, clock, (long)out, 0);
	out->seconds = (int64_t)now.seconds;
	out->nanoseconds = (int64_t)now.nanoseconds;
	return 0;
}

/*
 * The device `time`: a page that says what time it is, in mapped_time_value's layout, which is that of the kernel's own width; here of the
 * task's. Each tick of the lab writes it (not every 10 ms), in the order that readers rely on: check, fraction, seconds.
 */
#include "mach/task.h"
#include "time/clock.h"

uint8_t mapped_time_64[PAGE] __attribute__((aligned(4096)));
uint8_t mapped_time_32[PAGE] __attribute__((aligned(4096)));

/* Where the 64-bit times begin, whose words lie at multiples of four in the narrow layout. */
#define SECONDS		  0
#define MICROSECONDS	  4
#define CHECK_SECONDS	  8
#define VALUES_NARROW	  12
#define VALUES_WIDE	  16
/* Of a time: seconds, nanoseconds, seconds again. */
#define VALUE_NANOSECONDS 8
#define VALUE_CHECK	  16
#define VALUE_BYTES	  24

static void put_32(uint8_t *at, uint32_t value)
{
	*(volatile uint32_t *)at = value;
}

/* The narrow layout has it at a multiple of four, at which x86 stores all the same. */
static void put_64(uint8_t *at, uint64_t value)
{
	struct unaligned {
		uint64_t value;
	} __attribute__((packed, aligned(4)));

	((volatile struct unaligned *)at)->value = value;
}

static void put_time(uint8_t *at, const struct time_value *time)
{
	put_64(at + VALUE_CHECK, time->seconds);
	put_64(at + VALUE_NANOSECONDS, time->nanoseconds);
	put_64(at, time->seconds);
}

static void update(uint8_t *page, uint32_t values, const struct time_value *time,
		   const struct time_value *uptime)
{
	put_32(page + CHECK_SECONDS, (uint32_t)time->seconds);
	put_32(page + MICROSECONDS, time->nanoseconds / 1000);
	put_32(page + SECONDS, (uint32_t)time->seconds);
	put_time(page + values, time);
	put_time(page + values + VALUE_BYTES, uptime);
}

void mach_time_update(void)
{
	struct time_value time = {0}, uptime = {0};

	clock_read(CLOCK_REALTIME, &time);
	clock_read(CLOCK_MONOTONIC, &uptime);
	update(mapped_time_64, VALUES_WIDE, &time, &uptime);
	update(mapped_time_32, VALUES_NARROW, &time, &uptime);
}

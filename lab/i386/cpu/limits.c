/*
 * Segments with a limit: the protection before pages. With segments=limited, the segments that programs run in end where their addresses end, so
 * that an address of the kernel cannot be named at all: #GP, before page tables are asked (SDM vol. 3, 5.3; APM vol. 2, 4.12).
 *
 * sysexit and sysret load segments without a limit, whatever the table has: the switch wants exit=iret.
 */
#include "cpu/limits.h"
#include "cpu/mode.h"
#include "cpu/segments.h"
#include "entry/entry.h"
#include "mm/mm.h"

/* Descriptors: SDM vol. 3, 3.4.5. */
#define BYTE_OF_DATA  0x0000930000000000 /* base and limit 0: the kernel's, writable, accessed */
#define GRANULARITY   (1ull << 55)
#define EXPANDS_DOWN  (1ull << 42)
#define LIMIT	      0x000f00000000ffff
#define MOST_OF_BYTES (1ul << 20)

int limit_faults(word selector);

int limits_are_checked(void)
{
	gdt[SELECTOR_TRIAL / 8] = with_base(BYTE_OF_DATA, (word)gdt);
	const int are_checked = limit_faults(SELECTOR_TRIAL);
	gdt[SELECTOR_TRIAL / 8] = 0;
	return are_checked;
}

static uint64_t with_limit(uint64_t descriptor, word bytes)
{
	const int is_small = bytes <= MOST_OF_BYTES;
	const uint64_t limit = (is_small ? bytes : bytes / PAGE) - 1;

	return (descriptor & ~(LIMIT | GRANULARITY)) | (is_small ? 0 : GRANULARITY) | (limit & 0xffff) |
	       limit >> 16 << 48;
}

void limits_configure(void)
{
	const int is_limited = configured[SWITCH_SEGMENTS] == SEGMENTS_LIMITED;
	static const unsigned selectors[] = {SELECTOR_USER_CODE_32, SELECTOR_USER_DATA};

	for (unsigned i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++) {
		uint64_t *const descriptor = &gdt[selectors[i] / 8];
		*descriptor = is_limited ? with_limit(*descriptor, end_of_programs(32))
					 : *descriptor | LIMIT | GRANULARITY;
	}
}

int limits_fit(uint64_t *descriptor)
{
	const word base = base_of(*descriptor), end = end_of_programs(32);
	const uint64_t limit = (*descriptor & 0xffff) | (*descriptor >> 48 & 0xf) << 16;
	const uint64_t bytes = *descriptor & GRANULARITY ? (limit + 1) * PAGE : limit + 1;

	if (configured[SWITCH_SEGMENTS] != SEGMENTS_LIMITED || !*descriptor)
		return 1;
	/* One that expands down has what is behind its limit, to the end of all addresses. */
	if (base >= end || *descriptor & EXPANDS_DOWN)
		return 0;
	if (bytes > end - base)
		*descriptor = with_limit(*descriptor, end - base);
	*descriptor = with_base(*descriptor, space->block + base);
	return 1;
}

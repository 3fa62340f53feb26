/*
 * The returns of the kernel, all of them: of C, and of what assembly an entry may come to. As the switch `returns` says, each is a
 * plain ret or a jump to a thunk, as Linux patches them (apply_returns, arch/x86/kernel/alternative.c). They are written only when
 * the switch changes.
 */
#include "entry/returns.h"
#include "entry/entry.h"
#include "mm/mm.h"

#define RET  0xc3
#define JMP  0xe9
#define INT3 0xcc

#define FAMILY_ZEN_3 0x19 /* and Zen 4 */

extern const word return_sites_start[], return_sites_end[];
/* returns.S */
extern const uint8_t return_thunk_zen2[], untrain_zen2[], untrain_returns[];
/* The same, in a page that is mapped where addresses collide in the predictor of Zen 3 and 4. */
extern const uint8_t return_thunk_zen4[], untrain_zen4[];

/* What the sites jump to; 0: they are plain. */
static word target;

static int is_zen_3_or_4(void)
{
	return cpu.vendor == VENDOR_AMD && cpu_family() == FAMILY_ZEN_3;
}

word returns_thunk(void)
{
	return target ? target : (word)return_thunk;
}

/* One byte, in this order among others: see write_site. */
static void write_byte(uint8_t *to, uint8_t byte)
{
	*(volatile uint8_t *)to = byte;
}

/*
 * An NMI may come between any two bytes, and returns by these sites, too. So the rest is written only while the first byte is a ret,
 * behind which nothing is executed; a processor sees the bytes in the order in which it has written them.
 */
static void write_site(word site, word to)
{
	uint8_t *const code = to_write(site);
	const uint32_t displacement = (uint32_t)(to - (site + RETURN_BYTES));

	write_byte(code, RET);
	for (unsigned i = 1; i < RETURN_BYTES; i++)
		write_byte(code + i, to ? (uint8_t)(displacement >> 8 * (i - 1)) : INT3);
	if (to)
		write_byte(code, JMP);
}

static word wanted_thunk(void)
{
	switch (configured[SWITCH_RETURNS]) {
	case RETURNS_THUNK:
		return (word)return_thunk;
	case RETURNS_UNTRAIN:
		return (word)(is_zen_3_or_4() ? return_thunk_zen4 : return_thunk_zen2);
	default:
		return 0;
	}
}

void returns_configure(void)
{
	const word wanted = wanted_thunk();

	if (wanted == target)
		return;
	target = wanted;
	/* It has a jump's room, too, and nothing comes there before the paths are built for this value. */
	if (configured[SWITCH_RETURNS] == RETURNS_UNTRAIN)
		write_site((word)untrain_returns, (word)(is_zen_3_or_4() ? untrain_zen4 : untrain_zen2));
	for (const word *site = return_sites_start; site < return_sites_end; site++)
		write_site(*site, wanted);
	/* Changed code may be executed only after a serializing instruction (SDM vol. 3, 9.1.3). */
	__asm__ volatile("" : : : "memory");
	cpuid(0, 0);
}

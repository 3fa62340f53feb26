/* As lab/boot/window.c, with entries of 32 bits. */
#include "boot/window.h"
#include "cpu/cpu.h"
#include "mm/mm.h"

#define WINDOW	      0xfec00000ul /* start.S: boot_directory */
#define WINDOW_PAGES  1024
#define SCREEN_WINDOW (WINDOW + WINDOW_PAGES * PAGE)
#define SCREEN_PAGES  (WINDOW_SCREEN / PAGE)
#define REACH	      (1ull << 32)
#define PTE_PRESENT   1u
#define PTE_WRITE     2u
#define PTE_UNCACHED                                                                                         \
	0x18u /* PWT and PCD: entry 3 of the PAT, uncached after a reset and by all known firmware */

extern const uint8_t boot_directory[];

uint32_t window_table[WINDOW_PAGES] __attribute__((aligned(4096)));
uint32_t window_screen_tables[SCREEN_PAGES] __attribute__((aligned(4096)));

const void *window_to(uint64_t physical, uint64_t bytes)
{
	const word offset = physical & (PAGE - 1), first = (word)physical - offset;

	if (physical >= REACH || bytes > REACH - physical || bytes > WINDOW_PAGES * PAGE - offset)
		return 0;
	for (word at = 0; at < offset + bytes; at += PAGE) {
		window_table[at / PAGE] = (first + at) | PTE_PRESENT;
		invlpg(WINDOW + at);
	}
	return (const void *)(WINDOW + offset);
}

volatile void *window_to_screen(uint64_t physical, uint64_t bytes)
{
	const word offset = physical & (PAGE - 1), first = (word)physical - offset;

	if (physical >= REACH || bytes > REACH - physical || bytes > WINDOW_SCREEN - PAGE - offset)
		return 0;
	for (word at = 0; at < offset + bytes; at += PAGE) {
		window_screen_tables[at / PAGE] = (first + at) | PTE_PRESENT | PTE_WRITE | PTE_UNCACHED;
		invlpg(SCREEN_WINDOW + at);
	}
	return (volatile void *)(SCREEN_WINDOW + offset);
}

int window_is_there(void)
{
	word cr3;

	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	return cr3 == (word)boot_directory;
}

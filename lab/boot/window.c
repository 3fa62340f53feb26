/*
 * The boot page tables map the kernel and this window, in which the boot loader's information is looked at. If they
 * mapped all addresses as memory, the processor could read devices' registers before any instruction does: what is
 * write-back may be read speculatively (SDM vol. 3, 12.3.1).
 */
#include "boot/window.h"
#include "cpu/cpu.h"
#include "mm/mm.h"

#define WINDOW	      0xffffffffc0000000ul /* start.S: boot_pdpt_high */
#define WINDOW_PAGES  512
#define REACH	      (1ul << 32)
#define SCREEN_WINDOW (WINDOW + WINDOW_PAGES * PAGE)
#define SCREEN_PAGES  (WINDOW_SCREEN / PAGE)
#define PTE_PRESENT   1ul
#define PTE_WRITE     2ul
#define PTE_UNCACHED                                                                                         \
	0x18ul /* PWT and PCD: entry 3 of the PAT, uncached after a reset and by all known firmware */

extern const uint8_t boot_pml4[];

uint64_t window_table[WINDOW_PAGES] __attribute__((aligned(4096)));
uint64_t window_screen_tables[SCREEN_PAGES] __attribute__((aligned(4096)));

const void *window_to(uint64_t physical, uint64_t bytes)
{
	const uint64_t offset = physical & (PAGE - 1), first = physical - offset;

	if (physical >= REACH || bytes > REACH - physical || bytes > WINDOW_PAGES * PAGE - offset)
		return 0;
	for (uint64_t at = 0; at < offset + bytes; at += PAGE) {
		window_table[at / PAGE] = (first + at) | PTE_PRESENT;
		invlpg(WINDOW + at);
	}
	return (const void *)(WINDOW + offset);
}

volatile void *window_to_screen(uint64_t physical, uint64_t bytes)
{
	const uint64_t offset = physical & (PAGE - 1), first = physical - offset;

	if (bytes > WINDOW_SCREEN - offset)
		return 0;
	for (uint64_t at = 0; at < offset + bytes; at += PAGE) {
		window_screen_tables[at / PAGE] = (first + at) | PTE_PRESENT | PTE_WRITE | PTE_UNCACHED;
		invlpg(SCREEN_WINDOW + at);
	}
	return (volatile void *)(SCREEN_WINDOW + offset);
}

int window_is_there(void)
{
	uint64_t cr3;

	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	return cr3 == (uint64_t)boot_pml4;
}

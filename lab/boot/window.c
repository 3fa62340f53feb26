/*
 * The boot page tables map the kernel and this window, in which the boot loader's information is looked at. If they
 * mapped all addresses as memory, the processor could read devices' registers before any instruction does: what is
 * write-back may be read speculatively (SDM vol. 3, 12.3.1).
 */
#include "boot/window.h"
#include "cpu/cpu.h"
#include "mm/mm.h"

#define WINDOW	     0xffffffffc0000000ul /* start.S: boot_pdpt_high */
#define WINDOW_PAGES 512
#define REACH	     (1ul << 32)
#define PTE_PRESENT  1ul

uint64_t window_table[WINDOW_PAGES] __attribute__((aligned(4096)));

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

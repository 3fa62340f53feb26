/* Bases of segments, which come from descriptors alone. */
#include "cpu/segments.h"
#include "cpu/cpu.h"
#include "cpu/tss.h"
#include "entry/steps/steps.h"
#include "mm/mm.h"

/* The base that a selector of thread-local storage has, for the program; of all others it is 0. */
static word tls_base(uint32_t selector)
{
	const unsigned index = selector / 8 - SELECTOR_TLS / 8;

	return index < TLS_ENTRIES && tables_tls(index) ? base_of(tables_tls(index)) - space->block : 0;
}

uint64_t gs_base(void)
{
	uint32_t selector;

	__asm__ volatile("mov %%gs, %0" : "=r"(selector));
	return tls_base(selector & 0xffff);
}

uint64_t fs_base(void)
{
	uint32_t selector;

	__asm__ volatile("mov %%fs, %0" : "=r"(selector));
	return tls_base(selector & 0xffff);
}

void gs_load(uint16_t selector)
{
	__asm__ volatile("mov %0, %%gs" : : "r"((uint32_t)selector));
}

/* No program has a base apart from its descriptor's. */
void gs_set_base(uint64_t base)
{
	(void)base;
}

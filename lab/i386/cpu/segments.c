/* Bases of segments, which come from descriptors alone. */
#include "cpu/segments.h"
#include "cpu/cpu.h"
#include "entry/steps/steps.h"

/* The base that a selector of thread-local storage has; of all others it is 0. */
static uint32_t base_of(uint32_t selector)
{
	const unsigned index = selector / 8 - SELECTOR_TLS / 8;
	const uint64_t descriptor = index < TLS_ENTRIES ? tables_tls(index) : 0;

	return (uint32_t)(descriptor >> 16 & 0xffffff) | (uint32_t)(descriptor >> 56) << 24;
}

uint64_t gs_base(void)
{
	uint32_t selector;

	__asm__ volatile("mov %%gs, %0" : "=r"(selector));
	return base_of(selector & 0xffff);
}

uint64_t fs_base(void)
{
	uint32_t selector;

	__asm__ volatile("mov %%fs, %0" : "=r"(selector));
	return base_of(selector & 0xffff);
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

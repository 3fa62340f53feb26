/* Begins and ends the passage in which CR0.PG may change (passage.h). */
#include "cpu/passage.h"
#include "cpu/cpu.h"
#include "cpu/tss.h"
#include "lab.h"
#include "mm/mm.h"

#include <stddef.h>

_Static_assert(offsetof(struct table_pointers, idt) == PASSAGE_IDT, "boot/paging.S");
_Static_assert(PASSAGE_VECTORS == VECTOR_NMI + 1, "the last is NMI's");

/* At physical addresses, as all of .boot: what C reads and writes of them is where memory is mapped. */
extern uint64_t passage_gdt[PASSAGE_DESCRIPTORS], passage_idt[PASSAGE_VECTORS];
extern const uint8_t passage_nmi[];

static uint64_t *memory(uint64_t *physical)
{
	return physical_to_virtual((word)physical);
}

/* With the descriptors that the kernel runs by, whatever bases they have now. */
struct table_pointers passage_begin(void)
{
	struct table_pointers before;
	uint32_t task;
	const struct table_pointer descriptors = {PASSAGE_DESCRIPTORS * 8 - 1, (word)passage_gdt};
	const struct table_pointer gates = {PASSAGE_VECTORS * 8 - 1, (word)passage_idt};
	uint64_t *const copy = memory(passage_gdt);

	copy[SELECTOR_BOOT_CODE / 8] = gdt[SELECTOR_BOOT_CODE / 8] =
	    with_base(gdt[SELECTOR_KERNEL_CODE / 8], 0);
	copy[SELECTOR_KERNEL_CODE / 8] = gdt[SELECTOR_KERNEL_CODE / 8];
	copy[SELECTOR_KERNEL_DATA / 8] = gdt[SELECTOR_KERNEL_DATA / 8];
	copy[PASSAGE_DATA / 8] = with_base(gdt[SELECTOR_KERNEL_DATA / 8], 0);
	memory(passage_idt)[VECTOR_NMI] = gate(TYPE_INTERRUPT_GATE, 0, SELECTOR_BOOT_CODE, (word)passage_nmi);
	__asm__ volatile("sgdt %0; sidt %1" : "=m"(before.gdt), "=m"(before.idt));
	__asm__ volatile("lidt %0; lgdt %1" : : "m"(gates), "m"(descriptors) : "memory");
	__asm__ volatile("str %0" : "=r"(task));
	make_available(task); /* it is loaded again with its new base */
	return before;
}

void passage_end(void)
{
	gdt[SELECTOR_BOOT_CODE / 8] = 0;
}

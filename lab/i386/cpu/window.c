/* Opens the window in which CR0.PG may change (window.h). */
#include "cpu/window.h"
#include "cpu/cpu.h"
#include "cpu/tss.h"
#include "lab.h"
#include "mm/mm.h"

#include <stddef.h>

_Static_assert(offsetof(struct table_pointers, idt) == WINDOW_IDT, "boot/paging.S");
_Static_assert(WINDOW_VECTORS == VECTOR_NMI + 1, "the last is NMI's");

/* At physical addresses, as all of .boot: what C reads and writes of them is where memory is mapped. */
extern uint64_t window_gdt[WINDOW_DESCRIPTORS], window_idt[WINDOW_VECTORS];
extern const uint8_t window_nmi[];

static uint64_t *memory(uint64_t *physical)
{
	return physical_to_virtual((word)physical);
}

/* ltr asks for a TSS that is available, and makes it busy (SDM vol. 2A, LTR). */
static void make_task_available(void)
{
	uint32_t task;

	__asm__ volatile("str %0" : "=r"(task));
	gdt[task / 8] &= ~((uint64_t)TYPE_BUSY << TYPE_SHIFT);
}

/* With the descriptors that the kernel runs by, whatever bases they have now. */
struct table_pointers window_open(void)
{
	struct table_pointers before;
	const struct table_pointer descriptors = {WINDOW_DESCRIPTORS * 8 - 1, (word)window_gdt};
	const struct table_pointer gates = {WINDOW_VECTORS * 8 - 1, (word)window_idt};
	uint64_t *const copy = memory(window_gdt);

	copy[SELECTOR_BOOT_CODE / 8] = gdt[SELECTOR_BOOT_CODE / 8] =
	    with_base(gdt[SELECTOR_KERNEL_CODE / 8], 0);
	copy[SELECTOR_KERNEL_CODE / 8] = gdt[SELECTOR_KERNEL_CODE / 8];
	copy[SELECTOR_KERNEL_DATA / 8] = gdt[SELECTOR_KERNEL_DATA / 8];
	copy[WINDOW_DATA / 8] = with_base(gdt[SELECTOR_KERNEL_DATA / 8], 0);
	memory(window_idt)[VECTOR_NMI] = gate(TYPE_INTERRUPT_GATE, 0, SELECTOR_BOOT_CODE, (word)window_nmi);
	__asm__ volatile("sgdt %0; sidt %1" : "=m"(before.gdt), "=m"(before.idt));
	__asm__ volatile("lidt %0; lgdt %1" : : "m"(gates), "m"(descriptors) : "memory");
	make_task_available();
	return before;
}

void window_close(void)
{
	gdt[SELECTOR_BOOT_CODE / 8] = 0;
}

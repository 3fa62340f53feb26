/* Turns paging off for a program, and on again: all that holds a linear address changes (unpaged.h). */
#include "cpu/unpaged.h"
#include "cpu/cpu.h"
#include "cpu/tss.h"
#include "cpu/passage.h"
#include "lab.h"
#include "mm/mm.h"

word unpaged_distance, unpaged_base;

#define IS_MEMORY	     0x10 /* of a type: code or data, otherwise the system's */
#define TYPE_AVAILABLE(type) ((type) & ~TYPE_BUSY)

static int has_base(uint64_t descriptor)
{
	const unsigned type = descriptor >> TYPE_SHIFT & TYPE;

	if (!(descriptor >> TYPE_SHIFT & PRESENT))
		return 0;
	return type & IS_MEMORY || type == TYPE_LDT || TYPE_AVAILABLE(type) == TYPE_TSS ||
	       TYPE_AVAILABLE(type) == TYPE_TSS_16;
}

static int is_programs(uint64_t descriptor)
{
	return (descriptor >> TYPE_SHIFT & USER) == USER;
}

static void move_bases(word of_kernel, word of_program)
{
	for (unsigned i = 1; i < GDT_ENTRIES; i++) {
		const uint64_t descriptor = gdt[i];
		const word by = is_programs(descriptor) ? of_program : of_kernel;

		if (has_base(descriptor) && i != SELECTOR_BOOT_CODE / 8)
			gdt[i] = with_base(descriptor, base_of(descriptor) + by);
	}
}

static struct table_pointers moved(struct table_pointers pointers, word by)
{
	pointers.gdt.base += by;
	pointers.idt.base += by;
	return pointers;
}

void unpaged_begin(word block)
{
	const struct table_pointers pointers = moved(passage_begin(), -KERNEL_BASE);

	move_bases(-KERNEL_BASE, block);
	unpaged_distance = KERNEL_BASE;
	unpaged_base = block + KERNEL_BASE;
	paging_clear(&pointers);
	passage_end();
}

void unpaged_end(void)
{
	void (*const set)(const struct table_pointers *) = (void *)((word)paging_set + KERNEL_BASE);
	const struct table_pointers pointers = moved(passage_begin(), KERNEL_BASE);

	move_bases(KERNEL_BASE, KERNEL_BASE - unpaged_base);
	unpaged_distance = unpaged_base = 0;
	set(&pointers);
	passage_end();
}

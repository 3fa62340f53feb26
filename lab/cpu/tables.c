/* The descriptor tables. They lie in the CPU area, which programs' page tables map, too (mm/tables.c). */
#include "cpu/cpu.h"
#include "cpu/tss.h"
#include "entry/entry.h"

#define CPU_AREA __attribute__((section(".cpu_area"), aligned(16)))

/* SDM vol. 3, 6.14.1. */
struct gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_middle;
	uint32_t offset_high, reserved;
};
_Static_assert(sizeof(struct gate) == 16, "two GDT entries, one IDT entry");

#define TYPE_CALL_GATE	    0xc
#define TYPE_INTERRUPT_GATE 0xe
#define TYPE_TRAP_GATE	    0xf
#define PRESENT		    0x80
#define USER		    0x60 /* DPL 3 */
#define RING1		    0x20 /* DPL 1 */

/*
 * Descriptors: SDM vol. 3, 3.4.5. Present, of type code or data, accessed, flat.
 *
 * 64-bit code looks at no limit of the kernel's data. But an iretq in the kernel loads it into SS, and AMD's sysret changes
 * SS's selector alone (APM vol. 3, SYSRET): the program goes on with the limit and the D/B bit of this descriptor.
 *
 * No processor looks at the limit of 64-bit code. QEMU's TCG does, at a far call from 32-bit code.
 */
#define KERNEL_CODE  0x00209b0000000000
#define KERNEL_DATA  0x00cf93000000ffff
#define USER_CODE_32 0x00cffb000000ffff
#define USER_DATA    0x00cff3000000ffff
#define USER_CODE_64 0x00affb000000ffff
#define RING1_CODE   0x00afbb000000ffff
#define RING2_CODE   0x00afdb000000ffff
/* Of 16 bits, for programs: base 0x10000, limit 0xffff. */
#define CODE_16	     0x0000fb010000ffff
#define DATA_16	     0x0000f3010000ffff
#define CPU_NUMBER   0x0040f10000000000 /* data, its limit 0: the number */

/* What the fast calls compute (registers.h). */
_Static_assert((STAR_VALUE >> 48 & 3) == 3, "AMD's sysret takes SS's RPL from STAR");
_Static_assert((STAR_VALUE >> 48) == SELECTOR_USER_CODE_32, "sysretl");
_Static_assert((STAR_VALUE >> 48) + 8 == SELECTOR_USER_DATA, "sysretl, sysretq");
_Static_assert((STAR_VALUE >> 48) + 16 == SELECTOR_USER_CODE_64, "sysretq");
_Static_assert((STAR_VALUE >> 32 & 0xffff) == SELECTOR_KERNEL_CODE, "syscall");
_Static_assert(SELECTOR_KERNEL_CODE + 8 == SELECTOR_KERNEL_DATA, "syscall, sysenter");
_Static_assert(SELECTOR_KERNEL_CODE + 16 == (SELECTOR_USER_CODE_32 & ~3), "sysexitl");
_Static_assert(SELECTOR_KERNEL_CODE + 24 == (SELECTOR_USER_DATA & ~3), "sysexitl");
_Static_assert(SELECTOR_KERNEL_CODE + 32 == (SELECTOR_USER_CODE_64 & ~3), "sysexitq");
_Static_assert(SELECTOR_KERNEL_CODE + 40 == (SELECTOR_USER_DATA_64 & ~3), "sysexitq");

uint64_t gdt[GDT_ENTRIES] CPU_AREA;
static struct gate idt[256] CPU_AREA;
static uint64_t ldt[LDT_ENTRIES] CPU_AREA;
struct tss tss CPU_AREA;

#define IST_STACK 4096
/*
 * Exceptions that may come while rsp holds a program's stack pointer or a page-table base (entry/syscall-*.S). Each has a
 * stack of its own, because one may come while another is handled. None comes again before its iretq: NMIs are blocked
 * until then, a second #MC or #DF shuts the processor down, and #DB's handler sets no breakpoint.
 */
static const uint8_t ist_vectors[] = {VECTOR_DEBUG, VECTOR_NMI, VECTOR_DOUBLE, VECTOR_MACHINE};
/* Each on pages of its own, below which one is not mapped (entry/guard.c). */
static struct {
	uint8_t guard[4096], stack[IST_STACK];
} ist_stacks[sizeof(ist_vectors)] __attribute__((section(".cpu_stacks"), aligned(4096)));
static const uint64_t ist_guards[sizeof(ist_vectors)]
    __attribute__((section(".guard_pages"), used, aligned(8))) = {
	(uint64_t)ist_stacks[0].guard, (uint64_t)ist_stacks[1].guard, (uint64_t)ist_stacks[2].guard,
	(uint64_t)ist_stacks[3].guard};

static struct gate gate(uint64_t target, unsigned type, unsigned privilege)
{
	return (struct gate){
	    .offset_low = (uint16_t)target,
	    .selector = SELECTOR_KERNEL_CODE,
	    .type = (uint8_t)(PRESENT | privilege | type),
	    .offset_middle = (uint16_t)(target >> 16),
	    .offset_high = (uint32_t)(target >> 32),
	};
}

static void set_system_descriptor(unsigned selector, const void *base, unsigned limit, uint64_t type)
{
	const uint64_t address = (uint64_t)base;

	gdt[selector / 8] = (limit & 0xffff) | (address & 0xffffff) << 16 | (type | PRESENT) << 40 |
			    (address >> 24 & 0xff) << 56;
	gdt[selector / 8 + 1] = address >> 32;
}

/* Whether programs may use VECTOR_SOFTWARE with int, too. */
static int is_software_open;

/* The two vectors that programs may always use with int; only the processor raises the others. */
static unsigned privilege_of(unsigned vector)
{
	if (vector == VECTOR_SOFTWARE)
		return is_software_open ? USER : 0;
	return vector == VECTOR_BREAKPOINT || vector == VECTOR_INT80 ? USER : 0;
}

static uint64_t stub_of(unsigned vector)
{
	if (configured[SWITCH_IBT] == IBT_ON)
		return (uint64_t)landing_stubs + vector * LANDING_STUB_SIZE;
	return (uint64_t)exception_stubs + vector * EXCEPTION_STUB_SIZE;
}

void gate_to_stub(unsigned vector)
{
	idt[vector] = gate(stub_of(vector), TYPE_INTERRUPT_GATE, privilege_of(vector));
	for (unsigned i = 0; i < sizeof(ist_vectors); i++)
		if (ist_vectors[i] == vector)
			idt[vector].ist = (uint8_t)(i + 1);
}

void gate_opens(int to_programs)
{
	is_software_open = to_programs;
	gate_to_stub(VECTOR_SOFTWARE);
}

/* An NMI may come meanwhile: only what differs is written, at once. */
void gates_land(void)
{
	for (unsigned vector = 0; vector < sizeof(idt) / sizeof(idt[0]); vector++) {
		const uint64_t target = idt[vector].offset_low | (uint64_t)idt[vector].offset_middle << 16 |
					(uint64_t)idt[vector].offset_high << 32;
		if (!is_in_path(target))
			*(volatile uint16_t *)&idt[vector].offset_low = (uint16_t)stub_of(vector);
	}
}

void gate_to_path(unsigned vector, word path, int is_trap_gate)
{
	idt[vector] = gate(path, is_trap_gate ? TYPE_TRAP_GATE : TYPE_INTERRUPT_GATE, privilege_of(vector));
}

void gates_to_paths(word x86_64, word i386)
{
	const struct gate gates[2] = {gate(x86_64, TYPE_CALL_GATE, USER), gate(i386, TYPE_CALL_GATE, USER)};

	__builtin_memcpy(&gdt[SELECTOR_GATE_X86_64 / 8], &gates[0], sizeof(gates[0]));
	__builtin_memcpy(&gdt[SELECTOR_GATE_I386 / 8], &gates[1], sizeof(gates[1]));
	__builtin_memcpy(ldt, &gates[1], sizeof(gates[1]));
}

/* A gate to another ring than the kernel's. */
static struct gate gate_to_ring(word target, unsigned code_segment)
{
	struct gate made = gate(target, TYPE_CALL_GATE, USER);

	made.selector = (uint16_t)(code_segment & ~SELECTOR_RING);
	return made;
}

void gates_to_rings(word ring1, word ring2, word from_ring1)
{
	const struct gate to_1 = gate_to_ring(ring1, SELECTOR_RING1_CODE),
			  to_2 = gate_to_ring(ring2, SELECTOR_RING2_CODE),
			  to_0 = gate(from_ring1, TYPE_CALL_GATE, RING1);

	__builtin_memcpy(&gdt[SELECTOR_GATE_RING1 / 8], &to_1, sizeof(to_1));
	__builtin_memcpy(&gdt[SELECTOR_GATE_RING2 / 8], &to_2, sizeof(to_2));
	__builtin_memcpy(&gdt[SELECTOR_GATE_RING0 / 8], &to_0, sizeof(to_0));
}

void gates_to_rings_close(void)
{
	const unsigned gates[] = {SELECTOR_GATE_RING1, SELECTOR_GATE_RING2, SELECTOR_GATE_RING0};

	for (unsigned i = 0; i < sizeof(gates) / sizeof(gates[0]); i++)
		__builtin_memset(&gdt[gates[i] / 8], 0, sizeof(struct gate));
}

void tables_set_tls(unsigned index, uint64_t descriptor)
{
	gdt[SELECTOR_TLS / 8 + index] = descriptor;
}

uint64_t tables_tls(unsigned index)
{
	return gdt[SELECTOR_TLS / 8 + index];
}

void tables_load(void)
{
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) pointer;

	gdt[SELECTOR_KERNEL_CODE / 8] = KERNEL_CODE;
	gdt[SELECTOR_KERNEL_DATA / 8] = KERNEL_DATA;
	gdt[SELECTOR_USER_CODE_32 / 8] = USER_CODE_32;
	gdt[SELECTOR_USER_DATA / 8] = USER_DATA;
	gdt[SELECTOR_USER_CODE_64 / 8] = USER_CODE_64;
	gdt[SELECTOR_USER_DATA_64 / 8] = USER_DATA;
	gdt[SELECTOR_CPU / 8] = CPU_NUMBER;
	ldt[SELECTOR_CODE_16 / 8] = CODE_16;
	ldt[SELECTOR_DATA_16 / 8] = DATA_16;
	gdt[SELECTOR_RING1_CODE / 8] = RING1_CODE;
	gdt[SELECTOR_RING2_CODE / 8] = RING2_CODE;
	set_system_descriptor(SELECTOR_TSS, &tss, sizeof(tss) - 1, 0x9);
	set_system_descriptor(SELECTOR_LDT, ldt, sizeof(ldt) - 1, 0x2);

	tss.io_map = sizeof(tss); /* beyond the limit: no port is open */
	for (unsigned i = 0; i < sizeof(ist_vectors); i++)
		tss.ist[i] = (uint64_t)ist_stacks[i].stack + IST_STACK;
	for (unsigned vector = 0; vector < sizeof(idt) / sizeof(idt[0]); vector++)
		gate_to_stub(vector);

	pointer.limit = sizeof(gdt) - 1;
	pointer.base = (uint64_t)gdt;
	__asm__ volatile("lgdt %0" : : "m"(pointer));
	__asm__ volatile("lldt %w0; ltr %w1" : : "r"(SELECTOR_LDT), "r"(SELECTOR_TSS));
	/* After the TSS, which has the stacks that these gates name. */
	pointer.limit = sizeof(idt) - 1;
	pointer.base = (uint64_t)idt;
	__asm__ volatile("lidt %0" : : "m"(pointer));
	__asm__ volatile("mov %0, %%ss" : : "r"(SELECTOR_KERNEL_DATA));
}

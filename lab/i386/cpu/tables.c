/* The descriptor tables of protected mode. They lie in the CPU area, which programs' page tables map, too (mm/tables.c). */
#include "cpu/cpu.h"
#include "cpu/double_fault.h"
#include "cpu/events.h"
#include "cpu/tasks.h"
#include "cpu/tss.h"
#include "cpu/unpaged.h"
#include "entry/entry.h"
#include "entry/gates.h"
#include "lab.h"
#include "mm/mm.h"

#define RING1 0x20 /* DPL 1 */

/* Descriptors: SDM vol. 3, 3.4.5. Present, of type code or data, accessed, flat. */
#define KERNEL_CODE 0x00cf9b000000ffff
#define KERNEL_DATA 0x00cf93000000ffff
#define USER_CODE   0x00cffb000000ffff
#define USER_DATA   0x00cff3000000ffff
#define RING1_CODE  0x00cfbb000000ffff
#define RING1_DATA  0x00cfb3000000ffff
#define RING2_CODE  0x00cfdb000000ffff
#define RING2_DATA  0x00cfd3000000ffff
/* Of 16 bits, for programs: base 0x10000, limit 0xffff. */
#define CODE_16	    0x0000fb010000ffff
#define DATA_16	    0x0000f3010000ffff
#define CPU_NUMBER  0x0040f10000000000 /* data, its limit 0: the number */

/* What sysenter and sysexit compute (registers.h). */
_Static_assert(SELECTOR_KERNEL_CODE + 8 == SELECTOR_KERNEL_DATA, "sysenter");
_Static_assert(SELECTOR_KERNEL_CODE + 16 == (SELECTOR_USER_CODE_32 & ~3), "sysexit");
_Static_assert(SELECTOR_KERNEL_CODE + 24 == (SELECTOR_USER_DATA & ~3), "sysexit");

uint64_t gdt[GDT_ENTRIES] CPU_AREA_TABLE;
static uint64_t idt[256] CPU_AREA_TABLE;
uint64_t ldt[LDT_ENTRIES] CPU_AREA_TABLE;

/*
 * The task that all others run in, and two bitmaps. The one of interrupts that virtual-8086 mode does not redirect lies directly below where
 * the ports' begins, wherever io_map says that is; both must be inside the limit (SDM vol. 3, 20.3.3, figure 20-5; APM vol. 2, 12.2.4). No
 * port is open: the first eight are closed by ones, all others are beyond the limit.
 */
#define NOT_REDIRECTED 0xff
#define CLOSED	       0xff
static struct whole_tss {
	struct tss task;
	uint8_t redirection[32], ports[2];
} __attribute__((aligned(256))) whole_tss CPU_AREA; /* in one page */
#define WHOLE_TSS (offsetof(struct whole_tss, ports) + sizeof(whole_tss.ports))
extern struct tss tss __attribute__((alias("whole_tss")));

struct tss *tss_named(unsigned selector)
{
	return (struct tss *)(base_of(gdt[selector / 8]) + unpaged_distance);
}

uint64_t system_descriptor(const void *base, unsigned limit, unsigned type)
{
	return with_base((limit & 0xffff) | (uint64_t)(PRESENT | type) << TYPE_SHIFT, (word)base);
}

/* Whether programs may use VECTOR_SOFTWARE with int, too; and what needs page tables. */
static int is_software_open, are_paged_open;

/* The vectors that programs may always use, by int, int3 and into; only the processor raises the others. */
static unsigned privilege_of(unsigned vector)
{
	switch (vector) {
	case VECTOR_SOFTWARE:
		return is_software_open ? USER : 0;
	case VECTOR_BREAKPOINT:
	case VECTOR_OVERFLOW:
	case VECTOR_INT80:
		return USER;
	case VECTOR_STACK_OVERFLOW:
	case VECTOR_V86:
		return are_paged_open ? USER : 0;
	}
	return 0;
}

static word stub_of(unsigned vector)
{
	if (configured[SWITCH_IBT] == IBT_ON)
		return (word)landing_stubs + vector * LANDING_STUB_SIZE;
	return (word)exception_stubs + vector * EXCEPTION_STUB_SIZE;
}

/*
 * Both halves by one instruction: with events-by, NMI's gate becomes another kind while NMIs may come, and half of a task gate with half of an interrupt gate
 * would be a fault of the kernel's.
 */
static __attribute__((noinline)) void write_gate(unsigned vector, uint64_t gate)
{
	(void)__sync_val_compare_and_swap(&idt[vector], idt[vector], gate);
}

void gate_to_task(unsigned vector, unsigned selector, unsigned privilege)
{
	write_gate(vector, task_gate(selector, privilege));
}

static int is_task_gate(unsigned vector)
{
	return (idt[vector] >> TYPE_SHIFT & TYPE) == TYPE_TASK_GATE;
}

/*
 * A double fault comes where an exception could not be delivered, above all because there is no stack any more: a task gate brings
 * one, whatever the kernel's is.
 */
void gate_to_stub(unsigned vector)
{
	if (vector == VECTOR_DOUBLE)
		gate_to_task(vector, SELECTOR_DOUBLE_FAULT, 0);
	else
		write_gate(vector, gate(TYPE_INTERRUPT_GATE, privilege_of(vector), SELECTOR_KERNEL_CODE,
					stub_of(vector)));
}

void gate_opens(int to_programs)
{
	is_software_open = to_programs;
	gate_to_stub(VECTOR_SOFTWARE);
}

void gates_open_paged(int to_programs)
{
	are_paged_open = to_programs;
	gate_to_stub(VECTOR_STACK_OVERFLOW);
	gate_to_stub(VECTOR_V86);
}

/* Both stubs differ in the lower 16 bits alone: an NMI that comes meanwhile finds a gate to one of them. */
void gates_land(void)
{
	for (unsigned vector = 0; vector < sizeof(idt) / sizeof(idt[0]); vector++) {
		const word target = (word)(idt[vector] & 0xffff) | (word)(idt[vector] >> 48) << 16;
		if (!is_task_gate(vector) && !is_in_path(target))
			idt[vector] = (idt[vector] & ~0xffffull) | (uint16_t)stub_of(vector);
	}
}

void gate_to_path(unsigned vector, word path, int is_trap_gate)
{
	write_gate(vector, gate(is_trap_gate ? TYPE_TRAP_GATE : TYPE_INTERRUPT_GATE, privilege_of(vector),
				SELECTOR_KERNEL_CODE, path));
}

void gates_to_paths(word x86_64, word i386)
{
	(void)x86_64; /* no program has these numbers */
	gdt[SELECTOR_GATE_I386 / 8] = ldt[0] = gate(TYPE_CALL_GATE, USER, SELECTOR_KERNEL_CODE, i386);
}

void gates_to_rings(word ring1, word ring2, word from_ring1)
{
	gdt[SELECTOR_GATE_RING1 / 8] = gate(TYPE_CALL_GATE, USER, SELECTOR_RING1_CODE, ring1);
	gdt[SELECTOR_GATE_RING2 / 8] = gate(TYPE_CALL_GATE, USER, SELECTOR_RING2_CODE, ring2);
	gdt[SELECTOR_GATE_RING0 / 8] = gate(TYPE_CALL_GATE, RING1, SELECTOR_KERNEL_CODE, from_ring1);
}

void gates_to_rings_close(void)
{
	gdt[SELECTOR_GATE_RING1 / 8] = gdt[SELECTOR_GATE_RING2 / 8] = gdt[SELECTOR_GATE_RING0 / 8] = 0;
}

void tables_set_tls(unsigned index, uint64_t descriptor)
{
	gdt[SELECTOR_TLS / 8 + index] = descriptor;
}

uint64_t tables_tls(unsigned index)
{
	return gdt[SELECTOR_TLS / 8 + index];
}

void tss_set_stacks(word top, word ring1_top)
{
	tss.rings[0].esp = top;
	tss.rings[1].esp = ring1_top;
	tss.rings[2].esp = ring1_top + RING_STACK_BYTES;
}

/*
 * CR3 is loaded from a TSS and never stored there (SDM vol. 3, 7.3). With the TSS of programs their tables are to be loaded; but where a task may
 * interrupt the kernel, the kernel's, and paths note which (TO_PROGRAM_TABLES of entry/steps.inc).
 */
void tss_set_tables(word kernel, word program)
{
	double_fault_tss.cr3 = kernel;
	tasks_set_tables(kernel);
	events_set_tables(kernel);
	tss.cr3 = events_are_tasks() ? kernel : program;
}

struct tss tss_of_kernel(word code, word stack_top)
{
	return (struct tss){
	    .cr3 = kernel_cr3,
	    .eip = code,
	    .eflags = FLAGS_ONE,
	    .esp = stack_top,
	    .cs = SELECTOR_KERNEL_CODE,
	    .ss = SELECTOR_KERNEL_DATA,
	    .ds = SELECTOR_KERNEL_DATA,
	    .es = SELECTOR_KERNEL_DATA,
	    .ldt = SELECTOR_LDT,
	    .io_map = sizeof(struct tss),
	};
}

void tables_set_task(unsigned selector, const struct tss *task)
{
	gdt[selector / 8] = system_descriptor(task, sizeof(*task) - 1, TYPE_TSS);
}

void tables_load(void)
{
	struct table_pointer pointer;

	gdt[SELECTOR_KERNEL_CODE / 8] = KERNEL_CODE;
	gdt[SELECTOR_KERNEL_DATA / 8] = KERNEL_DATA;
	gdt[SELECTOR_USER_CODE_32 / 8] = USER_CODE;
	gdt[SELECTOR_USER_DATA / 8] = USER_DATA;
	gdt[SELECTOR_CPU / 8] = CPU_NUMBER;
	gdt[SELECTOR_ESPFIX / 8] = KERNEL_DATA;
	ldt[SELECTOR_CODE_16 / 8] = CODE_16;
	ldt[SELECTOR_DATA_16 / 8] = DATA_16;
	gdt[SELECTOR_RING1_CODE / 8] = RING1_CODE;
	gdt[SELECTOR_RING1_DATA / 8] = RING1_DATA;
	gdt[SELECTOR_RING2_CODE / 8] = RING2_CODE;
	gdt[SELECTOR_RING2_DATA / 8] = RING2_DATA;
	gdt[SELECTOR_TSS / 8] = system_descriptor(&whole_tss, WHOLE_TSS - 1, TYPE_TSS);
	gdt[SELECTOR_LDT / 8] = system_descriptor(ldt, sizeof(ldt) - 1, TYPE_LDT);
	tss.rings[0].ss = SELECTOR_KERNEL_DATA;
	tss.rings[1].ss = SELECTOR_RING1_DATA;
	tss.rings[2].ss = SELECTOR_RING2_DATA;
	tss.io_map = offsetof(struct whole_tss, ports);
	__builtin_memset(whole_tss.ports, CLOSED, sizeof(whole_tss.ports));
	__builtin_memset(whole_tss.redirection, NOT_REDIRECTED, sizeof(whole_tss.redirection));
	whole_tss.redirection[VECTOR_V86_REDIRECTED / 8] =
	    (uint8_t)(NOT_REDIRECTED & ~(1u << VECTOR_V86_REDIRECTED % 8));
	tss.ldt = SELECTOR_LDT; /* which a task that goes back to this one loads */
	double_fault_prepare();
	events_init();
	gates_prepare();
	for (unsigned vector = 0; vector < sizeof(idt) / sizeof(idt[0]); vector++)
		gate_to_stub(vector);

	pointer.limit = sizeof(gdt) - 1;
	pointer.base = (word)gdt;
	__asm__ volatile("lgdt %0" : : "m"(pointer));
	__asm__ volatile("lldt %w0; ltr %w1" : : "r"(SELECTOR_LDT), "r"(SELECTOR_TSS));
	pointer.limit = sizeof(idt) - 1;
	pointer.base = (word)idt;
	__asm__ volatile("lidt %0" : : "m"(pointer));
	__asm__ volatile("ljmp %0, $1f\n1:" : : "i"(SELECTOR_KERNEL_CODE));
	__asm__ volatile("mov %0, %%ss; mov %0, %%ds; mov %0, %%es" : : "r"(SELECTOR_KERNEL_DATA));
	__asm__ volatile("mov %0, %%fs; mov %0, %%gs" : : "r"(0));
}

/* The tasks of #DB, NMI and #MC (events.h). events.S has the loop of each, and their stacks. */
#include "cpu/events.h"
#include "cpu/tss.h"
#include "entry/entry.h"
#include "mm/mm.h"
#include "serial/serial.h"

#define RFLAGS_RF      0x10000
#define PRESENT_MEMORY 0x9000 /* of a descriptor's upper half: present, and code or data */
#define CODE	       0x0800
#define READABLE       0x0200 /* of code; data always are */

void debug_task(void), nmi_task(void), machine_check_task(void);
void debug_event(void), nmi_event(void), machine_check_event(void);
extern const uint8_t debug_stack_top[], nmi_stack_top[], machine_check_stack_top[];

static const struct event {
	unsigned vector;
	void (*code)(void);
	const uint8_t *stack_top;
} events[] = {
    {VECTOR_DEBUG, debug_task, debug_stack_top},
    {VECTOR_NMI, nmi_task, nmi_stack_top},
    {VECTOR_MACHINE, machine_check_task, machine_check_stack_top},
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

/* Programs' page tables map them: the processor reads them before it loads CR3. */
static struct tss event_tss[EVENTS] CPU_AREA;

void events_init(void)
{
	for (unsigned i = 0; i < EVENTS; i++) {
		event_tss[i] = tss_of_kernel((word)events[i].code, (word)events[i].stack_top);
		tables_set_task(SELECTOR_EVENT + 8 * i, &event_tss[i]);
	}
}

static int are_tasks;

int events_are_tasks(void)
{
	return are_tasks;
}

/*
 * As long as a gate leads to a task, the TSS of programs must hold the kernel's page tables. tables_note writes there what are_tasks says: so that comes
 * before the first gate does, and after the last.
 */
void events_configure(void)
{
	const int wanted = configured[SWITCH_EVENTS_BY] == EVENTS_BY_TASK;

	are_tasks = 1;
	tables_note();
	for (unsigned i = 0; i < EVENTS; i++) {
		if (wanted)
			gate_to_task(events[i].vector, SELECTOR_EVENT + 8 * i, 0);
		else
			gate_to_stub(events[i].vector);
	}
	are_tasks = wanted;
	tables_note();
}

void events_set_tables(unsigned long cr3)
{
	for (unsigned i = 0; i < EVENTS; i++)
		event_tss[i].cr3 = cr3;
}

/* Whether a selector can still be loaded that was loaded before. The null descriptor is not present. */
static int is_loadable(uint32_t selector)
{
	const int is_local = (selector & SELECTOR_LOCAL) != 0;
	const unsigned index = (selector & 0xffff) / 8;

	if (index >= (is_local ? LDT_ENTRIES : GDT_ENTRIES))
		return 0;
	const uint32_t upper = (uint32_t)((is_local ? ldt : gdt)[index] >> 32);
	return (upper & PRESENT_MEMORY) == PRESENT_MEMORY && (!(upper & CODE) || upper & READABLE);
}

/* Of a program: those of a task that serves calls are the kernel's own. In virtual-8086 mode they are no selectors. */
static void drop_selectors(struct tss *task)
{
	if (task != &tss)
		return;
	uint32_t *const all[] = {&task->ds, &task->es, &task->fs, &task->gs};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]) && !(task->eflags & RFLAGS_VM); i++)
		if (!is_loadable(*all[i]))
			*all[i] = 0;
}

/* Who goes on when the current task ends. */
static struct tss *interrupted(unsigned event)
{
	return tss_named(event_tss[event].link & 0xffff);
}

static int is_program(const struct tss *task)
{
	return task->eflags & RFLAGS_VM || task->cs & SELECTOR_RING;
}

static void push(struct tss *task, uint32_t value)
{
	task->esp -= sizeof(value);
	*(uint32_t *)(word)task->esp = value;
}

/* The task goes on as if the exception had come by the gate to its stub (SDM vol. 3, 6.12.1, 20.3.1.1). */
static void deliver(struct tss *task, unsigned vector)
{
	const struct tss from = *task;

	task->esp = from.rings[0].esp;
	if (from.eflags & RFLAGS_VM) {
		push(task, from.gs);
		push(task, from.fs);
		push(task, from.ds);
		push(task, from.es);
		task->gs = task->fs = task->ds = task->es = 0;
	}
	push(task, from.ss);
	push(task, from.esp);
	push(task, from.eflags);
	push(task, from.cs);
	push(task, from.eip);
	task->ss = from.rings[0].ss;
	task->cs = SELECTOR_KERNEL_CODE;
	task->eip = (word)exception_stubs + vector * EXCEPTION_STUB_SIZE;
	task->eflags &= ~(uint32_t)(RFLAGS_TF | RFLAGS_IF | RFLAGS_NT | RFLAGS_RF | RFLAGS_VM);
}

/*
 * A program's debug trap is an exception like others, on its thread's stack. One in the kernel is a program's that has stepped into an entry
 * which keeps TF: here it ends (exception.c: debug).
 */
void debug_event(void)
{
	struct tss *const task = interrupted(0);
	word status;

	drop_selectors(task);
	if (is_program(task)) {
		deliver(task, VECTOR_DEBUG);
		return;
	}
	__asm__ volatile("mov %%dr6, %0" : "=r"(status));
	__asm__ volatile("mov %0, %%dr6" : : "r"((word)DR6_RESET));
	if (!(status & DR6_STEP)) {
		log_line("panic: a debug trap of the kernel at %lx, DR6 %lx", (word)task->eip, status);
		power_off();
	}
	task->eflags &= ~(uint32_t)RFLAGS_TF;
}

void nmi_event(void)
{
	drop_selectors(interrupted(1));
	exception(&(struct frame){.vector = VECTOR_NMI});
}

void machine_check_event(void)
{
	const struct tss *const task = interrupted(2);

	exception(&(struct frame){
	    .vector = VECTOR_MACHINE, .ip = task->eip, .cs = task->cs, .flags = task->eflags});
}

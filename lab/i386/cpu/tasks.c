/* The kernel's tasks: their TSSs and gates, and what becomes of TR when another thread runs. */
#include "cpu/tasks.h"
#include "cpu/cpu.h"
#include "entry/entry.h"

_Static_assert(offsetof(struct tss, eip) == TSS_IP && offsetof(struct tss, eflags) == TSS_FLAGS &&
		   offsetof(struct tss, eax) == TSS_AX && offsetof(struct tss, ecx) == TSS_CX &&
		   offsetof(struct tss, edx) == TSS_DX && offsetof(struct tss, ebx) == TSS_BX &&
		   offsetof(struct tss, esp) == TSS_SP && offsetof(struct tss, ebp) == TSS_BP &&
		   offsetof(struct tss, esi) == TSS_SI && offsetof(struct tss, edi) == TSS_DI,
	       "task.inc");
_Static_assert(offsetof(struct tss, es) == TSS_ES && offsetof(struct tss, cs) == TSS_CS &&
		   offsetof(struct tss, ss) == TSS_SS && offsetof(struct tss, ds) == TSS_DS &&
		   offsetof(struct tss, fs) == TSS_FS && offsetof(struct tss, gs) == TSS_GS,
	       "task.inc");

extern const uint8_t task_16_code[], task_16_stack[]; /* task-16.S */

/* Programs' page tables map them: the processor reads them before it loads CR3. */
#define CPU_AREA __attribute__((section(".cpu_area"), aligned(16)))
static struct tss task_tss[TASKS] CPU_AREA;
static struct tss_16 task_16_tss CPU_AREA;

static const struct {
	unsigned selector, gate;
	const word *path;
} tasks[TASKS] = {
    {SELECTOR_TASK, SELECTOR_GATE_TASK, &path_task_gate},
    {SELECTOR_TASK_JMP, SELECTOR_GATE_TASK_JMP, &path_task_jmp},
    {SELECTOR_TASK_NESTED, SELECTOR_GATE_TASK_NESTED, &path_task_nested},
};

/* As a task is before it is called: at the beginning of its path, with a null link. */
static void begin(unsigned task)
{
	task_tss[task] = tss_of_kernel((const void *)*tasks[task].path, (const uint8_t *)kernel_stack);
}

static void begin_16(void)
{
	task_16_tss = (struct tss_16){
	    .flags = FLAGS_ONE,
	    .sp = TASK_16_STACK_BYTES,
	    .cs = SELECTOR_TASK_16_CODE,
	    .ss = SELECTOR_TASK_16_STACK,
	    .ds = SELECTOR_KERNEL_DATA,
	    .es = SELECTOR_KERNEL_DATA,
	    .ldt = SELECTOR_LDT,
	};
}

/*
 * The TSS of 16 bits is the current one while a service runs, and all that an interruption by a task could be stored in: 16 bits of eip and esp.
 * So it may be called where NMIs come by gates alone.
 */
static void point_16(void)
{
	begin_16();
	tables_set_task_16(&task_16_tss, task_16_code, task_16_stack);
	if (configured[SWITCH_EVENTS_BY] == EVENTS_BY_GATE)
		gate_to_task_opens(VECTOR_TASK_16, SELECTOR_TASK_16);
	else
		gate_to_stub(VECTOR_TASK_16);
}

void tasks_point(void)
{
	for (unsigned task = 0; task < TASKS; task++) {
		begin(task);
		tables_set_task(tasks[task].selector, &task_tss[task]);
		gate_to_task_at(tasks[task].gate, tasks[task].selector);
	}
	gate_to_task_opens(VECTOR_TASK, SELECTOR_TASK);
	point_16();
}

/* A task is stored with esp as it was at its end, which is where it began. */
void tasks_set_stack(word top)
{
	for (unsigned task = 0; task < TASKS; task++)
		task_tss[task].esp = top;
}

void tasks_set_tables(word cr3)
{
	for (unsigned task = 0; task < TASKS; task++)
		task_tss[task].cr3 = cr3;
}

/* Of all TSSs, in the order of the bits of tasks_kept. */
static const unsigned selectors[TASKS + 2] = {
    SELECTOR_TASK, SELECTOR_TASK_JMP, SELECTOR_TASK_NESTED, SELECTOR_TASK_16, SELECTOR_TSS,
};
#define BUSY ((uint64_t)TYPE_BUSY << TYPE_SHIFT)

static uint32_t get_busy(void)
{
	uint32_t are_busy = 0;

	for (unsigned i = 0; i < TASKS + 2; i++)
		are_busy |= (uint32_t)((gdt[selectors[i] / 8] & BUSY) != 0) << i;
	return are_busy;
}

/* The descriptors' flags alone. TR's own is set all the time, or an NMI that comes by a task could not go back. */
static void set_busy(uint32_t are_busy)
{
	for (unsigned i = 0; i < TASKS + 2; i++) {
		uint64_t *const descriptor = &gdt[selectors[i] / 8];

		*descriptor = are_busy >> i & 1 ? *descriptor | BUSY : *descriptor & ~BUSY;
	}
}

/* ltr asks for a TSS that is available, and makes it busy (SDM vol. 2A, LTR). */
static void load_task_register(unsigned selector)
{
	gdt[selector / 8] &= ~BUSY;
	__asm__ volatile("ltr %w0" : : "r"(selector) : "memory");
}

/*
 * Of the TSS that TR names, an NMI that comes by a task uses what the processor stores there at that moment, and CR3. So a TSS is read and
 * written while TR names another.
 */
void tasks_leave(struct tasks_kept *kept)
{
	kept->are_busy = get_busy();
	kept->program = tss;
	if (configured[SWITCH_EVENTS_BY] == EVENTS_BY_TASK)
		tss.cr3 = kernel_cr3; /* as while other paths serve */
	load_task_register(SELECTOR_TSS);
	kept->task_16 = task_16_tss;
	__builtin_memcpy(kept->tasks, task_tss, sizeof(task_tss));
	set_busy(1u << (TASKS + 1));
	for (unsigned task = 0; task < TASKS; task++)
		begin(task);
	begin_16();
}

/* NT, of a task that was called, is in the flags of thread_switch. */
void tasks_resume(const struct tasks_kept *kept)
{
	task_16_tss = kept->task_16;
	__builtin_memcpy(task_tss, kept->tasks, sizeof(task_tss));
	load_task_register(kept->running);
	tss = kept->program;
	set_busy(kept->are_busy);
}

/* The kernel's tasks: their TSSs and gates, and what becomes of TR when another thread runs. */
#include "cpu/tasks.h"
#include "cpu/cpu.h"
#include "cpu/events.h"
#include "entry/entry.h"

_Static_assert(offsetof(struct tss, cr3) == TSS_CR3 && offsetof(struct tss, eip) == TSS_IP &&
		   offsetof(struct tss, eflags) == TSS_FLAGS,
	       "task.inc");
_Static_assert(offsetof(struct tss, eax) == TSS_AX && offsetof(struct tss, ecx) == TSS_CX &&
		   offsetof(struct tss, edx) == TSS_DX && offsetof(struct tss, ebx) == TSS_BX &&
		   offsetof(struct tss, esp) == TSS_SP && offsetof(struct tss, ebp) == TSS_BP &&
		   offsetof(struct tss, esi) == TSS_SI && offsetof(struct tss, edi) == TSS_DI,
	       "task.inc");
_Static_assert(offsetof(struct tss, es) == TSS_ES && offsetof(struct tss, cs) == TSS_CS &&
		   offsetof(struct tss, ss) == TSS_SS && offsetof(struct tss, ds) == TSS_DS &&
		   offsetof(struct tss, fs) == TSS_FS && offsetof(struct tss, gs) == TSS_GS,
	       "task.inc");
_Static_assert(offsetof(struct tss, io_map) == 102, "as the processor has it");

/* SDM vol. 3, 7.6: of 44 bytes. */
#define TSS_16_LIMIT 0x2b
_Static_assert(offsetof(struct tss_16, ip) == 14 && offsetof(struct tss_16, ldt) == 42,
	       "as the processor has it");

/* Code and data of 16 bits, DPL 0, with a limit of 64 KiB: but for the base (SDM vol. 3, 3.4.5). */
#define TYPE_CODE_16 0x1b
#define TYPE_DATA_16 0x13

extern const uint8_t task_16_code[], task_16_stack[]; /* task-16.S */

static struct tss task_tss[TASKS] CPU_AREA;
static struct tss_16 tss_16 CPU_AREA;

static const struct {
	unsigned selector, gate;
	const word *path;
} tasks[TASKS] = {
    {SELECTOR_TASK, SELECTOR_GATE_TASK, &path_task_gate},
    {SELECTOR_TASK_JMP, SELECTOR_GATE_TASK_JMP, &path_task_jmp},
    {SELECTOR_TASK_NESTED, SELECTOR_GATE_TASK_NESTED, &path_task_nested},
};

static word stack;

/* As a task is before it is called: at the beginning of its path. */
static void begin(unsigned task)
{
	task_tss[task] = tss_of_kernel(*tasks[task].path, stack);
}

static void begin_16(void)
{
	tss_16 = (struct tss_16){
	    .flags = FLAGS_ONE,
	    .sp = TASK_16_STACK_BYTES,
	    .cs = SELECTOR_TASK_CODE,
	    .ss = SELECTOR_TASK_STACK,
	    .ds = SELECTOR_KERNEL_DATA,
	    .es = SELECTOR_KERNEL_DATA,
	    .ldt = SELECTOR_LDT,
	};
}

static void point_16(void)
{
	begin_16();
	gdt[SELECTOR_TASK_16 / 8] = system_descriptor(&tss_16, TSS_16_LIMIT, TYPE_TSS_16);
	gdt[SELECTOR_TASK_CODE / 8] = system_descriptor(task_16_code, UINT16_MAX, TYPE_CODE_16);
	gdt[SELECTOR_TASK_STACK / 8] = system_descriptor(task_16_stack, UINT16_MAX, TYPE_DATA_16);
	/* Interrupted by a task, it would lose the upper half of eip (SDM vol. 3, 7.6). */
	if (events_are_tasks())
		gate_to_stub(VECTOR_TASK_16);
	else
		gate_to_task(VECTOR_TASK_16, SELECTOR_TASK_16, USER);
}

void tasks_point(void)
{
	for (unsigned task = 0; task < TASKS; task++) {
		begin(task);
		tables_set_task(tasks[task].selector, &task_tss[task]);
		gdt[tasks[task].gate / 8] = task_gate(tasks[task].selector, USER);
	}
	gate_to_task(VECTOR_TASK, SELECTOR_TASK, USER);
	point_16();
}

/* A task is stored with esp as it was at its end, which is where it began. */
void tasks_set_stack(word top)
{
	stack = top;
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

#define BUSY_PROGRAM (TASKS + 1)

static uint32_t get_busy(void)
{
	uint32_t are_busy = 0;

	for (unsigned i = 0; i < TASKS + 2; i++)
		are_busy |= (uint32_t)((gdt[selectors[i] / 8] >> TYPE_SHIFT & TYPE_BUSY) != 0) << i;
	return are_busy;
}

/* The descriptors' flags alone; TR keeps what it has loaded. That of the task in TR stays, for an NMI by a task comes back to a busy one. */
static void set_busy(uint32_t are_busy)
{
	for (unsigned i = 0; i < TASKS + 2; i++) {
		uint64_t *const descriptor = &gdt[selectors[i] / 8];
		const uint64_t busy = (uint64_t)TYPE_BUSY << TYPE_SHIFT;

		*descriptor = are_busy >> i & 1 ? *descriptor | busy : *descriptor & ~busy;
	}
}

static void load_task_register(unsigned selector)
{
	make_available(selector);
	__asm__ volatile("ltr %w0" : : "r"(selector) : "memory");
}

void tasks_leave(struct tasks_kept *kept)
{
	kept->are_busy = get_busy();
	kept->program = tss;
	kept->task_16 = tss_16;
	__builtin_memcpy(kept->tasks, task_tss, sizeof(task_tss));
	if (events_are_tasks())
		tss.cr3 = kernel_cr3;
	load_task_register(SELECTOR_TSS);
	set_busy(1u << BUSY_PROGRAM);
	for (unsigned task = 0; task < TASKS; task++)
		begin(task);
	begin_16();
}

/* NT, of a task that was called, is in the flags of thread_switch. */
void tasks_resume(const struct tasks_kept *kept)
{
	tss_16 = kept->task_16;
	__builtin_memcpy(task_tss, kept->tasks, sizeof(task_tss));
	load_task_register(kept->running);
	tss = kept->program;
	set_busy(kept->are_busy);
}

/*
 * Where the hardware finds the paths: the only place that points registers, gates and the exceptions that serve as system
 * calls at them.
 */
#include "cpu/events.h"
#include "cpu/limits.h"
#include "cpu/tasks.h"
#include "cpu/tss.h"
#include "entry/entry.h"
#include "entry/gates.h"
#include "entry/rings.h"
#include "mm/mm.h"

_Static_assert(offsetof(struct frame, bx) == FRAME_BX && offsetof(struct frame, cx) == FRAME_CX &&
		   offsetof(struct frame, dx) == FRAME_DX && offsetof(struct frame, si) == FRAME_SI &&
		   offsetof(struct frame, di) == FRAME_DI && offsetof(struct frame, bp) == FRAME_BP &&
		   offsetof(struct frame, ax) == FRAME_AX,
	       "SAVE_ALL");
_Static_assert(offsetof(struct frame, es) == FRAME_ES && offsetof(struct frame, ds) == FRAME_DS,
	       "SEGMENTS_IN");
_Static_assert(offsetof(struct frame, vector) == FRAME_VECTOR, "the stubs");
_Static_assert(offsetof(struct frame, ip) == FRAME_IP && offsetof(struct frame, cs) == FRAME_CS, "exception");
_Static_assert(sizeof(struct frame) == FRAME_WORDS * sizeof(word), "a whole frame");
_Static_assert(PATH_ROOM < PATH_SLOT && 4096 % PATH_SLOT == 0, "a path is in one page");

static int exceptions_serve;
static int is_v86; /* the program is in virtual-8086 mode */

/* sysenter loads segments without a base: without page tables, the kernel is not where they say. Its null selector makes it #GP. */
static void point_fast_calls(void)
{
	if (!cpu.has_sysenter)
		return;
	wrmsr(MSR_SYSENTER_CS, programs_have_blocks() ? 0 : SELECTOR_KERNEL_CODE);
	wrmsr(MSR_SYSENTER_ESP, kernel_stack);
	wrmsr(MSR_SYSENTER_EIP, path_sysenter_i386);
}

/*
 * AMD's syscall, in protected mode (APM vol. 2, 6.1.1): STAR has the address itself, and there is no other register. It is open only where what
 * comes at any time brings a stack (cpu/events.h); and like sysenter, only with page tables.
 */
static void point_syscall(void)
{
	if (!cpu_has(FEATURE_LEGACYSYSCALL))
		return;
	const int is_open =
	    configured[SWITCH_EVENTS_BY] == EVENTS_BY_TASK && !is_v86 && !programs_have_blocks();
	const uint64_t before = rdmsr(MSR_EFER),
		       wanted = is_open ? before | EFER_SCE : before & ~(uint64_t)EFER_SCE;

	wrmsr(MSR_STAR, STAR_VALUE | path_syscall_i386);
	if (wanted != before)
		wrmsr(MSR_EFER, wanted);
}

static void point_exception(unsigned vector, word path)
{
	if (exceptions_serve)
		gate_to_path(vector, path, 0);
	else
		gate_to_stub(vector);
}

/* In virtual-8086 mode it is what int raises; of other programs, a limit. */
static void point_protection(void)
{
	if (is_v86)
		gate_to_path(VECTOR_PROTECTION, path_v86, 0);
	else
		point_exception(VECTOR_PROTECTION, path_limit_fault_i386);
}

void hardware_point_v86(int on)
{
	is_v86 = on;
	point_protection();
	point_syscall();
}

/* What depends on the program. */
static void point_for_program(void)
{
	point_exception(VECTOR_DIVIDE, path_div0_i386);
	point_exception(VECTOR_BREAKPOINT, path_int3_i386);
	point_exception(VECTOR_OVERFLOW, path_into_i386);
	point_exception(VECTOR_BOUND, path_bound_i386);
	point_exception(VECTOR_INVALID, path_ud_i386);
	point_exception(VECTOR_ABSENT, path_np_fault_i386);
	point_exception(VECTOR_STACK, path_ss_fault_i386);
	point_protection();
	gate_opens(exceptions_serve);
}

static void point_segments_16(int are_there)
{
	static const unsigned selectors[] = {SELECTOR_CODE_16, SELECTOR_DATA_16};
	const uint64_t present = (uint64_t)PRESENT << TYPE_SHIFT;

	for (unsigned i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++) {
		uint64_t *const descriptor = &ldt[selectors[i] / 8];
		*descriptor = are_there ? *descriptor | present : *descriptor & ~present;
	}
}

/*
 * What needs page tables, besides sysenter and syscall. Without them
 *
 * - no page would end the stack that the path of VECTOR_STACK_OVERFLOW uses up: it would run through all of memory;
 * - nothing would keep a program in virtual-8086 mode from the first MiB;
 * - a return to a stack of 16 bits would need the kernel's by another name, whose base is made for flat segments (entry/steps/espfix.S).
 */
static void point_paged(void)
{
	const int are_there = !programs_have_blocks();

	gates_open_paged(are_there);
	if (are_there)
		gate_to_path(VECTOR_STACK_OVERFLOW, path_double_fault, 0);
	point_segments_16(are_there);
}

void hardware_point(void)
{
	events_configure();
	limits_configure();
	point_fast_calls();
	point_syscall();
	gate_to_path(VECTOR_INT80, path_int80, configured[SWITCH_GATE] == GATE_TRAP);
	point_paged();
	gates_to_paths(0, path_call_gate_i386);
	rings_point();
	gates_point();
	tasks_point();
	point_for_program();
}

void hardware_point_to_stacks(word kernel, word entry, word ring1)
{
	tss_set_stacks(entry, ring1);
	tasks_set_stack(kernel);
	kernel_stack = kernel;
	entry_stack = entry;
	/* A stack that programs' page tables map, as Linux has it; the path switches to the other. */
	if (cpu.has_sysenter)
		wrmsr(MSR_SYSENTER_ESP, configured[SWITCH_PTI] == PTI_OFF ? kernel : entry);
}

void hardware_point_for(int bits, int serve)
{
	(void)bits;
	if (exceptions_serve == serve)
		return;
	exceptions_serve = serve;
	point_for_program();
}

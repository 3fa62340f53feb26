/* Decides what an exception means: a page to be mapped, a vsyscall, a tick, a fault of the program or of the kernel. */
#include "entry/entry.h"
#include "entry/steps/steps.h"
#include "entry/v86.h"
#include "mach/start.h"
#include "mm/mm.h"
#include "serial/serial.h"
#include "time/clock.h"
#include "time/tick.h"
#include "user/thread.h"
#include "user/user.h"

#define SIGILL	4
#define SIGTRAP 5
#define SIGBUS	7
#define SIGFPE	8
#define SIGSEGV 11

#define SI_KERNEL   0x80
#define ILL_ILLOPN  2
#define FPE_INTDIV  1
#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define SEGV_CPERR  10

/* As arch/x86/kernel/traps.c maps them. */
static unsigned signal_of(word vector)
{
	switch (vector) {
	case VECTOR_DIVIDE:
	case 16: /* #MF */
	case 19: /* #XM */
		return SIGFPE;
	case VECTOR_DEBUG:
	case VECTOR_BREAKPOINT:
		return SIGTRAP;
	case VECTOR_INVALID:
		return SIGILL;
	case 11: /* #NP */
	case 12: /* #SS */
	case 17: /* #AC */
		return SIGBUS;
	default:
		return SIGSEGV;
	}
}

static word code_of(const struct frame *frame)
{
	switch (frame->vector) {
	case VECTOR_DIVIDE:
		return FPE_INTDIV;
	case VECTOR_INVALID:
		return ILL_ILLOPN;
	case VECTOR_PAGE_FAULT:
		return frame->error & FAULT_PRESENT ? SEGV_ACCERR : SEGV_MAPERR;
	case VECTOR_CONTROL:
		return SEGV_CPERR;
	default:
		return SI_KERNEL;
	}
}

static _Noreturn void end_program(const struct frame *frame, word address)
{
	program_ends((struct end){
	    LAB_END_FAULT,
	    {signal_of(frame->vector), code_of(frame), (uint64_t)frame->vector << 32 | (uint32_t)frame->error,
	     address},
	});
}

static _Noreturn void kernel_is_wrong(const struct frame *frame)
{
	log_line("panic: an exception in the kernel: vector %lu, error code %lx, at %lx, CR2 %lx",
		 frame->vector, frame->error, frame->ip, read_cr2());
	power_off();
}

/* A path expects some faults of the kernel; any other ends it. */
static void kernel_fault(struct frame *frame, word address)
{
	const word here = frame->ip == (word)exception_iret ? FAULT_ENDS : fixup(frame->ip);
	const word resume = here ? here : path_fault(frame->ip);

	if (resume == FAULT_ENDS)
		end_program(frame, address);
	if (resume == FAULT_UNKNOWN)
		kernel_is_wrong(frame);
	frame->ip = resume;
}

/* What DR6 says of this #DB; it is cleared for the next one, because the processor only adds to it (SDM vol. 3, 18.2.3). */
static word take_debug_status(void)
{
	word status;

	__asm__ volatile("mov %%dr6, %0" : "=r"(status));
	__asm__ volatile("mov %0, %%dr6" : : "r"((word)DR6_RESET));
	return status;
}

/*
 * A program single-stepped into an entry: the kernel clears TF, if the entry has not, and goes on. Nothing else raises #DB
 * in the kernel, since no breakpoint is on (DR7_RESET).
 */
static void debug(struct frame *frame)
{
	const word status = take_debug_status();

	if (is_from_program(frame))
		end_program(frame, frame->ip);
	if (!(status & DR6_STEP))
		kernel_is_wrong(frame);
	frame->flags &= ~(word)RFLAGS_TF;
}

static void page_fault(struct frame *frame)
{
	const word address = read_cr2();

	if (is_from_program(frame) && vsyscall_fault(frame, address))
		return;
	if (address < user_end && space_fault(address, frame->error))
		return;
	if (is_from_program(frame) && program_watches(frame))
		return;
	if (is_from_program(frame))
		end_program(frame, address);
	kernel_fault(frame, address);
}

/*
 * A program may enter again and again through gates that leave interrupts on, so that the tick always finds it in the
 * kernel. It can be ended in a path, too, because no record is half written there.
 */
static void tick(const struct frame *frame)
{
	clock_update();
	tick_done();
	if (configured[SWITCH_PERSONALITY] == PERSONALITY_MACH)
		mach_time_update();
	if (!is_from_program(frame) && !is_in_path(frame->ip))
		tick_shift();
	else if (configured[SWITCH_WORK] == WORK_ON)
		work_time_is_up();
	else
		program_may_be_runaway();
}

/*
 * A program's own; no APIC waits for its end. Where programs cannot raise it, it is a stray. One that comes while they can is taken for
 * theirs, and without its end holds off strays of its priority and below, but not the tick.
 */
static void software_interrupt(void)
{
	if (current->serves)
		current->interrupts++;
	else
		stray_came(VECTOR_SOFTWARE);
}

/*
 * Each switch of tasks sets CR0.TS (SDM vol. 3, 7.3), so that the next use of the FPU's registers tells that they may be another task's. They
 * are the current thread's whatever task has served it (user/thread.c). Nothing else sets this flag.
 */
static int was_task_switched(void)
{
	if (!(read_cr0() & CR0_TS))
		return 0;
	__asm__ volatile("clts");
	return 1;
}

void exception(struct frame *frame)
{
	switch (frame->vector) {
	case VECTOR_PAGE_FAULT:
		page_fault(frame);
		break;
	case VECTOR_DEBUG:
		debug(frame);
		break;
	case VECTOR_TICK:
		tick(frame);
		break;
	case VECTOR_SOFTWARE:
		software_interrupt();
		break;
	case VECTOR_NMI: /* a button or a watchdog; this kernel requests none */
		stray_came(VECTOR_NMI);
		break;
	case VECTOR_MACHINE:
		machine_check(frame);
	case VECTOR_NO_FPU:
		if (was_task_switched())
			return;
		/* fall through */
	default:
		if (v86_serves(frame))
			return;
		if (frame->vector >= VECTOR_INTERRUPTS) {
			stray_came((unsigned)frame->vector);
			return;
		}
		if (program_watches(frame))
			return;
		if (frame->vector == VECTOR_PROTECTION && is_from_program(frame) && umip_fault(frame))
			return;
		if (is_from_program(frame))
			end_program(frame, frame->ip);
		kernel_fault(frame, 0);
	}
}

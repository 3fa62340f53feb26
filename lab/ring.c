/* Whether ring 0 runs natively, and what a hypervisor does itself: found by time and by what CPUID says (ring.S). */
#include "ring.h"
#include "cpu/cpu.h"
#include "lab.h"
#include "plan/verdict.h"
#include "serial/console.h"
#include "serial/line.h"
#include "serial/serial.h"
#include "user/user.h"

#define TRIES 3 /* the best counts, since one may be disturbed */

#define LEAF_EXTENDED	 0x80000000
#define LEAF1_ECX_VMX	 (1u << 5)
#define EXTENDED_ECX_SVM (1u << 2)
#define HLT_BYTES	 1

extern const uint8_t ring_loop[], ring_loop_end[], ring_call[], ring_call_end[];
extern const uint8_t ring_interrupt[], ring_interrupt_end[], ring_invalid[], ring_invalid_end[];
uint64_t ring_loop_here(void);
uint64_t ring_cr3_here(void);
uint64_t ring_cpuid_here(void);
uint64_t ring_cr4_here(unsigned long change);
uint64_t ring_msr_here(uint32_t msr, uint64_t value, uint32_t change);
uint64_t ring_invlpg_here(const void *address);
struct invpcid {
	uint64_t identifier, address;
};
uint64_t ring_invpcid_here(const struct invpcid *descriptor);

/* What the loop in ring 3 took, and the cpuids. */
static uint64_t loop_ticks, cpuid_ticks;

static uint64_t best_here(uint64_t (*timed)(void))
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		const uint64_t ticks = timed();
		best = ticks < best ? ticks : best;
	}
	return best;
}

static uint64_t loop_in_ring3(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		const uint64_t ticks =
		    program_run_code(ring_loop, (uint64_t)(ring_loop_end - ring_loop), 0).ax;
		best = ticks < best ? ticks : best;
	}
	return best;
}

/* 0 when the code did not come to its last instruction, a hlt: something on the way does not work. */
static uint64_t best_in_ring3(const uint8_t *code, const uint8_t *end, int serve)
{
	const uint64_t bytes = (uint64_t)(end - code);
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		const struct frame stopped = program_run_code(code, bytes, serve);
		if (stopped.ip != PROGRAM_CODE + bytes - HLT_BYTES)
			return 0;
		best = stopped.ax < best ? stopped.ax : best;
	}
	return best;
}

static int syscall_works(void)
{
	const struct frame frame = program_run_code(ring_call, (uint64_t)(ring_call_end - ring_call), 0);

	/* In ring 3, at its end, with both answers. */
	return frame.vector == VECTOR_INVALID && frame.cs == SELECTOR_USER_CODE &&
	       frame.ss == SELECTOR_USER_DATA && frame.bx == LAB_PARENT && frame.ax == LAB_PARENT;
}

/* Ring compression shows: cs keeps the ring that the processor is really in, and IF is not the kernel's to clear. */
static int is_deprivileged(void)
{
	uint16_t cs;
	word with_cli;

	__asm__ volatile("mov %%cs, %0" : "=r"(cs));
	const word before = interrupts_off();
	__asm__ volatile("pushf; pop %0" : "=r"(with_cli) : : "memory");
	interrupts_restore(before);
	return (cs & SELECTOR_RING) != 0 || (with_cli & RFLAGS_IF) != 0;
}

static int can_nest(void)
{
	if (cpuid(1, 0).ecx & LEAF1_ECX_VMX)
		return 1;
	return cpuid(LEAF_EXTENDED, 0).eax > LEAF_EXTENDED &&
	       cpuid(LEAF_EXTENDED + 1, 0).ecx & EXTENDED_ECX_SVM;
}

static void find_signs(uint64_t *payload)
{
	const struct cpuid name = hypervisor_leaf(LEAF_HYPERVISOR);

	payload[LAB_BOOT_SIGNS] = (uint64_t)hypervisor_is_there() << SIGN_HYPERVISOR |
				  (uint64_t)(is_deprivileged() != 0) << SIGN_DEPRIVILEGED |
				  (uint64_t)(can_nest() != 0) << SIGN_NESTING;
	payload[LAB_BOOT_SIGNATURE] = (uint64_t)name.ecx << 32 | name.ebx;
	payload[LAB_BOOT_SIGNATURE_END] = name.edx;
}

/* With the changes that switches make: KVM, for one, leaves SPEC_CTRL to the guest only from the first value on that is not 0. */
static uint64_t cr4_here(void)
{
	return cpu_has(FEATURE_PGE) ? ring_cr4_here(CR4_PGE) : 0;
}

static uint64_t spec_ctrl_here(void)
{
	uint64_t found;

	/* A hypervisor may announce a register and refuse it. */
	if (!cpu_has(FEATURE_IBRS) || !rdmsr_safe(MSR_SPEC_CTRL, &found) ||
	    !wrmsr_safe(MSR_SPEC_CTRL, found ^ SPEC_CTRL_IBRS) || !wrmsr_safe(MSR_SPEC_CTRL, found))
		return 0;
	return ring_msr_here(MSR_SPEC_CTRL, found, SPEC_CTRL_IBRS);
}

static uint64_t pred_cmd_here(void)
{
	return cpu_has(FEATURE_IBPB) ? ring_msr_here(MSR_PRED_CMD, PRED_CMD_IBPB, 0) : 0;
}

static uint64_t flush_cmd_here(void)
{
	return cpu_has(FEATURE_L1DFLUSH) ? ring_msr_here(MSR_FLUSH_CMD, FLUSH_CMD_L1D, 0) : 0;
}

/* Of a page that is not mapped, with the identifier that all have while CR4.PCIDE is 0: any other would raise #GP (SDM vol. 2A, INVPCID). */
static uint64_t invpcid_here(void)
{
	const struct invpcid descriptor = {0, PROGRAM_CODE};

	return cpu_has(FEATURE_INVPCID) ? ring_invpcid_here(&descriptor) : 0;
}

static uint64_t invlpg_here(void)
{
	return ring_invlpg_here((const void *)PROGRAM_CODE);
}

/*
 * What steps of switches are made of. Not where ring 0 is emulated: KVM's emulator lacks INVPCID, for one, and what it lacks ends the
 * machine before the kernel has told anything.
 */
static const struct {
	unsigned word;
	uint64_t (*here)(void);
	const char *name;
} steps[] = {
    {LAB_BOOT_CR4_TICKS, cr4_here, "mov cr4"},
    {LAB_BOOT_SPEC_CTRL_TICKS, spec_ctrl_here, "SPEC_CTRL"},
    {LAB_BOOT_PRED_CMD_TICKS, pred_cmd_here, "PRED_CMD"},
    {LAB_BOOT_FLUSH_CMD_TICKS, flush_cmd_here, "FLUSH_CMD"},
    {LAB_BOOT_INVPCID_TICKS, invpcid_here, "invpcid"},
    {LAB_BOOT_INVLPG_TICKS, invlpg_here, "invlpg"},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

void ring_test(uint64_t *payload)
{
	find_signs(payload);
	payload[LAB_BOOT_RING0_TICKS] = best_here(ring_loop_here);
	payload[LAB_BOOT_CR3_TICKS] = best_here(ring_cr3_here);
	payload[LAB_BOOT_CPUID_TICKS] = cpuid_ticks = best_here(ring_cpuid_here);
	payload[LAB_BOOT_RING3_TICKS] = loop_ticks = loop_in_ring3();
	payload[LAB_BOOT_SYSCALL_WORKS] = (uint64_t)syscall_works();
	payload[LAB_BOOT_INTERRUPT_TICKS] = best_in_ring3(ring_interrupt, ring_interrupt_end, 0);
	payload[LAB_BOOT_INVALID_TICKS] = best_in_ring3(ring_invalid, ring_invalid_end, 1);
	for (unsigned i = 0; i < STEPS && !verdict_of(payload).is_emulated; i++)
		payload[steps[i].word] = best_here(steps[i].here);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The more of the two, for an emulated processor may execute a loop as fast as a processor, and take a hundred times as long to leave a guest. */
uint64_t ring_slowed(uint64_t ticks)
{
	const uint64_t most = ticks ? UINT64_MAX / ticks : 0;
	const uint64_t times = greater(loop_ticks / (RING_TURNS * RING_TURN_CYCLES),
				       cpuid_ticks / (RING_TIMES * RING_CROSSING_UNKNOWN_EXIT));

	return times > 1 ? ticks * (times < most ? times : most) : ticks;
}

/* Those that there are. */
static void say_steps(const uint64_t *payload)
{
	struct line_buffer line = {.length = 0};

	for (unsigned i = 0; i < STEPS; i++) {
		if (!payload[steps[i].word])
			continue;
		line_text(&line, line.length ? ", " : "ticks: ");
		line_text(&line, steps[i].name);
		line_letter(&line, ' ');
		line_number(&line, payload[steps[i].word] / RING_TIMES, 10);
	}
	if (line.length)
		console_line(line.text, line.length, CONSOLE_TEXT);
}

void ring_say(const uint64_t *payload)
{
	log_line("ticks: mov cr3 %" U64 ", cpuid %" U64 ", int and iretq %" U64 ", ud2 and iretq %" U64,
		 payload[LAB_BOOT_CR3_TICKS] / RING_TIMES, payload[LAB_BOOT_CPUID_TICKS] / RING_TIMES,
		 payload[LAB_BOOT_INTERRUPT_TICKS] / RING_TIMES,
		 payload[LAB_BOOT_INVALID_TICKS] / RING_TIMES);
	say_steps(payload);
}

/* Whether ring 0 runs natively, and what a hypervisor does itself: found by time and by what CPUID says (ring.S). */
#include "ring.h"
#include "cpu/cpu.h"
#include "lab.h"
#include "serial/serial.h"
#include "user/user.h"

#define TRIES 3 /* the best counts, since one may be disturbed */

#define LEAF_HYPERVISOR	 0x40000000
#define LEAF_EXTENDED	 0x80000000
#define LEAF1_ECX_VMX	 (1u << 5)
#define LEAF1_ECX_GUEST	 (1u << 31)
#define EXTENDED_ECX_SVM (1u << 2)
#define HLT_BYTES	 1

extern const uint8_t ring_loop[], ring_loop_end[], ring_call[], ring_call_end[];
extern const uint8_t ring_interrupt[], ring_interrupt_end[], ring_invalid[], ring_invalid_end[];
uint64_t ring_loop_here(void);
uint64_t ring_cr3_here(void);
uint64_t ring_cpuid_here(void);

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
		    program_run_code(ring_loop, (uint64_t)(ring_loop_end - ring_loop), 0).rax;
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
		if (stopped.rip != PROGRAM_CODE + bytes - HLT_BYTES)
			return 0;
		best = stopped.rax < best ? stopped.rax : best;
	}
	return best;
}

static int syscall_works(void)
{
	const struct frame frame = program_run_code(ring_call, (uint64_t)(ring_call_end - ring_call), 0);

	/* In ring 3, at its end, with both answers. */
	return frame.vector == VECTOR_INVALID && frame.cs == SELECTOR_USER_CODE_64 &&
	       frame.ss == SELECTOR_USER_DATA && frame.rbx == LAB_PARENT && frame.rax == LAB_PARENT;
}

/* Ring compression shows: cs keeps the ring that the processor is really in, and IF is not the kernel's to clear. */
static int is_deprivileged(void)
{
	uint16_t cs;
	uint64_t with_cli;

	__asm__ volatile("mov %%cs, %0" : "=r"(cs));
	const uint64_t before = interrupts_off();
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
	const int is_guest = (cpuid(1, 0).ecx & LEAF1_ECX_GUEST) != 0;

	payload[LAB_BOOT_SIGNS] = (uint64_t)is_guest << SIGN_HYPERVISOR |
				  (uint64_t)(is_deprivileged() != 0) << SIGN_DEPRIVILEGED |
				  (uint64_t)(can_nest() != 0) << SIGN_NESTING;
	if (is_guest) {
		const struct cpuid name = cpuid(LEAF_HYPERVISOR, 0);
		payload[LAB_BOOT_SIGNATURE] = (uint64_t)name.ecx << 32 | name.ebx;
		payload[LAB_BOOT_SIGNATURE_END] = name.edx;
	}
}

void ring_test(uint64_t *payload)
{
	find_signs(payload);
	payload[LAB_BOOT_RING0_TICKS] = best_here(ring_loop_here);
	payload[LAB_BOOT_CR3_TICKS] = best_here(ring_cr3_here);
	payload[LAB_BOOT_CPUID_TICKS] = best_here(ring_cpuid_here);
	payload[LAB_BOOT_RING3_TICKS] = loop_in_ring3();
	payload[LAB_BOOT_SYSCALL_WORKS] = (uint64_t)syscall_works();
	payload[LAB_BOOT_INTERRUPT_TICKS] = best_in_ring3(ring_interrupt, ring_interrupt_end, 0);
	payload[LAB_BOOT_INVALID_TICKS] = best_in_ring3(ring_invalid, ring_invalid_end, 1);
}

void ring_say(const uint64_t *payload)
{
	log_line("ticks: mov cr3 %lu, cpuid %lu, int and iretq %lu, ud2 and iretq %lu",
		 payload[LAB_BOOT_CR3_TICKS] / RING_TIMES, payload[LAB_BOOT_CPUID_TICKS] / RING_TIMES,
		 payload[LAB_BOOT_INTERRUPT_TICKS] / RING_TIMES,
		 payload[LAB_BOOT_INVALID_TICKS] / RING_TIMES);
}

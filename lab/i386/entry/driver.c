/*
 * What a driver in ring 1 may do, and what not: each try is a function of its own (driver.S), which a program in ring 3 calls through the gate into
 * ring 1. It comes back, or an exception does. What is expected is in docs/entries/ring1-i386.md.
 */
#include "entry/entry.h"
#include "entry/rings.h"
#include "serial/serial.h"

extern const uint8_t driver_ask[], driver_ask_end[];

#define TRIES 20
extern const word driver_list[TRIES];

/* What a driver that has been refused without an exception leaves in eax, and one that was not (driver.S). */
#define IGNORED 2
#define DONE	1

/* Of each, as the bits of the results. */
static const char *const names[TRIES] = {
    "nothing",
    "cli",
    "popf without IF",
    "in",
    "out",
    "hlt",
    "mov from CR3",
    "mov to CR3",
    "lgdt",
    "rdmsr",
    "wrmsr",
    "invlpg",
    "clts",
    "load a segment of ring 0",
    "read the kernel's memory",
    "write the kernel's memory",
    "read a program's memory",
    "execute a program's memory",
    "int $0x80",
    "sysenter",
};

static const char *outcome(const struct frame *frame, unsigned try, uint64_t results[3])
{
	const int is_back = frame->vector == VECTOR_INVALID && (frame->cs & SELECTOR_RING) == 3;

	if (is_back && frame->ax == DONE) {
		results[0] |= 1ull << try;
		return "done";
	}
	if (is_back && frame->ax == IGNORED)
		return "ignored";
	if (frame->vector == VECTOR_PROTECTION) {
		results[1] |= 1ull << try;
		return "#GP";
	}
	if (frame->vector == VECTOR_PAGE_FAULT) {
		results[2] |= 1ull << try;
		return (frame->cs & SELECTOR_RING) == 3 ? "in ring 3 behind it, #PF" : "#PF";
	}
	return "another exception";
}

int driver_tries(uint64_t results[3])
{
	for (unsigned i = 0; i < TRIES; i++) {
		gates_to_rings(driver_list[i], path_ring2, path_call_gate_i386);
		const struct frame frame =
		    program_run_code(driver_ask, (uint64_t)(driver_ask_end - driver_ask), 0);
		log_line("in ring 1, %s: %s", names[i], outcome(&frame, i, results));
	}
	rings_point();
	return (int)(results[0] & 1);
}

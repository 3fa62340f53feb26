/*
 * Makes filter programs of which a call that is allowed executes a given number of instructions. They look as libraries write them:
 * is this the architecture, is the number one of those that are refused, one comparison each; then allow. The tests compile this file
 * for the host, too.
 */
#include "entry/steps/filter.h"
#include "entry/steps/events.h"
#include "entry/steps/steps.h"

#include <stddef.h>
#include <stdint.h>

struct instruction {
	uint16_t code;
	uint8_t if_equal, if_not;
	uint32_t k;
};
_Static_assert(sizeof(struct instruction) == INSTRUCTION_BYTES &&
		   offsetof(struct instruction, if_equal) == INSTRUCTION_IF_EQUAL &&
		   offsetof(struct instruction, if_not) == INSTRUCTION_IF_EQUAL + 1 &&
		   offsetof(struct instruction, k) == INSTRUCTION_K,
	       "filter.S");

/* A comparison has an instruction behind it that is not executed. */
struct instruction filter_x86_64[2 * FILTER_MOST], filter_i386[2 * FILTER_MOST];

/* No call has these numbers: with the lowest, the probes' calls that do not exist are allowed, too. */
#define REFUSED 0x40000000

static const struct instruction kill = {FILTER_RETURN, 0, 0, FILTER_KILL};

/* Executed: 1. */
static struct instruction *compare(struct instruction *at, uint32_t k, int go_on_if_equal)
{
	*at++ = (struct instruction){FILTER_JUMP_EQUAL, go_on_if_equal ? 1 : 0, go_on_if_equal ? 0 : 1, k};
	*at++ = kill;
	return at;
}

/* Four look at the architecture, further ones compare numbers; with two or three there is no room for the former, with one for neither. */
static void make(struct instruction *at, unsigned executed, uint32_t arch)
{
	unsigned left = executed;

	if (executed >= 4) {
		*at++ = (struct instruction){FILTER_LOAD, 0, 0, FILTER_ARCH};
		at = compare(at, arch, 1);
		left -= 2;
	}
	if (executed >= 2) {
		*at++ = (struct instruction){FILTER_LOAD, 0, 0, FILTER_NUMBER};
		left--;
	}
	for (uint32_t i = 0; left > 1; i++, left--)
		at = compare(at, REFUSED + i, 0);
	*at = (struct instruction){FILTER_RETURN, 0, 0, FILTER_ALLOW};
}

void filter_make(unsigned executed)
{
	if (!executed)
		return;
	make(filter_x86_64, executed, ARCH_X86_64);
	make(filter_i386, executed, ARCH_I386);
}

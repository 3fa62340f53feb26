/* The descriptors of entries that protected mode alone has. */
#include "entry/gates.h"
#include "cpu/cpu.h"
#include "cpu/tss.h"
#include "entry/entry.h"
#include "serial/serial.h"

/* Data of DPL 3, writable (SDM vol. 3, 3.4.5). */
#define ABSENT_DATA   0x00cf73000000ffff /* flat, but not present */
#define ONE_BYTE_DATA 0x0040f30000000000

/* Code of DPL 0, readable, with a limit in bytes. */
#define CONFORMING_CODE 0x00409f0000000fff
#define KERNEL_CODE_64K 0x00409b000000ffff

void gates_prepare(void)
{
	gdt[SELECTOR_ABSENT / 8] = ABSENT_DATA;
	gdt[SELECTOR_CONFORMING / 8] = with_base(CONFORMING_CODE, (word)conforming_page);
}

/* A gate that copies so many parameters of its own width, where it leads to another ring. */
static uint64_t call_gate(unsigned type, unsigned code_segment, word target, unsigned parameters)
{
	return gate(type, USER, code_segment, target) | (uint64_t)parameters << 32;
}

static word first_of(word one, word other)
{
	return one < other ? one : other;
}

static void point_16(unsigned selector, word base, word path, struct far_pointer *flat, unsigned parameters)
{
	if (path - base > 0xffff)
		panic("call gates of 16 bits cannot reach their paths");
	gdt[selector / 8] = call_gate(TYPE_CALL_GATE_16, SELECTOR_GATE_16_CODE, path - base, parameters);
	flat->offset = path + (configured[SWITCH_IBT] == IBT_ON ? LANDING_BYTES : 0) + JUMP_TO_FLAT;
}

/* Where limits are not checked, the segment with one is not there. */
void gates_point(void)
{
	const word base =
	    first_of(first_of(path_call_gate_16_0_i386, path_call_gate_16_1_i386), path_call_gate_16_8_i386);

	gdt[SELECTOR_LIMIT / 8] = cpu_has(FEATURE_LIMITS) ? ONE_BYTE_DATA : 0;
	gdt[SELECTOR_GATE_32_1 / 8] =
	    call_gate(TYPE_CALL_GATE, SELECTOR_KERNEL_CODE, path_call_gate_32_1_i386, 1);
	gdt[SELECTOR_GATE_32_8 / 8] =
	    call_gate(TYPE_CALL_GATE, SELECTOR_KERNEL_CODE, path_call_gate_32_8_i386, 8);
	gdt[SELECTOR_GATE_16_CODE / 8] = with_base(KERNEL_CODE_64K, base);
	point_16(SELECTOR_GATE_16_0, base, path_call_gate_16_0_i386, &flat_call_gate_16_0_i386, 0);
	point_16(SELECTOR_GATE_16_1, base, path_call_gate_16_1_i386, &flat_call_gate_16_1_i386, 1);
	point_16(SELECTOR_GATE_16_8, base, path_call_gate_16_8_i386, &flat_call_gate_16_8_i386, 8);
	gdt[SELECTOR_GATE_JUMP / 8] = call_gate(TYPE_CALL_GATE, SELECTOR_CONFORMING, CONFORMING_JUMP, 0);
	gdt[SELECTOR_GATE_JUMP_16 / 8] =
	    call_gate(TYPE_CALL_GATE_16, SELECTOR_CONFORMING, CONFORMING_JUMP, 0);
}

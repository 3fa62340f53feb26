/* The descriptors of entries that protected mode alone has. */
#include "entry/gates.h"
#include "cpu/cpu.h"
#include "cpu/mode.h"
#include "entry/entry.h"
#include "serial/serial.h"
#include "user/user.h"

/* Data of DPL 3, writable (SDM vol. 3, 3.4.5). */
#define ABSENT_DATA   0x00cf73000000ffff /* flat, but not present */
#define ONE_BYTE_DATA 0x0040f30000000000

/* Code of DPL 0, readable, with a limit in bytes. */
#define CONFORMING_CODE 0x00409f0000000000
#define KERNEL_CODE_64K 0x00409b000000ffff

/* Types of call gates (SDM vol. 3, 5.8.3), present, of DPL 3. */
#define CALL_GATE_32 0xec
#define CALL_GATE_16 0xe4

static uint64_t *table;

static uint64_t with_base(uint64_t descriptor, word base)
{
	return descriptor | (uint64_t)(base & 0xffffff) << 16 | (uint64_t)(base >> 24) << 56;
}

void gates_prepare(uint64_t *gdt)
{
	table = gdt;
	gdt[SELECTOR_ABSENT / 8] = ABSENT_DATA;
	gdt[SELECTOR_LIMIT / 8] = ONE_BYTE_DATA;
	gdt[SELECTOR_CONFORMING / 8] = with_base(CONFORMING_CODE, (word)conforming_page) | 0xfff;
}

/* A gate that copies so many parameters of its own width, where it leads to another ring. */
static uint64_t call_gate(unsigned type, unsigned code_segment, word target, unsigned parameters)
{
	const uint64_t selector = code_segment & ~SELECTOR_RING;

	return (target & 0xffff) | selector << 16 | (uint64_t)parameters << 32 | (uint64_t)type << 40 |
	       (uint64_t)(target >> 16) << 48;
}

static word first_of(word one, word other)
{
	return one < other ? one : other;
}

static void point_16(unsigned selector, word base, word path, struct far_pointer *flat, unsigned parameters)
{
	if (path - base > 0xffff)
		panic("call gates of 16 bits cannot reach their paths");
	table[selector / 8] = call_gate(CALL_GATE_16, SELECTOR_GATE_16_CODE, path - base, parameters);
	flat->offset = path + (configured[SWITCH_IBT] == IBT_ON ? LANDING_BYTES : 0) + JUMP_TO_FLAT;
}

void gates_point(void)
{
	const word base =
	    first_of(first_of(path_call_gate_16_0_i386, path_call_gate_16_1_i386), path_call_gate_16_8_i386);

	table[SELECTOR_GATE_32_1 / 8] =
	    call_gate(CALL_GATE_32, SELECTOR_KERNEL_CODE, path_call_gate_32_1_i386, 1);
	table[SELECTOR_GATE_32_8 / 8] =
	    call_gate(CALL_GATE_32, SELECTOR_KERNEL_CODE, path_call_gate_32_8_i386, 8);
	table[SELECTOR_GATE_16_CODE / 8] = with_base(KERNEL_CODE_64K, base);
	point_16(SELECTOR_GATE_16_0, base, path_call_gate_16_0_i386, &flat_call_gate_16_0_i386, 0);
	point_16(SELECTOR_GATE_16_1, base, path_call_gate_16_1_i386, &flat_call_gate_16_1_i386, 1);
	point_16(SELECTOR_GATE_16_8, base, path_call_gate_16_8_i386, &flat_call_gate_16_8_i386, 8);
	table[SELECTOR_GATE_JUMP / 8] = call_gate(CALL_GATE_32, SELECTOR_CONFORMING, CONFORMING_JUMP, 0);
}

extern const uint8_t limit_ask[], limit_ask_end[];

/* Where limits are not checked, the segment is not there. */
void limits_find(void)
{
	const struct frame frame = program_run_code(limit_ask, (uint64_t)(limit_ask_end - limit_ask), 0);

	if (frame.vector == VECTOR_PROTECTION && !(uint16_t)frame.error)
		return;
	__asm__ volatile("mov %0, %%fs" : : "r"(0)); /* it still holds the program's */
	table[SELECTOR_LIMIT / 8] = 0;
}

/*
 * sgdt, sidt, sldt, str and smsw in ring 3. With UMIP they are #GP there (SDM vol. 3, 2.5, CR4.UMIP). Linux then answers
 * them itself, with numbers that tell nothing of the kernel (arch/x86/kernel/umip.c), and so does this kernel.
 */
#include "cpu/cpu.h"
#include "cpu/segments.h"
#include "entry/entry.h"
#include "entry/steps/steps.h"
#include "mm/mm.h"
#include "user/user.h"

/* Linux's numbers: addresses that belong to nothing, limits of 0, its own selector, and CR0 as it always is. */
#define GDT_ADDRESS  0xfffffffffffe0000ull
#define IDT_ADDRESS  0xffffffffffff0000ull
#define TSS_SELECTOR 0x40u
#define NO_LDT	     0u
#define CR0_LOW	     0x80050033u

#define LONGEST 15

/* An instruction while it is read. */
struct code {
	int is_64, failed;
	uint64_t next; /* address of the next byte */
	unsigned count;
	uint8_t rex;
	int is_short_operand, is_short_address;
	enum { FLAT, BY_FS, BY_GS } segment; /* that a prefix names; only these two have a base */
};

#define REX_W 8u
#define REX_X 2u
#define REX_B 1u

static uint8_t next_byte(struct code *code)
{
	uint8_t byte = 0;

	code->failed |= code->count++ == LONGEST || user_read(&byte, code->next++, 1);
	return byte;
}

static int64_t next_signed(struct code *code, unsigned bytes)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint32_t)next_byte(code) << (8 * i);
	return bytes == 1 ? (int8_t)value : (int32_t)value;
}

/* By its number in an instruction. */
static word *register_of(struct frame *frame, unsigned number)
{
	word *const registers[] = {FRAME_REGISTERS(frame)};

	return registers[number % (sizeof(registers) / sizeof(registers[0]))];
}

/* The first byte that is no prefix. */
static uint8_t skip_prefixes(struct code *code)
{
	for (;;) {
		const uint8_t byte = next_byte(code);
		switch (code->failed ? 0 : byte) {
		case 0x66:
			code->is_short_operand = 1;
			break;
		case 0x67:
			code->is_short_address = 1;
			break;
		case 0x64:
			code->segment = BY_FS;
			break;
		case 0x65:
			code->segment = BY_GS;
			break;
		case 0x26: /* es, cs, ss, ds */
		case 0x2e:
		case 0x36:
		case 0x3e:
			code->segment = FLAT;
			break;
		case 0xf2:
		case 0xf3:
			break;
		default:
			/* REX stands directly before the opcode (SDM vol. 2, 2.2.1). */
			if (!code->is_64 || (byte & 0xf0) != 0x40)
				return byte;
			code->rex = byte;
			return next_byte(code);
		}
	}
}

/* What an operand in memory is based on: SIB (SDM vol. 2, table 2-3). */
static uint64_t sum_of_sib(struct code *code, struct frame *frame, unsigned mod)
{
	const uint8_t sib = next_byte(code);
	const unsigned index = (sib >> 3 & 7u) | (code->rex & REX_X ? 8 : 0);
	const unsigned base = (sib & 7u) | (code->rex & REX_B ? 8 : 0);
	const uint64_t scaled = index == 4 ? 0 : *register_of(frame, index) << (sib >> 6);

	if ((base & 7) == 5 && mod == 0)
		return scaled + (uint64_t)next_signed(code, 4);
	return scaled + *register_of(frame, base);
}

/* The address of an operand in memory (SDM vol. 2, table 2-2). */
static uint64_t address_of(struct code *code, struct frame *frame, uint8_t modrm)
{
	const unsigned mod = modrm >> 6, rm = modrm & 7u;
	uint64_t address;

	if (rm == 4) {
		address = sum_of_sib(code, frame, mod);
	} else if (rm == 5 && mod == 0) {
		address = (uint64_t)next_signed(code, 4);
		address += code->is_64 ? code->next : 0;
	} else {
		address = *register_of(frame, rm | (code->rex & REX_B ? 8 : 0));
	}
	if (mod == 1 || mod == 2)
		address += (uint64_t)next_signed(code, mod == 1 ? 1 : 4);
	if (!code->is_64 || code->is_short_address)
		address = (uint32_t)address;
	/* The processor has the base of the segment there, whichever way it was loaded; that of GS may be swapped. */
	if (code->segment == BY_FS)
		address += fs_base();
	else if (code->segment == BY_GS)
		address += gs_base();
	return code->is_64 ? address : (uint32_t)address;
}

/* A register gets as many bytes as the operand has, and keeps the others. */
static void put_register(const struct code *code, word *to, uint32_t value)
{
	const unsigned bytes = code->rex & REX_W ? 8 : code->is_short_operand ? 2 : 4;
	const uint64_t wide = value;

	__builtin_memcpy(to, &wide, bytes);
}

static int put_table(struct code *code, uint64_t to, uint64_t address)
{
	const uint16_t limit = 0;
	uint8_t bytes[10];

	__builtin_memcpy(bytes, &limit, sizeof(limit));
	__builtin_memcpy(bytes + 2, &address, sizeof(address));
	return !user_write(to, bytes, code->is_64 ? 10 : 6);
}

static int put_word(struct code *code, struct frame *frame, uint8_t modrm, uint32_t value)
{
	if (modrm >> 6 == 3) {
		put_register(code, register_of(frame, (modrm & 7u) | (code->rex & REX_B ? 8 : 0)), value);
		return !code->failed;
	}
	const uint64_t to = address_of(code, frame, modrm);
	return !code->failed && !user_write(to, &value, 2);
}

/* 0f 00 and 0f 01: the field `reg` tells which instruction. */
static int serve(struct code *code, struct frame *frame)
{
	const uint8_t group = next_byte(code), modrm = next_byte(code);
	const unsigned which = modrm >> 3 & 7u;

	if (code->failed || group > 1)
		return 0;
	if (group == 0)
		return which == 0   ? put_word(code, frame, modrm, NO_LDT)
		       : which == 1 ? put_word(code, frame, modrm, TSS_SELECTOR)
				    : 0;
	if (which == 4)
		return put_word(code, frame, modrm, CR0_LOW);
	if (which > 1 || modrm >> 6 == 3)
		return 0;
	const uint64_t to = address_of(code, frame, modrm);
	return !code->failed && put_table(code, to, which ? IDT_ADDRESS : GDT_ADDRESS);
}

/* Elsewhere, in 16-bit code and in virtual-8086 mode, addresses of instructions are others. */
static int is_flat(const struct frame *frame)
{
	return !(frame->flags & RFLAGS_VM) &&
	       (frame->cs == SELECTOR_USER_CODE_64 || frame->cs == SELECTOR_USER_CODE_32);
}

int umip_fault(struct frame *frame)
{
	struct code code = {
	    .is_64 = frame->cs == SELECTOR_USER_CODE_64,
	    .next = frame->ip,
	};

	if (configured[SWITCH_UMIP] != UMIP_ON || !is_flat(frame) || frame->error ||
	    skip_prefixes(&code) != 0x0f || code.failed)
		return 0;
	/* Addresses of 16 bits are nobody's. */
	if (!code.is_64 && code.is_short_address)
		return 0;
	if (!serve(&code, frame))
		return 0;
	frame->ip = code.next;
	return 1;
}

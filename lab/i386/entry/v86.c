/* Virtual-8086 mode: in, out, and the monitor (v86_thread.h). What most programs call, int $0x80, is served by v86.S. */
#include "entry/v86.h"
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "entry/v86_thread.h"
#include "lab.h"
#include "mm/mm.h"
#include "serial/serial.h"
#include "user/thread.h"
#include "user/user.h"

#define SIGSEGV	  11
#define SI_KERNEL 0x80

#define FLAGS_STATUS 0x8d5u /* CF, PF, AF, ZF, SF, OF */
#define FLAGS_ALWAYS 0x2u
/* What a program may choose of its flags there. */
#define FLAGS_CHOSEN (FLAGS_STATUS | RFLAGS_TF | RFLAGS_DF)

#define PARAGRAPH   16
#define OFFSET_MASK 0xffffu

#define OPERAND_32 0x66 /* a prefix */
#define INT	   0xcd
#define IRET	   0xcf
#define PUSHF	   0x9c
#define POPF	   0x9d
#define CLI	   0xfa
#define STI	   0xfb

#define CPUID_VME 0x2 /* leaf 1, edx */

extern const uint8_t v86_ask[], v86_ask_end[]; /* v86.S */
void v86_load(word fs, word gs);

static int is_redirecting; /* the processor does, with CR4.VME */
static unsigned reflected; /* interrupts, by the monitor */

/* What is the processor's as long as a program is in the mode. Neither sysenter nor syscall is refused there, and both forget that it was: SDM vol. 2, SYSENTER; APM vol. 3, SYSCALL. */
void v86_point(int how)
{
	static int pointed;

	if (how == pointed)
		return;
	pointed = how;
	if (cpu.has_sysenter)
		wrmsr(MSR_SYSENTER_CS, how == V86_OFF ? SELECTOR_KERNEL_CODE : 0);
	hardware_point_v86(how != V86_OFF);
	const word cr4 = read_cr4(), wanted = how == V86_REDIRECTED ? cr4 | CR4_VME : cr4 & ~(word)CR4_VME;
	if (cr4 != wanted)
		write_cr4(wanted);
}

static _Noreturn void refuse(const struct frame *frame, const char *why)
{
	log_line("virtual-8086 mode: %s", why);
	program_ends(
	    (struct end){LAB_END_FAULT, {SIGSEGV, SI_KERNEL, (uint64_t)VECTOR_PROTECTION << 32, frame->ip}});
}

/* As a program has put them on its stack. */
struct image {
	word ip, cs, flags, sp, ss, es, ds, fs, gs;
};
_Static_assert(sizeof(struct image) == V86_GATE_WORDS * sizeof(word), "as iret pops it");

static void enter(struct frame *frame)
{
	struct v86 *const v86 = &current->segments.v86;
	struct image image;

	if ((frame->ss & OFFSET_MASK) != SELECTOR_USER_DATA || user_read(&image, frame->sp, sizeof(image)))
		refuse(frame, "what to enter it with is not on a stack of 32-bit code");
	if (image.flags & RFLAGS_VIF && !is_redirecting)
		refuse(frame, "VIF is asked for, and this processor does not redirect interrupts (CR4.VME)");
	v86->caller = *frame;
	__asm__ volatile("mov %%fs, %0; mov %%gs, %1" : "=m"(v86->fs), "=m"(v86->gs));
	v86->how = image.flags & RFLAGS_VIF ? V86_REDIRECTED : V86_ON;
	v86->has_interrupts = 1;
	frame->ip = image.ip & OFFSET_MASK;
	frame->cs = image.cs & OFFSET_MASK;
	frame->flags = (image.flags & (FLAGS_CHOSEN | RFLAGS_VIF)) | RFLAGS_VM | RFLAGS_IF | FLAGS_ALWAYS;
	frame->sp = image.sp;
	frame->ss = image.ss & OFFSET_MASK;
	frame->v86_es = image.es & OFFSET_MASK;
	frame->v86_ds = image.ds & OFFSET_MASK;
	frame->v86_fs = image.fs & OFFSET_MASK;
	frame->v86_gs = image.gs & OFFSET_MASK;
	v86_point(v86->how);
}

static void leave(struct frame *frame)
{
	struct v86 *const v86 = &current->segments.v86;

	frame->ip = v86->caller.ip;
	frame->cs = v86->caller.cs;
	frame->flags = v86->caller.flags;
	frame->sp = v86->caller.sp;
	frame->ss = v86->caller.ss;
	frame->es = v86->caller.es;
	frame->ds = v86->caller.ds;
	v86->how = V86_OFF;
	v86_point(V86_OFF);
	v86_load(v86->fs, v86->gs);
}

/* An instruction of the program, and whether something it needs was not there. */
struct instruction {
	struct frame *frame;
	unsigned next;	/* the offset of its next byte */
	unsigned bytes; /* of its operand */
	int failed;
};

static word linear(word segment, unsigned offset)
{
	return (segment & OFFSET_MASK) * PARAGRAPH + (offset & OFFSET_MASK);
}

/* None lies over the end of its segment (SDM vol. 3, 20.1.1). */
static void move(struct instruction *by, word segment, unsigned offset, void *value, unsigned bytes,
		 int writes)
{
	const word at = linear(segment, offset);

	by->failed |= (offset & OFFSET_MASK) + bytes > OFFSET_MASK + 1 ||
		      (writes ? user_write(at, value, bytes) : user_read(value, at, bytes));
}

static unsigned next_byte(struct instruction *by)
{
	uint8_t byte = 0;

	move(by, by->frame->cs, by->next++, &byte, 1, 0);
	return byte;
}

/* The upper half of esp stays, as with a stack of 16 bits. */
static void move_stack(struct frame *frame, int by)
{
	frame->sp = (frame->sp & ~OFFSET_MASK) | ((frame->sp + (word)by) & OFFSET_MASK);
}

static void push(struct instruction *by, uint32_t value)
{
	move_stack(by->frame, -(int)by->bytes);
	move(by, by->frame->ss, by->frame->sp, &value, by->bytes, 1);
}

static uint32_t pop(struct instruction *by)
{
	uint32_t value = 0;

	move(by, by->frame->ss, by->frame->sp, &value, by->bytes, 0);
	move_stack(by->frame, (int)by->bytes);
	return value;
}

/* IF, as the program sees it: with CR4.VME the processor has it in VIF. */
static int has_interrupts(const struct frame *frame)
{
	return current->segments.v86.how == V86_REDIRECTED ? (frame->flags & RFLAGS_VIF) != 0
							   : current->segments.v86.has_interrupts;
}

static void set_interrupts(struct frame *frame, int on)
{
	current->segments.v86.has_interrupts = on;
	if (current->segments.v86.how != V86_REDIRECTED)
		return;
	frame->flags = on ? frame->flags | RFLAGS_VIF : frame->flags & ~(word)RFLAGS_VIF;
}

/* The flags as an 8086 program sees them: IOPL is 3, as the processor pushes it with CR4.VME (SDM vol. 3, 20.3.3.4). */
static uint32_t flags_seen(const struct frame *frame)
{
	return (frame->flags & FLAGS_CHOSEN) | FLAGS_ALWAYS | RFLAGS_IOPL |
	       (has_interrupts(frame) ? RFLAGS_IF : 0);
}

/* Whatever else the image has, VM, IOPL and NT among it, the program does not choose. */
static void set_flags(struct frame *frame, uint32_t image)
{
	frame->flags = (frame->flags & ~(word)FLAGS_CHOSEN) | (image & FLAGS_CHOSEN);
	set_interrupts(frame, (image & RFLAGS_IF) != 0);
}

/* As an 8086 does it: through the table at address 0. */
static void reflect(struct instruction *by, unsigned vector)
{
	struct frame *const frame = by->frame;
	uint16_t target[2] = {0};

	by->bytes = 2;
	move(by, 0, vector * sizeof(target), target, sizeof(target), 0);
	push(by, flags_seen(frame));
	push(by, frame->cs);
	push(by, by->next);
	if (by->failed)
		return;
	by->next = target[0];
	frame->cs = target[1];
	frame->flags &= ~(word)RFLAGS_TF;
	set_interrupts(frame, 0);
	reflected++;
}

static void interrupt_return(struct instruction *by)
{
	const uint32_t ip = pop(by), cs = pop(by), flags = pop(by);

	if (by->failed)
		return;
	by->next = ip;
	by->frame->cs = cs & OFFSET_MASK;
	set_flags(by->frame, flags);
}

/* What a monitor must know: what is #GP in the mode because it would touch IF, and int. 0: it is something else. */
static int execute(struct instruction *by, unsigned opcode)
{
	switch (opcode) {
	case INT:
		reflect(by, next_byte(by));
		return 1;
	case IRET:
		interrupt_return(by);
		return 1;
	case PUSHF:
		push(by, flags_seen(by->frame));
		return 1;
	case POPF:
		set_flags(by->frame, pop(by));
		return 1;
	case CLI:
	case STI:
		set_interrupts(by->frame, opcode == STI);
		return 1;
	default:
		return 0;
	}
}

static int is_way_out(const struct frame *frame)
{
	uint8_t bytes[2];

	return !user_read(bytes, linear(frame->cs, frame->ip), sizeof(bytes)) && bytes[0] == INT &&
	       bytes[1] == VECTOR_V86;
}

/* #GP: nothing changes unless all of the instruction can be done. */
static int emulate(struct frame *frame)
{
	struct frame changed = *frame;
	const int had_interrupts = current->segments.v86.has_interrupts;
	struct instruction by = {.frame = &changed, .next = frame->ip, .bytes = 2};
	unsigned opcode = next_byte(&by);

	if (opcode == OPERAND_32) {
		by.bytes = 4;
		opcode = next_byte(&by);
	}
	if (execute(&by, opcode) && !by.failed) {
		changed.ip = by.next & OFFSET_MASK;
		*frame = changed;
		return 1;
	}
	current->segments.v86.has_interrupts = had_interrupts;
	log_line("virtual-8086 mode: the monitor does not do the instruction %x at %lx:%lx", opcode,
		 frame->cs, frame->ip);
	return 0;
}

int v86_serves(struct frame *frame)
{
	if (!(frame->flags & RFLAGS_VM)) {
		if (frame->vector != VECTOR_V86 || !is_from_program(frame) || programs_have_blocks())
			return 0;
		enter(frame);
		return 1;
	}
	if (frame->vector != VECTOR_PROTECTION || frame->error)
		return 0;
	if (is_way_out(frame)) {
		leave(frame);
		return 1;
	}
	return emulate(frame);
}

void v86_find(void)
{
	is_redirecting = (cpuid(1, 0).edx & CPUID_VME) != 0;
	if (!is_redirecting)
		return;
	const struct frame frame = program_run_code(v86_ask, (uint64_t)(v86_ask_end - v86_ask), 0);
	is_redirecting = frame.vector == VECTOR_INVALID && frame.bx == 1 && !reflected;
}

/* What a program finds when it begins (System V ABI, 3.4.1; i386 supplement, 2.3.1). */
#include "entry/entry.h"
#include "mm/mm.h"
#include "time/clock.h"
#include "user/user.h"
#include "vdso/gateway.h"
#include "vdso/images.h"

#include <linux/auxvec.h>

#define AT_SYSINFO 32 /* the kernel's header names it for i386 alone */

#define STACK_BYTES	  (8ul << 20)
#define BLOCK_STACK_BYTES (256ul << 10) /* without page tables, where all of it is there from the start */
#define STACK_RANDOM	  0x1000	/* in units of its alignment */
#define STACK_ALIGNMENT	  16
#define LONGEST_ARGUMENT  (128ul << 10) /* MAX_ARG_STRLEN */
#define ARGUMENTS_PART	  4		/* of the stack, that arguments may have */
#define TICKS_A_SECOND	  100
#define VDSO_RANDOM_PAGES 0x100
#define SHADOW_BYTES	  STACK_BYTES /* as in Linux; a stack has more than return addresses */

/* The 32-bit vDSO with the entry that was chosen at boot. */
static uint8_t vdso32[2 * PAGE] __attribute__((aligned(4096)));

unsigned gateway_best(void)
{
	/* In protected mode AMD's processors have both. There syscall is a switch's (events-by), and sysenter brings its stack. */
	if (cpu_has(FEATURE_SYSENTER))
		return GATEWAY_SYSENTER;
	return cpu_has(FEATURE_SYSCALL32) ? GATEWAY_SYSCALL : GATEWAY_INT80;
}

static void point_gateway(unsigned chosen)
{
	static const uint8_t *const codes[] = {
	    [GATEWAY_INT80] = gateway_int80,
	    [GATEWAY_SYSENTER] = gateway_sysenter,
	    [GATEWAY_SYSCALL] = gateway_syscall,
	};

	__builtin_memcpy(vdso32 + VDSO32_GATEWAY, codes[chosen], GATEWAY_SIZE);
}

unsigned gateway_choose(void)
{
	const unsigned chosen = gateway_best();

	if ((uint64_t)(vdso32_image_end - vdso32_image) > sizeof(vdso32))
		panic("the 32-bit vDSO is larger than expected");
	__builtin_memcpy(vdso32, vdso32_image, (uint64_t)(vdso32_image_end - vdso32_image));
	point_gateway(chosen);
	return chosen;
}

/* Below it is a page that nobody may access, so that none runs on into what is there: another shadow stack, of another thread. */
long shadow_stack_make(int bits, uint64_t *top)
{
	*top = 0;
	if (bits != 64 || configured[SWITCH_SHADOW_STACK] != SHADOW_STACK_ON)
		return 0;
	const uint64_t guard = space_find(PAGE + SHADOW_BYTES), at = guard + PAGE;
	if (!guard || space_add(guard, PAGE, 0, (struct source){0}) ||
	    space_add(at, SHADOW_BYTES, PROTECT_READ | PROTECT_SHADOW, (struct source){0}))
		return -ENOMEM;
	*top = at + SHADOW_BYTES;
	return 0;
}

void shadow_stack_drop(uint64_t top)
{
	space_remove(top - SHADOW_BYTES - PAGE, PAGE + SHADOW_BYTES);
}

/*
 * Maps the time page, followed by the image. Returns the image's address; 0 when there is no room. Without page tables the program has copies, of
 * which the one of the time page follows; and sysenter is closed (lab/i386/entry/hardware.c).
 */
static uint64_t map_vdso(int bits)
{
	const uint8_t *image = bits == 64 ? vdso64_image : vdso32;
	const uint64_t bytes = bits == 64 ? (uint64_t)(vdso64_image_end - vdso64_image) : sizeof(vdso32);

	if (bits == 32)
		point_gateway(space->block ? GATEWAY_INT80 : gateway_best());
	space->map_top -= (random_next() % VDSO_RANDOM_PAGES) * PAGE;
	const uint64_t at = space_find(PAGE + align_up(bytes, PAGE));
	if (!at || space_add_pages(at, &time_memory, PAGE, PROTECT_READ) ||
	    space_add_pages(at + PAGE, image, bytes, PROTECT_READ | PROTECT_EXECUTE))
		return 0;
	clock_copy_to(space->block ? physical_to_virtual(space->block + at) : 0);
	return at + PAGE;
}

/* A stack that is being filled, downwards. */
struct stack {
	uint64_t at;
	unsigned word; /* bytes */
	int failed;
};

static uint64_t push_bytes(struct stack *stack, const void *bytes, uint64_t count)
{
	stack->at -= count;
	stack->failed |= user_write(stack->at, bytes, count) != 0;
	return stack->at;
}

static void put_word(struct stack *stack, uint64_t *at, uint64_t value)
{
	stack->failed |= user_write(*at, &value, stack->word) != 0;
	*at += stack->word;
}

static void put_pair(struct stack *stack, uint64_t *at, uint64_t type, uint64_t value)
{
	put_word(stack, at, type);
	put_word(stack, at, value);
}

#define PAIRS 21

static void put_auxiliary_vector(struct stack *stack, uint64_t at, const struct loaded *loaded, uint64_t vdso,
				 uint64_t random, uint64_t name, uint64_t platform)
{
	const uint64_t gateway = vdso && loaded->bits == 32 ? vdso + VDSO32_GATEWAY : 0;
	const uint64_t pairs[][2] = {
	    {vdso ? AT_SYSINFO_EHDR : AT_IGNORE, vdso},
	    {gateway ? AT_SYSINFO : AT_IGNORE, gateway},
	    {AT_HWCAP, cpu.hwcap},
	    {AT_HWCAP2, cpu.hwcap2},
	    {AT_PAGESZ, PAGE},
	    {AT_CLKTCK, TICKS_A_SECOND},
	    {AT_PHDR, loaded->headers},
	    {AT_PHENT, loaded->header_bytes},
	    {AT_PHNUM, loaded->header_count},
	    {AT_BASE, 0},
	    {AT_FLAGS, 0},
	    {AT_ENTRY, loaded->entry},
	    {AT_UID, 0},
	    {AT_EUID, 0},
	    {AT_GID, 0},
	    {AT_EGID, 0},
	    {AT_SECURE, 0},
	    {AT_RANDOM, random},
	    {AT_EXECFN, name},
	    {AT_PLATFORM, platform},
	    {AT_LAB, LAB_VERSION},
	};
	_Static_assert(sizeof(pairs) / sizeof(pairs[0]) == PAIRS, "room is reserved for so many");

	for (unsigned i = 0; i < PAIRS; i++)
		put_pair(stack, &at, pairs[i][0], pairs[i][1]);
	put_pair(stack, &at, AT_NULL, 0);
}

/* Bytes of the argument's text, and its end; 0 when it is too long. */
static uint64_t bytes_of(const char *argument)
{
	const uint64_t bytes = __builtin_strlen(argument) + 1;

	return bytes <= LONGEST_ARGUMENT ? bytes : 0;
}

static long check_arguments(const struct start *start, uint64_t stack_bytes)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < start->argument_count; i++) {
		const uint64_t bytes = bytes_of(start->arguments[i]);
		sum += bytes + sizeof(uint64_t);
		if (!bytes || sum > stack_bytes / ARGUMENTS_PART)
			return -E2BIG;
	}
	return 0;
}

static void fill_stack(struct stack *stack, const struct start *start, const struct loaded *loaded,
		       uint64_t vdso)
{
	static const char platforms[2][8] = {"i686", "x86_64"};
	const uint64_t seeds[2] = {random_next(), random_next()};
	const uint64_t random = push_bytes(stack, seeds, sizeof(seeds));
	const uint64_t platform = push_bytes(stack, platforms[loaded->bits == 64], 8);
	uint64_t name = 0, texts = stack->at;

	for (unsigned i = 0; i < start->argument_count; i++)
		texts -= bytes_of(start->arguments[i]);
	/* argc, argv, its end, no environment, the auxiliary vector and its end. */
	const uint64_t words = 1 + start->argument_count + 1 + 1 + 2 * (PAIRS + 1);
	stack->at = (texts - words * stack->word) & ~(uint64_t)(STACK_ALIGNMENT - 1);
	uint64_t at = stack->at;
	put_word(stack, &at, start->argument_count);
	for (unsigned i = 0; i < start->argument_count; i++) {
		const uint64_t bytes = bytes_of(start->arguments[i]);
		stack->failed |= user_write(texts, start->arguments[i], bytes) != 0;
		name = i == 0 ? texts : name;
		put_word(stack, &at, texts);
		texts += bytes;
	}
	put_word(stack, &at, 0);
	put_word(stack, &at, 0);
	put_auxiliary_vector(stack, at, loaded, vdso, random, name, platform);
}

long start_prepare(const struct start *start, struct loaded *loaded, struct frame *frame)
{
	const uint64_t stack_bytes = space->block ? BLOCK_STACK_BYTES : STACK_BYTES;
	const uint64_t top = space->end - (random_next() % STACK_RANDOM) * STACK_ALIGNMENT;
	struct stack stack = {.at = top, .word = loaded->bits / 8};
	const uint64_t stack_start = (top - stack_bytes) & ~(PAGE - 1);
	const long problem = check_arguments(start, stack_bytes);

	if (problem)
		return problem;
	const unsigned stack_protection =
	    PROTECT_READ | PROTECT_WRITE | (loaded->is_stack_executable ? PROTECT_EXECUTE : 0);
	const uint64_t vdso = map_vdso(loaded->bits);
	if (!vdso || space_add(stack_start, space->end - stack_start, stack_protection, (struct source){0}) ||
	    shadow_stack_make(loaded->bits, &loaded->shadow_stack))
		return -ENOMEM;
	fill_stack(&stack, start, loaded, vdso);
	loaded->landing_pad = vdso + VDSO32_LANDING;
	*frame = (struct frame){
	    .ip = loaded->entry,
	    .cs = loaded->bits == 64 ? SELECTOR_USER_CODE_64 : SELECTOR_USER_CODE_32,
	    .flags = RFLAGS_PROGRAM,
	    FRAME_SEGMENTS.sp = stack.at,
	    .ss = SELECTOR_USER_DATA,
	};
	return stack.failed ? -ENOMEM : 0;
}

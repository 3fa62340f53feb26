/*
 * The device `entry`: a page with entry_call (vdso/entry), by which of the processor's entries programs make their traps. The switch
 * `entry-page` says which, or leaves it to the kernel.
 */
#include "entry/entry.h"
#include "mach/task.h"
#include "user/user.h"
#include "vdso/images.h"

static const struct variant {
	const uint8_t *wide, *narrow; /* for tasks of 64 and of 32 bits */
} variants[] = {
    /* What GNU Mach's own stubs have. */
    [ENTRY_PAGE_GATE] = {entry64_syscall_image, entry32_gate_image},
    [ENTRY_PAGE_INT80] = {entry64_int80_image, entry32_int80_image},
    [ENTRY_PAGE_SYSENTER] = {entry64_sysenter_image, entry32_sysenter_image},
    [ENTRY_PAGE_SYSCALL] = {entry64_syscall_image, entry32_syscall_image},
};

/* The fastest: `syscall`, which 64-bit code always has; of 32-bit code what __kernel_vsyscall has, too. */
static unsigned best(unsigned width)
{
	static const uint8_t by_gateway[] = {
	    [GATEWAY_INT80] = ENTRY_PAGE_INT80,
	    [GATEWAY_SYSENTER] = ENTRY_PAGE_SYSENTER,
	    [GATEWAY_SYSCALL] = ENTRY_PAGE_SYSCALL,
	};

	return width == 64 ? ENTRY_PAGE_SYSCALL : by_gateway[gateway_best()];
}

const void *entry_page(unsigned width)
{
	const unsigned wanted = configured[SWITCH_ENTRY_PAGE];
	const struct variant *const variant = &variants[wanted == ENTRY_PAGE_AUTO ? best(width) : wanted];

	return width == 64 ? variant->wide : variant->narrow;
}

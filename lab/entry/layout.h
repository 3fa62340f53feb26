/* Sizes and offsets that C and the entry paths share; hardware.c asserts them. */
#pragma once

#include "entry/frame_layout.h"

#include <linux/errno.h>

#define CALLS 512 /* both tables end before this call number */

#define MACH_TRAPS 130 /* the traps of GNU Mach end before this number, without its sign */

#define MOST_THREADS 8 /* that can be alive at once; there are as many tasks and address spaces */

/*
 * Stacks of a thread: below each is a page that is not mapped (stacks.S). A stack begins less than STACK_ROOM below its end,
 * at a distance that the plan draws (0 unless it says `layout`), in steps of STACK_STEP: kernels begin their stacks at the ends of
 * pages, so that a frame is never shifted against the lines of a cache.
 */
#define KERNEL_STACK_BYTES  (16384 + STACK_ROOM)
#define ENTRY_STACK_BYTES   (12288 + STACK_ROOM)
#define EXIT_STACK_BYTES    12288
#define RING_STACK_BYTES    64	/* of rings 1 and 2, for a call gate's frame and nothing else (rings.S) */
#define TASK_16_STACK_BYTES 512 /* of a task with a TSS of 16 bits: for an NMI (task-16.S) */
#define STACK_ROOM	    4096
#define STACK_STEP	    64

/* Flags of its call_work, and of its work (steps/work.S). */
#define WORK_CALL_IN  0x1
#define WORK_CALL_OUT 0x2
#define WORK_TIME     0x1

#define PROGRAM_TOP_BIT 0x1000 /* of CR3: the two top tables are adjacent, the programs' is the second */

#define EXCEPTION_STUB_SIZE 16
#define LANDING_STUB_SIZE   32 /* of those that begin with endbr64 */
#define LANDING_BYTES	    4  /* of endbr64, in protected mode endbr32: f3 0f 1e, and this */
#ifdef __x86_64__
#define LANDING_LAST 0xfa
#else
#define LANDING_LAST 0xfb
#endif

/*
 * Every path has a slot of its own, so that a switch does not move the code of another path. A slot is no larger than a page,
 * and aligned. A path begins at an offset below PATH_ROOM, which the plan draws (0 unless it says `layout`), in steps of PATH_STEP;
 * so much of the slot is left that the path always fits. Linux aligns its entry points by 16 (CONFIG_FUNCTION_ALIGNMENT on
 * x86-64): how one lies in a line of a cache differs from build to build.
 */
#define PATH_SLOT 4096
#define PATH_ROOM 1024
#define PATH_STEP 16

/* Hooks; the contract is in path.inc. */
#define HOOK_IN_EARLY  1
#define HOOK_IN_KERNEL 2
#define HOOK_IN_SAVED  3
#define HOOK_OUT_SAVED 4
#define HOOK_OUT_LATE  5
#define HOOK_AT_SWITCH 6

/* How a path is entered. In conditions, ENTERED_BY stands where otherwise the id of a switch does. */
#define ENTERED_BY   0
#define BY_KERNEL    0 /* by the kernel itself, or it is none of the kernel's: rings.S */
#define BY_SYSCALL   1
#define BY_SYSENTER  2
#define BY_INTERRUPT 3 /* an interrupt or trap gate, to a system call */
#define BY_CALL_GATE 4
#define BY_EXCEPTION 5 /* any other exception or interrupt */
#define BY_TASK	     6 /* a switch of tasks, in protected mode: all registers are the kernel's */

/* Whose numbers and registers the system calls of a path have. In conditions, NUMBERS stands where otherwise the id of a switch does. */
#define NUMBERS	       0xffff
#define NUMBERS_NONE   0 /* it serves none */
#define NUMBERS_X86_64 1
#define NUMBERS_I386   2
#define KIND_BITS      8 /* of a path's record; above them is the abi */

/* Bits of any_time_steps (stacks.S): what NMI, #MC and #DF do besides. */
#define ANY_TIME_IBRS	 1
#define ANY_TIME_UNTRAIN 2
#define ANY_TIME_VERW	 4
#define ANY_TIME_IBPB	 8
#define ANY_TIME_ESPFIX	 16

/* What PARAMETER replaces. */
#define PARAMETER_VALUE 0x5a5a5a5a

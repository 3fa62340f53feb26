/* Entries, and the paths that they take. */
#pragma once

#include "cpu/cpu.h"
#include "entry/layout.h"
#include "lab.h"
#include "switches.h"
#include "user/user.h"

/*
 * A switch's value, by SWITCH_*: the index of its name, or a number. path.c reads it, and all other code that depends on
 * switches.
 */
typedef uint32_t configuration[SWITCH_COUNT];
extern configuration configured;

/*
 * path.c: builds every path anew for a configuration, and points tables and registers at them.
 * Returns 0, or the SWITCH_* that this CPU cannot do.
 */
unsigned paths_configure(const configuration wanted);
/* From here on, steps that have no effect without their feature are executed without it. */
void paths_allow_harmless(void);
/* What the offsets of paths in their slots are drawn from, when they are built next; 0: none. */
void paths_set_layout(uint64_t drawn_from);
/*
 * Calls `sink` for each step of a path as it was built, with its name, its place among all steps of the template, whether they
 * are there or not, its address and code. 0 when there is no such path.
 */
typedef void (*path_step_sink)(const char *name, word place, word address, const uint8_t *code, word bytes);
int path_list_steps(struct text name, path_step_sink sink);
/* What to do after a fault at an address in a path: where to go on, or FAULT_ENDS, or FAULT_UNKNOWN. */
#define FAULT_UNKNOWN 0
#define FAULT_ENDS    1
word path_fault(word rip);
int is_in_path(word rip);
/* Where the built paths are; the addresses are set by paths_configure. */
extern word path_syscall_x86_64, path_syscall_i386, path_sysenter_x86_64, path_sysenter_i386, path_int80,
    path_call_gate_x86_64, path_call_gate_i386, path_ud_x86_64, path_ud_i386, path_int3_x86_64,
    path_int3_i386, path_div0_x86_64, path_div0_i386, path_enter_user, path_put_user_8, path_put_user_4,
    path_put_user_16, path_copy_user, path_exception, path_page_fault, path_peek_as_program,
    path_switch_space, path_ring1, path_ring2, path_task_gate, path_task_jmp, path_task_nested, path_task_16,
    path_double_fault, path_v86;

/* exception.S: a stub for each vector, EXCEPTION_STUB_SIZE bytes each; and an iretq that is in no path. */
extern const uint8_t exception_stubs[], landing_stubs[], exception_iret[];
/* exception.c: called by the stubs' path. */
void exception(struct frame *frame);
/* vsyscall.c: serves an instruction fetch from the fixed page; 0 when the fault was something else. */
int vsyscall_fault(struct frame *frame, word address);

/* hardware.c: points registers and gates at the paths. */
void hardware_point(void);
/*
 * The same for a program of so many bits. `serve`: ud2, lock nop, int3 and div are system calls, with the call numbers of its
 * bitness. If not, they are ordinary exceptions.
 */
void hardware_point_for(int bits, int serve);
/*
 * In Linux's order page faults have a path of their own, which takes the kernel's for faults with the kernel's page tables. Not while the kernel
 * looks whether programs' tables are blind (tables.c): then the path of all exceptions has them.
 */
void hardware_point_page_faults(int with_programs_tables);
void hardware_point_v86(int on); /* in protected mode: whether the program is in virtual-8086 mode */
/* The tops of a thread's stacks: for fast calls, for gates and exceptions, and for gates to ring 1 (behind which is that of ring 2). */
void hardware_point_to_stacks(word kernel, word entry, word ring1);

/* returns.c: rewrites all returns of the kernel as the switch `returns` says. */
void returns_configure(void);
/* What they jump to; where they are plain, the thunk of returns=thunk. */
word returns_thunk(void);
extern const uint8_t return_thunk[];

/* speculation.c: finds what the registers hold that decide what the processor may speculate on; sets them; gives them back. */
void speculation_find(void);
void speculation_configure(void);
void speculation_restore(void);

/* guard.c: takes the pages below stacks away, so that an overflow is a fault. */
void guard_pages_unmap(void);

/* stacks.S: stacks, and the paths' data in the CPU area. */
extern struct kernel_stack {
	uint8_t guard[4096], bytes[KERNEL_STACK_BYTES];
} kernel_stacks[MOST_THREADS];
extern struct entry_stack {
	uint8_t guard[4096], bytes[ENTRY_STACK_BYTES];
} entry_stacks[MOST_THREADS];
extern struct ring_stack {
	uint8_t bytes[RING_STACK_BYTES];
} ring_stacks[MOST_THREADS][2];
extern word kernel_cr3, user_cr3, kernel_stack, program_rsp, gate_frame, landing_pad, any_time_steps,
    entry_stack;
extern word spec_ctrl; /* steps/ibrs.S: of SPEC_CTRL, what the kernel runs with */
extern word user_pcid, user_flush_mask;
extern word
    observed_flags; /* with observe=on: bits of rflags that were set after some gate; 0 when none was entered */

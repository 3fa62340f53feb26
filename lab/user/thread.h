/*
 * Threads: each is a program that runs, or of GNU Mach's programs one of several that run in it, with its stacks in the kernel, and its
 * registers while another runs.
 * Several are alive at once; only the current one runs, until it calls sched_yield or ends.
 */
#pragma once

#include "cpu/cpu.h"
#include "cpu/segments.h"
#include "mach/thread.h"
#include "mm/mm.h"
#include "user/calls.h"

#include <stddef.h>
#include <stdint.h>

struct thread {
	word stack;		  /* its pointer in the kernel; THREAD_STACK of entry/layout.h */
	uint32_t call_work, work; /* WORK_* of entry/layout.h: looked at with the switch `work` */
	word kernel_stack, entry_stack, ring1_stack; /* their tops */
	struct address_space *space;
	word program_rsp, gate_frame; /* as the paths know them (entry/stacks.S) */
	word landing_pad;	      /* likewise; it stays as it is */
	struct segments segments;
	uint64_t shadow_stack; /* its pointer, while another runs; 0: it has none */
	uint64_t shadow_top;
	struct frame start; /* its registers when it begins */
	int bits, serves;
	int is_alive;	 /* it has not ended */
	int is_runnable; /* it has begun, has not ended, and does not wait for another (mach/wait.c) */
	int personality; /* PERSONALITY_*: whose calls it may make, as it was when it was loaded */
	struct mach_thread mach;
	uint32_t id;	     /* what getpid says */
	uint64_t interrupts; /* VECTOR_SOFTWARE, how often it has come */
	uint64_t switches;   /* of address spaces, that it has asked for */
	struct signals signals;
	struct timers timers;
	struct limits limits;
	struct settings settings;
	uint8_t registers[FPU_BYTES] __attribute__((aligned(64))); /* x87, MXCSR, vectors */
};

extern struct thread *current;

/* thread.c */
/*
 * A new one in the current address space, which begins with these registers; all else of it is as a program finds it. Null when
 * MOST_THREADS are alive.
 */
struct thread *thread_new(const struct frame *start, int bits, int serves, word landing_pad);
/* The next after the current one that can run; null when there is none. */
struct thread *thread_next(void);
/* Goes on in another, or begins it. Returns when somebody goes on in this one. */
void thread_run(struct thread *to);
/* The kernel's own thread, which plans and reports, goes on: where it called thread_run. */
_Noreturn void thread_run_kernel(void);
/* The current one ends, and gives back its address space unless its task goes on; another goes on. */
_Noreturn void thread_ends(struct thread *next);
/* Forgets all but the kernel's own, which must be the current one. */
void threads_end(void);
unsigned threads_count(void); /* no alive one has this number, or a greater one */
struct thread *thread_by_number(unsigned number);
unsigned thread_number(const struct thread *thread);
/* Where the stacks of threads that are made later begin is drawn from this number; 0: at their ends. */
void threads_set_layout(uint64_t drawn_from);

/* Programs: how one is loaded, run and ended, and the system calls that it may make. */
#pragma once

#include "cpu/cpu.h"
#include "lab.h"

#include <stddef.h>
#include <stdint.h>

struct text {
	const uint8_t *bytes;
	uint64_t count;
};

/* random.c: numbers that depend only on the seed, so that two boots are alike. Not for secrets. */
#define RANDOM_STEP 0x9e3779b97f4a7c15
void random_seed(uint64_t seed);
uint64_t random_next(void);
/* A number in which each bit depends on every bit of another. */
uint64_t random_mixed(uint64_t number);

/* How a program ended: LAB_END_*, and its detail. */
struct end {
	uint64_t how, detail[4];
};

/* What a program is started with. */
struct start {
	struct text file;
	const char *const *arguments; /* the first is its name */
	unsigned argument_count;
	int serve;	   /* exceptions are system calls */
	struct text input; /* what it can read from its standard input */
};

/* What the loader found out. */
struct loaded {
	int bits;
	uint64_t entry, base, headers, header_bytes, header_count;
	int is_stack_executable;
	uint64_t landing_pad;  /* in the 32-bit vDSO */
	uint64_t shadow_stack; /* its top; 0: none */
};

/* elf.c: makes the address space and maps the program. 0, or -errno as execve would answer. */
long elf_load(struct text file, struct loaded *out);
/* start.c: the vDSO, the stack with arguments and auxiliary vector; sets the frame. 0 or -errno. */
long start_prepare(const struct start *start, struct loaded *loaded, struct frame *frame);

/* The same, for one more thread of the current address space: its top, 0 where programs have none. 0 or -ENOMEM. */
long shadow_stack_make(int bits, uint64_t *top);
void shadow_stack_drop(uint64_t top);

/* program.c */
/*
 * Programs that run together: program_beside loads one, and program_run runs a last one and with it those. It begins; who
 * calls sched_yield lets the next go on. They end with the first end that is not by itself with status 0, or when all have
 * ended so. A failure to load one is the end of all.
 */
void program_beside(const struct start *start);
struct end program_run(const struct start *start);
void programs_end(void); /* gives back what programs had, and forgets those that were to run beside */
_Noreturn void program_ends(struct end end);
_Noreturn void program_thread_ends(void); /* one of several of a task, or the last of one that goes on */
_Noreturn void program_ends_all(void);	  /* with success */
void program_set_limit(uint64_t ticks);	  /* 0: none */
/* Ends a program that has used up its time, or whose timer has run out. */
void program_may_be_runaway(void);
/* Ends a program for which there is no page; returns if it has not begun yet. */
void program_lacks_memory(void);
/*
 * Runs code of the kernel in ring 3, at PROGRAM_CODE, until its first exception, and returns its registers at that moment.
 * `serve`: ud2, int3 and the like are system calls; then only another exception ends it.
 */
#define PROGRAM_CODE 0x400000ul
struct frame program_run_code(const uint8_t *code, uint64_t bytes, int serve);
int program_watches(const struct frame *frame); /* whether an exception is the end of program_run_code */

/* calls.c: dispatch tables, indexed by call number. */
void calls_init(void);
void calls_reset(struct text input); /* for new programs, with what there is to read */
struct thread;
void calls_reset_thread(struct thread *thread, const char *name); /* for a new thread, which is all zero */
long call_gettimeofday(word to, word zone);
long call_time(word to);
long call_getcpu(word cpu, word node);

/* umip.c: emulates an instruction that UMIP forbids in ring 3; 0 when the #GP had another cause. */
int umip_fault(struct frame *frame);

/* start.c: the fastest entry of 32-bit code that this processor has; puts it into the 32-bit vDSO. GATEWAY_*. */
unsigned gateway_best(void);
unsigned gateway_choose(void);

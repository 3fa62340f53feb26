/* What the probe's C files share. Everything is static, single-threaded, and made once for one request. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "layout.h"
#include "linux.h"
#include "record.h"
#include "request.h"

#include "entries.h"

/* Four stamps: around the imul chain (0, 1), the control (1, 2), the entry (2, 3); or as RECORD_BURSTS and RECORD_ORDER
 * say. */
struct sample {
	uint64_t stamp[4];
};
_Static_assert(sizeof(struct sample) == SAMPLE_SIZE, "TAKE copies whole samples");

/* What LOAD loads: one for each call of an operation. */
struct invocation {
	unsigned long number; /* call number */
	unsigned long target; /* function */
	unsigned long stride; /* added to args[0] after every use */
	unsigned long args[INVOCATION_ARGUMENTS];
};
_Static_assert(offsetof(struct invocation, number) == INVOCATION_NUMBER, "LOAD_SYSCALL");
_Static_assert(offsetof(struct invocation, target) == INVOCATION_TARGET, "ENTER of functions");
_Static_assert(offsetof(struct invocation, stride) == INVOCATION_STRIDE, "ADVANCE");
_Static_assert(offsetof(struct invocation, args) == INVOCATION_ARGS, "LOAD_FUNCTION");
_Static_assert(sizeof(struct invocation) == INVOCATION_SIZE, "EACH");

#define SIXTEEN_BYTES 16
/* So many that the clock is known by them where the counter advances in steps of 10 ns. */
#define ORDER_SAMPLES 32

#define PAGE		4096ul
#define LINE		64ul
#define PROTECT_READ	1
#define PROTECT_EXECUTE 4
#define MAP_SHARED	1

#define MADV_NOHUGEPAGE 15

/* Where answers are written. In static memory, so below 4 GiB, which int $0x80 needs. */
union answer {
	struct {
		int64_t seconds, fraction;
	} wide;
	struct {
		int32_t seconds, fraction;
	} narrow;
	uint32_t cpu;
	uint8_t bytes[SIXTEEN_BYTES];
	uint64_t words[2];
};

extern union answer answer;
extern struct invocation invocations[MOST_CALLS];
/* Of each call, in the order of REGISTER_*; then the flags. */
extern uint64_t registers_before[MOST_CALLS][REGISTERS], registers_after[MOST_CALLS][REGISTERS];

enum kind { KIND_NUMBER, KIND_FUNCTION, KIND_EXCEPTION, KIND_MEMORY, KIND_INSTRUCTION };
enum abi { ABI_NONE, ABI_X86_64, ABI_I386, ABI_X32 };

/* A row of entries.toml that this probe runs. */
struct entry {
	uint16_t id;
	enum kind kind;
	enum abi abi;
	uint32_t preserved; /* bit per REGISTER_* */
};

/* Takes so many samples. */
typedef void timed_code(struct sample *out, unsigned long count);

/* The timed code of an entry, for operations of so many calls (timed.inc). */
struct routines {
	uint16_t entry;
	unsigned calls, form; /* FORM_* */
	timed_code *timed;
	timed_code *among; /* with a footprint */
	void (*burst)(struct sample *out);
	void (*loop)(struct sample *unused, unsigned long count);
	void (*checked)(void);
};

/* The code by which a server makes its traps. */
struct server {
	uint16_t entry;
	void (*serve)(void);
};

/* The code that takes samples of several uses of an entry. */
struct several {
	uint16_t entry;
	unsigned uses;
	timed_code *timed;
};

#define NO_CLOCK UINT32_MAX

struct operation {
	uint16_t id;
	uint32_t number_x86_64, number_i386;
	const char *function;
	uint32_t clock; /* that clock_gettime or clock_getres is asked for; NO_CLOCK if it is not */
	uint32_t page_offset;
	unsigned calls, form; /* FORM_* */
	/* Of a message: whether a server answers it, whether that is a thread, how many bytes of data it has, and whether it has a right. */
	unsigned has_server, is_thread, bytes, has_right;
	unsigned nops; /* that are submitted to an io_uring together; 0 of every other operation */
};

/* Whether it is a function of the probe, which makes its calls itself. */
static inline int is_by_function(const struct operation *operation)
{
	return operation->id == OPERATION_UNIXBENCH_EXEC || operation->nops;
}

/* One of several calls of an operation. */
struct call {
	uint16_t operation;
	unsigned place;
	uint32_t number_x86_64, number_i386;
	const char *function;
};

struct request {
	const struct entry *entry;
	const struct operation *operation;
	const struct routines *routines;
	unsigned long blocks, ticks, bursts, parent, cpu, path, samples; /* parent and cpu also of loops */
	unsigned long pages, lines;					 /* the footprint */
	unsigned long uses;						 /* of the entry in a sample */
	unsigned long calls, repetitions, clock;
	void (*serve)(void); /* by which a server makes its traps; null where the entry makes none */
	int serves;	     /* it answers another probe's messages */
};

static inline int has_footprint(const struct request *request)
{
	return request->pages || request->lines;
}

/* What the kernel did to this process: involuntary context switches, and pages mapped without input; voluntary switches, and in
 * the lab the interrupts that it has raised. */
struct usage {
	uint64_t preemptions, minor_faults, switches, interrupts;
};

/* usage.c */
struct usage usage_now(void);
/* The CPU that this process runs on. */
uint32_t cpu_now(void);

/* emit.c: records to standard output. */
void emit_identity(uint16_t entry, uint16_t operation);
void emit(uint16_t kind, const void *payload, uint32_t bytes);
void emit_fact(uint64_t fact, uint64_t value);
/* From here on nothing is written, whatever is emitted. */
void emit_nothing(void);
/* Ends the program with an outcome that is not OUTCOME_OK. */
_Noreturn void emit_refusal(uint64_t outcome, uint64_t cause, uint64_t d0, uint64_t d1, uint64_t d2,
			    uint64_t d3);
_Noreturn void emit_end(struct usage usage);

/* start.S, calibrate.S */
void calibrate(uint64_t stamps_out[5]);
/* canary.S: where a canary's code may stand; where it does in this process. */
extern void (*const canary_places[CANARY_PLACES])(void);
extern void (*canary_place)(void);
void order(struct sample *out);
extern const volatile unsigned long call_target, call_answer; /* 64 bit only */
void stepped_call(void *function);
void signal_return(void);

/* auxv.c: the auxiliary vector, and functions of the vDSO. */
void auxv_find(const unsigned long *stack);
unsigned long auxv(unsigned long type);				    /* 0 when absent */
unsigned long vdso_function(const char *name, const char *version); /* 0 when absent */
/* Of the image at an address; the vDSO's are not found any more. */
unsigned long image_function(const void *file, const char *name, const char *version);
void vdso_list(void); /* one RECORD_EXPORT for each function */

/* fault.c: what happens on a signal. */
void faults_report(void);		       /* end with OUTCOME_FAULT */
void faults_skip(int signal, unsigned length); /* skip an instruction of so many bytes, and count */
extern volatile unsigned long faults_skipped;

/* operation.c, check.c: arguments of an operation, and whether the answer is right. */
void operation_prepare(const struct request *request);
void operation_check(const struct request *request);
/* Behind the samples, none of which sees whether there was an answer: whether the entry still has one. */
void operation_check_again(const struct request *request);
/* The number of a call of an operation, from 0, in the ABI of the entry; of a trap of GNU Mach it is the same in each. */
unsigned long operation_number(const struct request *request, unsigned place);
/* The C function of such a call. */
const char *operation_function(const struct operation *operation, unsigned place);

/* process.c (64 bit only): the function that makes a process through the request's entry; 0 where the C library lacks what it takes. */
unsigned long process_maker(const struct request *request);

/* ring.c (64 bit only): makes an io_uring; the function that submits the operation's NOPs to it and consumes their completions. */
unsigned long ring_prepare(const struct operation *operation);

/* unixbench.c: arguments of its loops' calls, and what each must answer. */
void unixbench_prepare(const struct operation *operation);
unsigned long unixbench_answer(const struct operation *operation, unsigned place);

/* objects.c: arguments of a read of /dev/zero and of a wake of a futex; and whether the byte that was read is the device's. */
void objects_prepare(const struct operation *operation);
int objects_byte_came(void);

/* mach.c: what traps of GNU Mach are given, and whether the message that was received is the right one. */
void mach_prepare(const struct request *request);
void mach_check(const struct request *request);
void mach_check_again(const struct operation *operation); /* before the checks behind the samples */
unsigned long mach_time_prepare(void);			  /* the function that reads the device time */
/* The stub of the operation's trap: one that enters as GNU Mach's own, by sysenter (32 bit only), or through the page of the device entry. */
unsigned long mach_gate_stub(const struct request *request);
unsigned long mach_sysenter_stub(const struct request *request);
unsigned long mach_page_stub(const struct request *request);
/* Answers messages as another task, until it is told that there are no more. */
_Noreturn void mach_serve(const struct request *request);
void mach_end_server(void); /* tells it, if there is one */
/* start.S: a trap by the base ABI's instruction; number is negative. */
#define MACH_ARGUMENTS 11
long mach_trap(long number, const unsigned long arguments[MACH_ARGUMENTS]);

/* reference.c: a clock's time, nanoseconds; the parent's process id; the CPU. All by the base ABI's own call. */
uint64_t reference_time(uint32_t clock);
uint64_t reference_resolution(uint32_t clock);
unsigned long reference_parent(void);
unsigned long reference_cpu(void);

/* target.c: what an entry needs before it can be used; ends the program where it is closed. */
void target_prepare(const struct request *request);
/* before every block */
void target_refresh(const struct request *request);

/* footprint.c: makes the chain that touch.S follows, and brings its memory in; `footprint` is where it begins. */
void footprint_prepare(const struct request *request);
extern unsigned long footprint;

/* loop.c: plain loops of calls; what they took, as RECORD_LOOPS. */
void loop_measure(const struct request *request);
void loop_emit(const struct request *request);

/* vsyscall.c (64 bit only): VSYSCALL_MODE_*. */
int vsyscall_mode(void);

/* path.c */
uint64_t path_of(const struct request *request);

/* libc.c, only in probe-libc: 0 when the C library lacks it */
__attribute__((weak)) unsigned long libc_function(const char *name);

/*
 * sixteen.c (32 bit only): of an entry whose timed code is of 16 bits, functions that go there and call it; of all others the same. And what
 * it needs before it can be called.
 */
const struct routines *sixteen_routines(const struct routines *of);
void sixteen_prepare(const struct request *request);

/* perf_page.c, time_page.c, devmem.c (64 bit only) */
unsigned long perf_page_prepare(void);
unsigned long time_page_prepare(const struct operation *operation, int from_devmem);
const uint8_t *devmem_time_page(void);

/* rseq.c (64 bit only): the area is registered, or the entry closed */
void rseq_prepare(void);

static inline uint64_t tsc(void)
{
	uint32_t low, high;
	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static inline int same_text(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

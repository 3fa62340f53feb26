/*
 * What a probe writes: a stream of records, each a header and a payload, little endian, no padding.
 * Written by probe/emit.c, and with kinds of its own (lab.h) by the lab kernel; read by crates/record and
 * lab/plan/reading.c.
 *
 * Payloads are arrays of u64 unless said otherwise. Times are raw TSC values: the probe never divides.
 */
#pragma once

#define RECORD_MAGIC	   0x4352544b /* "KTRC" */
#define RECORD_VERSION	   2
#define RECORD_MAX_PAYLOAD (1u << 20) /* bytes; a longer one is garbage */

#ifndef __ASSEMBLER__
#include <stdint.h>

struct record_header {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;
	uint32_t sequence; /* counts from 0 in every probe run */
	uint16_t entry;	   /* ids of entries.toml; 0 in a describe run */
	uint16_t operation;
	uint32_t length; /* of the payload, bytes */
	uint32_t crc;	 /* CRC-32 (IEEE 802.3) of header and payload, this field taken as 0 */
};
_Static_assert(sizeof(struct record_header) == 24, "the header has no padding");
#endif

/*
 * Kinds of record, with their payload. A measuring run that goes well writes BEGIN, FACTs,
 * OUTCOME, ORDER, then CANARY and SAMPLES for every block, CANARY, BURSTS, CANARY, END. A run of loops writes OUTCOME, LOOPS,
 * END.
 */
#define RECORD_BEGIN   1  /* bits, imuls in a chain, xors, nots, calls in a burst, chains in a row (ORDER) */
#define RECORD_OUTCOME 2  /* outcome, cause, detail[4]; only END follows when it is not OUTCOME_OK */
#define RECORD_FACT    3  /* fact, value */
#define RECORD_CANARY  4  /* stamps[5] around nothing, imul chain, xor chain, nots; CPU; preemptions so far */
#define RECORD_SAMPLES 5  /* stamps[4] each: around the imul chain, the control, the entry */
#define RECORD_BURSTS  6  /* stamps[4] each: around a burst of controls (0, 1), of entries (2, 3) */
#define RECORD_EXPORT  7  /* bytes: name, NUL, version, NUL; a function that the vDSO exports */
#define RECORD_END     8  /* preemptions and minor faults while the entry was timed */
#define RECORD_ORDER   9  /* stamps[4] each: around nothing (0, 1), one imul chain (1, 2), several (2, 3) */
#define RECORD_LOOPS   10 /* pairs: readings before and behind a loop of the clock that was asked for */

/*
 * A preemption is an involuntary context switch of the process, as getrusage counts them; "so far" is since the process
 * began. A canary reads the counter just before its first stamp, so two equal counts mean that the process was not
 * preempted from the one to the other.
 *
 * ORDER tells whether lfence makes rdtsc wait for what stands before it. If it does, the chains in a row take as many
 * times as long as the one chain as BEGIN says there are, the cost of the stamps (0, 1) taken off both. If it does not,
 * a stamp is taken early by as much as the processor can keep in flight, and the two figures do not agree.
 */

/*
 * With this bit in its kind, a record's payload of words is packed: each word as its difference from the one before (the first:
 * from 0), its sign moved to bit 0 (0, -1, 1, -2 as 0, 1, 2, 3), and that in groups of 7 bits, the lowest first, bit 7 of a byte set when
 * another follows. Length and checksum are of the packed bytes. The lab kernel packs what gets shorter by that: an emulator takes
 * longer for a byte on its serial line than for what packs it.
 */
#define RECORD_PACKED 0x8000

#define OUTCOME_OK	    0
#define OUTCOME_UNSUPPORTED 1
#define OUTCOME_REFUSED	    2
#define OUTCOME_FAULT	    3
#define OUTCOME_MISMATCH    4
#define OUTCOME_ERROR	    5

/* Why the outcome is what it is, and what detail[] holds. */
#define CAUSE_NONE	    0
#define CAUSE_SIGNAL	    1 /* signal, si_code, trap number << 32 | error code, faulting address */
#define CAUSE_ERRNO	    2 /* errno from the entry, or from a call that prepared it */
#define CAUSE_NO_AUXV	    3 /* type of the missing auxiliary vector entry */
#define CAUSE_NO_SYMBOL	    4
#define CAUSE_ANSWER	    5 /* got, at least, at most */
#define CAUSE_REGISTER	    6 /* register (16: the flags), before, after */
#define CAUSE_NO_USER_TIME  7
#define CAUSE_NO_TIME_PAGE  8
#define CAUSE_STRICT_DEVMEM 9
#define CAUSE_NO_KALLSYMS   10
#define CAUSE_NO_SIGNAL	    11 /* signals expected, signals seen */
#define CAUSE_REQUEST	    12 /* index of the argument that does not parse or names no row of this probe */
#define CAUSE_NO_FAULT	    13 /* minor faults due, minor faults seen */
#define CAUSE_EMULATOR	    14 /* not tried: this emulator would take the kernel down */
#define CAUSE_UNTOLD	    15 /* UNTOLD_*, errno (0: the call did nothing): what figures need is not told */
#define CAUSE_NOT_RANDOM    16 /* how often the same number came in a row (0: none came), the number */
#define CAUSE_NO_DEVICE	    17 /* there is no device of the name that was asked for */
#define CAUSE_NO_RING	    18 /* errno from io_uring_setup, or from a call that maps its rings */

#define UNTOLD_PREEMPTIONS 1 /* getrusage */
#define UNTOLD_PLACE	   2 /* getcpu, and the CPU's number in a segment's limit */

#define FACT_PATH    1 /* does the call enter the kernel? value: PATH_* */
#define PATH_UNKNOWN 0
#define PATH_USER    1
#define PATH_KERNEL  2

#define FACT_CANARY 3 /* in which of CANARY_PLACES this process has its canary (probe/canary.S) */

#define FACT_VSYSCALL	      2 /* value: VSYSCALL_MODE_* */
#define VSYSCALL_MODE_NONE    0
#define VSYSCALL_MODE_XONLY   1
#define VSYSCALL_MODE_EMULATE 2
#define VSYSCALL_MODE_NATIVE  3

#define FACT_USES 4 /* value: uses of the entry in a sample, and controls; without it, one */

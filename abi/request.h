/*
 * What a probe is asked: its arguments, decimal numbers in this order.
 * argv[REQUEST_MODE] is MODE_MEASURE, MODE_DESCRIBE, MODE_LOOP, MODE_EXIT or MODE_SERVE; the others belong to MODE_MEASURE. MODE_LOOP has
 * the same entry, operation, parent and CPU, and numbers of its own between them; MODE_SERVE has entry and operation alone.
 */
#pragma once

#define REQUEST_MODE	  1
#define REQUEST_ENTRY	  2  /* id */
#define REQUEST_OPERATION 3  /* id */
#define REQUEST_BLOCKS	  4  /* at most so many blocks of samples */
#define REQUEST_TICKS	  5  /* stop sampling after so many TSC ticks, but take at least one block */
#define REQUEST_BURSTS	  6  /* so many back-to-back bursts */
#define REQUEST_PARENT	  7  /* the process id that getppid must answer */
#define REQUEST_CPU	  8  /* the CPU that getcpu must answer */
#define REQUEST_PATH	  9  /* 1: find out whether the call enters the kernel */
#define REQUEST_SAMPLES	  10 /* samples in a block, 1 to BLOCK_SAMPLES */
#define REQUEST_PAGES	  11 /* a footprint: so many pages, at most MAX_PAGES, ... */
#define REQUEST_LINES	  12 /* ... and lines, at most MAX_LINES; then no bursts */
#define REQUEST_USES	  13 /* uses of the entry in a sample: 1, or the table's number without a footprint */
#define REQUEST_ARGUMENTS 14 /* argc of a whole request */

#define REQUEST_SERVE_ARGUMENTS 4 /* argc of a request to serve, which has an entry and an operation */

#define REQUEST_CALLS	       4 /* calls in a loop, 1 to MAX_CALLS */
#define REQUEST_REPETITIONS    5 /* loops, 1 to MAX_REPETITIONS, each between two readings of a clock */
#define REQUEST_CLOCK	       6 /* LOOP_CLOCK_* */
#define REQUEST_LOOP_ARGUMENTS 9 /* argc of a whole request for loops */

/*
 * As REQUEST_PARENT and REQUEST_CPU: whoever asks does not know, because the probe runs under another command. The probe asks
 * the kernel itself, by the base ABI's own call.
 */
#define REQUEST_ASK 4294967295u

#define MODE_MEASURE  1
#define MODE_DESCRIBE 2 /* what the auxiliary vector and the vDSO offer */
#define MODE_LOOP     3 /* plain loops of calls, as programs that are no probe measure */
#define MODE_EXIT     4 /* end at once: what a probe executes that makes processes; argv has nothing else */
#define MODE_SERVE    5 /* answer the messages of a client, as another task of GNU Mach */

#define LOOP_CLOCK_TSC	  1 /* ticks: lfence, rdtsc */
#define LOOP_CLOCK_SYSTEM 2 /* nanoseconds: CLOCK_MONOTONIC by the vDSO; a system call where there is none */

/* Uses of an entry before any sample is kept: these check its answer, ... */
#define CHECKS	     8
/* ... and so many samples are taken before every block. */
#define WARM_SAMPLES 4

#define BLOCK_SAMPLES 64
#define MAX_BLOCKS    256
#define MAX_BURSTS    256

#define MAX_USES 64

#define MAX_PAGES 1024
#define MAX_LINES 16384

#define MAX_CALLS	1000000
#define MAX_REPETITIONS 4096

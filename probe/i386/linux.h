/* The closed list of system calls that the probe itself uses, with i386 numbers. The lab kernel must serve
 * them. */
#pragma once

#ifndef __ASSEMBLER__

#define NR_EXIT		   1
#define NR_CLONE	   120
#define NR_WRITE	   4
#define NR_WAIT4	   114
#define NR_PRCTL	   172
#define NR_RT_SIGACTION	   174
#define NR_SIGALTSTACK	   186
#define NR_MADVISE	   219
#define NR_GETPPID	   64
#define NR_GETRUSAGE	   77
#define NR_EXIT_GROUP	   252
#define NR_CLOCK_GETTIME   265
#define NR_CLOCK_GETRES	   266
#define NR_GETCPU	   318
#define NR_CLOCK_GETTIME64 403

/* Of operations that Linux alone serves. */
#define NR_OPEN	  5
#define NR_CLOSE  6
#define NR_GETPID 20
#define NR_DUP	  41
#define NR_UMASK  60
#define NR_GETUID 199 /* with 32 bits, as C libraries call it */

/* The base ABI's call; returns the result, or -errno. No call here has a sixth argument, which would need
 * ebp. */
static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	(void)f;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return result;
}

#endif

/* The closed list of system calls that the probe itself uses, with x86-64 numbers. The lab kernel must serve
 * them. */
#pragma once

#define RFLAGS_TF 0x100

#ifndef __ASSEMBLER__

#define NR_READ		   0
#define NR_WRITE	   1
#define NR_OPEN		   2
#define NR_CLOSE	   3
#define NR_MMAP		   9
#define NR_RT_SIGACTION	   13
#define NR_MADVISE	   28
#define NR_CLONE	   56
#define NR_EXIT		   60
#define NR_WAIT4	   61
#define NR_GETRUSAGE	   98
#define NR_GETPPID	   110
#define NR_SIGALTSTACK	   131
#define NR_PRCTL	   157
#define NR_CLOCK_GETTIME   228
#define NR_CLOCK_GETRES	   229
#define NR_EXIT_GROUP	   231
#define NR_PERF_EVENT_OPEN 298
#define NR_PIPE2	   293
#define NR_GETCPU	   309
#define NR_RSEQ		   334

/* Of operations that Linux alone serves. */
#define NR_DUP	  32
#define NR_GETPID 39
#define NR_FORK	  57
#define NR_EXECVE 59
#define NR_UMASK  95
#define NR_GETUID 102

/* The base ABI's call; returns the result, or -errno. */
static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#endif

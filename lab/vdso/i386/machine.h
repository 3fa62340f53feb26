/* System calls of 32-bit code, by the entry that the kernel has chosen. */
#pragma once

#define NR_TIME		   13
#define NR_GETTIMEOFDAY	   78
#define NR_SIGRETURN	   119
#define NR_RT_SIGRETURN	   173
#define NR_CLOCK_GETTIME   265
#define NR_CLOCK_GETRES	   266
#define NR_GETCPU	   318
#define NR_CLOCK_GETTIME64 403

/* Linux's 32-bit image exports no second names. */
#define ALSO_NAMED(name) _Static_assert(sizeof(__vdso_##name), "it exists")

#ifndef __ASSEMBLER__

/* Returns the result, or -errno. `gateway` is __kernel_vsyscall (gateway.S). */
static inline long system_call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("call gateway" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

#endif

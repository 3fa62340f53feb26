/* System calls of 64-bit code, and the functions' second names. */
#pragma once

#define NR_GETTIMEOFDAY	 96
#define NR_TIME		 201
#define NR_CLOCK_GETTIME 228
#define NR_CLOCK_GETRES	 229
#define NR_GETCPU	 309

/* Linux's image exports the C library's names too, weakly. */
#define ALSO_NAMED(name) extern __typeof__(__vdso_##name) name __attribute__((weak, alias("__vdso_" #name)))

#ifndef __ASSEMBLER__

/* Returns the result, or -errno. */
static inline long system_call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

#endif

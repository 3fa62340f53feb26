/* A system call of a 64-bit program that has no C library: what the kernel answers, errors as negative numbers. */
#pragma once

#include <stdint.h>

static long call(long number, uint64_t first, uint64_t second, uint64_t third, uint64_t fourth,
		 uint64_t fifth)
{
	register uint64_t r10 __asm__("r10") = fourth;
	register uint64_t r8 __asm__("r8") = fifth;
	register uint64_t r9 __asm__("r9") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

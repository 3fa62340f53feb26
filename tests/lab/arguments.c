/* Writes a checksum of its arguments but the first, and exits with the number of all. */
#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
#define NR_WRITE 1
#define NR_EXIT	 60
#define CALL	 "syscall"
#define FIRST	 "D"
#define SECOND	 "S"
#define CHANGED	 "rcx", "r11",
#else
#define NR_WRITE 4
#define NR_EXIT	 1
#define CALL	 "int $0x80"
#define FIRST	 "b"
#define SECOND	 "c"
#define CHANGED
#endif

static long call(long number, long first, const void *second, size_t third)
{
	long result;

	__asm__ volatile(CALL
			 : "=a"(result)
			 : "a"(number), FIRST(first), SECOND(second), "d"(third)
			 : CHANGED "memory");
	return result;
}

void begin(const long *stack);

void begin(const long *stack)
{
	const long count = stack[0];
	const char *const *arguments = (const char *const *)(stack + 1);

	uint32_t sum = 0x811c9dc5; /* FNV-1a */

	for (long i = 1; i < count; i++) {
		const char *byte = arguments[i];
		do
			sum = (sum ^ (uint8_t)*byte) * 0x01000193;
		while (*byte++);
	}
	call(NR_WRITE, 1, &sum, sizeof(sum));
	for (;;)
		call(NR_EXIT, count, 0, 0);
}

#ifdef __x86_64__
__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
#else
__asm__(".globl _start\n_start: mov %esp, %eax\nand $-16, %esp\nsub $12, %esp\npush %eax\ncall begin\n");
#endif

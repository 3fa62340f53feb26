/*
 * A program without a library that makes CALLS system calls and then exit, which is one more. How, its compiler is told: WAY_SYSCALL and WAY_INT80
 * of 64-bit code; of 32-bit code WAY_INT80, and WAY_GATEWAY, the function of the vDSO.
 */
#ifdef __x86_64__
#define STACK "%rsp"
#define FIRST "%rdi"
#else
#define STACK "%esp"
#define FIRST "%eax"
#endif

#define AT_SYSINFO 32

#if defined(WAY_SYSCALL)
#define GETPPID 110
#define EXIT	60
#else
#define GETPPID 64
#define EXIT	1
#endif

static unsigned long gateway;

static long call(long number, long first)
{
	long result;

#if defined(WAY_SYSCALL)
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first) : "rcx", "r11", "memory");
#elif defined(WAY_GATEWAY)
	__asm__ volatile("call *%2" : "=a"(result) : "a"(number), "m"(gateway), "b"(first) : "memory");
#else
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(first) : "memory");
#endif
	return result;
}

#ifndef __x86_64__
__attribute__((regparm(1)))
#endif
__attribute__((used)) void
begin(unsigned long *stack)
{
	unsigned long *at = stack + 1 + stack[0] + 1; /* behind the arguments: the environment */

	while (*at)
		at++;
	for (at++; at[0]; at += 2)
		if (at[0] == AT_SYSINFO)
			gateway = at[1];
	for (long i = 0; i < CALLS; i++)
		call(GETPPID, 0);
	for (;;)
		call(EXIT, 0);
}

__asm__(".globl _start\n_start:\n\tmov " STACK ", " FIRST "\n\tcall begin\n");

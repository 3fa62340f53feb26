/*
 * What the kernel makes of a boot loader's information, without a machine: LOADER ADDRESS, and memory from 0 on as
 * standard input. Prints the module, the free memory, the port of the ACPI timer and the I/O APICs, or why the kernel
 * panics.
 */
#include "boot/boot.h"
#include "boot/window.h"
#include "mm/mm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint8_t memory[1 << 20];
static size_t memory_bytes;

/* A copy, behind which nothing can be read. */
const void *window_to(uint64_t physical, uint64_t bytes)
{
	if (physical > memory_bytes || bytes > memory_bytes - physical)
		return 0;
	const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
	uint8_t *copy = mmap(0, whole + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED || mprotect(copy + whole, PAGE, PROT_NONE))
		abort();
	return memcpy(copy + whole - bytes, memory + physical, bytes);
}

_Noreturn void panic(const char *why)
{
	printf("panic: %s\n", why);
	exit(0);
}

int main(int count, char **arguments)
{
	if (count != 3)
		return 1;
	memory_bytes = fread(memory, 1, sizeof(memory), stdin);
	const uint32_t loader = (uint32_t)atoi(arguments[1]);
	const uint32_t information = (uint32_t)strtoul(arguments[2], 0, 16);
	boot_listener(loader, information);
	const struct boot boot = boot_read(loader, information);
	printf("module %lx %lx free %lx %lx timer %x apics %x", boot.module_pages.start,
	       boot.module_pages.end, boot.free.start, boot.free.end, boot.pm_timer, boot.io_apic_count);
	for (unsigned i = 0; i < boot.io_apic_count && i < MOST_IO_APICS; i++)
		printf(" %x", boot.io_apics[i]);
	return 0;
}

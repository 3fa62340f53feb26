/* Of the variants whose stubs enter by themselves: there is nothing to begin. ENTRY is what they enter by (Makefile). */
#include "mach_traps.h"

__attribute__((visibility("default"))) uint32_t mach_stub_begin(uint32_t device_master)
{
	(void)device_master;
	return 0;
}

__attribute__((visibility("default"))) const char *mach_stub_entry(void)
{
	return ENTRY;
}

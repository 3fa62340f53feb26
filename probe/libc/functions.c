/*
 * The C library's functions by name, only in probe-libc. Weak: one that an older library lacks is a null
 * pointer. Unversioned, since linked against stub.c: whatever version the library calls its default is taken.
 */
#include "probe.h"

#define SMALL(ROW)     ROW(getppid) ROW(gettimeofday) ROW(clock_gettime) ROW(time) ROW(getcpu) ROW(getrandom)
#define UNIXBENCH(ROW) ROW(dup) ROW(close) ROW(getpid) ROW(getuid) ROW(umask)
#define PROCESS(ROW)   ROW(fork) ROW(execv) ROW(waitpid)
#define FUNCTIONS(ROW) SMALL(ROW) UNIXBENCH(ROW) PROCESS(ROW)

#define ROW(name_) __attribute__((weak)) extern void name_(void);
FUNCTIONS(ROW)
#undef ROW

struct function {
	const char *name;
	void (*address)(void);
};

#define ROW(name_) {#name_, name_},
/* Volatile, so writable: the dynamic linker fills in the addresses, and no procedure linkage table comes
 * between. */
static volatile struct function functions[] = {FUNCTIONS(ROW)};
#undef ROW

unsigned long libc_function(const char *name)
{
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (same_text(functions[i].name, name))
			return (unsigned long)functions[i].address;
	return 0;
}

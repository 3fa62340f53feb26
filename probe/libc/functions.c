/*
 * The C library's functions by name, only in probe-libc. Weak: one that an older library lacks is a null
 * pointer. Unversioned, since linked against stub.c: whatever version the library calls its default is taken.
 */
#include "functions.h"

#include "probe.h"

#define ROW(name_) __attribute__((weak)) extern void name_(void);
LIBC(ROW)
#undef ROW

struct function {
	const char *name;
	void (*address)(void);
};

#define ROW(name_) {#name_, name_},
/* Volatile, so writable: the dynamic linker fills in the addresses, and no procedure linkage table comes
 * between. */
static volatile struct function functions[] = {LIBC(ROW)};
#undef ROW

unsigned long libc_function(const char *name)
{
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (same_text(functions[i].name, name))
			return (unsigned long)functions[i].address;
	return 0;
}

/* Stands in for the C library when probe-libc is linked, so that it binds to no version of it. Never loaded.
 */
#include "functions.h"

#define ROW(name_)                                                                                           \
	void name_(void)                                                                                     \
	{                                                                                                    \
	}
LIBC(ROW)

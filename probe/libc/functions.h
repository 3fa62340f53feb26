/* The C library's functions that probe-libc asks for by name. */
#pragma once

#include "entries.h"

/* Those that make a process (probe/x86_64/process.c), and those that operations ask for. */
#define LIBC(ROW) ROW(fork) ROW(execv) ROW(waitpid) FUNCTIONS(ROW)
